/**
 * Checks calls whose constant arguments may be wrong in a way that shows without a row, such as the name of a model
 * that does not exist. Such calls are found when a statement is planned and checked before each run. Called by the
 * planner and the runner; no state.
 */

import { positioned } from "../query/exec/deferred-call.js";
import type { CallExpr, EvalContext, Expr } from "../query/expr/expr.js";
import { walkExpr } from "../query/expr/walk.js";
import type { Plan } from "../query/plan/plan.js";
import { exprsOfPlan, walkPlan } from "../query/plan/walk.js";
import type { Value } from "../values/values.js";

/** Of a plan that no rule has changed yet: rules leave out what no row gets to. */
export function callsToCheck(plan: Plan): readonly CallExpr[] {
  const calls: CallExpr[] = [];
  walkPlan(plan, (node) => {
    for (const expr of exprsOfPlan(node)) {
      walkExpr(expr, (part) => {
        if (part.kind === "subquery") calls.push(...callsToCheck(part.plan));
        if (part.kind === "call" && part.fn.deferred?.check !== undefined) calls.push(part);
      });
    }
  });
  return calls;
}

/** Throws or rejects with what is wrong with the first of them. */
export function checkCalls(
  calls: readonly CallExpr[],
  params: readonly Value[],
  context: EvalContext,
  from = 0,
): Promise<void> | void {
  for (let i = from; i < calls.length; i++) {
    const checked = checkCall(calls[i]!, params, context);
    if (checked instanceof Promise) return checked.then(() => checkCalls(calls, params, context, i + 1));
  }
}

function checkCall(
  { fn, args, position }: CallExpr,
  params: readonly Value[],
  context: EvalContext,
): Promise<void> | void {
  const known = args.map((arg) => knownValue(arg, params));
  const failed = (error: unknown): never => {
    throw positioned(error, position);
  };
  try {
    return fn.deferred!.check!(known, context)?.catch(failed);
  } catch (error) {
    return failed(error);
  }
}

/** Undefined: it is known of each row only. */
function knownValue(arg: Expr, params: readonly Value[]): Value | undefined {
  if (arg.kind === "const") return arg.value;
  return arg.kind === "param" ? params[arg.index] : undefined;
}
