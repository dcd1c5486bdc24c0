/** How alike two lists of numbers are, as Cypher's dialects that search vectors have it. */
import { cypherError } from "../../../values/cypher-error.js";
import { floatValue, type Variant } from "../../../values/variant.js";
import { isList } from "../../../values/variant-format.js";
import type { ScalarFunction } from "../expr.js";
import { numberOf } from "../variant-order.js";
import { isNumber } from "./arithmetic.js";
import { cypherFn, wrongArgument } from "./define.js";

function vectorOf(name: string, value: Variant): Float64Array {
  if (!isList(value)) throw wrongArgument(name, "lists of numbers", value);
  return Float64Array.from(value, (item) => {
    if (isNumber(item)) return Number(numberOf(item));
    throw wrongArgument(name, "lists of numbers", item);
  });
}

function similarity(name: string, measure: (a: Float64Array, b: Float64Array) => number): ScalarFunction {
  const called = `${name}()`;
  return cypherFn(name, 2, (first: Variant, second: Variant) => {
    const [a, b] = [vectorOf(called, first), vectorOf(called, second)];
    if (a.length === b.length && a.length > 0) return floatValue(measure(a, b));
    throw cypherError("ArgumentError", "InvalidArgumentValue", `${called} takes two vectors of one length`);
  });
}

/** From 0 (opposite) to 1 (the same direction); NaN for a vector of zeros. */
function cosine(a: Float64Array, b: Float64Array): number {
  let [dot, ofA, ofB] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!;
    ofA += a[i]! * a[i]!;
    ofB += b[i]! * b[i]!;
  }
  return (1 + Math.max(-1, Math.min(1, dot / Math.sqrt(ofA * ofB)))) / 2;
}

/** 1 over 1 plus the square of the distance. */
function euclidean(a: Float64Array, b: Float64Array): number {
  let square = 0;
  for (let i = 0; i < a.length; i++) square += (a[i]! - b[i]!) ** 2;
  return 1 / (1 + square);
}

export const VECTOR_FUNCTIONS: readonly ScalarFunction[] = [
  similarity("vector.similarity.cosine", cosine),
  similarity("vector.similarity.euclidean", euclidean),
];
