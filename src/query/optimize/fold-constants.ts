/**
 * Evaluates constant parts of expressions once, drops conditions that are always true, and replaces inputs of which no
 * row can pass by an empty relation. Nodes above that then have no rows, or add none, are removed as well
 * (empty-relations.ts).
 */
import type { Expr } from "../expr/expr.js";
import { foldExpr } from "../expr/fold.js";
import { emptyOf } from "../plan/empty-plan.js";
import type { Plan } from "../plan/plan.js";
import { mapExprsOfPlan, mapPlan } from "../plan/walk.js";
import { withoutEmpty, withoutPairs } from "./empty-relations.js";
import type { Rule } from "./rule.js";

export const foldConstants: Rule = {
  name: "fold-constants",
  places: [210],
  apply: (plan) => mapPlan(plan, (node) => withoutDecided(mapExprsOfPlan(node, foldExpr))),
};

function withoutDecided(plan: Plan): Plan {
  if (plan.kind === "filter" && !plan.barrier) {
    const decided = decisionOf(plan.predicate);
    if (decided === true) return plan.input;
    if (decided === false) return emptyOf(plan);
  }
  if (plan.kind === "join" && plan.condition !== null) {
    const decided = decisionOf(plan.condition);
    if (decided === true) return withoutEmpty(Object.freeze({ ...plan, condition: null }));
    if (decided === false) return withoutEmpty(withoutPairs(plan));
  }
  return withoutEmpty(plan);
}

/** What a condition always is, NULL counting as false; null when it depends. */
function decisionOf(predicate: Expr): boolean | null {
  return predicate.kind === "const" ? predicate.value === true : null;
}
