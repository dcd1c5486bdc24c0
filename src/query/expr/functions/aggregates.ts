/**
 * Aggregate functions (chapter 9.21) with PostgreSQL's result types: count, sum, avg, min, max, boolean and bit
 * aggregates, string_agg, array_agg and the JSON collectors. Variance and regression are in statistics.ts.
 */

import { sqlError } from "../../../protocol/errors.js";
import { roundMicros } from "../../../values/datetime.js";
import { asHalves } from "../../../values/half-vector.js";
import { addIntervals, multiplyInterval, negateInterval } from "../../../values/interval.js";
import { cents } from "../../../values/money.js";
import { Numeric } from "../../../values/numeric.js";
import { sqlArray } from "../../../values/text-format-array.js";
import {
  arrayOf,
  BIT,
  BOOL,
  BYTEA,
  FLOAT4,
  FLOAT8,
  HALFVEC,
  INT2,
  INT4,
  INT8,
  INTERVAL,
  type Interval,
  JSON_TYPE,
  JSONB,
  MONEY,
  NUMERIC,
  type SqlArray,
  type SqlType,
  TEXT,
  type Value,
  VECTOR,
} from "../../../values/values.js";
import { comparatorOf } from "../compare.js";
import type { AggregateFunction, MovingSteps } from "../expr.js";
import { normalInt8 } from "../number-cast.js";
import { hasOrder } from "../types.js";
import { LongList } from "../value-parts.js";
import { aggregate, type Aggregate as Steps } from "./aggregate-steps.js";
import { stackedArrays, stackedInTurns } from "./array-parts.js";
import { BIT_OPERATORS } from "./bit-strings.js";
import { joinText, jsonArray, jsonObject } from "./collecting.js";
import { type AggregateFamily, family, matchPatterns } from "./define.js";

/** A sum that starts without a value, so that no rows give NULL. */
function folding<V extends Value>(add: (a: V, b: V) => V): Steps<V | null> {
  return {
    init: () => null,
    step: (state, value: V) => (state === null ? value : add(state, value)),
    result: (state) => state,
  };
}

/** Doubles while that is exact, then bigint. */
interface IntegerSum {
  small: number;
  large: bigint;
  count: number;
}

function addInteger(state: IntegerSum, value: number | bigint): IntegerSum {
  state.count++;
  if (typeof value === "bigint") {
    state.large += value;
    return state;
  }
  const sum = state.small + value;
  if (Number.isSafeInteger(sum)) state.small = sum;
  else state.large += BigInt(value);
  return state;
}

const newIntegerSum = (): IntegerSum => ({ small: 0, large: 0n, count: 0 });
const totalOf = (state: IntegerSum) => state.large + BigInt(state.small);

function removeInteger(state: IntegerSum, value: number | bigint): IntegerSum {
  addInteger(state, -value);
  state.count -= 2;
  return state;
}

function integerSum(result: (state: IntegerSum) => Value): Steps<IntegerSum> {
  const steps = {
    init: newIntegerSum,
    step: addInteger,
    result: (state: IntegerSum) => (state.count === 0 ? null : result(state)),
  };
  return { ...steps, moving: { ...steps, inverse: removeInteger } };
}

const sumAsInt8 = integerSum((state) => (state.large === 0n ? state.small : normalInt8(totalOf(state))));
const sumAsMoney = integerSum((state) => cents(totalOf(state)));
const sumAsNumeric = integerSum((state) => Numeric.of(totalOf(state), 0));
const integerAverage = integerSum((state) => Numeric.of(totalOf(state), 0).div(Numeric.fromInteger(state.count)));

interface NumericSum {
  sum: Numeric;
  count: number;
}

interface MovingNumericSum extends NumericSum {
  /** Values per scale: a sum has the largest scale that is still among them. */
  readonly scales: Map<number, number>;
  /** NaN and infinite values, which cannot be subtracted again. */
  special: number;
}

function movingNumeric(result: (sum: Numeric, count: number) => Numeric): MovingSteps {
  return {
    init: (): MovingNumericSum => ({ sum: Numeric.ZERO, count: 0, scales: new Map(), special: 0 }),
    step(state: MovingNumericSum, value: Numeric) {
      state.sum = state.sum.add(value);
      state.count++;
      if (!value.isFinite()) state.special++;
      state.scales.set(value.scale, (state.scales.get(value.scale) ?? 0) + 1);
      return state;
    },
    inverse(state: MovingNumericSum, value: Numeric) {
      if (state.special > 0) return undefined;
      const alike = state.scales.get(value.scale)! - 1;
      state.sum = state.sum.sub(value);
      state.count--;
      if (alike > 0) state.scales.set(value.scale, alike);
      else {
        state.scales.delete(value.scale);
        // Digits beyond the largest scale that is left are zeros.
        state.sum = state.sum.round(Math.max(0, ...state.scales.keys()));
      }
      return state;
    },
    result: (state: MovingNumericSum) => (state.count === 0 ? null : result(state.sum, state.count)),
  };
}

const numericSum: Steps<NumericSum> = {
  init: () => ({ sum: Numeric.ZERO, count: 0 }),
  step(state, value: Numeric) {
    state.sum = state.sum.add(value);
    state.count++;
    return state;
  },
  result: (state) => (state.count === 0 ? null : state.sum),
  moving: movingNumeric((sum) => sum),
};

const numericAverage: Steps<NumericSum> = {
  ...numericSum,
  result: (state) => (state.count === 0 ? null : state.sum.div(Numeric.fromInteger(state.count))),
  moving: movingNumeric((sum, count) => sum.div(Numeric.fromInteger(count))),
};

export interface FloatTotal {
  sum: number;
  count: number;
  infinite: boolean;
}

function floatSum(result: (state: FloatTotal) => number): Steps<FloatTotal> {
  return {
    init: () => ({ sum: 0, count: 0, infinite: false }),
    step(state, value: number) {
      state.sum += value;
      state.count++;
      if (!Number.isFinite(value)) state.infinite = true;
      return state;
    },
    result(state) {
      if (state.count === 0) return null;
      if (!Number.isFinite(state.sum) && !state.infinite) throw sqlError("22003", "value out of range: overflow");
      return result(state);
    },
  };
}

interface IntervalSum {
  sum: Interval;
  count: number;
}

function intervalSum(result: (state: IntervalSum) => Interval): Steps<IntervalSum> {
  const steps = {
    init: (): IntervalSum => ({ sum: { months: 0, days: 0, micros: 0 }, count: 0 }),
    step(state: IntervalSum, value: Interval) {
      state.sum = addIntervals(state.sum, value);
      state.count++;
      return state;
    },
    result: (state: IntervalSum) => (state.count === 0 ? null : result(state)),
  };
  const inverse = (state: IntervalSum, value: Interval) => {
    state.sum = addIntervals(state.sum, negateInterval(value));
    state.count--;
    return state;
  };
  return { ...steps, moving: { ...steps, inverse } };
}

/** The largest numbers of single and of half precision. */
const FLOAT4_MAX = 3.4028234663852886e38;
const HALF_MAX = 65_504;

interface VectorSum {
  sum: Float64Array | null;
  count: number;
}

/** Steps through sums in double precision; `mismatch` refuses a vector of other dimensions than the first. */
function vectorSum(
  mismatch: (expected: number, given: number) => string,
  result: (state: VectorSum) => Float32Array,
): Steps<VectorSum> {
  return {
    init: () => ({ sum: null, count: 0 }),
    step(state, value: Float32Array) {
      state.sum ??= new Float64Array(value.length);
      const { sum } = state;
      if (sum.length !== value.length) throw sqlError("22000", mismatch(sum.length, value.length));
      for (let i = 0; i < value.length; i++) sum[i]! += value[i]!;
      state.count++;
      return state;
    },
    result: (state) => (state.sum === null ? null : result(state)),
  };
}

/** `largest` is that of the type. */
function totalVector(type: string, largest: number): Steps<VectorSum> {
  return vectorSum(
    (expected, given) => `different ${type} dimensions ${expected} and ${given}`,
    ({ sum }) => {
      const total = Float32Array.from(sum!);
      if (total.some((x) => Math.abs(x) > largest)) throw sqlError("22003", "value out of range: overflow");
      return total;
    },
  );
}

const meanVector = vectorSum(
  (expected, given) => `expected ${expected} dimensions, not ${given}`,
  ({ sum, count }) => Float32Array.from(sum!, (total) => total / count),
);

function inHalves({ result, ...steps }: Steps<VectorSum>): Steps<VectorSum> {
  const halves = (state: VectorSum) => {
    const vector = result(state) as Float32Array | null;
    return vector === null ? null : asHalves(vector);
  };
  return { ...steps, result: halves };
}

const SUMS: readonly AggregateFunction[] = [
  aggregate("sum", [INT2], INT8, sumAsInt8),
  aggregate("sum", [INT4], INT8, sumAsInt8),
  aggregate("sum", [INT8], NUMERIC, sumAsNumeric),
  aggregate("sum", [NUMERIC], NUMERIC, numericSum),
  aggregate("sum", [MONEY], MONEY, sumAsMoney),
  aggregate(
    "sum",
    [FLOAT4],
    FLOAT4,
    floatSum((state) => Math.fround(state.sum)),
  ),
  aggregate(
    "sum",
    [FLOAT8],
    FLOAT8,
    floatSum((state) => state.sum),
  ),
  aggregate(
    "sum",
    [INTERVAL],
    INTERVAL,
    intervalSum((state) => state.sum),
  ),
  aggregate("sum", [VECTOR], VECTOR, totalVector("vector", FLOAT4_MAX)),
  aggregate("sum", [HALFVEC], HALFVEC, inHalves(totalVector("halfvec", HALF_MAX))),
  ...[INT2, INT4, INT8].map((type) => aggregate("avg", [type], NUMERIC, integerAverage)),
  aggregate("avg", [NUMERIC], NUMERIC, numericAverage),
  ...[FLOAT4, FLOAT8].map((type) =>
    aggregate(
      "avg",
      [type],
      FLOAT8,
      floatSum((state) => state.sum / state.count),
    ),
  ),
  aggregate(
    "avg",
    [INTERVAL],
    INTERVAL,
    intervalSum((state) => {
      const mean = multiplyInterval(state.sum, 1 / state.count);
      return { ...mean, micros: roundMicros(Number(mean.micros), 6) };
    }),
  ),
  aggregate("avg", [VECTOR], VECTOR, meanVector),
  aggregate("avg", [HALFVEC], HALFVEC, inHalves(meanVector)),
];

const countRows = { init: () => 0, step: (count: number) => count + 1, result: (count: number) => count };
const counting: Steps<number> = { ...countRows, moving: { ...countRows, inverse: (count: number) => count - 1 } };

/** Bit operations over the argument; PostgreSQL has them for all integer types. */
function bitAggregates(
  name: string,
  symbol: string,
  small: (a: number, b: number) => number,
  large: (a: bigint, b: bigint) => bigint,
) {
  const strings = BIT_OPERATORS.find((other) => other.operator === symbol)!;
  return [
    aggregate(name, [INT2], INT2, folding<number>(small)),
    aggregate(name, [INT4], INT4, folding<number>(small)),
    aggregate(
      name,
      [INT8],
      INT8,
      folding<number | bigint>((a, b) => normalInt8(large(BigInt(a), BigInt(b)))),
    ),
    aggregate(name, [BIT], BIT, folding<string>(strings.apply as (a: string, b: string) => string)),
  ];
}

const BITS: readonly AggregateFunction[] = [
  ...bitAggregates(
    "bit_and",
    "&",
    (a, b) => a & b,
    (a, b) => a & b,
  ),
  ...bitAggregates(
    "bit_or",
    "|",
    (a, b) => a | b,
    (a, b) => a | b,
  ),
  ...bitAggregates(
    "bit_xor",
    "#",
    (a, b) => a ^ b,
    (a, b) => a ^ b,
  ),
];

const joinBytes: Steps<Uint8Array[]> = {
  init: () => [],
  step(parts, value: Uint8Array | null, separator: Uint8Array | null) {
    if (value === null) return parts;
    if (parts.length > 0 && separator !== null) parts.push(separator);
    parts.push(value);
    return parts;
  },
  result: (parts) => (parts.length === 0 ? null : new Uint8Array(Buffer.concat(parts))),
};

export const AGGREGATE_TABLE: readonly AggregateFunction[] = [
  aggregate("count", [], INT8, counting),
  ...SUMS,
  ...BITS,
  aggregate(
    "bool_and",
    [BOOL],
    BOOL,
    folding<boolean>((a, b) => a && b),
  ),
  aggregate(
    "every",
    [BOOL],
    BOOL,
    folding<boolean>((a, b) => a && b),
  ),
  aggregate(
    "bool_or",
    [BOOL],
    BOOL,
    folding<boolean>((a, b) => a || b),
  ),
  aggregate("string_agg", [TEXT, TEXT], TEXT, joinText, false),
  aggregate("string_agg", [BYTEA, BYTEA], BYTEA, joinBytes, false),
  aggregate("group_concat", [TEXT], TEXT, joinText, false),
  aggregate("group_concat", [TEXT, TEXT], TEXT, joinText, false),
];

/** min and max of every type that has an order. */
function extreme(name: string, sign: number): AggregateFamily {
  return family(name, "(anyelement) → anyelement", (types) => {
    const [given] = types;
    if (types.length !== 1 || given === undefined) return null;
    const type = given.name === "unknown" || given.name === "varchar" ? TEXT : given;
    if (!hasOrder(type) || type.name === "bool" || type.name === "uuid") return null;
    const compare = comparatorOf(type);
    return aggregate(name, [type], type, {
      ...folding<Value>((best, value) => (compare(value, best) * sign > 0 ? value : best)),
      extreme: (a, b) => compare(a, b) * sign,
    });
  });
}

/** An array of arrays is an array of one more dimension. */
function collect(values: readonly Value[], element: SqlType): SqlArray {
  if (element.element === null) return sqlArray(values);
  return stackedArrays(arraysOf(values), raggedInput);
}

function arraysOf(values: readonly Value[]): readonly SqlArray[] {
  const arrays = values.map((value) => {
    if (value === null) throw sqlError("22004", "cannot accumulate null arrays");
    return value as SqlArray;
  });
  if (arrays[0]!.dimensions.length === 0) throw sqlError("2202E", "cannot accumulate empty arrays");
  return arrays;
}

const raggedInput = () => sqlError("2202E", "cannot accumulate arrays of different dimensionality");

/** Elements of arrays that are put together in one go. */
const ELEMENTS_AT_ONCE = 65_536;

/** array_agg: the values in a list, then made an array. */
function listing(element: SqlType): Steps<LongList<Value>> {
  return {
    init: () => new LongList(),
    step(values, value: Value) {
      values.push(value);
      return values;
    },
    result: ({ length, list }) => (length === 0 ? null : collect(list, element)),
    resultInTurns(made, turns) {
      if (element.element === null)
        return made.length > ELEMENTS_AT_ONCE ? made.listInTurns(turns).then(sqlArray) : null;
      const values = made.list;
      const [first] = values as readonly (SqlArray | null)[];
      const count = values.length * (first?.elements.length ?? 0);
      if (count <= ELEMENTS_AT_ONCE) return null;
      return stackedInTurns(arraysOf(values), raggedInput, turns);
    },
  };
}

export const AGGREGATE_FAMILY_TABLE: readonly AggregateFamily[] = [
  family("count", "(any) → bigint", (types) => {
    const match = matchPatterns(["any"], types);
    return match === null ? null : aggregate("count", match.args, INT8, counting);
  }),
  extreme("min", -1),
  extreme("max", 1),
  family("array_agg", "(anyelement) → anyarray", (types) => {
    const match = matchPatterns(["any"], types);
    if (match === null) return null;
    const [type] = match.args as [SqlType];
    const returns = type.element === null ? arrayOf(type) : type;
    return aggregate("array_agg", [type], returns, listing(type), false);
  }),
  family("any_value", "(anyelement) → anyelement", (types) => {
    const match = matchPatterns(["any"], types);
    if (match === null) return null;
    const [type] = match.args as [SqlType];
    return aggregate(
      "any_value",
      [type],
      type,
      folding<Value>((first) => first),
    );
  }),
  jsonArray("json_agg", JSON_TYPE),
  jsonArray("jsonb_agg", JSONB),
  jsonObject("json_object_agg", JSON_TYPE),
  jsonObject("jsonb_object_agg", JSONB),
];
