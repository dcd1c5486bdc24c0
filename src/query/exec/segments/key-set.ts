/**
 * The numbers that one side of a join has for a key, as bits from the least to the greatest. The join hands it to the
 * other side (`Operator.acceptKeys`), whose scan leaves out rows without a partner before it reads their other columns.
 * Made by join-table.ts, used by segment-scan.ts.
 *
 * After Bernstein and Chiu, "Using Semi-Joins to Solve Relational Queries", JACM 1981, within one machine.
 */
import type { Column, NumberColumn } from "./column.js";
import type { Kernel } from "./kernel.js";

/** Keys of which a set is made; of more it would take a turn, and they seldom leave rows out. */
const KEYS_MAX = 1 << 18;
/** Numbers from the least to the greatest: a mebibyte of bits. */
const SPAN_MAX = 1 << 23;
/** Bytes of a set at most. */
export const KEY_SET_BYTES_MAX = SPAN_MAX >>> 3;
/** A set with a larger part of the numbers in its span leaves out too little. */
const SHARE_MAX = 0.5;

export class KeySet {
  private constructor(
    private readonly first: number,
    private readonly span: number,
    private readonly bits: Uint8Array,
  ) {}

  get bytes(): number {
    return this.bits.length;
  }

  /** Of keys, NaN for NULL. Null where it would be of little use. */
  static of(keys: Float64Array, count: number): KeySet | null {
    if (count > KEYS_MAX) return null;
    let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (let i = 0; i < count; i++) {
      const key = keys[i]!;
      if (key < min) min = key;
      if (key > max) max = key;
    }
    // False where a number is infinite, or there is none.
    if (!(max - min < SPAN_MAX)) return null;
    const set = new KeySet(min, max - min + 1, new Uint8Array((max - min + 8) >>> 3));
    return set.fill(keys, count) > SHARE_MAX * set.span ? null : set;
  }

  /** Answers how many different ones there are. */
  private fill(keys: Float64Array, count: number): number {
    const { first, bits } = this;
    let different = 0;
    for (let i = 0; i < count; i++) {
      const place = keys[i]! - first;
      if (Number.isNaN(place)) continue;
      const bit = 1 << (place & 7);
      if ((bits[place >>> 3]! & bit) === 0) different++;
      bits[place >>> 3]! |= bit;
    }
    return different;
  }

  /** Whether the column's least and greatest number tell that none can be in the set. */
  excludes({ min, max }: NumberColumn): boolean {
    return !(max >= this.first && min < this.first + this.span);
  }

  /** Rows whose number may be in the set; null: the column has no numbers. */
  kernel(column: Column): Kernel | "none" | null {
    if (column.kind !== "number" || column.scale >= 0) return null;
    if (this.excludes(column)) return "none";
    const { data, nulls } = column;
    const kernel = data instanceof Int32Array ? this.ofIntegers(data) : this.ofDoubles(data);
    return nulls === null ? kernel : withoutNulls(kernel, nulls);
  }

  /** What lies so far outside that its place wraps round may pass: the join looks at it again. */
  private ofIntegers(data: Int32Array): Kernel {
    const { first, span, bits } = this;
    return (rows, from, count, out) => {
      let found = 0;
      // A loop of its own takes half as long.
      if (rows === null) {
        for (let row = from; row < from + count; row++) {
          const place = (data[row]! - first) >>> 0;
          if (place < span && ((bits[place >>> 3]! >>> (place & 7)) & 1) === 1) out[found++] = row;
        }
        return found;
      }
      for (let i = 0; i < count; i++) {
        const row = rows[i]!;
        const place = (data[row]! - first) >>> 0;
        if (place < span && ((bits[place >>> 3]! >>> (place & 7)) & 1) === 1) out[found++] = row;
      }
      return found;
    };
  }

  /** Of its own, so that each loop sees one kind of array. */
  private ofDoubles(data: Float64Array): Kernel {
    const { first, span, bits } = this;
    return (rows, from, count, out) => {
      let found = 0;
      for (let i = 0; i < count; i++) {
        const row = rows === null ? from + i : rows[i]!;
        const place = data[row]! - first;
        if (place >= 0 && place < span && ((bits[place >>> 3]! >>> (place & 7)) & 1) === 1) out[found++] = row;
      }
      return found;
    };
  }
}

/** NULLs are held as 0. */
function withoutNulls(kernel: Kernel, nulls: Uint8Array): Kernel {
  return (rows, from, count, out) => {
    const length = kernel(rows, from, count, out);
    let found = 0;
    for (let i = 0; i < length; i++) {
      const row = out[i]!;
      out[found] = row;
      found += 1 - nulls[row]!;
    }
    return found;
  };
}

/** Keys of the rows that the consumer has a use for, in one of the operator's columns. */
export interface WantedKeys {
  readonly slot: number;
  readonly keys: KeySet;
}
