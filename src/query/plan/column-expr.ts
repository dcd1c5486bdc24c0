/** A column that a plan gives, as an expression over its rows. */
import type { ColumnExpr } from "../expr/expr.js";
import type { OutputColumn } from "./plan.js";

export function columnExpr({ id, type, name }: OutputColumn): ColumnExpr {
  return Object.freeze({ kind: "column", id, type, name });
}
