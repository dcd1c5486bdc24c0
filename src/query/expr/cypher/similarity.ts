/** How alike two nodes are, for patterns like `(a)-[:SIMILAR_TO > 0.5]-(b)`. */
import { VARIANT, type Value } from "../../../protocol/values.js";
import { Float, floatValue } from "../../../protocol/variant.js";
import type { ScalarFunction } from "../expr.js";

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

function similarity(a: Value, b: Value): Value {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return null;
  let product = 0;
  let squareA = 0;
  let squareB = 0;
  for (let i = 0; i < a.length; i++) {
    const x = numberOf(a[i]);
    const y = numberOf(b[i]);
    product += x * y;
    squareA += x * x;
    squareB += y * y;
  }
  const cosine = product / Math.sqrt(squareA * squareB);
  // What is no number, and a length of zero, make it NaN.
  if (Number.isNaN(cosine)) return null;
  return floatValue(Math.max(-1, Math.min(1, cosine))) as Value;
}

function numberOf(value: unknown): number {
  if (typeof value === "number") return value;
  if (value instanceof Float) return value.value;
  return typeof value === "bigint" ? Number(value) : Number.NaN;
}
