/** Phrases of time as half-open ranges of dates, written as SQL: "in March 2024", "last 30 days", "since 2020". */
import { MONTH_NAMES } from "../../values/datetime-words.js";
import type { Question } from "./question.js";
import { NUMBER_WORDS } from "./vocabulary.js";

/** SQL of two dates, the second one not included; null: open. */
export interface DateRange {
  readonly from: string | null;
  readonly to: string | null;
}

export interface DatePhrase {
  readonly range: DateRange;
  /** Tokens it takes. */
  readonly length: number;
  /** It is no more than four digits, which may be a number. */
  readonly isBareYear: boolean;
  /** It reaches from or to this moment, so it needs no preposition. */
  readonly isRelative: boolean;
}

const UNIT_WORDS: Readonly<Record<string, string>> = {
  day: "day",
  days: "day",
  week: "week",
  weeks: "week",
  month: "month",
  months: "month",
  quarter: "quarter",
  quarters: "quarter",
  year: "year",
  years: "year",
  hour: "hour",
  hours: "hour",
};

const QUARTERS: Readonly<Record<string, number>> = { first: 1, second: 2, third: 3, fourth: 4, last: 4 };

const pad = (number: number) => String(number).padStart(2, "0");
const dateOf = (year: number, month: number, day = 1) => `DATE '${year}-${pad(month)}-${pad(day)}'`;

export function isYear(number: number | null): number is number {
  return number !== null && Number.isInteger(number) && number >= 1800 && number <= 2200;
}

/** The phrase of time that begins at token `at`; null: none does. */
export function datePhraseAt(question: Question, at: number): DatePhrase | null {
  const token = question.at(at);
  if (token === null || token.isQuoted) return isoDate(question, at);
  return (
    isoDate(question, at) ??
    monthPhrase(question, at) ??
    quarterPhrase(question, at) ??
    halfPhrase(question, at) ??
    soFar(question, at) ??
    relativePhrase(question, at) ??
    yearPhrase(question, at)
  );
}

function phrase(from: string, to: string | null, length: number, isRelative = false): DatePhrase {
  return { range: { from, to }, length, isBareYear: false, isRelative };
}

function isoDate(question: Question, at: number): DatePhrase | null {
  const match = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(question.lower(at));
  if (match === null) return null;
  return day(Number(match[1]), Number(match[2]), Number(match[3]), 1);
}

function day(year: number, month: number, number: number, length: number): DatePhrase | null {
  const date = new Date(Date.UTC(year, month - 1, number));
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== number) return null;
  const next = new Date(Date.UTC(year, month - 1, number + 1));
  return phrase(
    dateOf(year, month, number),
    dateOf(next.getUTCFullYear(), next.getUTCMonth() + 1, next.getUTCDate()),
    length,
  );
}

/** 0: no name of a month. */
function monthNumber(word: string): number {
  if (word.length < 3) return 0;
  return MONTH_NAMES.findIndex((month) => month === word || (word === month.slice(0, 3) && word !== "may")) + 1;
}

/** A day's number, also as 5th; null: none. */
function dayNumber(question: Question, at: number): number | null {
  const match = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(question.lower(at));
  return match === null ? null : Number(match[1]);
}

/** "March 2024", "March 5, 2024", "5 March 2024", "March" (of this year). */
function monthPhrase(question: Question, at: number): DatePhrase | null {
  const leading = dayNumber(question, at);
  if (leading !== null) {
    const of = question.lower(at + 1) === "of" ? 1 : 0;
    const month = monthNumber(question.lower(at + 1 + of));
    const year = question.at(at + 2 + of)?.number ?? null;
    return month > 0 && isYear(year) ? day(year, month, leading, 3 + of) : null;
  }
  const month = monthNumber(question.lower(at));
  if (month === 0) return null;
  const of = question.lower(at + 1) === "of" ? 1 : 0;
  const year = question.at(at + 1 + of)?.number ?? null;
  if (isYear(year)) {
    const next = month === 12 ? dateOf(year + 1, 1) : dateOf(year, month + 1);
    return phrase(dateOf(year, month), next, 2 + of);
  }
  const number = dayNumber(question, at + 1);
  const dayYear = question.at(at + 2)?.number ?? null;
  if (number !== null && isYear(dayYear)) return day(dayYear, month, number, 3);
  // "may" is a verb, too.
  if (question.at(at)!.lower === "may" && !question.at(at)!.isCapitalised) return null;
  const shared = yearOfPair(question, at + 1);
  if (shared !== null) {
    return phrase(dateOf(shared, month), month === 12 ? dateOf(shared + 1, 1) : dateOf(shared, month + 1), 1);
  }
  const isYearSaid = question.says(at + 1 + of, "this|last|next", "year");
  const by =
    !isYearSaid || question.says(at + 1 + of, "this")
      ? ""
      : ` ${question.says(at + 1 + of, "last") ? "-" : "+"} interval '1 year'`;
  const start = `date_trunc('year', current_date)::date${by} + interval '${month - 1} months'`;
  return phrase(`(${start})::date`, `(${start} + interval '1 month')::date`, isYearSaid ? 3 + of : 1);
}

/** "March and April 2025", "from January to March 2025": the year of both. */
function yearOfPair(question: Question, at: number): number | null {
  if (!question.says(at, "and|to|or|until|till|through|-") || monthNumber(question.lower(at + 1)) === 0) return null;
  const next = question.says(at + 2, "of") ? at + 3 : at + 2;
  const year = question.at(next)?.number ?? null;
  return isYear(year) ? year : yearOfPair(question, at + 2);
}

/** "Q1 2024", "first quarter of 2024". */
function quarterPhrase(question: Question, at: number): DatePhrase | null {
  const short = /^q([1-4])$/.exec(question.lower(at));
  const named = question.lower(at + 1) === "quarter" ? QUARTERS[question.lower(at)] : undefined;
  const quarter = short === null ? named : Number(short[1]);
  if (quarter === undefined) return null;
  let next = at + (short === null ? 2 : 1);
  if (question.says(next, "of|in")) next++;
  const year = question.at(next)?.number ?? null;
  if (!isYear(year)) return quarterOf(question, at, next, quarter);
  const to = quarter === 4 ? dateOf(year + 1, 1) : dateOf(year, quarter * 3 + 1);
  return phrase(dateOf(year, quarter * 3 - 2), to, next - at + 1);
}

/** "the first quarter of this year", "Q3" of this year; "last quarter" is the one before this. */
function quarterOf(question: Question, at: number, next: number, quarter: number): DatePhrase | null {
  const isYearSaid = question.says(next, "this|the|last", "year");
  if (!isYearSaid && (question.says(at, "last") || question.says(next - 1, "of|in"))) return null;
  const before = isYearSaid && question.says(next, "last") ? " - interval '1 year'" : "";
  const start = `date_trunc('year', current_date)::date${before} + interval '${quarter * 3 - 3} months'`;
  const length = (isYearSaid ? next + 2 : next) - at;
  return phrase(`(${start})::date`, `(${start} + interval '3 months')::date`, length);
}

/** "the first half of 2025", "H2 2024". */
function halfPhrase(question: Question, at: number): DatePhrase | null {
  const short = /^h([12])$/.exec(question.lower(at));
  const named = { first: 1, second: 2, last: 2 }[question.lower(at)];
  const half = short === null ? named : Number(short[1]);
  if (half === undefined || (short === null && !question.says(at + 1, "half"))) return null;
  let next = at + (short === null ? 2 : 1);
  if (question.says(next, "of|in")) next++;
  const year = question.at(next)?.number ?? null;
  if (isYear(year)) {
    return phrase(dateOf(year, half * 6 - 5), half === 2 ? dateOf(year + 1, 1) : dateOf(year, 7), next - at + 1);
  }
  if (!question.says(next, "this|the|last", "year")) return null;
  const start = `date_trunc('year', current_date)::date${question.says(next, "last") ? " - interval '1 year'" : ""}`;
  const from = half === 1 ? start : `${start} + interval '6 months'`;
  return phrase(`(${from})::date`, `(${from} + interval '6 months')::date`, next - at + 2);
}

/** "so far this year", "this month so far", "year to date": until now. */
function soFar(question: Question, at: number): DatePhrase | null {
  const leading = question.says(at, "so", "far") ? 2 : 0;
  const isNamed = question.says(at + leading, "this");
  const unit = UNIT_WORDS[question.lower(at + leading + (isNamed ? 1 : 0))];
  if (unit === undefined) return null;
  const start = `date_trunc('${unit}', current_date::timestamp)`;
  const until = (length: number) => phrase(start, "now()::timestamp", length, true);
  if (isNamed && leading > 0) return until(4);
  if (isNamed && question.says(at + 2, "so", "far")) return until(4);
  return leading === 0 && !isNamed && question.says(at + 1, "to", "date") ? until(3) : null;
}

function relativePhrase(question: Question, at: number): DatePhrase | null {
  const word = question.lower(at);
  if (word === "today") return phrase("current_date", "current_date + 1", 1, true);
  if (word === "yesterday") return phrase("current_date - 1", "current_date", 1, true);
  if (word === "tomorrow") return phrase("current_date + 1", "current_date + 2", 1, true);
  if (/^(last|past|previous|next|coming|this|current)$/.test(word)) {
    const count = question.at(at + 1)?.number ?? null;
    const unit = UNIT_WORDS[question.lower(at + (count === null ? 1 : 2))];
    if (unit === undefined) return null;
    // "The last month of 2024".
    if (count === null && question.says(at + 2, "of|in")) return null;
    // "The past year" and "in the last year" end today, "last year" has ended.
    const isUntilNow = word === "past" || (unit !== "quarter" && question.says(at - 2, "in|within|during|over", "the"));
    if (count === null && !(isUntilNow && /^(?:past|last)$/.test(word))) return calendarUnit(word, unit);
    const span = `interval '${Math.round(count ?? 1)} ${unit === "quarter" ? "months" : `${unit}s`}'`;
    const times = unit === "quarter" ? `${span} * 3` : span;
    return /^(next|coming)$/.test(word)
      ? phrase("now()::timestamp", `now()::timestamp + ${times}`, 3, true)
      : phrase(`current_date - ${times}`, "now()::timestamp", count === null ? 2 : 3, true);
  }
  const count = question.at(at)!.number;
  const unit = UNIT_WORDS[question.lower(at + 1)];
  if (count !== null && unit !== undefined && question.lower(at + 2) === "ago") {
    const start = `(current_date - interval '${Math.round(count)} ${unit}s')::date`;
    return phrase(start, `${start} + 1`, 3, true);
  }
  return null;
}

/** "last month", "this year", "next week". */
function calendarUnit(word: string, unit: string): DatePhrase | null {
  const by = /^(this|current)$/.test(word) ? 0 : /^(next|coming)$/.test(word) ? 1 : -1;
  const step = unit === "quarter" ? "3 months" : `1 ${unit}`;
  const start = `date_trunc('${unit}', current_date::timestamp)`;
  const shifted = by === 0 ? start : `${start} ${by > 0 ? "+" : "-"} interval '${step}'`;
  return phrase(shifted, `${shifted} + interval '${step}'`, 2, true);
}

function yearPhrase(question: Question, at: number): DatePhrase | null {
  const { number, text } = question.at(at)!;
  if (!isYear(number) || !/^\d{4}$/.test(text)) {
    const decade = /^(?:the)?(\d{3}0)s$/.exec(question.lower(at));
    if (decade === null) return null;
    const year = Number(decade[1]);
    return phrase(dateOf(year, 1), dateOf(year + 10, 1), 1);
  }
  return { ...phrase(dateOf(number, 1), dateOf(number + 1, 1), 1), isBareYear: true };
}

/** "a few" numbers are words. */
export function numberOf(question: Question, at: number): number | null {
  return question.at(at)?.number ?? NUMBER_WORDS[question.lower(at)] ?? null;
}
