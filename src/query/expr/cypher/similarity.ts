/** Similarity of two nodes, for patterns like `(a)-[:SIMILAR_TO > 0.5]-(b)`. */

import { FLOAT8, VARIANT, type Value, VECTOR } from "../../../values/values.js";
import { doubleOf, floatValue, type Variant } from "../../../values/variant.js";
import { itemsOfVector } from "../../../values/vector-list.js";
import type { Expr, ScalarFunction } from "../expr.js";
import { OPERATORS } from "./operators.js";

/** The property that the relationship is about. */
export const EMBEDDING = "embedding";

/**
 * The cosine of the angle between two lists of numbers, from -1 to 1; null for anything else, for lists of different
 * lengths and for those of length zero.
 */
export const SIMILARITY: ScalarFunction = Object.freeze({
  name: "similarity",
  args: [VARIANT, VARIANT],
  returns: VARIANT,
  volatility: "immutable",
  strict: true,
  apply: similarity,
});

function similarity(first: Value, second: Value): Value {
  const [a, b] = [itemsOfVector(first as Variant), itemsOfVector(second as Variant)];
  if (a === undefined || b === undefined || a.length !== b.length) return null;
  let product = 0;
  let squareA = 0;
  let squareB = 0;
  for (let i = 0; i < a.length; i++) {
    const x = doubleOf(a[i]);
    const y = doubleOf(b[i]);
    product += x * y;
    squareA += x * x;
    squareB += y * y;
  }
  if (!hasDirection(squareA) || !hasDirection(squareB)) return null;
  const cosine = product / Math.sqrt(squareA) / Math.sqrt(squareB);
  return Number.isNaN(cosine) ? null : (floatValue(Math.max(-1, Math.min(1, cosine))) as Value);
}

/** What is no number makes the sum of squares NaN; of the shortest and the longest it is zero or infinite. */
function hasDirection(square: number): boolean {
  return square > 0 && square < Number.POSITIVE_INFINITY;
}

/** The vector of length 1 that points where the list does; null for what has no similarity to anything. */
export function directionOf(value: Value): Float32Array | null {
  const list = itemsOfVector(value as Variant);
  if (list === undefined) return null;
  const numbers = new Float64Array(list.length);
  let square = 0;
  for (let i = 0; i < list.length; i++) {
    const x = doubleOf(list[i]);
    numbers[i] = x;
    square += x * x;
  }
  if (!hasDirection(square)) return null;
  const length = Math.sqrt(square);
  const direction = new Float32Array(list.length);
  for (let i = 0; i < numbers.length; i++) direction[i] = numbers[i]! / length;
  return direction;
}

/** Single precision is wrong by less, in the sum of products of two directions. */
export const SIMILARITY_SLACK = 1e-5;

const DIRECTION_OF: ScalarFunction = Object.freeze({
  name: "direction",
  args: [VARIANT],
  returns: VECTOR,
  volatility: "immutable",
  strict: true,
  apply: directionOf,
});

/** An upper bound of the cosine distance at the threshold's similarity. */
const RADIUS_OF: ScalarFunction = Object.freeze({
  name: "radius",
  args: [VARIANT],
  returns: FLOAT8,
  volatility: "immutable",
  strict: true,
  apply: (threshold: Value) => {
    const least = thresholdOf(threshold);
    return least === null ? null : 1 - least + SIMILARITY_SLACK;
  },
});

/** Null for what no number is compared with. */
export function thresholdOf(value: Value): number | null {
  const least = doubleOf(value);
  return Number.isNaN(least) ? null : least;
}

/** `similarity(a, b) > threshold` (or >=). */
export interface SimilarityCondition {
  readonly sides: readonly [Expr, Expr];
  readonly threshold: Expr;
}

/** Null for any other condition. */
export function similarityCondition(condition: Expr): SimilarityCondition | null {
  if (condition.kind !== "call" || (condition.fn !== OPERATORS[">"] && condition.fn !== OPERATORS[">="])) return null;
  const [score, threshold] = condition.args as [Expr, Expr];
  if (score.kind !== "call" || score.fn !== SIMILARITY) return null;
  return { sides: score.args as [Expr, Expr], threshold };
}

/** A vector of an embedding, and the radius around it in which others are as similar as the threshold says. */
export function similaritySearch(embedding: Expr, threshold: Expr): { readonly query: Expr; readonly within: Expr } {
  const query: Expr = { kind: "call", type: VECTOR, fn: DIRECTION_OF, args: [embedding] };
  return { query, within: { kind: "call", type: FLOAT8, fn: RADIUS_OF, args: [threshold] } };
}
