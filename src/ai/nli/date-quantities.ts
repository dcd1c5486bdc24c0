/** Years, centuries, months, days of the month, days of the week and seasons in the words of a sentence. Pure. */
import type { Word } from "./claim-words.js";
import type { Quantity } from "./quantity.js";

const MONTHS = "january february march april may june july august september october november december".split(" ");
const WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split(" ");
const SEASONS = ["spring", "summer", "autumn", "winter"];
const ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split(" ");
const YEAR_MIN = 1000;
const YEAR_MAX = 2199;
const BEFORE_YEAR =
  /^(?:in|since|before|after|until|till|by|from|to|between|of|and|during|around|year|summer|spring|autumn|winter|early|late|to)$/;

interface Part {
  readonly isSpan?: boolean;
  readonly unit: string;
  readonly low: number;
  readonly high: number;
  readonly start: number;
  readonly end: number;
}

export function dateQuantities(words: readonly Word[]): Quantity[] {
  const parts: Part[] = [];
  for (let at = 0; at < words.length; at++) {
    const part =
      monthAt(words, at) ?? weekdayAt(words, at) ?? seasonAt(words, at) ?? centuryAt(words, at) ?? yearAt(words, at);
    if (part === null) continue;
    parts.push(part);
    const day = part.unit === "month" ? dayBeside(words, at) : null;
    if (day !== null) parts.push(day);
    at = Math.max(at, part.end - 1);
  }
  return joined(parts, words).map((part) => ({ ...bounded(part, words), isDate: true }));
}

const exact = (unit: string, value: number, at: number): Part => ({
  unit,
  low: value,
  high: value,
  start: at,
  end: at + 1,
});

function monthAt(words: readonly Word[], at: number): Part | null {
  const { word } = words[at]!;
  const month = MONTHS.indexOf(word);
  if (month < 0) return null;
  // "May" and "march" are also verbs.
  const beside = [words[at - 1], words[at + 1]];
  const isDated =
    beside.some((one) => one?.isNumber === true) ||
    /^(?:in|of|until|since|by|from|to|every|last|next|and)$/.test(beside[0]?.word ?? "");
  return (word === "may" || word === "march") && !isDated ? null : exact("month", month + 1, at);
}

function dayBeside(words: readonly Word[], at: number): Part | null {
  for (const place of [at - 1, at + 1]) {
    const digits = words[place]?.isNumber === true ? Number(words[place]!.word) : Number.NaN;
    if (Number.isInteger(digits) && digits >= 1 && digits <= 31) return exact("day of month", digits, place);
  }
  return null;
}

function weekdayAt(words: readonly Word[], at: number): Part | null {
  const { word } = words[at]!;
  if (/^weekdays?$/.test(word)) return null;
  const day = WEEKDAYS.indexOf(word.replace(/s$/, ""));
  return day < 0 ? null : exact("weekday", day + 1, at);
}

function seasonAt(words: readonly Word[], at: number): Part | null {
  const season = SEASONS.indexOf(words[at]!.word);
  const before = words[at - 1]?.word ?? "";
  return season < 0 || !/^(?:in|every|each|last|next|this|the|of)$/.test(before) ? null : exact("season", season, at);
}

/** "The 19th century" and "the 1980s". */
function centuryAt(words: readonly Word[], at: number): Part | null {
  const { word, isNumber } = words[at]!;
  const next = words[at + 1]?.word ?? "";
  if (isNumber && /^(?:1\d|20)\d0$/.test(word) && next === "s") {
    return { unit: "year", low: Number(word), high: Number(word) + 9, start: at, end: at + 2 };
  }
  const isSplit = isNumber && /^(?:th|st|nd|rd)$/.test(next);
  const number = isSplit ? Number(word) : ORDINALS.indexOf(word) + 1;
  const end = isSplit ? at + 2 : at + 1;
  if (number < 1 || !/^(?:century|centuries)$/.test(words[end]?.word ?? "")) return null;
  return { unit: "year", low: (number - 1) * 100, high: number * 100 - 1, start: at, end: end + 1 };
}

function yearAt(words: readonly Word[], at: number): Part | null {
  const { word, isNumber } = words[at]!;
  const year = Number(word);
  if (!isNumber || !/^\d{4}$/.test(word) || year < YEAR_MIN || year > YEAR_MAX) return null;
  const before = words[at - 1]?.word ?? "";
  const isDated =
    BEFORE_YEAR.test(before) || MONTHS.includes(before) || words[at - 1]?.isNumber === true || before === "day";
  return isDated ? exact("year", year, at) : null;
}

/** "From Monday to Friday", "between 1890 and 1894". */
function joined(parts: readonly Part[], words: readonly Word[]): Part[] {
  const kept: Part[] = [];
  for (let i = 0; i < parts.length; i++) {
    const [one, other] = [parts[i]!, parts[i + 1]];
    const [before, between] = [words[one.start - 1]?.word ?? "", words[one.end]?.word ?? ""];
    const isRange = /^(?:to|until|till)$/.test(between) || (before === "between" && between === "and");
    if (
      other === undefined ||
      !isRange ||
      one.unit !== other.unit ||
      other.start !== one.end + 1 ||
      one.low > other.high
    ) {
      kept.push(one);
      continue;
    }
    kept.push({ unit: one.unit, low: one.low, high: other.high, start: one.start, end: other.end, isSpan: true });
    i++;
  }
  return kept;
}

function bounded(part: Part, words: readonly Word[]): Part {
  if (part.unit !== "year") return part;
  const before = words[part.start - 1]?.word ?? "";
  if (before === "before") return { ...part, low: Number.NEGATIVE_INFINITY, high: part.low - 1 };
  if (before === "after") return { ...part, low: part.high + 1, high: Number.POSITIVE_INFINITY };
  return part;
}
