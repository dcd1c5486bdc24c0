/**
 * Converts expressions from the grammar's JSON to our syntax tree. Called through `Conversion.expr`; EXPRESSIONS has
 * one entry per node that can occur in an expression.
 */
import type {
  A_ArrayExpr,
  A_Const,
  A_Expr,
  A_Indirection,
  BoolExpr,
  BooleanTest,
  CaseExpr,
  ColumnRef,
  FuncCall,
  Node,
  SortBy,
  SQLValueFunction,
  SubLink,
  TypeName,
  WindowDef,
} from "@pgsql/types";
import { sqlError } from "../../protocol/errors.js";
import type { ExprNode, FrameBound, FrameNode, SortNode, TypeNode, WindowNode } from "./ast-query.js";
import { type Conversion, type NodeOf, notSupported, only, strings, type Tag, tagOf } from "./conversion.js";

const EXPRESSIONS: { [K in Tag]?: (node: NodeOf<K>, c: Conversion) => ExprNode } = {
  A_Const: constant,
  A_Expr: operation,
  A_Indirection: indirection,
  A_ArrayExpr: array,
  BoolExpr: logic,
  BooleanTest: booleanTest,
  CaseExpr: caseExpr,
  ColumnRef: columnRef,
  FuncCall: functionCall,
  SQLValueFunction: valueFunction,
  SubLink: subLink,
  ParamRef: parameter,
  NullTest: (node, c) => ({
    kind: "is null",
    input: c.expr(node.arg!),
    negated: node.nulltesttype === "IS_NOT_NULL",
    position: c.position(node.location),
  }),
  CoalesceExpr: (node, c) => ({
    kind: "coalesce",
    args: c.exprs(node.args),
    position: c.position(node.location),
  }),
  MinMaxExpr: (node, c) => ({
    kind: node.op === "IS_LEAST" ? "least" : "greatest",
    args: c.exprs(node.args),
    position: c.position(node.location),
  }),
  TypeCast: (node, c) =>
    bitConstant(node, c) ?? {
      kind: "cast",
      input: c.expr(node.arg!),
      type: convertType(node.typeName!, c),
      position: c.position(node.location),
    },
  CollateClause: (node, c) => ({
    kind: "collate",
    input: c.expr(node.arg!),
    collation: strings(node.collname),
    position: c.position(node.location),
  }),
  RowExpr: (node, c) => ({ kind: "row", items: c.exprs(node.args), position: c.position(node.location) }),
  MergeSupportFunc: (node, c) => ({ kind: "merge action", position: c.position(node.location) }),
  CurrentOfExpr: (node) => ({ kind: "current of", cursor: node.cursor_name ?? "", position: 0 }),
  GroupingFunc: (node, c) => ({ kind: "grouping", args: c.exprs(node.args), position: c.position(node.location) }),
  SetToDefault: (node, c) => ({ kind: "default", position: c.position(node.location) }),
};

/** Constructs that are known but wait for their types or functions, as messages name them. */
const UNSUPPORTED: { [K in Tag]?: string } = {
  XmlExpr: "an XML expression",
  XmlSerialize: "XMLSERIALIZE",
  MultiAssignRef: "a multiple assignment here",
};

/** Depth is counted by the caller, `Conversion.expr`. */
export function convertExpr(node: Node, c: Conversion): ExprNode {
  const tag = tagOf(node);
  const value = only(node, tag);
  const convert = EXPRESSIONS[tag] as ((value: unknown, c: Conversion) => ExprNode) | undefined;
  if (convert !== undefined) return convert(value, c);
  const location = (value as { location?: number }).location ?? -1;
  throw notSupported(UNSUPPORTED[tag] ?? `the expression ${tag}`, c.position(location));
}

function constant(node: A_Const, c: Conversion): ExprNode {
  const position = c.position(node.location);
  if (node.isnull) return { kind: "null", position };
  if (node.ival !== undefined) return { kind: "integer", value: node.ival.ival ?? 0, position };
  if (node.sval !== undefined) return { kind: "string", value: node.sval.sval ?? "", position };
  if (node.boolval !== undefined) return { kind: "boolean", value: node.boolval.boolval ?? false, position };
  if (node.fval !== undefined) return { kind: "number", text: node.fval.fval ?? "0", position };
  return { kind: "bits", text: node.bsval?.bsval ?? "b", position };
}

function parameter(node: NodeOf<"ParamRef">, c: Conversion): ExprNode {
  const position = c.position(node.location);
  const number = node.number ?? 0;
  if (number < 1) throw sqlError("42P02", `there is no parameter $${number}`, { position });
  return { kind: "parameter", index: number - 1, position };
}

function columnRef(node: ColumnRef, c: Conversion): ExprNode {
  const path: string[] = [];
  let star = false;
  for (const field of node.fields ?? []) {
    if (tagOf(field) === "A_Star") star = true;
    else path.push(only(field, "String").sval ?? "");
  }
  return { kind: "column", path, star, position: c.position(node.location) };
}

function operation(node: A_Expr, c: Conversion): ExprNode {
  const position = c.position(node.location);
  const path = strings(node.name);
  const name = path[path.length - 1]!;
  const left = () => c.expr(node.lexpr!);
  const right = () => c.expr(node.rexpr!);
  switch (node.kind) {
    case "AEXPR_DISTINCT":
    case "AEXPR_NOT_DISTINCT": {
      const negated = node.kind === "AEXPR_NOT_DISTINCT";
      return { kind: "distinct from", left: left(), right: right(), negated, position };
    }
    case "AEXPR_NULLIF":
      return { kind: "nullif", left: left(), right: right(), position };
    case "AEXPR_IN":
      return { kind: "in", input: left(), items: listItems(node.rexpr, c), negated: name === "<>", position };
    case "AEXPR_OP_ANY":
    case "AEXPR_OP_ALL":
      return {
        kind: "quantified",
        name,
        ...schemaOf(path),
        all: node.kind === "AEXPR_OP_ALL",
        left: left(),
        array: right(),
        position,
      };
    case "AEXPR_BETWEEN":
    case "AEXPR_NOT_BETWEEN":
    case "AEXPR_BETWEEN_SYM":
    case "AEXPR_NOT_BETWEEN_SYM": {
      const [low, high] = listItems(node.rexpr, c);
      const symmetric = node.kind.endsWith("SYM");
      const negated = node.kind.includes("NOT");
      return { kind: "between", input: left(), low: low!, high: high!, symmetric, negated, position };
    }
    default:
      // AEXPR_OP, and LIKE, ILIKE and SIMILAR TO, whose operators the grammar has already named
      return { kind: "operator", name, ...schemaOf(path), left: c.optional(node.lexpr), right: right(), position };
  }
}

/** Of OPERATOR(schema.name). */
const schemaOf = (path: readonly string[]) => (path.length > 1 ? { schema: path[path.length - 2]! } : {});

function listItems(node: Node | undefined, c: Conversion): ExprNode[] {
  return c.exprs(only(node, "List").items);
}

function logic(node: BoolExpr, c: Conversion): ExprNode {
  const position = c.position(node.location);
  if (node.boolop === "NOT_EXPR") return { kind: "not", input: c.expr(node.args![0]!), position };
  return { kind: node.boolop === "OR_EXPR" ? "or" : "and", args: c.exprs(node.args), position };
}

function booleanTest(node: BooleanTest, c: Conversion): ExprNode {
  const test = node.booltesttype ?? "IS_TRUE";
  return {
    kind: "is boolean",
    input: c.expr(node.arg!),
    value: test.endsWith("UNKNOWN") ? null : test.endsWith("TRUE"),
    negated: test.startsWith("IS_NOT"),
    position: c.position(node.location),
  };
}

function caseExpr(node: CaseExpr, c: Conversion): ExprNode {
  const branches = (node.args ?? []).map((branch) => {
    const when = only(branch, "CaseWhen");
    return { when: c.expr(when.expr!), result: c.expr(when.result!) };
  });
  const position = c.position(node.location);
  return { kind: "case", input: c.optional(node.arg), branches, otherwise: c.optional(node.defresult), position };
}

function array(node: A_ArrayExpr, c: Conversion): ExprNode {
  return { kind: "array", elements: c.exprs(node.elements), position: c.position(node.location) };
}

function subLink(node: SubLink, c: Conversion): ExprNode {
  const position = c.position(node.location);
  const query = c.subquery(node.subselect);
  const plain = { kind: "subquery", query, input: null, operator: null, isIn: false, position } as const;
  switch (node.subLinkType) {
    case "EXISTS_SUBLINK":
      return { ...plain, form: "exists" };
    case "ARRAY_SUBLINK":
      return { ...plain, form: "array" };
    case "ANY_SUBLINK":
    case "ALL_SUBLINK": {
      const path = strings(node.operName);
      const isIn = path.length === 0;
      const operator = isIn ? "=" : path[path.length - 1]!;
      const form = node.subLinkType === "ALL_SUBLINK" ? "all" : "any";
      return { ...plain, form, input: c.expr(node.testexpr!), operator, ...schemaOf(path), isIn };
    }
    default:
      return { ...plain, form: "scalar" };
  }
}

function indirection(node: A_Indirection, c: Conversion): ExprNode {
  return applyIndirection(c.expr(node.arg!), node.indirection, c);
}

/** `input` followed by `[…]`, `.name` and `.*` parts, which the grammar gives without positions of their own. */
export function applyIndirection(input: ExprNode, parts: readonly Node[] | undefined, c: Conversion): ExprNode {
  let result = input;
  const { position } = input;
  for (const part of parts ?? []) {
    if (tagOf(part) === "A_Indices") {
      const indices = only(part, "A_Indices");
      const slice = indices.is_slice ?? false;
      const lower = c.optional(indices.lidx);
      const subscript = {
        kind: "subscript",
        input: result,
        slice,
        lower,
        upper: c.optional(indices.uidx),
        position,
      } as const;
      result = result === input && input.kind === "subscript" ? { ...subscript, separate: true } : subscript;
    } else {
      const name = tagOf(part) === "A_Star" ? "*" : (only(part, "String").sval ?? "");
      result = { kind: "field", input: result, name, position };
    }
  }
  return result;
}

function functionCall(node: FuncCall, c: Conversion): ExprNode {
  const args = (node.args ?? []).map((arg) => {
    if (tagOf(arg) !== "NamedArgExpr") return { name: null, value: c.expr(arg) };
    const named = only(arg, "NamedArgExpr");
    return { name: named.name ?? "", value: c.expr(named.arg!) };
  });
  return {
    kind: "call",
    path: withoutPgCatalog(strings(node.funcname)),
    args,
    star: node.agg_star ?? false,
    variadic: node.func_variadic ?? false,
    distinct: node.agg_distinct ?? false,
    orderBy: convertSort(node.agg_order, c),
    withinGroup: node.agg_within_group ?? false,
    filter: c.optional(node.agg_filter),
    over: node.over === undefined ? null : convertWindow(node.over, c),
    ...(node.funcformat === "COERCE_SQL_SYNTAX" && { isSyntax: true as const }),
    position: c.position(node.location),
  };
}

/** `bit '101'` has as many bits as are written, while the type `bit` alone has one. Null: another cast. */
function bitConstant({ arg, typeName }: NodeOf<"TypeCast">, c: Conversion): ExprNode | null {
  if (typeName?.typmods !== undefined || strings(typeName?.names).join(".") !== "pg_catalog.bit") return null;
  if (typeName?.arrayBounds !== undefined || arg === undefined || !("A_Const" in arg)) return null;
  const { sval, location } = arg.A_Const;
  if (sval === undefined) return null;
  const text = sval.sval ?? "";
  return { kind: "bits", text: /^[bx]/i.test(text) ? text.toLowerCase() : `b${text}`, position: c.position(location) };
}

/** The grammar writes its own functions and types as `pg_catalog.name`. */
function withoutPgCatalog(path: string[]): string[] {
  return path.length === 2 && path[0] === "pg_catalog" ? path.slice(1) : path;
}

export function convertSort(nodes: readonly Node[] | undefined, c: Conversion): SortNode[] {
  return (nodes ?? []).map((node) => {
    const sort: SortBy = only(node, "SortBy");
    const expr = c.expr(sort.node!);
    const nulls = sort.sortby_nulls ?? "SORTBY_NULLS_DEFAULT";
    return {
      expr,
      descending: sort.sortby_dir === "SORTBY_DESC",
      nullsFirst: nulls === "SORTBY_NULLS_DEFAULT" ? null : nulls === "SORTBY_NULLS_FIRST",
      using: sort.sortby_dir === "SORTBY_USING" ? (strings(sort.useOp).at(-1) ?? null) : null,
      position: expr.position,
    };
  });
}

export function convertWindow(node: WindowDef, c: Conversion): WindowNode {
  return {
    name: node.name ?? null,
    base: node.refname ?? null,
    partitionBy: c.exprs(node.partitionClause),
    orderBy: convertSort(node.orderClause, c),
    frame: convertFrame(node, c),
    position: c.position(node.location),
  };
}

/** The bits of frameOptions: nodes/parsenodes.h of PostgreSQL. */
const FRAME = {
  nonDefault: 0x1,
  rows: 0x4,
  groups: 0x8,
  between: 0x10,
  start: {
    "unbounded preceding": 0x20,
    "current row": 0x200,
    preceding: 0x800,
    following: 0x2000,
    "unbounded following": 0x80,
  },
  end: {
    "unbounded preceding": 0x40,
    "current row": 0x400,
    preceding: 0x1000,
    following: 0x4000,
    "unbounded following": 0x100,
  },
  excludeCurrentRow: 0x8000,
  excludeGroup: 0x10000,
  excludeTies: 0x20000,
} as const;

function convertFrame(node: WindowDef, c: Conversion): FrameNode | null {
  const bits = node.frameOptions ?? 0;
  if ((bits & FRAME.nonDefault) === 0) return null;
  const bound = (of: Readonly<Record<FrameBound["kind"], number>>, offset: Node | undefined): FrameBound => {
    const kind = (Object.keys(of) as FrameBound["kind"][]).find((name) => (bits & of[name]) !== 0) ?? "current row";
    return { kind, offset: c.optional(offset) };
  };
  return {
    mode: bits & FRAME.rows ? "rows" : bits & FRAME.groups ? "groups" : "range",
    start: bound(FRAME.start, node.startOffset),
    end: bound(FRAME.end, node.endOffset),
    exclude:
      bits & FRAME.excludeCurrentRow
        ? "current row"
        : bits & FRAME.excludeGroup
          ? "group"
          : bits & FRAME.excludeTies
            ? "ties"
            : "no others",
    ...((bits & FRAME.between) === 0 && { isShort: true as const }),
  };
}

/** `SVFOP_CURRENT_TIMESTAMP_N` → `current_timestamp`, with the precision in typmod. */
function valueFunction(node: SQLValueFunction, c: Conversion): ExprNode {
  const name = (node.op ?? "")
    .replace(/^SVFOP_/, "")
    .replace(/_N$/, "")
    .toLowerCase();
  const typmod = node.typmod ?? 0;
  return {
    kind: "value function",
    name,
    precision: typmod < 0 || !node.op?.endsWith("_N") ? null : typmod,
    position: c.position(node.location),
  };
}

export function convertType(node: TypeName, c: Conversion): TypeNode {
  const position = c.position(node.location);
  if (node.pct_type) throw notSupported("%TYPE", position);
  const path = withoutPgCatalog(strings(node.names));
  return {
    name: path[path.length - 1]!,
    schema: path.length > 1 ? path[path.length - 2]! : null,
    modifiers: c.exprs(node.typmods),
    arrayDimensions: node.arrayBounds?.length ?? 0,
    setOf: node.setof ?? false,
    position,
  };
}
