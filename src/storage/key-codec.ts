/**
 * Encodes values in keys so that byte order is value order; an index is then a range of keys. Called by whoever reads
 * and writes rows and index entries. The bytes are a stored format; format.ts holds its version.
 *
 * A column is a marker byte (0 NULL first, 1 a value, 2 NULL last) and the value, whose bytes are inverted when the
 * column is descending. Values that compare equal have equal bytes. So decoding gives an equal value, not always an
 * identical one: 1.00 comes back as 1, '1 month' as '30 days', char(n) without trailing blanks,
 * citext in lower case.
 */

import { type DbError, sqlError } from "../protocol/errors.js";
import { labelOfOrder, orderOfLabel } from "../values/enum-labels.js";
import { type FigureName, isFigure } from "../values/geometry-extent.js";
import { networkFromKey, networkKey } from "../values/network.js";
import type { Numeric } from "../values/numeric.js";
import {
  type Bound,
  EMPTY,
  type MultirangeKey,
  multirangeKeyOf,
  multirangeText,
  type Range,
  type RangeKey,
  rangeKeyOf,
  rangeOf,
  rangeOfMultirange,
  rangesOf,
  rangeText,
  subtypeOf,
} from "../values/range.js";
import type { Timestamp } from "../values/timestamp.js";
import {
  type Interval,
  Json,
  type SqlArray,
  type SqlType,
  type TimeTz,
  type TypeName,
  typeOf,
  type Value,
} from "../values/values.js";
import type { Variant } from "../values/variant.js";
import { readFigure, writeFigure } from "./key-figure.js";
import { readJson, writeJson } from "./key-json.js";
import { readNumeric, writeNumeric } from "./key-numeric.js";
import { damagedKey, KeyReader } from "./key-reader.js";
import { readVariant, writeVariant } from "./key-variant.js";
import { readVector, writeVector } from "./key-vector.js";
import * as writer from "./key-writer.js";

export interface KeyColumn {
  readonly type: SqlType;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

const NULL_FIRST = 0;
export const PRESENT = 1;
const NULL_LAST = 2;
/** Ends an array; before any element, so that a shorter array comes first. */
const ARRAY_END = 0;

const MICROS_PER_DAY = 86_400_000_000;
const MICROS_PER_SECOND = 1_000_000;
const DAYS_PER_MONTH = 30;
const INT32_MAX = 2 ** 31 - 1;
const INT32_MIN = -(2 ** 31);

/**
 * `prefix` and the values' bytes; fewer values than columns give the prefix of all keys that begin with them. Throws
 * 54000 past KEY_BYTES_MAX, 42704 for a type without an order.
 */
export function encodeKey(prefix: Uint8Array, columns: readonly KeyColumn[], values: readonly Value[]): Buffer {
  writer.startKey(prefix);
  for (let i = 0; i < values.length; i++) writeColumn(columns[i]!, values[i]!);
  return writer.finishKey();
}

/**
 * Begins a key that a load takes as it is (`Load.addBuilt`), without a buffer of its own; answers its length. The
 * value of column `i` is `row[places[i]]`. Throws as `encodeKey` does.
 */
export function beginKey(
  prefix: Uint8Array,
  columns: readonly KeyColumn[],
  row: readonly Value[],
  places: readonly number[],
): number {
  writer.startKey(prefix);
  for (let i = 0; i < places.length; i++) writeColumn(columns[i]!, row[places[i]!]!);
  writer.checkKeyLength();
  return writer.keyLength();
}

/** Types whose key is made of the text's UTF-8 alone. */
export function isKeyOfText({ name }: SqlType): boolean {
  return name === "text" || name === "varchar";
}

/** As `beginKey` with one column of such a type. The text is a part of some UTF-8. */
export function beginTextKey(
  prefix: Uint8Array,
  { descending }: KeyColumn,
  utf8: Uint8Array,
  from: number,
  end: number,
): number {
  writer.startKey(prefix);
  writer.writeByte(PRESENT);
  const start = writer.keyLength();
  writer.writeTextBytes(utf8, from, end);
  writer.checkKeyLength();
  if (descending) writer.invertFrom(start);
  return writer.keyLength();
}

/** Another key, without a prefix, behind the one that was begun. */
export function appendKey(columns: readonly KeyColumn[], row: readonly Value[], places: readonly number[]): void {
  writer.startSecond();
  for (let i = 0; i < places.length; i++) writeColumn(columns[i]!, row[places[i]!]!);
  writer.checkKeyLength();
}

/** The same with a key that is encoded already. */
export function appendKeyBytes(bytes: Uint8Array): void {
  writer.startSecond();
  writer.writeRaw(bytes);
}

/** The same with a part of some bytes. */
export function appendKeyPart(bytes: Uint8Array, start: number, end: number): void {
  writer.startSecond();
  writer.writePart(bytes, start, end);
}

function writeColumn({ type, descending, nullsFirst }: KeyColumn, value: Value): void {
  if (value === null) {
    writer.writeByte(nullsFirst ? NULL_FIRST : NULL_LAST);
    return;
  }
  writer.writeByte(PRESENT);
  const start = writer.keyLength();
  writeValue(type, value);
  writer.checkKeyLength();
  if (descending) writer.invertFrom(start);
}

/** The values of all columns, from `offset` of the key on. Throws internal_error when the key is damaged. */
export function decodeKey(key: Uint8Array, offset: number, columns: readonly KeyColumn[]): Value[] {
  const reader = new KeyReader(key, offset);
  return columns.map(({ type, descending }) => {
    const marker = reader.byte();
    if (marker === NULL_FIRST || marker === NULL_LAST) return null;
    if (marker !== PRESENT) throw damagedKey();
    if (!descending) return readValue(type, reader);
    const inverted = reader.inverted();
    const value = readValue(type, inverted);
    reader.position += inverted.position;
    return value;
  });
}

const UNORDERED: ReadonlySet<TypeName> = new Set(
  "unknown json jsonpath sparsevec void point line lseg box path polygon circle tid xid int2vector oidvector tsvector tsquery".split(
    " ",
  ) as TypeName[],
);

/** Whether the type has an order that keys can hold. */
export function isKeyType(type: SqlType): boolean {
  if (type.name === "array") return isKeyType(type.element!);
  if (type.name === "record") return type.fields?.every((field) => isKeyType(field.type)) ?? false;
  return !UNORDERED.has(type.name);
}

function writeValue(type: SqlType, value: Value): void {
  switch (type.name) {
    case "bool":
      writer.writeByte(value === true ? 1 : 0);
      return;
    case "int2":
      writer.writeInt16(value as number);
      return;
    case "int4":
      writer.writeInt32(value as number);
      return;
    case "oid":
      writer.writeUint32(value as number);
      return;
    case "int8":
    case "money":
      if (typeof value === "number") writer.writeInt64(value);
      else writer.writeBigInt64(value as bigint);
      return;
    case "float4":
      writer.writeFloat32(value as number);
      return;
    case "enum":
      writer.writeFloat64(orderOfLabel(type, value as string));
      return;
    case "float8":
      writer.writeFloat64(value as number);
      return;
    case "numeric":
      writeNumeric(value as Numeric);
      return;
    case "jsonb":
      writeJson((value as Json).value);
      return;
    case "text":
    case "varchar":
    case "bit":
    case "varbit":
    case "macaddr":
    case "macaddr8":
    case "xid8":
    case "pg_lsn":
    case "name":
    case "hstore":
    case "ltree":
    case "regconfig":
    case "char":
      writer.writeText(value as string);
      return;
    case "bpchar":
      writer.writeText(trimBlanks(value as string));
      return;
    case "citext":
      writer.writeText((value as string).toLowerCase());
      return;
    case "bytea":
      writer.writeBytes(value as Uint8Array);
      return;
    case "inet":
    case "cidr":
      writer.writeBytes(networkKey(value as string));
      return;
    case "uuid":
      writer.writeUuid(value as string);
      return;
    case "date":
      writer.writeInt32(Math.min(Math.max(value as number, INT32_MIN), INT32_MAX));
      return;
    case "time":
      writer.writeInt64(value as number);
      return;
    case "timestamp":
    case "timestamptz":
      writer.writeTimestamp(value as Timestamp);
      return;
    case "timetz":
      writeTimeTz(value as TimeTz);
      return;
    case "interval":
      writeInterval(value as Interval);
      return;
    case "array":
      writeArray(type.element!, value as SqlArray);
      return;
    case "record":
      writeRow(type, value as readonly Value[]);
      return;
    case "vector":
    case "halfvec":
      writeVector(value as Float32Array);
      return;
    case "variant":
      writeVariant(value as Variant);
      return;
    default:
      if (isFigure(type)) writeFigure(type.name as FigureName, value as string);
      else writeRangeValue(type, value as string);
  }
}

function readValue(type: SqlType, reader: KeyReader): Value {
  switch (type.name) {
    case "bool":
      return reader.byte() !== 0;
    case "int2":
      return reader.int16();
    case "int4":
      return reader.int32();
    case "oid":
      return reader.uint32();
    case "int8":
    case "money":
      return reader.int64();
    case "float4":
      return reader.float32();
    case "enum":
      return labelOfOrder(type, reader.float64());
    case "float8":
      return reader.float64();
    case "numeric":
      return readNumeric(reader);
    case "jsonb":
      return new Json(readJson(reader));
    case "text":
    case "varchar":
    case "bit":
    case "varbit":
    case "macaddr":
    case "macaddr8":
    case "xid8":
    case "pg_lsn":
    case "name":
    case "hstore":
    case "ltree":
    case "regconfig":
    case "char":
    case "bpchar":
    case "citext":
      return reader.text();
    case "bytea":
      return new Uint8Array(reader.bytes());
    case "inet":
    case "cidr":
      return networkFromKey(reader.bytes());
    case "uuid":
      return uuidText(reader.raw(16));
    case "date":
      return readDate(reader);
    case "time":
      return reader.time64();
    case "timestamp":
    case "timestamptz":
      return reader.timestamp();
    case "timetz":
      return readTimeTz(reader);
    case "interval":
      return readInterval(reader);
    case "array":
      return readArray(type.element!, reader);
    case "record":
      return readRow(type, reader);
    case "vector":
    case "halfvec":
      return readVector(reader);
    case "variant":
      return readVariant(reader);
    default:
      return isFigure(type) ? readFigure(reader) : readRangeValue(type, reader);
  }
}

function readDate(reader: KeyReader): number {
  const days = reader.int32();
  if (days === INT32_MAX) return Number.POSITIVE_INFINITY;
  return days === INT32_MIN ? Number.NEGATIVE_INFINITY : days;
}

/** Ordered by the moment in UTC, then the zone that is further west last, as PostgreSQL's timetz_cmp does. */
function writeTimeTz({ micros, offset }: TimeTz): void {
  writer.writeInt64(micros - offset * MICROS_PER_SECOND);
  writer.writeInt32(-offset);
}

function readTimeTz(reader: KeyReader): TimeTz {
  const utc = reader.time64();
  // 0 − x, since −x would make a negative zero of 0.
  const offset = 0 - reader.int32();
  return { micros: utc + offset * MICROS_PER_SECOND, offset };
}

/** Ordered by total length with months of 30 days and days of 24 hours, as PostgreSQL's interval_cmp_value. */
function writeInterval({ months, days, micros }: Interval): void {
  const day = BigInt(MICROS_PER_DAY);
  const isLarge = typeof micros === "bigint";
  // Towards the smaller number of days.
  const wholeDays = isLarge ? Number(micros / day) - (micros % day < 0n ? 1 : 0) : Math.floor(micros / MICROS_PER_DAY);
  writer.writeInt64(months * DAYS_PER_MONTH + days + wholeDays);
  writer.writeInt64(Number(BigInt(micros) - BigInt(wholeDays) * day));
}

function readInterval(reader: KeyReader): Interval {
  return { months: 0, days: reader.time64(), micros: reader.time64() };
}

/** Elements in order with NULL last, then the number of elements, dimensions and bounds, as PostgreSQL's array_cmp. */
function writeArray(element: SqlType, { elements, dimensions, lowerBounds }: SqlArray): void {
  for (const each of elements) {
    writer.writeByte(each === null ? NULL_LAST : PRESENT);
    if (each !== null) writeValue(element, each);
    writer.checkKeyLength();
  }
  writer.writeByte(ARRAY_END);
  writer.writeByte(dimensions.length);
  for (const dimension of dimensions) writer.writeInt32(dimension);
  for (const bound of lowerBounds) writer.writeInt32(bound);
}

function readArray(element: SqlType, reader: KeyReader): SqlArray {
  const elements: Value[] = [];
  for (let marker = reader.byte(); marker !== ARRAY_END; marker = reader.byte()) {
    if (marker > NULL_LAST) throw damagedKey();
    elements.push(marker === NULL_LAST ? null : readValue(element, reader));
  }
  const count = reader.byte();
  const dimensions = Array.from({ length: count }, () => reader.int32());
  const lowerBounds = Array.from({ length: count }, () => reader.int32());
  return { elements, dimensions, lowerBounds };
}

function writeRangeValue(type: SqlType, value: string): void {
  const [range, list] = [rangeKeyOf(type), multirangeKeyOf(type)];
  if (range !== null) writeRange(range, rangeOf(range, value));
  else if (list !== null) writeMultirange(list, rangesOf(list, value));
  else throw noOrder(type);
}

function readRangeValue(type: SqlType, reader: KeyReader): string {
  const [range, list] = [rangeKeyOf(type), multirangeKeyOf(type)];
  if (range !== null) return rangeText(range, readRange(range, reader));
  if (list !== null) return multirangeText(list, readMultirange(list, reader));
  throw noOrder(type);
}

/** As range_cmp orders them: an empty one first, then by the lower bound, then by the upper one. */
function writeRange(name: RangeKey, range: Range): void {
  writer.writeByte(range.isEmpty ? 0 : PRESENT);
  if (range.isEmpty) return;
  const subtype = typeOf(subtypeOf(name));
  writer.writeByte(range.lower === null ? NULL_FIRST : PRESENT);
  if (range.lower !== null) {
    writeValue(subtype, range.lower);
    writer.writeByte(range.lowerInc ? 0 : 1);
  }
  writer.writeByte(range.upper === null ? NULL_LAST : PRESENT);
  if (range.upper !== null) {
    writeValue(subtype, range.upper);
    writer.writeByte(range.upperInc ? 1 : 0);
  }
}

function readRange(name: RangeKey, reader: KeyReader): Range {
  if (reader.byte() === 0) return EMPTY;
  const subtype = typeOf(subtypeOf(name));
  const lower = reader.byte() === PRESENT ? (readValue(subtype, reader) as Bound) : null;
  const lowerInc = lower !== null && reader.byte() === 0;
  const upper = reader.byte() === PRESENT ? (readValue(subtype, reader) as Bound) : null;
  const upperInc = upper !== null && reader.byte() === 1;
  return { lower, upper, lowerInc, upperInc, isEmpty: false };
}

/** Range by range; one with fewer comes first. */
function writeMultirange(name: MultirangeKey, ranges: readonly Range[]): void {
  for (const range of ranges) {
    writer.writeByte(PRESENT);
    writeRange(rangeOfMultirange(name), range);
    writer.checkKeyLength();
  }
  writer.writeByte(ARRAY_END);
}

function readMultirange(name: MultirangeKey, reader: KeyReader): readonly Range[] {
  const ranges: Range[] = [];
  for (let marker = reader.byte(); marker !== ARRAY_END; marker = reader.byte()) {
    if (marker !== PRESENT) throw damagedKey();
    ranges.push(readRange(rangeOfMultirange(name), reader));
  }
  return ranges;
}

/** Fields in order with NULL last, as PostgreSQL's record_cmp. */
function writeRow(type: SqlType, row: readonly Value[]): void {
  if (type.fields === undefined) throw noOrder(type);
  type.fields.forEach((field, i) => {
    const value = row[i] ?? null;
    writer.writeByte(value === null ? NULL_LAST : PRESENT);
    if (value !== null) writeValue(field.type, value);
    writer.checkKeyLength();
  });
}

function readRow(type: SqlType, reader: KeyReader): readonly Value[] {
  return (type.fields ?? []).map((field) => {
    const marker = reader.byte();
    if (marker !== PRESENT && marker !== NULL_LAST) throw damagedKey();
    return marker === PRESENT ? readValue(field.type, reader) : null;
  });
}

function trimBlanks(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === 32) end--;
  return end === text.length ? text : text.slice(0, end);
}

function uuidText(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function noOrder(type: SqlType): DbError {
  const message = `data type ${type.name} has no default operator class for access method "btree"`;
  return sqlError("42704", message);
}
