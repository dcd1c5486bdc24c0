/** What a search in a graph finds. */
import type { Ranked } from "./rank-originals.js";

/** Nearest first; equally near ones by slot. */
export interface Found {
  readonly slots: Uint32Array;
  readonly distances: Float64Array;
  /** False when a walk found fewer than `k` although the filter lets more pass: the caller then asks `exact`. */
  readonly complete: boolean;
}

/** Of what was measured, nearest first. */
export function foundOf(ranked: readonly Ranked[], ofMeasured: (measured: number) => number, complete: boolean): Found {
  return {
    slots: Uint32Array.from(ranked, ({ slot }) => slot),
    distances: Float64Array.from(ranked, ({ distance }) => ofMeasured(distance)),
    complete,
  };
}

export const NOTHING: Found = { slots: new Uint32Array(0), distances: new Float64Array(0), complete: true };

export function within(found: Found, radius: number, limit: number): Found {
  let count = 0;
  while (count < found.slots.length && count < limit && found.distances[count]! <= radius) count++;
  return { ...found, slots: found.slots.slice(0, count), distances: found.distances.slice(0, count) };
}
