/**
 * The scratch buffer in which records are put together, and the encodings of single values. Used by record-codec.ts
 * only; one record at a time is under construction. A value is a frame (value-frame.ts).
 */

import { DbError, sqlError } from "../protocol/errors.js";
import { RECORD_BYTES_MAX } from "../protocol/limits.js";
import { orderOfLabel } from "../values/enum-labels.js";
import { halfBits } from "../values/half-vector.js";
import { jsonToCompactText, refuseNul } from "../values/json-text.js";
import type { Numeric } from "../values/numeric.js";
import type { Timestamp } from "../values/timestamp.js";
import type { Interval, Json, RecordField, SqlArray, SqlType, TimeTz, Value } from "../values/values.js";
import type { Variant } from "../values/variant.js";
import { copyBytes, type Memory, memoryOf } from "./copy-bytes.js";
import { FRAME_U32, writeLength } from "./value-frame.js";
import { encodeVariant } from "./variant-writer.js";

/** First payload byte of a numeric: its scale, when the unscaled value is an int64 that follows; else one of these. */
export const NUMERIC_FORM = { positive: 240, negative: 241, nan: 242, infinity: 243, negativeInfinity: 244 } as const;

/** Of a timestamp that no int64 holds. */
export const LATE_TIMESTAMP_BYTES = 9;
const INT64_MAX = 2n ** 63n - 1n;

const SCRATCH_BYTES = 64 * 1024;
/** A scratch buffer that grew beyond this is not kept. */
const SCRATCH_BYTES_KEPT = 1024 * 1024;
/** Characters whose UTF-8 form surely has a length of one byte. */
const SHORT_TEXT = 83;
const TWO_32 = 2 ** 32;
/** Up to here a loop costs less than a view of the bytes and a call. */
const LOOPED_BYTES = 48;

let scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
let memory = memoryOf(scratch);
let at = 0;

const doubles = new Float64Array(1);
const doubleBytes = new Uint8Array(doubles.buffer);
const floats = new Float32Array(1);
const floatBytes = new Uint8Array(floats.buffer);

export function startRecord(): void {
  if (scratch.length > SCRATCH_BYTES_KEPT) scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  at = 0;
}

/** Bytes of the finished record. Throws 54000 past RECORD_BYTES_MAX. */
export function recordLength(): number {
  refuseLargeRecord(at);
  return at;
}

/** Copies the finished record, which is there until the next one begins. */
export function copyRecordTo(to: Memory, place: number): void {
  if (memory.bytes !== scratch) memory = memoryOf(scratch);
  copyBytes(memory, 0, at, to, place);
}

/** Puts one frame together, in place of a record; answers its length. Throws as `writeValue` does, and 54000. */
export function buildFrame(type: SqlType, value: Value): number {
  startRecord();
  writeValue(type, value);
  return recordLength();
}

/** Copies what was put together last. */
export function copyFrameTo(bytes: Uint8Array, place: number): void {
  if (at > LOOPED_BYTES) bytes.set(new Uint8Array(scratch.buffer, scratch.byteOffset, at), place);
  else for (let i = 0; i < at; i++) bytes[place + i] = scratch[i]!;
}

/** The finished record in a buffer of its own. Throws 54000 past RECORD_BYTES_MAX. */
export function finishRecord(): Buffer {
  refuseLargeRecord(at);
  const record = Buffer.allocUnsafe(at);
  scratch.copy(record, 0, 0, at);
  return record;
}

export function writeByte(byte: number): void {
  ensure(1);
  scratch[at++] = byte;
}

export function writeVarint(value: number): void {
  ensure(5);
  let rest = value;
  while (rest > 0x7f) {
    scratch[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  scratch[at++] = rest;
}

/** Reserves the bits of `count` columns, all zero; returns their place for `markNull`. */
export function writeBitmap(count: number): number {
  const length = (count + 7) >>> 3;
  ensure(length);
  for (let i = 0; i < length; i++) scratch[at + i] = 0;
  at += length;
  return at - length;
}

export function markNull(bitmap: number, index: number): void {
  scratch[bitmap + (index >>> 3)]! |= 1 << (index & 7);
}

/** One frame. `value` is not NULL. Throws not_supported for types that no record can hold. */
export function writeValue(type: SqlType, value: Value): void {
  switch (type.name) {
    case "bool":
      writeInt(value === true ? 1 : 0);
      return;
    case "int2":
    case "int4":
    case "oid":
    case "int8":
    case "money":
    case "date":
    case "time":
      writeInt(value as number | bigint);
      return;
    case "timestamp":
    case "timestamptz":
      writeTimestamp(value as Timestamp);
      return;
    case "float4":
      floats[0] = value as number;
      writeBytes(floatBytes);
      return;
    case "enum":
      doubles[0] = orderOfLabel(type, value as string);
      writeBytes(doubleBytes);
      return;
    case "float8":
      doubles[0] = value as number;
      writeBytes(doubleBytes);
      return;
    case "numeric":
      writeNumeric(value as Numeric);
      return;
    case "unknown":
    case "text":
    case "varchar":
    case "bpchar":
    case "citext":
    case "hstore":
    case "ltree":
    case "lquery":
    case "ltxtquery":
    case "sparsevec":
    case "bit":
    case "varbit":
    case "inet":
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
    case "tid":
    case "xid":
    case "xid8":
    case "pg_snapshot":
    case "txid_snapshot":
    case "pg_lsn":
    case "int2vector":
    case "oidvector":
    case "tsvector":
    case "tsquery":
    case "regconfig":
    case "char":
    case "name":
      writeText(value as string);
      return;
    case "uuid":
      writeUuid(value as string);
      return;
    case "bytea":
      writeBytes(value as Uint8Array);
      return;
    case "timetz":
      writeInts((value as TimeTz).micros, (value as TimeTz).offset);
      return;
    case "interval":
      writeInts((value as Interval).months, (value as Interval).days, (value as Interval).micros);
      return;
    case "json":
      writeText((value as Json).text ?? jsonText(value as Json));
      return;
    case "jsonb":
      writeText((value as Json).text ?? jsonbText(value as Json));
      return;
    case "jsonpath":
      writeText(String(value));
      return;
    case "vector": {
      const vector = value as Float32Array;
      writeBytes(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength));
      return;
    }
    case "halfvec":
      writeBytes(new Uint8Array(halfBits(value as Float32Array).buffer));
      return;
    case "array":
      writeArray(type.element!, value as SqlArray);
      return;
    case "record":
      writeRow(type, value as readonly Value[]);
      return;
    case "variant":
      writeBytes(encodeVariant(value as Variant));
      return;
    default:
      throw new DbError("not_supported", `A column cannot hold the type ${type.name}.`);
  }
}

/** Two's complement in as few bytes as hold it (0, 1, 2, 3, 4, 6, 7 or 8). ±Infinity is the extreme int64. */
function writeInt(value: number | bigint): void {
  ensure(9);
  const head = at++;
  writeIntBytes(value);
  scratch[head] = at - head - 1;
}

/** An integer, but a finite one that is infinity as an int64, or past all of them, has nine bytes. */
function writeTimestamp(value: Timestamp): void {
  const isLate =
    typeof value === "bigint" ? value >= INT64_MAX : value >= 2 ** 63 && value !== Number.POSITIVE_INFINITY;
  if (!isLate) {
    writeInt(value);
    return;
  }
  ensure(LATE_TIMESTAMP_BYTES + 1);
  scratch[at++] = LATE_TIMESTAMP_BYTES;
  scratch.writeBigUInt64LE(BigInt(value), at);
  scratch[at + 8] = 0;
  at += LATE_TIMESTAMP_BYTES;
}

function writeIntBytes(value: number | bigint): void {
  if (typeof value === "bigint") {
    scratch.writeBigInt64LE(value, at);
    at += 8;
    return;
  }
  if (value === (value | 0)) {
    writeInt32Bytes(value);
    return;
  }
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) {
    scratch.writeBigInt64LE(value > 0 ? 0x7fffffffffffffffn : -0x8000000000000000n, at);
    at += 8;
    return;
  }
  const high = Math.floor(value / TWO_32);
  scratch.writeUInt32LE(value - high * TWO_32, at);
  at += 4;
  let rest = high;
  const count = high >= -0x8000 && high < 0x8000 ? 2 : high >= -0x800000 && high < 0x800000 ? 3 : 4;
  for (let i = 0; i < count; i++) {
    scratch[at++] = rest;
    rest >>= 8;
  }
}

function writeInt32Bytes(value: number): void {
  if (value === 0) return;
  scratch[at++] = value;
  if (value >= -0x80 && value < 0x80) return;
  scratch[at++] = value >> 8;
  if (value >= -0x8000 && value < 0x8000) return;
  scratch[at++] = value >> 16;
  if (value >= -0x800000 && value < 0x800000) return;
  scratch[at++] = value >> 24;
}

function writeInts(...values: (number | bigint)[]): void {
  ensure(1);
  const head = at++;
  for (const value of values) writeInt(value);
  scratch[head] = at - head - 1;
}

function writeNumeric(value: Numeric): void {
  const { unscaled, scale, special } = value;
  if (special !== null) {
    const form = special === "NaN" ? "nan" : special === "Infinity" ? "infinity" : "negativeInfinity";
    writeBytes([NUMERIC_FORM[form]]);
    return;
  }
  const number = Number(unscaled);
  const isExact = Number.isSafeInteger(number);
  if (scale < NUMERIC_FORM.positive && (isExact || unscaled === BigInt.asIntN(64, unscaled))) {
    ensure(10);
    const head = at++;
    scratch[at++] = scale;
    writeIntBytes(isExact ? number : unscaled);
    scratch[head] = at - head - 1;
    return;
  }
  const isNegative = unscaled < 0n;
  const hex = (isNegative ? -unscaled : unscaled).toString(16);
  const magnitude = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
  const head = Buffer.of(isNegative ? NUMERIC_FORM.negative : NUMERIC_FORM.positive, scale & 0xff, scale >>> 8);
  writeBytes(Buffer.concat([head, magnitude]));
}

function writeUuid(text: string): void {
  writeFrameHead(16);
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) === 0x2d) continue;
    scratch[at++] = (hexDigit(text.charCodeAt(i)) << 4) | hexDigit(text.charCodeAt(++i));
  }
}

/** Letters are nine beyond their last four bits. */
function hexDigit(code: number): number {
  return (code & 0xf) + (code >> 6) * 9;
}

function writeText(text: string): void {
  if (text.length > SHORT_TEXT) {
    const length = Buffer.byteLength(text);
    writeFrameHead(length);
    at += scratch.write(text, at);
    return;
  }
  ensure(3 * SHORT_TEXT + 1);
  const head = at++;
  let i = 0;
  if (text.length <= 24) {
    for (; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit > 0x7f) break;
      scratch[at++] = unit;
    }
  }
  if (i < text.length) at += scratch.write(i === 0 ? text : text.slice(i), at);
  scratch[head] = at - head - 1;
}

function writeBytes(bytes: ArrayLike<number>): void {
  writeFrameHead(bytes.length);
  scratch.set(bytes, at);
  at += bytes.length;
}

/** The head of a frame; also makes room for the payload. */
function writeFrameHead(length: number): void {
  ensure(length + 5);
  at = writeLength(scratch, at, length);
}

/** Dimensions and lower bounds, the number of elements, their null bits, and a frame for each that is not NULL. */
function writeArray(element: SqlType, { elements, dimensions, lowerBounds }: SqlArray): void {
  ensure(5);
  const head = at;
  at += 5;
  writeVarint(dimensions.length);
  for (const dimension of dimensions) writeVarint(dimension);
  for (const bound of lowerBounds) {
    writeInt(bound);
  }
  writeVarint(elements.length);
  const bitmap = writeBitmap(elements.length);
  for (let i = 0; i < elements.length; i++) {
    const value = elements[i]!;
    if (value === null) markNull(bitmap, i);
    else writeValue(element, value);
  }
  scratch[head] = FRAME_U32;
  scratch.writeUInt32LE(at - head - 5, head + 1);
}

/** The number of fields, their null bits, and a frame for each that is not NULL. Throws for a row of unknown types. */
function writeRow(type: SqlType, row: readonly Value[]): void {
  const { fields } = type;
  if (fields === undefined) throw new DbError("not_supported", "A column cannot hold a record of unknown fields.");
  ensure(5);
  const head = at;
  at += 5;
  const order = storedOrder(fields);
  writeVarint(order.length);
  const bitmap = writeBitmap(order.length);
  for (let slot = 0; slot < order.length; slot++) {
    const i = order[slot]!;
    const value = row[i] ?? null;
    if (value === null) markNull(bitmap, slot);
    else writeValue(fields[i]!.type, value);
  }
  scratch[head] = FRAME_U32;
  scratch.writeUInt32LE(at - head - 5, head + 1);
}

const storedOrders = new WeakMap<readonly RecordField[], readonly number[]>();

/** By the slots of a stored row, the field that each has; −1 where a field was dropped. */
export function storedOrder(fields: readonly RecordField[]): readonly number[] {
  let order = storedOrders.get(fields);
  if (order === undefined) {
    const slots = fields.map((field, i) => field.slot ?? i);
    order = Array.from({ length: Math.max(-1, ...slots) + 1 }, (_, slot) => slots.indexOf(slot));
    storedOrders.set(fields, order);
  }
  return order;
}

/** What reading would refuse is not written. */
function jsonbText(value: Json): string {
  const text = jsonText(value);
  refuseNul(text);
  return text;
}

function jsonText({ value, compact }: Json): string {
  if (compact !== undefined) return compact;
  const text: string | undefined = jsonToCompactText(value);
  if (text === undefined) throw new DbError("internal_error", `A jsonb value cannot be stored: ${typeof value}.`);
  return text;
}

function ensure(count: number): void {
  if (at + count <= scratch.length) return;
  if (at + count > 2 * RECORD_BYTES_MAX) throw rowTooBig(at + count);
  const larger = Buffer.allocUnsafeSlow(Math.max(at + count, scratch.length * 2));
  scratch.copy(larger, 0, 0, at);
  scratch = larger;
}

/** Throws 54000 past RECORD_BYTES_MAX. */
export function refuseLargeRecord(bytes: number): void {
  if (bytes > RECORD_BYTES_MAX) throw rowTooBig(bytes);
}

function rowTooBig(bytes: number): DbError {
  return sqlError("54000", `row is too big: size ${bytes}, maximum size ${RECORD_BYTES_MAX}`);
}
