/**
 * Turns patterns of graphs into scans, joins and walks along relationships. Estimates choose the node at which a
 * pattern begins, and the relationship that comes next; cycles are closed by a walk that knows both ends.
 *
 *   Match (a:Person {name: 'Ann'})-[:KNOWS]->(b)      Expand (a)-[:KNOWS]->(b)
 *                                                ⇒      Index Scan on nodes a
 *
 * OPTIONAL MATCH is the same pattern on the right side of a lateral left join. compile-plan.ts calls
 * `withPlannedPatterns` where no rule has run.
 */
import type { Plan } from "../plan/plan.js";
import { childrenOf, mapSubqueries, withChildren } from "../plan/walk.js";
import { Cardinality } from "./cardinality.js";
import { planMatch } from "./pattern-planner.js";
import { type Rule, withColumns } from "./rule.js";
import { splitByOr } from "./split-by-or.js";

export const planPatterns: Rule = {
  name: "plan-patterns",
  places: [100],
  apply: (plan, cardinality) => planned(plan, cardinality),
};

/** The plan with its patterns planned as without statistics: where no rule has run. */
export function withPlannedPatterns(plan: Plan): Plan {
  return planned(plan, new Cardinality(null));
}

/**
 * Subqueries, too: other rules may take plans out of them before they have their own turn. `byPlace`: whoever reads the
 * rows knows columns by their places.
 */
function planned(plan: Plan, cardinality: Cardinality, byPlace = true): Plan {
  const inputByPlace = READS_BY_ID.has(plan.kind) ? false : HANDS_ON.has(plan.kind) ? byPlace : true;
  const inputs = childrenOf(plan).map((child) => planned(child, cardinality, inputByPlace));
  const below = mapSubqueries(withChildren(plan, inputs), (subquery) => planned(subquery, cardinality));
  if (below.kind !== "match") return below;
  const found = planned(splitByOr(below, cardinality) ?? planMatch(below, cardinality), cardinality, byPlace);
  return byPlace ? withColumns(found, below.columns) : found;
}

const READS_BY_ID: ReadonlySet<Plan["kind"]> = new Set(["project", "aggregate"]);
const HANDS_ON: ReadonlySet<Plan["kind"]> = new Set([
  "filter",
  "sort",
  "limit",
  "join",
  "match",
  "expand",
  "expandpath",
  "projectset",
  "deferred",
]);
