/** Dates by week, quarter and day of the year, and steps of whole months, over values/datetime.ts's calendar. */
import { civilFromDays, dayOfWeek, daysFromCivil, daysInMonth, isLeapYear, isoWeek } from "../../../values/datetime.js";
import { checkedDays, invalidArgument, YEAR_MAX } from "./temporal-range.js";

/** 1 = Monday, as ISO 8601 counts. */
export const isoDayOfWeek = (days: number): number => ((dayOfWeek(days) + 6) % 7) + 1;

export const ordinalDayOf = (days: number): number => days - daysFromCivil(civilFromDays(days).year, 1, 1) + 1;

export const quarterOfMonth = (month: number): number => Math.floor((month + 2) / 3);

export function dayOfQuarter(days: number): number {
  const { year, month } = civilFromDays(days);
  return days - daysFromCivil(year, quarterOfMonth(month) * 3 - 2, 1) + 1;
}

/** The Monday of the first week of a year: the week that has its first Thursday. */
export function weekYearStart(year: number): number {
  const fourth = daysFromCivil(year, 1, 4);
  return fourth - isoDayOfWeek(fourth) + 1;
}

/** Throws ArgumentError when `value` is not from `min` to `max`. */
export function inRange(name: string, value: number, min: number, max: number): number {
  if (value >= min && value <= max) return value;
  throw invalidArgument(`${name} must be from ${min} to ${max}, but is ${value}`);
}

/** Days since the epoch of a date; each function throws ArgumentError for a date that does not exist. */
export function calendarDate(year: number, month: number, day: number): number {
  inRange("year", year, -YEAR_MAX, YEAR_MAX);
  inRange("month", month, 1, 12);
  return daysFromCivil(year, month, inRange("day", day, 1, daysInMonth(year, month)));
}

export function weekDate(year: number, week: number, weekDay: number): number {
  inRange("year", year, -YEAR_MAX, YEAR_MAX);
  const start = weekYearStart(year) + (inRange("week", week, 1, 53) - 1) * 7;
  if (week === 53 && isoWeek(start).year !== year) throw invalidArgument(`the year ${year} has no week 53`);
  return checkedDays(start + inRange("dayOfWeek", weekDay, 1, 7) - 1);
}

export function ordinalDate(year: number, ordinalDay: number): number {
  inRange("year", year, -YEAR_MAX, YEAR_MAX);
  return daysFromCivil(year, 1, 1) + inRange("ordinalDay", ordinalDay, 1, isLeapYear(year) ? 366 : 365) - 1;
}

export function quarterDate(year: number, quarter: number, day: number): number {
  inRange("year", year, -YEAR_MAX, YEAR_MAX);
  const month = inRange("quarter", quarter, 1, 4) * 3 - 2;
  const start = daysFromCivil(year, month, 1);
  return (
    start +
    inRange("dayOfQuarter", day, 1, daysFromCivil(year, month + 2, 1) + daysInMonth(year, month + 2) - start) -
    1
  );
}

/** The same day so many months on, or the month's last day where it has none of that number. Throws ArithmeticError. */
export function plusMonths(days: number, months: number): number {
  if (months === 0) return days;
  const date = civilFromDays(days);
  const count = date.year * 12 + date.month - 1 + months;
  const year = Math.floor(count / 12);
  // Before the calendar is asked: far outside of its years it does not count exactly.
  if (Math.abs(year) > YEAR_MAX) return checkedDays(Number.NaN);
  const month = count - year * 12 + 1;
  return daysFromCivil(year, month, Math.min(date.day, daysInMonth(year, month)));
}
