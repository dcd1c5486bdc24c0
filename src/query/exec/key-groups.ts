/**
 * Groups by keys in typed arrays (group-keys.ts), numbered in the order of their first rows. NULLs are equal to each
 * other. Used by aggregation and DISTINCT, which use Maps for keys of other types.
 *
 * A table that is half full is followed by one of twice its size, which is filled bit by bit as groups come: to fill
 * it at once would take milliseconds. Until then groups are looked for in both.
 */
import type { SqlType, Value } from "../../values/values.js";
import { type GroupKeys, groupKeysOf, NumberKeys } from "./group-keys.js";
import type { Chunk } from "./segments/chunk.js";
import type { Column } from "./segments/column.js";

/** Places of the former table that are copied for each group that comes. */
const COPIED_PER_GROUP = 16;
/** Of a group in the table, whose places are twice to four times as many as groups. */
const GROUP_BYTES = 32;

/** Rows that are looked at before groups are found by an index, and part of them that must be of different groups. */
const INDEXED_FROM = 1024;
const DIFFERENT_SHARE = 0.5;
/** Numbers beside those that came first, as part of their span, that the index has places for as well. */
const INDEX_MARGIN = 0.25;

/** Part of a statement's memory that an index may take. */
const INDEX_SHARE = 1 / 32;

export class KeyGroups {
  count = 0;
  /** Rows of the groups that the last call of `assign` made. */
  made = new Int32Array(64);
  madeCount = 0;
  private readonly keys: readonly GroupKeys[];
  private hashes = new Int32Array(0);
  /** By place, with open addressing: a group's number plus one, 0 for none, and before it the group's hash. */
  private places = new Int32Array(2 * 64);
  /** The table before, and how many of its places have been copied. */
  private former: Int32Array | null = null;
  private copied = 0;

  /** Of a single key that is a number: group numbers plus one by the number, above `low`. Others are in `places`. */
  private readonly single: NumberKeys | null;
  private index: Int32Array | null = null;
  private low = 0;
  private mayIndex: boolean;

  private readonly indexBytesMax: number;

  constructor(types: readonly SqlType[], memoryBytesMax: number) {
    this.indexBytesMax = memoryBytesMax * INDEX_SHARE;
    this.keys = types.map(groupKeysOf);
    const [first] = this.keys;
    this.single = this.keys.length === 1 && first instanceof NumberKeys ? first : null;
    this.mayIndex = this.single !== null;
  }

  /** Takes the keys of some rows, one list per key. False when one cannot be found here. */
  load(values: readonly ArrayLike<Value>[], count: number): boolean {
    for (let k = 0; k < this.keys.length; k++) if (!this.keys[k]!.loadValues(values[k]!, count)) return false;
    this.hashLoaded(count);
    return true;
  }

  /** The same of rows of a chunk, whose columns in these slots are the keys. */
  loadChunk(chunk: Chunk, slots: readonly number[]): boolean {
    const { vectors, selections, length } = chunk;
    for (let k = 0; k < this.keys.length; k++) {
      const slot = slots[k]!;
      if (!this.keys[k]!.loadColumn(vectors[slot]!, selections[slot]!, length)) return false;
    }
    this.hashLoaded(length);
    return true;
  }

  /** Whether a part of a loaded row's key is NULL. */
  isNull(key: number, row: number): boolean {
    return this.keys[key]!.isNull(row);
  }

  /** A part of the keys that the loaded row's one is in, 0 to 31; by another division for each depth. */
  partitionOf(row: number, depth: number): number {
    return Math.imul(this.hashes[row]! ^ Math.imul(depth + 1, 0x9e3779b1), 0x85ebca6b) >>> 27;
  }

  /** The group of a loaded row; −1 when there is none yet. */
  find(row: number): number {
    const { index } = this;
    if (index !== null) {
      const place = this.single!.loaded[row]! - this.low;
      if (place >= 0 && place < index.length) return index[place]! - 1;
    }
    const group = this.groupAt(this.places, row);
    return group >= 0 || this.former === null ? group : this.groupAt(this.former, row);
  }

  /**
   * Writes the groups of the first `count` loaded rows into `out`, made if need be. Answers the bytes of those made.
   */
  assign(count: number, out: Int32Array): number {
    if (this.made.length < count) this.made = new Int32Array(count);
    this.madeCount = 0;
    let bytes = 0;
    for (let row = 0; row < count; row++) {
      let group = this.find(row);
      if (group < 0) {
        group = this.count;
        this.made[this.madeCount++] = row;
        bytes += this.add(row);
      }
      out[row] = group;
    }
    return this.mayIndex && count >= INDEXED_FROM ? bytes + this.makeIndex(count) : bytes;
  }

  /** Keys of the groups `from … to − 1`, by the number of the key. */
  valuesOf(key: number, from: number, to: number): Value[] {
    return this.keys[key]!.valuesOf(from, to);
  }

  columnOf(key: number, from: number, to: number): Column {
    return this.keys[key]!.columnOf(from, to);
  }

  private hashLoaded(count: number): void {
    if (this.hashes.length < count) this.hashes = new Int32Array(count);
    this.hashes.fill(0, 0, count);
    for (const keys of this.keys) keys.hash(this.hashes, count);
  }

  private groupAt(places: Int32Array, row: number): number {
    const mask = places.length - 1;
    const hash = this.hashes[row]!;
    let place = (2 * hash) & mask;
    for (;;) {
      const group = places[place + 1]! - 1;
      if (group < 0 || (places[place] === hash && this.equals(group, row))) return group;
      place = (place + 2) & mask;
    }
  }

  private equals(group: number, row: number): boolean {
    const { keys } = this;
    for (let k = 0; k < keys.length; k++) if (!keys[k]!.equals(group, row)) return false;
    return true;
  }

  private add(row: number): number {
    const group = this.count++;
    let bytes = GROUP_BYTES;
    for (const keys of this.keys) bytes += keys.add(group, row);
    if (this.isIndexed(row)) {
      this.index![this.single!.loaded[row]! - this.low] = group + 1;
      return bytes;
    }
    this.place(group, this.hashes[row]!);
    if (this.former !== null) this.copySome(this.former);
    if (4 * this.count < this.places.length) return bytes;
    this.former = this.places;
    this.copied = 0;
    this.places = new Int32Array(2 * this.former.length);
    return bytes;
  }

  private isIndexed(row: number): boolean {
    if (this.index === null) return false;
    const place = this.single!.loaded[row]! - this.low;
    return place >= 0 && place < this.index.length;
  }

  /**
   * Where the first rows have many different numbers that lie close together, an index of those and some beside them
   * stands in for hashing. Answers its bytes.
   */
  private makeIndex(count: number): number {
    this.mayIndex = false;
    if (this.madeCount < count * DIFFERENT_SHARE) return 0;
    let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const { loaded, keys } = this.single!;
    for (let row = 0; row < count; row++) {
      if (loaded[row]! < min) min = loaded[row]!;
      if (loaded[row]! > max) max = loaded[row]!;
    }
    const margin = Math.ceil((max - min) * INDEX_MARGIN);
    const size = max - min + 1 + 2 * margin;
    // False where a number is infinite, or there is none.
    if (!(size > 0 && 4 * size <= this.indexBytesMax)) return 0;
    this.low = min - margin;
    this.index = new Int32Array(size);
    for (let group = 0; group < this.count; group++) {
      const place = keys[group]! - this.low;
      if (place >= 0 && place < size) this.index[place] = group + 1;
    }
    return this.index.byteLength;
  }

  /** Puts a group that is not there into the table. */
  private place(group: number, hash: number): void {
    const { places } = this;
    const mask = places.length - 1;
    let place = (2 * hash) & mask;
    while (places[place + 1] !== 0) place = (place + 2) & mask;
    places[place] = hash;
    places[place + 1] = group + 1;
  }

  private copySome(former: Int32Array): void {
    const until = Math.min(this.copied + 2 * COPIED_PER_GROUP, former.length);
    for (; this.copied < until; this.copied += 2) {
      const group = former[this.copied + 1]! - 1;
      if (group >= 0) this.place(group, former[this.copied]!);
    }
    if (this.copied === former.length) this.former = null;
  }
}
