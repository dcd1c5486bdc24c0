/** The components of Cypher's temporal values, which expressions read as properties: `d.year`, `d.secondsOfMinute`. */
import { civilFromDays, isoWeek } from "../../../values/datetime.js";
import { CypherDate, Duration, type Temporal, ZonedDateTime } from "../../../values/temporal.js";
import { offsetToText } from "../../../values/temporal-text.js";
import type { Variant } from "../../../values/variant.js";
import { described } from "./define.js";
import { ownZone } from "./temporal-build.js";
import { dayOfQuarter, isoDayOfWeek, ordinalDayOf, quarterOfMonth } from "./temporal-calendar.js";
import { isDated, isTimed } from "./temporal-fields.js";
import { DAY_SECONDS, integerOf, invalidArgument, SECOND_NANOS } from "./temporal-range.js";

type Table<T> = Readonly<Record<string, (value: T) => Variant>>;

/** Of days since the epoch. */
const DATE: Table<number> = {
  year: (days) => civilFromDays(days).year,
  quarter: (days) => quarterOfMonth(civilFromDays(days).month),
  month: (days) => civilFromDays(days).month,
  week: (days) => isoWeek(days).week,
  weekyear: (days) => isoWeek(days).year,
  dayofquarter: dayOfQuarter,
  ordinalday: ordinalDayOf,
  day: (days) => civilFromDays(days).day,
  weekday: isoDayOfWeek,
  dayofweek: isoDayOfWeek,
};

/** Of nanoseconds since midnight. The three parts of a second each count from the second on. */
const TIME: Table<number> = {
  hour: (nanos) => Math.floor(nanos / (3600 * SECOND_NANOS)),
  minute: (nanos) => Math.floor(nanos / (60 * SECOND_NANOS)) % 60,
  second: (nanos) => Math.floor(nanos / SECOND_NANOS) % 60,
  millisecond: (nanos) => Math.floor((nanos % SECOND_NANOS) / 1_000_000),
  microsecond: (nanos) => Math.floor((nanos % SECOND_NANOS) / 1000),
  nanosecond: (nanos) => nanos % SECOND_NANOS,
};

interface Place {
  /** Seconds east of UTC. */
  readonly offset: number;
  readonly zone: string | null;
}

const PLACE: Table<Place> = {
  timezone: ({ offset, zone }) => zone ?? offsetToText(offset),
  offset: ({ offset }) => offsetToText(offset),
  offsetminutes: ({ offset }) => Math.trunc(offset / 60) + 0,
  offsetseconds: ({ offset }) => offset,
};

const EPOCH: Table<ZonedDateTime> = {
  epochseconds: (value) => integerOf(epochSeconds(value)),
  epochmillis: (value) =>
    integerOf(epochSeconds(value) * 1000n + BigInt(Math.floor((value.nanos % SECOND_NANOS) / 1_000_000))),
};

const epochSeconds = ({ days, nanos, offset }: ZonedDateTime) =>
  BigInt(days) * BigInt(DAY_SECONDS) + BigInt(Math.floor(nanos / SECOND_NANOS) - offset);

/** Whole units, towards zero, in a way that −0 does not come of it. */
const whole = (x: number, unit: number) => Math.trunc(x / unit) + 0;
const rest = (x: number, unit: number) => (x % unit) + 0;
const seconds = ({ seconds }: Duration) => BigInt(seconds);
/** All seconds and nanoseconds, in units of the given number per second. */
const fine = (x: Duration, perSecond: number) =>
  integerOf(seconds(x) * BigInt(perSecond) + BigInt(Math.floor(x.nanos / (SECOND_NANOS / perSecond))));

const DURATION: Table<Duration> = {
  years: ({ months }) => whole(months, 12),
  quarters: ({ months }) => whole(months, 3),
  months: ({ months }) => months,
  weeks: ({ days }) => whole(days, 7),
  days: ({ days }) => days,
  hours: (x) => integerOf(seconds(x) / 3600n),
  minutes: (x) => integerOf(seconds(x) / 60n),
  seconds: (x) => x.seconds,
  milliseconds: (x) => fine(x, 1000),
  microseconds: (x) => fine(x, 1_000_000),
  nanoseconds: (x) => fine(x, SECOND_NANOS),
  quartersofyear: ({ months }) => rest(whole(months, 3), 4),
  monthsofyear: ({ months }) => rest(months, 12),
  monthsofquarter: ({ months }) => rest(months, 3),
  daysofweek: ({ days }) => rest(days, 7),
  minutesofhour: (x) => Number((seconds(x) / 60n) % 60n),
  secondsofminute: (x) => Number(seconds(x) % 60n),
  millisecondsofsecond: ({ nanos }) => Math.floor(nanos / 1_000_000),
  microsecondsofsecond: ({ nanos }) => Math.floor(nanos / 1000),
  nanosecondsofsecond: ({ nanos }) => nanos,
};

/**
 * The component of that name, whatever the case of its letters. Throws ArgumentError for one that the value does not
 * have.
 */
export function temporalComponent(value: Temporal, name: string): Variant {
  const component = componentOf(value, name.toLowerCase());
  if (component === undefined) throw invalidArgument(`${described(value)} has no component "${name}"`);
  return component;
}

function componentOf(value: Temporal, name: string): Variant | undefined {
  if (value instanceof Duration) return read(DURATION, name, value);
  if (isDated(value)) {
    const component = read(DATE, name, value.days);
    if (component !== undefined || value instanceof CypherDate) return component;
  }
  if (!isTimed(value)) return undefined;
  const component = read(TIME, name, value.nanos);
  if (component !== undefined) return component;
  if (!("offset" in value)) return undefined;
  const zone = ownZone(value);
  const place = read(PLACE, name, { offset: value.offset, zone: typeof zone === "string" ? zone : null });
  return place ?? (value instanceof ZonedDateTime ? read(EPOCH, name, value) : undefined);
}

function read<T>(table: Table<T>, name: string, value: T): Variant | undefined {
  return Object.hasOwn(table, name) ? (table[name] as (value: T) => Variant)(value) : undefined;
}
