/**
 * Keys for conditions of ltree: the paths below one lie together in an ordered index, and those above it are a few
 * known ones.
 */
import { lqueryPrefix } from "../../values/lquery.js";
import { labelsOf } from "../../values/ltree.js";
import { sqlArray } from "../../values/text-format-array.js";
import { arrayOf, LQUERY, LTREE, type SqlType, type Value } from "../../values/values.js";
import type { Expr, ScalarFunction } from "../expr/expr.js";
import { callOf } from "./variant-keys.js";

export interface PathRange {
  readonly subject: Expr;
  readonly op: ">=" | "<" | "any";
  readonly right: readonly Expr[];
  readonly isWider: true;
}

function keyFunction(name: string, returns: SqlType, apply: (path: string) => Value): ScalarFunction {
  return Object.freeze({
    name,
    args: [LTREE],
    returns,
    volatility: "immutable",
    strict: true,
    apply: apply as ScalarFunction["apply"],
  });
}

/** The slash follows the dot and precedes all characters of labels. */
const belowEnd = (path: string): string => (path === "" ? String.fromCodePoint(0x10ffff) : `${path}/`);
const BELOW_END = keyFunction("ltree_below_end", LTREE, belowEnd);

/** A path and all above it. */
const ANCESTORS = keyFunction("ltree_ancestors", arrayOf(LTREE), (path) => {
  const labels = labelsOf(path);
  return sqlArray(Array.from({ length: labels.length + 1 }, (_, i) => labels.slice(0, i).join(".")));
});

/**
 * `path ~ 'Top.Science.*'`, either way round; null: the pattern is not known yet, or says nothing of the first labels.
 */
function patternRange(left: Expr, right: Expr): readonly PathRange[] | null {
  const [subject, pattern] = left.type === LTREE ? [left, right] : [right, left];
  if (subject.type !== LTREE || pattern.type !== LQUERY || pattern.kind !== "const" || pattern.value === null)
    return null;
  const prefix = lqueryPrefix(pattern.value as string);
  return prefix === "" ? null : rangesBelow(subject, Object.freeze({ kind: "const", type: LTREE, value: prefix }));
}

/** A constant where the path is one, whose place in the histogram is known. */
function endOf(above: Expr): Expr {
  if (above.kind !== "const" || above.value === null) return callOf(BELOW_END, above);
  return Object.freeze({ kind: "const", type: LTREE, value: belowEnd(above.value as string) });
}

function rangesBelow(subject: Expr, above: Expr): readonly PathRange[] {
  return [
    { subject, op: ">=", right: [above], isWider: true },
    { subject, op: "<", right: [endOf(above)], isWider: true },
  ];
}

/** `path <@ value`, `path @> value` and `path ~ pattern`, either way round; null: another condition. */
export function pathRanges({ operator }: ScalarFunction, args: readonly Expr[]): readonly PathRange[] | null {
  const [left, right] = args as [Expr, Expr];
  if (operator === "~") return patternRange(left, right);
  if ((operator !== "<@" && operator !== "@>") || left.type !== LTREE || right.type !== LTREE) return null;
  const [below, above] = operator === "<@" ? [left, right] : [right, left];
  return [
    ...rangesBelow(below, above),
    { subject: above, op: "any", right: [callOf(ANCESTORS, below)], isWider: true },
  ];
}
