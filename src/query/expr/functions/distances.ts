/** The operator `<->` of the extension btree_gist: how far numbers and moments are from each other. */
import { makeInterval, negateInterval } from "../../../values/interval.js";
import { cents } from "../../../values/money.js";
import { isFiniteTimestamp, type Timestamp } from "../../../values/timestamp.js";
import {
  DATE,
  FLOAT4,
  FLOAT8,
  INT2,
  INT4,
  INT8,
  INTERVAL,
  type Interval,
  MONEY,
  OID,
  type SqlType,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  type Value,
} from "../../../values/values.js";
import { comparatorOf } from "../compare.js";
import type { ScalarFunction } from "../expr.js";
import { ARITHMETIC, absInt8, checkInt2, checkInt4, type Int8 } from "./arithmetic.js";
import { DATETIME_OPERATORS } from "./datetime.js";
import { type Apply, op, operatorFunctions } from "./define.js";
import { MONEY_OPERATORS } from "./money.js";

/** What `-` of the type does. */
function minus(type: SqlType): Apply {
  const all = [...ARITHMETIC, ...DATETIME_OPERATORS, ...MONEY_OPERATORS];
  return all.find(({ name, args }) => name === "-" && args.length === 2 && args.every((arg) => arg === type))!.apply;
}

/** NaN is as far from every other number as infinity. Throws 22003. */
function ofFloats(type: SqlType): Apply {
  const difference = minus(type);
  return (a: number, b: number) => {
    if (a === b || Object.is(a, b)) return 0;
    return Number.isNaN(a) || Number.isNaN(b) ? Number.POSITIVE_INFINITY : Math.abs(difference(a, b) as number);
  };
}

const NO_TIME = makeInterval(0, 0, 0);
const LONGEST = makeInterval(2 ** 31 - 1, 2 ** 31 - 1, 2n ** 63n - 1n);
const compareIntervals = comparatorOf(INTERVAL);

/** Of what has an interval as its difference. */
function ofMoments(type: SqlType): Apply {
  const difference = minus(type);
  return (a: Value, b: Value) => {
    const found = difference(a, b) as Interval;
    return compareIntervals(found, NO_TIME) < 0 ? negateInterval(found) : found;
  };
}

/** As PostgreSQL 15: infinity is as far from everything as an interval can say. */
function ofTimestamps(type: SqlType): Apply {
  const finite = ofMoments(type);
  return (a: Timestamp, b: Timestamp) => (isFiniteTimestamp(a) && isFiniteTimestamp(b) ? finite(a, b) : LONGEST);
}

const daysBetween = minus(DATE);
const moneyBetween = minus(MONEY);

function ofMoney(a: Int8, b: Int8): Int8 {
  const found = BigInt(moneyBetween(a, b) as Int8);
  return cents(found < 0n ? -found : found);
}

const DISTANCES: readonly (readonly [name: string, type: SqlType, returns: SqlType, apply: Apply])[] = [
  ["int2_dist", INT2, INT2, (a: number, b: number) => checkInt2(Math.abs(a - b))],
  ["int4_dist", INT4, INT4, (a: number, b: number) => checkInt4(Math.abs(a - b))],
  ["int8_dist", INT8, INT8, (a: Int8, b: Int8) => absInt8(minus(INT8)(a, b) as Int8)],
  ["oid_dist", OID, OID, (a: number, b: number) => Math.abs(a - b)],
  ["float4_dist", FLOAT4, FLOAT4, ofFloats(FLOAT4)],
  ["float8_dist", FLOAT8, FLOAT8, ofFloats(FLOAT8)],
  ["cash_dist", MONEY, MONEY, ofMoney],
  ["date_dist", DATE, INT4, (a: number, b: number) => Math.abs(daysBetween(a, b) as number)],
  ["time_dist", TIME, INTERVAL, ofMoments(TIME)],
  ["ts_dist", TIMESTAMP, INTERVAL, ofTimestamps(TIMESTAMP)],
  ["tstz_dist", TIMESTAMPTZ, INTERVAL, ofTimestamps(TIMESTAMPTZ)],
  ["interval_dist", INTERVAL, INTERVAL, ofMoments(INTERVAL)],
];

export const DISTANCE_OPERATORS: readonly ScalarFunction[] = DISTANCES.map(([, type, returns, apply]) =>
  op("<->", [type, type], returns, apply),
);

export const DISTANCE_FUNCTIONS: readonly ScalarFunction[] = operatorFunctions(
  DISTANCE_OPERATORS,
  DISTANCES.map(([name, type]) => [name, "<->", type, type] as const),
);
