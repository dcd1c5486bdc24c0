/** The parameters of a vector graph, as its owner and its saved form name them. */

import { sqlError } from "../protocol/errors.js";
import type { VectorMetric } from "../values/vector-metric.js";

/**
 * What the walk measures. f32: the vectors themselves; int8: a quarter of that, with a scale per vector; binary: the
 * signs, for vectors whose elements lie around zero. The two latter sort what the walk found by the exact distance.
 */
export type VectorStorage = "f32" | "int8" | "binary";

/** In the order of the module's constants (wasm/layout.ts), which saved graphs hold. */
export const STORAGES: readonly VectorStorage[] = ["f32", "int8", "binary"];

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
