/**
 * Deferred calls in INSERT, UPDATE, DELETE and MERGE: new values are computed below, where the rows come from;
 * RETURNING is computed above, from the changed rows. Called by lift-deferred.ts.
 */
import { BOOL } from "../../values/values.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { andOf, columnsOf, mapExpr, walkExpr } from "../expr/walk.js";
import type { DeletePlan, InsertPlan, MergeAction, MergePlan, UpdatePlan } from "../plan/change-plans.js";
import type { OutputColumn, Plan } from "../plan/plan.js";
import { exprsOfPlan, withChildren } from "../plan/walk.js";
import { DeferredCalls } from "./deferred-calls.js";
import { hasToMove, refuseIn, type Waits } from "./deferred-parts.js";
import { withColumns } from "./rule.js";

type ChangePlan = InsertPlan | UpdatePlan | DeletePlan | MergePlan;

export function deferredInChanges(given: ChangePlan, waits: Waits): Plan {
  const node = "generated" in given ? foreseen(given as InsertPlan | UpdatePlan, waits) : given;
  const changes = node.kind === "update" ? update(node, waits) : node.kind === "merge" ? merge(node, waits) : node;
  const without = Object.freeze({ ...changes, returning: null });
  for (const expr of exprsOfPlan(without)) {
    if (hasToMove(expr, waits)) refuseIn(expr, waits, changes.kind === "insert" ? "in ON CONFLICT" : "here");
  }
  const { returning } = changes;
  return returning?.exprs.some((expr) => hasToMove(expr, waits)) ? returned(changes, waits) : changes;
}

/**
 * The writer of a row computes its generated columns and cannot wait. So their deferred values are computed below, and
 * kept for the statement.
 */
function foreseen<P extends InsertPlan | UpdatePlan>({ generated, ...node }: P, waits: Waits): P {
  const calls = new DeferredCalls(waits, node.input);
  const row = new Map(node.rowColumns.map(({ id }, i) => [id, newValue(node, i)]));
  for (const expr of generated!) {
    const over = mapExpr(expr, (part) => (part.kind === "column" ? (row.get(part.id) ?? part) : part));
    walkExpr(over, (part) => {
      if (waits(part)) calls.take(calls.withLiftedInputs(part), null);
    });
  }
  const input = withColumns(keeping(calls.stacked(), node.input), node.input.columns);
  return Object.freeze({ ...node, input }) as P;
}

/** What a column of the row will be, over the input. */
function newValue(node: Omit<InsertPlan | UpdatePlan, "generated">, i: number): Expr {
  const columnOf = ({ id, name, type }: OutputColumn): Expr => ({ kind: "column", id, name, type });
  if (node.kind === "insert") return columnOf(node.input.columns[i]!);
  const { assignments, oldColumns, table } = node as UpdatePlan;
  const assigned = assignments.find(({ columnId }) => columnId === table.columns[i]!.id);
  return assigned?.expr ?? columnOf(oldColumns[i]!);
}

function keeping(plan: Plan, input: Plan): Plan {
  if (plan === input || plan.kind !== "deferred") return plan;
  return Object.freeze({ ...plan, keeps: true, input: keeping(plan.input, input) });
}

function update(node: UpdatePlan, waits: Waits): UpdatePlan {
  const calls = new DeferredCalls(waits, node.input);
  const assignments = node.assignments.map(({ columnId, expr }) => ({ columnId, expr: calls.lift(expr) }));
  return withChildren(Object.freeze({ ...node, assignments }), [calls.stacked()]) as UpdatePlan;
}

/** An action's values are needed in rows of its kind that pass its condition. */
function merge(node: MergePlan, waits: Waits): MergePlan {
  const calls = new DeferredCalls(waits, node.input);
  const actions = node.actions.map((action) => {
    const kind = ofKind(node, action);
    const condition = action.condition && calls.lift(action.condition, kind);
    const when = condition === null ? kind : andOf([kind, condition])!;
    const assignments = action.assignments.map(({ columnId, expr }) => ({ columnId, expr: calls.lift(expr, when) }));
    return { ...action, condition, assignments };
  });
  return withChildren(Object.freeze({ ...node, actions }), [calls.stacked()]) as MergePlan;
}

function ofKind({ input, rowKey, inSource }: MergePlan, { match }: MergeAction): Expr {
  const isKnown = (id: ColumnId, negated: boolean): Expr => {
    const { name, type } = input.columns.find((one) => one.id === id)!;
    const column: Expr = { kind: "column", id, name, type };
    return Object.freeze({ kind: "isnull", type: BOOL, input: column, negated });
  };
  if (match === "not matched by target") return isKnown(rowKey, false);
  return match === "not matched by source"
    ? isKnown(inSource, false)
    : andOf([isKnown(rowKey, true), isKnown(inSource, true)])!;
}

/** The node gives the columns that RETURNING reads, the expressions are computed above. */
function returned(node: ChangePlan, waits: Waits): Plan {
  const { exprs } = node.returning!;
  const read = new Map<ColumnId, OutputColumn>();
  for (const expr of exprs) for (const id of columnsOf(expr)) read.set(id, columnOf(node, id));
  const columns = [...read.values()];
  const plain = columns.map(({ id, name, type }): Expr => ({ kind: "column", id, name, type }));
  const below = Object.freeze({ ...node, returning: { ...node.returning!, exprs: plain }, columns });
  const calls = new DeferredCalls(waits, below);
  const over = exprs.map((expr) => calls.lift(expr));
  return Object.freeze({ kind: "project", input: calls.stacked(), exprs: over, columns: node.columns });
}

/** What RETURNING may read. */
function columnOf(node: ChangePlan, id: ColumnId): OutputColumn {
  const { returning, input } = node;
  const old = node.kind === "insert" ? [] : node.oldColumns;
  const known = [...returning!.rowColumns, ...(returning!.action ? [returning!.action] : []), ...old, ...input.columns];
  const column = known.find((one) => one.id === id)!;
  return { ...column, nullable: true };
}
