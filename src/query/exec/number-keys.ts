/**
 * Keys that are numbers, in typed arrays: which types have such keys, and their hash. Used by hash joins, which use
 * Maps for other types, and by group-keys.ts.
 */
import type { SqlType, Value } from "../../values/values.js";

const NUMBERS = new Set(["int2", "int4", "int8", "oid", "date", "time", "timestamp", "timestamptz"]);

/**
 * Whether values of these types are numbers and never NaN, which stands for NULL here (but bigints of int8 and
 * timestamps are not).
 */
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
  for (const numbers of keys) mixNumbers(numbers, from, count, hashes);
}

/** Mixes the numbers of those rows into their hashes. */
export function mixNumbers(numbers: Float64Array, from: number, count: number, hashes: Int32Array): void {
  for (let i = 0; i < count; i++) {
    const number = numbers[from + i]!;
    const low = number | 0;
    let hash = Math.imul(hashes[i]! ^ low, 0x9e3779b1);
    if (low !== number) hash = Math.imul(hash ^ (number / 4294967296), 0x85ebca6b);
    hashes[i] = hash ^ (hash >>> 15);
  }
}
