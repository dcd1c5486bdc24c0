/**
 * Plans over one table that can run over a single row of it: the row stands in the table's place as VALUES of
 * parameters. Called by query-delta.ts and aggregate-delta.ts.
 */

import { compilePlan } from "../../query/exec/compile-plan.js";
import type { ExecContext } from "../../query/exec/context.js";
import type { Program } from "../../query/exec/operator.js";
import { runToCompletion } from "../../query/exec/run.js";
import type { Expr } from "../../query/expr/expr.js";
import { isVolatile, walkExpr } from "../../query/expr/walk.js";
import { optimize } from "../../query/optimize/optimize.js";
import type { OutputColumn, Plan, ScanPlan } from "../../query/plan/plan.js";
import { childrenOf, exprsOfPlan, withChildren } from "../../query/plan/walk.js";
import type { Value } from "../../values/values.js";

/** A plan with one of its nodes replaced by a row that is given; it makes one row of it or none. */
export class SingleRow {
  private readonly program: Program;

  /** `params`: of the query. */
  constructor(
    plan: Plan,
    node: Plan,
    private readonly params: readonly Value[],
  ) {
    const given = node.columns.map(({ type }, i): Expr => ({ kind: "param", type, index: params.length + i }));
    const row: Plan = Object.freeze({ kind: "values", rows: [given], columns: node.columns });
    this.program = compilePlan(optimize(replaced(plan, node, row)));
  }

  /** `row`: values of the node's columns. Null: it makes no row. */
  of(row: readonly Value[], context: ExecContext): readonly Value[] | null {
    const result = runToCompletion(this.program, { ...context, params: [...this.params, ...row] }, { maxRows: 1 });
    if (result instanceof Promise) throw new Error("one row does not wait");
    return result.rows[0] ?? null;
  }
}

/**
 * The scan below nothing but projections and filters that depend on their row alone; null: the plan is not like that,
 * or the table has others below it.
 */
export function scanBelow(plan: Plan): ScanPlan | null {
  if (plan.kind === "scan") {
    return plan.rowKey === null && (plan.table.children?.length ?? 0) === 0 ? plan : null;
  }
  if (plan.kind !== "project" && plan.kind !== "filter") return null;
  if (!exprsOfPlan(plan).every(isOfRow)) return null;
  return scanBelow(plan.input);
}

/** Where the scan's columns are among the table's. */
export function positionsOf({ table, source }: ScanPlan): readonly number[] {
  return source.map((id) => table.columns.findIndex((column) => column.id === id));
}

export function isOfRow(expr: Expr): boolean {
  let isPlain = !isVolatile(expr);
  walkExpr(expr, (node) => {
    // What changes with the time would change without a change of the table.
    if (node.kind === "subquery" || (node.kind === "call" && node.fn.volatility !== "immutable")) isPlain = false;
  });
  return isPlain;
}

/** The columns under ids that the plan does not have. */
export function renumbered(plan: Plan, columns: readonly OutputColumn[]): readonly OutputColumn[] {
  let next = 1 + Math.max(...columns.map(({ id }) => id), ...idsOf(plan));
  return columns.map((column) => ({ ...column, id: next++ }));
}

function idsOf(plan: Plan): number[] {
  return [...plan.columns.map(({ id }) => id), ...childrenOf(plan).flatMap(idsOf)];
}

function replaced(plan: Plan, node: Plan, by: Plan): Plan {
  if (plan === node) return by;
  return withChildren(
    plan,
    childrenOf(plan).map((child) => replaced(child, node, by)),
  );
}
