/** AND, OR and CASE of bound expressions. */
import type { Expr } from "../../query/expr/expr.js";
import { BOOL, type SqlType } from "../../values/values.js";

export function logic(kind: "and" | "or", args: readonly Expr[]): Expr {
  return args.length === 1 ? args[0]! : Object.freeze({ kind, type: BOOL, args });
}

/** A searched CASE of conditions and values. */
export function caseOf(
  type: SqlType,
  branches: readonly (readonly [when: Expr, value: Expr])[],
  otherwise: Expr | null,
): Expr {
  // biome-ignore lint/suspicious/noThenProperty: the bound node names its parts as SQL does
  const parts = branches.map(([when, value]) => ({ when, then: value }));
  return Object.freeze({ kind: "case", type, branches: parts, otherwise });
}
