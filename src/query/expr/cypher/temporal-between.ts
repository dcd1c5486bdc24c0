/**
 * Computes the duration from one temporal instant to another: duration.between() in months, days and seconds, the
 * others in one unit. If one instant has no zone, it gets the other's. If one has no date, neither date counts. A date
 * without a time is its midnight.
 */
import { civilFromDays } from "../../../values/datetime.js";
import { type Duration, LocalDateTime, type Temporal, ZonedDateTime } from "../../../values/temporal.js";
import { described } from "./define.js";
import { ownZone } from "./temporal-build.js";
import { plusMonths } from "./temporal-calendar.js";
import { isDated, isTimed } from "./temporal-fields.js";
import { DAY_SECONDS, durationOf, integerOf, invalidArgument, SECOND_NANOS } from "./temporal-range.js";
import { inZone, zonedOfLocal, zoneOf } from "./temporal-zone.js";

type Point = LocalDateTime | ZonedDateTime;

interface Pair {
  readonly from: Point;
  readonly to: Point;
  /** Both have a date of their own. */
  readonly dated: boolean;
}

function pairOf(from: Temporal, to: Temporal): Pair {
  const [a, b] = [partsOf(from), partsOf(to)];
  const fromZone = a.zone ?? b.zone;
  const toZone = b.zone ?? a.zone;
  const point = (days: number, { nanos, offset }: Parts, zone: Parts["zone"]) =>
    zone === null ? new LocalDateTime(days, nanos) : zonedOfLocal(days, nanos, zone, offset);
  return {
    from: point(a.days ?? b.days ?? 0, a, fromZone),
    to: point(b.days ?? a.days ?? 0, b, toZone),
    dated: a.days !== null && b.days !== null,
  };
}

type Parts = ReturnType<typeof partsOf>;

function partsOf(value: Temporal) {
  const timed = isTimed(value) ? value : null;
  if (timed === null && !isDated(value)) throw invalidArgument(`no time lies between ${described(value)} and another`);
  return {
    days: isDated(value) ? value.days : null,
    nanos: timed?.nanos ?? 0,
    zone: ownZone(timed),
    offset: value instanceof ZonedDateTime ? value.offset : null,
  };
}

/**
 * duration.between(): from + duration is `to`, and its parts have one sign where the clock is not changed in between.
 */
export function durationBetween(from: Temporal, to: Temporal): Duration {
  const pair = pairOf(from, to);
  if (!pair.dated) return clockDifference(pair.from, pair.to, 0, 0);
  const months = monthsBetween(pair);
  const afterMonths = shifted(pair.from, months, 0);
  const days = daysBetween({ ...pair, from: afterMonths });
  return clockDifference(shifted(afterMonths, 0, days), pair.to, months, days);
}

export function durationInMonths(from: Temporal, to: Temporal): Duration {
  const pair = pairOf(from, to);
  return durationOf(pair.dated ? monthsBetween(pair) : 0, 0, 0, 0);
}

export function durationInDays(from: Temporal, to: Temporal): Duration {
  const pair = pairOf(from, to);
  return durationOf(0, pair.dated ? daysBetween(pair) : 0, 0, 0);
}

export function durationInSeconds(from: Temporal, to: Temporal): Duration {
  const pair = pairOf(from, to);
  return clockDifference(pair.from, pair.to, 0, 0);
}

function shifted(point: Point, months: number, days: number): Point {
  const day = plusMonths(point.days, months) + days;
  return point instanceof LocalDateTime
    ? new LocalDateTime(day, point.nanos)
    : zonedOfLocal(day, point.nanos, zoneOf(point), point.offset);
}

/** The day on which `to` falls as the clock of `from` shows it, less one that is not complete, towards `from`. */
function lastWholeDay({ from, to }: Pair): number {
  const end = from instanceof ZonedDateTime && to instanceof ZonedDateTime ? inZone(to, zoneOf(from)) : to;
  if (end.days > from.days && end.nanos < from.nanos) return end.days - 1;
  if (end.days < from.days && end.nanos > from.nanos) return end.days + 1;
  return end.days;
}

const daysBetween = (pair: Pair) => lastWholeDay(pair) - pair.from.days;

/** Whole months, towards zero. */
function monthsBetween(pair: Pair): number {
  const a = civilFromDays(pair.from.days);
  const b = civilFromDays(lastWholeDay(pair));
  const months = (b.year - a.year) * 12 + (b.month - a.month);
  if (months > 0 && b.day < a.day) return months - 1;
  if (months < 0 && b.day > a.day) return months + 1;
  return months;
}

/** The time by the clock from one to the other, with these months and days. */
function clockDifference(from: Point, to: Point, months: number, days: number): Duration {
  const offsets = from instanceof ZonedDateTime && to instanceof ZonedDateTime ? to.offset - from.offset : 0;
  const nanos = to.nanos - from.nanos - offsets * SECOND_NANOS;
  const whole = Math.floor(nanos / SECOND_NANOS);
  const left = nanos - whole * SECOND_NANOS;
  const seconds = integerOf(BigInt(to.days - from.days) * BigInt(DAY_SECONDS) + BigInt(whole));
  return durationOf(months, days, seconds, left);
}
