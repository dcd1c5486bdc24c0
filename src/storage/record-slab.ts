/**
 * Builds records one after the other in one buffer, for loads of many rows. The bytes are those of record-codec.ts, but
 * there is no buffer per record and, for common types, no value in between. One per load. It owns its buffer: a
 * finished record is a view of it until the next one begins.
 */
import type { SqlType, Value } from "../values/values.js";
import { copyBytes, type Memory, memoryOf } from "./copy-bytes.js";
import type { MapBytes } from "./map-bytes.js";
import { RECORD_FORMAT } from "./record-codec.js";
import { buildFrame, copyFrameTo, refuseLargeRecord } from "./record-writer.js";
import { writeIntegerFrame, writeLength } from "./value-frame.js";
import { TAG } from "./variant-tags.js";

const SLAB_BYTES = 64 * 1024;
/** A buffer that a long record needed is kept up to here. */
const KEPT_BYTES = 1024 * 1024;
/** Up to here a loop costs less than a view of the bytes and a call. */
const LOOPED_BYTES = 48;
/** Views of records up to this length are kept: one for each row of a file would be much garbage. */
const VIEWED_BYTES = 4096;

const NOTHING = memoryOf(new Uint8Array(0));
const doubles = new Float64Array(1);
const doubleBytes = new Uint8Array(doubles.buffer);

export class RecordSlab {
  private slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  private memory = memoryOf(this.slab);
  /** Of the slab, by their length. */
  private readonly views: Uint8Array[] = [];
  /** What texts are in. */
  private source: Memory = NOTHING;
  private at = 0;
  private bitmap = 0;

  /** Begins a record of `columns` columns; then come, in order of their ids, `null` or one of the writers for each. */
  begin(columns: number): void {
    if (this.slab.length > KEPT_BYTES) this.use(Buffer.allocUnsafeSlow(SLAB_BYTES));
    this.at = 0;
    const bitmapBytes = (columns + 7) >>> 3;
    this.ensure(8 + bitmapBytes);
    const { slab } = this;
    slab[this.at++] = RECORD_FORMAT;
    this.at = writeVarint(slab, this.at, columns);
    this.bitmap = this.at;
    for (let i = 0; i < bitmapBytes; i++) slab[this.at++] = 0;
  }

  null(column: number): void {
    this.slab[this.bitmap + (column >>> 3)]! |= 1 << (column & 7);
  }

  /** An integral number, also the micros and days of moments. */
  integer(value: number): void {
    this.ensure(9);
    this.at = writeIntegerFrame(this.slab, this.at, value);
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

  /** A numeric: a safe integer × 10^−scale. */
  scaled(unscaled: number, scale: number): void {
    this.ensure(10);
    const { slab, at } = this;
    this.at = writeIntegerFrame(slab, at + 1, unscaled);
    slab[at] = slab[at + 1]! + 1;
    slab[at + 1] = scale;
  }

  /** Text as UTF-8, or any bytes, of another buffer. */
  text(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.ensure(length + 5);
    const { slab } = this;
    const at = writeLength(slab, this.at, length);
    if (length > LOOPED_BYTES) {
      if (this.source.bytes !== bytes) this.source = memoryOf(bytes);
      copyBytes(this.source, start, length, this.memory, at);
    } else for (let i = 0; i < length; i++) slab[at + i] = bytes[start + i]!;
    this.at = at + length;
  }

  /** Any value of any type; not NULL. */
  value(type: SqlType, value: Value): void {
    const length = buildFrame(type, value);
    this.ensure(length);
    copyFrameTo(this.slab, this.at);
    this.at += length;
  }

  /** A variant that is a map. */
  map({ bytes, length, count }: MapBytes): void {
    const inner = varintBytes(count) + length;
    const payload = 1 + varintBytes(inner) + inner;
    this.ensure(payload + 5);
    const { slab } = this;
    let at = writeLength(slab, this.at, payload);
    slab[at++] = TAG.map;
    at = writeVarint(slab, at, inner);
    at = writeVarint(slab, at, count);
    if (length > LOOPED_BYTES) slab.set(bytes.subarray(0, length), at);
    else for (let i = 0; i < length; i++) slab[at + i] = bytes[i]!;
    this.at = at + length;
  }

  /** The finished record. Throws 54000 past RECORD_BYTES_MAX. */
  finish(): Uint8Array {
    const { at, slab, views } = this;
    refuseLargeRecord(at);
    if (at > VIEWED_BYTES) return new Uint8Array(slab.buffer, slab.byteOffset, at);
    // Made in a third of the time that Buffer.subarray takes.
    for (let length = views.length; length <= at; length++)
      views.push(new Uint8Array(slab.buffer, slab.byteOffset, length));
    return views[at]!;
  }

  private use(slab: Buffer<ArrayBuffer>): void {
    this.slab = slab;
    this.memory = memoryOf(slab);
    this.views.length = 0;
  }

  private ensure(bytes: number): void {
    if (this.at + bytes <= this.slab.length) return;
    const larger = Buffer.allocUnsafeSlow((this.at + bytes) * 2);
    this.slab.copy(larger, 0, 0, this.at);
    this.use(larger);
  }
}

function varintBytes(value: number): number {
  let count = 1;
  for (let rest = value; rest > 0x7f; rest >>>= 7) count++;
  return count;
}

function writeVarint(bytes: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
  bytes[at++] = rest;
  return at;
}
