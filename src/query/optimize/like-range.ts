/**
 * `column LIKE 'abc%'` as the range of texts that begin with the pattern's fixed part: text is ordered by code points.
 */
import { TEXT } from "../../values/values.js";
import type { Expr } from "../expr/expr.js";

export interface LikeRange {
  readonly subject: Expr;
  readonly lower: Expr;
  /** Exclusive; null: no text is beyond. */
  readonly upper: Expr | null;
}

/** Null: not such a condition, or a pattern that begins with a wildcard. */
export function likeRange(condition: Expr): LikeRange | null {
  if (condition.kind !== "call" || condition.args.length !== 2) return null;
  const { name, operator } = condition.fn;
  const isLike = operator === "~~" || name === "like";
  const isPrefix = operator === "^@" || name === "starts_with";
  const [subject, pattern] = condition.args as [Expr, Expr];
  if ((!isLike && !isPrefix) || pattern.kind !== "const" || typeof pattern.value !== "string") return null;
  const fixed = isPrefix ? pattern.value : fixedPart(pattern.value);
  if (fixed === "") return null;
  const upper = successor(fixed);
  return { subject, lower: text(fixed), upper: upper === null ? null : text(upper) };
}

/** What the pattern says up to its first wildcard. */
function fixedPart(pattern: string): string {
  let fixed = "";
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i]!;
    if (character === "%" || character === "_") break;
    if (character === "\\") i++;
    fixed += pattern[i] ?? "";
  }
  return fixed;
}

const LAST_CODE_POINT = 0x10ffff;
const SURROGATES_FIRST = 0xd800;
const SURROGATES_END = 0xe000;

/** The least text after all that begin with `prefix`. */
function successor(prefix: string): string | null {
  const points = [...prefix].map((character) => character.codePointAt(0)!);
  while (points.length > 0 && points.at(-1) === LAST_CODE_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return null;
  const next = last + 1 === SURROGATES_FIRST ? SURROGATES_END : last + 1;
  return String.fromCodePoint(...points, next);
}

function text(value: string): Expr {
  return Object.freeze({ kind: "const", type: TEXT, value });
}
