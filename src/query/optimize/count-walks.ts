/**
 * Replaces expands whose rows are only counted: the adjacency knows the number without making the rows.
 *
 *   Aggregate count(*)                    Aggregate sum of counts
 *     Expand (b)-->(c)               ⇒      Count Walks (a)-->(b)-->(c)
 *       Expand (a)-->(b)                      Scan nodes a
 *         Scan nodes a
 *
 * If the walks begin at all nodes, the scan of the nodes goes, too.
 */
import { INT8 } from "../../values/values.js";
import type { AggregateFunction, ColumnId, Expr } from "../expr/expr.js";
import { columnsOf } from "../expr/walk.js";
import type { CountWalksPlan, ExpandPlan, WalkStep } from "../plan/graph-plans.js";
import type { AggregateCall, AggregatePlan, OutputColumn, Plan } from "../plan/plan.js";
import { exprsOfPlan, mapPlan } from "../plan/walk.js";
import { newColumnId } from "./new-column-id.js";
import { passesColumns, type Rule } from "./rule.js";

export const countWalks: Rule = {
  name: "count-walks",
  places: [380],
  apply: (plan) => mapPlan(plan, (node) => (node.kind === "aggregate" ? counted(node) : node)),
};

/** Of numbers of rows: as many rows as there were in all. */
const TOTAL: AggregateFunction = {
  name: "total",
  args: [INT8],
  returns: INT8,
  strict: true,
  init: () => 0,
  step: (total: number, count: number) => total + count,
  result: (total: number) => total,
};

function counted(plan: AggregatePlan): Plan {
  if (plan.grouping !== undefined || plan.calls.length === 0 || !plan.calls.every(countsRows)) return plan;
  const read = new Set(plan.groups.flatMap((group) => [...columnsOf(group)]));
  const expands: ExpandPlan[] = [];
  let input = withoutPassing(plan.input);
  while (input.kind === "expand" && !isRead(input, read)) {
    expands.unshift(input);
    input = withoutPassing(input.input);
  }
  if (expands.length === 0) return plan;
  const count: OutputColumn = { id: newColumnId(), name: "count", type: INT8, nullable: false };
  const common = { kind: "countwalks", graph: expands[0]!.graph, steps: expands.map(stepOf), count } as const;
  const start = startOf(input, expands, read);
  const walks: CountWalksPlan = Object.freeze(
    start === null
      ? { ...common, input, start, columns: [...input.columns, count] }
      : { ...common, input: ONE_ROW, start, columns: [count] },
  );
  const arg: Expr = { kind: "column", id: count.id, type: INT8, name: count.name };
  return Object.freeze({
    ...plan,
    input: walks,
    calls: plan.calls.map((call) => ({ ...call, fn: TOTAL, args: [arg] })),
  });
}

const ONE_ROW: Plan = Object.freeze({ kind: "values", rows: [[]], columns: [] });

/** count(*). */
function countsRows({ fn, args, distinct, filter }: AggregateCall): boolean {
  return fn.name === "count" && args.length === 0 && !distinct && filter === null;
}

/** Below projections that only hand on. */
function withoutPassing(plan: Plan): Plan {
  return plan.kind === "project" && passesColumns(plan) ? withoutPassing(plan.input) : plan;
}

/** Something of it is read above, or is more than ids. */
function isRead({ edge, other }: ExpandPlan, read: ReadonlySet<ColumnId>): boolean {
  const { id, ...others } = edge;
  if (Object.keys(others).length > 0) return true;
  return (id !== undefined && read.has(id.id)) || (other !== null && read.has(other.id));
}

function stepOf({ from, direction, types, edge, other, into, exclude }: ExpandPlan): WalkStep {
  return { from, direction, types, edge: edge.id?.id ?? null, other: other?.id ?? null, into, exclude };
}

/** The id of the node that walks begin at, if it can be any node and nothing else of it is read. */
function startOf(input: Plan, expands: readonly ExpandPlan[], read: ReadonlySet<ColumnId>): ColumnId | null {
  const { graph, from } = expands[0]!;
  if (input.kind !== "scan" || input.table !== graph.nodes || input.filter !== null || from.kind !== "column")
    return null;
  const own = new Set(input.columns.map(({ id }) => id));
  const isOther = (id: ColumnId) => own.has(id) && id !== from.id;
  const used = expands.flatMap((expand) => exprsOfPlan(expand).flatMap((expr) => [...columnsOf(expr)]));
  return !own.has(from.id) || used.some(isOther) || [...read].some((id) => own.has(id)) ? null : from.id;
}
