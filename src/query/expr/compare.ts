/**
 * Order and equality of values by type: ORDER BY, DISTINCT, GROUP BY, hash joins, min/max, index bounds and the
 * comparison operators all use these, so that they agree with each other.
 */

import { compareText } from "../../values/compare-text.js";
import { orderOfLabel } from "../../values/enum-labels.js";
import { compareNetworks } from "../../values/network.js";
import { Numeric } from "../../values/numeric.js";
import {
  compareMultiranges,
  compareRanges,
  type MultirangeKey,
  multirangeKeyOf,
  type Range,
  type RangeKey,
  rangeKeyOf,
  rangeOf,
  rangeOfMultirange,
  rangesOf,
  subtypeOf,
} from "../../values/range.js";
import { comparePlaces } from "../../values/row-place.js";
import { compareSparse } from "../../values/sparse-vector.js";
import { compareTsQueries } from "../../values/ts-query.js";
import { compareTsVectors } from "../../values/ts-vector.js";
import type { Interval, Json, SqlArray, SqlType, TimeTz, Value } from "../../values/values.js";
import { compareVectors } from "../../values/vector-math.js";
import { compareVariants, variantKey } from "./variant-order.js";

export type Comparator = (a: Value, b: Value) => number;
export type HashKey = string | number | bigint | boolean;

/**
 * The total order of a type's non-null values; negative, 0 or positive. Text orders by code point (as its UTF-8 bytes
 * do, PostgreSQL's C collation). Both values must be of `type`. Types without an order (json) compare by their text.
 */
export function comparatorOf(type: SqlType): Comparator {
  switch (type.name) {
    case "bool":
    case "int2":
    case "int4":
    case "int8":
    case "money":
    case "oid":
    case "date":
    case "time":
    case "timestamp":
    case "timestamptz":
      return compareIntegers as Comparator;
    case "float4":
    case "float8":
      return compareFloats as Comparator;
    case "numeric":
      return (a, b) => (a as Numeric).compare(b as Numeric);
    case "bpchar":
      return (a, b) => compareText(trimBlanks(a as string), trimBlanks(b as string));
    case "citext":
      return (a, b) => compareText((a as string).toLowerCase(), (b as string).toLowerCase());
    case "text":
    case "hstore":
    case "ltree":
    case "lquery":
    case "ltxtquery":
    case "varchar":
    case "name":
    case "uuid":
    case "bit":
    case "varbit":
    case "unknown":
    case "macaddr":
    case "macaddr8":
    case "point":
    case "line":
    case "lseg":
    case "box":
    case "path":
    case "polygon":
    case "circle":
    case "xid":
    case "xid8":
    case "pg_snapshot":
    case "txid_snapshot":
    case "pg_lsn":
    case "int2vector":
    case "oidvector":
    case "regconfig":
    case "char":
      return compareText as Comparator;
    case "tid":
      return comparePlaces as Comparator;
    case "variant":
      return compareVariants;
    case "int4range":
    case "int8range":
    case "numrange":
    case "daterange":
    case "tsrange":
    case "tstzrange":
    case "range":
      return rangeComparator(rangeKeyOf(type)!);
    case "int4multirange":
    case "int8multirange":
    case "nummultirange":
    case "datemultirange":
    case "tsmultirange":
    case "tstzmultirange":
    case "multirange":
      return multirangeComparator(multirangeKeyOf(type)!);
    case "tsvector":
      return (a, b) => compareTsVectors(a as string, b as string);
    case "tsquery":
      return (a, b) => compareTsQueries(a as string, b as string);
    case "inet":
    case "cidr":
      return (a, b) => compareNetworks(a as string, b as string);
    case "enum":
      return (a, b) => orderOfLabel(type, a as string) - orderOfLabel(type, b as string);
    case "bytea":
      return (a, b) => compareBytes(a as Uint8Array, b as Uint8Array);
    case "timetz":
      return (a, b) => compareTimeTz(a as TimeTz, b as TimeTz);
    case "interval":
      return (a, b) => compareIntervals(a as Interval, b as Interval);
    case "json":
      return (a, b) => compareText(jsonText(a as Json), jsonText(b as Json));
    case "jsonb":
      return (a, b) => compareJson((a as Json).value, (b as Json).value);
    case "jsonpath":
      return (a, b) => compareText(String(a), String(b));
    case "vector":
    case "halfvec":
      return (a, b) => compareVectors(a as Float32Array, b as Float32Array);
    case "sparsevec":
      return (a, b) => compareSparse(a as string, b as string);
    case "array":
      return arrayComparator(type);
    case "record":
      if (type.fields !== undefined) return recordComparator(type.fields.map((field) => field.type));
      return (a, b) => compareRecords(a as readonly Value[], b as readonly Value[]);
    case "void":
      return () => 0;
  }
}

/** Order for one sort key: NULLs where asked, the rest ascending or descending. */
export function sortComparator(type: SqlType, descending: boolean, nullsFirst: boolean): Comparator {
  const compare = comparatorOf(type);
  const nullFirst = nullsFirst ? -1 : 1;
  return (a, b) => {
    if (a === null) return b === null ? 0 : nullFirst;
    if (b === null) return -nullFirst;
    return descending ? compare(b, a) : compare(a, b);
  };
}

function compareIntegers(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** NaN is equal to itself and above everything else; −0 equals 0. */
export function compareFloats(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a === b) return 0;
  return Number.isNaN(a) ? (Number.isNaN(b) ? 0 : 1) : -1;
}

/** Without the padding of character(n). */
export function trimBlanks(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 32) end--;
  return end === text.length ? text : text.slice(0, end);
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** By instant, then by zone, west after east, as PostgreSQL does. */
function compareTimeTz(a: TimeTz, b: TimeTz): number {
  const difference = a.micros - a.offset * 1e6 - (b.micros - b.offset * 1e6);
  return difference !== 0 ? difference : b.offset - a.offset;
}

const DAY_MICROS = 86_400_000_000;

/** A month counts 30 days and a day 24 hours, so the whole may be more than 2^53 microseconds. */
function compareIntervals(a: Interval, b: Interval): number {
  const days = a.months * 30 + a.days - (b.months * 30 + b.days);
  if (typeof a.micros === "number" && typeof b.micros === "number" && Math.abs(days) < 50_000) {
    return days * DAY_MICROS + (a.micros - b.micros);
  }
  const span = BigInt(days) * BigInt(DAY_MICROS) + BigInt(a.micros) - BigInt(b.micros);
  return span < 0n ? -1 : span > 0n ? 1 : 0;
}

function rangeComparator(name: RangeKey): Comparator {
  return (a, b) => compareRanges(rangeOf(name, a as string), rangeOf(name, b as string));
}

function multirangeComparator(name: MultirangeKey): Comparator {
  return (a, b) => compareMultiranges(rangesOf(name, a as string), rangesOf(name, b as string));
}

function arrayComparator(type: SqlType): Comparator {
  let element = type.element as SqlType;
  while (element.element !== null) element = element.element;
  const compare = sortComparator(element, false, false);
  return (x, y) => {
    const a = x as SqlArray;
    const b = y as SqlArray;
    const length = Math.min(a.elements.length, b.elements.length);
    for (let i = 0; i < length; i++) {
      const order = compare(a.elements[i] as Value, b.elements[i] as Value);
      if (order !== 0) return order;
    }
    if (a.elements.length !== b.elements.length) return a.elements.length - b.elements.length;
    return compareShapes(a, b);
  };
}

function compareShapes(a: SqlArray, b: SqlArray): number {
  if (a.dimensions.length !== b.dimensions.length) return a.dimensions.length - b.dimensions.length;
  for (let i = 0; i < a.dimensions.length; i++) {
    const difference =
      (a.dimensions[i] as number) - (b.dimensions[i] as number) ||
      (a.lowerBounds[i] as number) - (b.lowerBounds[i] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Field by field, NULL equal to NULL and above values. */
function recordComparator(types: readonly SqlType[]): Comparator {
  const comparators = types.map((type) => sortComparator(type, false, false));
  return (x, y) => {
    const [a, b] = [x as readonly Value[], y as readonly Value[]];
    for (let i = 0; i < comparators.length; i++) {
      const order = comparators[i]!(a[i] ?? null, b[i] ?? null);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Field by field, NULL above values. A record does not know its fields' types, so their kinds must tell. */
function compareRecords(a: readonly Value[], b: readonly Value[]): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareUntyped(a[i] as Value, b[i] as Value);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Order of two values whose type only their representation tells: fields of records. */
function compareUntyped(a: Value, b: Value): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === "number" && typeof b === "number") return compareFloats(a, b);
  if (typeof a === "string") return compareText(a, String(b));
  if (typeof a !== "object") return compareIntegers(a as number, b as number);
  if (Array.isArray(a)) return compareRecords(a, b as readonly Value[]);
  if (a instanceof Uint8Array) return compareBytes(a, b as Uint8Array);
  if (a instanceof Float32Array) return compareVectors(a, b as Float32Array);
  if ("unscaled" in a) return a.compare(b as Numeric);
  if ("months" in a) return compareIntervals(a as Interval, b as Interval);
  if ("offset" in a) return compareTimeTz(a as TimeTz, b as TimeTz);
  if ("lax" in a) return compareText(a.toString(), String(b));
  if ("toJSON" in a) return compareJson(a.value, (b as Json).value);
  if (!("elements" in a)) return compareVariants(a, b);
  const left = a as SqlArray;
  const right = b as SqlArray;
  return compareRecords(left.elements, right.elements) || compareShapes(left, right);
}

const jsonText = (json: Json) => json.text ?? JSON.stringify(json.value);

/** Kinds in ascending order: Object > Array > Boolean > Number > String > Null (chapter 8.14.4). */
function jsonRank(value: unknown): number {
  if (value === null) return 0;
  if (typeof value === "string") return 1;
  if (typeof value === "number" || typeof value === "bigint") return 2;
  if (typeof value === "boolean") return 3;
  if (Array.isArray(value)) return 4;
  return value instanceof Numeric ? 2 : 5;
}

/** jsonb's B-tree order; arrays and objects with fewer members come first, an empty array before everything. */
export function compareJson(a: unknown, b: unknown): number {
  if (a === b) return 0;
  const rank = jsonRank(a);
  const other = jsonRank(b);
  if (rank !== other) {
    // PostgreSQL sorts an empty top-level array below null; kept because it is what its users see.
    if (rank === 4 && (a as unknown[]).length === 0) return -1;
    if (other === 4 && (b as unknown[]).length === 0) return 1;
    return rank - other;
  }
  switch (rank) {
    case 0:
      return 0;
    case 1:
      return compareText(a as string, b as string);
    case 2:
      return compareJsonNumbers(a as JsonNumber, b as JsonNumber);
    case 3:
      return Number(a) - Number(b);
    case 4: {
      const left = a as unknown[];
      const right = b as unknown[];
      if (left.length !== right.length) return left.length - right.length;
      return firstDifference(left, (value, i) => compareJson(value, right[i]));
    }
    default:
      return compareJsonObjects(a as Record<string, unknown>, b as Record<string, unknown>);
  }
}

type JsonNumber = number | bigint | Numeric;

function compareJsonNumbers(a: JsonNumber, b: JsonNumber): number {
  if (typeof a !== "object" && typeof b !== "object") return compareIntegers(a, b);
  return asNumeric(a).compare(asNumeric(b));
}

function asNumeric(value: JsonNumber): Numeric {
  if (typeof value === "object") return value;
  return typeof value === "bigint" ? Numeric.fromInteger(value) : Numeric.fromNumber(value);
}

function compareJsonObjects(a: Record<string, unknown>, b: Record<string, unknown>): number {
  const keys = Object.keys(a);
  const count = keys.length - Object.keys(b).length;
  if (count !== 0) return count;
  // With the same keys, the first of those whose values differ decides; mostly there is none, and nothing to sort.
  let difference = 0;
  let decisive = "";
  for (const key of keys) {
    if (!Object.hasOwn(b, key)) return compareByKeys(a, b);
    const here = compareJson(a[key], b[key]);
    if (here === 0 || (difference !== 0 && compareKeys(decisive, key) <= 0)) continue;
    difference = here;
    decisive = key;
  }
  return difference;
}

/** Of as many keys, but not the same. */
function compareByKeys(a: Record<string, unknown>, b: Record<string, unknown>): number {
  const others = jsonKeys(b);
  return firstDifference(jsonKeys(a), (key, i) => {
    const other = others[i] as string;
    return key === other ? compareJson(a[key], b[other]) : compareText(key, other);
  });
}

function firstDifference<T>(items: readonly T[], order: (item: T, index: number) => number): number {
  for (const [i, item] of items.entries()) {
    const difference = order(item, i);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Keys in jsonb's own order: shorter first, then by code point. */
export function jsonKeys(object: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(object).sort(compareKeys);
}

export function compareKeys(a: string, b: string): number {
  return Buffer.byteLength(a) - Buffer.byteLength(b) || compareText(a, b);
}

/**
 * A Map key for a non-null value of a type: two values have the same key just when SQL's `=` holds between them.
 * Keys of different types may collide; prefix them when several columns make one key.
 */
export function hashKeyOf(type: SqlType): (value: Value) => HashKey {
  switch (type.name) {
    case "bpchar":
      return (value) => trimBlanks(value as string);
    case "citext":
      return (value) => (value as string).toLowerCase();
    case "numeric":
      return (value) => (value as Numeric).hashKey();
    case "bytea":
      return (value) => Buffer.from(value as Uint8Array).toString("latin1");
    case "timetz":
      return (value) => `${(value as TimeTz).micros}/${(value as TimeTz).offset}`;
    case "interval":
      return (value) => intervalKey(value as Interval);
    case "numrange":
      return (value) => numericRangeKey(rangeOf("numrange", value as string));
    case "nummultirange":
      return (value) =>
        rangesOf("nummultirange", value as string)
          .map(numericRangeKey)
          .join();
    case "range":
    case "multirange":
      return ownRangeKey(type);
    case "json":
      return (value) => jsonText(value as Json);
    case "jsonb":
      return (value) => keptKey(value) ?? jsonKey((value as Json).value);
    case "jsonpath":
      return String;
    case "variant":
      return (value) => keptKey(value) ?? variantKey(value);
    case "vector":
    case "halfvec":
      return untypedKey;
    case "array":
    case "record":
      return (value) => keptKey(value) ?? untypedKey(value);
    case "void":
      return () => 0;
    default:
      // Map already takes −0 for 0 and NaN for NaN.
      return (value) => value as HashKey;
  }
}

/** 1.0 and 1 are the same bound. */
function numericRangeKey({ lower, upper, lowerInc, upperInc, isEmpty }: Range): string {
  if (isEmpty) return "empty";
  const keys = [lower, upper].map((bound) => (bound === null ? "" : (bound as Numeric).hashKey()));
  return `${lowerInc ? "[" : "("}${keys.join()}${upperInc ? "]" : ")"}`;
}

/** Of ranges and multiranges of types that statements made. */
function ownRangeKey(type: SqlType): (value: Value) => HashKey {
  const [range, list] = [rangeKeyOf(type), multirangeKeyOf(type)];
  const subtype = subtypeOf(range ?? rangeOfMultirange(list!));
  const isFloat = subtype === "float4" || subtype === "float8";
  // −0 and 0 are the same bound.
  if (isFloat) return (value) => (value as string).replace(/([[(,])-0(?=[,\])])/g, "$10");
  if (subtype !== "numeric") return (value) => value as HashKey;
  if (range !== null) return (value) => numericRangeKey(rangeOf(range, value as string));
  return (value) =>
    rangesOf(list!, value as string)
      .map(numericRangeKey)
      .join();
}

function intervalKey(interval: Interval): string {
  return (BigInt(interval.months * 30 + interval.days) * BigInt(DAY_MICROS) + BigInt(interval.micros)).toString();
}

/** Keys of large values, which were made in turns (exec/large-keys.ts). */
const keptKeys = new WeakMap<object, string>();

export function keepKey(value: object, key: string): void {
  keptKeys.set(value, key);
}

export function keptKey(value: Value): string | undefined {
  return typeof value === "object" ? keptKeys.get(value!) : undefined;
}

export function jsonKey(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonKey).join()}]`;
  if (typeof value === "number" && !Number.isInteger(value)) return Numeric.fromNumber(value).hashKey();
  if (typeof value !== "object" || value === null)
    return typeof value === "bigint" ? String(value) : JSON.stringify(value);
  if (value instanceof Numeric) return value.hashKey();
  const object = value as Record<string, unknown>;
  return `{${jsonKeys(object).map((key) => `${JSON.stringify(key)}:${jsonKey(object[key])}`)}}`;
}

/**
 * A key of a value by its representation: members of arrays, records and vectors. Another one makes it in turns, too.
 */
export function untypedKey(value: Value): string {
  if (value === null) return "~";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object") return Object.is(value, -0) ? "0" : String(value);
  if (value instanceof Float32Array) return `<${value.join()}>`;
  if (value instanceof Uint8Array) return `x${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return `(${value.map(untypedKey).join()})`;
  if ("unscaled" in value) return value.hashKey();
  if ("months" in value) return intervalKey(value as Interval);
  if ("offset" in value) return `${(value as TimeTz).micros}/${(value as TimeTz).offset}`;
  if ("toJSON" in value) return jsonKey(value.value);
  if (!("elements" in value)) return String(variantKey(value));
  const array = value as SqlArray;
  return `{${array.dimensions.join("x")}@${array.lowerBounds.join()}:${array.elements.map(untypedKey).join()}}`;
}
