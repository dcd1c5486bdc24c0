/**
 * Reads the pieces that key-writer.ts writes. Used by key-codec.ts only. For a descending column, whose bytes are
 * inverted, the reader works on a copy of the column's bytes, otherwise on the key itself.
 */
import { DbError } from "../protocol/errors.js";
import { type Timestamp, timestampOf } from "../values/timestamp.js";
import { ESCAPE, ESCAPED_END, LATE_TIMESTAMP } from "./key-writer.js";

const TWO_32 = 2 ** 32;
const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

export class KeyReader {
  private source: Buffer;
  position: number;

  constructor(key: Uint8Array, position: number) {
    this.source = Buffer.from(key.buffer, key.byteOffset, key.byteLength);
    this.position = position;
  }

  /** A reader of the bytes from here on, inverted. */
  inverted(): KeyReader {
    const rest = Buffer.from(this.source.subarray(this.position));
    for (let i = 0; i < rest.length; i++) rest[i] = ~rest[i]!;
    return new KeyReader(rest, 0);
  }

  byte(): number {
    return this.source[this.take(1)]!;
  }

  int16(): number {
    return ((this.source.readUInt16BE(this.take(2)) ^ 0x8000) << 16) >> 16;
  }

  int32(): number {
    return this.uint32() ^ 0x80000000;
  }

  uint24(): number {
    return this.source.readUIntBE(this.take(3), 3);
  }

  uint32(): number {
    return this.source.readUInt32BE(this.take(4));
  }

  /** An integer of any size: a number while it is exact, else a bigint. */
  int64(): number | bigint {
    const high = this.int32();
    const low = this.uint32();
    const value = high * TWO_32 + low;
    return Number.isSafeInteger(value) ? value : (BigInt(high) << 32n) | BigInt(low);
  }

  /** The nearest number; the least and the greatest int64 are ±Infinity. */
  time64(): number {
    const high = this.int32();
    const low = this.uint32();
    if (high === INT32_MIN && low === 0) return Number.NEGATIVE_INFINITY;
    if (high === INT32_MAX && low === 0xffffffff) return Number.POSITIVE_INFINITY;
    return high * TWO_32 + low;
  }

  timestamp(): Timestamp {
    const high = this.int32();
    const low = this.uint32();
    if (high === INT32_MIN && low === 0) return Number.NEGATIVE_INFINITY;
    if (high === INT32_MAX && low === 0xffffffff) return Number.POSITIVE_INFINITY;
    const value = high * TWO_32 + low;
    if (Number.isSafeInteger(value)) return value;
    const micros = (BigInt(high) << 32n) | BigInt(low);
    return timestampOf(micros === LATE_TIMESTAMP ? micros + BigInt(this.int64()) : micros);
  }

  float64(): number {
    const bytes = Buffer.from(this.raw(8));
    unsign(bytes);
    return bytes.readDoubleBE(0);
  }

  float32(): number {
    const bytes = Buffer.from(this.raw(4));
    unsign(bytes);
    return bytes.readFloatBE(0);
  }

  raw(length: number): Buffer {
    const start = this.take(length);
    return this.source.subarray(start, start + length);
  }

  text(): string {
    return this.bytes().toString("utf8");
  }

  /** A string of bytes, in a buffer of its own if anything was escaped. */
  bytes(): Buffer {
    const start = this.position;
    let end = this.nextEscape(start);
    const pieces: Buffer[] = [];
    let from = start;
    while (this.source[end + 1] !== ESCAPED_END) {
      pieces.push(this.source.subarray(from, end + 1));
      from = end + 2;
      end = this.nextEscape(from);
    }
    this.position = end + 2;
    const rest = this.source.subarray(from, end);
    return pieces.length === 0 ? rest : Buffer.concat([...pieces, rest]);
  }

  private nextEscape(from: number): number {
    const at = this.source.indexOf(ESCAPE, from);
    if (at === -1 || at + 1 >= this.source.length) throw damagedKey();
    return at;
  }

  private take(count: number): number {
    const start = this.position;
    this.position += count;
    if (this.position > this.source.length) throw damagedKey();
    return start;
  }
}

function unsign(bytes: Buffer): void {
  if (bytes[0]! & 0x80) bytes[0]! &= 0x7f;
  else for (let i = 0; i < bytes.length; i++) bytes[i] = ~bytes[i]!;
}

export function damagedKey(): DbError {
  return new DbError("internal_error", "A stored key is damaged.");
}
