/** The parameters of a vector graph, as its owner and its saved form name them. */

import { sqlError } from "../protocol/errors.js";
import { INDEXED_BITS_MAX, VECTOR_DIMENSIONS_MAX } from "../protocol/limits.js";
import { BIT_METRICS, type MetricFacts, VECTOR_METRICS, type VectorMetric } from "../values/vector-metric.js";
import type { GraphModule } from "./graph-module.js";
import type { Originals } from "./rank-originals.js";

/**
 * What the walk measures. f32: the vectors themselves; int8: a quarter of that, with a scale per vector; binary: the
 * signs, for vectors whose elements lie around zero. The two latter sort what the walk found by the exact distance.
 * bits: the vectors themselves, of zeros and ones.
 */
export type VectorStorage = "f32" | "int8" | "binary" | "bits";

/** In the order of the module's constants (wasm/layout.ts), which saved graphs hold. */
export const STORAGES: readonly VectorStorage[] = ["f32", "int8", "binary", "bits"];

/** So many are measured in the time of one number. */
const BITS_AT_ONCE = 32;

export function dimensionsMax(storage: VectorStorage): number {
  return storage === "bits" ? INDEXED_BITS_MAX : VECTOR_DIMENSIONS_MAX;
}

/** To measure a vector takes the time of so many numbers. */
export function timeOfOne(dimensions: number, storage: VectorStorage): number {
  return storage === "bits" ? Math.ceil(dimensions / BITS_AT_ONCE) : dimensions;
}

/** The most that `k` and `ef` of a search may be. */
export const EF_MAX = 16_384;

export interface VectorGraphOptions {
  /** 1 to 16,000; of bits 64,000. */
  readonly dimensions: number;
  readonly metric: VectorMetric;
  /** Links that a node chooses per layer, 2 to 128; layer 0 has room for twice as many. Default 16. */
  readonly m?: number;
  /** Candidates among which links are chosen, `m` to 2,000. Default 100. */
  readonly efConstruction?: number;
  readonly storage?: VectorStorage;
  /** Levels of nodes follow from it: same calls, same graph. 32 bits, default 1. */
  readonly seed?: number;
  /** `add` refuses beyond this many bytes. Default and maximum: 4 GiB. */
  readonly bytesMax?: number;
  /**
   * int8 and binary only: the vectors in slots, as added. With it the graph keeps codes alone and asks for the vectors
   * that it compares exactly; without it it keeps the float32 vectors beside the codes.
   */
  readonly originals?: Originals;
  /** Numbers that searches measure in one go, where they may take turns (LongSearch). Default: a millisecond's. */
  readonly onceNumbers?: number;
}

/** The parameters that a saved graph holds. */
export interface GraphParameters {
  readonly dimensions: number;
  readonly metric: VectorMetric;
  readonly storage: VectorStorage;
  readonly m: number;
  readonly efConstruction: number;
  readonly keepsOriginals: boolean;
}

/** Codes of such a storage are the vectors themselves. */
export function isWhole(storage: VectorStorage): boolean {
  return storage === "f32" || storage === "bits";
}

/** Tells a module what its graph is made with. */
export function configure(module: GraphModule, parameters: GraphParameters, bytesMax: number): void {
  const { metric, storage, dimensions, m, efConstruction, keepsOriginals } = parameters;
  const { wasm } = VECTOR_METRICS[metric];
  const keeps = keepsOriginals ? 1 : 0;
  module.configure(wasm, STORAGES.indexOf(storage), dimensions, m, efConstruction, keeps, bytesMax);
}

/** @throws DbError 22023 for a parameter out of its range. */
export function inRange(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw sqlError("22023", `${name} of a vector index must be a whole number from ${least} to ${most}, not ${value}`);
}

/** @throws DbError 22023 for one that is unknown, or does not measure what is stored. */
export function metricFor(name: VectorMetric, storage: VectorStorage): MetricFacts {
  const metric = VECTOR_METRICS[name];
  if (metric === undefined) throw sqlError("22023", `unknown vector metric "${name}"`);
  if (!STORAGES.includes(storage)) throw sqlError("22023", `unknown vector storage "${storage}"`);
  const fits = storage === "bits" ? BIT_METRICS.some((each) => each.metric === name) : name !== "jaccard";
  if (!fits) throw sqlError("22023", `vectors stored as ${storage} are not measured by the metric ${name}`);
  return metric;
}

/** @throws DbError 22000 for an element that is not. */
export function checkFinite(vector: Float32Array): void {
  let differences = 0;
  for (let i = 0; i < vector.length; i++) differences += vector[i]! - vector[i]!;
  if (differences !== 0) {
    const what = vector.some(Number.isNaN) ? "NaN" : "infinite value";
    throw sqlError("22000", `${what} not allowed in vector`);
  }
}
