/**
 * Fields of Cypher's temporal instants as maps give them ({year: 1984, week: 10, hour: 12, timezone: "+01:00"}), and
 * the dates and times that they make, alone or over a value whose other fields stay.
 */
import { civilFromDays, daysInMonth, isoWeek } from "../../../values/datetime.js";
import { CypherDate, LocalDateTime, LocalTime, ZonedDateTime, ZonedTime } from "../../../values/temporal.js";
import { isIntegerValue, type Variant, type VariantMap } from "../../../values/variant.js";
import {
  calendarDate,
  inRange,
  isoDayOfWeek,
  ordinalDate,
  plusMonths,
  quarterDate,
  quarterOfMonth,
  weekDate,
} from "./temporal-calendar.js";
import { invalidArgument, SECOND_NANOS, YEAR_MAX } from "./temporal-range.js";
import { parseZone, type Zone } from "./temporal-zone.js";

/** Values that have a date, and those that have a time. */
export type Dated = CypherDate | LocalDateTime | ZonedDateTime;
export type Timed = LocalTime | ZonedTime | LocalDateTime | ZonedDateTime;

export const isDated = (x: unknown): x is Dated =>
  x instanceof CypherDate || x instanceof LocalDateTime || x instanceof ZonedDateTime;
export const isTimed = (x: unknown): x is Timed =>
  x instanceof LocalTime || x instanceof ZonedTime || x instanceof LocalDateTime || x instanceof ZonedDateTime;

export const DATE_FIELDS = [
  "year",
  "quarter",
  "month",
  "week",
  "dayOfQuarter",
  "ordinalDay",
  "dayOfWeek",
  "day",
] as const;
export const TIME_FIELDS = ["hour", "minute", "second", "millisecond", "microsecond", "nanosecond"] as const;

export type IntegerField = (typeof DATE_FIELDS)[number] | (typeof TIME_FIELDS)[number];
export type FieldName = IntegerField | "date" | "time" | "datetime" | "timezone" | "epochSeconds" | "epochMillis";

/** The fields of one map, checked for their types. Names count without regard to case. */
export class TemporalFields {
  readonly integers = new Map<IntegerField, number>();
  date: Dated | null = null;
  time: Timed | null = null;
  datetime: LocalDateTime | ZonedDateTime | null = null;
  timezone: Zone | null = null;
  /** Since the epoch, of either unit. */
  epochSeconds: bigint | null = null;
  epochMillis: bigint | null = null;

  /** Throws ArgumentError for a field that is not among `allowed`, and for values of wrong types. */
  constructor(map: VariantMap, allowed: readonly FieldName[], type: string) {
    for (const [key, value] of map) {
      const name = allowed.find((field) => field.toLowerCase() === key.toLowerCase());
      if (name === undefined) throw invalidArgument(`${type} has no field "${key}" to be made from`);
      this.set(name, value);
    }
  }

  get size(): number {
    const others = [this.date, this.time, this.datetime, this.timezone, this.epochSeconds, this.epochMillis];
    return this.integers.size + others.filter((x) => x !== null).length;
  }

  has(...names: IntegerField[]): boolean {
    return names.some((name) => this.integers.has(name));
  }

  private set(name: FieldName, value: Variant): void {
    if (name === "date") {
      if (!isDated(value)) throw invalidArgument("date must be a value that has a date");
      this.date = value;
    } else if (name === "time") {
      if (!isTimed(value)) throw invalidArgument("time must be a value that has a time");
      this.time = value;
    } else if (name === "datetime") {
      if (!isDated(value) || !isTimed(value))
        throw invalidArgument("datetime must be a value that has a date and a time");
      this.datetime = value;
    } else if (name === "timezone") {
      if (typeof value !== "string") throw invalidArgument("timezone must be a string");
      this.timezone = parseZone(value);
    } else {
      if (!isIntegerValue(value)) throw invalidArgument(`${name} must be an integer`);
      if (name === "epochSeconds" || name === "epochMillis") this[name] = BigInt(value);
      else this.integers.set(name, Number(value));
    }
  }
}

/** Fields of one way to name a day, the larger one first. Those of different ways do not mix. */
const WAYS: readonly (readonly IntegerField[])[] = [
  ["month", "day"],
  ["week", "dayOfWeek"],
  ["quarter", "dayOfQuarter"],
  ["ordinalDay"],
];

/**
 * Days since the epoch of the date that the fields name; `base` gives those that they leave out, and without it they
 * must be complete down to the smallest one. Throws ArgumentError.
 */
export function dateOfFields(fields: TemporalFields, base: number | null): number {
  const used = WAYS.filter((way) => fields.has(...way));
  if (used.length > 1) {
    const names = used.map((way) => way.find((name) => fields.has(name))).join(" and ");
    throw invalidArgument(`${names} cannot be given together`);
  }
  const way = used[0] ?? [];
  if (base === null) requireDown(fields, ["year", ...way]);
  const given = (name: IntegerField, otherwise: () => number) => fields.integers.get(name) ?? otherwise();
  if (way[0] === "week") return dateOfWeek(given, base);
  if (way[0] === "quarter") return dateOfQuarter(fields, given, base);
  const civil = base === null ? { year: 0, month: 1, day: 1 } : civilFromDays(base);
  const year = inRange(
    "year",
    given("year", () => civil.year),
    -YEAR_MAX,
    YEAR_MAX,
  );
  if (way[0] === "ordinalDay")
    return ordinalDate(
      year,
      given("ordinalDay", () => 1),
    );
  const month = inRange(
    "month",
    given("month", () => civil.month),
    1,
    12,
  );
  // A day that only stays is the month's last one where the month is shorter.
  return calendarDate(
    year,
    month,
    given("day", () => Math.min(civil.day, daysInMonth(year, month))),
  );
}

type Given = (name: IntegerField, otherwise: () => number) => number;

function dateOfWeek(given: Given, base: number | null): number {
  const of = base === null ? { year: 0, week: 1 } : isoWeek(base);
  const day = given("dayOfWeek", () => (base === null ? 1 : isoDayOfWeek(base)));
  return weekDate(
    given("year", () => of.year),
    given("week", () => of.week),
    day,
  );
}

/** Without a day of the quarter, the same day of the quarter's same month. */
function dateOfQuarter(fields: TemporalFields, given: Given, base: number | null): number {
  const civil = base === null ? { year: 0, month: 1, day: 1 } : civilFromDays(base);
  const year = given("year", () => civil.year);
  const quarter = given("quarter", () => quarterOfMonth(civil.month));
  if (base === null || fields.has("dayOfQuarter"))
    return quarterDate(
      year,
      quarter,
      given("dayOfQuarter", () => 1),
    );
  inRange("quarter", quarter, 1, 4);
  inRange("year", year, -YEAR_MAX, YEAR_MAX);
  return plusMonths(base, (year - civil.year) * 12 + (quarter - quarterOfMonth(civil.month)) * 3);
}

/** Throws ArgumentError when a field is given and one before it is not. */
function requireDown(fields: TemporalFields, names: readonly IntegerField[]): void {
  const missing = names.find((name) => !fields.has(name));
  if (missing === undefined) return;
  const after = names.slice(names.indexOf(missing) + 1).some((name) => fields.has(name));
  if (after || missing === names[0]) throw invalidArgument(`${missing} must be given`);
}

/**
 * Nanoseconds since midnight; as dateOfFields. A fraction of a second that is given replaces the whole one of `base`.
 */
export function timeOfFields(fields: TemporalFields, base: number | null): number {
  const given = fields.integers;
  if (base === null) {
    if (!fields.has(...TIME_FIELDS)) return 0;
    requireDown(fields, ["hour", "minute", "second"]);
    if (fields.has("millisecond", "microsecond", "nanosecond") && !fields.has("second")) {
      throw invalidArgument("second must be given");
    }
  }
  const nanos = base ?? 0;
  const seconds = Math.floor(nanos / SECOND_NANOS);
  const hour = inRange("hour", given.get("hour") ?? Math.floor(seconds / 3600), 0, 23);
  const minute = inRange("minute", given.get("minute") ?? Math.floor(seconds / 60) % 60, 0, 59);
  const second = inRange("second", given.get("second") ?? seconds % 60, 0, 59);
  const fraction = fields.has("millisecond", "microsecond", "nanosecond")
    ? fractionOfFields(fields)
    : nanos - seconds * SECOND_NANOS;
  return (hour * 3600 + minute * 60 + second) * SECOND_NANOS + fraction;
}

/** Each of the three is within the next larger one that is given, or within the second. */
export function fractionOfFields(fields: TemporalFields): number {
  const { integers: given } = fields;
  const milli = inRange("millisecond", given.get("millisecond") ?? 0, 0, 999);
  const micro = inRange("microsecond", given.get("microsecond") ?? 0, 0, given.has("millisecond") ? 999 : 999_999);
  const max = given.has("microsecond") ? 999 : given.has("millisecond") ? 999_999 : 999_999_999;
  const nano = inRange("nanosecond", given.get("nanosecond") ?? 0, 0, max);
  return milli * 1_000_000 + micro * 1000 + nano;
}
