/**
 * What pgvector's casts and aggregates are made of, for aggregates that statements make of them: arrays as vectors, and
 * a state of float8[] with a count before the sums of the members.
 */
import { sqlError } from "../../../protocol/errors.js";
import { VECTOR_DIMENSIONS_MAX } from "../../../protocol/limits.js";
import { asHalves } from "../../../values/half-vector.js";
import { sparseOf } from "../../../values/sparse-vector.js";
import {
  arrayOf,
  BOOL,
  FLOAT8,
  HALFVEC,
  INT4,
  SPARSEVEC,
  type SqlArray,
  type SqlType,
  VECTOR,
} from "../../../values/values.js";
import { noDimension, tooManyDimensions, vectorOf, vectorOfArray } from "../../../values/vector-text.js";
import type { ScalarFunction } from "../expr.js";
import { fn } from "./define.js";

const STATE = arrayOf(FLOAT8);

const stateOf = (numbers: readonly number[]): SqlArray => ({
  elements: numbers,
  dimensions: [numbers.length],
  lowerBounds: [1],
});

/** Throws 22000. */
function numbersOf({ elements, dimensions }: SqlArray, name: string): readonly number[] {
  if (dimensions.length === 1 && !elements.includes(null)) return elements as readonly number[];
  throw sqlError("22000", `${name}: expected state array`);
}

/** Throws 22000, and 22003 for a sum that is too large. */
function added(sums: readonly number[], members: ArrayLike<number>): number[] {
  if (sums.length !== members.length) {
    throw sqlError("22000", `expected ${sums.length} dimensions, not ${members.length}`);
  }
  return sums.map((sum, i) => {
    const total = sum + members[i]!;
    if (!Number.isFinite(total)) throw sqlError("22003", "value out of range: overflow");
    return total;
  });
}

function accumulate(name: string) {
  return (state: SqlArray, vector: Float32Array): SqlArray => {
    const [count, ...sums] = numbersOf(state, name);
    return stateOf([count! + 1, ...(sums.length === 0 ? vector : added(sums, vector))]);
  };
}

function combine(one: SqlArray, other: SqlArray): SqlArray {
  const [a, ...sums] = numbersOf(one, "vector_combine");
  const [b, ...others] = numbersOf(other, "vector_combine");
  const total = a === 0 ? others : b === 0 ? sums : added(sums, others);
  if (total.length > VECTOR_DIMENSIONS_MAX) throw tooManyDimensions(VECTOR);
  return stateOf([a! + b!, ...total]);
}

function average(type: SqlType) {
  return (state: SqlArray): Float32Array | null => {
    const [count, ...sums] = numbersOf(state, `${type.name}_avg`);
    if (count === 0) return null;
    if (sums.length === 0) throw noDimension(type.name);
    const means = vectorOf(
      type,
      sums.map((sum) => sum / count!),
    );
    return type === HALFVEC ? asHalves(means) : means;
  };
}

/** A modifier below 0 is none. */
const typeWith = (type: SqlType, modifier: number): SqlType => ({ ...type, modifier: modifier < 0 ? null : modifier });

export const VECTOR_STATE_FUNCTIONS: readonly ScalarFunction[] = [
  ...[VECTOR, HALFVEC].flatMap((type) => [
    fn(`${type.name}_accum`, [STATE, type], STATE, accumulate(`${type.name}_accum`)),
    fn(`${type.name}_combine`, [STATE, STATE], STATE, combine),
    fn(`${type.name}_avg`, [STATE], type, average(type)),
  ]),
  fn("array_to_vector", [STATE, INT4, BOOL], VECTOR, (array: SqlArray, modifier: number) =>
    vectorOfArray(typeWith(VECTOR, modifier), array),
  ),
  fn("array_to_halfvec", [STATE, INT4, BOOL], HALFVEC, (array: SqlArray, modifier: number) =>
    asHalves(vectorOfArray(typeWith(HALFVEC, modifier), array)),
  ),
  fn("array_to_sparsevec", [STATE, INT4, BOOL], SPARSEVEC, (array: SqlArray, modifier: number) =>
    sparseOf(vectorOfArray(typeWith(SPARSEVEC, modifier), array)),
  ),
];
