/**
 * Values to and from JSON and MessagePack: cells of answers out, `$n` parameters in. Writers are compiled per column
 * type once per statement and called per cell, so they do only the work that the type needs.
 */

import { sqlError } from "../protocol/errors.js";
import { dateToText, timeToText, timeTzToText } from "./datetime.js";
import { shortFloat4 } from "./float-text.js";
import { asHalves } from "./half-vector.js";
import { intervalToText } from "./interval.js";
import { JsonPath } from "./json-path.js";
import { jsonToCompactText, jsonToPlain } from "./json-text.js";
import { moneyToText } from "./money.js";
import { inetText } from "./network.js";
import { Numeric } from "./numeric.js";
import { multirangeKeyOf, rangeInZone, rangeKeyOf } from "./range.js";
import { charToText } from "./system-values.js";
import { fitNumeric, fitText, fromText, untypedToText } from "./text-format.js";
import { EMPTY_ARRAY, nestArray } from "./text-format-array.js";
import type { Timestamp } from "./timestamp.js";
import { timestampToText, timestampTzToText } from "./timestamp-text.js";
import {
  arrayOf,
  BOOL,
  BYTEA,
  FLOAT8,
  INT4,
  INT8,
  type Interval,
  JSONB,
  Json,
  NUMERIC,
  type RecordField,
  type SqlArray,
  type SqlType,
  TEXT,
  type TimeTz,
  UNKNOWN,
  type Value,
} from "./values.js";
import { variantFromJson, variantToJson, variantToPlain } from "./variant-format.js";
import { fitVector, vectorOf, vectorToJson } from "./vector-text.js";
import { lsnToText, transactionToText } from "./wide-numbers.js";

/** JSON text of one cell, "null" for NULL. */
export type JsonWriter = (value: Value) => string;

/** Quotes, backslashes, control characters and halves of surrogate pairs. */
const NEEDS_ESCAPE = /["\\\p{Cc}\p{Cs}]/u;

function quote(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** Text that holds nothing to escape. */
const quoted = (print: (value: never) => string): JsonWriter => {
  return (value) => (value === null ? "null" : `"${print(value as never)}"`);
};

const bare: JsonWriter = (value) => String(value);

/**
 * A function that writes cells of a type as JSON. Integers beyond ±(2^53−1) are strings, because many clients read
 * JSON numbers as doubles; other numbers are JSON numbers with all their digits, NaN and infinities strings; times are
 * ISO 8601 text, timestamptz in `timeZone`; bytea is "\\x…".
 */
export function jsonWriter(type: SqlType, timeZone = "UTC"): JsonWriter {
  switch (type.name) {
    case "variant":
      return variantToJson;
    case "bool":
    case "int2":
    case "int4":
    case "oid":
      return bare;
    case "int8":
      return (value) => (typeof value === "bigint" ? `"${value}"` : String(value));
    case "float4":
      return (value) => (value === null ? "null" : numberText(shortFloat4(value as number)));
    case "float8":
      return (value) => (value === null ? "null" : numberText(value as number));
    case "numeric":
      return (value) => (value === null ? "null" : numericText(value as Numeric));
    case "unknown":
    case "text":
    case "varchar":
    case "bpchar":
    case "name":
    case "citext":
    case "hstore":
    case "ltree":
    case "lquery":
    case "ltxtquery":
    case "sparsevec":
    case "tsvector":
    case "tsquery":
    case "regconfig":
    case "int4range":
    case "int8range":
    case "numrange":
    case "daterange":
    case "tsrange":
    case "int4multirange":
    case "int8multirange":
    case "nummultirange":
    case "datemultirange":
    case "tsmultirange":
    case "enum":
      return (value) => (value === null ? "null" : quote(value as string));
    case "range":
    case "multirange":
    case "tstzrange":
    case "tstzmultirange": {
      const name = (rangeKeyOf(type) ?? multirangeKeyOf(type))!;
      return (value) => (value === null ? "null" : quote(rangeInZone(name, value as string, timeZone)));
    }
    case "char":
      return (value) => (value === null ? "null" : quote(charToText(value as string)));
    case "inet":
      return quoted(inetText);
    case "cidr":
    case "macaddr":
    case "macaddr8":
    case "point":
    case "line":
    case "lseg":
    case "box":
    case "path":
    case "polygon":
    case "circle":
    case "tid":
    case "xid":
    case "pg_snapshot":
    case "txid_snapshot":
    case "int2vector":
    case "oidvector":
    case "uuid":
    case "bit":
    case "varbit":
      return quoted((value: string) => value);
    case "bytea":
      return quoted((value: Uint8Array) => `\\\\x${Buffer.from(value).toString("hex")}`);
    case "money":
      return quoted(moneyToText);
    case "pg_lsn":
      return quoted(lsnToText);
    case "xid8":
      return quoted(transactionToText);
    case "date":
      return quoted(dateToText);
    case "time":
      return quoted(timeToText);
    case "timetz":
      return quoted(timeTzToText);
    case "timestamp":
      return quoted((value: Timestamp) => timestampToText(value, "T"));
    case "timestamptz":
      return quoted((value: Timestamp) => timestampTzToText(value, timeZone, "T"));
    case "interval":
      return quoted(intervalToText);
    case "jsonpath":
      return (value) => (value === null ? "null" : quote(String(value)));
    case "json":
      return (value) =>
        value === null ? "null" : onOneLine((value as Json).text ?? JSON.stringify((value as Json).value));
    case "jsonb":
      return (value) => (value === null ? "null" : compactText(value as Json));
    case "vector":
    case "halfvec":
      return (value) => (value === null ? "null" : vectorToJson(value as Float32Array));
    case "array":
      return arrayWriter(jsonWriter(type.element as SqlType, timeZone));
    case "record":
      return type.fields === undefined ? untypedJson : recordWriter(type.fields, timeZone);
    case "void":
      return (value) => (value === null ? "null" : '""');
  }
}

/** A `json` value keeps its line breaks, which would end a line of NDJSON; in its strings they are always escaped. */
function onOneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, " ") : text;
}

/** JSON text of one cell; use jsonWriter where there are many. */
export function toJsonText(type: SqlType, value: Value, timeZone = "UTC"): string {
  return jsonWriter(type, timeZone)(value);
}

function numberText(x: number): string {
  return Number.isFinite(x) ? String(x) : `"${x}"`;
}

/** Integers that clients who read JSON numbers as doubles would change. */
const isUnsafe = (x: bigint) => x > BigInt(Number.MAX_SAFE_INTEGER) || x < -BigInt(Number.MAX_SAFE_INTEGER);

function numericText(x: Numeric): string {
  if (x.special !== null) return `"${x.special}"`;
  return x.scale === 0 && isUnsafe(x.unscaled) ? `"${x}"` : x.toString();
}

function arrayWriter(write: JsonWriter): JsonWriter {
  const join = (items: readonly unknown[]): string =>
    `[${items.map((item) => (Array.isArray(item) ? join(item) : (item as string))).join()}]`;
  return (value) => (value === null ? "null" : join(nestArray(value as SqlArray, write)));
}

/** An object with a member per field. */
function recordWriter(fields: readonly RecordField[], timeZone: string): JsonWriter {
  const writers = fields.map(({ type }) => jsonWriter(type, timeZone));
  const names = fields.map(({ name }) => JSON.stringify(name));
  return (value) => {
    if (value === null) return "null";
    return `{${writers.map((write, i) => `${names[i]}:${write((value as readonly Value[])[i] ?? null)}`).join()}}`;
  };
}

function compactText(json: Json): string {
  return json.compact ?? jsonToCompactText(json.value);
}

/** Fields of a record, whose types only their representation tells. */
function untypedJson(value: Value): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return `"${value}"`;
  if (typeof value === "number") return numberText(value);
  if (typeof value === "string") return quote(value);
  if (value instanceof Numeric) return numericText(value);
  if (value instanceof Json) return value.text ?? compactText(value);
  if (value instanceof JsonPath) return quote(value.toString());
  if (value instanceof Float32Array) return vectorToJson(value);
  if (Array.isArray(value)) return `[${value.map(untypedJson).join()}]`;
  if ("dimensions" in value) return arrayWriter(untypedJson)(value);
  return quote(untypedToText(value));
}

function plainRecord(fields: readonly RecordField[], timeZone: string): PlainWriter {
  const writers = fields.map(({ type }) => plainWriter(type, timeZone));
  return (value) => {
    if (value === null) return null;
    const row = value as readonly Value[];
    return Object.fromEntries(fields.map(({ name }, i) => [name, writers[i]!(row[i] ?? null)]));
  };
}

/** The cell of a MessagePack answer, null for NULL. */
export type PlainWriter = (value: Value) => unknown;

const same: PlainWriter = (value) => value;

/**
 * A function that makes cells of MessagePack answers: bytea stays bytes, int8 beyond 2^53 a bigint, numeric a number
 * when that is exact and else text (a whole one beyond 2^53 always), JSON its value; the rest as in JSON.
 */
export function plainWriter(type: SqlType, timeZone = "UTC"): PlainWriter {
  switch (type.name) {
    case "numeric":
      return (value) => (value === null ? null : plainNumeric(value as Numeric));
    case "float4":
      return (value) => (value === null ? null : shortFloat4(value as number));
    case "json":
    case "jsonb":
      return (value) => (value === null ? null : jsonToPlain((value as Json).value));
    case "vector":
    case "halfvec":
      return (value) => (value === null ? null : Array.from(value as Float32Array, shortFloat4));
    case "array": {
      const element = plainWriter(type.element as SqlType, timeZone);
      return (value) => (value === null ? null : nestArray(value as SqlArray, element));
    }
    case "record":
      return type.fields === undefined ? plainUntyped : plainRecord(type.fields, timeZone);
    case "money":
      return printed(moneyToText);
    case "pg_lsn":
      return printed(lsnToText);
    case "xid8":
      return printed(transactionToText);
    case "date":
      return printed(dateToText);
    case "time":
      return printed(timeToText);
    case "timetz":
      return printed((value: TimeTz) => timeTzToText(value));
    case "timestamp":
      return printed((value: Timestamp) => timestampToText(value, "T"));
    case "timestamptz":
      return printed((value: Timestamp) => timestampTzToText(value, timeZone, "T"));
    case "jsonpath":
      return printed(String);
    case "char":
      return printed(charToText);
    case "variant":
      return variantToPlain;
    case "inet":
      return printed(inetText);
    case "range":
    case "multirange":
    case "tstzrange":
    case "tstzmultirange": {
      const name = (rangeKeyOf(type) ?? multirangeKeyOf(type))!;
      return printed((value: string) => rangeInZone(name, value, timeZone));
    }
    case "interval":
      return printed((value: Interval) => intervalToText(value));
    case "void":
      return (value) => (value === null ? null : "");
    default:
      return same;
  }
}

const printed = (print: (value: never) => string): PlainWriter => {
  return (value) => (value === null ? null : print(value as never));
};

/** One cell of a MessagePack answer; use plainWriter where there are many. */
export function toPlain(type: SqlType, value: Value, timeZone = "UTC"): unknown {
  return plainWriter(type, timeZone)(value);
}

function plainNumeric(x: Numeric): number | string {
  // Nothing else tells a client that it was whole.
  if (x.scale === 0 && isUnsafe(x.unscaled)) return x.toString();
  const number = x.toNumber();
  return Number.isFinite(number) && Numeric.fromNumber(number).equals(x) ? number : x.toString();
}

function plainUntyped(value: Value): unknown {
  if (value === null || typeof value !== "object" || value instanceof Uint8Array) return value;
  if (value instanceof Numeric) return plainNumeric(value);
  if (value instanceof Json) return jsonToPlain(value.value);
  if (value instanceof Float32Array) return Array.from(value, shortFloat4);
  if (Array.isArray(value)) return value.map(plainUntyped);
  if ("dimensions" in value) return nestArray(value, plainUntyped);
  return untypedToText(value);
}

/**
 * A parameter of a request as a value of the type that the statement gives it. Strings are read as text input; what
 * cannot be that type is refused with 22P02, 22003 or 22023.
 */
export function fromParameter(type: SqlType, json: unknown): Value {
  if (json === null || json === undefined) return null;
  if (type.name === "variant") return variantFromJson(json);
  switch (typeof json) {
    case "string":
      return fromText(type, json);
    case "number":
      return fromNumber(type, json);
    case "boolean":
      if (type.name === "bool") return json;
      return isJson(type) ? jsonOf(type, json) : fromText(type, String(json));
    case "bigint":
      return fromText(type, String(json));
    default:
      return fromObject(type, json as object);
  }
}

const isJson = (type: SqlType) => type.name === "json" || type.name === "jsonb";

function jsonOf(type: SqlType, value: unknown): Json {
  return type.name === "json" ? new Json(value, jsonToCompactText(value)) : new Json(value);
}

function fromNumber(type: SqlType, x: number): Value {
  switch (type.name) {
    case "float8":
      return x;
    case "int4":
      return Number.isInteger(x) && x === (x | 0) ? x | 0 : fromText(type, integerText(x));
    case "int8":
      // Adding 0 makes −0 a 0.
      return Number.isSafeInteger(x) ? x + 0 : fromText(type, integerText(x));
    case "int2":
    case "oid":
      return fromText(type, integerText(x));
    case "numeric":
      return fitNumeric(type, Numeric.fromNumber(x));
    case "json":
    case "jsonb":
      return jsonOf(type, x);
    case "varchar":
    case "bpchar":
      return fitText(type, String(x), false);
    default:
      return fromText(type, String(x));
  }
}

/** Without an exponent, so that a large whole number is out of range rather than bad syntax. */
function integerText(x: number): string {
  return Number.isInteger(x) ? BigInt(x).toString() : String(x);
}

function fromObject(type: SqlType, json: object): Value {
  if (json instanceof Date) {
    if (Number.isNaN(json.getTime())) throw sqlError("22007", "the parameter is not a valid date");
    return fromText(type, json.toISOString());
  }
  if (isJson(type)) return jsonOf(type, json);
  const isList = Array.isArray(json) || ArrayBuffer.isView(json);
  if (type.name === "vector" && isList) return vectorParameter(type, json);
  if (type.name === "halfvec" && isList) return asHalves(vectorParameter(type, json));
  if (json instanceof Uint8Array) {
    if (type.name === "bytea") return new Uint8Array(json);
    if (type.name === "text") return Buffer.from(json).toString();
  }
  if (type.element !== null) {
    if (Array.isArray(json)) return arrayParameter(type.element, json);
    if (ArrayBuffer.isView(json) && !(json instanceof DataView)) {
      return arrayParameter(type.element, Array.from(json as unknown as ArrayLike<number>));
    }
  }
  const what = Array.isArray(json) ? "a list" : ArrayBuffer.isView(json) ? "bytes" : "an object";
  throw sqlError(
    "22P02",
    `a parameter of type ${type.element === null ? type.name : `${type.element.name}[]`} cannot be ${what}`,
  );
}

function vectorParameter(type: SqlType, json: object): Float32Array {
  if (json instanceof Float32Array) return fitVector(type, json);
  const members = json as ArrayLike<number>;
  for (let i = 0; i < members.length; i++) {
    if (typeof members[i] !== "number") throw sqlError("22P02", "members of a vector must be numbers");
  }
  return vectorOf(type, members);
}

/** Nested lists are dimensions; every sub-list of a level must be equally long. */
function arrayParameter(element: SqlType, json: readonly unknown[]): SqlArray {
  if (json.length === 0) return EMPTY_ARRAY;
  const dimensions: number[] = [];
  for (let level: unknown = json; Array.isArray(level) && !isJson(element); level = level[0]) {
    dimensions.push(level.length);
  }
  if (isJson(element)) dimensions.push(json.length);
  const elements: Value[] = [];
  const collect = (items: readonly unknown[], depth: number) => {
    if (items.length !== dimensions[depth]) throw ragged();
    for (const item of items) {
      if (depth + 1 < dimensions.length) {
        if (!Array.isArray(item)) throw ragged();
        collect(item, depth + 1);
      } else elements.push(fromParameter(element, item));
    }
  };
  collect(json, 0);
  return { elements, dimensions, lowerBounds: dimensions.map(() => 1) };
}

const ragged = () => sqlError("2202E", "multidimensional arrays must have array expressions with matching dimensions");

/**
 * The type of a parameter that the statement leaves open: UNKNOWN for null, text for strings, the smallest of int4,
 * int8 and numeric for whole numbers, float8 for others, arrays of these for plain lists, jsonb for the rest.
 */
export function typeOfParameter(json: unknown): SqlType {
  switch (typeof json) {
    case "string":
      return TEXT;
    case "boolean":
      return BOOL;
    case "bigint":
      return BigInt.asIntN(64, json) === json ? INT8 : NUMERIC;
    case "number":
      if (!Number.isInteger(json)) return FLOAT8;
      if (json === (json | 0)) return INT4;
      return Math.abs(json) < 2 ** 63 ? INT8 : NUMERIC;
    default:
      break;
  }
  if (json === null || json === undefined) return UNKNOWN;
  if (json instanceof Uint8Array) return BYTEA;
  if (ArrayBuffer.isView(json)) return arrayOf(FLOAT8);
  if (!Array.isArray(json) || json.length === 0) return JSONB;
  if (json.every((item) => typeof item === "number")) return arrayOf(FLOAT8);
  return json.every((item) => typeof item === "string") ? arrayOf(TEXT) : JSONB;
}
