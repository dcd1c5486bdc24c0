/**
 * Finds the parts of expressions that contain deferred calls, and which of those have to be moved out. Used by
 * lift-deferred.ts and its helpers.
 */
import { sqlError } from "../../protocol/errors.js";
import type { CallExpr, Expr, SubqueryExpr } from "../expr/expr.js";
import { isConstant, someExpr, walkExpr } from "../expr/walk.js";
import type { Plan } from "../plan/plan.js";
import { exprsOfPlan, subqueriesOf, walkPlan } from "../plan/walk.js";

/** Whether a call of a function that may be applied needs no waiting. */
export type AnswersAtOnce = (call: CallExpr) => boolean;

/** Whether an expression is a call that has to be waited for. */
export type Waits = (expr: Expr) => expr is CallExpr;

export function waitsFor(answersAtOnce: AnswersAtOnce): Waits {
  return (expr): expr is CallExpr =>
    expr.kind === "call" &&
    expr.fn.deferred !== undefined &&
    !(expr.fn.deferred.mayBeApplied === true && answersAtOnce(expr));
}

/** Whether the plan's expressions contain such calls, including those of subqueries. */
export function hasCalls(plan: Plan, waits: Waits): boolean {
  let found = false;
  walkPlan(plan, (node) => {
    found ||= "generated" in node || exprsOfPlan(node).some((expr) => someExpr(expr, waits));
    found ||= subqueriesOf(node).some((subquery) => hasCalls(subquery.plan, waits));
  });
  return found;
}

/** In which something is waited for row by row. */
export function hasDeferred(plan: Plan): boolean {
  let found = false;
  walkPlan(plan, (node) => {
    found ||= node.kind === "deferred";
    found ||= subqueriesOf(node).some((subquery) => hasDeferred(subquery.plan));
  });
  return found;
}

/** A subquery that has to wait for each row; the expression that contains it has to wait, too. */
export function isWaitingSubquery(expr: Expr): expr is SubqueryExpr {
  return expr.kind === "subquery" && expr.outer.length > 0 && hasDeferred(expr.plan);
}

/** A call that is the same for all rows stays, unless only some branch of the expression comes to it. */
export function hasToMove(expr: Expr, waits: Waits): boolean {
  return someExpr(expr, (part) => {
    if (part.kind === "subquery") return isWaitingSubquery(part);
    if (part.kind === "call" && waits(part)) return !isConstant(part);
    return (
      (part.kind === "case" || part.kind === "and" || part.kind === "or" || isCoalesce(part)) && someExpr(part, waits)
    );
  });
}

export const isCoalesce = (expr: Expr): expr is CallExpr =>
  expr.kind === "call" && expr.fn.name === "coalesce" && expr.fn.lazy === true;

/** Throws 0A000 for the first call in the expression. */
export function refuseIn(expr: Expr, waits: Waits, where: string): never {
  let call: CallExpr | null = null;
  walkExpr(expr, (part) => {
    if (call === null && waits(part)) call = part;
  });
  const { fn, position } = (call ?? { fn: { name: "a subquery that has to wait" }, position: undefined }) as CallExpr;
  throw sqlError("0A000", `${fn.name} cannot be called ${where}`, {
    ...(position !== undefined && { position }),
    hint: "The function has to wait for its values. Compute them in the select list of a subquery in FROM.",
  });
}
