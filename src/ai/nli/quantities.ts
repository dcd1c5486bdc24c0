/**
 * Reads counts, measures, shares, times of day and dates from the words of a sentence, each as an interval with a unit.
 * Two quantities are comparable if they have the same unit. For English. Called by claim-evidence.ts; pure.
 */
import type { Word } from "./claim-words.js";
import { dateQuantities } from "./date-quantities.js";
import { MONEY, moneyBefore, moneyBehind } from "./money.js";
import type { Quantity } from "./quantity.js";
import { clockAt } from "./times-of-day.js";

/** Measures by stem: the base unit and how many of it. */
const MEASURES = new Map<string, readonly [unit: string, factor: number]>();
const MEASURE_WORDS: Readonly<Record<string, string>> = {
  duration:
    "millisecond milliseconds ms 0.001|second seconds s 1|minute minutes min 60|hour hours h 3600|day days 86400|week weeks 604800|" +
    "month months 2629800|year years 31557600|decade decades 315576000",
  length:
    "mm millimetre millimetres 0.001|cm centimetre centimetres 0.01|m metre metres meter meters 1|km kilometre kilometres kilometer kilometers 1000|" +
    "mile miles 1609.34|foot feet 0.3048|inch inches 0.0254",
  mass: "mg milligram milligrams 0.000001|g gram grams 0.001|kg kilo kilos kilogram kilograms 1|ton tons tonne tonnes 1000|pound pounds lb 0.4536",
  volume: "ml millilitre millilitres 0.001|l litre litres liter liters 1",
};
for (const [unit, lines] of Object.entries(MEASURE_WORDS)) {
  for (const line of lines.split("|")) {
    const words = line.split(" ");
    const factor = Number(words.pop());
    for (const word of words) MEASURES.set(word, [unit, factor]);
  }
}
const MULTIPLIERS: Readonly<Record<string, number>> = {
  hundred: 100,
  thousand: 1000,
  million: 1e6,
  billion: 1e9,
  dozen: 12,
};
/** Parts of a whole, as intervals from 0 to 1. */
const SHARES: Readonly<Record<string, readonly [number, number]>> = {
  half: [0.5, 0.5],
  quarter: [0.25, 0.25],
  quarters: [0.25, 0.25],
  third: [1 / 3, 1 / 3],
  thirds: [1 / 3, 1 / 3],
  most: [0.5001, 1],
  majority: [0.5001, 1],
};
const ADJECTIVES_MAX = 2;
/** Of "about ten". */
const ROUGHLY = 0.15;

export function quantitiesOf(words: readonly Word[]): Quantity[] {
  const dates = dateQuantities(words);
  const taken = new Set(dates.flatMap(({ start, end }) => range(start, end)));
  const found: Quantity[] = [...dates];
  for (let at = 0; at < words.length; at++) {
    if (taken.has(at)) continue;
    const quantity = clockAt(words, at) ?? shareAt(words, at) ?? countAt(words, at, taken);
    if (quantity === null) continue;
    found.push(quantity);
    at = quantity.end - 1;
  }
  return found.flatMap((quantity) => {
    const share = found.find((one) => one.unit === "share" && isPartOf(words, one, quantity));
    if (share !== undefined) {
      const [low, high] = [quantity.low * share.low, quantity.high * share.high];
      return [{ ...quantity, low, high, start: share.start }];
    }
    return quantity.unit === "share" && found.some((one) => isPartOf(words, quantity, one)) ? [] : [quantity];
  });
}

/** "A quarter of the 80 seats". */
function isPartOf(words: readonly Word[], share: Quantity, { start, unit, isDate }: Quantity): boolean {
  const between = words.slice(share.end, start).map(({ word }) => word);
  return (
    share.unit === "share" && unit !== "share" && !isDate && /^of(?: (?:the|these|those|all))?$/.test(between.join(" "))
  );
}

/** How what is said stands to what is claimed; null: the unit is another one. */
export function compareQuantity(said: Quantity, claimed: Quantity): "within" | "apart" | "open" | null {
  // What a currency is worth in another is not known.
  if (said.unit !== claimed.unit && isMoney(said) && isMoney(claimed)) return "open";
  if (said.unit !== claimed.unit && said.behind?.some((stem) => claimed.behind?.includes(stem)) !== true) return null;
  // "12 of the 30 pupils" says nothing of 30 pupils.
  if (said.isTotal !== claimed.isTotal) return null;
  const slack = 1e-9 * Math.max(1, Math.abs(Number.isFinite(said.low) ? said.low : said.high));
  if (said.low >= claimed.low - slack && said.high <= claimed.high + slack) return "within";
  if (said.isSpan === true && claimed.low >= said.low && claimed.high <= said.high) return "within";
  return said.high < claimed.low || said.low > claimed.high ? "apart" : "open";
}

const isMoney = ({ unit }: Pick<Quantity, "unit">) => unit.startsWith(MONEY);

function shareAt(words: readonly Word[], at: number): Quantity | null {
  const share = SHARES[words[at]!.word];
  if (share === undefined || words[at - 1]?.word === "at") return null;
  const before = words[at - 1];
  const count = before?.isNumber === true && /s$/.test(words[at]!.word) ? Number(before.word) : 1;
  // "The third house" and "most recent" are no shares.
  if (count === 1 && before?.word === "the" && !/^(?:majority|half)$/.test(words[at]!.word)) return null;
  const [low, high] = [share[0] * count, Math.min(1, share[1] * count)];
  return { unit: "share", low, high, start: at, end: at + 1, isDate: false };
}

function countAt(words: readonly Word[], at: number, taken: ReadonlySet<number>): Quantity | null {
  const number = numberAt(words, at);
  if (number === null) return null;
  const total = totalBehind(words, number.end);
  if (total !== null) {
    const [unit, factor] = unitAt(words, total.at, total.end, taken);
    const [low, high] = bounded(words, at, number.value, number.end);
    if (unit !== null && factor === 1) return { unit, low, high, start: at, end: total.at, isDate: false };
  }
  let { value, end } = number;
  const range = words[end]?.word === "and" && words[at - 1]?.word === "between" ? numberAt(words, end + 1) : null;
  let upper = value;
  if (range !== null) [upper, end] = [range.value, range.end];
  const [unit, factor, behind] = unitAt(words, at, end, taken);
  if (unit === null) return null;
  const [parts, unitEnd] = range === null ? partsBehind(words, behind, unit, factor) : [0, behind];
  value = value * factor + parts;
  upper *= factor;
  const start = moneyBefore(words[at - 1]?.word ?? "") === null ? at : at - 1;
  const [low, high] = range === null ? bounded(words, start, value, unitEnd) : [value, upper];
  const isCount = unitEnd === end && !isMoney({ unit });
  return {
    unit: isAge(words, at, unitEnd, unit) ? "age" : unit,
    low,
    high,
    start,
    end: unitEnd,
    isDate: false,
    ...(isCount ? { behind: stemsBehind(words, end) } : {}),
    ...(isTotalAt(words, at) ? { isTotal: true } : {}),
  };
}

/** The number of "of the 30 pupils". */
function totalBehind(words: readonly Word[], at: number): { at: number; end: number } | null {
  if (words[at]?.word !== "of") return null;
  const place = words[at + 1]?.isNumber === true ? at + 1 : at + 2;
  const number = numberAt(words, place);
  return number?.end === undefined || words[place]?.isNumber !== true ? null : { at: place, end: number.end };
}

function isTotalAt(words: readonly Word[], at: number): boolean {
  const before = words[at - 1]?.word === "of" ? at - 2 : words[at - 2]?.word === "of" ? at - 3 : -1;
  return before >= 0 && words[before]!.isNumber;
}

/** "And 50 cents" behind "5 euros", and where it ends. */
function partsBehind(
  words: readonly Word[],
  at: number,
  unit: string,
  factor: number,
): readonly [value: number, end: number] {
  // "An hour and a half".
  const isHalf = words[at]?.word === "and" && words[at + 1]?.word === "a" && words[at + 2]?.word === "half";
  if (isHalf && MEASURES.has(words[at - 1]?.word ?? "")) return [factor / 2, at + 3];
  const number = factor === 1 && isMoney({ unit }) && words[at]?.word === "and" ? numberAt(words, at + 1) : null;
  const parts = number === null ? null : moneyBehind(words, number.end, at + 1);
  return parts?.[0] === unit && parts[1] < 1 ? [number!.value * parts[1], number!.end + 1] : [0, at];
}

function numberAt(words: readonly Word[], at: number): { value: number; end: number } | null {
  const word = words[at];
  if (word === undefined) return null;
  const alone = word.word === "a" || word.word === "an" || word.word === "single" ? 1 : null;
  const multiplier = MULTIPLIERS[words[at + 1]?.word ?? ""];
  const isOne = word.word === "single" || multiplier !== undefined || MEASURES.has(words[at + 1]?.word ?? "");
  if (alone !== null && !isOne) return null;
  let value = alone ?? (word.isNumber ? Number(word.word) : Number.NaN);
  if (MULTIPLIERS[word.word] !== undefined && !word.isNumber) return { value: MULTIPLIERS[word.word]!, end: at + 1 };
  if (Number.isNaN(value)) return null;
  if (words[at - 1]?.word === "minus") value = -value;
  let end = at + 1;
  const next = words[end];
  if (value >= 20 && value < 100 && value % 10 === 0 && next?.isNumber === true && Number(next.word) < 10) {
    value += Number(next.word);
    end++;
  }
  for (
    let factor = MULTIPLIERS[words[end]?.word ?? ""];
    factor !== undefined;
    factor = MULTIPLIERS[words[end]?.word ?? ""]
  ) {
    value *= factor;
    end++;
  }
  return { value, end };
}

/** The unit, its factor and where it ends; null where the number names something ("train 402"). */
function unitAt(
  words: readonly Word[],
  at: number,
  end: number,
  taken: ReadonlySet<number>,
): readonly [string | null, number, number] {
  const before = moneyBefore(words[at - 1]?.word ?? "");
  if (before !== null) return [...before, end];
  const next = words[end];
  const money = moneyBehind(words, end, at);
  if (isName(words, at) && money === null && !MEASURES.has(next?.word ?? "")) return [null, 1, end];
  if (next === undefined || taken.has(end)) return [bareUnit(words, at), 1, end];
  if (next.word === "%" || next.stem === "percent" || (next.word === "per" && words[end + 1]?.word === "cent"))
    return ["share", 0.01, end + 1];
  if (money !== null) return [...money, end + 1];
  if (next.word === "times") return ["times", 1, end + 1];
  const measure = MEASURES.get(next.word) ?? (next.stem === "squar" ? (["area", 1] as const) : undefined);
  if (measure !== undefined) return [measure[0], measure[1], end + 1];
  for (let i = end; i <= end + ADJECTIVES_MAX && i < words.length; i++) {
    const { isContent, isNumber, word } = words[i]!;
    if (word === "of" || word === "the") continue;
    if (!isContent || isNumber) break;
    // A noun is the last of the words in a row, most often; "more" asks at most for two adjectives.
    const after = words[i + 1];
    const goesOn = after?.isContent === true && !after.isNumber && i < end + ADJECTIVES_MAX && isAdjective(word);
    if (!goesOn) return [words[i]!.stem, 1, end];
  }
  return [bareUnit(words, at), 1, end];
}

/** "Train 402", "on the platform 3": a number behind a noun with nothing, an article or a preposition before it. */
function isName(words: readonly Word[], at: number): boolean {
  const [before, noun] = [words[at - 2], words[at - 1]];
  if (
    noun === undefined ||
    !noun.isContent ||
    noun.isNumber ||
    /^(?:minus|of|least|less|fewer|around|nearly|exactly)$/.test(noun.word)
  )
    return false;
  return (
    before === undefined || /^(?:a|an|the|of|in|on|at|by|for|from|to|into|with|our|their|my|your)$/.test(before.word)
  );
}

function stemsBehind(words: readonly Word[], end: number): string[] {
  const stems: string[] = [];
  for (const { isContent, isNumber, word, stem } of words.slice(end, end + ADJECTIVES_MAX + 1)) {
    if (word === "of" || word === "the") continue;
    if (!isContent || isNumber) break;
    stems.push(stem);
  }
  return stems;
}

const isAdjective = (word: string): boolean =>
  /(?:ful|ous|ive|al|ic|ary|ent|ant|ish|less|ed|new|old|big|small|large|long|high|young)$/.test(word);

/** Of a number without a noun: behind a preposition or a verb it counts something that is not named. */
function bareUnit(words: readonly Word[], at: number): string | null {
  const before = words[at - 1];
  return before === undefined || (before.isContent && !/^(?:minus|reached?|hit)$/.test(before.word)) ? null : "count";
}

const LOW = /^(?:over|above|exceeds?|exceeding)$/;
const HIGH = /^(?:under|below)$/;

function bounded(words: readonly Word[], at: number, value: number, end: number): [number, number] {
  const [second, first] = [words[at - 2]?.word ?? "", words[at - 1]?.word ?? ""];
  const step = 1e-6 * Math.max(1, Math.abs(value));
  const both = `${second} ${first}`;
  if (/^(?:more|greater|longer|higher|older|larger) than$/.test(both) || LOW.test(first))
    return [value + step, Number.POSITIVE_INFINITY];
  if (both === "at least" || first === "minimum") return [value, Number.POSITIVE_INFINITY];
  if (/^(?:less|fewer|shorter|lower|younger|smaller) than$/.test(both) || HIGH.test(first))
    return [Number.NEGATIVE_INFINITY, value - step];
  if (/^(?:at most|up to|to most)$/.test(both) || first === "maximum") return [Number.NEGATIVE_INFINITY, value];
  const next = `${words[end]?.word ?? ""} ${words[end + 1]?.word ?? ""}`;
  if (next === "or more") return [value, Number.POSITIVE_INFINITY];
  if (next === "or less" || next === "or fewer") return [Number.NEGATIVE_INFINITY, value];
  if (/^(?:about|around|roughly|approximately|nearly|almost|some|circa)$/.test(first)) {
    const around = Math.abs(value) * ROUGHLY;
    return [value - around, value + around];
  }
  return [value, value];
}

const isAge = (words: readonly Word[], at: number, end: number, unit: string): boolean =>
  (unit === "duration" && words[end]?.word === "old") ||
  (words[at - 1]?.word === "of" && words[at - 2]?.word === "age");

const range = (start: number, end: number) => Array.from({ length: end - start }, (_, i) => start + i);
