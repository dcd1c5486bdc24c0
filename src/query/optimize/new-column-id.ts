/**
 * Ids for columns that rules add. Binders count a statement's columns up from one; these count down from zero, over all
 * statements, so that they meet neither those nor each other.
 */
import type { ColumnId } from "../expr/expr.js";

let last: ColumnId = 0;

export function newColumnId(): ColumnId {
  return --last;
}
