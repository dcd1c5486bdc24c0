/**
 * Comparisons in a question: "more than 100", "between 20 and 40", "in March 2024", "older than 30", "above the
 * average". They are found here with their operands; `read-question.ts` decides which column each is about.
 */
import { type DateRange, datePhraseAt, isYear } from "./date-phrases.js";
import type { Question } from "./question.js";
import { ADJECTIVES, IRREGULAR, type Measure, UNITS } from "./vocabulary.js";

export type Comparison = "=" | "<>" | "<" | "<=" | ">" | ">=";

export interface Condition {
  /** Tokens that it takes. */
  readonly from: number;
  readonly to: number;
  /** The first token of the operand. */
  readonly operandAt: number;
  /** Numbers: one, or two of BETWEEN. Also of years alone, which may be either. */
  readonly numbers: readonly number[] | null;
  readonly comparison: Comparison;
  /** The condition as one on dates. */
  readonly range: DateRange | null;
  /** Against the average of the column. */
  readonly isAverage: boolean;
  /** How many times the average. */
  readonly factor?: number;
  /** "older than": what the adjective measures. */
  readonly measure: Measure | null;
}

export interface Operator {
  readonly comparison: Comparison;
  readonly length: number;
  readonly measure: Measure | null;
  /** A preposition, which only goes with dates. */
  readonly ofTime?: "in" | "before" | "after" | "since" | "until";
}

const op = (comparison: Comparison, length: number, measure: Measure | null = null): Operator => ({
  comparison,
  length,
  measure,
});

/** The plain form of a comparative or superlative; null: the word is none. */
export function adjectiveOf(word: string, ending: "er" | "est"): Measure | null {
  const plain = ADJECTIVES[IRREGULAR[word] ?? ""];
  if (plain !== undefined) return plain;
  if (!word.endsWith(ending)) return null;
  const root = word.slice(0, -ending.length);
  for (const form of [root, `${root}e`, root.replace(/i$/, "y"), root.replace(/(.)\1$/, "$1")]) {
    const measure = ADJECTIVES[form];
    if (measure !== undefined) return measure;
  }
  return null;
}

export function operatorAt(question: Question, at: number): Operator | null {
  const word = question.lower(at);
  const than = (length: number) => question.lower(at + length) === "than";
  if (/^(no|not)$/.test(word) && than(2)) {
    if (question.says(at + 1, "less|fewer|lower|smaller")) return op(">=", 3);
    if (question.says(at + 1, "more|greater|higher|larger|over")) return op("<=", 3);
  }
  if (question.says(at, "at", "least") || question.says(at, "minimum", "of")) return op(">=", 2);
  if (question.says(at, "at", "most") || question.says(at, "up", "to") || question.says(at, "maximum", "of"))
    return op("<=", 2);
  if (question.says(at, "equal", "to")) return op("=", 2);
  const sign = { "=": "=", "!=": "<>", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=" } as const;
  const signed = sign[word as keyof typeof sign];
  if (signed !== undefined) return op(signed, 1);
  if (than(1)) {
    if (/^(more|greater)$/.test(word)) return op(">", 2);
    if (/^(less|fewer)$/.test(word)) return op("<", 2);
    if (/^(later)$/.test(word)) return { ...op(">", 2), ofTime: "after" };
    if (/^(earlier)$/.test(word)) return { ...op("<", 2), ofTime: "before" };
    const measure = adjectiveOf(word, "er");
    if (measure !== null) return op(measure.descending ? ">" : "<", 2, measure);
  }
  if (than(2) && /^(more|less)$/.test(word)) {
    const measure = ADJECTIVES[question.lower(at + 1)];
    if (measure !== undefined) return op((word === "more") === measure.descending ? ">" : "<", 3, measure);
  }
  const then = question.says(at + 1, "the") ? at + 2 : at + 1;
  // "Over the past year".
  if (word === "over" && question.says(then, "past|last|previous")) return { ...op("=", 1), ofTime: "in" };
  if (/^(over|above|exceeding|exceeds|exceed)$/.test(word)) return op(">", 1);
  if (/^(under|below)$/.test(word)) return op("<", 1);
  if (/^(exactly|equals)$/.test(word)) return op("=", 1);
  if (/^(in|on|during|within|for|of|from)$/.test(word)) return { ...op("=", 1), ofTime: "in" };
  if (word === "before") return { ...op("<", 1), ofTime: "before" };
  if (word === "after") return { ...op(">", 1), ofTime: "after" };
  if (word === "since") return { ...op(">=", 1), ofTime: "since" };
  if (/^(until|till|by)$/.test(word)) return { ...op("<=", 1), ofTime: "until" };
  return null;
}

/** All conditions with a number, a date or an average. `isTaken` tells tokens that mean something else. */
export function conditionsOf(question: Question, isTaken: (at: number) => boolean): Condition[] {
  const found: Condition[] = [];
  for (let at = 0; at < question.tokens.length; at++) {
    const condition =
      between(question, at) ??
      averaged(question, at) ??
      compared(question, at) ??
      orMore(question, at) ??
      alone(question, at);
    if (condition === null || isTaken(condition.operandAt)) continue;
    question.use(condition.from, condition.to);
    found.push(condition);
    at = condition.to - 1;
  }
  return found;
}

const plain = { isAverage: false, measure: null } as const;

/** "between A and B", "from A to B". */
function between(question: Question, at: number): Condition | null {
  if (!question.says(at, "between|from")) return null;
  const first = operandAt(question, at + 1);
  if (first === null) return null;
  const joint = at + 1 + first.length;
  if (!question.says(joint, "and|to|until|till|-")) return null;
  const second = operandAt(question, joint + 1);
  if (second === null) return null;
  const to = unitsAfter(question, joint + 1 + second.length);
  const numbers = first.number !== null && second.number !== null ? [first.number, second.number] : null;
  const range = first.range !== null && second.range !== null ? { from: first.range.from, to: second.range.to } : null;
  if (numbers === null && range === null) return null;
  return { from: at, to, operandAt: at + 1, numbers, range, comparison: "=", ...plain };
}

/** "above the average [price]". */
function averaged(question: Question, at: number): Condition | null {
  const operator = operatorAt(question, at) ?? thanBehind(question, at);
  if (operator === null || operator.ofTime !== undefined) return null;
  const times = timesAt(question, at + operator.length);
  let next = at + operator.length + times.length;
  if (question.says(next, "the")) next++;
  if (!question.says(next, "average|mean")) return null;
  // Of numbers of rows: "twice the average number of clicks".
  if (times.length > 0 && question.says(next + 1, "number|count|total")) return null;
  const { comparison, measure } = operator;
  const common = { from: at, to: next + 1, operandAt: next, numbers: null, range: null, comparison, measure };
  return { ...common, isAverage: true, factor: times.factor };
}

/** "Twice the average", "three times the average", "half the average", "10 percent of the fare". */
export function timesAt(question: Question, at: number): { readonly factor: number; readonly length: number } {
  if (question.says(at, "twice|double")) return { factor: 2, length: 1 };
  if (question.says(at, "half")) return { factor: 0.5, length: 1 };
  const number = question.at(at)?.number ?? null;
  const of = question.lower(at).endsWith("%") ? at + 1 : question.says(at + 1, "percent") ? at + 2 : null;
  // "10 percent of orders" are so many of them.
  if (number !== null && of !== null && question.says(of, "of", "the|its|their"))
    return { factor: number / 100, length: of + 1 - at };
  return number !== null && question.says(at + 1, "times") ? { factor: number, length: 2 } : { factor: 1, length: 0 };
}

/** "A higher price than the average": what is compared stands between. */
function thanBehind(question: Question, at: number): Operator | null {
  if (!question.says(at, "than")) return null;
  for (let word = at - 2; word >= Math.max(0, at - 3); word--) {
    const isMore = question.says(word, "more|higher|greater|larger|bigger");
    if (question.isUsed(word) || (!isMore && !question.says(word, "less|fewer|lower|smaller"))) continue;
    const next = question.says(at + 1, "the") ? at + 2 : at + 1;
    if (question.says(next, "average|mean")) question.use(word);
    return op(isMore ? ">" : "<", 1);
  }
  return null;
}

function compared(question: Question, at: number): Condition | null {
  const operator = operatorAt(question, at);
  if (operator === null) return null;
  let next = at + operator.length;
  // "Longer than an hour".
  const isOne = operator.measure !== null && question.says(next, "a|an", "minute|hour|day|week|month|year");
  if (!isOne && question.says(next, "the|a|an|year|of")) next++;
  const operand = isOne ? { number: 1, range: null, length: 1 } : operandAt(question, next);
  // "More than 10 percent of the fare" is no number.
  if (operand === null || isMultiple(question, next)) return null;
  const { comparison, measure } = operator;
  const isDate = operand.number === null || ofTime(operator) || /^[<>=!]/.test(question.lower(at));
  const isAgo = question.says(next + operand.length - 1, "ago");
  // "More than 3 months ago" is before that.
  const isTurned = isAgo && operator.ofTime === undefined;
  const before = { ...operator, comparison: TURNED[operator.comparison] ?? operator.comparison };
  const range = operand.range === null || !isDate ? null : rangeFor(isTurned ? before : operator, operand.range);
  if (isAgo && isLongAgo(question, next) && operator.comparison === "=") return null;
  if (operator.ofTime !== undefined && range === null) return null;
  // "From 2019 or older" begins with 2019.
  if (operator.ofTime === "in" && orMore(question, next) !== null) return null;
  // "in 30": only a year, or a date, follows a preposition.
  const to = unitsAfter(question, next + operand.length);
  return {
    from: at,
    to,
    operandAt: next,
    numbers: operand.number === null ? null : [operand.number],
    range,
    comparison,
    isAverage: false,
    measure,
  };
}

/** "10 percent of the fare", "twice the deposit": not that number. */
function isMultiple(question: Question, at: number): boolean {
  if (question.says(at, "twice|double")) return question.says(at + 1, "the|its|their");
  return timesAt(question, at).length > 0 && !question.says(at + 1, "times");
}

const TURNED: Readonly<Record<string, Comparison>> = { ">": "<", ">=": "<=", "<": ">", "<=": ">=" };

/** "Two months ago" is no day: it may be that month, or about then. */
const isLongAgo = (question: Question, at: number) => !question.says(at + 1, "day|days|hour|hours");

/** "After 2000" and "older than 2000" say when; "more than 2000" is a number. */
const ofTime = ({ ofTime, measure }: Operator) => ofTime !== undefined || measure?.time !== undefined;

/** "75 or more". */
function orMore(question: Question, at: number): Condition | null {
  const operand = operandAt(question, at);
  if (operand === null) return null;
  const after = unitsAfter(question, at + operand.length);
  if (!question.says(after, "or")) return null;
  const common = {
    from: at,
    to: after + 2,
    operandAt: at,
    numbers: operand.number === null ? null : [operand.number],
    ...plain,
  };
  const saysWhen = question.says(after + 1, "older|later|after|younger|earlier|before");
  const range = operand.number === null || saysWhen ? operand.range : null;
  // Of ages the older are the higher, of years the lower.
  if (isYear(operand.number) && question.says(after + 1, "older|younger|newer")) {
    const isOlder = question.says(after + 1, "older");
    const { from, to } = operand.range!;
    return { ...common, comparison: isOlder ? "<=" : ">=", range: isOlder ? { from: null, to } : { from, to: null } };
  }
  if (question.says(after + 1, "more|higher|above|greater|over|older|later|after|longer")) {
    return { ...common, comparison: ">=", range: range && { from: range.from, to: null } };
  }
  if (question.says(after + 1, "less|fewer|lower|below|under|younger|earlier|before|shorter")) {
    return { ...common, comparison: "<=", range: range && { from: null, to: range.to } };
  }
  return null;
}

/** "today", "last month": no preposition needed. */
function alone(question: Question, at: number): Condition | null {
  const phrase = datePhraseAt(question, at);
  if (phrase === null || phrase.isBareYear) return null;
  const { range, length } = phrase;
  if (question.says(at + length - 1, "ago") && isLongAgo(question, at)) return null;
  return { from: at, to: at + length, operandAt: at, numbers: null, range, comparison: "=", ...plain };
}

interface Operand {
  readonly number: number | null;
  readonly range: DateRange | null;
  readonly length: number;
}

function operandAt(question: Question, at: number): Operand | null {
  const phrase = datePhraseAt(question, at);
  const number = question.at(at)?.number ?? null;
  if (phrase !== null) return { number: phrase.isBareYear ? number : null, range: phrase.range, length: phrase.length };
  return number === null ? null : { number, range: null, length: 1 };
}

function rangeFor({ comparison, ofTime }: Operator, { from, to }: DateRange): DateRange {
  if (ofTime === "before" || comparison === "<") return { from: null, to: from };
  if (ofTime === "after" || comparison === ">") return { from: to, to: null };
  if (ofTime === "since" || comparison === ">=") return { from, to: null };
  if (ofTime === "until" || comparison === "<=") return { from: null, to };
  return { from, to };
}

function unitsAfter(question: Question, at: number): number {
  return UNITS.has(question.lower(at)) ? at + 1 : at;
}

/** The two numbers of a condition may also be years. */
export function hasYears({ numbers }: Condition): boolean {
  return numbers?.every(isYear) === true;
}
