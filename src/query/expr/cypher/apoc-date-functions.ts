/**
 * `apoc.date.*`: moments as numbers since 1970 in a unit, and their text by a pattern of letters as Java's
 * DateTimeFormatter has them. Times are in UTC.
 */
import { cypherError } from "../../../values/cypher-error.js";
import type { Variant } from "../../../values/variant.js";
import { isIntegerValue } from "../../../values/variant.js";
import type { ScalarFunction } from "../expr.js";
import { cypherContextFn, cypherFns, wrongArgument } from "./define.js";

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

const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const MONTHS = "January February March April May June July August September October November December".split(" ");
/** Letters in a row, text in quotes, or one other character. */
const TOKENS = /([A-Za-z])\1*|'(?:[^']|'')*'|[^A-Za-z]/g;

const digits = (value: number, width: number): string => String(value).padStart(width, "0");

/** The text of a run of one letter. */
function field(date: Date, token: string): string {
  const width = token.length;
  switch (token[0]) {
    case "y":
    case "u": {
      const year = date.getUTCFullYear();
      return width === 2 ? digits(year % 100, 2) : digits(year, width);
    }
    case "M":
    case "L": {
      const name = MONTHS[date.getUTCMonth()]!;
      if (width > 3) return name;
      return width === 3 ? name.slice(0, 3) : digits(date.getUTCMonth() + 1, width);
    }
    case "E": {
      const name = DAYS[date.getUTCDay()]!;
      return width > 3 ? name : name.slice(0, 3);
    }
    case "d":
      return digits(date.getUTCDate(), width);
    case "H":
      return digits(date.getUTCHours(), width);
    case "h":
      return digits(date.getUTCHours() % 12 || 12, width);
    case "a":
      return date.getUTCHours() < 12 ? "AM" : "PM";
    case "m":
      return digits(date.getUTCMinutes(), width);
    case "s":
      return digits(date.getUTCSeconds(), width);
    case "S":
      return digits(date.getUTCMilliseconds(), 3).padEnd(width, "0").slice(0, width);
    case "X":
      return "Z";
    case "x":
    case "Z":
      return width === 3 ? "+00:00" : "+0000";
    case "z":
    case "V":
      return "UTC";
    default:
      return refused(`apoc.date does not know the letter ${token[0]} in a pattern`);
  }
}

function unquoted(token: string): string {
  return token === "''" ? "'" : token.slice(1, -1).replaceAll("''", "'");
}

function formatted(date: Date, pattern: string): string {
  const tokens = pattern.match(TOKENS) ?? [];
  return tokens
    .map((token) => (/^[A-Za-z]/.test(token) ? field(date, token) : /^'./.test(token) ? unquoted(token) : token))
    .join("");
}

/** What the letters of a pattern read. */
interface Parts {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  milli: number;
  offset: number;
  afternoon: boolean | null;
}

/** Reads the token at a place of the text; answers where it ends. */
function take(text: string, at: number, token: string, parts: Parts): number {
  const number = (width: number): number => {
    const found =
      /^\d+/.exec(text.slice(at, at + width))?.[0] ?? refused(`apoc.date.parse(): no number at "${text.slice(at)}"`);
    at += found.length;
    return Number(found);
  };
  const width = token.length === 1 ? 2 : token.length;
  switch (token[0]) {
    case "y":
    case "u":
      parts.year = token.length === 2 ? 2000 + number(2) : number(4);
      return at;
    case "M":
    case "L": {
      if (token.length < 3) {
        parts.month = number(width);
        return at;
      }
      const rest = text.slice(at).toLowerCase();
      const month = MONTHS.findIndex((name) =>
        rest.startsWith((token.length > 3 ? name : name.slice(0, 3)).toLowerCase()),
      );
      if (month < 0) refused(`apoc.date.parse(): no month at "${text.slice(at)}"`);
      parts.month = month + 1;
      return at + (token.length > 3 ? MONTHS[month]!.length : 3);
    }
    case "E":
      return at + (/^[A-Za-z]+/.exec(text.slice(at))?.[0].length ?? 0);
    case "d":
      parts.day = number(width);
      return at;
    case "H":
    case "h":
      parts.hour = number(width);
      return at;
    case "a":
      parts.afternoon = text.slice(at, at + 2).toUpperCase() === "PM";
      return at + 2;
    case "m":
      parts.minute = number(width);
      return at;
    case "s":
      parts.second = number(width);
      return at;
    case "S":
      parts.milli = number(token.length);
      return at;
    case "X":
    case "x":
    case "Z":
    case "z":
    case "V": {
      const zone =
        /^(?:Z|UTC|GMT|([+-])(\d\d):?(\d\d))/.exec(text.slice(at)) ??
        refused(`apoc.date.parse(): no offset at "${text.slice(at)}"`);
      if (zone[1] !== undefined) parts.offset = (zone[1] === "-" ? -1 : 1) * (Number(zone[2]) * 60 + Number(zone[3]));
      return at + zone[0].length;
    }
    default:
      return refused(`apoc.date does not know the letter ${token[0]} in a pattern`);
  }
}

function parsed(text: string, pattern: string): number {
  const parts: Parts = {
    year: 1970,
    month: 1,
    day: 1,
    hour: 0,
    minute: 0,
    second: 0,
    milli: 0,
    offset: 0,
    afternoon: null,
  };
  let at = 0;
  for (const token of pattern.match(TOKENS) ?? []) {
    if (/^[A-Za-z]/.test(token)) at = take(text, at, token, parts);
    else {
      const literal = /^'./.test(token) ? unquoted(token) : token;
      if (!text.startsWith(literal, at)) refused(`apoc.date.parse(): "${text.slice(0, 100)}" is not like ${pattern}`);
      at += literal.length;
    }
  }
  const { year, month, day, minute, second, milli, offset, afternoon } = parts;
  const hour = afternoon === null ? parts.hour : (parts.hour % 12) + (afternoon ? 12 : 0);
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second, milli));
  if (at < text.length || date.getUTCMonth() !== month - 1 || hour > 23 || minute > 59) {
    refused(`apoc.date.parse(): "${text.slice(0, 100)}" is not like ${pattern}`);
  }
  return date.getTime() - offset * 60_000;
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
    return formatted(momentOf(time, unit), textIn(pattern));
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
