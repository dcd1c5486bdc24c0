/** Vectors and truths for the tests of the vector index: clusters from a seed, distances by the definition. */
import { METRIC_ENTRIES, type VectorMetric } from "../../src/values/vector-metric.js";
import type { Found } from "../../src/vector/found.js";
import { randomFrom } from "../fuzz/random.js";

/** What vectors of any numbers can be compared by, and stored as. */
export const METRICS: readonly VectorMetric[] = METRIC_ENTRIES.map(([metric]) => metric);
export const STORAGES = ["f32", "int8", "binary"] as const;

/** Vectors around random centres, so that near ones are nearer than chance. */
export function clusteredVectors(count: number, dimensions: number, seed: number, clusters = 30): Float32Array[] {
  const random = randomFrom(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const centres = Array.from({ length: clusters }, () => Float32Array.from({ length: dimensions }, normal));
  return Array.from({ length: count }, () => {
    const centre = centres[Math.floor(random() * clusters)]!;
    return centre.map((x) => x + 0.6 * normal());
  });
}

/** In double precision; NaN where cosine has none. */
export function distanceOf(metric: VectorMetric, a: Float32Array, b: Float32Array): number {
  let product = 0;
  let squaredA = 0;
  let squaredB = 0;
  let squared = 0;
  let gaps = 0;
  for (let i = 0; i < a.length; i++) {
    product += a[i]! * b[i]!;
    squaredA += a[i]! ** 2;
    squaredB += b[i]! ** 2;
    squared += (a[i]! - b[i]!) ** 2;
    gaps += Math.abs(a[i]! - b[i]!);
  }
  if (metric === "l1") return gaps;
  if (metric === "l2") return Math.sqrt(squared);
  return metric === "dot" ? -product : 1 - product / Math.sqrt(squaredA * squaredB);
}

/** Share of the true nearest that were found, over all queries. */
export function recallOf(found: readonly Found[], truth: readonly Found[]): number {
  let hits = 0;
  let wanted = 0;
  for (const [i, { slots }] of truth.entries()) {
    const true_ = new Set(slots);
    wanted += true_.size;
    for (const slot of found[i]!.slots) if (true_.has(slot)) hits++;
  }
  return hits / wanted;
}

export function bitmapOf(slots: Iterable<number>, slotCount: number): Uint32Array {
  const bits = new Uint32Array((slotCount + 31) >>> 5);
  for (const slot of slots) bits[slot >>> 5]! |= 1 << (slot & 31);
  return bits;
}
