/** Fields of dates, times and intervals: EXTRACT, date_part, date_trunc, date_bin. */

import { sqlError } from "../../../protocol/errors.js";
import {
  checkedTimestamp,
  civilFromDays,
  DAY_MICROS,
  dayOfWeek,
  daysFromCivil,
  HOUR_MICROS,
  isoWeek,
  MINUTE_MICROS,
  SECOND_MICROS,
  splitTimestamp,
} from "../../../values/datetime.js";
import { intervalUnit } from "../../../values/interval.js";
import { Numeric } from "../../../values/numeric.js";
import { offsetAt } from "../../../values/time-zone.js";
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
import { instantOf, localMicros } from "../cast.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { displayName } from "../types.js";
import { contextFn, fn } from "./define.js";

/** Canonical name of a field; plural and short spellings are those of interval units. */
function fieldOf(name: string): string {
  const lower = name.toLowerCase();
  return intervalUnit(lower) ?? lower;
}

/** A count of microseconds as a decimal with so many digits after the point. */
const scaled = (micros: number, scale: number) => Numeric.of(BigInt(Math.round(micros)), scale);
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

/** Fields of a time of day; null when the field is not one. */
function timeField(field: string, micros: number): Numeric | null {
  switch (field) {
    case "microsecond":
      return whole(micros % MINUTE_MICROS);
    case "millisecond":
      return scaled(micros % MINUTE_MICROS, 3);
    case "second":
      return scaled(micros % MINUTE_MICROS, 6);
    case "minute":
      return whole(Math.trunc((micros % HOUR_MICROS) / MINUTE_MICROS));
    case "hour":
      return whole(Math.trunc(micros / HOUR_MICROS));
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
function infiniteField(field: string, micros: number, type: SqlType): Numeric | null {
  if (!FIELDS.has(field)) throw notRecognized(field, type);
  const endless = ["year", "isoyear", "decade", "century", "millennium", "julian", "epoch"].includes(field);
  if (!endless) return null;
  return micros > 0 ? Numeric.INFINITY : Numeric.NEGATIVE_INFINITY;
}

function timestampField(field: string, micros: number, type: SqlType): Numeric | null {
  if (!Number.isFinite(micros)) return infiniteField(field, micros, type);
  if (field === "epoch") return scaled(micros, 6);
  const { days, micros: time } = splitTimestamp(micros);
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

function instantField(context: EvalContext, name: string, micros: number): Numeric | null {
  const field = fieldOf(name);
  if (!Number.isFinite(micros)) return infiniteField(field, micros, TIMESTAMPTZ);
  if (field === "epoch") return scaled(micros, 6);
  const zone = zoneField(field, offsetAt(context.timeZone, micros));
  return zone ?? timestampField(field, localMicros(micros, context.timeZone), TIMESTAMPTZ);
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
      const value = timeField(field, Number(interval.micros));
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
    fn("date_part", [TEXT, type], FLOAT8, (name: string, value: Value) => read(name, value)?.toNumber() ?? null),
  ];
}

const readTimestamp = (name: string, micros: number) => timestampField(fieldOf(name), micros, TIMESTAMP);

/** The start of the field's period that a wall clock reading lies in. */
function truncate(name: string, micros: number, type: SqlType): number {
  const field = fieldOf(name);
  if (!Number.isFinite(micros)) {
    if (!FIELDS.has(field)) throw notRecognized(field, type);
    return micros;
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
  if (unit !== undefined) return Math.floor(micros / unit) * unit;
  return truncatedDay(field, splitTimestamp(micros).days, type) * DAY_MICROS;
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

function truncateInstant(name: string, micros: number, timeZone: string): number {
  return instantOf(truncate(name, localMicros(micros, timeZone), TIMESTAMPTZ), timeZone);
}

function truncateInterval(name: string, { months, days, micros }: Interval): Interval {
  const field = fieldOf(name);
  const toMonths = (unit: number) => ({ months: Math.trunc(months / unit) * unit + 0, days: 0, micros: 0 });
  const toMicros = (unit: number) => ({ months, days, micros: Math.trunc(Number(micros) / unit) * unit + 0 });
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

const isInt64 = (micros: number) => Math.abs(micros) < 2 ** 63;

/** The start of the bin of `stride` that a point lies in, bins being counted from `origin`. */
function bin(stride: Interval, micros: number, origin: number): number {
  if (stride.months !== 0) {
    throw sqlError("0A000", "timestamps cannot be binned into intervals containing months or years");
  }
  const width = stride.days * DAY_MICROS + Number(stride.micros);
  if (width <= 0) throw sqlError("22008", "stride must be greater than zero");
  if (!Number.isFinite(micros)) return micros;
  if (!Number.isFinite(origin)) throw sqlError("22008", "origin out of range");
  if (!isInt64(width)) throw sqlError("22008", "interval out of range");
  if (!isInt64(micros - origin)) throw sqlError("22008", "timestamp out of range");
  return checkedTimestamp(origin + Math.floor((micros - origin) / width) * width);
}

export const DATETIME_FIELDS: readonly ScalarFunction[] = [
  ...both(DATE, dayField),
  ...both(TIME, clockField),
  ...both(TIMETZ, zonedClockField),
  ...both(TIMESTAMP, readTimestamp),
  ...both(INTERVAL, intervalField),
  contextFn("extract", [TEXT, TIMESTAMPTZ], NUMERIC, instantField),
  contextFn(
    "date_part",
    [TEXT, TIMESTAMPTZ],
    FLOAT8,
    (context, name: string, micros: number) => instantField(context, name, micros)?.toNumber() ?? null,
  ),
  fn("date_trunc", [TEXT, TIMESTAMP], TIMESTAMP, (name: string, micros: number) => truncate(name, micros, TIMESTAMP)),
  contextFn("date_trunc", [TEXT, TIMESTAMPTZ], TIMESTAMPTZ, (context, name: string, micros: number) =>
    truncateInstant(name, micros, context.timeZone),
  ),
  fn("date_trunc", [TEXT, TIMESTAMPTZ, TEXT], TIMESTAMPTZ, truncateInstant),
  fn("date_trunc", [TEXT, INTERVAL], INTERVAL, truncateInterval),
  fn("date_bin", [INTERVAL, TIMESTAMP, TIMESTAMP], TIMESTAMP, bin),
  fn("date_bin", [INTERVAL, TIMESTAMPTZ, TIMESTAMPTZ], TIMESTAMPTZ, bin),
];
