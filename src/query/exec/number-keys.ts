/**
 * Keys that are numbers, in typed arrays: which types' values are such, their hash, and group numbers by them. Used by
 * hash joins and aggregation, which fall back to Maps for other types.
 */
import type { SqlType, Value } from "../../protocol/values.js";

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

/** Groups by keys that are numbers, numbered in the order of their first rows. NULLs are equal to each other. */
export class NumberGroups {
  private readonly keys: Float64Array[];
  private readonly loaded: Float64Array[];
  private hashes = new Int32Array(0);
  /** Group numbers plus one by hash, with open addressing; 0 for none. */
  private places = new Int32Array(64);
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
    return this.places[this.placeOf(row)]! - 1;
  }

  /** Writes the groups of the first `count` loaded rows into `out`; `make` is told of the row of each new group. */
  assign(count: number, out: Int32Array, make: (row: number) => void): void {
    for (let row = 0; row < count; row++) {
      const place = this.placeOf(row);
      const group = this.places[place]! - 1;
      if (group >= 0) out[row] = group;
      else {
        out[row] = this.count;
        this.add(row, place);
        make(row);
      }
    }
  }

  /** Where the row's group is, or is to be. */
  private placeOf(row: number): number {
    const { places, hashes } = this;
    const mask = places.length - 1;
    let place = hashes[row]! & mask;
    for (;;) {
      const group = places[place]! - 1;
      if (group < 0 || this.equals(group, row)) return place;
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

  private add(row: number, place: number): void {
    const group = this.count++;
    for (let k = 0; k < this.keys.length; k++) {
      if (group === this.keys[k]!.length) {
        const grown = new Float64Array(2 * group);
        grown.set(this.keys[k]!);
        this.keys[k] = grown;
      }
      this.keys[k]![group] = this.loaded[k]![row]!;
    }
    this.places[place] = group + 1;
    if (2 * this.count >= this.places.length) this.grow();
  }

  private grow(): void {
    const places = new Int32Array(4 * this.places.length);
    const mask = places.length - 1;
    const hashes = new Int32Array(this.count);
    hashKeys(this.keys, 0, this.count, hashes);
    for (let group = 0; group < this.count; group++) {
      let place = hashes[group]! & mask;
      while (places[place] !== 0) place = (place + 1) & mask;
      places[place] = group + 1;
    }
    this.places = places;
  }
}
