/**
 * Statements that learn nothing but what their transaction reads by keys and ranges: what it has seen is what they
 * have. Asked by statement-runs.ts.
 */
import type { Expr } from "../../query/expr/expr.js";
import { someExpr } from "../../query/expr/walk.js";
import type { Plan } from "../../query/plan/plan.js";
import { exprsOfPlan, walkPlan } from "../../query/plan/walk.js";
import type { BoundStatement } from "../../sql/bind/bound-statement.js";

const KINDS: ReadonlySet<Plan["kind"]> = new Set([
  ...(["scan", "values", "project", "filter", "limit"] as const),
  ...(["insert", "update", "delete"] as const),
]);

/** They tell nothing of what is stored. */
const CLOCKS: ReadonlySet<string> = new Set(["now", "transaction_timestamp", "statement_timestamp", "clock_timestamp"]);

const known = new WeakMap<BoundStatement, boolean>();

export function isPlainStatement(bound: BoundStatement): boolean {
  let isPlain = known.get(bound);
  if (isPlain === undefined) {
    isPlain = bound.kind === "transaction" || (bound.kind === "query" && isPlainPlan(bound.plan));
    known.set(bound, isPlain);
  }
  return isPlain;
}

function isPlainPlan(plan: Plan): boolean {
  let isPlain = true;
  walkPlan(plan, (node) => {
    isPlain &&= KINDS.has(node.kind) && !hasTriggers(node) && !exprsOfPlan(node).some((expr) => someExpr(expr, asks));
  });
  return isPlain;
}

function hasTriggers(node: Plan): boolean {
  const isWrite = node.kind === "insert" || node.kind === "update" || node.kind === "delete";
  return isWrite && (node.table.triggers?.length ?? 0) > 0;
}

function asks(expr: Expr): boolean {
  if (expr.kind === "subquery") return true;
  if (expr.kind !== "call") return false;
  const { fn } = expr;
  return (
    (fn.volatility !== "immutable" && !CLOCKS.has(fn.name)) || fn.deferred !== undefined || fn.routine !== undefined
  );
}
