/**
 * If duplicate rows make no difference (below DISTINCT, count(DISTINCT …), EXISTS), a path whose relationships nobody
 * reads is only searched for the nodes at its end: each once, breadth first, however many paths lead there.
 *
 *   Aggregate count(DISTINCT b.id)        Aggregate count(DISTINCT b.id)
 *     Expand Path (a)-[*1..3]->(b)   ⇒      Reach (a)-[*1..3]->(b)
 *
 * The shortest way to a node uses no relationship twice, so if at least one relationship (or none) is wanted, the
 * nodes are the same. The node at which paths begin is handled separately.
 */
import type { Expr } from "../expr/expr.js";
import { isVolatile, mapExpr } from "../expr/walk.js";
import type { AggregateCall, Plan } from "../plan/plan.js";
import { childrenOf, mapExprsOfPlan, withChildren } from "../plan/walk.js";
import type { Rule } from "./rule.js";

export const distinctEnds: Rule = {
  name: "distinct-ends",
  places: [390],
  apply: (plan) => withDistinctEnds(plan, false),
};

/** `asSet`: the reader does not care how often each row occurs. */
function withDistinctEnds(plan: Plan, asSet: boolean): Plan {
  const children = childrenOf(plan).map((child, i) => withDistinctEnds(child, isSetFor(plan, i, asSet)));
  const below = mapExprsOfPlan(withChildren(plan, children), (expr) => mapExpr(expr, subqueryAsSet));
  if (!asSet || below.kind !== "expandpath" || below.distinct) return below;
  const { path } = below;
  const own = below.columns.slice(below.input.columns.length);
  const givesList = own.some(({ id }) => id === path.relationships.id);
  const isReach =
    path.search === "all" &&
    path.avoids === undefined &&
    path.cycle === undefined &&
    path.min <= 1 &&
    path.bound === null &&
    !givesList;
  return isReach ? Object.freeze({ ...below, distinct: true }) : below;
}

function subqueryAsSet(expr: Expr): Expr {
  if (expr.kind !== "subquery" || (expr.form !== "exists" && expr.form !== "in")) return expr;
  const plan = withDistinctEnds(expr.plan, true);
  return plan === expr.plan ? expr : Object.freeze({ ...expr, plan });
}

function isSetFor(plan: Plan, child: number, asSet: boolean): boolean {
  switch (plan.kind) {
    case "aggregate":
      return plan.calls.every(ignoresDuplicates);
    // Of rows with the same keys one is left, whichever.
    case "distinct":
      return true;
    case "project":
      return asSet && !plan.exprs.some(isVolatile);
    case "filter":
      return asSet && !isVolatile(plan.predicate);
    case "expand":
    case "expandpath":
      return asSet;
    case "join":
    case "hashjoin":
      return asSet || (child === 1 && (plan.type === "semi" || plan.type === "anti"));
    default:
      return false;
  }
}

function ignoresDuplicates({ fn, distinct }: AggregateCall): boolean {
  return distinct || fn.extreme !== undefined;
}
