/**
 * `apoc.date.*`: moments as numbers since 1970 in a unit, and their text by a pattern of letters as Java's
 * DateTimeFormatter has them. Times are in UTC.
 */
import { cypherError } from "../../../values/cypher-error.js";
import type { Variant } from "../../../values/variant.js";
import { isIntegerValue } from "../../../values/variant.js";
import type { ScalarFunction } from "../expr.js";
import { cypherContextFn, cypherFns, wrongArgument } from "./define.js";
import { type Shown, textByPattern } from "./temporal-pattern.js";
import { readByPattern } from "./temporal-pattern-read.js";

const DAY_MILLIS = 86_400_000;

const UNITS: readonly (readonly [names: string, milliseconds: number])[] = [
  ["ms milli millis milliseconds", 1],
  ["s second seconds", 1000],
  ["m minute minutes", 60_000],
  ["h hour hours", 3_600_000],
  ["d day days", 86_400_000],
];

function refused(what: string): never {
  throw cypherError("ArgumentError", "InvalidArgumentValue", what);
}

function unitOf(name: Variant): number {
  const unit = UNITS.find(([names]) => typeof name === "string" && names.split(" ").includes(name.toLowerCase()));
  return unit?.[1] ?? refused(`apoc.date has the units ms, s, m, h and d, not ${String(name)}`);
}

function numberIn(value: Variant): number {
  if (isIntegerValue(value)) return Number(value);
  throw wrongArgument("apoc.date", "an integer", value);
}

function textIn(value: Variant): string {
  if (typeof value === "string") return value;
  throw wrongArgument("apoc.date", "a string", value);
}

function momentOf(value: Variant, unit: Variant): Date {
  const date = new Date(numberIn(value) * unitOf(unit));
  return Number.isNaN(date.getTime()) ? refused("apoc.date: the moment is out of range") : date;
}

function requireUtc(zone: Variant): void {
  if (zone === "UTC" || zone === "GMT" || zone === "Z" || zone === "") return;
  refused(`apoc.date reckons in UTC, not in ${String(zone)}: datetime() knows time zones`);
}

/** Days since the epoch and nanoseconds since midnight. */
function shownOf(date: Date): Shown {
  const days = Math.floor(date.getTime() / DAY_MILLIS);
  return { days, nanos: (date.getTime() - days * DAY_MILLIS) * 1_000_000, offset: 0, zone: "UTC" };
}

/** Milliseconds since the epoch. */
function parsed(text: string, pattern: string): number {
  const { days, nanos, zone } = readByPattern(text, pattern);
  if (typeof zone === "string") refused(`apoc.date knows offsets, not the zone ${zone}: datetime() knows time zones`);
  return days * DAY_MILLIS + Math.floor(nanos / 1_000_000) - (zone ?? 0) * 1000;
}

const USUAL = "yyyy-MM-dd HH:mm:ss";

const FIELDS: Readonly<Record<string, (date: Date) => number>> = {
  year: (date) => date.getUTCFullYear(),
  years: (date) => date.getUTCFullYear(),
  month: (date) => date.getUTCMonth() + 1,
  months: (date) => date.getUTCMonth() + 1,
  day: (date) => date.getUTCDate(),
  d: (date) => date.getUTCDate(),
  hour: (date) => date.getUTCHours(),
  h: (date) => date.getUTCHours(),
  minute: (date) => date.getUTCMinutes(),
  m: (date) => date.getUTCMinutes(),
  second: (date) => date.getUTCSeconds(),
  s: (date) => date.getUTCSeconds(),
  weekday: (date) => date.getUTCDay() || 7,
};

export const APOC_DATE_FUNCTIONS: readonly ScalarFunction[] = [
  ...cypherFns("apoc.date.format", [1, 2, 3, 4], (time, unit = "ms", pattern = USUAL, zone = "UTC") => {
    requireUtc(zone);
    return textByPattern(shownOf(momentOf(time, unit)), textIn(pattern));
  }),
  ...cypherFns("apoc.date.parse", [1, 2, 3, 4], (text, unit = "ms", pattern = USUAL, zone = "UTC") => {
    requireUtc(zone);
    return Math.trunc(parsed(textIn(text), textIn(pattern)) / unitOf(unit)) + 0;
  }),
  cypherContextFn("apoc.date.currentTimestamp", [], () => Date.now(), { volatility: "volatile" }),
  ...cypherFns("apoc.date.toISO8601", [1, 2], (time, unit = "ms") => momentOf(time, unit).toISOString()),
  ...cypherFns("apoc.date.fromISO8601", [1], (text) => {
    const time = Date.parse(textIn(text));
    return Number.isNaN(time) ? refused("apoc.date.fromISO8601() was given no ISO 8601 text") : time;
  }),
  ...cypherFns(
    "apoc.date.convert",
    [3],
    (time, from, to) => Math.trunc((numberIn(time) * unitOf(from)) / unitOf(to)) + 0,
  ),
  ...cypherFns(
    "apoc.date.add",
    [4],
    (time, unit, count, by) =>
      Math.trunc((numberIn(time) * unitOf(unit) + numberIn(count) * unitOf(by)) / unitOf(unit)) + 0,
  ),
  ...cypherFns("apoc.date.field", [1, 2, 3], (time, name = "d", zone = "UTC") => {
    requireUtc(zone);
    const read = FIELDS[textIn(name).toLowerCase()] ?? refused(`apoc.date.field() has no ${String(name)}`);
    return read(momentOf(time, "ms"));
  }),
];
