/**
 * The scratch buffer in which keys are put together, and the encodings of single pieces whose byte order is their
 * value order. Used by key-codec.ts, and by loads that take a key from here; one key at a time is under construction.
 */
import { sqlError } from "../protocol/errors.js";
import { KEY_BYTES_MAX } from "../protocol/limits.js";
import type { Timestamp } from "../values/timestamp.js";
import { allocateMemory, copyBytes, type Memory } from "./copy-bytes.js";

/** A text of KEY_BYTES_MAX characters in UTF-8 with every byte escaped fits behind two keys of KEY_BYTES_MAX bytes. */
const memory = allocateMemory(9 * KEY_BYTES_MAX);
const scratch = memory.bytes as Buffer;
let length = 0;
/** Of the key under construction. */
let bytesMax = KEY_BYTES_MAX;

/** After a string's bytes: 0x00 0x01; a zero byte in it becomes 0x00 0xFF, which sorts behind every string's end. */
export const ESCAPE = 0x00;
export const ESCAPED_END = 0x01;
export const ESCAPED_ZERO = 0xff;

/** Sign bit of the first byte: flipped, so that negative numbers come first. */
const SIGN = 0x80;
const TWO_32 = 2 ** 32;

const doubles = new Float64Array(1);
const doubleBytes = new Uint8Array(doubles.buffer);
const floats = new Float32Array(1);
const floatBytes = new Uint8Array(floats.buffer);

export function startKey(prefix: Uint8Array): void {
  length = prefix.length;
  bytesMax = KEY_BYTES_MAX;
  if (length > bytesMax) throw keyTooLong();
  for (let i = 0; i < length; i++) scratch[i] = prefix[i]!;
}

/** Copies bytes of the key under construction. */
export function copyKey(from: number, end: number, to: Uint8Array, at: number): void {
  if (end - from > 64) to.set(scratch.subarray(from, end), at);
  else for (let i = from, place = at; i < end; i++, place++) to[place] = scratch[i]!;
}

/** The same, to a piece of memory. */
export function copyKeyTo(from: number, end: number, to: Memory, at: number): void {
  copyBytes(memory, from, end - from, to, at);
}

/** Bytes as they are. */
export function writeRaw(bytes: Uint8Array): void {
  scratch.set(bytes, length);
  length += bytes.length;
}

/** A part of some bytes as it is; few are copied here faster than by the runtime. */
export function writePart(bytes: Uint8Array, start: number, end: number): void {
  if (end - start > 64) {
    writeRaw(bytes.subarray(start, end));
    return;
  }
  for (let i = start; i < end; i++) scratch[length++] = bytes[i]!;
}

/** The finished key in a buffer of its own. */
export function finishKey(): Buffer {
  if (length > bytesMax) throw keyTooLong();
  const key = Buffer.allocUnsafe(length);
  if (length > 64) scratch.copy(key, 0, 0, length);
  else for (let i = 0; i < length; i++) key[i] = scratch[i]!;
  return key;
}

/** Another key follows in the same bytes; it may be as long as one. */
export function startSecond(): void {
  bytesMax = length + KEY_BYTES_MAX;
}

export function keyLength(): number {
  return length;
}

/** Inverts everything written from `start` on, which turns its order around. */
export function invertFrom(start: number): void {
  for (let i = start; i < length; i++) scratch[i] = ~scratch[i]!;
}

export function writeByte(byte: number): void {
  scratch[length++] = byte;
}

export function writeInt16(value: number): void {
  scratch[length] = (value >>> 8) ^ SIGN;
  scratch[length + 1] = value;
  length += 2;
}

export function writeInt32(value: number): void {
  writeUint32((value ^ 0x80000000) >>> 0);
}

export function writeUint24(value: number): void {
  scratch[length] = value >>> 16;
  scratch[length + 1] = value >>> 8;
  scratch[length + 2] = value;
  length += 3;
}

export function writeUint32(value: number): void {
  scratch[length] = value >>> 24;
  scratch[length + 1] = value >>> 16;
  scratch[length + 2] = value >>> 8;
  scratch[length + 3] = value;
  length += 4;
}

/** An integral number, or ±Infinity as the least and the greatest int64. */
export function writeInt64(value: number): void {
  if (value === Number.POSITIVE_INFINITY) {
    writeUint32(0xffffffff);
    writeUint32(0xffffffff);
  } else if (value === Number.NEGATIVE_INFINITY) {
    writeUint32(0);
    writeUint32(0);
  } else {
    const high = Math.floor(value / TWO_32);
    writeInt32(high);
    writeUint32(value - high * TWO_32);
  }
}

export function writeBigInt64(value: bigint): void {
  scratch.writeBigInt64BE(value, length);
  scratch[length]! ^= SIGN;
  length += 8;
}

/**
 * Timestamps from here on do not fit before the int64 that is infinity: behind this one, which none is written as by
 * itself, comes how much later they are.
 */
export const LATE_TIMESTAMP = 2n ** 63n - 2n;

/** Also ±Infinity, as the least and the greatest int64. */
export function writeTimestamp(value: Timestamp): void {
  if (typeof value === "number" && (value < 2 ** 63 || value === Number.POSITIVE_INFINITY)) writeInt64(value);
  else if (value < LATE_TIMESTAMP) writeBigInt64(value as bigint);
  else {
    writeBigInt64(LATE_TIMESTAMP);
    writeBigInt64(BigInt(value) - LATE_TIMESTAMP);
  }
}

/** PostgreSQL's order: −0 equals 0, NaN is the greatest. */
export function writeFloat64(value: number): void {
  doubles[0] = value === 0 ? 0 : value;
  if (Number.isNaN(value)) doubles[0] = Number.NaN;
  const isNegative = value < 0;
  for (let i = 7; i >= 0; i--) scratch[length++] = isNegative ? ~doubleBytes[i]! : doubleBytes[i]!;
  if (!isNegative) scratch[length - 8]! |= SIGN;
}

export function writeFloat32(value: number): void {
  floats[0] = value === 0 ? 0 : value;
  if (Number.isNaN(value)) floats[0] = Number.NaN;
  const isNegative = value < 0;
  for (let i = 3; i >= 0; i--) scratch[length++] = isNegative ? ~floatBytes[i]! : floatBytes[i]!;
  if (!isNegative) scratch[length - 4]! |= SIGN;
}

/** Sixteen bytes from a UUID's hexadecimal digits; dashes are passed over. */
export function writeUuid(text: string): void {
  for (let i = 0; i < text.length; i++) {
    const high = text.charCodeAt(i);
    if (high === 45) continue;
    i++;
    scratch[length++] = (hexDigit(high) << 4) | hexDigit(text.charCodeAt(i));
  }
}

function hexDigit(unit: number): number {
  return unit <= 57 ? unit - 48 : (unit | 32) - 87;
}

export function writeText(text: string): void {
  if (text.length > KEY_BYTES_MAX || length > bytesMax) throw keyTooLong();
  const start = length;
  let at = start;
  let i = 0;
  for (; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0 || unit > 0x7f) break;
    scratch[at++] = unit;
  }
  length = at;
  if (i < text.length) {
    length += scratch.write(i === 0 ? text : text.slice(i), at);
    escapeZeros(at);
  }
  endString();
}

/** The same of a text's UTF-8. */
export function writeTextBytes(bytes: Uint8Array, from: number, end: number): void {
  if (end - from > KEY_BYTES_MAX || length > bytesMax) throw keyTooLong();
  const start = length;
  writePart(bytes, from, end);
  escapeZeros(start);
  endString();
}

export function writeBytes(bytes: Uint8Array): void {
  if (bytes.length > KEY_BYTES_MAX || length > bytesMax) throw keyTooLong();
  const start = length;
  scratch.set(bytes, length);
  length += bytes.length;
  escapeZeros(start);
  endString();
}

export function checkKeyLength(): void {
  if (length > bytesMax) throw keyTooLong();
}

function endString(): void {
  scratch[length] = ESCAPE;
  scratch[length + 1] = ESCAPED_END;
  length += 2;
}

function escapeZeros(start: number): void {
  let zeros = 0;
  for (let i = start; i < length; i++) if (scratch[i] === 0) zeros++;
  if (zeros === 0) return;
  let to = length + zeros;
  if (to > KEY_BYTES_MAX + start) throw keyTooLong();
  for (let from = length - 1; from >= start; from--) {
    const byte = scratch[from]!;
    if (byte === 0) scratch[--to] = ESCAPED_ZERO;
    scratch[--to] = byte;
  }
  length += zeros;
}

function keyTooLong(): Error {
  return sqlError("54000", `index row size exceeds the maximum of ${KEY_BYTES_MAX} bytes`);
}
