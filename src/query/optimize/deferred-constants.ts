/**
 * Deferred calls that read no column, handled last of all. Each becomes an uncorrelated subquery, so it runs once,
 * before the plan's first row. By then the rules have used it wherever a constant may stand, as in the search of a
 * vector index.
 *
 *   Top-N Sort: v <=> embed($1, 'm')     ⇒      Top-N Sort: v <=> (SubPlan 1)
 */
import type { CallExpr, Expr, SubqueryExpr } from "../expr/expr.js";
import { exprEquals, inputsOf, mapExpr, withInputs } from "../expr/walk.js";
import type { DeferredCall, Plan } from "../plan/plan.js";
import { mapExprsOfPlan, mapPlan, mapSubqueries } from "../plan/walk.js";
import { hasCalls, type Waits } from "./deferred-parts.js";
import { newColumnId } from "./new-column-id.js";

export function deferConstants(plan: Plan, waits: Waits): Plan {
  if (!hasCalls(plan, waits)) return plan;
  const known: { readonly call: CallExpr; readonly subquery: SubqueryExpr }[] = [];
  const replaced = (expr: Expr): Expr =>
    mapExpr(expr, (part) => {
      if (!waits(part)) return part;
      const same = known.find(({ call }) => exprEquals(call, part));
      if (same !== undefined) return same.subquery;
      const subquery = subqueryOf(part);
      known.push({ call: part, subquery });
      return subquery;
    });
  const all = (within: Plan): Plan =>
    mapPlan(within, (node) => {
      const below = mapSubqueries(node, all);
      if (below.kind !== "deferred") return mapExprsOfPlan(below, replaced);
      const calls = below.calls.map(({ expr, when }) => ({
        expr: withInputs(expr, inputsOf(expr).map(replaced)) as DeferredCall["expr"],
        when: when && replaced(when),
      }));
      return Object.freeze({ ...below, calls });
    });
  return all(plan);
}

function subqueryOf(call: CallExpr): SubqueryExpr {
  const column = { id: newColumnId(), name: call.fn.name, type: call.type, nullable: true };
  const oneRow: Plan = Object.freeze({ kind: "values", rows: [[]], columns: [] });
  const plan: Plan = Object.freeze({
    kind: "deferred",
    input: oneRow,
    calls: [{ expr: call, when: null }],
    columns: [column],
  });
  const none = { outer: [], input: null, compare: null };
  return Object.freeze({ kind: "subquery", type: call.type, form: "scalar", plan, ...none });
}
