/** Converts statements about operators and casts from the grammar's JSON to our syntax tree. Called by from-pg.ts. */
import type { Node, ObjectWithArgs } from "@pgsql/types";
import type { FunctionTypeNode } from "./ast-functions.js";
import type { CastTypesNode, OperatorSignatureNode, OperatorStatement } from "./ast-operators.js";
import { type Conversion, type NodeOf, only, strings, tagOf } from "./conversion.js";
import { roleNode } from "./from-pg-access.js";
import { aggregateOption, functionType, signature } from "./from-pg-functions.js";

/** null: another statement. */
export function convertOperatorStatement(node: Node, c: Conversion, position: number): OperatorStatement | null {
  const tag = tagOf(node);
  switch (tag) {
    case "DefineStmt": {
      const { kind, defnames, definition = [] } = only(node, tag);
      if (kind !== "OBJECT_OPERATOR") return null;
      return {
        kind: "create operator",
        name: { path: strings(defnames), position: 0 },
        ...options(definition, c, position),
      };
    }
    case "CreateCastStmt":
      return createCast(only(node, tag), c, position);
    case "DropStmt": {
      const { removeType, objects = [], missing_ok: ifExists = false, behavior } = only(node, tag);
      if (removeType === "OBJECT_CAST") return { kind: "drop cast", cast: castOf(objects[0]!, c), ifExists, position };
      if (removeType !== "OBJECT_OPERATOR") return null;
      const operators = objects.map((item) => operatorOf(only(item, "ObjectWithArgs"), c));
      return { kind: "drop operator", operators, ifExists, cascade: behavior === "DROP_CASCADE", position };
    }
    case "CommentStmt": {
      const { objtype, object, comment: text } = only(node, tag);
      const comment = text === undefined || text === "" ? null : text;
      if (objtype === "OBJECT_CAST") return { kind: "comment on cast", cast: castOf(object!, c), comment, position };
      return objtype === "OBJECT_OPERATOR" ? altered(object, { kind: "comment", comment }, c, position) : null;
    }
    case "AlterOperatorStmt": {
      const { opername, options: given = [] } = only(node, tag);
      const change = { kind: "options", options: options(given, c, position).options } as const;
      return { kind: "alter operator", operator: operatorOf(opername!, c), change, position };
    }
    case "AlterObjectSchemaStmt": {
      const { objectType, object, newschema: schema = "" } = only(node, tag);
      return objectType === "OBJECT_OPERATOR" ? altered(object, { kind: "set schema", schema }, c, position) : null;
    }
    case "AlterOwnerStmt": {
      const { objectType, object, newowner } = only(node, tag);
      if (objectType !== "OBJECT_OPERATOR") return null;
      return altered(object, { kind: "owner", role: roleNode(newowner) }, c, position);
    }
    default:
      return null;
  }
}

type AlterOperator = Extract<OperatorStatement, { kind: "alter operator" }>;

function altered(
  object: Node | undefined,
  change: AlterOperator["change"],
  c: Conversion,
  position: number,
): AlterOperator {
  return { kind: "alter operator", operator: operatorOf(only(object, "ObjectWithArgs"), c), change, position };
}

function options(definition: readonly Node[], c: Conversion, position: number) {
  return { options: definition.map((item) => aggregateOption(only(item, "DefElem"), c)), position };
}

function createCast(node: NodeOf<"CreateCastStmt">, c: Conversion, position: number): OperatorStatement {
  const { sourcetype, targettype, func, inout = false, context } = node;
  return {
    kind: "create cast",
    cast: { source: functionType(sourcetype!, c), target: functionType(targettype!, c) },
    method: func === undefined ? (inout ? "inout" : "binary") : signature(func, c),
    context:
      context === "COERCION_IMPLICIT" ? "implicit" : context === "COERCION_ASSIGNMENT" ? "assignment" : "explicit",
    position,
  };
}

function castOf(node: Node, c: Conversion): CastTypesNode {
  const [source, target] = (only(node, "List").items ?? []).map((item) => functionType(only(item, "TypeName"), c));
  return { source: source!, target: target! };
}

/** An operand that is NONE is an empty node. */
function operatorOf({ objname, objargs = [] }: ObjectWithArgs, c: Conversion): OperatorSignatureNode {
  const [left, right] = objargs.map((item): FunctionTypeNode | null =>
    "TypeName" in item ? functionType(only(item, "TypeName"), c) : null,
  );
  return { name: { path: strings(objname), position: 0 }, left: left ?? null, right: right ?? null };
}
