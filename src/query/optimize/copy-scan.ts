/** A scan once more, under new column ids, for rules that read a table twice. */
import type { ColumnId, Expr } from "../expr/expr.js";
import { isVolatile, mapExpr, someExpr } from "../expr/walk.js";
import type { OutputColumn, ScanPlan } from "../plan/plan.js";
import { outerColumnsOf } from "../plan/walk.js";
import { newColumnId } from "./new-column-id.js";

/** Whether the scan gives the same rows each time, and may stand anywhere. */
export function isRepeatable(scan: ScanPlan): boolean {
  return isRepeatableInPlace(scan) && outerColumnsOf(scan).size === 0;
}

/** Whether it gives the same rows each time for one row of the enclosing query. */
export function isRepeatableInPlace(scan: ScanPlan): boolean {
  if (scan.rowKey !== null) return false;
  if (scan.filter === null) return true;
  return !isVolatile(scan.filter) && !someExpr(scan.filter, (node) => node.kind === "subquery");
}

export interface ScanCopy {
  readonly scan: ScanPlan;
  /** By the old id. */
  readonly columns: ReadonlyMap<ColumnId, OutputColumn>;
}

export function copyOfScan(original: ScanPlan): ScanCopy {
  const columns = new Map(original.columns.map((column) => [column.id, { ...column, id: newColumnId() }]));
  const renamed = (node: Expr): Expr =>
    node.kind === "column" ? { ...node, id: columns.get(node.id)?.id ?? node.id } : node;
  // Expressions of indexes are over the old columns; without them those indexes are not used.
  const { indexExprs: _, ...bare } = original;
  const filter = original.filter && mapExpr(original.filter, renamed);
  return { scan: Object.freeze({ ...bare, columns: [...columns.values()], filter }), columns };
}
