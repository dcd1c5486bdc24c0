/**
 * Transition functions of PostgreSQL's aggregates under their own names, which clients use in CREATE AGGREGATE. The
 * float8 states are arrays {N, Sx, Sxx} and {N, Sx, Sxx, Sy, Syy, Sxy}, kept by Youngs and Cramer's method (float.c).
 */
import { sqlError } from "../../../protocol/errors.js";
import { Numeric } from "../../../values/numeric.js";
import { sqlArray } from "../../../values/text-format-array.js";
import {
  arrayOf,
  BOOL,
  DATE,
  FLOAT4,
  FLOAT8,
  INT2,
  INT4,
  INT8,
  INTERVAL,
  NUMERIC,
  OID,
  type SqlArray,
  type SqlType,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  type Value,
} from "../../../values/values.js";
import { comparatorOf } from "../compare.js";
import type { ScalarFunction } from "../expr.js";
import { normalInt8 } from "../number-cast.js";
import { fn } from "./define.js";

const STATE = arrayOf(FLOAT8);

/** Throws 22P02 for another number of elements. */
function stateOf(name: string, { elements, dimensions }: SqlArray, count: number): number[] {
  if (dimensions.length === 1 && elements.length === count && !elements.includes(null)) return elements as number[];
  throw sqlError("XX000", `${name}: expected ${count}-element float8 array`);
}

function accumulate(array: SqlArray, x: number): SqlArray {
  const [count, sum, squares] = stateOf("float8_accum", array, 3) as [number, number, number];
  const [n, total] = [count + 1, sum + x];
  const difference = x * n - total;
  return sqlArray([n, total, count > 0 ? squares + (difference * difference) / (n * count) : squares]);
}

function combine(a: SqlArray, b: SqlArray): SqlArray {
  const [n1, sum1, squares1] = stateOf("float8_combine", a, 3) as [number, number, number];
  const [n2, sum2, squares2] = stateOf("float8_combine", b, 3) as [number, number, number];
  if (n1 === 0) return b;
  if (n2 === 0) return a;
  const difference = sum1 / n1 - sum2 / n2;
  const n = n1 + n2;
  return sqlArray([n, sum1 + sum2, squares1 + squares2 + (n1 * n2 * difference * difference) / n]);
}

function accumulatePair(array: SqlArray, y: number, x: number): SqlArray {
  const [count, sumX, xx, sumY, yy, xy] = stateOf("float8_regr_accum", array, 6) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [n, totalX, totalY] = [count + 1, sumX + x, sumY + y];
  if (count === 0) return sqlArray([n, totalX, xx, totalY, yy, xy]);
  const [dx, dy, scale] = [x * n - totalX, y * n - totalY, 1 / (n * count)];
  return sqlArray([n, totalX, xx + dx * dx * scale, totalY, yy + dy * dy * scale, xy + dx * dy * scale]);
}

function combinePairs(a: SqlArray, b: SqlArray): SqlArray {
  const left = stateOf("float8_regr_combine", a, 6);
  const right = stateOf("float8_regr_combine", b, 6);
  const [n1, n2] = [left[0]!, right[0]!];
  if (n1 === 0) return b;
  if (n2 === 0) return a;
  const dx = left[1]! / n1 - right[1]! / n2;
  const dy = left[3]! / n1 - right[3]! / n2;
  const weight = (n1 * n2) / (n1 + n2);
  const sum = (i: number) => left[i]! + right[i]!;
  return sqlArray([
    n1 + n2,
    sum(1),
    sum(2) + weight * dx * dx,
    sum(3),
    sum(4) + weight * dy * dy,
    sum(5) + weight * dx * dy,
  ]);
}

/** Sums of whole numbers start with the first that is not NULL. */
function integerSum(name: string, type: SqlType): ScalarFunction {
  const add = (sum: number | bigint | null, value: number | null): Value => {
    if (sum === null) return value;
    return value === null ? sum : normalInt8(BigInt(sum) + BigInt(value));
  };
  return fn(name, [INT8, type], INT8, add, { strict: false });
}

const BIGS = arrayOf(INT8);

/** Count and sum. */
function totalsOf({ elements, dimensions }: SqlArray): [number | bigint, number | bigint] {
  if (dimensions.length === 1 && elements.length === 2 && !elements.includes(null)) {
    return elements as [number | bigint, number | bigint];
  }
  throw sqlError("XX000", "expected 2-element int8 array");
}

function averageStep(array: SqlArray, value: number): SqlArray {
  const [count, sum] = totalsOf(array);
  return sqlArray([normalInt8(BigInt(count) + 1n), normalInt8(BigInt(sum) + BigInt(value))]);
}

function averageOf(array: SqlArray): Value {
  const [count, sum] = totalsOf(array);
  return BigInt(count) === 0n ? null : Numeric.fromInteger(sum).div(Numeric.fromInteger(count));
}

/** Of types whose functions are called by their names, and by what these begin with. */
const EXTREMES: readonly (readonly [prefix: string, type: SqlType])[] = [
  ...[INT2, INT4, INT8, FLOAT4, FLOAT8, OID].map((type) => [type.name, type] as const),
  ...[NUMERIC, TEXT, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL].map((type) => [`${type.name}_`, type] as const),
];

const LARGER_AND_SMALLER = EXTREMES.flatMap(([prefix, type]) => {
  const compare = comparatorOf(type);
  return [
    fn(`${prefix}larger`, [type, type], type, (a: Value, b: Value) => (compare(a, b) >= 0 ? a : b)),
    fn(`${prefix}smaller`, [type, type], type, (a: Value, b: Value) => (compare(a, b) <= 0 ? a : b)),
  ];
});

export const AGGREGATE_STATES: readonly ScalarFunction[] = [
  ...LARGER_AND_SMALLER,
  integerSum("int2_sum", INT2),
  integerSum("int4_sum", INT4),
  fn("int2_avg_accum", [BIGS, INT2], BIGS, averageStep),
  fn("int4_avg_accum", [BIGS, INT4], BIGS, averageStep),
  fn("int8_avg", [BIGS], NUMERIC, averageOf),
  fn("booland_statefunc", [BOOL, BOOL], BOOL, (a: boolean, b: boolean) => a && b),
  fn("boolor_statefunc", [BOOL, BOOL], BOOL, (a: boolean, b: boolean) => a || b),
  fn("float8_accum", [STATE, FLOAT8], STATE, accumulate),
  fn("float8_combine", [STATE, STATE], STATE, combine),
  fn("float8_regr_accum", [STATE, FLOAT8, FLOAT8], STATE, accumulatePair),
  fn("float8_regr_combine", [STATE, STATE], STATE, combinePairs),
  fn("int8inc", [INT8], INT8, (value: number | bigint) => normalInt8(BigInt(value) + 1n)),
  fn("numeric_inc", [NUMERIC], NUMERIC, (value: Numeric) => value.add(Numeric.fromInteger(1))),
];
