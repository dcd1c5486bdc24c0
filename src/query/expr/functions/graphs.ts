/** What SQL can do with the tables of a graph: properties, labels, and comparisons of variants with each other and with SQL's values. */
import { BOOL, type SqlType, VARIANT, type Value } from "../../../protocol/values.js";
import type { Variant } from "../../../protocol/variant.js";
import { differs, equals, greater, greaterOrEqual, less, lessOrEqual } from "../cypher/comparison.js";
import { HAS_LABEL, PROPERTY } from "../cypher/entities.js";
import type { ScalarFunction } from "../expr.js";
import { toVariant } from "../variant-cast.js";
import { isVariantAsIs } from "../variant-order.js";
import { type FunctionFamily, family, op } from "./define.js";

export const GRAPH_FUNCTIONS: readonly ScalarFunction[] = [PROPERTY, HAS_LABEL];

type Compare = (a: Variant, b: Variant) => boolean | null;

/** Cypher's comparison where one side is a variant; the other may be of any type that becomes one. */
function comparison(symbol: string, compare: Compare): FunctionFamily {
  return family(symbol, "(variant, any) → boolean", (types) => {
    if (types.length !== 2 || !types.includes(VARIANT)) return null;
    const args = types.map((type) => (type.name === "unknown" ? VARIANT : type)) as [SqlType, SqlType];
    if (args.every(isVariantAsIs)) return op(symbol, args, BOOL, compare);
    const [left, right] = args.map(toVariant);
    if (!left || !right) return null;
    return op(symbol, args, BOOL, (a: Value, b: Value) => compare(left(a), right(b)));
  });
}

export const VARIANT_COMPARISONS: readonly FunctionFamily[] = [
  comparison("=", equals),
  comparison("<>", differs),
  comparison("<", less),
  comparison("<=", lessOrEqual),
  comparison(">", greater),
  comparison(">=", greaterOrEqual),
];
