/**
 * Converts statements about functions and procedures from the grammar's JSON to our syntax tree. Called by from-pg.ts.
 */
import type { DefElem, FunctionParameter, Node, ObjectType, ObjectWithArgs, TypeName } from "@pgsql/types";
import { sqlError } from "../../protocol/errors.js";
import type {
  AggregateOption,
  CreateAggregateStatement,
  CreateFunctionStatement,
  FunctionOption,
  FunctionSetting,
  FunctionStatement,
  FunctionTypeNode,
  ParameterMode,
  ParameterNodeOfFunction,
  RoutineKind,
  SignatureNode,
} from "./ast-functions.js";
import type { CallNode, NameNode } from "./ast-query.js";
import { type Conversion, type NodeOf, only, pathOf, strings, tagOf } from "./conversion.js";
import { convertOption } from "./from-pg-columns.js";
import { convertType } from "./from-pg-expr.js";

const ROUTINES: Partial<Record<ObjectType, RoutineKind>> = {
  OBJECT_FUNCTION: "function",
  OBJECT_PROCEDURE: "procedure",
  OBJECT_ROUTINE: "routine",
  OBJECT_AGGREGATE: "aggregate",
};

/** null: not a statement about functions. */
export function convertFunctionStatement(node: Node, c: Conversion, position: number): FunctionStatement | null {
  const tag = tagOf(node);
  switch (tag) {
    case "CreateFunctionStmt":
      return createFunction(only(node, tag), c, position);
    case "DefineStmt":
      return only(node, tag).kind === "OBJECT_AGGREGATE" ? createAggregate(only(node, tag), c, position) : null;
    case "CallStmt": {
      const call = c.expr({ FuncCall: only(node, tag).funccall! }) as CallNode;
      return { kind: "call procedure", call, position };
    }
    case "DoStmt": {
      const elements = (only(node, tag).args ?? []).map((item) => only(item, "DefElem"));
      const text = (name: string) => {
        const element = elements.find(({ defname }) => defname === name);
        return element?.arg === undefined ? null : (only(element.arg, "String").sval ?? "");
      };
      return { kind: "do", language: text("language") ?? "plpgsql", body: text("as") ?? "", position };
    }
    case "NotifyStmt": {
      const { conditionname, payload } = only(node, tag);
      const call = `pg_notify(${quoted(conditionname ?? "")}, ${quoted(payload ?? "")})`;
      return { kind: "do", language: "plpgsql", body: `BEGIN PERFORM ${call}; END`, command: "NOTIFY", position };
    }
    case "ListenStmt":
    case "UnlistenStmt":
      throw sqlError("0A000", `${tag === "ListenStmt" ? "LISTEN" : "UNLISTEN"} needs a connection that stays`, {
        position,
        hint: 'Send {"type": "listen", "channel": "…"} over the WebSocket /ws, read GET /v1/listen, or connect by PostgreSQL\'s protocol.',
      });
    default:
      return changed(node, c, position);
  }
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** DROP, ALTER and COMMENT. */
function changed(node: Node, c: Conversion, position: number): FunctionStatement | null {
  const tag = tagOf(node);
  switch (tag) {
    case "DropStmt": {
      const drop = only(node, tag);
      const object = ROUTINES[drop.removeType ?? "OBJECT_TABLE"];
      if (object === undefined) return null;
      const functions = (drop.objects ?? []).map((item) => signature(only(item, "ObjectWithArgs"), c));
      const cascade = drop.behavior === "DROP_CASCADE";
      return { kind: "drop function", object, functions, ifExists: drop.missing_ok ?? false, cascade, position };
    }
    case "AlterFunctionStmt": {
      const alter = only(node, tag);
      const change = { kind: "options", ...optionsOf(alter.actions, c) } as const;
      return altered(alter.objtype, alter.func, change, c, position);
    }
    case "RenameStmt": {
      const { renameType, object, newname } = only(node, tag);
      if (ROUTINES[renameType ?? "OBJECT_TABLE"] === undefined) return null;
      return altered(renameType, only(object, "ObjectWithArgs"), { kind: "rename", name: newname ?? "" }, c, position);
    }
    case "AlterObjectSchemaStmt": {
      const { objectType, object, newschema } = only(node, tag);
      if (ROUTINES[objectType ?? "OBJECT_TABLE"] === undefined) return null;
      const change = { kind: "set schema", schema: newschema ?? "" } as const;
      return altered(objectType, only(object, "ObjectWithArgs"), change, c, position);
    }
    case "CommentStmt": {
      const { objtype, object, comment } = only(node, tag);
      if (ROUTINES[objtype ?? "OBJECT_TABLE"] === undefined) return null;
      const change = { kind: "comment", comment: comment === undefined || comment === "" ? null : comment } as const;
      return altered(objtype, only(object, "ObjectWithArgs"), change, c, position);
    }
    default:
      return null;
  }
}

function altered(
  type: ObjectType | undefined,
  object: ObjectWithArgs | undefined,
  change: Extract<FunctionStatement, { kind: "alter function" }>["change"],
  c: Conversion,
  position: number,
): FunctionStatement {
  return {
    kind: "alter function",
    object: ROUTINES[type ?? "OBJECT_FUNCTION"] ?? "function",
    function: signature(object!, c),
    change,
    position,
  };
}

/** A function as GRANT, ALTER and DROP name it. */
export function signature(object: ObjectWithArgs, c: Conversion): SignatureNode {
  const name: NameNode = { path: strings(object.objname), position: 0 };
  if (object.args_unspecified) return { name, parameters: null };
  if (object.objfuncargs !== undefined) {
    return { name, parameters: object.objfuncargs.map((item) => parameter(only(item, "FunctionParameter"), c)) };
  }
  // Of aggregates; `*` has none.
  const parameters = (object.objargs ?? []).map((item): ParameterNodeOfFunction => {
    const type = functionType(only(item, "TypeName"), c);
    return { name: null, mode: "in", type, default: null, position: 0 };
  });
  return { name, parameters };
}

export function functionType(node: TypeName, c: Conversion): FunctionTypeNode {
  const { pct_type: percent, ...plain } = node;
  return { type: convertType(plain, c), columnOf: percent ? strings(node.names) : null };
}

const MODES: Readonly<Record<string, ParameterMode>> = {
  FUNC_PARAM_OUT: "out",
  FUNC_PARAM_INOUT: "inout",
  FUNC_PARAM_VARIADIC: "variadic",
  FUNC_PARAM_TABLE: "table",
};

function parameter(node: FunctionParameter, c: Conversion): ParameterNodeOfFunction {
  return {
    name: node.name === undefined || node.name === "" ? null : node.name,
    mode: MODES[node.mode ?? ""] ?? "in",
    type: functionType(node.argType!, c),
    default: c.optional(node.defexpr),
    position: c.position(node.argType!.location),
  };
}

function createFunction(node: NodeOf<"CreateFunctionStmt">, c: Conversion, position: number): CreateFunctionStatement {
  const elements = (node.options ?? []).map((item) => only(item, "DefElem"));
  const as = elements.find(({ defname }) => defname === "as");
  return {
    kind: "create function",
    procedure: node.is_procedure ?? false,
    replace: node.replace ?? false,
    name: { path: strings(node.funcname), position: 0 },
    parameters: (node.parameters ?? []).map((item) => parameter(only(item, "FunctionParameter"), c)),
    returns: node.returnType === undefined ? null : functionType(node.returnType, c),
    ...optionsOf(
      node.options?.filter((item) => only(item, "DefElem") !== as),
      c,
    ),
    as: as === undefined ? [] : pathOf(as.arg),
    standard: node.sql_body !== undefined,
    text: "",
    position,
  };
}

function createAggregate(node: NodeOf<"DefineStmt">, c: Conversion, position: number): CreateAggregateStatement {
  // The parameters, and how many come before ORDER BY (−1: there is none); `*` is no list.
  const [list, direct] = node.args ?? [];
  const items = list !== undefined && "List" in list ? (list.List.items ?? []) : [];
  return {
    kind: "create aggregate",
    replace: node.replace ?? false,
    name: { path: strings(node.defnames), position: 0 },
    parameters: node.oldstyle ? null : items.map((item) => parameter(only(item, "FunctionParameter"), c)),
    ordered: direct !== undefined && only(direct, "Integer").ival !== -1,
    options: (node.definition ?? []).map((item) => aggregateOption(only(item, "DefElem"), c)),
    position,
  };
}

export function aggregateOption({ defname = "", arg, location }: DefElem, c: Conversion): AggregateOption {
  const position = c.position(location);
  if (arg !== undefined && "TypeName" in arg) {
    return { name: defname, path: strings(arg.TypeName.names), type: functionType(arg.TypeName, c), position };
  }
  const value = arg === undefined ? "true" : convertOption({ defname, arg }, c).value;
  return { name: defname, path: [String(value)], type: null, position };
}

function optionsOf(
  nodes: readonly Node[] | undefined,
  c: Conversion,
): { readonly options: readonly FunctionOption[]; readonly settings: readonly FunctionSetting[] } {
  const elements = (nodes ?? []).map((item): DefElem => only(item, "DefElem"));
  const settings = elements.filter(({ defname }) => defname === "set");
  return {
    options: elements.filter(({ defname }) => defname !== "set").map((element) => convertOption(element, c)),
    settings: settings.map(({ arg }): FunctionSetting => {
      const set = only(arg, "VariableSetStmt");
      const values = set.kind === "VAR_SET_VALUE" ? (set.args ?? []).map(settingText) : null;
      return { name: set.name ?? "", values };
    }),
  };
}

function settingText(node: Node): string {
  const { sval, ival, fval, boolval } = only(node, "A_Const");
  return sval?.sval ?? fval?.fval ?? (boolval ? String(boolval.boolval ?? false) : String(ival?.ival ?? 0));
}
