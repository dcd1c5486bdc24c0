/**
 * Puts a stored map together from bytes, for loads of many rows: the form is that of variant-writer.ts, but common
 * values are read from a file's bytes without a value in between. One map at a time; a RecordSlab takes it.
 */
import type { Variant } from "../values/variant.js";
import { SHORT_TEXT_MAX, SMALL_INT_MAX, SMALL_INT_MIN, TAG } from "./variant-tags.js";
import { encodeVariant } from "./variant-writer.js";

const BYTES_AT_FIRST = 1024;
const KEPT_BYTES = 1024 * 1024;

const doubles = new Float64Array(1);
const doubleBytes = new Uint8Array(doubles.buffer);

/** A key as it stands in front of its value. */
export function storedKey(name: string): Uint8Array {
  // Behind the tag, the length and the count of one; in front of the tag of null.
  const map = encodeVariant(new Map([[name, null]]));
  let start = 1;
  while (map[start]! > 0x7f) start++;
  return Uint8Array.from(map.subarray(start + 2, map.length - 1));
}

export class MapBytes {
  /** Its entries, up to `length`. */
  bytes = Buffer.allocUnsafeSlow(BYTES_AT_FIRST);
  length = 0;
  count = 0;

  begin(): void {
    if (this.bytes.length > KEPT_BYTES) this.bytes = Buffer.allocUnsafeSlow(BYTES_AT_FIRST);
    this.length = 0;
    this.count = 0;
  }

  /** Of at most 32 bits. */
  integer(key: Uint8Array, value: number): void {
    this.key(key, 5);
    const { bytes } = this;
    if (value >= SMALL_INT_MIN && value <= SMALL_INT_MAX) {
      bytes[this.length++] = TAG.smallInt + value - SMALL_INT_MIN;
      return;
    }
    const count = value >= -0x80 && value < 0x80 ? 1 : value >= -0x8000 && value < 0x8000 ? 2 : 4;
    bytes[this.length++] = TAG.int + count;
    for (let i = 0, rest = value; i < count; i++, rest >>= 8) bytes[this.length++] = rest;
  }

  float(key: Uint8Array, value: number): void {
    this.key(key, 9);
    doubles[0] = value;
    this.bytes[this.length++] = TAG.float;
    for (let i = 0; i < 8; i++) this.bytes[this.length++] = doubleBytes[i]!;
  }

  /** False, and nothing is added, unless it is short and of ASCII characters. */
  text(key: Uint8Array, from: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    if (length > SHORT_TEXT_MAX) return false;
    for (let i = start; i < end; i++) if (from[i]! > 0x7f) return false;
    this.key(key, 1 + length);
    const { bytes } = this;
    bytes[this.length++] = TAG.shortText + length;
    for (let i = start; i < end; i++) bytes[this.length++] = from[i]!;
    return true;
  }

  /** Throws as encodeVariant does. */
  value(key: Uint8Array, value: Variant): void {
    const encoded = encodeVariant(value);
    this.key(key, encoded.length);
    this.bytes.set(encoded, this.length);
    this.length += encoded.length;
  }

  private key(key: Uint8Array, valueBytes: number): void {
    this.ensure(key.length + valueBytes);
    for (let i = 0; i < key.length; i++) this.bytes[this.length++] = key[i]!;
    this.count++;
  }

  private ensure(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.length + more));
    this.bytes.copy(larger, 0, 0, this.length);
    this.bytes = larger;
  }
}
