/**
 * Operators and functions of citext, text in which case makes no difference to comparisons, patterns and searches. All
 * else goes by the implicit conversion to text.
 */

import { compareText } from "../../../values/compare-text.js";
import type { Seed } from "../../../values/lookup3.js";
import { BOOL, CITEXT, INT4, type SqlType, TEXT, type Value } from "../../../values/values.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import type { TableFunction } from "../table-function.js";
import { fn, op, taking } from "./define.js";
import { hashing, hashText } from "./hashes.js";
import { likeMatcher } from "./like.js";
import { PATTERN_FUNCTIONS } from "./pattern.js";
import { regexOf } from "./regex.js";
import { SETS } from "./sets.js";
import { lengthOf } from "./text.js";
import { checkLength } from "./text-length.js";

const like = (text: string, pattern: string) => likeMatcher(pattern, true)(text);
const matches = (text: string, pattern: string) => regexOf(pattern, "i").test(text);

/**
 * A pattern operator, which is called `symbol` and says `meaning`: the one of text in which case makes no difference.
 * So nobody takes it for one that an ordered index answers.
 */
function pattern(symbol: string, meaning: string, test: (text: string, pattern: string) => boolean): ScalarFunction[] {
  return [CITEXT, TEXT].map((type) => Object.freeze({ ...op(meaning, [CITEXT, type], BOOL, test), name: symbol }));
}

const not = (test: (text: string, pattern: string) => boolean) => (text: string, pattern: string) =>
  !test(text, pattern);

/** The text as a pattern of its own characters. */
const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

function position(text: string, wanted: string): number {
  if (wanted === "") return 1;
  const match = new RegExp(literal(wanted), "iu").exec(text);
  return match === null ? 0 : lengthOf(text.slice(0, match.index)) + 1;
}

/** Throws 54000. */
function replaced(text: string, wanted: string, by: string): string {
  if (wanted === "") return text;
  let length = text.length;
  return text.replace(new RegExp(literal(wanted), "giu"), (match) => {
    length += by.length - match.length;
    checkLength(length);
    return by;
  });
}

/** The part with that number; NULL: there is none. */
function part(text: string, separator: string, number: number): string | null {
  const parts = separator === "" ? [text] : text.split(new RegExp(literal(separator), "iu"));
  return parts[number - 1] ?? null;
}

function translated(text: string, from: string, to: string): string {
  const [sources, targets] = [Array.from(from.toLowerCase()), Array.from(to)];
  const map = new Map<string, string>();
  sources.forEach((source, i) => {
    if (!map.has(source)) map.set(source, targets[i] ?? "");
  });
  return Array.from(text, (character) => map.get(character.toLowerCase()) ?? character).join("");
}

/** Unless the flags ask for the case to count. */
const ignoringCase = (flags: string) => (flags.includes("c") ? flags : `${flags}i`);

/** The same function with a text and a pattern in which case makes no difference. */
function ofCitext(overload: ScalarFunction): ScalarFunction {
  const { args, apply } = overload;
  const flagsAt = overload.name === "regexp_replace" ? 3 : 2;
  const types = args.map((type, i) => (i < 2 ? CITEXT : type));
  return Object.freeze({
    ...overload,
    args: types,
    apply: (...values: string[]) => {
      const rest = values.slice(0, flagsAt);
      return apply(...rest, ignoringCase(values[flagsAt] ?? ""));
    },
  });
}

const compared = (a: string, b: string) => compareText(a.toLowerCase(), b.toLowerCase());

/** As PostgreSQL's index of patterns orders: here the same as `<` and the rest. */
const ORDER_OPERATORS: readonly ScalarFunction[] = [
  op("~<~", [CITEXT, CITEXT], BOOL, (a: string, b: string) => compared(a, b) < 0),
  op("~<=~", [CITEXT, CITEXT], BOOL, (a: string, b: string) => compared(a, b) <= 0),
  op("~>~", [CITEXT, CITEXT], BOOL, (a: string, b: string) => compared(a, b) > 0),
  op("~>=~", [CITEXT, CITEXT], BOOL, (a: string, b: string) => compared(a, b) >= 0),
];

export const CITEXT_OPERATORS: readonly ScalarFunction[] = [
  ...["~~", "~~*"].flatMap((symbol) => pattern(symbol, "~~*", like)),
  ...["!~~", "!~~*"].flatMap((symbol) => pattern(symbol, "!~~*", not(like))),
  ...["~", "~*"].flatMap((symbol) => pattern(symbol, "~*", matches)),
  ...["!~", "!~*"].flatMap((symbol) => pattern(symbol, "!~*", not(matches))),
  ...ORDER_OPERATORS,
];

/** As the operators compare, by the names that PostgreSQL's operators and indexes call. */
const COMPARISONS: readonly ScalarFunction[] = ["citext", "citext_pattern"].flatMap((name) => [
  fn(`${name}_cmp`, [CITEXT, CITEXT], INT4, compared),
  fn(`${name}_lt`, [CITEXT, CITEXT], BOOL, (a: string, b: string) => compared(a, b) < 0),
  fn(`${name}_le`, [CITEXT, CITEXT], BOOL, (a: string, b: string) => compared(a, b) <= 0),
  fn(`${name}_gt`, [CITEXT, CITEXT], BOOL, (a: string, b: string) => compared(a, b) > 0),
  fn(`${name}_ge`, [CITEXT, CITEXT], BOOL, (a: string, b: string) => compared(a, b) >= 0),
]);

const PATTERNS = new Set(["regexp_match", "regexp_replace", "regexp_split_to_array"]);
const isOfTexts = ({ args }: Pick<ScalarFunction, "args">) => args.every((type) => type === TEXT);

export const CITEXT_FUNCTIONS: readonly ScalarFunction[] = [
  ...taking(200, PATTERN_FUNCTIONS.filter((each) => PATTERNS.has(each.name) && isOfTexts(each)).map(ofCitext)),
  ...taking(50, [
    ...COMPARISONS,
    fn("citext_eq", [CITEXT, CITEXT], BOOL, (a: string, b: string) => compared(a, b) === 0),
    fn("citext_ne", [CITEXT, CITEXT], BOOL, (a: string, b: string) => compared(a, b) !== 0),
    fn("citext_smaller", [CITEXT, CITEXT], CITEXT, (a: string, b: string) => (compared(a, b) < 0 ? a : b)),
    fn("citext_larger", [CITEXT, CITEXT], CITEXT, (a: string, b: string) => (compared(a, b) > 0 ? a : b)),
    ...hashing(
      "citext_hash",
      CITEXT,
      (text: string, seed: Seed) => hashText(text.toLowerCase(), seed),
      "citext_hash_extended",
    ),
    fn("strpos", [CITEXT, CITEXT], INT4, position),
    fn("replace", [CITEXT, CITEXT, CITEXT], TEXT, replaced),
    fn("split_part", [CITEXT, CITEXT, INT4], TEXT, part),
    fn("translate", [CITEXT, CITEXT, TEXT], TEXT, translated, { nanosPerUnit: 100 }),
  ]),
];

const TABLES = new Set(["regexp_matches", "regexp_split_to_table"]);

export const CITEXT_TABLES: readonly TableFunction[] = SETS.filter(
  (each) => TABLES.has(each.name) && isOfTexts(each),
).map((each) =>
  Object.freeze({
    ...each,
    args: each.args.map((type, i) => (i < 2 ? CITEXT : type)),
    open: (context: EvalContext, [text, pattern, flags]: readonly Value[], shape: SqlType) =>
      each.open(context, [text!, pattern!, ignoringCase((flags as string | undefined) ?? "")], shape),
  }),
);
