/** Finds the tables that a plan reads, subqueries included: of queries that are followed, and of views to be locked. */
import type { TableDef } from "../../catalog/table.js";
import type { Plan } from "./plan.js";
import { childrenOf, subqueriesOf } from "./walk.js";

export function tablesOf(plan: Plan, into = new Map<number, TableDef>()): ReadonlyMap<number, TableDef> {
  if ("table" in plan && plan.table !== undefined && "columns" in plan.table) into.set(plan.table.id, plan.table);
  if ("graph" in plan && plan.graph !== undefined && plan.graph !== null && "nodes" in plan.graph) {
    for (const table of [plan.graph.nodes, plan.graph.edges]) into.set(table.id, table);
  }
  for (const child of childrenOf(plan)) tablesOf(child, into);
  for (const { plan: below } of subqueriesOf(plan)) tablesOf(below, into);
  return into;
}
