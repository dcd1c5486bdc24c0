/**
 * Reading dates, times and timestamps in the spellings that PostgreSQL accepts (appendix B of its manual, DateStyle
 * ISO, MDY). Literals, casts and parameters come through here; the usual ISO spelling takes a short way.
 * The others are read by datetime-fields.ts and datetime-reading.ts.
 */

import { sqlError } from "../protocol/errors.js";
import {
  DATE_MAX,
  DATE_MIN,
  daysFromCivil,
  daysInMonth,
  HOUR_MICROS,
  MINUTE_MICROS,
  roundMicros,
  SECOND_MICROS,
} from "./datetime.js";
import { splitFields } from "./datetime-fields.js";
import { ReadingFault } from "./datetime-numbers.js";
import { type Fields, readFields } from "./datetime-reading.js";
import { wordOf } from "./datetime-words.js";
import type { DateOrder, TextStyle } from "./text-style.js";
import { offsetAt, offsetOfLocal } from "./time-zone.js";
import {
  addMicros,
  checkedTimestamp,
  isFiniteTimestamp,
  roundTimestamp,
  splitTimestamp,
  type Timestamp,
  timestampAt,
} from "./timestamp.js";
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
  requireDatedZone(fields, "time", text);
  return roundMicros(fields.micros, digits);
}

export function parseTimeTz(text: string, clock: Clock, digits: number | null = null): TimeTz {
  const kind = "time with time zone";
  const fields = parseFields(text, kind, clock);
  requireDatedZone(fields, kind, text);
  const day = fields.days ?? splitTimestamp(localNow(clock.nowMicros, clock)).days;
  const zone = fields.zone ?? clock.timeZone;
  const offset = typeof zone === "number" ? zone : offsetOfLocal(zone, timestampAt(day, fields.micros));
  return { micros: roundMicros(fields.micros, digits), offset };
}

/** What a region's clock shows depends on the day. */
function requireDatedZone({ zone, days }: Fields, kind: Kind, text: string): void {
  if (days === null && typeof zone === "string") throw syntax(kind, text);
}

/** The reading of the wall clock; a zone in the text is not looked at. */
export function parseTimestamp(text: string, clock: Clock, digits: number | null = null): Timestamp {
  const iso = ISO.exec(text);
  if (iso !== null) return roundTimestamp(isoMicros(iso, text), digits);
  const fields = parseFields(text, "timestamp", clock);
  if (fields.instant !== null) {
    return roundTimestamp(localReading(fields.instant, clock), digits);
  }
  return roundTimestamp(inRange(wallClock(fields, "timestamp", text), text), digits);
}

/** The instant; a text without a zone is taken in the clock's. */
export function parseTimestampTz(text: string, clock: Clock, digits: number | null = null): Timestamp {
  const kind = "timestamp with time zone";
  const iso = ISO.exec(text);
  if (iso !== null) {
    const local = isoMicros(iso, text);
    const offset = iso[8] === undefined ? null : isoOffset(iso);
    const known = offset ?? (text.endsWith("Z") ? 0 : offsetOfLocal(clock.timeZone, local));
    return roundTimestamp(addMicros(local, -known * SECOND_MICROS), digits);
  }
  const fields = parseFields(text, kind, clock);
  if (fields.instant !== null) return roundTimestamp(fields.instant, digits);
  const local = wallClock(fields, kind, text);
  if (!isFiniteTimestamp(local)) return local;
  const zone = fields.zone ?? clock.timeZone;
  const offset = typeof zone === "number" ? zone : offsetOfLocal(zone, local);
  return roundTimestamp(inRange(addMicros(local, -offset * SECOND_MICROS), text), digits);
}

const localNow = (instant: number, clock: Clock) =>
  addMicros(instant, offsetAt(clock.timeZone, instant) * SECOND_MICROS);

/** "epoch" is 1970-01-01 00:00 on any wall clock. */
const localReading = (instant: number, clock: Clock) => (instant === 0 ? 0 : localNow(instant, clock));

function isoMicros(iso: RegExpExecArray, text: string): Timestamp {
  const days = civilDays(Number(iso[1]), Number(iso[2]), Number(iso[3]), text);
  if (iso[4] === undefined) return timestampAt(days);
  const fraction = iso[7] === undefined ? 0 : Number(iso[7].padEnd(6, "0"));
  return timestampAt(days, clockMicros(Number(iso[4]), Number(iso[5]), Number(iso[6] ?? 0), fraction, text));
}

function isoOffset(iso: RegExpExecArray): number {
  const hours = Number(iso[8]);
  const minutes = Number(iso[9] ?? 0);
  if (Math.abs(hours) > 15 || minutes > 59) throw zoneRange(iso[0]);
  return (iso[8] as string).startsWith("-") ? hours * 3600 - minutes * 60 : hours * 3600 + minutes * 60;
}

function wallClock({ days, micros }: Fields, kind: Kind, text: string): Timestamp {
  if (days === null) throw syntax(kind, text);
  return timestampAt(days, micros);
}

function inRange(timestamp: Timestamp, text: string): Timestamp {
  try {
    return checkedTimestamp(timestamp);
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

function parseFields(text: string, kind: Kind, clock: Clock): Fields {
  const { days: today, micros: timeOfDay } = splitTimestamp(localNow(clock.nowMicros, clock));
  const fields = splitFields(text, (word) => wordOf(word) !== undefined);
  if (fields === null) throw syntax(kind, text);
  try {
    return readFields(fields, {
      isTime: kind === "time" || kind === "time with time zone",
      order: clock.order ?? "MDY",
      nowMicros: clock.nowMicros,
      today,
      timeOfDay,
    });
  } catch (error) {
    throw error instanceof ReadingFault ? refusal(error, kind, text) : error;
  }
}

function refusal({ fault, zone }: ReadingFault, kind: Kind, text: string): Error {
  switch (fault) {
    case "syntax":
      return syntax(kind, text);
    case "range":
      return fieldRange(text);
    case "month or day":
      return fieldRange(text, DATESTYLE_HINT);
    case "zone range":
      return zoneRange(text);
    case "no such zone":
      return sqlError("22023", `time zone "${zone}" not recognized`);
  }
}
