/**
 * Tells whether a left join adds neither columns that are read nor rows. Called by prune-columns.ts; see
 * drop-joins.ts.
 */
import type { ColumnId, Expr } from "../expr/expr.js";
import { columnsOf, conjuncts, isVolatile } from "../expr/walk.js";
import type { JoinPlan, OutputColumn } from "../plan/plan.js";
import { isUnique } from "./drop-distinct.js";

/** @param needed the columns that are read above the join */
export function isUselessJoin(plan: JoinPlan, needed: ReadonlySet<ColumnId>): boolean {
  const { right, type, condition, lateral } = plan;
  if (type !== "left" || lateral || right.columns.some(({ id }) => needed.has(id))) return false;
  if (condition !== null && isVolatile(condition)) return false;
  const own = idsOf(right.columns);
  const equated = new Set(conjuncts(condition).flatMap((one) => equatedColumn(one, own)));
  // A key with NULLs in it matches nothing.
  return isUnique(right, equated, "no NULLs");
}

function idsOf(columns: readonly OutputColumn[]): ReadonlySet<ColumnId> {
  return new Set(columns.map(({ id }) => id));
}

/** The right side's column of `column = expression over other columns`. */
function equatedColumn(condition: Expr, own: ReadonlySet<ColumnId>): ColumnId[] {
  if (condition.kind !== "call" || condition.fn.operator !== "=" || condition.args.length !== 2) return [];
  const [a, b] = condition.args as [Expr, Expr];
  const outside = (expr: Expr) => ![...columnsOf(expr)].some((id) => own.has(id));
  if (a.kind === "column" && own.has(a.id) && outside(b)) return [a.id];
  return b.kind === "column" && own.has(b.id) && outside(a) ? [b.id] : [];
}
