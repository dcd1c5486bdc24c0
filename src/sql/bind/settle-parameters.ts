/**
 * Types of parameters that were known only after the statement was bound. Called where a statement's plan is finished.
 */
import type { Expr } from "../../query/expr/expr.js";
import { mapExpr } from "../../query/expr/walk.js";
import type { Plan } from "../../query/plan/plan.js";
import { mapExprsOfPlan, mapPlan } from "../../query/plan/walk.js";
import { type SqlType, UNKNOWN } from "../../values/values.js";

/** A parameter that was met before its type was known has that type now, wherever it stands. */
export function settleParameters(plan: Plan, types: readonly SqlType[]): Plan {
  if (types.length === 0) return plan;
  const settle = (expr: Expr): Expr =>
    mapExpr(expr, (node) => {
      if (node.kind === "param" && node.type === UNKNOWN) return Object.freeze({ ...node, type: types[node.index]! });
      if (node.kind !== "subquery") return node;
      const inner = settleParameters(node.plan, types);
      return inner === node.plan ? node : Object.freeze({ ...node, plan: inner });
    });
  return mapPlan(plan, (node) => mapExprsOfPlan(node, settle));
}
