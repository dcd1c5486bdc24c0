/**
 * Filters on documents as SQL conditions: `{price: {$lt: 10}, "author.name": "Ann", $or: [{…}, {…}]}`. Field names
 * become parts of the text, values parameters, so filters of one shape have one text and share a plan.
 *
 * What they mean:
 *  - null and a missing field are the same: `{a: null}` and `{a: {$exists: false}}` find both.
 *  - Negations ($ne, $nin, $not, $nor) find exactly what the condition does not find, so also documents without the
 *    field.
 *  - On an array, equality and comparisons hold when they hold for an element; paths lead through arrays of objects.
 *  - Fields that the schema does not name are compared within a type: numbers with numbers, text with text.
 *
 * Called by the handlers of search and of vector collections.
 */
import { PARAMETERS_MAX } from "../protocol/limits.js";
import { dateMsOf, faultOf, tooLong } from "./document-value.js";
import { invalid, pathOf } from "./field-path.js";
import {
  anyElement,
  type ColumnPlace,
  type FilterTarget,
  type JsonPlace,
  type Place,
  pathExists,
  placeOf,
  type ScalarType,
  type VectorPlace,
} from "./filter-place.js";
import { isObject, type JsonObject } from "./merge-patch.js";
import type { Parameters } from "./sql-text.js";

/** Conditions inside each other. */
export const FILTER_DEPTH_MAX = 20;
/** Conditions of one filter. */
export const FILTER_CONDITIONS_MAX = 500;
/** Values of one list. */
export const FILTER_LIST_MAX = 10_000;
/** Characters of a pattern. */
const PATTERN_CHARACTERS_MAX = 1000;

const LOGICAL = ["$and", "$or", "$nor", "$not"] as const;
const OPERATORS = [
  "$eq",
  "$ne",
  "$gt",
  "$gte",
  "$lt",
  "$lte",
  "$in",
  "$nin",
  "$exists",
  "$not",
  "$contains",
  "$all",
  "$size",
  "$elemMatch",
  "$regex",
  "$options",
  "$like",
  "$ilike",
] as const;
type Operator = (typeof OPERATORS)[number];

/** JSON in one column, without a schema. */
export const NOTHING_DECLARED: Omit<FilterTarget, "rest"> = {
  columns: new Map(),
  inner: [],
  hasId: false,
  indexed: new Set(),
  table: "",
};

const COMPARISONS = { $gt: ">", $gte: ">=", $lt: "<", $lte: "<=" } as const;
type Comparison = (typeof COMPARISONS)[keyof typeof COMPARISONS];

/** The condition in SQL, "true" for an empty filter. Throws invalid_request, which names the place in the filter. */
export function filterCondition(target: FilterTarget, filter: unknown, params: Parameters, where = "filters"): string {
  return new FilterCompiler(target, params).all(filter, where, 0);
}

class FilterCompiler {
  private conditions = 0;

  constructor(
    private readonly target: FilterTarget,
    private readonly params: Parameters,
  ) {}

  all(filter: unknown, where: string, depth: number): string {
    if (!isObject(filter)) throw invalid(where, "must be an object");
    if (depth > FILTER_DEPTH_MAX) throw invalid("filters", `conditions lie deeper than ${FILTER_DEPTH_MAX} levels`);
    const parts = Object.entries(filter).map(([name, operand]) => {
      const at = `${where}.${name.slice(0, 200)}`;
      if (++this.conditions > FILTER_CONDITIONS_MAX) {
        throw invalid("filters", `a filter has at most ${FILTER_CONDITIONS_MAX} conditions`);
      }
      if (name.startsWith("$")) return this.logical(name, operand, at, depth + 1);
      return this.field(placeOf(pathOf(name, at), this.target), operand, at, depth + 1);
    });
    return joined(parts, " AND ", "true");
  }

  private logical(name: string, operand: unknown, where: string, depth: number): string {
    if (name === "$not") return not(this.all(operand, where, depth));
    if (name !== "$and" && name !== "$or" && name !== "$nor") {
      throw invalid(where, `unknown operator. Known here: ${LOGICAL.join(", ")}`);
    }
    if (!Array.isArray(operand) || operand.length === 0) throw invalid(where, "must be a list of conditions");
    const parts = operand.map((part, i) => this.all(part, `${where}[${i}]`, depth));
    if (name === "$and") return joined(parts, " AND ", "true");
    const either = joined(parts, " OR ", "false");
    return name === "$or" ? either : not(either);
  }

  /** A value, or an object of operators. */
  private field(place: Place, operand: unknown, where: string, depth: number): string {
    if (!isObject(operand) || !Object.keys(operand).some((name) => name.startsWith("$"))) {
      return this.equals(place, operand, where);
    }
    if (depth > FILTER_DEPTH_MAX) throw invalid("filters", `conditions lie deeper than ${FILTER_DEPTH_MAX} levels`);
    const parts = Object.entries(operand).flatMap(([name, value]) => {
      const at = `${where}.${name.slice(0, 200)}`;
      if (++this.conditions > FILTER_CONDITIONS_MAX) {
        throw invalid("filters", `a filter has at most ${FILTER_CONDITIONS_MAX} conditions`);
      }
      if (!(OPERATORS as readonly string[]).includes(name)) {
        throw invalid(at, `unknown operator. Known: ${OPERATORS.join(", ")}`);
      }
      if (name === "$options") {
        if (operand.$regex === undefined) throw invalid(at, "goes with $regex only");
        return [];
      }
      return [this.operator(place, name as Operator, value, operand, at, depth + 1)];
    });
    return joined(parts, " AND ", "true");
  }

  private operator(
    place: Place,
    operator: Operator,
    value: unknown,
    siblings: JsonObject,
    where: string,
    depth: number,
  ): string {
    switch (operator) {
      case "$eq":
        return this.equals(place, value, where);
      case "$ne":
        return not(this.equals(place, value, where));
      case "$gt":
      case "$gte":
      case "$lt":
      case "$lte":
        return this.compares(place, COMPARISONS[operator], value, where);
      case "$in":
        return this.among(place, value, where);
      case "$nin":
        return not(this.among(place, value, where));
      case "$exists":
        if (typeof value !== "boolean") throw invalid(where, "must be true or false");
        return value ? exists(place) : not(exists(place));
      case "$not":
        return not(this.field(place, value, where, depth));
      case "$contains":
      case "$all":
        return this.contains(place, operator, value, where);
      case "$size":
        return this.size(place, value, where);
      case "$elemMatch":
        return this.elementMatches(place, value, where, depth);
      case "$regex":
      case "$options":
        return this.pattern(place, optionsOf(siblings.$options, where), value, where);
      case "$like":
        return this.pattern(place, "LIKE", value, where);
      case "$ilike":
        return this.pattern(place, "ILIKE", value, where);
    }
  }

  private equals(place: Place, value: unknown, where: string): string {
    if (value === null) return not(exists(place));
    if (place.kind === "vector") throw notOfVectors(where);
    if (place.kind === "column") return `${place.column} = ${this.scalar(place.type, value, where)}`;
    checkOperand(place, value, where);
    if (Array.isArray(value)) return `${place.value} = ${this.params.addJson(value)}`;
    if (isObject(value)) return anyElement(place, `v = ${this.params.addJson(value)}`);
    return this.keyed(place, [value], pathExists(place, " ? (@ == $v)", this.vars(value)));
  }

  /**
   * An index finds those that have one of the values, and all with arrays on the way, which the condition sorts out.
   */
  private keyed({ key }: JsonPlace, values: readonly unknown[], condition: string): string {
    if (key === null) return condition;
    const keys = [...values, []].map((value) => JSON.stringify(value));
    return `(${key} = ANY (${this.params.add(keys, "jsonb[]")}) AND ${condition})`;
  }

  private compares(place: Place, symbol: Comparison, value: unknown, where: string): string {
    if (place.kind === "vector") throw notOfVectors(where);
    if (place.kind === "column") return `${place.column} ${symbol} ${this.scalar(place.type, value, where)}`;
    if (typeof value !== "number" && typeof value !== "string" && typeof value !== "boolean") {
      throw invalid(where, "must be a number or a string");
    }
    checkOperand(place, value, where);
    const condition = pathExists(place, ` ? (@ ${symbol} $v)`, this.vars(value));
    if (place.key === null) return condition;
    // Values of other kinds lie below or above; the condition sorts them out.
    const { table } = this.target;
    const end = symbol.startsWith(">") && typeof value === "number" ? ` AND ${place.key} < 'false'` : "";
    const range = `${place.key} ${symbol} ${this.params.addJson(value)}${end}`;
    const inRange = `SELECT id FROM ${table} WHERE ${range} AND ${condition}`;
    const inArrays = `SELECT id FROM ${table} WHERE ${place.key} = '[]' AND ${condition}`;
    return `id = ANY (ARRAY(${inRange} UNION ALL ${inArrays}))`;
  }

  private among(place: Place, list: unknown, where: string): string {
    if (!Array.isArray(list)) throw invalid(where, "must be a list");
    if (list.length > FILTER_LIST_MAX) throw invalid(where, `a list has at most ${FILTER_LIST_MAX} values`);
    if (place.kind === "vector") throw notOfVectors(where);
    const values = list.filter((value) => value !== null);
    const parts = values.length < list.length ? [not(exists(place))] : [];
    if (place.kind === "column") {
      const { type, column } = place;
      const members = values.map((value, i) => scalarOf(type, value, `${where}[${i}]`));
      const sqlType = members.some((member) => member.type === "float8") ? "float8" : SCALARS[type];
      if (members.length > 0) {
        const all = members.map((member) => member.value);
        parts.push(`${column} = ANY (${this.params.add(all, `${sqlType}[]`)})`);
      }
      return joined(parts, " OR ", "false");
    }
    const simple = values.filter((value) => typeof value !== "object");
    for (const [i, value] of values.entries()) {
      if (typeof value === "object") parts.push(this.equals(place, value, `${where}[${i}]`));
      else checkOperand(place, value, `${where}[${i}]`);
    }
    if (this.params.values.length > PARAMETERS_MAX - 2) throw invalid(where, "has too many values");
    if (simple.length > 0) {
      parts.push(this.keyed(place, simple, pathExists(place, " ? (@ == $v[*])", this.vars(simple))));
    }
    return joined(parts, " OR ", "false");
  }

  private contains(place: Place, operator: "$contains" | "$all", value: unknown, where: string): string {
    if (operator === "$all" && !Array.isArray(value)) throw invalid(where, "must be a list");
    if (Array.isArray(value) && value.length > FILTER_LIST_MAX) {
      throw invalid(where, `a list has at most ${FILTER_LIST_MAX} values`);
    }
    if (place.kind === "vector") throw notOfVectors(where);
    if (place.kind === "column") {
      if (place.type !== "string" || typeof value !== "string") {
        throw invalid(where, place.type === "string" ? "must be a string" : `is not for a field of type ${place.type}`);
      }
      return `strpos(${place.column}, ${this.text(value, where)}) > 0`;
    }
    const elements = Array.isArray(value) ? value : [value];
    const holds = `${place.value} @> ${this.params.addJson(elements)}`;
    if (typeof value !== "string") return holds;
    const inText = `strpos(${place.text}, ${this.text(value, where)}) > 0`;
    return `CASE jsonb_typeof(${place.value}) WHEN 'string' THEN ${inText} ELSE ${holds} END`;
  }

  private size(place: Place, value: unknown, where: string): string {
    if (!Number.isSafeInteger(value) || (value as number) < 0) throw invalid(where, "must be a whole number");
    if (place.kind !== "json") throw invalid(where, "is for arrays only");
    const length = `jsonb_array_length(${place.value}) = ${this.params.add(value, "int8")}`;
    return `CASE jsonb_typeof(${place.value}) WHEN 'array' THEN ${length} ELSE false END`;
  }

  private elementMatches(place: Place, value: unknown, where: string, depth: number): string {
    if (place.kind !== "json") throw invalid(where, "is for arrays only");
    if (!isObject(value)) throw invalid(where, "must be an object");
    const isOfElement = Object.keys(value).every((name) => name.startsWith("$") && !LOGICAL.includes(name as "$and"));
    const target: FilterTarget = { ...NOTHING_DECLARED, rest: "v" };
    const inner = new FilterCompiler(target, this.params);
    inner.conditions = this.conditions;
    const condition = isOfElement
      ? inner.field(placeOf([], target), value, where, depth)
      : inner.all(value, where, depth);
    this.conditions = inner.conditions;
    return `(jsonb_typeof(${place.value}) = 'array' AND ${anyElement(place, condition)})`;
  }

  private pattern(place: Place, operator: string, value: unknown, where: string): string {
    if (typeof value !== "string") throw invalid(where, "must be a string");
    if (value.length > PATTERN_CHARACTERS_MAX) {
      throw invalid(where, `a pattern has at most ${PATTERN_CHARACTERS_MAX} characters`);
    }
    if (place.kind === "vector") throw notOfVectors(where);
    const pattern = this.text(value, where);
    if (place.kind === "column") {
      if (place.type !== "string") throw invalid(where, `is not for a field of type ${place.type}`);
      return `${place.column} ${operator} ${pattern}`;
    }
    const ofElement = `jsonb_typeof(v) = 'string' AND v #>> '{}' ${operator} ${pattern}`;
    const ofText = `${place.text} ${operator} ${pattern}`;
    return `CASE jsonb_typeof(${place.value}) WHEN 'string' THEN ${ofText} ELSE ${anyElement(place, ofElement)} END`;
  }

  private scalar(type: ScalarType, value: unknown, where: string): string {
    const operand = scalarOf(type, value, where);
    return this.params.add(operand.value, operand.type);
  }

  private text(value: string, where: string): string {
    checkText(value, where);
    return this.params.add(value, "text");
  }

  private vars(value: unknown): string {
    return this.params.addJson({ v: value });
  }
}

const SCALARS = { string: "text", number: "float8", integer: "int8", boolean: "bool", date: "timestamptz" } as const;

/** A column's operand; whole numbers are compared with others as numbers. Throws invalid_request for another type. */
function scalarOf(type: ScalarType, value: unknown, where: string): { readonly value: unknown; readonly type: string } {
  const asked = type === "integer" ? "number" : type;
  const fault = faultOf(asked, value, null);
  if (fault !== null) throw invalid(where, fault);
  if (type === "string") checkText(value as string, where);
  if (type === "date") return { value: new Date(dateMsOf(value)!).toISOString(), type: "timestamptz" };
  if (type === "integer" && !Number.isSafeInteger(value)) return { value, type: "float8" };
  return { value, type: SCALARS[type] };
}

/** What the schema says is a text is not compared with a number. */
function checkOperand({ type }: JsonPlace, value: unknown, where: string): void {
  if (typeof value === "number" && !Number.isFinite(value)) throw invalid(where, `${value} is not a number of JSON`);
  if (typeof value === "bigint") throw invalid(where, tooLong(value));
  if (!["string", "number", "boolean", "object"].includes(typeof value)) throw invalid(where, "is not a value of JSON");
  if (typeof value === "string") checkText(value, where);
  if (type === null || type === "array" || type === "object") return;
  const fault = faultOf(type === "integer" ? "number" : type, value, null);
  if (fault !== null) throw invalid(where, fault);
}

function checkText(text: string, where: string): void {
  if (/[\0\p{Cs}]/u.test(text)) throw invalid(where, "holds a character that no stored text has");
}

function exists(place: Place): string {
  if (place.kind !== "json") return `${(place as ColumnPlace | VectorPlace).column} IS NOT NULL`;
  return pathExists(place, '.type() ? (@ != "null")', null);
}

function optionsOf(options: unknown, where: string): string {
  if (options === undefined || options === "") return "~";
  if (options === "i") return "~*";
  throw invalid(where, '$options: must be "i" or nothing');
}

function notOfVectors(where: string): Error {
  return invalid(where, "is not for a field of type vector; of these there is only $exists");
}

const not = (condition: string): string => `(${condition}) IS NOT TRUE`;

function joined(parts: readonly string[], word: string, empty: string): string {
  if (parts.length === 0) return empty;
  return parts.length === 1 ? parts[0]! : `(${parts.map((part) => `(${part})`).join(word)})`;
}
