/**
 * Reading Cypher's temporal instants from text: ISO 8601's calendar, week, quarter and ordinal dates, times and
 * offsets, in their basic and extended forms, and zones by name in brackets. Durations are read in
 * temporal-duration.ts. Parts that are left out have their least value. Each function throws ArgumentError.
 */
import { CypherDate, LocalDateTime, LocalTime, type ZonedDateTime, ZonedTime } from "../../../values/temporal.js";
import { calendarDate, ordinalDate, quarterDate, weekDate } from "./temporal-calendar.js";
import { invalidArgument, SECOND_NANOS } from "./temporal-range.js";
import { inZone, parseOffset, parseZone, type Zone, zonedAtInstant, zonedOfLocal } from "./temporal-zone.js";

const DATE_PARTS = [
  "-?Q(?<quarter>[1-4])(?:-?(?<dayOfQuarter>\\d{1,2}))?",
  "-?W(?<week>\\d\\d)(?:-?(?<dayOfWeek>[1-7]))?",
  "-(?<ordinal>\\d{3})",
  "-(?<month>\\d\\d)(?:-(?<day>\\d\\d))?",
].join("|");
/** Without separators a year has four digits; with a sign it has as many as it needs. */
const DATE = new RegExp(`^(?<year>[+-]\\d{1,9}|\\d{4})(?:${DATE_PARTS})?$`);
const BASIC_DATE = /^(?<year>\d{4})(?:(?<ordinal>\d{3})|(?<month>\d\d)(?<day>\d\d)?)$/;
const TIME =
  /^(\d\d)(?::(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?|(\d\d)(?:(\d\d)(?:[.,](\d{1,9}))?)?)?(Z|[+-]\d\d(?::?\d\d){0,2})?$/;

/** Days since the epoch. */
function dateDays(text: string): number {
  const fields = (DATE.exec(text) ?? BASIC_DATE.exec(text))?.groups;
  if (fields === undefined) throw invalidArgument(`"${text}" is no date`);
  const year = Number(fields.year);
  const part = (name: string) => Number(fields[name] ?? 1);
  if (fields.quarter !== undefined) return quarterDate(year, part("quarter"), part("dayOfQuarter"));
  if (fields.week !== undefined) return weekDate(year, part("week"), part("dayOfWeek"));
  if (fields.ordinal !== undefined) return ordinalDate(year, part("ordinal"));
  return calendarDate(year, part("month"), part("day"));
}

interface ClockReading {
  /** Since midnight. */
  readonly nanos: number;
  /** Seconds east of UTC; null: not written. */
  readonly offset: number | null;
}

function clockReading(text: string, whole: string): ClockReading {
  const match = TIME.exec(text);
  if (match === null) throw invalidArgument(`"${whole}" is no time`);
  const [hour, minute, second] = [
    Number(match[1]),
    Number(match[2] ?? match[5] ?? 0),
    Number(match[3] ?? match[6] ?? 0),
  ];
  if (hour > 23 || minute > 59 || second > 59) throw invalidArgument(`time out of range: "${whole}"`);
  const fraction = Number((match[4] ?? match[7] ?? "").padEnd(9, "0"));
  const offset = match[8] === undefined ? null : parseOffset(match[8]);
  return { nanos: (hour * 3600 + minute * 60 + second) * SECOND_NANOS + fraction, offset };
}

export const parseDate = (text: string): CypherDate => new CypherDate(dateDays(text));

const timeOnly = (text: string): ClockReading => clockReading(text.startsWith("T") ? text.slice(1) : text, text);

export function parseLocalTime(text: string): LocalTime {
  const { nanos, offset } = timeOnly(text);
  if (offset !== null) throw invalidArgument(`"${text}" is no time without a time zone`);
  return new LocalTime(nanos);
}

/** `defaultOffset`: what a time without an offset has. */
export function parseTime(text: string, defaultOffset: () => number): ZonedTime {
  const { nanos, offset } = timeOnly(text);
  return new ZonedTime(nanos, offset ?? defaultOffset());
}

interface Reading extends ClockReading {
  readonly days: number;
}

/** A date alone stands for its midnight. */
function dateTimeReading(text: string, whole: string): Reading {
  const t = text.indexOf("T");
  if (t < 0) return { days: dateDays(text), nanos: 0, offset: null };
  return { days: dateDays(text.slice(0, t)), ...clockReading(text.slice(t + 1), whole) };
}

export function parseLocalDateTime(text: string): LocalDateTime {
  const { days, nanos, offset } = dateTimeReading(text, text);
  if (offset !== null) throw invalidArgument(`"${text}" is no datetime without a time zone`);
  return new LocalDateTime(days, nanos);
}

/** `defaultZone`: what a text without offset and zone is read in. */
export function parseDateTime(text: string, defaultZone: () => Zone): ZonedDateTime {
  const bracket = text.endsWith("]") ? text.indexOf("[") : -1;
  const reading = dateTimeReading(bracket < 0 ? text : text.slice(0, bracket), text);
  const { days, nanos, offset } = reading;
  if (bracket < 0) return zonedOfLocal(days, nanos, offset ?? defaultZone());
  const zone = parseZone(text.slice(bracket + 1, -1));
  if (offset === null) return zonedOfLocal(days, nanos, zone);
  const value = inZone(zonedAtInstant(days, nanos - offset * SECOND_NANOS, offset), zone);
  if (value.offset !== offset) throw invalidArgument(`offset and time zone of "${text}" do not fit together`);
  return value;
}
