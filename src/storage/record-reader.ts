/**
 * Decodes the payloads that record-writer.ts writes. Used by record-codec.ts, which finds where they begin and end.
 * Any bytes are safe to read: an invalid payload throws internal_error.
 */

import { DbError } from "../protocol/errors.js";
import { labelOfOrder } from "../values/enum-labels.js";
import { ofHalfBits } from "../values/half-vector.js";
import { LONG_JSON_CHARACTERS } from "../values/json-in-turns.js";
import { parseJsonPath } from "../values/json-path-parse.js";
import { checkJson, parseJson } from "../values/json-text.js";
import { Numeric } from "../values/numeric.js";
import { type Timestamp, timestampOf } from "../values/timestamp.js";
import {
  type Interval,
  Json,
  type RecordField,
  type SqlArray,
  type SqlType,
  type TimeTz,
  type Value,
} from "../values/values.js";
import { LATE_TIMESTAMP_BYTES, NUMERIC_FORM, storedOrder } from "./record-writer.js";
import { decodeVariant } from "./stored-map.js";
import { FRAME_U16, FRAME_U32 } from "./value-frame.js";

/** Reads the payload between `start` and `end`. */
export type PayloadReader = (bytes: Uint8Array, start: number, end: number) => Value;

const TWO_32 = 2 ** 32;
const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;
/** Up to here a loop beats the call into native code. */
const SHORT_TEXT = 16;

type Slice = (start: number, end: number) => string;
/** Node's own decoders, which work on any Uint8Array. */
const { utf8Slice, hexSlice, latin1Slice } = Buffer.prototype as unknown as Record<
  "utf8Slice" | "hexSlice" | "latin1Slice",
  Slice
>;

/** More digits than PostgreSQL allows need no more bytes than this. */
const NUMERIC_BYTES_MAX = 64 * 1024;

const doubles = new Float64Array(1);
const doubleBytes = new Uint8Array(doubles.buffer);
const floats = new Float32Array(1);
const floatBytes = new Uint8Array(floats.buffer);

/** Start of the payload of the frame that was looked at last; see frameEnd. */
export let payloadStart = 0;

/** The end of the frame at `position`; sets `payloadStart`. */
export function frameEnd(bytes: Uint8Array, position: number): number {
  const head = bytes[position]!;
  let length = head;
  let start = position + 1;
  if (head >= FRAME_U16) {
    if (head > FRAME_U32 || start + 4 > bytes.length) throw damagedRecord();
    length = bytes[start]! | (bytes[start + 1]! << 8);
    if (head === FRAME_U32) length = (length | (bytes[start + 2]! << 16) | (bytes[start + 3]! << 24)) >>> 0;
    start += head === FRAME_U32 ? 4 : 2;
  }
  payloadStart = start;
  // Also false for the NaN that a position behind the end makes.
  if (!(start + length <= bytes.length)) throw damagedRecord();
  return start + length;
}

export function payloadReader(type: SqlType): PayloadReader {
  switch (type.name) {
    case "bool":
      return (_bytes, start, end) => end > start;
    case "int2":
    case "int4":
    case "oid":
    case "int8":
    case "money":
      return readInt;
    case "date":
    case "time":
      return readTime;
    case "timestamp":
    case "timestamptz":
      return readTimestamp;
    case "float4":
      return readFloat32;
    case "enum":
      return (bytes, start, end) => labelOfOrder(type, readFloat64(bytes, start, end));
    case "float8":
      return readFloat64;
    case "numeric":
      return readNumeric;
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
      return readText;
    case "uuid":
      return readUuid;
    case "bytea":
      return (bytes, start, end) => new Uint8Array(bytes.subarray(start, end));
    case "timetz":
      return readTimeTz;
    case "interval":
      return readInterval;
    case "json":
      return (bytes, start, end) => readJson(bytes, start, end, true);
    case "jsonb":
      return (bytes, start, end) => readJson(bytes, start, end, false);
    case "jsonpath":
      return (bytes, start, end) => parseJsonPath(utf8Slice.call(bytes, start, end));
    case "vector":
      return readVector;
    case "halfvec":
      return readHalves;
    case "array":
      return arrayReader(payloadReader(type.element!));
    case "record":
      return rowReader(type.fields ?? []);
    case "variant":
      return (bytes, start, end) => decodeVariant(latin1Slice.call(bytes, start, end));
    default:
      throw new DbError("not_supported", `A column cannot hold the type ${type.name}.`);
  }
}

export function readInt(bytes: Uint8Array, start: number, end: number): number | bigint {
  switch (end - start) {
    case 0:
      return 0;
    case 1:
      return (bytes[start]! << 24) >> 24;
    case 2:
      return ((bytes[start]! << 16) | (bytes[start + 1]! << 24)) >> 16;
    case 3:
      return ((bytes[start]! << 8) | (bytes[start + 1]! << 16) | (bytes[start + 2]! << 24)) >> 8;
    case 4:
      return readHigh(bytes, start, end);
    case 6:
    case 7:
      return readHigh(bytes, start + 4, end) * TWO_32 + readLow(bytes, start);
    case 8: {
      const value = readHigh(bytes, start + 4, end) * TWO_32 + readLow(bytes, start);
      if (Number.isSafeInteger(value)) return value;
      return (BigInt(readHigh(bytes, start + 4, end)) << 32n) | BigInt(readLow(bytes, start));
    }
    default:
      throw damagedRecord();
  }
}

/** As readInt, but a number in any case, and the extreme values are infinities. */
export function readTime(bytes: Uint8Array, start: number, end: number): number {
  if (end - start !== 8) return Number(readInt(bytes, start, end));
  const high = readHigh(bytes, start + 4, end);
  const low = readLow(bytes, start);
  if (high === INT32_MIN && low === 0) return Number.NEGATIVE_INFINITY;
  if (high === INT32_MAX && low === 0xffffffff) return Number.POSITIVE_INFINITY;
  return high * TWO_32 + low;
}

export function readTimestamp(bytes: Uint8Array, start: number, end: number): Timestamp {
  if (end - start < 8) return readInt(bytes, start, end);
  const high = readHigh(bytes, start + 4, start + 8);
  const low = readLow(bytes, start);
  if (end - start === LATE_TIMESTAMP_BYTES) return timestampOf((BigInt(high >>> 0) << 32n) | BigInt(low));
  if (end - start !== 8) throw damagedRecord();
  if (high === INT32_MIN && low === 0) return Number.NEGATIVE_INFINITY;
  if (high === INT32_MAX && low === 0xffffffff) return Number.POSITIVE_INFINITY;
  const value = high * TWO_32 + low;
  return Number.isSafeInteger(value) ? value : timestampOf((BigInt(high) << 32n) | BigInt(low));
}

function readLow(bytes: Uint8Array, start: number): number {
  const [a, b, c, d] = [bytes[start]!, bytes[start + 1]!, bytes[start + 2]!, bytes[start + 3]!];
  return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
}

/** A signed number of two, three or four bytes. */
function readHigh(bytes: Uint8Array, start: number, end: number): number {
  let value = (bytes[end - 1]! << 24) >> 24;
  for (let i = end - 2; i >= start; i--) value = (value << 8) | bytes[i]!;
  return value;
}

export function readFloat32(bytes: Uint8Array, start: number, end: number): number {
  if (end - start !== 4) throw damagedRecord();
  for (let i = 0; i < 4; i++) floatBytes[i] = bytes[start + i]!;
  return floats[0]!;
}

export function readFloat64(bytes: Uint8Array, start: number, end: number): number {
  if (end - start !== 8) throw damagedRecord();
  for (let i = 0; i < 8; i++) doubleBytes[i] = bytes[start + i]!;
  return doubles[0]!;
}

function readNumeric(bytes: Uint8Array, start: number, end: number): Numeric {
  if (start >= end) throw damagedRecord();
  const form = bytes[start]!;
  if (form < NUMERIC_FORM.positive) return Numeric.of(BigInt(readInt(bytes, start + 1, end)), form);
  switch (form) {
    case NUMERIC_FORM.nan:
      return Numeric.NAN;
    case NUMERIC_FORM.infinity:
      return Numeric.INFINITY;
    case NUMERIC_FORM.negativeInfinity:
      return Numeric.NEGATIVE_INFINITY;
    case NUMERIC_FORM.positive:
    case NUMERIC_FORM.negative: {
      if (end - start < 4 || end - start > NUMERIC_BYTES_MAX) throw damagedRecord();
      const scale = bytes[start + 1]! | (bytes[start + 2]! << 8);
      const magnitude = BigInt(`0x${hexSlice.call(bytes, start + 3, end)}`);
      return Numeric.of(form === NUMERIC_FORM.negative ? -magnitude : magnitude, scale);
    }
    default:
      throw damagedRecord();
  }
}

function readText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > SHORT_TEXT) return utf8Slice.call(bytes, start, end);
  let text = "";
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (byte > 0x7f) return utf8Slice.call(bytes, start, end);
    text += String.fromCharCode(byte);
  }
  return text;
}

function readUuid(bytes: Uint8Array, start: number, end: number): string {
  if (end - start !== 16) throw damagedRecord();
  const hex = hexSlice.call(bytes, start, end);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function readTimeTz(bytes: Uint8Array, start: number, end: number): TimeTz {
  const [micros, offset] = readFrames(bytes, start, end, 2, readTime);
  return { micros: micros!, offset: offset! };
}

function readInterval(bytes: Uint8Array, start: number, end: number): Interval {
  const [months, days, micros] = readFrames(bytes, start, end, 3, readInt);
  return { months: Number(months), days: Number(days), micros: micros! };
}

/** That many frames of integers, which fill the payload. */
function readFrames<T extends number | bigint>(
  bytes: Uint8Array,
  start: number,
  end: number,
  count: number,
  read: (bytes: Uint8Array, start: number, end: number) => T,
): T[] {
  const values: T[] = [];
  let position = start;
  for (let i = 0; i < count; i++) {
    const next = frameEnd(bytes, position);
    values.push(read(bytes, payloadStart, next));
    position = next;
  }
  if (position !== end) throw damagedRecord();
  return values;
}

function readJson(bytes: Uint8Array, start: number, end: number, keepText: boolean): Json {
  const text = utf8Slice.call(bytes, start, end);
  if (text.length > LONG_JSON_CHARACTERS) return Json.stored(text, keepText);
  try {
    return keepText ? new Json(checkJson(text), text) : new Json(parseJson(text));
  } catch {
    throw damagedRecord();
  }
}

function readVector(bytes: Uint8Array, start: number, end: number): Float32Array {
  if ((end - start) % 4 !== 0) throw damagedRecord();
  const vector = new Float32Array((end - start) >>> 2);
  new Uint8Array(vector.buffer).set(bytes.subarray(start, end));
  return vector;
}

function readHalves(bytes: Uint8Array, start: number, end: number): Float32Array {
  if ((end - start) % 2 !== 0) throw damagedRecord();
  const bits = new Uint16Array((end - start) >>> 1);
  new Uint8Array(bits.buffer).set(bytes.subarray(start, end));
  return ofHalfBits(bits);
}

function arrayReader(readElement: PayloadReader): PayloadReader {
  return (bytes, start, end): SqlArray => {
    const dimensions: number[] = [];
    const lowerBounds: number[] = [];
    const count = readVarint(bytes, start, end);
    let position = varintEnd;
    if (count > end - position) throw damagedRecord();
    for (let i = 0; i < count; i++) {
      dimensions.push(readVarint(bytes, position, end));
      position = varintEnd;
    }
    for (let i = 0; i < count; i++) {
      const next = frameEnd(bytes, position);
      lowerBounds.push(Number(readInt(bytes, payloadStart, next)));
      position = next;
    }
    const length = readVarint(bytes, position, end);
    const bitmap = varintEnd;
    position = bitmap + ((length + 7) >>> 3);
    if (position > end) throw damagedRecord();
    const elements = new Array<Value>(length);
    for (let i = 0; i < length; i++) {
      if (bytes[bitmap + (i >>> 3)]! & (1 << (i & 7))) {
        elements[i] = null;
        continue;
      }
      const next = frameEnd(bytes, position);
      if (next > end) throw damagedRecord();
      elements[i] = readElement(bytes, payloadStart, next);
      position = next;
    }
    return { elements, dimensions, lowerBounds };
  };
}

/** Fields that the type got after the row was stored are NULL. */
function rowReader(fields: readonly RecordField[]): PayloadReader {
  const readers = fields.map((field) => payloadReader(field.type));
  const order = storedOrder(fields);
  return (bytes, start, end): readonly Value[] => {
    const stored = readVarint(bytes, start, end);
    const bitmap = varintEnd;
    let position = bitmap + ((stored + 7) >>> 3);
    if (position > end) throw damagedRecord();
    const row = new Array<Value>(fields.length).fill(null);
    for (let slot = 0; slot < stored; slot++) {
      if (bytes[bitmap + (slot >>> 3)]! & (1 << (slot & 7))) continue;
      const next = frameEnd(bytes, position);
      if (next > end) throw damagedRecord();
      const i = order[slot] ?? -1;
      if (i >= 0) row[i] = readers[i]!(bytes, payloadStart, next);
      position = next;
    }
    return row;
  };
}

/** End of the varint that was read last. */
export let varintEnd = 0;

/** An unsigned number of at most 31 bits that ends before `end`; sets `varintEnd`. */
export function readVarint(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  let position = start;
  for (let shift = 0; shift <= 28; shift += 7) {
    if (position >= end) throw damagedRecord();
    const byte = bytes[position++]!;
    value |= (byte & 0x7f) << shift;
    if (byte <= 0x7f) {
      if (value < 0) throw damagedRecord();
      varintEnd = position;
      return value;
    }
  }
  throw damagedRecord();
}

export function damagedRecord(): DbError {
  return new DbError("internal_error", "A stored record is damaged.");
}
