/**
 * Reading dates, times and timestamps in the spellings that PostgreSQL accepts (appendix B of its manual, DateStyle
 * ISO, MDY). Literals, casts and parameters come through here; the usual ISO spelling takes a short way.
 */

import { sqlError } from "../protocol/errors.js";
import {
  checkedTimestamp,
  DATE_MAX,
  DATE_MIN,
  DAY_MICROS,
  daysFromCivil,
  daysInMonth,
  HOUR_MICROS,
  isLeapYear,
  MINUTE_MICROS,
  roundMicros,
  roundTimestamp,
  SECOND_MICROS,
  splitTimestamp,
} from "./datetime.js";
import type { DateOrder, TextStyle } from "./text-style.js";
import { isTimeZone, offsetAt, offsetOfLocal } from "./time-zone.js";
import type { TimeTz } from "./values.js";

/** What the reading of "now", "today" and of times without a zone depends on. */
export interface Clock {
  readonly timeZone: string;
  /** Microseconds since the epoch. */
  readonly nowMicros: number;
  /** Of the fields of a date, where the text leaves it open; absent: MDY. */
  readonly order?: DateOrder;
  /** In `sql_standard` one sign before an interval is about all of its parts. */
  readonly intervals?: TextStyle["intervals"];
}

type Kind = "date" | "time" | "time with time zone" | "timestamp" | "timestamp with time zone";

interface Fields {
  /** Days since the epoch, ±Infinity, or null when no date was given. */
  days: number | null;
  /** Microseconds since midnight, or null. */
  micros: number | null;
  /** Seconds east of UTC, the name of a zone, or null. */
  zone: number | string | null;
  /** An instant: "now" and "epoch". */
  instant: number | null;
}

const syntax = (kind: Kind, text: string) => sqlError("22007", `invalid input syntax for type ${kind}: "${text}"`);
const fieldRange = (text: string, hint?: string) =>
  sqlError("22008", `date/time field value out of range: "${text}"`, hint === undefined ? {} : { hint });
const zoneRange = (text: string) => sqlError("22009", `time zone displacement out of range: "${text}"`);

const DATESTYLE_HINT = 'Perhaps you need a different "datestyle" setting.';

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(?:Z|([+-]\d\d)(?::?(\d\d))?)?)?$/;

/** Days since 1970-01-01, ±Infinity. Throws 22007, 22008. */
export function parseDate(text: string, clock: Clock): number {
  const iso = ISO.exec(text);
  if (iso !== null) {
    // The time counts for nothing, but must be one.
    isoMicros(iso, text);
    if (iso[8] !== undefined) isoOffset(iso);
    return civilDays(Number(iso[1]), Number(iso[2]), Number(iso[3]), text);
  }
  const fields = parseFields(text, "date", clock);
  if (fields.instant !== null) return splitTimestamp(localReading(fields.instant, clock)).days;
  if (fields.days === null) throw syntax("date", text);
  if (Number.isFinite(fields.days) && (fields.days < DATE_MIN || fields.days > DATE_MAX)) {
    throw sqlError("22008", `date out of range: "${text}"`);
  }
  return fields.days;
}

/** Microseconds since midnight (24:00:00 allowed). */
export function parseTime(text: string, clock: Clock, digits: number | null = null): number {
  const fields = parseFields(text, "time", clock);
  if (fields.instant !== null) return roundMicros(splitTimestamp(localNow(fields.instant, clock)).micros, digits);
  if (fields.micros === null) throw syntax("time", text);
  requireDatedZone(fields, "time", text);
  return roundMicros(fields.micros, digits);
}

export function parseTimeTz(text: string, clock: Clock, digits: number | null = null): TimeTz {
  const kind = "time with time zone";
  const fields = parseFields(text, kind, clock);
  if (fields.instant !== null) {
    const { micros } = splitTimestamp(localNow(fields.instant, clock));
    return { micros: roundMicros(micros, digits), offset: offsetAt(clock.timeZone, fields.instant) };
  }
  if (fields.micros === null) throw syntax(kind, text);
  requireDatedZone(fields, kind, text);
  const day = fields.days ?? splitTimestamp(localNow(clock.nowMicros, clock)).days;
  const zone = fields.zone ?? clock.timeZone;
  const offset = typeof zone === "number" ? zone : offsetOfLocal(zone, day * DAY_MICROS + fields.micros);
  return { micros: roundMicros(fields.micros, digits), offset };
}

/** What a region's clock shows depends on the day. */
function requireDatedZone({ zone, days }: Fields, kind: Kind, text: string): void {
  if (days === null && typeof zone === "string" && zone.includes("/")) throw syntax(kind, text);
}

/** Microseconds of the wall clock; a zone in the text is not looked at. */
export function parseTimestamp(text: string, clock: Clock, digits: number | null = null): number {
  const iso = ISO.exec(text);
  if (iso !== null) return roundTimestamp(isoMicros(iso, text), digits);
  const fields = parseFields(text, "timestamp", clock);
  if (fields.instant !== null) {
    return roundTimestamp(localReading(fields.instant, clock), digits);
  }
  return roundTimestamp(wallClock(fields, "timestamp", text), digits);
}

/** Microseconds since the epoch; a text without a zone is taken in the clock's. */
export function parseTimestampTz(text: string, clock: Clock, digits: number | null = null): number {
  const kind = "timestamp with time zone";
  const iso = ISO.exec(text);
  if (iso !== null) {
    const local = isoMicros(iso, text);
    const offset = iso[8] === undefined ? null : isoOffset(iso);
    if (offset !== null || text.endsWith("Z")) return roundTimestamp(local - (offset ?? 0) * SECOND_MICROS, digits);
    return roundTimestamp(local - offsetOfLocal(clock.timeZone, local) * SECOND_MICROS, digits);
  }
  const fields = parseFields(text, kind, clock);
  if (fields.instant !== null) return roundTimestamp(fields.instant, digits);
  const local = wallClock(fields, kind, text);
  if (!Number.isFinite(local)) return local;
  const zone = fields.zone ?? clock.timeZone;
  const offset = typeof zone === "number" ? zone : offsetOfLocal(zone, local);
  return roundTimestamp(local - offset * SECOND_MICROS, digits);
}

const localNow = (instant: number, clock: Clock) => instant + offsetAt(clock.timeZone, instant) * SECOND_MICROS;

/** "epoch" is 1970-01-01 00:00 on any wall clock. */
const localReading = (instant: number, clock: Clock) => (instant === 0 ? 0 : localNow(instant, clock));

function isoMicros(iso: RegExpExecArray, text: string): number {
  const days = civilDays(Number(iso[1]), Number(iso[2]), Number(iso[3]), text);
  if (iso[4] === undefined) return days * DAY_MICROS;
  const fraction = iso[7] === undefined ? 0 : Number(iso[7].padEnd(6, "0"));
  return days * DAY_MICROS + clockMicros(Number(iso[4]), Number(iso[5]), Number(iso[6] ?? 0), fraction, text);
}

function isoOffset(iso: RegExpExecArray): number {
  const hours = Number(iso[8]);
  const minutes = Number(iso[9] ?? 0);
  if (Math.abs(hours) > 15 || minutes > 59) throw zoneRange(iso[0]);
  return (iso[8] as string).startsWith("-") ? hours * 3600 - minutes * 60 : hours * 3600 + minutes * 60;
}

function wallClock(fields: Fields, kind: Kind, text: string): number {
  if (fields.days === null) throw syntax(kind, text);
  if (!Number.isFinite(fields.days)) return fields.days;
  try {
    return checkedTimestamp(fields.days * DAY_MICROS + (fields.micros ?? 0));
  } catch {
    throw sqlError("22008", `timestamp out of range: "${text}"`);
  }
}

function civilDays(year: number, month: number, day: number, text: string): number {
  if (month < 1 || month > 12) throw fieldRange(text, DATESTYLE_HINT);
  if (day < 1 || day > 31) throw fieldRange(text, DATESTYLE_HINT);
  if (day > daysInMonth(year, month)) throw fieldRange(text);
  return daysFromCivil(year, month, day);
}

function clockMicros(hours: number, minutes: number, seconds: number, fraction: number, text: string): number {
  const past = hours === 24 && (minutes > 0 || seconds > 0 || fraction > 0);
  const isPastLeap = seconds > 60 || (seconds === 60 && fraction > 0);
  if (hours > 24 || minutes > 59 || isPastLeap || past) throw fieldRange(text);
  return hours * HOUR_MICROS + minutes * MINUTE_MICROS + seconds * SECOND_MICROS + fraction;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/** Of English, in lower case. */
export const MONTH_NAMES = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];
const DAY_NAMES = new Set(
  "sun sunday mon monday tue tues tuesday wed weds wednesday thu thur thurs thursday fri friday sat saturday".split(
    " ",
  ),
);

function monthOf(word: string): number | null {
  const index = word === "sept" ? 8 : Math.max(MONTHS.indexOf(word), MONTH_NAMES.indexOf(word));
  return index < 0 ? null : index + 1;
}

const TOKEN =
  /(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?)?(?![:\d])|(\d+)([-/.])(\d+|[a-z]+)\6(\d+)|([a-z]+)([-/.])(\d+)\10(\d+)|(\d{4,})[-.](\d{3})(?!\d)|(j\d+(?:\.\d+)?)(?![a-su-z])|([+-]\d{1,2}(?::?\d{2})?(?::?\d{2})?)|((?:[ap]m|bc|ad|t)(?=\+)|[a-z][a-z_]*(?:\/[a-z_+-]+\d*)*(?:[+-]\d{1,2}(?::\d{2})?)?)|(\d+)(?:\.(\d+))?|[\s,]+/iy;

/** State of one reading: the parts that were met so far. */
class Reading {
  year: number | null = null;
  yearDigits = 0;
  month: number | null = null;
  day: number | null = null;
  hasMonthName = false;
  dayOfYear: number | null = null;
  days: number | null = null;
  micros: number | null = null;
  zone: number | string | null = null;
  instant: number | null = null;
  bc = false;
  half: "am" | "pm" | null = null;
  /** The T of ISO 8601 was met: digits that follow are a time. */
  timeNext = false;

  constructor(
    readonly text: string,
    readonly kind: Kind,
    readonly clock: Clock,
  ) {}

  fail(): never {
    throw syntax(this.kind, this.text);
  }

  get hasDate(): boolean {
    return this.days !== null || (this.month !== null && this.day !== null) || this.dayOfYear !== null;
  }

  setYear(digits: string): void {
    if (this.year !== null) this.fail();
    this.year = Number(digits);
    this.yearDigits = digits.length;
  }

  setDate(year: string, month: number | null, day: string): void {
    if (month === null || this.hasDate) this.fail();
    this.setYear(year);
    this.month = month;
    this.day = Number(day);
  }

  setTime(hours: string, minutes: string, seconds: string, fraction: string): void {
    if (this.micros !== null) this.fail();
    const micros = Math.round(Number(`0.${fraction === "" ? "0" : fraction}`) * SECOND_MICROS);
    this.micros = clockMicros(Number(hours), Number(minutes), Number(seconds), micros, this.text);
    this.timeNext = false;
  }

  /** Fields of a date with a separator, in the order of the text. */
  separated(first: string, middle: string, last: string): void {
    if (this.hasAny) this.fail();
    if (!/\d/.test(middle)) this.setMonth(monthOf(middle.toLowerCase()));
    for (const field of [first, middle, last]) if (/\d/.test(field)) this.number(field);
  }

  /** The day of a year; or, where a time is due, HHMMSS with three digits of a fraction. */
  yearAndDay(year: string, day: string): void {
    if (this.isTimeDue || this.isTimeOfDay) {
      this.clockDigits(year, day);
      return;
    }
    this.setYear(year);
    this.dayOfYear = Number(day);
  }

  /** A Julian date; its fraction is the time of the day. */
  julian(digits: string): void {
    if (this.hasAny) this.fail();
    const date = Number(digits);
    this.days = Math.floor(date) - 2_440_588;
    if (digits.includes(".")) this.micros = Math.round((date - Math.floor(date)) * DAY_MICROS);
  }

  /** A month by its name. A number before it that was taken for the month is the day. */
  private setMonth(month: number | null): void {
    if (month === null || this.hasMonthName) this.fail();
    if (this.month !== null) {
      if (this.day !== null || this.month < 1 || this.month > 31) this.fail();
      this.day = this.month;
    }
    this.month = month;
    this.hasMonthName = true;
  }

  /** YYYYMMDD, YYMMDD, HHMMSS, HHMM, or one field of a date. */
  digits(digits: string, fraction: string): void {
    if (this.isTimeDue) this.clockDigits(digits, fraction);
    else if (digits.length >= 6 && !this.hasAny) {
      if (this.isTimeOfDay || fraction !== "") this.clockDigits(digits, fraction);
      else this.setDate(digits.slice(0, -4), Number(digits.slice(-4, -2)), digits.slice(-2));
    } else if (fraction !== "") this.fail();
    else this.number(digits);
  }

  private clockDigits(digits: string, fraction: string): void {
    const pairs = (from: number) => digits.slice(from, from + 2);
    if (digits.length === 6) this.setTime(pairs(0), pairs(2), pairs(4), fraction);
    else if (digits.length === 4) this.setTime(pairs(0), pairs(2), "0", fraction);
    else if (digits.length === 2 && this.timeNext) this.setTime(digits, "0", "0", fraction);
    else this.fail();
  }

  /** One number of a date, by what is known of the date already: as DecodeNumber of PostgreSQL's datetime.c does. */
  private number(digits: string): void {
    const { year, month, day, clock } = this;
    const isLong = digits.length > 2;
    if (this.hasWholeDate) this.fail();
    else if (year === null && month === null && day === null) {
      if (isLong || clock.order === "YMD") this.setYear(digits);
      else if (clock.order === "DMY") this.day = Number(digits);
      else this.month = Number(digits);
    } else if (month === null) this.month = Number(digits);
    else if (day !== null) this.setYear(digits);
    else if (year === null && this.hasMonthName && (isLong || clock.order === "YMD")) this.setYear(digits);
    else if (year !== null && this.hasMonthName && isLong && this.yearDigits <= 2) {
      // The first number was the day.
      this.day = year;
      this.year = null;
      this.setYear(digits);
    } else this.day = Number(digits);
  }

  private get isTimeOfDay(): boolean {
    return this.kind === "time" || this.kind === "time with time zone";
  }

  /** What comes now can be no part of a date. */
  private get isTimeDue(): boolean {
    return this.timeNext || this.hasWholeDate;
  }

  private get hasAny(): boolean {
    return this.hasDate || this.year !== null || this.month !== null || this.day !== null;
  }

  private get hasWholeDate(): boolean {
    return (
      this.days !== null ||
      (this.year !== null && (this.dayOfYear !== null || (this.month !== null && this.day !== null)))
    );
  }

  word(word: string, original: string): void {
    const month = monthOf(word);
    if (month !== null) this.setMonth(month);
    else if (word === "bc" || word === "ad") this.bc = word === "bc";
    else if (word === "am" || word === "pm") this.half = word;
    else if (word === "t") this.timeNext = true;
    else if (DAY_NAMES.has(word) || word === "at" || word === "on") return;
    else if (!this.special(word)) {
      if (this.zone !== null) this.fail();
      if (isTimeZone(original)) this.zone = original;
      else if (original.includes("/")) throw sqlError("22023", `time zone "${word}" not recognized`);
      else this.fail();
    }
  }

  private special(word: string): boolean {
    switch (word) {
      case "infinity":
        this.days = Number.POSITIVE_INFINITY;
        return true;
      case "epoch":
        this.instant = 0;
        return true;
      case "now":
        this.instant = this.clock.nowMicros;
        return true;
      case "today":
      case "tomorrow":
      case "yesterday": {
        const shift = word === "today" ? 0 : word === "tomorrow" ? 1 : -1;
        this.days = splitTimestamp(localNow(this.clock.nowMicros, this.clock)).days + shift;
        return true;
      }
      case "allballs":
        this.micros = 0;
        this.zone = 0;
        return true;
      default:
        return false;
    }
  }

  offset(spelled: string): void {
    if (this.zone !== null && this.zone !== 0) this.fail();
    const digits = spelled.slice(1).replaceAll(":", "");
    const hours = Number(digits.length === 3 ? digits.slice(0, 1) : digits.slice(0, 2));
    const minutes = Number(digits.length === 3 ? digits.slice(1) : digits.slice(2, 4));
    const seconds = Number(digits.slice(4, 6));
    if (hours > 15 || minutes > 59 || seconds > 59) throw zoneRange(this.text);
    const east = hours * 3600 + minutes * 60 + seconds;
    this.zone = spelled.startsWith("-") ? -east : east;
  }

  finish(): Fields {
    if (this.days === null && (this.year !== null || this.month !== null || this.day !== null)) this.resolveDate();
    if (this.half !== null) this.applyHalf();
    return { days: this.days, micros: this.micros, zone: this.zone, instant: this.instant };
  }

  private resolveDate(): void {
    let year = this.year;
    if (year === null) this.fail();
    if (this.bc) {
      if (year === 0) throw fieldRange(this.text);
      year = 1 - year;
    } else if (this.yearDigits <= 2) year += year < 70 ? 2000 : 1900;
    else if (year === 0) throw fieldRange(this.text);
    if (this.dayOfYear !== null) {
      if (this.dayOfYear < 1 || this.dayOfYear > (isLeapYear(year) ? 366 : 365)) throw fieldRange(this.text);
      this.days = daysFromCivil(year, 1, 1) + this.dayOfYear - 1;
      return;
    }
    if (this.month === null || this.day === null) this.fail();
    this.days = civilDays(year, this.month, this.day, this.text);
  }

  private applyHalf(): void {
    if (this.micros === null) this.fail();
    const hours = Math.floor(this.micros / HOUR_MICROS);
    if (hours > 12) throw fieldRange(this.text);
    if (this.half === "pm" && hours !== 12) this.micros += 12 * HOUR_MICROS;
    if (this.half === "am" && hours === 12) this.micros -= 12 * HOUR_MICROS;
  }
}

function parseFields(text: string, kind: Kind, clock: Clock): Fields {
  const source = text.trim();
  const lower = source.toLowerCase();
  if (lower === "-infinity") return { days: Number.NEGATIVE_INFINITY, micros: null, zone: null, instant: null };
  const reading = new Reading(text, kind, clock);
  if (source === "") reading.fail();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const end = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (match === null) {
      TOKEN.lastIndex = 0;
      reading.fail();
    }
    const at = TOKEN.lastIndex;
    readToken(reading, match as RegExpExecArray, end);
    TOKEN.lastIndex = at;
  }
  return reading.finish();
}

function readToken(reading: Reading, match: RegExpExecArray, start: number): void {
  const [, hours, minutes, seconds, fraction, first, , middle, last] = match;
  const [month, , second, third, year, dayOfYear, julian, offset, word, digits, digitsFraction] = match.slice(9);
  if (hours !== undefined) reading.setTime(hours, minutes as string, seconds ?? "0", fraction ?? "");
  else if (first !== undefined) reading.separated(first, middle as string, last as string);
  else if (month !== undefined) reading.separated(second as string, month, third as string);
  else if (year !== undefined) reading.yearAndDay(year, dayOfYear as string);
  else if (julian !== undefined) reading.julian(julian.slice(1));
  else if (offset !== undefined) {
    if (start === 0 || (reading.micros === null && !reading.hasDate)) reading.fail();
    reading.offset(offset);
  } else if (word !== undefined) reading.word(word.toLowerCase(), word);
  else if (digits !== undefined) reading.digits(digits, digitsFraction ?? "");
}
