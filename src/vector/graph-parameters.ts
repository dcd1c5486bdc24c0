/** The parameters of a vector graph, as its owner and its saved form name them. */

import { sqlError } from "../protocol/errors.js";
import type { VectorMetric } from "../values/vector-metric.js";
import type { Originals } from "./rank-originals.js";

/**
 * What the walk measures. f32: the vectors themselves; int8: a quarter of that, with a scale per vector; binary: the
 * signs, for vectors whose elements lie around zero. The two latter sort what the walk found by the exact distance.
 */
export type VectorStorage = "f32" | "int8" | "binary";

/** In the order of the module's constants (wasm/layout.ts), which saved graphs hold. */
export const STORAGES: readonly VectorStorage[] = ["f32", "int8", "binary"];

/** The most that `k` and `ef` of a search may be. */
export const EF_MAX = 16_384;

export interface VectorGraphOptions {
  /** 1 to 16,000. */
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

/** @throws DbError 22023 for a parameter out of its range. */
export function inRange(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw sqlError("22023", `${name} of a vector index must be a whole number from ${least} to ${most}, not ${value}`);
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
