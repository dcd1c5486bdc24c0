/**
 * Keys that are numbers, in typed arrays: which types' values are such, their hash, and group numbers by them. Used by
 * hash joins and aggregation, which fall back to Maps for other types.
 */
import type { SqlType, Value } from "../../values/values.js";

const NUMBERS = new Set(["int2", "int4", "int8", "oid", "date", "time", "timestamp", "timestamptz"]);

/** Whether values of these types are numbers and never NaN, which stands for NULL here (but int8 beyond 2^53 is not). */
export function areNumbers(types: readonly SqlType[]): boolean {
  return types.every(({ name }) => NUMBERS.has(name));
}

/** Writes numbers into `out`, NaN for NULL. False when one is a bigint; NaN for it, too. */
export function loadKeys(values: ArrayLike<Value>, count: number, out: Float64Array): boolean {
  let areAll = true;
  for (let i = 0; i < count; i++) {
    const value = values[i];
    out[i] = typeof value === "number" ? value : Number.NaN;
    if (typeof value === "bigint") areAll = false;
  }
  return areAll;
}

/** Hashes of the rows `from … from + count − 1` of keys, into `hashes[0 … count)`. */
export function hashKeys(keys: readonly Float64Array[], from: number, count: number, hashes: Int32Array): void {
  hashes.fill(0, 0, count);
  for (const numbers of keys) {
    for (let i = 0; i < count; i++) {
      const number = numbers[from + i]!;
      const low = number | 0;
      let hash = Math.imul(hashes[i]! ^ low, 0x9e3779b1);
      if (low !== number) hash = Math.imul(hash ^ (number / 4294967296), 0x85ebca6b);
      hashes[i] = hash ^ (hash >>> 15);
    }
  }
}

/** Places of the former table that are copied for each group that comes. */
const COPIED_PER_GROUP = 8;

/**
 * Groups by keys that are numbers, numbered in the order of their first rows. NULLs are equal to each other.
 *
 * A table that is half full is followed by one of four times its size, which is filled bit by bit as groups come: to fill
 * it at once would take milliseconds. Until then groups are looked for in both.
 */
export class NumberGroups {
  private readonly keys: Float64Array[];
  /** By group. */
  private keyHashes = new Int32Array(32);
  private readonly loaded: Float64Array[];
  private hashes = new Int32Array(0);
  /** Group numbers plus one by hash, with open addressing; 0 for none. */
  private places = new Int32Array(64);
  /** The table before, and how many of its places have been copied. */
  private former: Int32Array | null = null;
  private copied = 0;
  private count = 0;

  constructor(keyCount: number) {
    this.keys = Array.from({ length: keyCount }, () => new Float64Array(32));
    this.loaded = Array.from({ length: keyCount }, () => new Float64Array(0));
  }

  /** Takes the keys of some rows, one list per key. False when one is a bigint: it cannot be found here. */
  load(values: readonly ArrayLike<Value>[], count: number): boolean {
    if (this.hashes.length < count) {
      this.hashes = new Int32Array(count);
      for (let k = 0; k < this.loaded.length; k++) this.loaded[k] = new Float64Array(count);
    }
    for (let k = 0; k < this.loaded.length; k++) if (!loadKeys(values[k]!, count, this.loaded[k]!)) return false;
    hashKeys(this.loaded, 0, count, this.hashes);
    return true;
  }

  /** The group of a loaded row; −1 when there is none yet. */
  find(row: number): number {
    const group = this.groupAt(this.places, row);
    return group >= 0 || this.former === null ? group : this.groupAt(this.former, row);
  }

  /** Writes the groups of the first `count` loaded rows into `out`; `make` is told of the row of each new group. */
  assign(count: number, out: Int32Array, make: (row: number) => void): void {
    for (let row = 0; row < count; row++) {
      const group = this.find(row);
      if (group >= 0) out[row] = group;
      else {
        out[row] = this.count;
        this.add(row);
        make(row);
      }
    }
  }

  /** Keys of the groups `from … to − 1`, by the number of the key. */
  valuesOf(key: number, from: number, to: number): Value[] {
    const numbers = this.keys[key]!;
    const values = new Array<Value>(to - from);
    for (let group = from; group < to; group++) {
      const number = numbers[group]!;
      values[group - from] = Number.isNaN(number) ? null : number;
    }
    return values;
  }

  private groupAt(places: Int32Array, row: number): number {
    const mask = places.length - 1;
    let place = this.hashes[row]! & mask;
    for (;;) {
      const group = places[place]! - 1;
      if (group < 0 || this.equals(group, row)) return group;
      place = (place + 1) & mask;
    }
  }

  private equals(group: number, row: number): boolean {
    const { keys, loaded } = this;
    for (let k = 0; k < keys.length; k++) {
      const a = keys[k]![group]!;
      const b = loaded[k]![row]!;
      if (a !== b && !(Number.isNaN(a) && Number.isNaN(b))) return false;
    }
    return true;
  }

  private add(row: number): void {
    const group = this.count++;
    for (let k = 0; k < this.keys.length; k++) {
      this.keys[k] = withRoomFor(this.keys[k]!, group);
      this.keys[k]![group] = this.loaded[k]![row]!;
    }
    this.keyHashes = withRoomFor(this.keyHashes, group);
    this.keyHashes[group] = this.hashes[row]!;
    this.place(group);
    if (this.former !== null) this.copySome(this.former);
    if (2 * this.count < this.places.length) return;
    this.former = this.places;
    this.copied = 0;
    this.places = new Int32Array(4 * this.former.length);
  }

  /** Puts a group that is not there into the table. */
  private place(group: number): void {
    const { places } = this;
    const mask = places.length - 1;
    let place = this.keyHashes[group]! & mask;
    while (places[place] !== 0) place = (place + 1) & mask;
    places[place] = group + 1;
  }

  private copySome(former: Int32Array): void {
    const until = Math.min(this.copied + COPIED_PER_GROUP, former.length);
    for (; this.copied < until; this.copied++) {
      const group = former[this.copied]! - 1;
      if (group >= 0) this.place(group);
    }
    if (this.copied === former.length) this.former = null;
  }
}

function withRoomFor<A extends Float64Array | Int32Array>(array: A, index: number): A {
  if (index < array.length) return array;
  const grown = new (array.constructor as new (length: number) => A)(2 * array.length);
  grown.set(array);
  return grown;
}
