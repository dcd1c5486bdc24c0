/**
 * CHECK constraints over new rows: a check fails only when it is false; NULL passes (SQL:2016, part 2, §4.25). WITH
 * CHECK OPTION of views differs: the new row must be visible through the view, so NULL fails.
 */
import { type DbError, sqlError } from "../../protocol/errors.js";
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

/** Throws 42501 for a row that a policy refuses. */
export function requirePolicies(
  policies: readonly RowCheck[] | undefined,
  batch: Batch,
  row: number,
  context: ExecContext,
): void {
  const failed = policies === undefined ? null : failedCheck(policies, batch, row, context);
  if (failed !== null) throw policyViolation(failed);
}

/** The error 42501 for a check of a policy. */
export function policyViolation({ name, policy, using }: RowCheck): DbError {
  const which = `${policy === "" ? "" : ` "${policy}"`}${using ? " (USING expression)" : ""}`;
  const row = using === "target" ? "target row" : "new row";
  return sqlError("42501", `${row} violates row-level security policy${which} for table "${name}"`);
}

/** The first check that the row fails, or null. */
export function failedCheck(
  checks: readonly RowCheck[],
  batch: Batch,
  row: number,
  context: ExecContext,
): RowCheck | null {
  for (const check of checks) if (fails(check, batch, row, context)) return check;
  return null;
}

/** Whether the row fails the check. */
export function fails({ evaluate, ofView }: RowCheck, batch: Batch, row: number, context: ExecContext): boolean {
  const value = evaluate(batch, row, context);
  return ofView ? value !== true : value === false;
}
