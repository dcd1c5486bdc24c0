/**
 * The calendar and the printing of dates and times of day: dates are days, times microseconds (values.ts).
 * PostgreSQL's ISO DateStyle. Reading text is in datetime-parse.ts, timestamps are in timestamp.ts, intervals in
 * interval.ts, zones in time-zone.ts.
 */
import { sqlError } from "../protocol/errors.js";
import type { TimeTz } from "./values.js";

export const SECOND_MICROS = 1_000_000;
export const MINUTE_MICROS = 60 * SECOND_MICROS;
export const HOUR_MICROS = 60 * MINUTE_MICROS;
export const DAY_MICROS = 24 * HOUR_MICROS;

/** PostgreSQL's first and last day: 4714-11-24 BC and 5874897-12-31. */
export const DATE_MIN = -2_440_588;
export const DATE_MAX = 2_145_042_905;

export interface CivilDate {
  /** Astronomical: 1 BC is 0. */
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** Days from 1970-01-01 of a proleptic Gregorian date (H. Hinnant, "chrono-compatible low-level date algorithms"). */
export function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** The inverse of daysFromCivil (same source). */
export function civilFromDays(days: number): CivilDate {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted + (shifted < 10 ? 3 : -9);
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day };
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export function daysInMonth(year: number, month: number): number {
  return month === 2 && isLeapYear(year) ? 29 : (MONTH_DAYS[month - 1] as number);
}

/** 0 = Sunday. */
export function dayOfWeek(days: number): number {
  return (((days + 4) % 7) + 7) % 7;
}

/** ISO 8601 week and the year it belongs to. */
export function isoWeek(days: number): { year: number; week: number } {
  const thursday = days - ((dayOfWeek(days) + 6) % 7) + 3;
  const { year } = civilFromDays(thursday);
  return { year, week: Math.floor((thursday - daysFromCivil(year, 1, 1)) / 7) + 1 };
}

/** As PostgreSQL makes whole microseconds of seconds. */
export function roundHalfEven(x: number): number {
  const rounded = Math.round(x);
  return rounded - x === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}

/** The date when PostgreSQL can hold it. Throws 22008. */
export function checkedDate(days: number): number {
  if ((days < DATE_MIN || days > DATE_MAX) && Number.isFinite(days)) throw sqlError("22008", "date out of range");
  if (Number.isNaN(days)) throw sqlError("22008", "date out of range");
  return days;
}

/** Microseconds rounded to the given number of fractional digits of a second (0 to 6), half away from zero. */
export function roundMicros(micros: number, digits: number | null): number {
  if (digits === null || digits >= 6 || !Number.isFinite(micros)) return micros;
  const unit = 10 ** (6 - digits);
  return micros >= 0 ? Math.floor(micros / unit + 0.5) * unit : -Math.floor(-micros / unit + 0.5) * unit;
}

const pad2 = (n: number) => (n < 10 ? `0${n}` : String(n));
const pad4 = (n: number) => (n < 1000 ? String(n).padStart(4, "0") : String(n));

/** Of what is infinite. */
export const infinityText = (x: number | bigint) => (x > 0 ? "infinity" : "-infinity");

/** "2024-02-29", with the era left to the caller. */
export function civilText(date: CivilDate): string {
  return `${pad4(date.year > 0 ? date.year : 1 - date.year)}-${pad2(date.month)}-${pad2(date.day)}`;
}

export function dateToText(days: number): string {
  if (!Number.isFinite(days)) return infinityText(days);
  const date = civilFromDays(days);
  return date.year > 0 ? civilText(date) : `${civilText(date)} BC`;
}

/** "04:05:06.789"; trailing zeros of the fraction are not printed. */
export function timeToText(micros: number): string {
  const seconds = Math.floor(micros / SECOND_MICROS);
  const fraction = micros - seconds * SECOND_MICROS;
  const hours = Math.floor(seconds / 3600);
  const text = `${pad2(hours)}:${pad2(Math.floor(seconds / 60) % 60)}:${pad2(seconds % 60)}`;
  return fraction === 0 ? text : `${text}.${fractionText(fraction)}`;
}

/** Microseconds below a second as digits after the point, without trailing zeros. */
export function fractionText(micros: number): string {
  const digits = String(Math.trunc(micros)).padStart(6, "0");
  let end = 6;
  while (end > 1 && digits.charCodeAt(end - 1) === 48) end--;
  return digits.slice(0, end);
}

/** "+02", "-03:30", "+00:19:32". */
export function offsetToText(seconds: number, withMinutes = false): string {
  const east = Math.abs(seconds);
  const minutes = Math.floor(east / 60) % 60;
  let text = `${seconds < 0 ? "-" : "+"}${pad2(Math.floor(east / 3600))}`;
  if (minutes !== 0 || east % 60 !== 0 || withMinutes) text += `:${pad2(minutes)}`;
  return east % 60 === 0 ? text : `${text}:${pad2(east % 60)}`;
}

export function timeTzToText(value: TimeTz): string {
  return timeToText(value.micros) + offsetToText(value.offset);
}
