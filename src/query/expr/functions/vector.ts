/** Vector distances and helpers, as the pgvector extension names them and as clients of this interface do. */
import { sqlError } from "../../../protocol/errors.js";
import { FLOAT8, INT4, type SqlType, VECTOR } from "../../../protocol/values.js";
import type { ScalarFunction } from "../expr.js";
import { aliases, fn, op } from "./define.js";

function check(a: Float32Array, b: Float32Array): void {
  if (a.length !== b.length) {
    throw sqlError("22000", `different vector dimensions ${a.length} and ${b.length}`);
  }
}

function innerProduct(a: Float32Array, b: Float32Array): number {
  check(a, b);
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function l2Distance(a: Float32Array, b: Float32Array): number {
  check(a, b);
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    sum += difference * difference;
  }
  return Math.sqrt(sum);
}

function l1Distance(a: Float32Array, b: Float32Array): number {
  check(a, b);
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += Math.abs((a[i] as number) - (b[i] as number));
  return sum;
}

/** NaN when one of the vectors has no length, as pgvector gives. */
function cosineSimilarity(a: Float32Array, b: Float32Array): number {
  check(a, b);
  let product = 0;
  let squareA = 0;
  let squareB = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] as number;
    const y = b[i] as number;
    product += x * y;
    squareA += x * x;
    squareB += y * y;
  }
  const similarity = product / Math.sqrt(squareA * squareB);
  return Math.min(Math.max(similarity, -1), 1);
}

const cosineDistance = (a: Float32Array, b: Float32Array) => 1 - cosineSimilarity(a, b);

function elementwise(operation: (x: number, y: number) => number) {
  return (a: Float32Array, b: Float32Array) => {
    check(a, b);
    return a.map((x, i) => {
      const result = Math.fround(operation(x, b[i] as number));
      if (!Number.isFinite(result)) throw sqlError("22003", "value out of range: overflow");
      return result;
    });
  };
}

const norm = (vector: Float32Array) => Math.sqrt(innerProduct(vector, vector));

function normalize(vector: Float32Array): Float32Array {
  const length = norm(vector);
  return length === 0 ? vector : vector.map((x) => x / length);
}

function subvector(vector: Float32Array, start: number, count: number): Float32Array {
  const part = vector.slice(Math.max(start - 1, 0), Math.max(start - 1 + count, 0));
  if (part.length === 0) throw sqlError("22000", "vector must have at least 1 dimension");
  return part;
}

const PAIR: readonly SqlType[] = [VECTOR, VECTOR];

export const VECTOR_OPERATORS: readonly ScalarFunction[] = [
  op("<->", PAIR, FLOAT8, l2Distance),
  op("<=>", PAIR, FLOAT8, cosineDistance),
  op("<#>", PAIR, FLOAT8, (a: Float32Array, b: Float32Array) => -innerProduct(a, b)),
  op("<+>", PAIR, FLOAT8, l1Distance),
  op(
    "+",
    PAIR,
    VECTOR,
    elementwise((x, y) => x + y),
  ),
  op(
    "-",
    PAIR,
    VECTOR,
    elementwise((x, y) => x - y),
  ),
  op(
    "*",
    PAIR,
    VECTOR,
    elementwise((x, y) => x * y),
  ),
];

export const VECTOR_FUNCTIONS: readonly ScalarFunction[] = [
  ...aliases(["l2_distance", "euclidean_distance"], fn("l2_distance", PAIR, FLOAT8, l2Distance)),
  fn("l1_distance", PAIR, FLOAT8, l1Distance),
  fn("cosine_distance", PAIR, FLOAT8, cosineDistance),
  fn("cosine_similarity", PAIR, FLOAT8, cosineSimilarity),
  ...aliases(["inner_product", "dot_product"], fn("inner_product", PAIR, FLOAT8, innerProduct)),
  fn("vector_dims", [VECTOR], INT4, (vector: Float32Array) => vector.length),
  fn("vector_norm", [VECTOR], FLOAT8, norm),
  fn("l2_norm", [VECTOR], FLOAT8, norm),
  fn("l2_normalize", [VECTOR], VECTOR, normalize),
  fn("subvector", [VECTOR, INT4, INT4], VECTOR, subvector),
];
