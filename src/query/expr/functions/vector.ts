/** Vector distances and helpers, as the pgvector extension names them and as clients of this interface do. */
import { sqlError } from "../../../protocol/errors.js";
import { asHalves, roundHalf } from "../../../values/half-vector.js";
import { BIT, FLOAT8, HALFVEC, INT4, type SqlType, VECTOR } from "../../../values/values.js";
import { compareVectors, norm, normalized } from "../../../values/vector-math.js";
import { METRIC_ENTRIES } from "../../../values/vector-metric.js";
import { checkDimensions, noDimension, vectorOf } from "../../../values/vector-text.js";
import type { ScalarFunction } from "../expr.js";
import { aliases, type FunctionFamily, family, fn, op } from "./define.js";

type Measure = (a: Float32Array, b: Float32Array) => number;

/** The types that hold numbers, and how each rounds one; what is too large for it is infinite. */
const ROUNDINGS = new Map<SqlType, (x: number) => number>([
  [VECTOR, Math.fround],
  [HALFVEC, roundHalf],
]);

/** With the check that the two are equally long. */
const checked =
  (measure: Measure, { name }: SqlType): Measure =>
  (a, b) => {
    if (a.length !== b.length) checkDimensions(a, b, name);
    return measure(a, b);
  };

/** Throws 22003 where the type cannot hold a member; of a product also where nothing is left of it. */
function elementwise(type: SqlType, operation: (x: number, y: number) => number, isProduct = false) {
  const round = ROUNDINGS.get(type)!;
  return (a: Float32Array, b: Float32Array) => {
    checkDimensions(a, b, type.name);
    return a.map((x, i) => {
      const y = b[i] as number;
      const result = round(operation(x, y));
      if (!Number.isFinite(result)) throw sqlError("22003", "value out of range: overflow");
      if (isProduct && result === 0 && x !== 0 && y !== 0) throw sqlError("22003", "value out of range: underflow");
      return result;
    });
  };
}

const concatenate = (type: SqlType) => (a: Float32Array, b: Float32Array) => {
  const whole = new Float32Array(a.length + b.length);
  whole.set(a);
  whole.set(b, a.length);
  return vectorOf(type, whole);
};

const subvector = (type: SqlType) => (vector: Float32Array, start: number, count: number) => {
  const part = vector.slice(Math.max(start - 1, 0), Math.max(start - 1 + count, 0));
  if (part.length === 0) throw noDimension(type.name);
  return part;
};

/** A bit per member: whether it is above zero. */
const binaryQuantize = (vector: Float32Array) => Array.from(vector, (x) => (x > 0 ? "1" : "0")).join("");

const pairOf = (type: SqlType): readonly SqlType[] => [type, type];

/** One function under all its names. */
function measures(type: SqlType, names: readonly string[], measure: Measure): readonly ScalarFunction[] {
  const [name] = names;
  return name === undefined ? [] : aliases([...names], fn(name, pairOf(type), FLOAT8, checked(measure, type)));
}

export const vectorConcatenation = (type: SqlType): ScalarFunction => op("||", pairOf(type), type, concatenate(type));

const CONCATENATION = vectorConcatenation(VECTOR);
const isVectorLike = ({ name, element }: SqlType) => name === "vector" || name === "unknown" || element !== null;

/** `type` is VECTOR or HALFVEC. */
export function vectorOperators(type: SqlType): readonly ScalarFunction[] {
  const pair = pairOf(type);
  const sum = elementwise(type, (x, y) => x + y);
  const difference = elementwise(type, (x, y) => x - y);
  const product = elementwise(type, (x, y) => x * y, true);
  return [
    ...METRIC_ENTRIES.map(([, { operator, distance }]) => op(operator, pair, FLOAT8, checked(distance, type))),
    op("+", pair, type, sum),
    op("-", pair, type, difference),
    op("*", pair, type, product),
  ];
}

export const VECTOR_OPERATORS: readonly ScalarFunction[] = vectorOperators(VECTOR);

/** Two arrays make an array, though each would do as a vector. */
export const VECTOR_OPERATOR_FAMILIES: readonly FunctionFamily[] = [
  family("||", "(vector, vector) → vector", (types) =>
    types.length === 2 && types.some(({ name }) => name === "vector") && types.every(isVectorLike)
      ? CONCATENATION
      : null,
  ),
];

/** What both types have; `type` is VECTOR or HALFVEC. */
export function vectorFunctions(type: SqlType): readonly ScalarFunction[] {
  const round = type === HALFVEC ? asHalves : (vector: Float32Array) => vector;
  return [
    ...METRIC_ENTRIES.flatMap(([, { distance, distanceFunctions, likeness }]) => [
      ...measures(type, distanceFunctions, distance),
      ...(likeness === undefined ? [] : measures(type, likeness.functions, likeness.of)),
    ]),
    fn("vector_dims", [type], INT4, (vector: Float32Array) => vector.length),
    fn("l2_norm", [type], FLOAT8, norm),
    fn("l2_normalize", [type], type, (vector: Float32Array) => round(normalized(vector))),
    fn("subvector", [type, INT4, INT4], type, subvector(type)),
    fn("binary_quantize", [type], BIT, binaryQuantize),
  ];
}

export const VECTOR_FUNCTIONS: readonly ScalarFunction[] = [
  ...vectorFunctions(VECTOR),
  fn("vector_norm", [VECTOR], FLOAT8, norm),
  fn("vector_cmp", pairOf(VECTOR), INT4, (a: Float32Array, b: Float32Array) => Math.sign(compareVectors(a, b))),
];
