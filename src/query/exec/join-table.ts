/**
 * The table in which a hash join finds rows by their keys. Keys that are integers or points in time are numbers in
 * typed arrays. If there is one key and its values lie close together, it indexes an array; else they are hashed with
 * open addressing. Keys of other types go into a Map. Made by hash-join.ts, one per run. The statement accounts for its
 * memory.
 *
 * Rows are numbered as they come. Rows with the same key are chained in this order. A NULL key equals nothing.
 */
import type { Value } from "../../values/values.js";
import type { HashKey } from "../expr/compare.js";
import type { ExecContext } from "./context.js";
import { SET_ENTRY_BYTES } from "./distinct.js";
import { hashKeys, loadKeys } from "./number-keys.js";
import type { RowKeyOf } from "./row-key.js";
import type { Chunk } from "./segments/chunk.js";
import { loadNumbers } from "./segments/column.js";
import { GrowingArray } from "./segments/growing-array.js";
import { KEY_SET_BYTES_MAX, KeySet } from "./segments/key-set.js";
import type { EvaluateAll } from "./slots.js";
import { bytesOf } from "./value-bytes.js";

/** One side of one key of a join. */
export interface JoinKey {
  /** Where the key is a column of the side: its slot; −1. */
  readonly slot: number;
  /** Slots that the key reads. */
  readonly slots: readonly number[];
  readonly evaluate: EvaluateAll;
}

export interface JoinTable {
  /** Memory of its own. */
  readonly bytes: number;
  /** Takes the keys of further rows. False: this kind of table cannot hold one of them, and is of no use any more. */
  add(chunk: Chunk): boolean;
  /** All rows have come. Goes on with the work when called again; true when it is done. */
  finish(): boolean;
  /** For each row of the chunk the first row with its key, −1 when there is none. Valid until the next call. */
  probe(chunk: Chunk): Int32Array;
  /** After `finish`, by key: what the rows have of it; null, or none at all: not known. */
  keySets(): readonly (KeySet | null)[];
  /** Per row the next one with the same key, or −1. */
  readonly nexts: Int32Array;
  /** Gives its memory back. */
  release(): void;
}

/** Places of an array per row that it is an index of. */
const PLACES_PER_ROW = 8;
const PLACES_MIN = 4096;
/** Estimated bytes per row of its chain and its places among the hashes. */
const CHAIN_BYTES = 24;
/** Part of the statement's memory within which an array or sets of keys may be made, which are not needed. */
const INDEX_SHARE = 0.5;
/** Rows between two looks at the clock when the table is made. */
const ROWS_PER_STEP = 8192;

export class NumberTable implements JoinTable {
  bytes = 0;
  nexts = new Int32Array(0);
  private rows = 0;
  /** By key: the values of rows as they come; NaN for NULL. */
  private readonly coming: GrowingArray<Float64Array>[];
  /** The same when all have come. */
  private keys: Float64Array[] = [];
  /** Of the first key. */
  private min = Number.POSITIVE_INFINITY;
  private max = Number.NEGATIVE_INFINITY;
  private readonly probed: Float64Array[];
  private hashes = new Int32Array(0);
  private found = new Int32Array(0);
  /** Row numbers plus one by place, 0 for none: by distance from `first`, or by hash. */
  private heads = new Int32Array(0);
  private first = 0;
  private isIndexed = false;
  /**
   * Rows that are not in the table yet: it is filled from the last to the first, so that chains begin with the first.
   */
  private left = -1;

  constructor(
    private readonly buildKeys: readonly JoinKey[],
    private readonly probeKeys: readonly JoinKey[],
    private readonly context: ExecContext,
  ) {
    this.coming = buildKeys.map(() => new GrowingArray(Float64Array));
    this.probed = buildKeys.map(() => new Float64Array(0));
  }

  add(chunk: Chunk): boolean {
    const { length } = chunk;
    this.reserve(length * (8 * this.coming.length + CHAIN_BYTES));
    for (let k = 0; k < this.coming.length; k++) {
      const keys = this.coming[k]!.room(length);
      if (!this.load(this.buildKeys[k]!, chunk, keys)) return false;
      if (k === 0 && this.coming.length === 1) this.widen(keys, length);
    }
    this.rows += length;
    return true;
  }

  private widen(keys: Float64Array, length: number): void {
    let { min, max } = this;
    for (let row = 0; row < length; row++) {
      const key = keys[row]!;
      if (key < min) min = key;
      if (key > max) max = key;
    }
    this.min = min;
    this.max = max;
  }

  finish(): boolean {
    if (!this.coming.every((keys) => keys.settle())) return false;
    if (this.left < 0) this.begin();
    const to = Math.max(0, this.left - ROWS_PER_STEP);
    if (this.isIndexed) this.index(to);
    else this.hash(to);
    this.left = to;
    return to === 0;
  }

  probe(chunk: Chunk): Int32Array {
    const { length } = chunk;
    if (this.found.length < length) {
      this.found = new Int32Array(length);
      for (let k = 0; k < this.probed.length; k++) this.probed[k] = new Float64Array(length);
    }
    // What is no number here equals none of the keys.
    for (let k = 0; k < this.probed.length; k++) this.load(this.probeKeys[k]!, chunk, this.probed[k]!);
    if (this.isIndexed) this.findIndexed(length);
    else this.findHashed(length);
    return this.found;
  }

  keySets(): readonly (KeySet | null)[] {
    const { memoryBytes, memoryBytesMax } = this.context.statement;
    if (memoryBytes + this.keys.length * KEY_SET_BYTES_MAX > memoryBytesMax * INDEX_SHARE) return [];
    const sets = this.keys.map((keys) => KeySet.of(keys, this.rows));
    for (const set of sets) if (set !== null) this.reserve(set.bytes);
    return sets;
  }

  release(): void {
    this.context.statement.release(this.bytes);
    this.bytes = 0;
  }

  /**
   * Writes the chunk's keys into `out`, NaN for NULL. False: there are values that are no numbers; NaN for them, too.
   */
  private load(key: JoinKey, chunk: Chunk, out: Float64Array): boolean {
    const { length } = chunk;
    const column = chunk.vectors[key.slot];
    if (column?.kind === "number" && column.scale < 0) {
      const { rows, from } = chunk.selections[key.slot]!;
      loadNumbers(column, rows, from, length, out);
      const { nulls } = column;
      if (nulls !== null) {
        for (let i = 0; i < length; i++) if (nulls[rows === null ? from + i : rows[i]!] === 1) out[i] = Number.NaN;
      }
      return true;
    }
    return loadKeys(key.evaluate(chunk.only(key.slots), this.context, []), length, out);
  }

  private begin(): void {
    const { rows, coming } = this;
    this.keys = coming.map((keys) => keys.all());
    this.left = rows;
    this.nexts = new Int32Array(rows);
    // From the smallest key to the largest.
    const places = coming.length === 1 ? this.max - this.min + 1 : 0;
    this.first = this.min;
    const { memoryBytes, memoryBytesMax } = this.context.statement;
    this.isIndexed =
      places > 0 &&
      places <= PLACES_PER_ROW * rows + PLACES_MIN &&
      memoryBytes + 4 * places < memoryBytesMax * INDEX_SHARE;
    let size = 16;
    if (this.isIndexed) {
      size = places;
      this.reserve(4 * size);
    } else {
      while (size < 2 * rows) size *= 2;
      this.hashes = new Int32Array(ROWS_PER_STEP);
    }
    this.heads = new Int32Array(size);
  }

  private index(to: number): void {
    const { heads, nexts, first } = this;
    const keys = this.keys[0]!;
    for (let row = this.left - 1; row >= to; row--) {
      const place = keys[row]! - first;
      if (Number.isNaN(place)) continue;
      nexts[row] = heads[place]! - 1;
      heads[place] = row + 1;
    }
  }

  private hash(to: number): void {
    const { heads, nexts, keys, hashes } = this;
    const mask = heads.length - 1;
    hashKeys(keys, to, this.left - to, hashes);
    for (let row = this.left - 1; row >= to; row--) {
      if (hasNull(keys, row)) continue;
      let place = hashes[row - to]! & mask;
      let head = heads[place]!;
      while (head !== 0 && !equals(keys, head - 1, keys, row)) {
        place = (place + 1) & mask;
        head = heads[place]!;
      }
      nexts[row] = head - 1;
      heads[place] = row + 1;
    }
  }

  private findIndexed(length: number): void {
    const { heads, first, found } = this;
    const keys = this.probed[0]!;
    const size = heads.length;
    for (let i = 0; i < length; i++) {
      const place = keys[i]! - first;
      // A negative place counts as a large one; a fraction, infinity or NaN is no place.
      found[i] = place >= 0 && place < size ? (heads[place] ?? 0) - 1 : -1;
    }
  }

  private findHashed(length: number): void {
    const { heads, keys, probed, found } = this;
    if (this.hashes.length < length) this.hashes = new Int32Array(length);
    const { hashes } = this;
    hashKeys(probed, 0, length, hashes);
    const mask = heads.length - 1;
    if (keys.length === 2) {
      this.findPairs(length);
      return;
    }
    for (let i = 0; i < length; i++) {
      let place = hashes[i]! & mask;
      let head = heads[place]!;
      // A NaN equals nothing, so that a NULL comes to the end of its places.
      while (head !== 0 && !equals(keys, head - 1, probed, i)) {
        place = (place + 1) & mask;
        head = heads[place]!;
      }
      found[i] = head - 1;
    }
  }

  /** `findHashed` for two keys. */
  private findPairs(length: number): void {
    const { heads, found, hashes } = this;
    const [first, second] = this.keys as [Float64Array, Float64Array];
    const [a, b] = this.probed as [Float64Array, Float64Array];
    const mask = heads.length - 1;
    for (let i = 0; i < length; i++) {
      let place = hashes[i]! & mask;
      let head = heads[place]!;
      while (head !== 0 && (first[head - 1] !== a[i] || second[head - 1] !== b[i])) {
        place = (place + 1) & mask;
        head = heads[place]!;
      }
      found[i] = head - 1;
    }
  }

  private reserve(bytes: number): void {
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }
}

function hasNull(keys: readonly Float64Array[], row: number): boolean {
  for (let k = 0; k < keys.length; k++) if (Number.isNaN(keys[k]![row]!)) return true;
  return false;
}

function equals(a: readonly Float64Array[], i: number, b: readonly Float64Array[], j: number): boolean {
  for (let k = 0; k < a.length; k++) if (a[k]![i] !== b[k]![j]) return false;
  return true;
}

export class MapTable implements JoinTable {
  bytes = 0;
  nexts = new Int32Array(64);
  private rows = 0;
  /** First row of each key's chain. */
  private readonly heads = new Map<HashKey | null, number>();
  /** Per head: the last row of its chain. */
  private tails = new Int32Array(64);
  private found = new Int32Array(0);

  constructor(
    private readonly buildKeys: readonly JoinKey[],
    private readonly probeKeys: readonly JoinKey[],
    private readonly buildKeyOf: RowKeyOf,
    private readonly probeKeyOf: RowKeyOf,
    private readonly context: ExecContext,
  ) {}

  add(chunk: Chunk): boolean {
    const { heads, rows } = this;
    const { length } = chunk;
    if (this.nexts.length < rows + length) {
      this.nexts = grownTo(this.nexts, Math.max(rows + length, 2 * rows));
      this.tails = grownTo(this.tails, this.nexts.length);
    }
    const { nexts, tails } = this;
    const keys = this.valuesOf(this.buildKeys, chunk);
    let bytes = 8 * length;
    for (let i = 0; i < length; i++) {
      const row = rows + i;
      nexts[row] = -1;
      tails[row] = row;
      if (anyNull(keys, i)) continue;
      const key = this.buildKeyOf(keys, i);
      const head = heads.get(key);
      if (head === undefined) {
        heads.set(key, row);
        bytes += SET_ENTRY_BYTES + bytesOf(key);
      } else {
        nexts[tails[head]!] = row;
        tails[head] = row;
      }
    }
    this.rows += length;
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
    return true;
  }

  finish(): boolean {
    return true;
  }

  keySets(): readonly null[] {
    return [];
  }

  probe(chunk: Chunk): Int32Array {
    const { heads } = this;
    if (this.found.length < chunk.length) this.found = new Int32Array(chunk.length);
    const { found } = this;
    const keys = this.valuesOf(this.probeKeys, chunk);
    for (let i = 0; i < chunk.length; i++) {
      found[i] = anyNull(keys, i) ? -1 : (heads.get(this.probeKeyOf(keys, i)) ?? -1);
    }
    return found;
  }

  release(): void {
    this.heads.clear();
    this.context.statement.release(this.bytes);
    this.bytes = 0;
  }

  private valuesOf(keys: readonly JoinKey[], chunk: Chunk): readonly ArrayLike<Value>[] {
    return keys.map((key) => key.evaluate(chunk.only(key.slots), this.context, []));
  }
}

function grownTo(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const grown = new Int32Array(length);
  grown.set(array);
  return grown;
}

function anyNull(keys: readonly ArrayLike<Value>[], row: number): boolean {
  for (let k = 0; k < keys.length; k++) if (keys[k]![row] === null) return true;
  return false;
}
