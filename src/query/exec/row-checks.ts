/**
 * CHECK constraints over new rows: a check fails only when it is false; NULL passes (SQL:2016, part 2, §4.25). WITH
 * CHECK OPTION of views differs: the new row must be visible through the view, so NULL fails.
 */
import { compileExpr, type SlotOf } from "../expr/compile.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import type { BoundCheck } from "../plan/change-plans.js";
import type { ExecContext } from "./context.js";

export interface RowCheck {
  readonly name: string;
  readonly evaluate: Evaluate;
  /** NULL fails, too: WITH CHECK OPTION of a view, or row security. */
  readonly ofView: boolean;
  /** As in BoundCheck. */
  readonly policy?: string | undefined;
  readonly using?: BoundCheck["using"] | undefined;
}

export function compileChecks(checks: readonly BoundCheck[], slotOf: SlotOf): readonly RowCheck[] {
  return checks.map(({ name, predicate, view = false, policy, using }) => {
    return { name, evaluate: compileExpr(predicate, slotOf), ofView: view || policy !== undefined, policy, using };
  });
}

/** The first check that the row fails, or null. */
export function failedCheck(
  checks: readonly RowCheck[],
  batch: Batch,
  row: number,
  context: ExecContext,
): RowCheck | null {
  for (const check of checks) {
    const value = check.evaluate(batch, row, context);
    if (check.ofView ? value !== true : value === false) return check;
  }
  return null;
}
