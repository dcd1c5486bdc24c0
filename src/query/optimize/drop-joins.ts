/**
 * Takes out left joins that change nothing: none of the right side's columns is read, and at most one of its rows
 * matches each left row, because the join's equalities cover a unique key. (Views over many tables have such joins;
 * PostgreSQL's remove_useless_joins.)
 *
 *   Project (o.id)                       Project (o.id)
 *     Left Join (c.id = o.cid)     ⇒       Scan o
 *       Scan o
 *       Scan c, primary key (id)
 *
 * Which columns are read is for prune-columns.ts to know: this is that rule, run early where there are joins or
 * aggregates. Scans of few columns are then seen as such when their access is chosen.
 */
import type { Plan } from "../plan/plan.js";
import { walkPlan } from "../plan/walk.js";
import { pruneColumns } from "./prune-columns.js";
import type { Rule } from "./rule.js";

export const dropJoins: Rule = {
  name: "drop-joins",
  places: [320],
  apply: (plan, cardinality) => (mayGain(plan) ? pruneColumns.apply(plan, cardinality) : plan),
};

function mayGain(plan: Plan): boolean {
  let found = false;
  walkPlan(plan, (node) => {
    if (node.kind === "join" || node.kind === "aggregate") found = true;
  });
  return found;
}
