/**
 * Intervals: reading PostgreSQL's three input styles (verbose, SQL standard, ISO 8601), printing its own, and their
 * arithmetic. Months, days and microseconds stay apart, because a month has no fixed number of days.
 */

import { sqlError } from "../protocol/errors.js";
import { DAY_MICROS, fractionText, HOUR_MICROS, MINUTE_MICROS, roundHalfEven, SECOND_MICROS } from "./datetime.js";
import { isInt64, normalMicros, plusMicros, roundedMicros, splitMicros, wholeMicros } from "./micros.js";
import type { Interval } from "./values.js";

type Unit = "months" | "days" | "micros";

/** Unit → part it counts in, how many of that part, and what a fraction of it spills into. */
const UNITS: Readonly<Record<string, readonly [Unit, number]>> = {
  microsecond: ["micros", 1],
  millisecond: ["micros", 1000],
  second: ["micros", SECOND_MICROS],
  minute: ["micros", MINUTE_MICROS],
  hour: ["micros", HOUR_MICROS],
  day: ["days", 1],
  week: ["days", 7],
  month: ["months", 1],
  quarter: ["months", 3],
  year: ["months", 12],
  decade: ["months", 120],
  century: ["months", 1200],
  millennium: ["months", 12_000],
};

const UNIT_NAMES: Readonly<Record<string, string>> = {
  us: "microsecond",
  usec: "microsecond",
  usecs: "microsecond",
  useconds: "microsecond",
  usecond: "microsecond",
  ms: "millisecond",
  msec: "millisecond",
  msecs: "millisecond",
  mseconds: "millisecond",
  msecond: "millisecond",
  s: "second",
  sec: "second",
  secs: "second",
  m: "minute",
  min: "minute",
  mins: "minute",
  h: "hour",
  hr: "hour",
  hrs: "hour",
  d: "day",
  w: "week",
  mon: "month",
  mons: "month",
  y: "year",
  yr: "year",
  yrs: "year",
  dec: "decade",
  decs: "decade",
  c: "century",
  cent: "century",
  centuries: "century",
  mil: "millennium",
  mils: "millennium",
  millennia: "millennium",
};

/** The unit that a word names ("hrs" → "hour"), or null. */
export function intervalUnit(word: string): string | null {
  const lower = word.toLowerCase();
  if (Object.hasOwn(UNIT_NAMES, lower)) return UNIT_NAMES[lower] as string;
  if (Object.hasOwn(UNITS, lower)) return lower;
  const singular = lower.endsWith("s") ? lower.slice(0, -1) : "";
  return Object.hasOwn(UNITS, singular) ? singular : null;
}

const isInt32 = (x: number) => x >= -2_147_483_648 && x <= 2_147_483_647;

/** An interval whose parts PostgreSQL can hold. Throws 22008 "interval out of range". */
export function makeInterval(months: number, days: number, micros: number | bigint): Interval {
  const isSafe = typeof micros === "number" && Math.abs(micros) <= Number.MAX_SAFE_INTEGER;
  const fits = isSafe || ((typeof micros === "bigint" || Number.isFinite(micros)) && isInt64(BigInt(micros)));
  if (!(isInt32(months) && isInt32(days) && fits)) throw sqlError("22008", "interval out of range");
  return { months: months + 0, days: days + 0, micros: isSafe ? micros + 0 : normalMicros(BigInt(micros)) };
}

/** A number in an interval's text: its whole part and what is behind the point. */
interface Amount {
  readonly whole: bigint;
  readonly fraction: number;
}

function amountOf(x: number): Amount {
  const whole = Math.trunc(x);
  return { whole: BigInt(whole), fraction: x - whole };
}

/** Whole parts are read with all their digits, unless there is an exponent. */
function parseAmount(text: string): Amount {
  const [, sign, digits, fraction] = /^([+-]?)(\d*)(\.\d*)?$/.exec(text) ?? [];
  if (digits === undefined) return amountOf(Number(text));
  const part = Number(`0${fraction ?? ""}`);
  return { whole: BigInt(`${digits || "0"}`) * (sign === "-" ? -1n : 1n), fraction: sign === "-" ? -part : part };
}

const SECOND_UNITS = ["second", "millisecond", "microsecond"];
const TIME_UNITS = ["hour", "minute", ...SECOND_UNITS];

/** Collects fields; fractions of a unit spill into the next smaller ones as PostgreSQL's DecodeInterval does. */
class Accumulator {
  years = 0;
  months = 0;
  days = 0;
  micros = 0n;
  private readonly seen = new Set<string>();

  /** False when the unit was given before; a time of day counts hours, minutes and all of seconds. */
  claim(unit: string, fractional = false): boolean {
    const claimed = unit === "time" ? TIME_UNITS : unit === "second" && fractional ? SECOND_UNITS : [unit];
    if (claimed.some((name) => this.seen.has(name))) return false;
    for (const name of claimed) this.seen.add(name);
    return true;
  }

  add(amount: Amount, unit: string): void {
    const [part, factor] = UNITS[unit] as readonly [Unit, number];
    const { fraction } = amount;
    if (part === "micros") {
      this.micros += amount.whole * BigInt(factor) + BigInt(roundHalfDown(fraction * factor));
      return;
    }
    const whole = Number(amount.whole);
    if (part === "days") {
      this.days += whole * factor;
      this.addFractionalDays(fraction * factor);
    } else {
      if (factor % 12 === 0) this.years += whole * (factor / 12);
      else this.months += whole * factor;
      // A fraction of a year or more counts whole months, a fraction of a month days.
      if (factor === 1) this.addFractionalDays(fraction * 30);
      else this.months += Math.round(fraction * factor);
    }
  }

  addFractionalDays(days: number): void {
    // Rounded first: 0.1 × 30 is not quite 3.
    const exact = Math.round(days * 1e9) / 1e9;
    const whole = Math.trunc(exact);
    this.days += whole;
    this.micros += BigInt(Math.round((exact - whole) * DAY_MICROS));
  }

  negate(): void {
    this.years = -this.years;
    this.months = -this.months;
    this.days = -this.days;
    this.micros = -this.micros;
  }
}

const invalid = (text: string) => sqlError("22007", `invalid input syntax for type interval: "${text}"`);
const outOfRange = (text: string) => sqlError("22015", `interval field value out of range: "${text}"`);

/** PostgreSQL's mask bits of the fields that an interval type may be limited to. */
const YEAR = 1 << 2;
const MONTH = 1 << 1;
const DAY = 1 << 3;
const HOUR = 1 << 10;
const MINUTE = 1 << 11;

/**
 * Reads an interval; `modifier` as on SqlType (interval): limits the fields, and says what a bare number counts.
 * Throws 22007 for bad syntax, 22015 for a field out of range.
 */
export function parseInterval(text: string, modifier: number | null = null): Interval {
  const source = text.trim();
  const fields = new Accumulator();
  const mask = modifier === null ? 0x7fff : modifier >>> 16;
  if (/^-?P/.test(source)) parseIso(source, fields, text);
  else parseVerbose(source, fields, text, mask);
  const { days, micros } = fields;
  const months = fields.years * 12 + fields.months;
  if (![fields.years, fields.months, days].every(isInt32) || !isInt64(micros)) throw outOfRange(text);
  if (!isInt32(months)) throw sqlError("22008", "interval out of range");
  return limitInterval({ months: months + 0, days: days + 0, micros: normalMicros(micros) }, modifier);
}

/** Drops the fields that an interval type does not have and rounds its seconds. */
export function limitInterval(interval: Interval, modifier: number | null): Interval {
  if (modifier === null) return interval;
  const mask = modifier >>> 16;
  const digits = modifier & 0xffff;
  let { months, days, micros } = interval;
  if (mask !== 0x7fff) {
    if (mask === YEAR) {
      months = Math.trunc(months / 12) * 12;
      days = 0;
      micros = 0;
    } else if ((mask & ~(YEAR | MONTH)) === 0) {
      days = 0;
      micros = 0;
    } else if (mask === DAY) micros = 0;
    else if ((mask & (1 << 12)) === 0) {
      const unit = (mask & MINUTE) !== 0 ? MINUTE_MICROS : HOUR_MICROS;
      micros = wholeMicros(micros, unit);
    }
  }
  if (digits < 6) micros = roundedMicros(micros, digits);
  return makeInterval(months, days, micros);
}

/** A number of ISO 8601's form: a sign, digits with or without a point, an exponent. */
const ISO_NUMBER = "[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?";
const ISO_DATE = new RegExp(`^(?:${ISO_NUMBER}[YMWD])*$`);
const ISO_TIME = new RegExp(`^(?:${ISO_NUMBER}[HMS])+$`);
const ISO_PART = new RegExp(`(${ISO_NUMBER})([A-Z])`, "g");
const ISO_PLAIN_DATE = new RegExp(`^(${ISO_NUMBER})(?:-(${ISO_NUMBER}))?(?:-(${ISO_NUMBER}))?$`);
const ISO_PLAIN_TIME = new RegExp(`^(${ISO_NUMBER})(?::(${ISO_NUMBER}))?(?::(${ISO_NUMBER}))?$`);
const ISO_DATE_UNITS: Readonly<Record<string, string>> = { Y: "year", M: "month", W: "week", D: "day" };
const ISO_TIME_UNITS: Readonly<Record<string, string>> = { H: "hour", M: "minute", S: "second" };
/**
 * ISO 8601: P1Y2M3W4DT5H6M7.5S with signs anywhere, the alternative P0001-02-03T04:05:06, and its basic form
 * P00010203T040506.
 */
function parseIso(source: string, fields: Accumulator, text: string): void {
  const negative = source.startsWith("-");
  const body = source
    .slice(negative ? 2 : 1)
    .replace(BASIC_DATE, "$1-$2-$3")
    .replace(BASIC_TIME, "T$1:$2:$3");
  const [date = "", time] = body.split("T");
  if (body === "" || time === "") throw invalid(text);
  if (ISO_DATE.test(date)) addParts(fields, date, ISO_DATE_UNITS);
  else addPlain(fields, ISO_PLAIN_DATE.exec(date), ["year", "month", "day"], text);
  if (time !== undefined) {
    if (ISO_TIME.test(time)) addParts(fields, time, ISO_TIME_UNITS);
    else addPlain(fields, ISO_PLAIN_TIME.exec(time), ["hour", "minute", "second"], text);
  }
  if (negative) fields.negate();
}

function addParts(fields: Accumulator, part: string, units: Readonly<Record<string, string>>): void {
  for (const [, amount, unit] of part.matchAll(ISO_PART))
    fields.add(amountOf(Number(amount)), units[unit as string] as string);
}

function addPlain(fields: Accumulator, match: RegExpExecArray | null, units: readonly string[], text: string): void {
  if (match === null) throw invalid(text);
  for (const [i, unit] of units.entries()) fields.add(amountOf(Number(match[i + 1] ?? 0)), unit);
}

const BASIC_DATE = /^(\d{4})(\d{2})(\d{2})(?=T|$)/;
const BASIC_TIME = /T(\d{2})(\d{2})(\d{2}(?:\.\d+)?)$/;

const TOKEN =
  /\s*(?:([+-]?)\s*(\d+):(\d*)(?::(\d+(?:\.\d*)?)|(\.\d+))?|([+-]?)(\d+)-(\d+)(?![\d])|([+-]?\s*(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)|(@)|([a-z]+))/iy;

/** "1 year 2 mons 3 days 04:05:06 ago", "1-2", "3 04:05:06" and mixtures; units may touch their numbers. */
function parseVerbose(source: string, fields: Accumulator, text: string, mask: number): void {
  let pending: Amount | null = null;
  /** A number in front of a number: days, if that one turns out to be hours. */
  let earlier: Amount | null = null;
  let any = false;
  let ago = false;
  // A sign at the front of SQL's standard form counts for all its fields.
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const match = TOKEN.exec(source);
    if (match === null || ago) {
      TOKEN.lastIndex = 0;
      throw invalid(text);
    }
    const [, sign, hours, minutes, seconds, fraction, ymSign, years, months, number, , word] = match;
    if (hours !== undefined) {
      if (!fields.claim("time")) throw invalid(text);
      if (pending !== null) {
        if (!fields.claim("day")) throw invalid(text);
        fields.add(pending, "day");
      }
      pending = null;
      fields.micros += timeField(sign === "-", hours, minutes as string, seconds ?? null, fraction ?? null, mask, text);
    } else if (years !== undefined) {
      if (pending !== null || !fields.claim("month")) throw invalid(text);
      if (Number(months) > 11) throw outOfRange(text);
      const total = Number(years) * 12 + Number(months);
      fields.months += ymSign === "-" ? -total : total;
    } else if (number !== undefined) {
      if (earlier !== null) throw invalid(text);
      earlier = pending;
      pending = parseAmount(number.replace(/\s/g, ""));
    } else if (word !== undefined) {
      if (word.toLowerCase() === "ago") ago = any;
      const unit = ago ? null : intervalUnit(word);
      if ((unit === null && !ago) || (!ago && pending === null) || (ago && pending !== null)) throw invalid(text);
      if (unit !== null) {
        if (!fields.claim(unit, pending!.fraction !== 0)) throw invalid(text);
        fields.add(pending!, unit);
        earlier = addDays(fields, earlier, unit, text);
      }
      pending = null;
    }
    any = any || match[10] === undefined;
  }
  if (pending !== null) {
    const unit = bareUnit(mask);
    if (!fields.claim(unit, pending.fraction !== 0)) throw invalid(text);
    fields.add(pending, unit);
    earlier = addDays(fields, earlier, unit, text);
  }
  if (!any) throw invalid(text);
  if (ago) fields.negate();
}

/** The number in front of an hours field counts days; elsewhere it is an error. */
function addDays(fields: Accumulator, days: Amount | null, unit: string, text: string): null {
  if (days === null) return null;
  if (unit !== "hour" || !fields.claim("day")) throw invalid(text);
  fields.add(days, "day");
  return null;
}

/** What a number without a unit counts: the last field of the type, seconds by default. */
function bareUnit(mask: number): string {
  if (mask === YEAR) return "year";
  if ((mask & ~(YEAR | MONTH)) === 0) return "month";
  if (mask === DAY) return "day";
  if ((mask & (1 << 12)) !== 0 || mask === 0x7fff) return "second";
  return (mask & MINUTE) !== 0 ? "minute" : "hour";
}

function timeField(
  negative: boolean,
  first: string,
  second: string,
  third: string | null,
  fraction: string | null,
  mask: number,
  text: string,
): bigint {
  // "1:02" is minutes and seconds when the type has no hours.
  const noHours = mask !== 0x7fff && (mask & HOUR) === 0 && third === null;
  const shifted = noHours || fraction !== null;
  const hours = shifted ? 0n : BigInt(first);
  const minutes = Number(shifted ? first : second);
  const seconds = shifted ? Number(second + (fraction ?? "")) : Number(third ?? 0);
  if ((minutes > 59 && !shifted) || seconds > 60) throw outOfRange(text);
  const rest = minutes * MINUTE_MICROS + roundHalfEven(seconds * SECOND_MICROS);
  const micros = hours * BigInt(HOUR_MICROS) + BigInt(rest);
  return negative ? -micros : micros;
}

/** IntervalStyle postgres: "1 year 2 mons -3 days +04:05:06.7". */
export function intervalToText(interval: Interval): string {
  const { months, days, micros } = interval;
  let text = "";
  let before = false;
  const part = (value: number, unit: string) => {
    if (value === 0) return;
    const plus = before && value > 0 ? "+" : "";
    text += `${text === "" ? "" : " "}${plus}${value} ${unit}${value === 1 ? "" : "s"}`;
    before = value < 0;
  };
  part(Math.trunc(months / 12), "year");
  part(months % 12, "mon");
  part(days, "day");
  if (text !== "" && micros === 0) return text;
  const sign = micros < 0 ? "-" : before ? "+" : "";
  return `${text === "" ? "" : `${text} `}${sign}${clockText(micros < 0 ? -micros : micros)}`;
}

/** Hours beyond 24 are printed as they are. */
function clockText(micros: number | bigint): string {
  const { whole: seconds, rest: fraction } = splitMicros(micros, SECOND_MICROS);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const text = parts.map((n) => String(n).padStart(2, "0")).join(":");
  return fraction === 0 ? text : `${text}.${fractionText(fraction)}`;
}

export function addIntervals(a: Interval, b: Interval): Interval {
  return makeInterval(a.months + b.months, a.days + b.days, plusMicros(a.micros, b.micros));
}

export function negateInterval(interval: Interval): Interval {
  return makeInterval(-interval.months, -interval.days, -interval.micros);
}

/** Fractions of months become days (30 to a month), fractions of days time (timestamp.c, interval_mul). */
export function multiplyInterval(interval: Interval, factor: number): Interval {
  const monthsExact = interval.months * factor;
  const daysExact = interval.days * factor;
  const months = Math.trunc(monthsExact);
  const days = Math.trunc(daysExact);
  const monthDays = roundToMicro((monthsExact - months) * 30);
  let seconds = roundToMicro((daysExact - days + monthDays - Math.trunc(monthDays)) * 86_400);
  let extraDays = Math.trunc(monthDays);
  if (Math.abs(seconds) >= 86_400) {
    extraDays += Math.trunc(seconds / 86_400);
    seconds -= Math.trunc(seconds / 86_400) * 86_400;
  }
  const micros = roundHalfEven(Number(interval.micros) * factor + seconds * SECOND_MICROS);
  // The range's end as a double is one too many.
  return makeInterval(months, days + extraDays, Math.abs(micros) < 2 ** 63 ? micros : Number.NaN);
}

const roundToMicro = (x: number) => Math.round(x * 1e6) / 1e6;

/** A half goes towards zero, as in PostgreSQL's AdjustFractMicroseconds. */
function roundHalfDown(x: number): number {
  const whole = Math.trunc(x);
  const rest = x - whole;
  return rest > 0.5 ? whole + 1 : rest < -0.5 ? whole - 1 : whole;
}

/** 24 hours become a day. */
export function justifyHours(interval: Interval): Interval {
  const { whole, rest } = splitMicros(interval.micros, DAY_MICROS);
  let days = interval.days + whole;
  let micros = rest;
  if (days > 0 && micros < 0) {
    micros += DAY_MICROS;
    days--;
  } else if (days < 0 && micros > 0) {
    micros -= DAY_MICROS;
    days++;
  }
  return makeInterval(interval.months, days, micros);
}

/** 30 days become a month. */
export function justifyDays(interval: Interval): Interval {
  const whole = Math.trunc(interval.days / 30);
  let months = interval.months + whole;
  let days = interval.days - whole * 30;
  if (months > 0 && days < 0) {
    days += 30;
    months--;
  } else if (months < 0 && days > 0) {
    days -= 30;
    months++;
  }
  return makeInterval(months, days, interval.micros);
}

/** Both at once, all parts ending with the same sign (timestamp.c, interval_justify_interval). */
export function justifyInterval(interval: Interval): Interval {
  const { whole, rest } = splitMicros(interval.micros, DAY_MICROS);
  let days = interval.days + whole;
  let micros = rest;
  const wholeMonths = Math.trunc(days / 30);
  let months = interval.months + wholeMonths;
  days -= wholeMonths * 30;
  if (months > 0 && (days < 0 || (days === 0 && micros < 0))) {
    days += 30;
    months--;
  } else if (months < 0 && (days > 0 || (days === 0 && micros > 0))) {
    days -= 30;
    months++;
  }
  if (days > 0 && micros < 0) {
    micros += DAY_MICROS;
    days--;
  } else if (days < 0 && micros > 0) {
    micros -= DAY_MICROS;
    days++;
  }
  return makeInterval(months, days, micros);
}
