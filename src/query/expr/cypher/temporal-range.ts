/** What Cypher's temporal values can hold (openCypher 9, "Temporal types"), and the errors for what they cannot. */

import type { DbError } from "../../../protocol/errors.js";
import { cypherError } from "../../../values/cypher-error.js";
import { daysFromCivil } from "../../../values/datetime.js";
import { Duration } from "../../../values/temporal.js";

export const SECOND_NANOS = 1_000_000_000;
export const DAY_SECONDS = 86_400;
export const DAY_NANOS = DAY_SECONDS * SECOND_NANOS;

export const YEAR_MAX = 999_999_999;
const DAYS_MIN = daysFromCivil(-YEAR_MAX, 1, 1);
const DAYS_MAX = daysFromCivil(YEAR_MAX, 12, 31);

const INT64_MAX = 2n ** 63n - 1n;

/** The error for an argument that a function of temporal values cannot take. */
export const invalidArgument = (message: string): DbError =>
  cypherError("ArgumentError", "InvalidArgumentValue", message);

/** The days when a date can be so far out. Throws ArithmeticError. */
export function checkedDays(days: number): number {
  if (!(days >= DAYS_MIN && days <= DAYS_MAX)) {
    throw cypherError("ArithmeticError", "NumberOutOfRange", "date outside the years -999999999 to 999999999");
  }
  return days;
}

/** An integer as a number when that is exact, else as a bigint. */
export function integerOf(x: bigint): number | bigint {
  return x >= -9_007_199_254_740_991n && x <= 9_007_199_254_740_991n ? Number(x) : x;
}

/** Whole days and the nanoseconds of the day that are left; exact while `nanos` is below 100 days. */
export function carried(days: number, nanos: number): { days: number; nanos: number } {
  const over = Math.floor(nanos / DAY_NANOS);
  return over === 0 ? { days, nanos } : { days: days + over, nanos: nanos - over * DAY_NANOS };
}

/** The duration of so many months, days and nanoseconds. Throws ArithmeticError when a part is too large. */
export function makeDuration(months: bigint, days: bigint, nanos: bigint): Duration {
  const unit = BigInt(SECOND_NANOS);
  const left = ((nanos % unit) + unit) % unit;
  return durationOf(integerOf(months), integerOf(days), integerOf((nanos - left) / unit), Number(left));
}

/** The same for parts that are in their form already. */
export function durationOf(
  months: number | bigint,
  days: number | bigint,
  seconds: number | bigint,
  nanos: number,
): Duration {
  const large = typeof seconds === "bigint" && (seconds > INT64_MAX || seconds < -INT64_MAX - 1n);
  if (!Number.isSafeInteger(months) || !Number.isSafeInteger(days) || large) {
    throw cypherError("ArithmeticError", "NumberOutOfRange", "duration out of range");
  }
  return new Duration(months as number, days as number, seconds, nanos);
}
