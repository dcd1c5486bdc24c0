/** CHECK constraints over new rows: a check fails only when it is false; NULL passes (SQL:2016, part 2, §4.25). */
import { compileExpr, type SlotOf } from "../expr/compile.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import type { BoundCheck } from "../plan/plan.js";
import type { ExecContext } from "./context.js";

export interface RowCheck {
  readonly name: string;
  readonly evaluate: Evaluate;
}

export function compileChecks(checks: readonly BoundCheck[], slotOf: SlotOf): readonly RowCheck[] {
  return checks.map(({ name, predicate }) => ({ name, evaluate: compileExpr(predicate, slotOf) }));
}

/** The name of the first check that the row fails, or null. */
export function failedCheck(
  checks: readonly RowCheck[],
  batch: Batch,
  row: number,
  context: ExecContext,
): string | null {
  for (const check of checks) if (check.evaluate(batch, row, context) === false) return check.name;
  return null;
}
