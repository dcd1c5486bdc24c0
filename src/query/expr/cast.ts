/**
 * Converts values of one type to another. `compile.ts` asks once per cast expression and keeps the closure; `types.ts`
 * says which conversions exist and when they apply.
 */

import { sqlError } from "../../protocol/errors.js";
import { fitBits } from "../../values/bit-string.js";
import { CypherVector } from "../../values/cypher-vector.js";
import { DAY_MICROS, roundMicros, SECOND_MICROS } from "../../values/datetime.js";
import type { Clock } from "../../values/datetime-parse.js";
import { asHalves } from "../../values/half-vector.js";
import { limitInterval, makeInterval } from "../../values/interval.js";
import { checkJson } from "../../values/json-text.js";
import { splitMicros } from "../../values/micros.js";
import { macOfLength, masked, networkOf, networkValue } from "../../values/network.js";
import { Numeric } from "../../values/numeric.js";
import { mergedRanges, multirangeKeyOf, multirangeText, namedByPart, rangeKeyOf, rangeOf } from "../../values/range.js";
import { denseOf, fitSparse, sparseOf } from "../../values/sparse-vector.js";
import { charOfByte } from "../../values/system-values.js";
import { fitNumeric, fitText, fromText, toText } from "../../values/text-format.js";
import { sqlArray } from "../../values/text-format-array.js";
import { offsetAt, offsetOfLocal } from "../../values/time-zone.js";
import {
  addMicros,
  checkedTimestamp,
  isFiniteTimestamp,
  roundTimestamp,
  splitTimestamp,
  type Timestamp,
  timestampAt,
} from "../../values/timestamp.js";
import {
  type Interval,
  Json,
  type SqlArray,
  type SqlType,
  type TimeTz,
  type Value,
  VECTOR,
} from "../../values/values.js";
import type { Variant } from "../../values/variant.js";
import { isList, variantToJson, variantToText } from "../../values/variant-format.js";
import { listOfVector } from "../../values/vector-list.js";
import { fitVector, vectorOf, vectorOfArray } from "../../values/vector-text.js";
import { lowerHalf } from "../../values/wide-numbers.js";
import { canCoerce, isBinaryCoercible } from "./coercion.js";
import { trimBlanks } from "./compare.js";
import type { EvalContext, ScalarFunction } from "./expr.js";
import { geometricConversion } from "./geometric-cast.js";
import { hstoreJson, hstoreOfArray } from "./hstore-cast.js";
import { normalInt8, numberConversion, outOfRange } from "./number-cast.js";
import { baseType, categoryOf, displayName } from "./types.js";
import { sqlForm, toVariant, variantJson } from "./variant-cast.js";

/** Converts a non-null value. The context gives the session's time zone and clock. */
export type Convert = (value: Value, context: EvalContext) => Value;

const keep: Convert = (value) => value;

/**
 * The conversion from one type to another, modifiers of `to` applied; null when there is none. `assignment`: on
 * storing, text that is too long is refused (22001) where a written cast cuts it.
 */
export function conversionOf(from: SqlType, to: SqlType, assignment = false): Convert | null {
  if (from === to || isBinaryCoercible(from, to)) return keep;
  if (!canCoerce(from, to, "explicit")) return null;
  const convert = baseConversion(from, to, assignment);
  if (convert === null) return null;
  const fit = to.modifier === null ? null : modifierOf(to, assignment);
  if (fit === null) return convert;
  return convert === keep ? fit : (value, context) => fit(convert(value, context), context);
}

/** The same as a function of one argument: for calls like `int8(x)` and for index expressions. */
export function castFunction(from: SqlType, to: SqlType): ScalarFunction | null {
  const convert = conversionOf(from, to);
  if (convert === null) return null;
  return Object.freeze({
    name: displayName(to),
    args: [from],
    returns: to,
    volatility: dependsOnSession(from, to) ? "stable" : "immutable",
    strict: true,
    needsContext: true,
    apply: (context: EvalContext, value: Value) => convert(value, context),
  });
}

const ZONED = new Set(["timestamptz", "timetz", "tstzrange", "tstzmultirange"]);
const LOCAL = new Set(["date", "time", "timestamp", "daterange", "datemultirange", "tsrange", "tsmultirange"]);

/** True when the result depends on the session's time zone or clock, so that the cast must not be folded. */
export function dependsOnSession(from: SqlType, to: SqlType): boolean {
  if (to.element !== null) return dependsOnSession(from.element ?? from, to.element);
  if (to.name === "variant") return false;
  if (to.fields !== undefined) {
    return to.fields.some((field, i) => dependsOnSession(from.fields?.[i]?.type ?? from, field.type));
  }
  if (ZONED.has(namedByPart(from)) !== ZONED.has(namedByPart(to))) return true;
  if (from.name === "timetz" || to.name === "timetz") return from.name !== to.name;
  // Text may say "now" or "today".
  return LOCAL.has(namedByPart(to)) && categoryOf(from) !== "D" && categoryOf(from) !== "R";
}

/** To the bare type, without its modifier. */
function baseConversion(from: SqlType, to: SqlType, assignment: boolean): Convert | null {
  if (from.element !== null && to.name === "hstore") return (value) => hstoreOfArray(value as SqlArray);
  if (from.element !== null && to.element !== null) return arrayConversion(from.element, to.element, assignment);
  if (to.name === "variant") return toVariant(from);
  if (from.name === "variant") return (value, context) => fromVariant(value as Variant, to, context);
  if (
    from.name !== to.name &&
    isVectorType(to) &&
    (isVectorType(from) || from.element !== null || to.name === "vector")
  ) {
    return toVectorType(from, to);
  }
  if ((from.name === "vector" || from.name === "halfvec") && to.element !== null) {
    const convert = numberConversion("float4", to.element.name);
    return convert === null ? null : (value) => sqlArray(Array.from(value as Float32Array, convert));
  }
  if (from.name === "record" && to.name === "record") return recordConversion(from, to);
  if (from.name === to.name) return keep;
  const source = categoryOf(from);
  const target = categoryOf(to);
  if (target === "S") return toStringType(from, to);
  if (source === "S" || source === "X") {
    // A bare number counts whatever the fields of an interval type say.
    const base = to.name === "interval" ? to : baseType(to);
    const blankPadded = from.name === "bpchar";
    return (value, context) =>
      fromText(base, blankPadded ? trimBlanks(value as string) : (value as string), clockOf(context));
  }
  if (source === "N" && target === "N") return numberConversion(from.name, to.name) as Convert | null;
  if (target === "V" || source === "V") return bitConversion(from, to);
  if (from.name === "char") return (value) => byteOfChar(value as string);
  if (to.name === "char") return (value) => charOfInteger(value as number);
  if (from.name === "bool") return (value) => (value === true ? 1 : 0);
  if (to.name === "bool" && source === "N") return (value) => value !== 0;
  if (from.name === "inet" && to.name === "cidr") return (value) => networkValue(masked(networkOf(value as string)));
  if (from.name === "cidr" && to.name === "inet") return keep;
  if (from.name === "macaddr" || from.name === "macaddr8") return (value) => macOfLength(to.name, value as string);
  if (from.name === "xid8") return (value) => lowerHalf(value as string);
  if (from.name === "hstore") return (value) => hstoreJson(to, value as string);
  if (source === "G") return geometricConversion(from, to) as Convert | null;
  const [range, list] = [rangeKeyOf(from), multirangeKeyOf(to)];
  if (range !== null && list !== null) {
    return (value) => multirangeText(list, mergedRanges([rangeOf(range, value as string)]));
  }
  if (from.name === "json") return (value) => new Json(jsonbValue(value as Json));
  if (from.name === "jsonb") return fromJsonb(to);
  return timeConversion(from.name, to.name);
}

/** By the SQL type that the value is nearest to. Throws 22023 when that does not become the type. */
function fromVariant(given: Variant, to: SqlType, context: EvalContext): Value {
  const variant = given instanceof CypherVector ? listOfVector(given) : given;
  if (to.element !== null && isList(variant)) {
    return sqlArray(variant.map((item) => (item === null ? null : fromVariant(item, to.element!, context))));
  }
  if (categoryOf(to) === "S") return fromText(baseType(to), variantToText(variant), clockOf(context));
  if (to.name === "jsonb") return new Json(variantJson(variant));
  if (to.name === "json") return new Json(variantJson(variant), variantToJson(variant));
  const { type, value } = sqlForm(variant);
  const convert = type === baseType(to) ? keep : conversionOf(type, to);
  if (convert !== null) return convert(value, context);
  throw sqlError("22023", `cannot cast variant ${displayName(type)} to type ${displayName(baseType(to))}`);
}

/** Of bit strings among each other, and with integers, which keep their lowest bits. */
function bitConversion(from: SqlType, to: SqlType): Convert | null {
  if (categoryOf(from) === categoryOf(to)) return keep;
  if (to.name === "bit") {
    const length = to.modifier ?? 1;
    return (value) =>
      BigInt.asUintN(length, BigInt(value as number | bigint))
        .toString(2)
        .padStart(length, "0");
  }
  const width = to.name === "int4" ? 32 : 64;
  return (value) => {
    const bits = value as string;
    if (bits.length > width) throw outOfRange(width === 32 ? "integer" : "bigint");
    return normalInt8(BigInt.asIntN(width, BigInt(`0b0${bits}`)));
  };
}

function jsonbValue(json: Json): unknown {
  return json.text === undefined ? json.value : checkedJsonb(json.text);
}

function checkedJsonb(text: string): unknown {
  return (fromText({ name: "jsonb", modifier: null, element: null }, text) as Json).value;
}

const clocks = new WeakMap<EvalContext, Clock>();

/** What reading of text like "today" depends on; "now" is the start of the transaction. */
export function clockOf(context: EvalContext): Clock {
  let clock = clocks.get(context);
  if (clock === undefined) {
    const { timeZone, transactionMicros: nowMicros, style } = context;
    clock = style === undefined ? { timeZone, nowMicros } : { timeZone, nowMicros, ...style };
    clocks.set(context, clock);
  }
  return clock;
}

/** What a modifier does to a value that has the type already. */
function modifierOf(to: SqlType, assignment: boolean): Convert | null {
  const { modifier } = to;
  switch (to.name) {
    case "varchar":
    case "bpchar":
      return (value) => fitText(to, value as string, !assignment);
    case "bit":
    case "varbit":
      return (value) => fitBits(to, value as string, !assignment);
    case "numeric":
      return (value) => fitNumeric(to, value as Numeric);
    case "time":
      return (value) => roundMicros(value as number, modifier);
    case "timestamp":
    case "timestamptz":
      return (value) => roundTimestamp(value as Timestamp, modifier);
    case "timetz":
      return (value) => ({ ...(value as TimeTz), micros: roundMicros((value as TimeTz).micros, modifier) });
    case "interval":
      return (value) => limitInterval(value as Interval, modifier);
    case "vector":
    case "halfvec":
      return (value) => fitVector(to, value as Float32Array);
    case "sparsevec":
      return (value) => fitSparse(to, value as string);
    default:
      return null;
  }
}

function arrayConversion(from: SqlType, to: SqlType, assignment: boolean): Convert | null {
  const convert = conversionOf(from, to, assignment);
  if (convert === null || convert === keep) return convert;
  return (value, context) => {
    const array = value as SqlArray;
    return {
      ...array,
      elements: array.elements.map((element) => (element === null ? null : convert(element, context))),
    };
  };
}

/** Field by field. */
function recordConversion(from: SqlType, to: SqlType): Convert | null {
  if (from.fields === undefined || to.fields === undefined) return keep;
  const converts = to.fields.map((field, i) => conversionOf(from.fields![i]!.type, field.type));
  if (converts.includes(null)) return null;
  return (value, context) =>
    (value as readonly Value[]).map((field, i) => (field === null ? null : converts[i]!(field, context)));
}

const isVectorType = ({ name }: SqlType) => name === "vector" || name === "halfvec" || name === "sparsevec";

/** Between the three types of vectors, and from arrays. */
function toVectorType(from: SqlType, to: SqlType): Convert | null {
  if (from.name === "sparsevec") {
    const dense: Convert = (value) => denseOf(value as string, to.name);
    return to.name === "vector" ? dense : (value, context) => asHalves(dense(value, context) as Float32Array);
  }
  const convert = from.name === "halfvec" ? keep : toVector(from, to);
  if (convert === null || to.name === "vector") return convert;
  if (to.name === "halfvec") return (value, context) => asHalves((convert(value, context) as Float32Array).slice());
  return (value, context) => sparseOf(convert(value, context) as Float32Array);
}

/** Of the members; `name` is that of the type in errors. */
function toVector(from: SqlType, { name }: SqlType): Convert | null {
  const bare: SqlType = { name, modifier: null, element: null };
  if (from.name === "vector") return keep;
  if (from.name === "jsonb" || from.name === "json")
    return (value) => vectorOf(bare, jsonNumbers((value as Json).value));
  if (from.element === null) return (value, context) => fromText(VECTOR, value as string, clockOf(context));
  const convert = numberConversion(from.element.name, "float8");
  if (convert === null) return null;
  return (value) => {
    const array = value as SqlArray;
    if (convert === keep) return vectorOfArray(bare, array);
    const number = (element: Value) => (element === null ? null : convert(element));
    return vectorOfArray(bare, { ...array, elements: array.elements.map(number) });
  };
}

function jsonNumbers(value: unknown): number[] {
  if (!Array.isArray(value)) throw sqlError("22023", `cannot cast jsonb ${jsonKind(value)} to type vector`);
  return value.map((member: unknown) => {
    if (typeof member === "number") return member;
    if (member instanceof Numeric) return member.toNumber();
    throw sqlError("22023", `cannot cast jsonb ${jsonKind(member)} to a member of a vector`);
  });
}

function toStringType(from: SqlType, to: SqlType): Convert {
  const cut = to.name === "name" ? (text: string) => fromText(to, text) as string : null;
  if (from.name === "bpchar" && to.name !== "bpchar") {
    return cut === null ? (value) => trimBlanks(value as string) : (value) => cut(trimBlanks(value as string));
  }
  if (categoryOf(from) === "S" || from.name === "unknown") return cut === null ? keep : (value) => cut(value as string);
  // As a cast, a boolean is written out; its output function prints one letter. An address has its netmask always.
  if (from.name === "bool") return (value) => (value === true ? "true" : "false");
  if (from.name === "inet") return keep;
  return (value, context) => toText(from, value, context.timeZone, context.style);
}

/** The signed byte that a "char" is. */
const byteOfChar = (value: string) => (value === "" ? 0 : (value.charCodeAt(0) << 24) >> 24);

function charOfInteger(value: number): string {
  if (value < -128 || value > 127) throw outOfRange('"char"');
  return charOfByte(value & 0xff);
}

function fromJsonb(to: SqlType): Convert | null {
  if (to.name === "json") {
    return (value) => {
      const text = toText({ name: "jsonb", modifier: null, element: null }, value);
      return new Json(checkJson(text), text);
    };
  }
  const wanted = to.name === "bool" ? "boolean" : "number";
  const convert = to.name === "bool" ? null : numberConversion("numeric", to.name);
  return (value) => {
    const scalar = (value as Json).value;
    const number = typeof scalar === "number" ? Numeric.fromNumber(scalar) : scalar;
    if (wanted === "boolean" && typeof scalar === "boolean") return scalar;
    if (convert !== null && number instanceof Numeric) return convert(number);
    throw sqlError("22023", `cannot cast jsonb ${jsonKind(scalar)} to type ${displayName(baseType(to))}`);
  };
}

function jsonKind(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof Numeric || typeof value === "number") return "numeric";
  return typeof value;
}

/** What the clock shows at an instant. It may be outside of the range of timestamps, whose fields can still be told. */
export function localReading(instant: Timestamp, timeZone: string): Timestamp {
  return isFiniteTimestamp(instant) ? addMicros(instant, offsetAt(timeZone, instant) * SECOND_MICROS) : instant;
}

/** The same as a timestamp. Throws 22008. */
export function localTimestamp(instant: Timestamp, timeZone: string): Timestamp {
  return checkedTimestamp(localReading(instant, timeZone));
}

/** Instant of a wall clock reading. Throws 22008. */
export function instantOf(local: Timestamp, timeZone: string): Timestamp {
  return checkedTimestamp(comparedInstant(local, timeZone));
}

/** The same to be compared only: it may be outside of the range of timestamps. */
function comparedInstant(local: Timestamp, timeZone: string): Timestamp {
  return isFiniteTimestamp(local) ? addMicros(local, -offsetOfLocal(timeZone, local) * SECOND_MICROS) : local;
}

/** Conversions of what is compared only, which no time is out of range for. Null: there is none of its own. */
export function comparedConversion(from: SqlType, to: SqlType): Convert | null {
  if (to.modifier !== null) return null;
  switch (`${from.name}>${to.name}`) {
    case "date>timestamp":
      return (value) => timestampAt(value as number);
    case "date>timestamptz":
      return (value, { timeZone }) => comparedInstant(timestampAt(value as number), timeZone);
    case "timestamp>timestamptz":
      return (value, { timeZone }) => comparedInstant(value as Timestamp, timeZone);
    default:
      return null;
  }
}

const dayOf = (local: Timestamp) => (isFiniteTimestamp(local) ? splitTimestamp(local).days : Number(local));
const timeOf = (local: Timestamp) => (isFiniteTimestamp(local) ? splitTimestamp(local).micros : null);

/** The beginning of the day. Throws 22008. */
export function dateToTimestamp(days: number, timeZone = "UTC"): Timestamp {
  try {
    return instantOf(timestampAt(days), timeZone);
  } catch {
    throw sqlError("22008", "date out of range for timestamp");
  }
}

function timeConversion(from: string, to: string): Convert | null {
  switch (`${from}>${to}`) {
    case "date>timestamp":
      return (value) => dateToTimestamp(value as number);
    case "date>timestamptz":
      return (value, context) => dateToTimestamp(value as number, context.timeZone);
    case "timestamp>date":
      return (value) => dayOf(value as Timestamp);
    case "timestamp>time":
      return (value) => timeOf(value as Timestamp);
    case "timestamp>timestamptz":
      return (value, context) => instantOf(value as Timestamp, context.timeZone);
    case "timestamptz>date":
      return (value, context) => dayOf(localReading(value as Timestamp, context.timeZone));
    case "timestamptz>time":
      return (value, context) => timeOf(localReading(value as Timestamp, context.timeZone));
    case "timestamptz>timestamp":
      return (value, context) => localTimestamp(value as Timestamp, context.timeZone);
    case "timestamptz>timetz":
      return (value, context) => {
        const micros = timeOf(localReading(value as Timestamp, context.timeZone));
        return micros === null ? null : { micros, offset: offsetAt(context.timeZone, value as Timestamp) };
      };
    case "time>interval":
      return (value) => makeInterval(0, 0, value as number);
    case "time>timetz":
      return (value, context) => {
        const today = splitTimestamp(localReading(context.transactionMicros, context.timeZone)).days;
        const local = timestampAt(today, value as number);
        return { micros: value as number, offset: offsetOfLocal(context.timeZone, local) };
      };
    case "timetz>time":
      return (value) => (value as TimeTz).micros;
    case "interval>time":
      return (value) => {
        const micros = splitMicros((value as Interval).micros, DAY_MICROS).rest;
        return ((micros % DAY_MICROS) + DAY_MICROS) % DAY_MICROS;
      };
    default:
      return null;
  }
}
