/** How long the lists are in which exact searches by codes keep the nearest. Called by vector-graph.ts. */
import { EF_MAX } from "./graph-parameters.js";

/** Per vector that is wanted, beside many that are, and for those within a radius. */
const BOUNDED_FACTOR = 4;
export const BOUNDED_MIN = 64;
const BOUNDED_SPARE = 1024;
const BOUNDED_NEAR = 2048;

/** Of the first list of a search for the nearest `k`, or for those within a radius; it has at least `least` places. */
export function firstPool(k: number, least: number, isWithin: boolean): number {
  const usual = Math.max(BOUNDED_MIN, Math.min(BOUNDED_FACTOR * k, k + BOUNDED_SPARE));
  return Math.min(EF_MAX, Math.max(isWithin ? Math.min(usual, BOUNDED_NEAR) : usual, least));
}
