/**
 * Functions that return rows out of a value: arrays, text, regular expressions and JSON (chapters 9.4, 9.7, 9.16,
 * 9.19).
 */
import { sqlError } from "../../../protocol/errors.js";
import {
  arrayOf,
  INT2,
  INT2VECTOR,
  INT4,
  JSON_TYPE,
  JSONB,
  Json,
  OID,
  OIDVECTOR,
  RECORD,
  recordOf,
  type SqlArray,
  type SqlType,
  TEXT,
  type Value,
} from "../../../values/values.js";
import { jsonKeys } from "../compare.js";
import type { EvalContext } from "../expr.js";
import { recordRows, type TableFunction, tableFn, valueRows } from "../table-function.js";
import { type Family, family } from "./define.js";
import { asJson, asText, withoutNul } from "./json.js";
import { isJsonObject } from "./json-member.js";
import { recordFields } from "./json-record.js";
import { membersIn } from "./json-slices.js";
import { groupsOf, piecesBetween } from "./pattern.js";
import { regexOf } from "./regex.js";
import { splitParts, stringToArray } from "./text.js";

/** `unnest(array)`: its elements in row-major order; of an array of records, their fields. */
const UNNEST: Family<TableFunction> = family("unnest", "(anyarray) → setof anyelement", ([array, ...rest]) => {
  if (array === undefined || array.element === null || rest.length > 0) return null;
  const { element } = array;
  const open =
    element.name === "record"
      ? ({ elements }: SqlArray) => recordRows(elements.map((row) => (row ?? []) as readonly Value[]))
      : ({ elements }: SqlArray) => valueRows(elements);
  return tableFn("unnest", [array], element, open);
});

/** `unnest` of the numbers that an int2vector or oidvector lists. */
const unnestVector = (vector: SqlType, element: SqlType) =>
  tableFn("unnest", [vector], element, (text: string) => valueRows(text === "" ? [] : text.split(" ").map(Number)));

function regexpMatches(text: string, pattern: string, flags = "") {
  const regex = regexOf(pattern, flags);
  if (!flags.includes("g")) {
    const match = regex.exec(text);
    return valueRows(match === null ? [] : [groupsOf(match)]);
  }
  return valueRows(matchesIn(text, regex));
}

function* matchesIn(text: string, regex: RegExp): Generator<Value> {
  for (const match of text.matchAll(regex)) yield groupsOf(match);
}

/** One after the other: all at once would take long. */
function* mapped<T, U>(items: Iterable<T>, map: (item: T) => U): Generator<U> {
  for (const item of items) yield map(item);
}

function partsOf(text: string | null, separator: string | null, nullText: string | null): Iterable<Value> {
  if (text === null || text === "" || separator === "") return stringToArray(text, separator, nullText)?.elements ?? [];
  const parts = separator === null ? text : splitParts(text, separator);
  return mapped(parts, (part) => (part === nullText ? null : part));
}

const TEXTS: readonly TableFunction[] = [
  ...[[], [TEXT]].flatMap((more) => [
    tableFn("regexp_matches", [TEXT, TEXT, ...more], arrayOf(TEXT), regexpMatches),
    tableFn("regexp_split_to_table", [TEXT, TEXT, ...more], TEXT, (text: string, pattern: string, flags = "") =>
      valueRows(piecesBetween(text, pattern, flags, "regexp_split_to_table")),
    ),
    tableFn(
      "string_to_table",
      [TEXT, TEXT, ...more],
      TEXT,
      (text: string | null, separator: string | null, nullText: string | null = null) =>
        valueRows(partsOf(text, separator, nullText)),
      { strict: false },
    ),
  ]),
];

/** Throws 22023 for what is no object. */
function objectIn(name: string, type: SqlType, { value }: Json): Readonly<Record<string, unknown>> {
  if (isJsonObject(value)) return value;
  const what = Array.isArray(value) ? "an array" : "a scalar";
  if (name.endsWith("keys")) throw sqlError("22023", `cannot call ${name} on ${what}`);
  if (type === JSONB) throw sqlError("22023", `cannot call ${name} on a non-object`);
  throw sqlError("22023", `cannot deconstruct ${Array.isArray(value) ? "an array as an object" : "a scalar"}`);
}

/** Something of each member: jsonb has its own order of keys, json members as they are written. */
function ofMembers<T>(
  object: Readonly<Record<string, unknown>>,
  { text }: Json,
  ofValue: (key: string, value: unknown) => T,
  ofText: (key: string, part: string) => T,
): Generator<T> {
  if (text === undefined) return mapped(jsonKeys(object), (key) => ofValue(key, object[key]));
  return mapped(membersIn(text), ({ key, start, end }) => ofText(key!, text.slice(start, end)));
}

const partAsJson = (part: string): Json => Json.stored(part, true);

function partAsText(part: string): string | null {
  if (part.startsWith('"')) return withoutNul(JSON.parse(part) as string);
  return part === "null" ? null : part;
}

function elementsOf(name: string, type: SqlType, { value }: Json): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (name.endsWith("recordset")) {
    const what = type === JSONB ? "a non-array" : isJsonObject(value) ? "an object" : "a scalar";
    throw sqlError("22023", `cannot call ${name} on ${what}`);
  }
  if (type === JSONB)
    throw sqlError("22023", `cannot extract elements from ${isJsonObject(value) ? "an object" : "a scalar"}`);
  throw sqlError("22023", `cannot call ${name} on ${isJsonObject(value) ? "a non-array" : "a scalar"}`);
}

/** Those of `json` as they are written. */
function jsonElements(name: string, type: SqlType, json: Json): Iterable<Json> {
  const values = elementsOf(name, type, json);
  const { text } = json;
  if (text === undefined) return mapped(values, (value) => new Json(value));
  return mapped(membersIn(text), ({ start, end }) => partAsJson(text.slice(start, end)));
}

const keyOf = (key: string): string => key;

function jsonFunctions(prefix: string, type: SqlType): TableFunction[] {
  const each = (
    suffix: string,
    shown: SqlType,
    convert: (value: unknown) => Value,
    written: (part: string) => Value,
  ) => {
    const name = `${prefix}_${suffix}`;
    const row = recordOf([
      { name: "key", type: TEXT },
      { name: "value", type: shown },
    ]);
    const ofValue = (key: string, value: unknown) => [key, convert(value)];
    const ofText = (key: string, part: string) => [key, written(part)];
    return tableFn(name, [type], row, (json: Json) =>
      recordRows(ofMembers(objectIn(name, type, json), json, ofValue, ofText)),
    );
  };
  const elements = (
    suffix: string,
    shown: SqlType,
    convert: (value: unknown) => Value,
    written: (part: string) => Value,
  ) => {
    const name = `${prefix}_${suffix}`;
    const open = (json: Json) => {
      const values = elementsOf(name, type, json);
      const { text } = json;
      if (text === undefined) return valueRows(mapped(values, convert));
      return valueRows(mapped(membersIn(text), ({ start, end }) => written(text.slice(start, end))));
    };
    return tableFn(name, [type], shown, open, { column: "value" });
  };
  const keys = `${prefix}_object_keys`;
  return [
    each("each", type, (value) => asJson(type, value), partAsJson),
    each("each_text", TEXT, (value) => asText(type, value), partAsText),
    elements("array_elements", type, (value) => asJson(type, value), partAsJson),
    elements("array_elements_text", TEXT, (value) => asText(type, value), partAsText),
    tableFn(keys, [type], TEXT, (json: Json) => valueRows(ofMembers(objectIn(keys, type, json), json, keyOf, keyOf))),
    toRecord(`${prefix}_to_record`, type, false),
    toRecord(`${prefix}_to_recordset`, type, true),
  ];
}

/** The columns come from the call: `jsonb_to_record(x) AS t(a int, b text)`. */
function toRecord(name: string, type: SqlType, set: boolean): TableFunction {
  return Object.freeze({
    name,
    args: [type],
    returns: RECORD,
    strict: true,
    open(context: EvalContext, [json]: readonly Value[], shape: SqlType) {
      const objects = set ? jsonElements(name, type, json as Json) : [json as Json];
      return recordRows(mapped(objects, (object) => recordFields(name, object, shape, null, context)));
    },
  });
}

/** `jsonb_populate_recordset(base, array)`: one record of the base's type per member of the array. */
function populateSet(name: string, json: SqlType): Family<TableFunction> {
  return family(name, `(anyrecord, ${json.name}) → setof anyrecord`, ([base, given, ...rest]) => {
    if (base === undefined || given === undefined || rest.length > 0 || base.name !== "record") return null;
    return Object.freeze({
      name,
      args: [base, json],
      returns: base,
      strict: false,
      open(context: EvalContext, [record, array]: readonly Value[], shape: SqlType) {
        const objects = array === null ? [] : jsonElements(name, json, array as Json);
        const fields = record as readonly Value[] | null;
        return recordRows(mapped(objects, (object) => recordFields(name, object, shape, fields, context)));
      },
    });
  });
}

export const SETS: readonly TableFunction[] = [
  ...TEXTS,
  unnestVector(INT2VECTOR, INT2),
  unnestVector(OIDVECTOR, OID),
  ...jsonFunctions("json", JSON_TYPE),
  ...jsonFunctions("jsonb", JSONB),
];

/** `_pg_expandarray(array)` of information_schema: elements with their places from 1 on. */
const EXPAND_ARRAY: Family<TableFunction> = family(
  "_pg_expandarray",
  "(anyarray) → setof (x anyelement, n integer)",
  ([array, ...rest]) => {
    if (array === undefined || rest.length > 0) return null;
    const member = array === INT2VECTOR ? INT2 : array === OIDVECTOR ? OID : array.element;
    if (member === null) return null;
    const row = recordOf([
      { name: "x", type: member },
      { name: "n", type: INT4 },
    ]);
    const isList = array.element !== null;
    const membersOf = (value: SqlArray | string) =>
      isList ? (value as SqlArray).elements : (value as string).split(" ").filter(Boolean).map(Number);
    return tableFn("_pg_expandarray", [array], row, (value: SqlArray | string) =>
      recordRows(membersOf(value).map((x, i) => [x, i + 1])),
    );
  },
);

export const SET_FAMILIES: readonly Family<TableFunction>[] = [
  UNNEST,
  EXPAND_ARRAY,
  populateSet("json_populate_recordset", JSON_TYPE),
  populateSet("jsonb_populate_recordset", JSONB),
];
