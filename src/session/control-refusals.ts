/** Errors of BEGIN, COMMIT and the like where a session does not take them as statements. */
import { type DbError, sqlError } from "../protocol/errors.js";
import type { BoundTransaction } from "../sql/bind/bound-statement.js";

/** A transaction that cannot be prepared has ended, as in PostgreSQL. */
export function twoPhase(): DbError {
  return sqlError("0A000", "two-phase commit is not supported", { hint: "Use COMMIT." });
}

export function endRefused(action: string): DbError {
  return sqlError(
    "25001",
    `${action.toUpperCase()} cannot be sent as a statement here; the transaction is still open.`,
    {
      hint: "End it with POST /v1/transactions/{id}/commit or /rollback.",
    },
  );
}

export function controlRefused(action: string): DbError {
  return sqlError(
    "25001",
    `${action.toUpperCase()} cannot be sent as a single statement: begin a transaction with POST /v1/transactions.`,
    {
      hint: "Each request may use a different connection. Then use POST /v1/transactions/{id}/execute, /commit or /rollback; or send BEGIN … COMMIT in one POST /v1/query/execute/batch.",
    },
  );
}

/** Whether transactions are begun and ended by routes, and not by such statements. */
export function isOthersControl(options: { readonly control: string }, { action }: BoundTransaction): boolean {
  return options.control === "routes" && /^(?:begin|commit|rollback|prepare)$/.test(action);
}

export const rolledBackFor = (failure: string): string =>
  `The transaction was rolled back: a statement in it had failed (${failure}).`;
