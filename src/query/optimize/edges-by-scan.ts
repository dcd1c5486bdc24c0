/**
 * Where the properties of so many relationships are read that reading all of the edges' table costs less than fetching
 * each by its key, an expand becomes a join with that table. If the walks begin at all nodes, of which nothing else is
 * read, there is no join: no relationship dangles.
 *
 *   Expand (a.id)-[:KNOWS]->(b)        Join (a.id = e.src)                 Expand (a.id)-->()        Seq Scan on edges
 *     Seq Scan on nodes a         ⇒      Seq Scan on nodes a                 Seq Scan on nodes a  ⇒
 *       Filter: …                          Filter: …
 *                                        Seq Scan on edges (type = KNOWS)
 *
 * Which columns are read is for prune-columns.ts to know. It runs early here, because the conditions above have to go
 * down into the scan.
 */
import { INT8, TEXT } from "../../values/values.js";
import type { Expr } from "../expr/expr.js";
import { andOf } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type { EdgeColumns, ExpandPlan } from "../plan/graph-plans.js";
import type { Plan } from "../plan/plan.js";
import { childrenOf, walkPlan, withChildren } from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import { hashCostOf, lookUpCost, outputCost, scanCost } from "./join-cost.js";
import { anyType, bothWays, call, edgeColumns, edgeScan, equal, joined, newColumn } from "./pattern-parts.js";
import { pruneColumns } from "./prune-columns.js";
import { filtered, type Rule } from "./rule.js";

export const edgesByScan: Rule = {
  name: "edges-by-scan",
  places: [245],
  apply: (plan, cardinality) => {
    if (!mayGain(plan)) return plan;
    const pruned = pruneColumns.apply(plan, cardinality);
    const found = rewritten(pruned, false, cardinality);
    return found === pruned ? plan : found;
  },
};

function mayGain(plan: Plan): boolean {
  let found = false;
  walkPlan(plan, (node) => {
    if (node.kind === "expand" && readsRecords(node)) found = true;
  });
  return found;
}

/** The adjacency knows all else. */
function readsRecords({ edge, into, exclude }: ExpandPlan): boolean {
  return edge.properties !== undefined && into === null && exclude.every(({ type }) => type === INT8);
}

/** `few`: only the first rows may be wanted, which an expand gives at once. */
function rewritten(plan: Plan, few: boolean, cardinality: Cardinality): Plan {
  const inputs = childrenOf(plan).map((child) => rewritten(child, isFewOf(plan, few), cardinality));
  const below = withChildren(plan, inputs);
  if (below.kind !== "expand" || !readsRecords(below)) return below;
  const all = beginsAtAll(below);
  return (few && !all) || !costsLess(below, all, cardinality) ? below : scanned(below, all);
}

function isFewOf(plan: Plan, few: boolean): boolean {
  if (plan.kind === "limit") return plan.limit !== null;
  return few && PASSES_ON.has(plan.kind);
}

const PASSES_ON: ReadonlySet<Plan["kind"]> = new Set(["project", "filter", "expand", "join", "deferred", "projectset"]);

/** At every node there is, and nothing of the nodes is read but their ids. */
function beginsAtAll({ input, from, graph }: ExpandPlan): boolean {
  if (input.kind !== "scan" || input.table !== graph.nodes || input.filter !== null) return false;
  const isBare = input.policy === undefined && input.rowKey === null && input.columns.length === 1;
  return isBare && from.kind === "column" && from.id === input.columns[0]!.id;
}

function costsLess(plan: ExpandPlan, all: boolean, cardinality: Cardinality): boolean {
  const [before, after] = [cardinality.rows(plan.input), cardinality.rows(plan)];
  const edges = cardinality.tableRows(plan.graph.edges) * (plan.direction === "either" ? 2 : 1);
  const scan = scanCost(edges) + outputCost(edges);
  return scan + (all ? 0 : hashCostOf(before, edges, after)) < lookUpCost("point", after, after);
}

function scanned(plan: ExpandPlan, all: boolean): Plan {
  const { input, from, types, exclude, edge, other, direction } = plan;
  const isEither = direction === "either";
  const [near, far] = direction === "in" ? (["dst", "src"] as const) : (["src", "dst"] as const);
  // An end that is read under one name only has it from the beginning, so that a projection is not needed.
  const start = all && !isEither ? input.columns[0]! : null;
  const made = { id: newColumn("id", INT8), type: newColumn("type", TEXT), properties: edge.properties! };
  const ends = { [near]: start ?? newColumn(near, INT8), [far]: (!isEither && other) || newColumn(far, INT8) };
  const record = { ...made, ...ends, ...edge } as EdgeColumns;
  const scan = edgeScan(plan.graph, plan.graph.edges.name, edgeColumns(record));
  const [seenFrom, seenTo] = [columnExpr(record[near]), columnExpr(record[far])];
  const [walked, fromEnd, toEnd] = isEither ? bothWays(scan, seenFrom, seenTo) : [scan, seenFrom, seenTo];
  const conditions = exclude.map((id) => call("<>", id, columnExpr(record.id)));
  if (types.length > 0) conditions.push(anyType(record.type, types));
  if (!all) conditions.push(equal(from, fromEnd));
  const found = all ? filtered(walked, conditions) : joined("inner", input, walked, andOf(conditions));
  const exprs = plan.columns.map((column): Expr => {
    if (column.id === other?.id) return toEnd;
    return all && column.id === input.columns[0]!.id ? fromEnd : columnExpr(column);
  });
  return Object.freeze({ kind: "project", input: found, exprs, columns: plan.columns });
}
