/**
 * Comparison of rows item by item, as ROW(a, b) < ROW(c, d) and (a, b) IN (SELECT …) mean it (chapter 9.24.5): a NULL
 * among the items that decide makes the result NULL. Made by binders; the optimizer joins by `equals`.
 */
import { BOOL, type SqlType, type Value } from "../../values/values.js";
import type { ScalarFunction } from "./expr.js";

export interface RowComparison extends ScalarFunction {
  /** `=` of each pair of items. */
  readonly equals: readonly ScalarFunction[];
}

/** `order`: of `<`, `<=`, `>`, `>=`, the strict operator of each pair of items but that itself of the last. */
export function rowComparison(
  symbol: string,
  equals: readonly ScalarFunction[],
  order: readonly ScalarFunction[] | null,
  left: SqlType,
  right: SqlType,
): RowComparison {
  const compare = order === null ? equality(equals, symbol === "<>") : ordering(equals, order);
  return Object.freeze({
    name: symbol,
    operator: symbol,
    args: [left, right],
    returns: BOOL,
    volatility: "immutable",
    strict: false,
    equals,
    apply: (a: readonly Value[] | null, b: readonly Value[] | null) =>
      a === null || b === null ? null : compare(a, b),
  });
}

export function isRowComparison(fn: ScalarFunction): fn is RowComparison {
  return "equals" in fn;
}

type Compare = (a: readonly Value[], b: readonly Value[]) => boolean | null;

function equality(equals: readonly ScalarFunction[], negated: boolean): Compare {
  return (a, b) => {
    let unknown = false;
    for (let i = 0; i < equals.length; i++) {
      if (a[i] === null || b[i] === null) unknown = true;
      else if (equals[i]!.apply(a[i], b[i]) !== true) return negated;
    }
    return unknown ? null : !negated;
  };
}

function ordering(equals: readonly ScalarFunction[], order: readonly ScalarFunction[]): Compare {
  const last = order.length - 1;
  return (a, b) => {
    for (let i = 0; i <= last; i++) {
      if (a[i] === null || b[i] === null) return null;
      if (i === last || equals[i]!.apply(a[i], b[i]) !== true) return order[i]!.apply(a[i], b[i]) as boolean;
    }
    return null;
  };
}
