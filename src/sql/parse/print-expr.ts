/**
 * Prints expressions as SQL text again; defaults and checks are kept in this form. Its output parses to the same tree.
 * Subqueries and window calls cannot occur in a definition and are not printed.
 */
import type { ArgumentNode, CallNode, ExprNode, OperatorNode, SortNode, TypeNode } from "./ast-query.js";
import { notSupported } from "./conversion.js";
import { printSyntax } from "./print-syntax.js";

/** Throws 0A000 for a node that no definition can hold. */
export function printExpr(node: ExprNode): string {
  switch (node.kind) {
    case "null":
      return "NULL";
    case "boolean":
      return node.value ? "true" : "false";
    case "integer":
      return node.value < 0 ? `(${node.value})` : String(node.value);
    case "number":
      return node.text;
    case "string":
      return printString(node.value);
    case "bits":
      return `${node.text[0]!.toUpperCase()}'${node.text.slice(1)}'`;
    case "parameter":
      return `$${node.index + 1}`;
    case "column":
      return [...node.path.map(printName), ...(node.star ? ["*"] : [])].join(".");
    case "operator":
      return printOperator(node);
    case "and":
    case "or":
      return `(${node.args.map(printExpr).join(` ${node.kind.toUpperCase()} `)})`;
    case "not":
      return `(NOT ${printExpr(node.input)})`;
    case "call":
      return printCall(node);
    case "cast":
      return `(${printExpr(node.input)})::${printType(node.type)}`;
    case "case":
      return printCase(node);
    case "stored":
      return printExpr(node.input);
    default:
      return printPredicate(node);
  }
}

function printPredicate(node: ExprNode): string {
  const not = "negated" in node && node.negated ? "NOT " : "";
  switch (node.kind) {
    case "is null":
      return `(${printExpr(node.input)} IS ${not}NULL)`;
    case "is boolean":
      return `(${printExpr(node.input)} IS ${not}${node.value === null ? "UNKNOWN" : String(node.value).toUpperCase()})`;
    case "distinct from":
      return `(${printExpr(node.left)} IS ${not}DISTINCT FROM ${printExpr(node.right)})`;
    case "between": {
      const symmetric = node.symmetric ? "SYMMETRIC " : "";
      return `(${printExpr(node.input)} ${not}BETWEEN ${symmetric}${printExpr(node.low)} AND ${printExpr(node.high)})`;
    }
    case "in":
      return `(${printExpr(node.input)} ${not}IN (${printList(node.items)}))`;
    case "quantified":
      return `(${printExpr(node.left)} ${printSymbol(node)} ${node.all ? "ALL" : "ANY"} (${printExpr(node.array)}))`;
    case "nullif":
      return `NULLIF(${printExpr(node.left)}, ${printExpr(node.right)})`;
    case "coalesce":
    case "greatest":
    case "least":
      return `${node.kind.toUpperCase()}(${printList(node.args)})`;
    case "collate":
      return `(${printExpr(node.input)} COLLATE ${node.collation.map(printName).join(".")})`;
    case "array":
      return `ARRAY[${printList(node.elements)}]`;
    case "row":
      return `ROW(${printList(node.items)})`;
    case "subscript": {
      const bound = (expr: ExprNode | null) => (expr === null ? "" : printExpr(expr));
      // Subscripts that belong together stand together.
      const joined = node.input.kind === "subscript" && node.separate !== true;
      const input = joined ? printExpr(node.input) : `(${printExpr(node.input)})`;
      return `${input}[${node.slice ? `${bound(node.lower)}:` : ""}${bound(node.upper)}]`;
    }
    case "field":
      return `(${printExpr(node.input)}).${node.name === "*" ? "*" : printName(node.name)}`;
    case "value function":
      return node.name.toUpperCase() + (node.precision === null ? "" : `(${node.precision})`);
    case "merge action":
      return "MERGE_ACTION()";
    case "current of":
      return `CURRENT OF ${printName(node.cursor)}`;
    case "grouping":
      return `GROUPING(${printList(node.args)})`;
    case "default":
      return "DEFAULT";
    default:
      throw notSupported(`${node.kind} in a stored expression`, node.position);
  }
}

function printList(nodes: readonly ExprNode[]): string {
  return nodes.map(printExpr).join(", ");
}

function printOperator(node: OperatorNode): string {
  const symbol = printSymbol(node);
  // A space keeps `- -1` from becoming a comment.
  return node.left === null
    ? `(${symbol} ${printExpr(node.right)})`
    : `(${printExpr(node.left)} ${symbol} ${printExpr(node.right)})`;
}

/** LIKE and its kin are operators with names of their own; OPERATOR() holds any. */
function printSymbol({ name, schema }: Pick<OperatorNode, "name" | "schema">): string {
  if (schema !== undefined) return `OPERATOR(${printName(schema)}.${name})`;
  return /^[-+*/<>=~!@#%^&|`?]+$/.test(name) ? name : `OPERATOR(${name})`;
}

function printCase(node: Extract<ExprNode, { kind: "case" }>): string {
  const input = node.input === null ? "" : ` ${printExpr(node.input)}`;
  const branches = node.branches
    .map(({ when, result }) => ` WHEN ${printExpr(when)} THEN ${printExpr(result)}`)
    .join("");
  const otherwise = node.otherwise === null ? "" : ` ELSE ${printExpr(node.otherwise)}`;
  return `CASE${input}${branches}${otherwise} END`;
}

function printCall(node: CallNode): string {
  if (node.over !== null || node.withinGroup) throw notSupported("a window call in a stored expression", node.position);
  const syntax = node.isSyntax ? printedSyntax(node) : null;
  if (syntax !== null) return syntax;
  const name = node.path.map(printName).join(".");
  if (node.star) return `${name}(*)`;
  const args = node.args.map(printArgument);
  if (node.variadic) args.push(`VARIADIC ${args.pop()}`);
  const distinct = node.distinct ? "DISTINCT " : "";
  const orderBy = node.orderBy.length === 0 ? "" : ` ORDER BY ${node.orderBy.map(printSort).join(", ")}`;
  const filter = node.filter === null ? "" : ` FILTER (WHERE ${printExpr(node.filter)})`;
  return `${name}(${distinct}${args.join(", ")}${orderBy})${filter}`;
}

function printedSyntax(node: CallNode): string | null {
  const text = (i: number) => printExpr(node.args[i]!.value);
  return printSyntax(node, { text, operand: text, isCount: node.args[1]?.value.kind === "integer" });
}

function printArgument(arg: ArgumentNode): string {
  return arg.name === null ? printExpr(arg.value) : `${printName(arg.name)} => ${printExpr(arg.value)}`;
}

function printSort(node: SortNode): string {
  const direction =
    node.using === null ? (node.descending ? " DESC" : "") : ` USING ${printSymbol({ name: node.using })}`;
  const nulls = node.nullsFirst === null ? "" : node.nullsFirst ? " NULLS FIRST" : " NULLS LAST";
  return printExpr(node.expr) + direction + nulls;
}

function printType(type: TypeNode): string {
  const modifiers = type.modifiers.length === 0 ? "" : `(${printList(type.modifiers)})`;
  if (type.name === "interval" && type.schema === null) return `interval${printIntervalFields(type)}`;
  const name = `${type.schema === null ? "" : `${printName(type.schema)}.`}${printName(type.name)}`;
  return `${name}${modifiers}${"[]".repeat(type.arrayDimensions)}`;
}

/** The masks that the grammar gives for the fields of an interval, as they are written. */
const INTERVAL_FIELDS: Readonly<Record<number, string>> = {
  4: " YEAR",
  2: " MONTH",
  8: " DAY",
  1024: " HOUR",
  2048: " MINUTE",
  4096: " SECOND",
  6: " YEAR TO MONTH",
  1032: " DAY TO HOUR",
  3080: " DAY TO MINUTE",
  7176: " DAY TO SECOND",
  3072: " HOUR TO MINUTE",
  7168: " HOUR TO SECOND",
  6144: " MINUTE TO SECOND",
};

function printIntervalFields(type: TypeNode): string {
  const [mask, precision] = type.modifiers.map((modifier) => (modifier.kind === "integer" ? modifier.value : 0));
  const fields = mask === undefined ? "" : (INTERVAL_FIELDS[mask] ?? "");
  const digits = precision === undefined ? "" : `(${precision})`;
  return `${fields}${digits}${"[]".repeat(type.arrayDimensions)}`;
}

/** A backslash stands for itself, as PostgreSQL writes definitions. */
export function printString(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Words that cannot stand as a name without quotes in every place: reserved ones and those of functions and types. */
const QUOTED_WORDS = new Set(
  `all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast
  char character check coalesce collate collation column concurrently constraint create cross current_catalog
  current_date current_role current_schema current_time current_timestamp current_user dec decimal default deferrable
  desc distinct do else end except exists extract false fetch float for foreign freeze from full grant greatest group
  grouping having ilike in initially inner inout int integer intersect interval into is isnull join json json_array
  json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize json_table json_value
  lateral leading least left like limit localtime localtimestamp merge_action national natural nchar none normalize not
  notnull null nullif numeric offset on only or order out outer overlaps overlay placing position precision primary real
  references returning right row select session_user setof similar smallint some substring symmetric system_user table
  tablesample then time timestamp to trailing treat trim true union unique user using values varchar variadic verbose
  when where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot
  xmlserialize xmltable`.split(/\s+/),
);

export function printName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) && !QUOTED_WORDS.has(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
