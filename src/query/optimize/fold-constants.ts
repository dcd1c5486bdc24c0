/**
 * Evaluates constant parts of expressions once, drops conditions that are always true, and replaces inputs of which no
 * row can pass by an empty relation.
 */
import type { Expr } from "../expr/expr.js";
import { foldExpr } from "../expr/fold.js";
import type { Plan } from "../plan/plan.js";
import { mapExprsOfPlan, mapPlan } from "../plan/walk.js";
import type { Rule } from "./rule.js";

export const foldConstants: Rule = {
  name: "fold-constants",
  apply: (plan) => mapPlan(plan, (node) => withoutDecided(mapExprsOfPlan(node, foldExpr))),
};

function withoutDecided(plan: Plan): Plan {
  if (plan.kind === "filter") {
    const decided = decisionOf(plan.predicate);
    if (decided === true) return plan.input;
    if (decided === false) return Object.freeze({ kind: "values", rows: [], columns: plan.columns });
  }
  if (plan.kind === "join" && plan.condition !== null && decisionOf(plan.condition) === true) {
    return Object.freeze({ ...plan, condition: null });
  }
  return plan;
}

/** What a condition always is, NULL counting as false; null when it depends. */
function decisionOf(predicate: Expr): boolean | null {
  return predicate.kind === "const" ? predicate.value === true : null;
}
