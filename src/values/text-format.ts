/**
 * Values as text and text as values, exactly as PostgreSQL's type input and output functions do it. Casts, literals,
 * string parameters, EXPLAIN and text columns of answers go through here.
 */

import { sqlError } from "../protocol/errors.js";
import { bitsFromText, fitBits } from "./bit-string.js";
import { isCatalogVector } from "./catalog-types.js";
import { dateToText, timeToText, timeTzToText } from "./datetime.js";
import { type Clock, parseDate, parseTime, parseTimestamp, parseTimestampTz, parseTimeTz } from "./datetime-parse.js";
import { enumFromText } from "./enum-labels.js";
import { float4ToText, float8ToText, nearestFloat4 } from "./float-text.js";
import { geometricFromText } from "./geometric.js";
import { asHalves } from "./half-vector.js";
import { hstoreFromText } from "./hstore.js";
import { intervalToText, parseInterval } from "./interval.js";
import { JsonPath } from "./json-path.js";
import { parseJsonPath } from "./json-path-parse.js";
import { checkJson, jsonbToText, parseJson } from "./json-text.js";
import { lqueryFromText } from "./lquery.js";
import { ltreeFromText } from "./ltree.js";
import { ltxtqueryFromText } from "./ltxtquery.js";
import { moneyFromText, moneyToText } from "./money.js";
import { inetText, macFromText, networkFromText } from "./network.js";
import { Numeric } from "./numeric.js";
import { type Bound, multirangeKeyOf, rangeInZone, rangeKeyOf } from "./range.js";
import { rangeValueFromText } from "./range-input.js";
import { sparseFromText } from "./sparse-vector.js";
import { charToText, systemValueFromText } from "./system-values.js";
import { type ArrayDelimiter, arrayFromText, arrayToText } from "./text-format-array.js";
import { recordFromText, recordToText } from "./text-format-record.js";
import { regConfigFromText } from "./text-search-configs.js";
import {
  bytesInStyle,
  dateInStyle,
  float4InStyle,
  float8InStyle,
  intervalInStyle,
  PLAIN_STYLE,
  parseStandardInterval,
  type TextStyle,
  timestampInStyle,
  timestampTzInStyle,
} from "./text-style.js";
import type { Timestamp } from "./timestamp.js";
import { timestampToText, timestampTzToText } from "./timestamp-text.js";
import { tsQueryFromText } from "./ts-query.js";
import { tsVectorFromText } from "./ts-vector.js";
import { type Interval, Json, type SqlArray, type SqlType, type TimeTz, type Value } from "./values.js";
import { variantToText } from "./variant-format.js";
import { vectorFromText, vectorToText } from "./vector-text.js";
import { lsnToText, transactionToText } from "./wide-numbers.js";

/** Precision and scale out of the modifier of a numeric type; the scale may be negative. */
export function numericModifier(modifier: number): { precision: number; scale: number } {
  const low = modifier & 2047;
  const scale = low >= 1024 ? low - 2048 : low;
  return { precision: (modifier - scale) / 2048, scale };
}

/**
 * The text of a non-null value. `timeZone` is that of the session, for timestamptz; `style` its DateStyle and
 * IntervalStyle.
 */
export function toText(type: SqlType, value: Value, timeZone = "UTC", style?: TextStyle): string {
  if (style !== undefined && style !== PLAIN_STYLE && STYLED.has(type.name)) {
    return styledText(type, value, timeZone, style);
  }
  switch (type.name) {
    case "bool":
      return value === true ? "t" : "f";
    case "float4":
      return float4ToText(value as number);
    case "float8":
      return float8ToText(value as number);
    case "bytea":
      return bytesInStyle(value as Uint8Array, PLAIN_STYLE);
    case "date":
      return dateToText(value as number);
    case "time":
      return timeToText(value as number);
    case "timetz":
      return timeTzToText(value as TimeTz);
    case "timestamp":
      return timestampToText(value as Timestamp);
    case "timestamptz":
      return timestampTzToText(value as Timestamp, timeZone);
    case "interval":
      return intervalToText(value as Interval);
    case "json":
      return (value as Json).text ?? JSON.stringify((value as Json).value);
    case "jsonb":
      return jsonbToText((value as Json).value);
    case "vector":
    case "halfvec":
      return vectorToText(value as Float32Array);
    case "array": {
      const element = type.element as SqlType;
      if (isCatalogVector(type)) return (value as SqlArray).elements.join(" ");
      const print = (member: Value) => toText(element, member, timeZone, style);
      return arrayToText(value as SqlArray, print, delimiterOf(element));
    }
    case "record":
      return rowToText(type, value as readonly Value[], timeZone, style);
    case "inet":
      return inetText(value as string);
    case "daterange":
    case "datemultirange":
    case "tsrange":
    case "tsmultirange":
    case "tstzrange":
    case "tstzmultirange":
    case "range":
    case "multirange":
      return rangeInZone((rangeKeyOf(type) ?? multirangeKeyOf(type))!, value as string, timeZone, style);
    case "char":
      return charToText(value as string);
    case "money":
      return moneyToText(value as number | bigint);
    case "pg_lsn":
      return lsnToText(value as string);
    case "xid8":
      return transactionToText(value as string);
    case "variant":
      return variantToText(value);
    case "void":
      return "";
    default:
      // Integers, text, uuid and numeric print as themselves.
      return String(value);
  }
}

function rowToText(type: SqlType, row: readonly Value[], timeZone: string, style?: TextStyle): string {
  const { fields } = type;
  if (fields === undefined) return recordToText(row, untypedToText);
  // A row stored before its type got a field is shorter.
  const values = fields.length === row.length ? row : fields.map((_, i) => row[i] ?? null);
  return recordToText(values, (value, i) => toText(fields[i]!.type, value, timeZone, style));
}

const STYLED: ReadonlySet<SqlType["name"]> = new Set([
  "date",
  "timestamp",
  "timestamptz",
  "interval",
  "bytea",
  "float4",
  "float8",
] as const);

function styledText({ name }: SqlType, value: Value, timeZone: string, style: TextStyle): string {
  switch (name) {
    case "date":
      return dateInStyle(value as number, style);
    case "timestamp":
      return timestampInStyle(value as Timestamp, style);
    case "timestamptz":
      return timestampTzInStyle(value as Timestamp, timeZone, style);
    case "bytea":
      return bytesInStyle(value as Uint8Array, style);
    case "float4":
      return float4InStyle(value as number, style);
    case "float8":
      return float8InStyle(value as number, style);
    default:
      return intervalInStyle(value as Interval, style);
  }
}

/** A value whose type only its representation tells: fields of records without declared types. */
export function untypedToText(value: Value): string {
  if (typeof value === "boolean") return value ? "t" : "f";
  if (typeof value === "number") return float8ToText(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof Numeric) return value.toString();
  if (value instanceof JsonPath) return value.toString();
  if (value instanceof Json) return value.text ?? jsonbToText(value.value);
  if (value instanceof Float32Array) return vectorToText(value);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return recordToText(value, untypedToText);
  if ("months" in value) return intervalToText(value as Interval);
  if ("micros" in value) return timeTzToText(value as TimeTz);
  if (!("elements" in value)) return variantToText(value);
  return arrayToText(value as SqlArray, untypedToText, ",");
}

const systemClock: Clock = {
  timeZone: "UTC",
  get nowMicros() {
    return Date.now() * 1000;
  },
};

const invalid = (typeName: string, text: string) =>
  sqlError("22P02", `invalid input syntax for type ${typeName}: "${text}"`);

/**
 * The value that a text means for a type, modifiers applied as on storing (text too long is refused). Throws 22P02,
 * 22003, 22001, 22007, 22008 and others with PostgreSQL's messages.
 */
export function fromText(type: SqlType, text: string, clock: Clock = systemClock): Value {
  switch (type.name) {
    case "variant":
    case "unknown":
    case "text":
    case "citext":
    case "void":
      return text;
    case "name":
      return cutName(text);
    case "varchar":
    case "bpchar":
      return fitText(type, text, false);
    case "bool":
      return boolFromText(text);
    case "int2":
    case "int4":
    case "int8":
    case "oid":
      return integerFromText(type.name, text);
    case "float4":
    case "float8":
      return floatFromText(type.name, text);
    case "numeric":
      return fitNumeric(type, Numeric.parse(text));
    case "money":
      return moneyFromText(text);
    case "uuid":
      return uuidFromText(text);
    case "bytea":
      return byteaFromText(text);
    case "date":
      return parseDate(text, clock);
    case "time":
      return parseTime(text, clock, type.modifier);
    case "timetz":
      return parseTimeTz(text, clock, type.modifier);
    case "timestamp":
      return parseTimestamp(text, clock, type.modifier);
    case "timestamptz":
      return parseTimestampTz(text, clock, type.modifier);
    case "interval":
      return clock.intervals === "sql_standard"
        ? parseStandardInterval(text, type.modifier)
        : parseInterval(text, type.modifier);
    case "enum":
      return enumFromText(type, text);
    case "bit":
    case "varbit":
      return fitBits(type, bitsFromText(text), false);
    case "inet":
    case "cidr":
      return networkFromText(type.name, text);
    case "macaddr":
    case "macaddr8":
      return macFromText(type.name, text);
    case "point":
    case "line":
    case "lseg":
    case "box":
    case "path":
    case "polygon":
    case "circle":
      return geometricFromText(type.name, text, (number) => floatFromText("float8", number), float8ToText);
    case "int4range":
    case "int8range":
    case "numrange":
    case "daterange":
    case "tsrange":
    case "tstzrange":
    case "int4multirange":
    case "int8multirange":
    case "nummultirange":
    case "datemultirange":
    case "tsmultirange":
    case "tstzmultirange":
    case "range":
    case "multirange":
      return rangeValueFromText(type, text, (subtype, bound) => fromText(subtype, bound, clock) as Bound);
    case "tid":
    case "xid":
    case "xid8":
    case "pg_snapshot":
    case "txid_snapshot":
    case "pg_lsn":
    case "int2vector":
    case "oidvector":
    case "char":
      return systemValueFromText(type.name, text, (name, part) => String(integerFromText(name, part)));
    case "json":
      return new Json(checkJson(text), text);
    case "jsonb":
      return new Json(parseJson(text));
    case "hstore":
      return hstoreFromText(text);
    case "ltree":
      return ltreeFromText(text);
    case "lquery":
      return lqueryFromText(text);
    case "ltxtquery":
      return ltxtqueryFromText(text);
    case "tsvector":
      return tsVectorFromText(text);
    case "tsquery":
      return tsQueryFromText(text);
    case "regconfig":
      return regConfigFromText(text);
    case "jsonpath":
      return parseJsonPath(text);
    case "vector":
      return vectorFromText(type, text);
    case "halfvec":
      return asHalves(vectorFromText(type, text));
    case "sparsevec":
      return sparseFromText(type, text);
    case "array": {
      const element = type.element as SqlType;
      return arrayFromText(text, (member) => fromText(element, member, clock), delimiterOf(element));
    }
    case "record":
      if (type.fields === undefined) throw sqlError("0A000", "input of anonymous composite types is not implemented");
      return rowFromText(type, text, clock);
  }
}

const delimiterOf = (element: SqlType): ArrayDelimiter => (element.name === "box" ? ";" : ",");

function rowFromText(type: SqlType, text: string, clock: Clock): Value {
  const fields = type.fields!;
  return recordFromText(text, fields.length, (field, i) => fromText(fields[i]!.type, field, clock));
}

/** A numeric as a column of the type holds it. Throws 22003. */
export function fitNumeric(type: SqlType, value: Numeric): Numeric {
  if (type.modifier === null) return value;
  const { precision, scale } = numericModifier(type.modifier);
  return value.withPrecision(precision, scale);
}

/** Characters (code points), not UTF-16 units. */
export function characterCount(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) length--;
  return length;
}

/**
 * Text as varchar(n) or character(n) holds it. Beyond n characters only spaces are dropped (22001 otherwise) unless
 * `cut`, as a written cast does.
 */
export function fitText(type: SqlType, text: string, cut: boolean): string {
  const max = type.modifier;
  if (max === null) return text;
  if (text.length <= max && type.name === "varchar") return text;
  const length = characterCount(text);
  if (length > max) {
    const characters = Array.from(text);
    const rest = characters.slice(max).join("");
    if (!cut && /[^ ]/.test(rest)) {
      const name = type.name === "varchar" ? "character varying" : "character";
      throw sqlError("22001", `value too long for type ${name}(${max})`);
    }
    return characters.slice(0, max).join("");
  }
  return type.name === "bpchar" ? text + " ".repeat(max - length) : text;
}

/** Names are at most 63 bytes long; what is more is dropped. */
function cutName(text: string): string {
  if (Buffer.byteLength(text) <= 63) return text;
  return Buffer.from(text)
    .subarray(0, 63)
    .toString()
    .replace(/\ufffd+$/, "");
}

const TRUE_WORDS = ["true", "yes", "on", "1"];
const FALSE_WORDS = ["false", "no", "off", "0"];

function boolFromText(text: string): boolean {
  const word = text.trim().toLowerCase();
  // Unambiguous beginnings count; "o" is not.
  const matches = (words: readonly string[]) =>
    word !== "" && words.some((full) => full.startsWith(word) && (word !== "o" || full.length === 1));
  if (matches(TRUE_WORDS)) return true;
  if (matches(FALSE_WORDS)) return false;
  throw invalid("boolean", text);
}

type IntegerName = "int2" | "int4" | "int8" | "oid";

const INTEGERS: Readonly<Record<IntegerName, { display: string; min: bigint; max: bigint }>> = {
  int2: { display: "smallint", min: -32_768n, max: 32_767n },
  int4: { display: "integer", min: -2_147_483_648n, max: 2_147_483_647n },
  int8: { display: "bigint", min: -(1n << 63n), max: (1n << 63n) - 1n },
  oid: { display: "oid", min: -2_147_483_648n, max: 4_294_967_295n },
};

function integerFromText(name: IntegerName, text: string): number | bigint {
  const { display, min, max } = INTEGERS[name];
  if (!/^\s*[+-]?\d+\s*$/.test(text)) throw invalid(display, text);
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= min && number <= max) {
    return name === "oid" ? number >>> 0 : number + 0;
  }
  const value = BigInt(text.trim().replace(/^\+/, ""));
  if (value < min || value > max) {
    throw sqlError("22003", `value "${text}" is out of range for type ${display}`);
  }
  return value;
}

function floatFromText(name: "float4" | "float8", text: string): number {
  const display = name === "float4" ? "real" : "double precision";
  const source = text.trim();
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(source)) {
    const number = Number(source);
    const result = name === "float4" ? nearestFloat4(number, () => source) : number;
    const lost = result === 0 && /[1-9]/.test(source.replace(/e.*/i, ""));
    if (!Number.isFinite(result) || lost) throw sqlError("22003", `"${source}" is out of range for type ${display}`);
    return result;
  }
  switch (source.toLowerCase()) {
    case "nan":
    case "+nan":
    case "-nan":
      return Number.NaN;
    case "infinity":
    case "+infinity":
    case "inf":
    case "+inf":
      return Number.POSITIVE_INFINITY;
    case "-infinity":
    case "-inf":
      return Number.NEGATIVE_INFINITY;
    default:
      throw invalid(display, text);
  }
}

function uuidFromText(text: string): string {
  const braced = /^\{(.*)\}$/.exec(text);
  const source = (braced === null ? text : (braced[1] as string)).toLowerCase();
  if (/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(source)) return source;
  if (!/^(?:[0-9a-f]{4}-?){7}[0-9a-f]{4}$/.test(source)) throw invalid("uuid", text);
  const hex = source.replaceAll("-", "");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** `\x` and hexadecimal digits, or the old form with `\\` and `\ooo`. */
function byteaFromText(text: string): Uint8Array {
  if (text.startsWith("\\x")) {
    const hex = text.slice(2).replace(/\s/g, "");
    const wrong = /[^0-9a-f]/i.exec(hex);
    if (wrong !== null) throw sqlError("22023", `invalid hexadecimal digit: "${wrong[0]}"`);
    if (hex.length % 2 !== 0) throw sqlError("22023", "invalid hexadecimal data: odd number of digits");
    return new Uint8Array(Buffer.from(hex, "hex"));
  }
  if (!text.includes("\\")) return new Uint8Array(Buffer.from(text));
  const parts: Buffer[] = [];
  for (const [piece] of text.matchAll(/\\[0-3][0-7]{2}|\\\\|[^\\]+|\\/g)) {
    if (piece === "\\") throw sqlError("22P02", "invalid input syntax for type bytea");
    if (!piece.startsWith("\\")) parts.push(Buffer.from(piece));
    else parts.push(Buffer.from([piece === "\\\\" ? 92 : Number.parseInt(piece.slice(1), 8)]));
  }
  return new Uint8Array(Buffer.concat(parts));
}
