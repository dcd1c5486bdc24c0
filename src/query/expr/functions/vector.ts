/** Vector distances and helpers, as the pgvector extension names them and as clients of this interface do. */
import { sqlError } from "../../../protocol/errors.js";
import { BIT, FLOAT8, INT4, type SqlType, VECTOR } from "../../../values/values.js";
import { norm, normalized } from "../../../values/vector-math.js";
import { METRIC_ENTRIES } from "../../../values/vector-metric.js";
import { checkDimensions, noDimension, vectorOf } from "../../../values/vector-text.js";
import type { ScalarFunction } from "../expr.js";
import { aliases, type FunctionFamily, family, fn, op } from "./define.js";

type Measure = (a: Float32Array, b: Float32Array) => number;

/** With the check that the two are equally long. */
const checked =
  (measure: Measure): Measure =>
  (a, b) => {
    if (a.length !== b.length) checkDimensions(a, b);
    return measure(a, b);
  };

/** Throws 22003 where single precision cannot hold a member; of a product also where nothing is left of it. */
function elementwise(operation: (x: number, y: number) => number, isProduct = false) {
  return (a: Float32Array, b: Float32Array) => {
    checkDimensions(a, b);
    return a.map((x, i) => {
      const y = b[i] as number;
      const result = Math.fround(operation(x, y));
      if (!Number.isFinite(result)) throw sqlError("22003", "value out of range: overflow");
      if (isProduct && result === 0 && x !== 0 && y !== 0) throw sqlError("22003", "value out of range: underflow");
      return result;
    });
  };
}

function concatenate(a: Float32Array, b: Float32Array): Float32Array {
  const whole = new Float32Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return vectorOf(VECTOR, whole);
}

function subvector(vector: Float32Array, start: number, count: number): Float32Array {
  const part = vector.slice(Math.max(start - 1, 0), Math.max(start - 1 + count, 0));
  if (part.length === 0) throw noDimension();
  return part;
}

/** A bit per member: whether it is above zero. */
const binaryQuantize = (vector: Float32Array) => Array.from(vector, (x) => (x > 0 ? "1" : "0")).join("");

const PAIR: readonly SqlType[] = [VECTOR, VECTOR];

/** One function under all its names. */
function measures(names: readonly string[], measure: Measure): readonly ScalarFunction[] {
  return names.length === 0 ? [] : aliases([...names], fn(names[0]!, PAIR, FLOAT8, checked(measure)));
}

const CONCATENATION = op("||", PAIR, VECTOR, concatenate);
const isVectorLike = ({ name, element }: SqlType) => name === "vector" || name === "unknown" || element !== null;

export const VECTOR_OPERATORS: readonly ScalarFunction[] = [
  ...METRIC_ENTRIES.map(([, { operator, distance }]) => op(operator, PAIR, FLOAT8, checked(distance))),
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
    elementwise((x, y) => x * y, true),
  ),
];

/** Two arrays make an array, though each would do as a vector. */
export const VECTOR_OPERATOR_FAMILIES: readonly FunctionFamily[] = [
  family("||", "(vector, vector) → vector", (types) =>
    types.length === 2 && types.some(({ name }) => name === "vector") && types.every(isVectorLike)
      ? CONCATENATION
      : null,
  ),
];

export const VECTOR_FUNCTIONS: readonly ScalarFunction[] = [
  ...METRIC_ENTRIES.flatMap(([, { distance, distanceFunctions, likeness }]) => [
    ...measures(distanceFunctions, distance),
    ...(likeness === undefined ? [] : measures(likeness.functions, likeness.of)),
  ]),
  fn("vector_dims", [VECTOR], INT4, (vector: Float32Array) => vector.length),
  fn("vector_norm", [VECTOR], FLOAT8, norm),
  fn("l2_norm", [VECTOR], FLOAT8, norm),
  fn("l2_normalize", [VECTOR], VECTOR, normalized),
  fn("subvector", [VECTOR, INT4, INT4], VECTOR, subvector),
  fn("binary_quantize", [VECTOR], BIT, binaryQuantize),
];
