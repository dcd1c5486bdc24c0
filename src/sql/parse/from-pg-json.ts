/**
 * Converts the JSON constructors and query functions of the SQL standard (JSON_OBJECT, JSON_VALUE, IS JSON, …) to
 * calls of functions with blanks in their names ("json object"), which no plain call can name. Everything but the
 * values goes into the first argument, a text of options; see json-constructors.ts of the expression room.
 */
import type { JsonBehavior, JsonOutput, JsonReturning, Node } from "@pgsql/types";
import type { ExprNode, TypeNode } from "./ast-query.js";
import { type Conversion, type NodeOf, notSupported, only, type Tag, tagOf } from "./conversion.js";
import { convertSort, convertType, convertWindow } from "./from-pg-expr.js";
import { plainCall } from "./plain-call.js";

const text = (value: string, position: number): ExprNode => ({ kind: "string", value, position });

function named(name: string, schema: string | null, position: number): TypeNode {
  return { name, schema, modifiers: [], arrayDimensions: 0, setOf: false, position };
}

const as = (input: ExprNode, type: TypeNode, position: number): ExprNode => ({ kind: "cast", input, type, position });
const asText = (value: string, position: number) => as(text(value, position), named("text", null, position), position);

/** `RETURNING type`; null: not given. */
function returning(output: JsonOutput | undefined, c: Conversion): TypeNode | null {
  if (output?.typeName === undefined) return null;
  const format = (output.returning as JsonReturning | undefined)?.format?.encoding ?? "JS_ENC_DEFAULT";
  if (format !== "JS_ENC_DEFAULT" && format !== "JS_ENC_UTF8") {
    throw notSupported("another JSON encoding than UTF8", c.position(output.typeName.location));
  }
  return convertType(output.typeName, c);
}

const returned = (call: ExprNode, type: TypeNode | null, position: number) =>
  type === null ? call : as(call, type, position);

/** `value FORMAT JSON` is read as JSON. */
function valueNode(node: { raw_expr?: Node; format?: { format_type?: string } }, c: Conversion): ExprNode {
  const value = c.expr(node.raw_expr!);
  if (node.format?.format_type !== "JS_FORMAT_JSON") return value;
  return as(value, named("json", null, value.position), value.position);
}

function flags(node: { absent_on_null?: boolean; unique?: boolean }): string {
  return [node.absent_on_null === true ? "absent" : "", node.unique === true ? "unique" : ""].filter(Boolean).join(" ");
}

function jsonObject(node: NodeOf<"JsonObjectConstructor">, c: Conversion): ExprNode {
  const position = c.position(node.location);
  const pairs = (node.exprs ?? []).flatMap((pair) => {
    const { key, value } = only(pair, "JsonKeyValue");
    return [c.expr(key!), valueNode(value!, c)];
  });
  const call = plainCall(["json object"], [asText(flags(node), position), ...pairs], position);
  return returned(call, returning(node.output, c), position);
}

function jsonArray(node: NodeOf<"JsonArrayConstructor">, c: Conversion): ExprNode {
  const position = c.position(node.location);
  const values = (node.exprs ?? []).map((value) => valueNode(only(value, "JsonValueExpr"), c));
  const call = plainCall(["json array"], [asText(flags(node), position), ...values], position);
  return returned(call, returning(node.output, c), position);
}

function jsonArrayOfQuery(node: NodeOf<"JsonArrayQueryConstructor">, c: Conversion): ExprNode {
  const position = c.position(node.location);
  const query = c.subquery(node.query);
  const rows: ExprNode = { kind: "subquery", form: "array", query, input: null, operator: null, isIn: false, position };
  const call = plainCall(["json array of"], [asText(flags(node), position), rows], position);
  return returned(call, returning(node.output, c), position);
}

/** JSON_ARRAYAGG and JSON_OBJECTAGG are json_agg and json_object_agg, ABSENT ON NULL is a FILTER. */
function aggregate(
  name: string,
  args: readonly ExprNode[],
  node: NodeOf<"JsonArrayAgg"> | NodeOf<"JsonObjectAgg">,
  c: Conversion,
): ExprNode {
  const clauses = (node as { constructor: NonNullable<NodeOf<"JsonArrayAgg">["constructor"]> }).constructor;
  const position = c.position(clauses.location);
  if ("unique" in node && node.unique) throw notSupported("WITH UNIQUE KEYS of an aggregate", position);
  const value = args[args.length - 1]!;
  const present: ExprNode | null =
    node.absent_on_null === true ? { kind: "is null", input: value, negated: true, position } : null;
  const filter = c.optional(clauses.agg_filter);
  const both = [filter, present].filter((part) => part !== null);
  const type = returning(clauses.output, c);
  const isBinary = type?.name === "jsonb";
  const call: ExprNode = {
    ...plainCall([isBinary ? name.replace("json", "jsonb") : name], args, position),
    orderBy: convertSort(clauses.agg_order, c),
    filter: both.length === 2 ? { kind: "and", args: both, position } : (both[0] ?? null),
    over: clauses.over === undefined ? null : convertWindow(clauses.over, c),
  };
  return isBinary ? call : returned(call, type, position);
}

function jsonArrayAgg(node: NodeOf<"JsonArrayAgg">, c: Conversion): ExprNode {
  return aggregate("json_agg", [valueNode(node.arg!, c)], node, c);
}

function jsonObjectAgg(node: NodeOf<"JsonObjectAgg">, c: Conversion): ExprNode {
  const { key, value } = node.arg!;
  return aggregate("json_object_agg", [c.expr(key!), valueNode(value!, c)], node, c);
}

function jsonParse(node: NodeOf<"JsonParseExpr">, c: Conversion): ExprNode {
  const position = c.position(node.location);
  const input = c.expr(node.expr!.raw_expr!);
  const json = as(input, named("json", null, position), position);
  const options = node.unique_keys === true ? "unique" : "";
  return returned(
    plainCall(["json parse"], [asText(options, position), json], position),
    returning(node.output, c),
    position,
  );
}

function jsonScalar(node: NodeOf<"JsonScalarExpr">, c: Conversion): ExprNode {
  const position = c.position(node.location);
  return returned(plainCall(["to_json"], [c.expr(node.expr!)], position), returning(node.output, c), position);
}

function jsonSerialize(node: NodeOf<"JsonSerializeExpr">, c: Conversion): ExprNode {
  const position = c.position(node.location);
  const json = as(valueNode(node.expr!, c), named("json", null, position), position);
  return as(json, returning(node.output, c) ?? named("text", null, position), position);
}

const ITEM_TYPES: Readonly<Record<string, string>> = {
  JS_TYPE_OBJECT: "object",
  JS_TYPE_ARRAY: "array",
  JS_TYPE_SCALAR: "scalar",
};

function isJson(node: NodeOf<"JsonIsPredicate">, c: Conversion): ExprNode {
  const position = c.position(node.location);
  const kind = ITEM_TYPES[node.item_type ?? ""] ?? "any";
  const options = node.unique_keys === true ? `${kind} unique` : kind;
  return plainCall(["is json"], [asText(options, position), c.expr(node.expr!)], position);
}

/** What ON EMPTY and ON ERROR ask for: a word, and the value of DEFAULT. */
function behavior(node: JsonBehavior | undefined, otherwise: string, c: Conversion) {
  const word = node?.btype?.replace("JSON_BEHAVIOR_", "").toLowerCase() ?? otherwise;
  return { word, value: word === "default" ? c.expr(node!.expr!) : null };
}

/** JSON_EXISTS, JSON_VALUE and JSON_QUERY: options, value, path, variables, defaults for no item and for an error. */
function jsonQuery(node: NodeOf<"JsonFuncExpr">, c: Conversion): ExprNode {
  const position = c.position(node.location);
  const name = { JSON_EXISTS_OP: "json exists", JSON_QUERY_OP: "json query", JSON_VALUE_OP: "json value" }[
    node.op as string
  ];
  if (name === undefined) throw notSupported("JSON_TABLE here", position);
  const given = returning(node.output, c);
  const type =
    given ?? named(name === "json value" ? "text" : name === "json query" ? "jsonb" : "bool", null, position);
  const empty = behavior(node.on_empty, "null", c);
  const error = behavior(node.on_error, name === "json exists" ? "false" : "null", c);
  const wrapper = { JSW_UNCONDITIONAL: " wrap", JSW_CONDITIONAL: " wrap-several" }[node.wrapper as string] ?? "";
  const quotes = node.quotes === "JS_QUOTES_OMIT" ? " unquoted" : "";
  const vars = (node.passing ?? []).flatMap((argument) => {
    const { name: variable, val } = only(argument, "JsonArgument");
    return [text(variable ?? "", position), valueNode(val!, c)];
  });
  const other = (value: ExprNode | null) => as(value ?? { kind: "null", position }, type, position);
  const input = c.expr(node.context_item!.raw_expr!);
  const args = [
    asText(`${empty.word} ${error.word}${wrapper}${quotes}`, position),
    as(input, named("jsonb", null, input.position), input.position),
    as(c.expr(node.pathspec!), named("jsonpath", null, position), position),
    plainCall(["jsonb_build_object"], vars, position),
    other(empty.value),
    other(error.value),
  ];
  return returned(plainCall([name], args, position), given, position);
}

const CONVERSIONS: { [K in Tag]?: (node: NodeOf<K>, c: Conversion) => ExprNode } = {
  JsonObjectConstructor: jsonObject,
  JsonArrayConstructor: jsonArray,
  JsonArrayQueryConstructor: jsonArrayOfQuery,
  JsonArrayAgg: jsonArrayAgg,
  JsonObjectAgg: jsonObjectAgg,
  JsonParseExpr: jsonParse,
  JsonScalarExpr: jsonScalar,
  JsonSerializeExpr: jsonSerialize,
  JsonIsPredicate: isJson,
  JsonFuncExpr: jsonQuery,
};

/** The expression, when the node is one of the JSON constructs; else null. */
export function convertJson(node: Node, c: Conversion): ExprNode | null {
  const tag = tagOf(node);
  const convert = CONVERSIONS[tag] as ((value: unknown, c: Conversion) => ExprNode) | undefined;
  return convert === undefined ? null : convert(only(node, tag), c);
}
