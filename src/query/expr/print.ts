/**
 * Expressions as SQL-like text for EXPLAIN and messages, in PostgreSQL's way: operators in parentheses, constants
 * with their type where it is not evident.
 */
import { toText } from "../../values/text-format.js";
import { costLeft } from "../../values/value-cost.js";
import type { CallExpr, ColumnId, ConstExpr, Expr, ListExpr, SubqueryExpr } from "./expr.js";
import { displayName } from "./types.js";
import { walkExpr } from "./walk.js";

/**
 * The expression as text; `subqueryName` names a subquery's plan as EXPLAIN lists it ("SubPlan 1"); `constant` prints
 * the constants, in full unless given.
 */
export function printExpr(
  expr: Expr,
  subqueryName: (expr: SubqueryExpr) => string = () => "SubPlan",
  constant: (expr: ConstExpr) => string = printConst,
): string {
  const print = (inner: Expr) => printExpr(inner, subqueryName, constant);
  switch (expr.kind) {
    case "const":
      return constant(expr);
    case "param":
      return `$${expr.index + 1}`;
    case "column":
      return expr.name;
    case "call":
      return printCall(expr, print);
    case "cast":
      return `${parenthesized(expr.input, print)}::${displayName(expr.type)}`;
    case "and":
    case "or":
      return `(${expr.args.map(print).join(expr.kind === "and" ? " AND " : " OR ")})`;
    case "not":
      return `(NOT ${print(expr.input)})`;
    case "isnull":
      return `(${print(expr.input)} IS ${expr.negated ? "NOT " : ""}NULL)`;
    case "case": {
      const branches = expr.branches.map(({ when, then }) => ` WHEN ${print(when)} THEN ${print(then)}`);
      return `CASE${branches.join("")}${expr.otherwise === null ? "" : ` ELSE ${print(expr.otherwise)}`} END`;
    }
    case "in":
      return `(${print(expr.input)} ${expr.negated ? "NOT IN" : "IN"} (${expr.items.map(print).join(", ")}))`;
    case "subquery":
      return printSubquery(expr, subqueryName(expr), print);
    case "list":
      return printList(expr, print);
  }
}

function parenthesized(expr: Expr, print: (expr: Expr) => string): string {
  const text = print(expr);
  const simple = expr.kind !== "case" || text.startsWith("(");
  return simple ? text : `(${text})`;
}

/** A backslash stands for itself. */
const inQuotes = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A string in quotes, as SQL writes it wherever standard_conforming_strings may be off. */
export function quoteLiteral(text: string): string {
  const body = text.replaceAll("'", "''");
  return body.includes("\\") ? `E'${body.replaceAll("\\", "\\\\")}'` : `'${body}'`;
}

/** Words that no name can be everywhere: PostgreSQL's keywords but the unreserved ones. */
const RESERVED = new Set(
  `all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create
  current_catalog current_date current_role current_time current_timestamp current_user default deferrable desc distinct do
  else end except false fetch for foreign from grant group having in initially intersect into lateral leading limit
  localtime localtimestamp not null offset on only or order placing primary references returning select session_user some
  symmetric system_user table then to trailing true union unique user using variadic when where window with
  authorization binary collation concurrently cross current_schema freeze full ilike inner is isnull join left like natural
  notnull outer overlaps right similar tablesample verbose
  between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout int integer
  interval json json_array json_arrayagg json_object json_objectagg least merge_action national nchar none normalize nullif
  numeric out overlay position precision real row setof smallint substring time timestamp treat trim values varchar
  xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`.split(
    /\s+/,
  ),
);

/** A name as SQL writes it: quoted when it is not a plain lower-case name or is a reserved word. */
export function quoteIdentifier(name: string): string {
  if (/^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name)) return name;
  return `"${name.replaceAll('"', '""')}"`;
}

/** Parts of a constant that a plan shows; a part is an element or some characters (values/value-cost.ts). */
const SHOWN_PARTS_MAX = 4096;

export const isLongConst = ({ value }: ConstExpr): boolean => costLeft(value, SHOWN_PARTS_MAX) < 0;

/** As the expression would print it, but without the value where that is long. */
export function printShortConst(expr: ConstExpr): string {
  return isLongConst(expr) ? `'…'::${displayName(expr.type)}` : printConst(expr);
}

function printConst({ type, value }: ConstExpr): string {
  if (value === null) return type.name === "unknown" ? "NULL" : `NULL::${displayName(type)}`;
  const text = toText(type, value);
  switch (type.name) {
    case "bool":
      return value === true ? "true" : "false";
    case "int4":
      return text.startsWith("-") ? `'${text}'::integer` : text;
    case "numeric":
      return /^\d/.test(text) ? text : `'${text}'::numeric`;
    case "unknown":
      return inQuotes(text);
    default:
      return `${inQuotes(text)}::${displayName(type)}`;
  }
}

function printCall(expr: CallExpr, print: (expr: Expr) => string): string {
  const { fn } = expr;
  const args = expr.args.map(print);
  if (fn.operator !== undefined) {
    if (args.length === 1) return `(${fn.operator} ${args[0]})`;
    return `(${args[0]} ${fn.operator} ${args[1]})`;
  }
  const name = fn.lazy === true ? fn.name.toUpperCase() : fn.name;
  return `${name}(${args.join(", ")})`;
}

function printSubquery(expr: SubqueryExpr, name: string, print: (expr: Expr) => string): string {
  if (expr.form === "exists") return `EXISTS(${name})`;
  if (expr.form === "array") return `ARRAY(${name})`;
  if (expr.form === "list") return `LIST(${name})`;
  if (expr.input === null) return `(${name})`;
  const quantifier = expr.form === "all" ? "ALL" : "ANY";
  return `(${print(expr.input)} ${expr.compare?.operator ?? "="} ${quantifier} (${name}))`;
}

/** As Cypher writes it. */
function printList(expr: ListExpr, print: (expr: Expr) => string): string {
  const { form, list, variable, where, result, accumulator, initial } = expr;
  const elements = `${localName(expr, variable)} IN ${print(list)}`;
  if (form === "reduce") {
    return `reduce(${localName(expr, accumulator!)} = ${print(initial!)}, ${elements} | ${print(result!)})`;
  }
  const filtered = where === null ? elements : `${elements} WHERE ${print(where)}`;
  if (form !== "map") return `${form}(${filtered})`;
  return `[${filtered}${result === null ? "" : ` | ${print(result)}`}]`;
}

/** What the parts that read a local variable call it. */
function localName(expr: ListExpr, id: ColumnId): string {
  let name = "_";
  walkExpr(expr, (node) => {
    if (node.kind === "column" && node.id === id) name = node.name;
  });
  return name;
}
