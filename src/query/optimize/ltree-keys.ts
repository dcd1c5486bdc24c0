/** Keys for conditions of ltree: the paths below one lie together in an ordered index, and those above it are a few known ones. */
import { labelsOf } from "../../values/ltree.js";
import { sqlArray } from "../../values/text-format-array.js";
import { arrayOf, LTREE, type SqlType, type Value } from "../../values/values.js";
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
const BELOW_END = keyFunction("ltree_below_end", LTREE, (path) =>
  path === "" ? String.fromCodePoint(0x10ffff) : `${path}/`,
);

/** A path and all above it. */
const ANCESTORS = keyFunction("ltree_ancestors", arrayOf(LTREE), (path) => {
  const labels = labelsOf(path);
  return sqlArray(Array.from({ length: labels.length + 1 }, (_, i) => labels.slice(0, i).join(".")));
});

/** `path <@ value` and `path @> value`, either way round; null: another condition. */
export function pathRanges({ operator }: ScalarFunction, args: readonly Expr[]): readonly PathRange[] | null {
  const [left, right] = args as [Expr, Expr];
  if ((operator !== "<@" && operator !== "@>") || left.type !== LTREE || right.type !== LTREE) return null;
  const [below, above] = operator === "<@" ? [left, right] : [right, left];
  return [
    { subject: below, op: ">=", right: [above], isWider: true },
    { subject: below, op: "<", right: [callOf(BELOW_END, above)], isWider: true },
    { subject: above, op: "any", right: [callOf(ANCESTORS, below)], isWider: true },
  ];
}
