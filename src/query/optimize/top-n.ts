/**
 * A limit over a sort needs only the first rows: one operator that keeps no more than those. A limit moves below a
 * projection on the way, and below values that have to be waited for: nothing is computed for the rows that are
 * dropped.
 *
 *   Limit 10                        Project
 *     Project                ⇒        Top-N Sort (Limit 10)
 *       Sort                            …
 */
import type { Plan } from "../plan/plan.js";
import { mapPlan, withChildren } from "../plan/walk.js";
import type { Rule } from "./rule.js";

export const topN: Rule = {
  name: "top-n",
  places: [510],
  apply: (plan) => mapPlan(plan, merge),
};

function merge(plan: Plan): Plan {
  if (plan.kind !== "limit" || plan.limit === null || plan.ties !== undefined) return plan;
  const { input, limit, offset } = plan;
  if (input.kind === "sort") {
    return Object.freeze({ kind: "topn", input: input.input, keys: input.keys, limit, offset, columns: input.columns });
  }
  if (input.kind === "project" || input.kind === "deferred") {
    const below = Object.freeze({ ...plan, input: input.input, columns: input.input.columns });
    return withChildren(input, [merge(below)]);
  }
  return plan;
}
