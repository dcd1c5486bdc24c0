/** Fields of dates, times and intervals: EXTRACT, date_part, date_trunc, date_bin. */

import { sqlError } from "../../../protocol/errors.js";
import {
  civilFromDays,
  DAY_MICROS,
  dayOfWeek,
  daysFromCivil,
  HOUR_MICROS,
  isoWeek,
  MINUTE_MICROS,
  SECOND_MICROS,
} from "../../../values/datetime.js";
import { intervalUnit, makeInterval } from "../../../values/interval.js";
import { isInt64, splitMicros, wholeMicros } from "../../../values/micros.js";
import { Numeric } from "../../../values/numeric.js";
import { offsetAt } from "../../../values/time-zone.js";
import {
  binStart,
  checkedTimestamp,
  floorTimestamp,
  isFiniteTimestamp,
  microsBetween,
  splitTimestamp,
  type Timestamp,
  timestampAt,
} from "../../../values/timestamp.js";
import {
  DATE,
  FLOAT8,
  INTERVAL,
  type Interval,
  NUMERIC,
  type SqlType,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMETZ,
  type TimeTz,
  type Value,
} from "../../../values/values.js";
import { instantOf, localReading } from "../cast.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { displayName } from "../types.js";
import { contextFn, fn } from "./define.js";

/** Canonical name of a field; plural and short spellings are those of interval units. */
function fieldOf(name: string): string {
  const lower = name.toLowerCase();
  return intervalUnit(lower) ?? lower;
}

/** A count of microseconds as a decimal with the given number of digits after the point. */
const scaled = (micros: number | bigint, scale: number) => Numeric.of(BigInt(micros), scale);
const whole = (x: number) => Numeric.fromInteger(x);

function notSupported(field: string, type: SqlType) {
  return sqlError("0A000", `unit "${field}" not supported for type ${displayName(type)}`);
}
function notRecognized(field: string, type: SqlType) {
  return sqlError("22023", `unit "${field}" not recognized for type ${displayName(type)}`);
}

const FIELDS = new Set(
  "microsecond millisecond second minute hour day week month quarter year decade century millennium dow isodow doy isoyear julian epoch timezone timezone_hour timezone_minute".split(
    " ",
  ),
);

/** Fields of a time of day, or of that of an interval; null when the field is not one. */
function timeField(field: string, micros: number | bigint): Numeric | null {
  const hours = splitMicros(micros, HOUR_MICROS);
  switch (field) {
    case "microsecond":
      return whole(hours.rest % MINUTE_MICROS);
    case "millisecond":
      return scaled(hours.rest % MINUTE_MICROS, 3);
    case "second":
      return scaled(hours.rest % MINUTE_MICROS, 6);
    case "minute":
      return whole(Math.trunc(hours.rest / MINUTE_MICROS));
    case "hour":
      return whole(hours.whole);
    default:
      return null;
  }
}

/** Fields of a day; null when the field is not one. */
function dateField(field: string, days: number): Numeric | null {
  const { year, month, day } = civilFromDays(days);
  // Before our era years are counted without a zero.
  const shown = year > 0 ? year : year - 1;
  switch (field) {
    case "day":
      return whole(day);
    case "week":
      return whole(isoWeek(days).week);
    case "month":
      return whole(month);
    case "quarter":
      return whole(Math.ceil(month / 3));
    case "year":
      return whole(shown);
    case "isoyear": {
      const iso = isoWeek(days).year;
      return whole(iso > 0 ? iso : iso - 1);
    }
    case "decade":
      return whole(Math.floor(year / 10));
    case "century":
      return whole(year > 0 ? Math.ceil(year / 100) : Math.floor((year - 1) / 100) || -1);
    case "millennium":
      return whole(year > 0 ? Math.ceil(year / 1000) : Math.floor((year - 1) / 1000) || -1);
    case "dow":
      return whole(dayOfWeek(days));
    case "isodow":
      return whole(((dayOfWeek(days) + 6) % 7) + 1);
    case "doy":
      return whole(days - daysFromCivil(year, 1, 1) + 1);
    default:
      return null;
  }
}

const JULIAN_OF_EPOCH = 2_440_588;

/** Fields of infinity: those that grow without end are infinite, cyclic ones NULL. */
function infiniteField(field: string, value: Timestamp, type: SqlType): Numeric | null {
  if (!FIELDS.has(field)) throw notRecognized(field, type);
  const endless = ["year", "isoyear", "decade", "century", "millennium", "julian", "epoch"].includes(field);
  if (!endless) return null;
  return value > 0 ? Numeric.INFINITY : Numeric.NEGATIVE_INFINITY;
}

function timestampField(field: string, timestamp: Timestamp, type: SqlType): Numeric | null {
  if (!isFiniteTimestamp(timestamp)) return infiniteField(field, timestamp, type);
  if (field === "epoch") return scaled(timestamp, 6);
  const { days, micros: time } = splitTimestamp(timestamp);
  if (field === "julian") {
    const day = whole(days + JULIAN_OF_EPOCH);
    return time === 0 ? day : day.add(whole(time).div(whole(DAY_MICROS)));
  }
  const value = timeField(field, time) ?? dateField(field, days);
  if (value === null) throw FIELDS.has(field) ? notSupported(field, type) : notRecognized(field, type);
  return value;
}

function zoneField(field: string, offset: number): Numeric | null {
  switch (field) {
    case "timezone":
      return whole(offset);
    case "timezone_hour":
      return whole(Math.trunc(offset / 3600));
    case "timezone_minute":
      return whole(Math.trunc((offset % 3600) / 60));
    default:
      return null;
  }
}

function instantField(context: EvalContext, name: string, instant: Timestamp): Numeric | null {
  const field = fieldOf(name);
  if (!isFiniteTimestamp(instant)) return infiniteField(field, instant, TIMESTAMPTZ);
  if (field === "epoch") return scaled(instant, 6);
  const zone = zoneField(field, offsetAt(context.timeZone, instant));
  return zone ?? timestampField(field, localReading(instant, context.timeZone), TIMESTAMPTZ);
}

function dayField(name: string, days: number): Numeric | null {
  const field = fieldOf(name);
  if (!Number.isFinite(days)) return infiniteField(field, days, DATE);
  if (field === "epoch") return whole(days * 86_400);
  if (field === "julian") return whole(days + JULIAN_OF_EPOCH);
  const value = dateField(field, days);
  if (value === null) throw FIELDS.has(field) ? notSupported(field, DATE) : notRecognized(field, DATE);
  return value;
}

function clockField(name: string, micros: number): Numeric {
  const field = fieldOf(name);
  const value = field === "epoch" ? scaled(micros, 6) : timeField(field, micros);
  if (value === null) throw FIELDS.has(field) ? notSupported(field, TIME) : notRecognized(field, TIME);
  return value;
}

function zonedClockField(name: string, { micros, offset }: TimeTz): Numeric {
  const field = fieldOf(name);
  const value =
    field === "epoch"
      ? scaled(micros - offset * SECOND_MICROS, 6)
      : (timeField(field, micros) ?? zoneField(field, offset));
  if (value === null) throw FIELDS.has(field) ? notSupported(field, TIMETZ) : notRecognized(field, TIMETZ);
  return value;
}

/** A year counts 365.25 days and a month 30 in the epoch of an interval. */
function intervalEpoch({ months, days, micros }: Interval): Numeric {
  const daySeconds = Math.trunc(months / 12) * 365.25 * 86_400 + (months % 12) * 30 * 86_400 + days * 86_400;
  return whole(daySeconds).add(Numeric.of(BigInt(micros), 6));
}

function intervalField(name: string, interval: Interval): Numeric {
  const field = fieldOf(name);
  const years = Math.trunc(interval.months / 12);
  switch (field) {
    case "epoch":
      return intervalEpoch(interval);
    case "day":
      return whole(interval.days);
    case "month":
      return whole(interval.months % 12);
    case "quarter":
      return whole(Math.trunc((interval.months % 12) / 3) + 1);
    case "year":
      return whole(years);
    case "decade":
      return whole(Math.trunc(years / 10));
    case "century":
      return whole(Math.trunc(years / 100));
    case "millennium":
      return whole(Math.trunc(years / 1000));
    default: {
      const value = timeField(field, interval.micros);
      if (value === null) throw FIELDS.has(field) ? notSupported(field, INTERVAL) : notRecognized(field, INTERVAL);
      return value;
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: each reader names the type of its own values
type Read = (name: string, value: any) => Numeric | null;

/** EXTRACT gives numeric, date_part the same as a double. */
function both(type: SqlType, read: Read): ScalarFunction[] {
  return [
    fn("extract", [TEXT, type], NUMERIC, read),
    fn("date_part", [TEXT, type], FLOAT8, (name: string, value: Value) => asFloat(name, value, read(name, value))),
  ];
}

/** The seconds of a timestamp that is no number are rounded as PostgreSQL does: before the division, and after it. */
function asFloat(name: string, value: Value, field: Numeric | null): number | null {
  if (typeof value === "bigint" && fieldOf(name) === "epoch") return Number(value) / SECOND_MICROS;
  return field?.toNumber() ?? null;
}

const readTimestamp = (name: string, value: Timestamp) => timestampField(fieldOf(name), value, TIMESTAMP);

/** The start of the field's period that a wall clock reading lies in. */
function truncate(name: string, timestamp: Timestamp, type: SqlType): Timestamp {
  const field = fieldOf(name);
  if (!isFiniteTimestamp(timestamp)) {
    if (!FIELDS.has(field)) throw notRecognized(field, type);
    return timestamp;
  }
  const units: Record<string, number> = {
    microsecond: 1,
    millisecond: 1000,
    second: SECOND_MICROS,
    minute: MINUTE_MICROS,
    hour: HOUR_MICROS,
    day: DAY_MICROS,
  };
  const unit = Object.hasOwn(units, field) ? units[field] : undefined;
  if (unit !== undefined) return floorTimestamp(timestamp, unit);
  return checkedTimestamp(timestampAt(truncatedDay(field, splitTimestamp(timestamp).days, type)));
}

function truncatedDay(field: string, days: number, type: SqlType): number {
  const { year, month } = civilFromDays(days);
  switch (field) {
    case "week":
      return days - ((dayOfWeek(days) + 6) % 7);
    case "month":
      return daysFromCivil(year, month, 1);
    case "quarter":
      return daysFromCivil(year, month - ((month - 1) % 3), 1);
    case "year":
      return daysFromCivil(year, 1, 1);
    case "decade":
      return daysFromCivil(Math.floor(year / 10) * 10, 1, 1);
    case "century":
      return daysFromCivil(Math.floor((year - 1) / 100) * 100 + 1, 1, 1);
    case "millennium":
      return daysFromCivil(Math.floor((year - 1) / 1000) * 1000 + 1, 1, 1);
    default:
      throw FIELDS.has(field) ? notSupported(field, type) : notRecognized(field, type);
  }
}

function truncateInstant(name: string, instant: Timestamp, timeZone: string): Timestamp {
  return instantOf(truncate(name, localReading(instant, timeZone), TIMESTAMPTZ), timeZone);
}

function truncateInterval(name: string, { months, days, micros }: Interval): Interval {
  const field = fieldOf(name);
  const toMonths = (unit: number) => ({ months: Math.trunc(months / unit) * unit + 0, days: 0, micros: 0 });
  const toMicros = (unit: number) => ({ months, days, micros: wholeMicros(micros, unit) });
  switch (field) {
    case "millennium":
      return toMonths(12_000);
    case "century":
      return toMonths(1200);
    case "decade":
      return toMonths(120);
    case "year":
      return toMonths(12);
    case "quarter":
      return toMonths(3);
    case "month":
      return toMonths(1);
    case "day":
      return { months, days, micros: 0 };
    case "hour":
      return toMicros(HOUR_MICROS);
    case "minute":
      return toMicros(MINUTE_MICROS);
    case "second":
      return toMicros(SECOND_MICROS);
    case "millisecond":
      return toMicros(1000);
    case "microsecond":
      return toMicros(1);
    default:
      throw FIELDS.has(field) ? notSupported(field, INTERVAL) : notRecognized(field, INTERVAL);
  }
}

/** The start of the bin of `stride` that a point lies in, bins being counted from `origin`. */
function bin(stride: Interval, timestamp: Timestamp, origin: Timestamp): Timestamp {
  if (!isFiniteTimestamp(timestamp)) return timestamp;
  if (!isFiniteTimestamp(origin)) throw sqlError("22008", "origin out of range");
  if (stride.months !== 0) {
    throw sqlError("0A000", "timestamps cannot be binned into intervals containing months or years");
  }
  const { micros: width } = makeInterval(0, 0, BigInt(stride.days) * BigInt(DAY_MICROS) + BigInt(stride.micros));
  if (width <= 0) throw sqlError("22008", "stride must be greater than zero");
  if (!isInt64(BigInt(microsBetween(timestamp, origin)))) throw sqlError("22008", "interval out of range");
  return checkedTimestamp(binStart(timestamp, width, origin));
}

export const DATETIME_FIELDS: readonly ScalarFunction[] = [
  ...both(DATE, dayField),
  ...both(TIME, clockField),
  ...both(TIMETZ, zonedClockField),
  ...both(TIMESTAMP, readTimestamp),
  ...both(INTERVAL, intervalField),
  contextFn("extract", [TEXT, TIMESTAMPTZ], NUMERIC, instantField),
  contextFn("date_part", [TEXT, TIMESTAMPTZ], FLOAT8, (context, name: string, instant: Timestamp) =>
    asFloat(name, instant, instantField(context, name, instant)),
  ),
  fn("date_trunc", [TEXT, TIMESTAMP], TIMESTAMP, (name: string, value: Timestamp) => truncate(name, value, TIMESTAMP)),
  contextFn("date_trunc", [TEXT, TIMESTAMPTZ], TIMESTAMPTZ, (context, name: string, instant: Timestamp) =>
    truncateInstant(name, instant, context.timeZone),
  ),
  fn("date_trunc", [TEXT, TIMESTAMPTZ, TEXT], TIMESTAMPTZ, truncateInstant),
  fn("date_trunc", [TEXT, INTERVAL], INTERVAL, truncateInterval),
  fn("date_bin", [INTERVAL, TIMESTAMP, TIMESTAMP], TIMESTAMP, bin),
  fn("date_bin", [INTERVAL, TIMESTAMPTZ, TIMESTAMPTZ], TIMESTAMPTZ, bin),
];
