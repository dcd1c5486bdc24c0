/**
 * A segment: some ten thousand neighbouring rows of a table as columns, with the rows' keys. In memory, made by
 * segment-builder.ts, or in a file, whose pages are read when they are wanted (stored/). Only columns are ever added to
 * one.
 */

import { keyText } from "../../../storage/ordered-map.js";
import type { Value } from "../../../values/values.js";
import { type Column, type KeyColumn, type NumberColumn, valueAt } from "./column.js";

/** Instead of a column's id: the rows' keys. */
export const ROW_KEYS = -1;

/** Rows of a segment, which are at these places of the column. */
export interface SomeRows {
  readonly column: Column;
  readonly places: readonly number[];
}

/** The part of a segment that is in a file. */
export interface StoredPages {
  readonly rows: number;
  keys(): SegmentKeys;
  column(columnId: number): Column;
  /** For few rows of many: without memory for all of them. What it answers is of use until the next call. */
  someRows(columnId: number, rows: readonly number[]): SomeRows;
  has(columnId: number): boolean;
  /** The column is in memory, or in no file. */
  isRead(columnId: number): boolean;
  /** Its keys and these columns are in memory. */
  isResident(columnIds: readonly number[]): boolean;
  /** Bytes of its keys and these columns. */
  bytesOf(columnIds: readonly number[]): number;
  /**
   * A column of numbers without the numbers: its least and greatest, and whether there are NULLs. Null: it has none.
   */
  known(columnId: number): NumberColumn | null;
}

/** The keys of a segment's rows in order, without the table's prefix, end to end. */
export class SegmentKeys {
  constructor(
    readonly bytes: Uint8Array,
    /** Where each key begins, and where the last one ends. */
    readonly offsets: Uint32Array,
    /** Bytes of the prefix that is left out here and present in keys to compare with. */
    readonly prefixLength: number,
  ) {}

  get length(): number {
    return this.offsets.length - 1;
  }

  at(row: number): Uint8Array {
    return this.bytes.subarray(this.offsets[row], this.offsets[row + 1]);
  }

  /** The whole keys. */
  column(prefix: Uint8Array): KeyColumn {
    const { bytes, offsets } = this;
    const at = (row: number): Uint8Array => {
      const start = offsets[row]!;
      const length = offsets[row + 1]! - start;
      const key = new Uint8Array(prefix.length + length);
      for (let i = 0; i < prefix.length; i++) key[i] = prefix[i]!;
      for (let i = 0; i < length; i++) key[prefix.length + i] = bytes[start + i]!;
      return key;
    };
    return { kind: "key", at, bytes: 0 };
  }

  /** The order of a row's key against a whole key: negative, 0 or positive. */
  compare(row: number, key: Uint8Array): number {
    const { bytes, prefixLength } = this;
    const start = this.offsets[row]!;
    const length = this.offsets[row + 1]! - start;
    const other = key.length - prefixLength;
    const common = Math.min(length, other);
    for (let i = 0; i < common; i++) {
      const difference = bytes[start + i]! - key[prefixLength + i]!;
      if (difference !== 0) return difference;
    }
    return length - other;
  }

  /** The first row at or after `from` whose key is not below `key`; `length` when there is none. */
  lowerBound(key: Uint8Array, from: number): number {
    return this.between(key, from, this.length);
  }

  /** The same where it is likely to be near: in steps that double (exponential search, Bentley and Yao 1976). */
  nextBound(key: Uint8Array, from: number): number {
    let low = from;
    for (let step = 1; ; step *= 2) {
      const probe = low + step - 1;
      if (probe >= this.length) return this.between(key, low, this.length);
      if (this.compare(probe, key) >= 0) return this.between(key, low, probe);
      low = probe + 1;
    }
  }

  private between(key: Uint8Array, from: number, to: number): number {
    let low = from;
    let high = to;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(middle, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Neighbouring rows of a table: all that it has from one key (inclusive) to another (exclusive). */
export class Segment {
  /** Rows that were changed since it was built; a rough count. */
  changes = 0;
  /** Columns in memory that are in no file, by column id. */
  private readonly made = new Map<number, Column>();

  constructor(
    /** Whole keys as text (storage/ordered-map.ts). */
    readonly from: string,
    readonly to: string,
    private readonly held: SegmentKeys | null,
    readonly stored: StoredPages | null = null,
  ) {}

  get rows(): number {
    return this.held === null ? this.stored!.rows : this.held.length;
  }

  /** Throws DamagedColumns, as `column` does, when a page of a file has to be read and is not whole. */
  get keys(): SegmentKeys {
    return this.held ?? this.stored!.keys();
  }

  column(columnId: number): Column {
    if (columnId === ROW_KEYS)
      return this.keys.column(Buffer.from(this.from.slice(0, this.keys.prefixLength), "latin1"));
    return this.made.get(columnId) ?? this.stored!.column(columnId);
  }

  /** As `StoredPages.someRows`. */
  someRows(columnId: number, rows: readonly number[]): SomeRows {
    const made = this.made.get(columnId);
    return made === undefined ? this.stored!.someRows(columnId, rows) : { column: made, places: rows };
  }

  /** As `StoredPages.known`. */
  known(columnId: number): NumberColumn | null {
    return this.stored?.has(columnId) === true ? this.stored.known(columnId) : null;
  }

  has(columnId: number): boolean {
    return this.made.has(columnId) || this.stored?.has(columnId) === true;
  }

  add(columnId: number, column: Column): void {
    this.made.set(columnId, column);
  }

  /** The part of it that is in a file. */
  withoutMade(): Segment {
    if (this.made.size === 0) return this;
    const segment = new Segment(this.from, this.to, null, this.stored);
    segment.changes = this.changes;
    return segment;
  }

  /** Memory of what is in no file. */
  get bytes(): number {
    let bytes = this.held === null ? 0 : this.held.bytes.byteLength + this.held.offsets.byteLength;
    for (const column of this.made.values()) bytes += column.bytes;
    return bytes;
  }

  value(columnId: number, row: number): Value {
    return valueAt(this.column(columnId), row);
  }
}

/** Collects keys until a segment is full. */
export class KeyCollector {
  private bytes = new Uint8Array(64 * 1024);
  private offsets: number[] = [0];
  private used = 0;

  constructor(private readonly prefixLength: number) {}

  get length(): number {
    return this.offsets.length - 1;
  }

  /** The first key added since the last `take`, without the prefix, latin-1. */
  first(): string {
    return keyText(this.bytes.subarray(0, this.offsets[1]));
  }

  /** Takes a whole key. */
  add(key: Uint8Array): void {
    this.append(key, this.prefixLength, key.length);
  }

  /** Takes a key without its prefix. */
  addPart(part: Uint8Array): void {
    this.append(part, 0, part.length);
  }

  /** Takes a key without its prefix, which is between two places. */
  append(bytes: Uint8Array, start: number, end: number): void {
    const used = this.used + end - start;
    if (used > this.bytes.length) {
      const grown = new Uint8Array(2 * used);
      grown.set(this.bytes.subarray(0, this.used));
      this.bytes = grown;
    }
    for (let i = start, to = this.used; i < end; i++, to++) this.bytes[to] = bytes[i]!;
    this.used = used;
    this.offsets.push(used);
  }

  /** The keys added since the last call. */
  take(): SegmentKeys {
    const keys = new SegmentKeys(this.bytes.slice(0, this.used), Uint32Array.from(this.offsets), this.prefixLength);
    this.offsets = [0];
    this.used = 0;
    return keys;
  }
}
