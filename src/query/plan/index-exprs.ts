/** Expressions of a table's indexes over the columns of one scan or row, by index id. */
import type { Expr } from "../expr/expr.js";

/** A key that is a plain column is null. */
export interface BoundIndex {
  readonly predicate: Expr | null;
  readonly keys: readonly (Expr | null)[];
}

export type IndexExprs = ReadonlyMap<number, BoundIndex>;
