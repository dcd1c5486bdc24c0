/**
 * Calls that take long (EMBED) are computed by a projection of their own, row by row with turns for others in between.
 * Sorts, groupings and windows compute their expressions of a whole batch at a stretch.
 *
 *   Aggregate: count(embed(body))        Aggregate: count(#-1)
 *     Seq Scan on note              ⇒      Project: body, embed(body) AS #-1
 *                                            Seq Scan on note
 */
import type { ColumnExpr, Expr } from "../expr/expr.js";
import { columnsOf, exprEquals, someExpr } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type { OutputColumn, Plan } from "../plan/plan.js";
import { mapExprsOfPlan, mapPlan, withChildren } from "../plan/walk.js";
import { newColumnId } from "./new-column-id.js";
import { type Rule, withColumns } from "./rule.js";

export const computeSlowFirst: Rule = {
  name: "compute-slow-first",
  places: [540],
  apply: (plan) => mapPlan(plan, lifted),
};

function lifted(plan: Plan): Plan {
  if (plan.kind !== "aggregate" && plan.kind !== "sort" && plan.kind !== "topn" && plan.kind !== "window") return plan;
  const calls: { readonly expr: Expr; readonly column: ColumnExpr }[] = [];
  const computed = (expr: Expr): Expr => {
    if (!isSlow(expr)) return expr;
    const known = calls.find((call) => exprEquals(call.expr, expr));
    if (known !== undefined) return known.column;
    const column = { kind: "column", type: expr.type, id: newColumnId(), name: "slow" } as const;
    calls.push({ expr, column });
    return column;
  };
  const changed = mapExprsOfPlan(plan, computed) as typeof plan;
  if (calls.length === 0) return plan;
  const { input } = plan;
  const kept = input.columns.map(columnExpr);
  const added = calls.map(({ column: { id, type, name } }): OutputColumn => ({ id, type, name, nullable: true }));
  const below: Plan = Object.freeze({
    kind: "project",
    input,
    exprs: [...kept, ...calls.map(({ expr }) => expr)],
    columns: [...input.columns, ...added],
  });
  return withColumns(withChildren(changed, [below]), plan.columns);
}

/** Of a row: what depends on none is computed once anyway, or found again among the last texts. */
function isSlow(expr: Expr): boolean {
  return someExpr(expr, (node) => node.kind === "call" && node.fn.slow === true && columnsOf(node).size > 0);
}
