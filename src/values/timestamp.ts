/**
 * Points in time as values of timestamp and timestamptz, and their exact arithmetic. Only this file and the codecs know
 * of the two forms that a timestamp has. The calendar is in datetime.ts, the printing in timestamp-text.ts.
 */
import { sqlError } from "../protocol/errors.js";
import { DATE_MIN, DAY_MICROS } from "./datetime.js";
import { normalMicros, roundedMicros } from "./micros.js";

/**
 * Microseconds since 1970-01-01 00:00:00, or ±Infinity: a number where a double holds them exactly, which it does for
 * all of the years 1685 to 2255 and for whole seconds until the year 20000, else a bigint. Equal timestamps are the
 * same value, and JavaScript's own operators compare any two.
 */
export type Timestamp = number | bigint;

/** The last day of timestamps: 294276-12-31. */
const TIMESTAMP_DAY_MAX = 106_762_939;
const TIMESTAMP_MIN = DATE_MIN * DAY_MICROS;
const TIMESTAMP_END = (TIMESTAMP_DAY_MAX + 1) * DAY_MICROS;

export const isFiniteTimestamp = (timestamp: Timestamp): boolean =>
  typeof timestamp === "bigint" || Number.isFinite(timestamp);

/** The timestamp of so many microseconds. */
export function timestampOf(micros: bigint): Timestamp {
  const number = Number(micros);
  return BigInt(number) === micros ? number : micros;
}

/** A sum of integers that comes out within ±(2^53−1) is exact. */
const isExact = Number.isSafeInteger;

/** The timestamp so many microseconds later, in PostgreSQL's range or not. An infinite one stays. */
export function addMicros(timestamp: Timestamp, micros: number | bigint): Timestamp {
  if (typeof timestamp === "number") {
    if (typeof micros === "number" && isExact(timestamp + micros)) return timestamp + micros;
    if (!Number.isFinite(timestamp)) return timestamp;
  }
  return timestampOf(BigInt(timestamp) + BigInt(micros));
}

/** From `b` to `a`, both finite: a number within ±(2^53−1), else a bigint. */
export function microsBetween(a: Timestamp, b: Timestamp): number | bigint {
  if (typeof a === "number" && typeof b === "number" && isExact(a - b)) return a - b;
  return normalMicros(BigInt(a) - BigInt(b));
}

/** The timestamp at a time of a day, days being counted from 1970-01-01. Infinite days make it infinite. */
export function timestampAt(days: number, micros = 0): Timestamp {
  const timestamp = days * DAY_MICROS + micros;
  if (isExact(timestamp) || !Number.isFinite(days)) return timestamp;
  return timestampOf(BigInt(days) * BigInt(DAY_MICROS) + BigInt(micros));
}

/** How many whole units of more than a millisecond there are from 1970 to a finite timestamp, towards the past. */
export function wholeUnits(timestamp: Timestamp, unit: number): number {
  if (isExact(timestamp)) return Math.floor((timestamp as number) / unit);
  const [micros, size] = [BigInt(timestamp), BigInt(unit)];
  return Number(micros / size) - (micros % size < 0n ? 1 : 0);
}

/** The start of the unit (of microseconds) that a finite timestamp lies in; units are counted from 1970. */
export function floorTimestamp(timestamp: Timestamp, unit: number): Timestamp {
  if (isExact(timestamp)) return wholeUnits(timestamp, unit) * unit;
  const micros = BigInt(timestamp);
  return timestampOf(micros - modulo(micros, BigInt(unit)));
}

/** The start of the bin of `width` microseconds that a finite timestamp lies in; bins are counted from `origin`. */
export function binStart(timestamp: Timestamp, width: number | bigint, origin: Timestamp): Timestamp {
  const passed = microsBetween(timestamp, origin);
  if (typeof passed !== "number" || typeof width !== "number") {
    return addMicros(timestamp, -modulo(BigInt(passed), BigInt(width)));
  }
  return addMicros(timestamp, -(((passed % width) + width) % width));
}

const modulo = (a: bigint, b: bigint): bigint => ((a % b) + b) % b;

/** The day a finite timestamp falls on and the microseconds since its midnight. */
export function splitTimestamp(timestamp: Timestamp): { days: number; micros: number } {
  const days = wholeUnits(timestamp, DAY_MICROS);
  if (isExact(timestamp)) return { days, micros: (timestamp as number) - days * DAY_MICROS };
  return { days, micros: Number(BigInt(timestamp) - BigInt(days) * BigInt(DAY_MICROS)) };
}

/** The timestamp when PostgreSQL can hold it. Throws 22008. */
export function checkedTimestamp(timestamp: Timestamp): Timestamp {
  const isHeld = timestamp >= TIMESTAMP_MIN && timestamp < TIMESTAMP_END;
  if (isHeld || timestamp === Number.POSITIVE_INFINITY || timestamp === Number.NEGATIVE_INFINITY) return timestamp;
  throw sqlError("22008", "timestamp out of range");
}

/** Where PostgreSQL counts timestamps from: 2000-01-01. */
const ROUNDING_MICROS = 10_957 * DAY_MICROS;

/** The timestamp with so many digits behind its seconds (0 to 6), half away from the year 2000. */
export function roundTimestamp(timestamp: Timestamp, digits: number | null): Timestamp {
  if (digits === null || digits >= 6 || !isFiniteTimestamp(timestamp)) return timestamp;
  return addMicros(ROUNDING_MICROS, roundedMicros(microsBetween(timestamp, ROUNDING_MICROS), digits));
}
