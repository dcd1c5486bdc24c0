/** What a new row must satisfy, in PostgreSQL's order. */
import type { Batch } from "../expr/expr.js";
import type { ExecContext } from "./context.js";
import { fails, policyViolation, type RowCheck } from "./row-checks.js";
import type { Row, TableWriter } from "./table-writer.js";

/** Policies, NOT NULL and other checks. Throws 42501, 23502, 23514, 44000. */
export function checkRow(
  writer: TableWriter,
  row: Row,
  checks: readonly RowCheck[],
  batch: Batch,
  number: number,
  context: ExecContext,
): void {
  let at = 0;
  // They come first.
  for (; at < checks.length && checks[at]!.policy !== undefined; at++) {
    if (fails(checks[at]!, batch, number, context)) throw policyViolation(checks[at]!);
  }
  writer.checkNotNull(row);
  for (; at < checks.length; at++) {
    if (fails(checks[at]!, batch, number, context)) throw writer.checkViolation(row, checks[at]!);
  }
}
