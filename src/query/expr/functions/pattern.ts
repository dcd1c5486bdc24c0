/** Pattern matching (chapter 9.7): LIKE, SIMILAR TO and regular expressions as operators and functions. */

import { sqlError } from "../../../protocol/errors.js";
import type { Turns } from "../../../protocol/turns.js";
import { checkArraySize, sqlArray } from "../../../values/text-format-array.js";
import { arrayOf, BOOL, BPCHAR, BYTEA, INT4, type SqlArray, type SqlType, TEXT } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { listInTurns } from "../list-in-turns.js";
import { aliases, fn, op } from "./define.js";
import { likeEscape, likeMatcher } from "./like.js";
import { regexOf, similarToRegex } from "./regex.js";
import { lengthOf } from "./text.js";

const like = (text: string, pattern: string) => likeMatcher(pattern, false)(text);
const ilike = (text: string, pattern: string) => likeMatcher(pattern, true)(text);
const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

const matchesRegex = (flags: string) => (text: string, pattern: string) => regexOf(pattern, flags).test(text);
const sensitive = matchesRegex("");
const insensitive = matchesRegex("i");

/** An operator and its negation, for text and for character(n). */
function both(symbol: string, negated: string, test: (text: string, pattern: string) => boolean): ScalarFunction[] {
  return [TEXT, BPCHAR].flatMap((type: SqlType) => [
    op(symbol, [type, TEXT], BOOL, test),
    op(negated, [type, TEXT], BOOL, (text: string, pattern: string) => !test(text, pattern)),
  ]);
}

export const PATTERN_OPERATORS: readonly ScalarFunction[] = [
  ...both("~~", "!~~", like),
  ...both("~~*", "!~~*", ilike),
  ...both("~", "!~", sensitive),
  ...both("~*", "!~*", insensitive),
  op("~~", [BYTEA, BYTEA], BOOL, (bytes: Uint8Array, pattern: Uint8Array) => like(latin1(bytes), latin1(pattern))),
  op("!~~", [BYTEA, BYTEA], BOOL, (bytes: Uint8Array, pattern: Uint8Array) => !like(latin1(bytes), latin1(pattern))),
];

function noGlobal(flags: string, name: string): void {
  if (!flags.includes("g")) return;
  throw sqlError("22023", `${name}() does not support the "global" option`, {
    hint: "Use the regexp_matches function instead.",
  });
}

/** The captured groups, or the whole match when there are none; null when nothing matches. */
export function groupsOf(match: RegExpExecArray): SqlArray {
  const groups = match.length > 1 ? match.slice(1) : [match[0]];
  return sqlArray(groups.map((group) => group ?? null));
}

function regexpMatch(text: string, pattern: string, flags = ""): SqlArray | null {
  noGlobal(flags, "regexp_match");
  const match = regexOf(pattern, flags).exec(text);
  return match === null ? null : groupsOf(match);
}

/** The part that matches; of a pattern with groups, the first group. */
function substringRegex(text: string, pattern: string): string | null {
  const match = regexOf(pattern).exec(text);
  if (match === null) return null;
  return (match.length > 1 ? match[1] : match[0]) ?? null;
}

/** `\1` to `\9`, `\&` and `\\` in a replacement. */
function expandReplacement(replacement: string, match: readonly (string | undefined)[]): string {
  if (!replacement.includes("\\")) return replacement;
  return replacement.replace(/\\([0-9&\\])/g, (_whole, what: string) => {
    if (what === "\\") return "\\";
    return (what === "&" || what === "0" ? match[0] : match[Number(what)]) ?? "";
  });
}

/** Replaces match number `which` (0: all) at or after the 1-based `start`. */
function replaceMatches(
  text: string,
  pattern: string,
  replacement: string,
  start: number,
  which: number,
  flags: string,
): string {
  if (start < 1) throw badParameter("start", start);
  if (which < 0) throw badParameter("n", which);
  const regex = regexOf(pattern, flags);
  if (isBeyond(text, start)) return text;
  const from = unitsOf(text, start - 1);
  let out = text.slice(0, from);
  let copied = from;
  let seen = 0;
  regex.lastIndex = from;
  for (const match of text.matchAll(regex)) {
    seen++;
    if (which !== 0 && seen < which) continue;
    out += text.slice(copied, match.index) + expandReplacement(replacement, match);
    copied = match.index + match[0].length;
    if (which !== 0) break;
  }
  return out + text.slice(copied);
}

const badParameter = (name: string, value: number) =>
  sqlError("22023", `invalid value for parameter "${name}": ${value}`);

/** UTF-16 units of the first `points` characters. */
function unitsOf(text: string, points: number): number {
  if (lengthOf(text) === text.length) return Math.min(points, text.length);
  return Array.from(text).slice(0, points).join("").length;
}

function regexpReplace(text: string, pattern: string, replacement: string, flags = ""): string {
  if (/^\d/.test(flags)) {
    throw sqlError("22023", `invalid regular expression option: "${flags[0]}"`, {
      hint: "If you meant to use regexp_replace() with a start parameter, cast the fourth argument to integer explicitly.",
    });
  }
  return replaceMatches(text, pattern, replacement, 1, flags.includes("g") ? 0 : 1, flags);
}

/** Whether a search from a character on would begin behind the end. */
const isBeyond = (text: string, start: number): boolean => start - 1 > lengthOf(text);

function matchesFrom(text: string, pattern: string, start: number, flags: string): RegExpExecArray[] {
  if (start < 1) throw badParameter("start", start);
  const regex = regexOf(pattern, flags);
  if (isBeyond(text, start)) return [];
  regex.lastIndex = unitsOf(text, start - 1);
  return Array.from(text.matchAll(regex)) as RegExpExecArray[];
}

function regexpSubstr(text: string, pattern: string, start = 1, which = 1, flags = "", group = 0): string | null {
  noGlobal(flags, "regexp_substr");
  if (which < 1) throw badParameter("n", which);
  if (group < 0) throw badParameter("subexpr", group);
  return matchesFrom(text, pattern, start, flags)[which - 1]?.[group] ?? null;
}

function regexpInstr(text: string, pattern: string, start = 1, which = 1, end = 0, flags = "", group = 0): number {
  noGlobal(flags, "regexp_instr");
  if (which < 1) throw badParameter("n", which);
  if (end !== 0 && end !== 1) throw badParameter("endoption", end);
  if (group < 0) throw badParameter("subexpr", group);
  const match = matchesFrom(text, pattern, start, flags)[which - 1];
  const part = match?.[group];
  if (match === undefined || part === undefined) return 0;
  const index = match.index + (group === 0 ? 0 : match[0].indexOf(part));
  return lengthOf(text.slice(0, index + (end === 1 ? part.length : 0))) + 1;
}

/** The pieces between matches; an empty match splits between characters. */
export function regexpSplit(text: string, pattern: string, flags = ""): string[] {
  return Array.from(piecesBetween(text, pattern, flags, "regexp_split_to_array"));
}

/** What stands between the matches. Throws 22023, 54000. */
export function* piecesBetween(text: string, pattern: string, flags: string, name: string): Iterable<string> {
  if (flags.includes("g")) {
    throw sqlError("22023", `${name}() does not support the "global" option`);
  }
  let count = 0;
  let copied = 0;
  for (const match of text.matchAll(regexOf(pattern, flags))) {
    const end = match.index + match[0].length;
    if (match[0] === "" && (match.index === 0 || match.index >= text.length)) continue;
    if (match[0] === "" && match.index === copied && copied > 0 && end === copied) {
      if (match.index === copied) continue;
    }
    yield text.slice(copied, match.index);
    checkArraySize(++count);
    copied = end;
  }
  yield text.slice(copied);
}

async function regexpSplitInTurns(turns: Turns, text: string, pattern: string, flags = ""): Promise<SqlArray> {
  return sqlArray(await listInTurns(turns, piecesBetween(text, pattern, flags, "regexp_split_to_array")));
}

export const PATTERN_FUNCTIONS: readonly ScalarFunction[] = [
  fn("like", [TEXT, TEXT], BOOL, like),
  fn("notlike", [TEXT, TEXT], BOOL, (text: string, pattern: string) => !like(text, pattern)),
  fn("like_escape", [TEXT, TEXT], TEXT, likeEscape),
  fn("like_escape", [BYTEA, BYTEA], BYTEA, (pattern: Uint8Array, sign: Uint8Array) =>
    Buffer.from(likeEscape(latin1(pattern), latin1(sign)), "latin1"),
  ),
  ...["similar_to_escape", "similar_escape"].flatMap((name) => [
    fn(name, [TEXT], TEXT, (pattern: string) => similarToRegex(pattern)),
    fn(name, [TEXT, TEXT], TEXT, similarToRegex),
  ]),
  ...aliases(["substring", "substr"], fn("substring", [TEXT, TEXT], TEXT, substringRegex)),
  fn("substring", [TEXT, TEXT, TEXT], TEXT, (text: string, pattern: string, escapeText: string) =>
    substringRegex(text, similarToRegex(pattern, escapeText)),
  ),
  fn("regexp_match", [TEXT, TEXT], arrayOf(TEXT), regexpMatch),
  fn("regexp_match", [TEXT, TEXT, TEXT], arrayOf(TEXT), regexpMatch),
  fn("regexp_like", [TEXT, TEXT], BOOL, sensitive),
  fn("regexp_like", [TEXT, TEXT, TEXT], BOOL, (text: string, pattern: string, flags: string) => {
    noGlobal(flags, "regexp_like");
    return regexOf(pattern, flags).test(text);
  }),
  fn("regexp_replace", [TEXT, TEXT, TEXT], TEXT, regexpReplace),
  fn("regexp_replace", [TEXT, TEXT, TEXT, TEXT], TEXT, regexpReplace),
  fn("regexp_replace", [TEXT, TEXT, TEXT, INT4], TEXT, (text: string, pattern: string, by: string, start: number) =>
    replaceMatches(text, pattern, by, start, 1, ""),
  ),
  fn(
    "regexp_replace",
    [TEXT, TEXT, TEXT, INT4, INT4],
    TEXT,
    (text: string, pattern: string, by: string, start: number, which: number) =>
      replaceMatches(text, pattern, by, start, which, ""),
  ),
  fn("regexp_replace", [TEXT, TEXT, TEXT, INT4, INT4, TEXT], TEXT, replaceMatches),
  ...[[], [INT4], [INT4, TEXT]].map((more) =>
    fn("regexp_count", [TEXT, TEXT, ...more], INT4, (text: string, pattern: string, start = 1, flags = "") => {
      if (flags.includes("g")) throw sqlError("22023", 'regexp_count() does not support the "global" option');
      return matchesFrom(text, pattern, start, flags).length;
    }),
  ),
  ...[[], [INT4], [INT4, INT4], [INT4, INT4, TEXT], [INT4, INT4, TEXT, INT4]].map((more) =>
    fn("regexp_substr", [TEXT, TEXT, ...more], TEXT, regexpSubstr),
  ),
  ...[[], [INT4], [INT4, INT4], [INT4, INT4, INT4], [INT4, INT4, INT4, TEXT], [INT4, INT4, INT4, TEXT, INT4]].map(
    (more) => fn("regexp_instr", [TEXT, TEXT, ...more], INT4, regexpInstr),
  ),
  ...[[], [TEXT]].map((more) =>
    fn(
      "regexp_split_to_array",
      [TEXT, TEXT, ...more],
      arrayOf(TEXT),
      (text: string, pattern: string, flags = "") => sqlArray(regexpSplit(text, pattern, flags)),
      { applyInTurns: regexpSplitInTurns },
    ),
  ),
];
