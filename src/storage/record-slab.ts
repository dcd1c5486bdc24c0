/**
 * Builds records in large buffers, for loads of many rows. The bytes are those of record-codec.ts, but there is no
 * buffer per record and, for common types, no value in between. One per load; it owns its buffers, and finished
 * records are views of them.
 */
import type { SqlType, Value } from "../values/values.js";
import { encodeRecord, RECORD_FORMAT } from "./record-codec.js";
import { FRAME_U16, FRAME_U32, refuseLargeRecord } from "./record-writer.js";

const SLAB_BYTES = 256 * 1024;
const TWO_32 = 2 ** 32;
/** Up to here a loop costs less than a view of the bytes and a call. */
const LOOPED_BYTES = 48;

const doubles = new Float64Array(1);
const doubleBytes = new Uint8Array(doubles.buffer);

export class RecordSlab {
  private slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  private start = 0;
  private at = 0;
  private bitmap = 0;

  /** Begins a record of `columns` columns; then come, in order of their ids, `null` or one of the writers for each. */
  begin(columns: number): void {
    this.start = this.at;
    const bitmapBytes = (columns + 7) >>> 3;
    this.ensure(8 + bitmapBytes);
    const { slab } = this;
    slab[this.at++] = RECORD_FORMAT;
    let rest = columns;
    while (rest > 0x7f) {
      slab[this.at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    slab[this.at++] = rest;
    this.bitmap = this.at - this.start;
    for (let i = 0; i < bitmapBytes; i++) slab[this.at++] = 0;
  }

  null(column: number): void {
    this.slab[this.start + this.bitmap + (column >>> 3)]! |= 1 << (column & 7);
  }

  /** An integral number, also the micros and days of moments. */
  integer(value: number): void {
    this.ensure(9);
    const { slab } = this;
    const head = this.at;
    let at = head + 1;
    if (value === (value | 0)) {
      if (value !== 0) {
        slab[at++] = value;
        if (value < -0x80 || value >= 0x80) {
          slab[at++] = value >> 8;
          if (value < -0x8000 || value >= 0x8000) {
            slab[at++] = value >> 16;
            slab[at++] = value >> 24;
            // Three bytes do when the fourth only repeats the sign.
            if (value >= -0x800000 && value < 0x800000) at--;
          }
        }
      }
    } else {
      const high = Math.floor(value / TWO_32);
      const low = value - high * TWO_32;
      slab[at] = low;
      slab[at + 1] = low >>> 8;
      slab[at + 2] = low >>> 16;
      slab[at + 3] = low >>> 24;
      at += 4;
      let rest = high;
      const count = high >= -0x8000 && high < 0x8000 ? 2 : high >= -0x800000 && high < 0x800000 ? 3 : 4;
      for (let i = 0; i < count; i++) {
        slab[at++] = rest;
        rest >>= 8;
      }
    }
    slab[head] = at - head - 1;
    this.at = at;
  }

  float8(value: number): void {
    this.ensure(9);
    const { slab } = this;
    doubles[0] = value;
    let { at } = this;
    slab[at++] = 8;
    for (let i = 0; i < 8; i++) slab[at++] = doubleBytes[i]!;
    this.at = at;
  }

  bool(value: boolean): void {
    this.integer(value ? 1 : 0);
  }

  /** Text as UTF-8 bytes of another buffer. */
  text(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.ensure(length + 5);
    const { slab } = this;
    let { at } = this;
    if (length < FRAME_U16) {
      slab[at++] = length;
    } else if (length <= 0xffff) {
      slab[at] = FRAME_U16;
      slab.writeUInt16LE(length, at + 1);
      at += 3;
    } else {
      slab[at] = FRAME_U32;
      slab.writeUInt32LE(length, at + 1);
      at += 5;
    }
    if (length > LOOPED_BYTES) slab.set(bytes.subarray(start, end), at);
    else for (let i = 0; i < length; i++) slab[at + i] = bytes[start + i]!;
    this.at = at + length;
  }

  /** Any value of any type; not NULL. */
  value(type: SqlType, value: Value): void {
    // A record of one column: format, number of columns and null bits, then the frame.
    const frame = encodeRecord([type], [value]).subarray(3);
    this.ensure(frame.length);
    this.slab.set(frame, this.at);
    this.at += frame.length;
  }

  /** The finished record. Throws 54000 past RECORD_BYTES_MAX. */
  finish(): Uint8Array {
    const length = this.at - this.start;
    refuseLargeRecord(length);
    // Made in a third of the time that Buffer.subarray takes.
    return new Uint8Array(this.slab.buffer, this.slab.byteOffset + this.start, length);
  }

  private ensure(bytes: number): void {
    if (this.at + bytes <= this.slab.length) return;
    const begun = this.at - this.start;
    const larger = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, (begun + bytes) * 2));
    this.slab.copy(larger, 0, this.start, this.at);
    this.slab = larger;
    this.start = 0;
    this.at = begun;
  }
}
