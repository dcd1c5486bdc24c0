/** Errors of BEGIN, COMMIT and the like where a session does not take them as statements. */
import { type DbError, sqlError } from "../protocol/errors.js";
import type { BoundTransaction } from "../sql/bind/bound-statement.js";

/** PREPARE TRANSACTION and its ends are refused as by a PostgreSQL server that allows no prepared transactions. */
export function twoPhase({ action, savepoint }: BoundTransaction, inBlock: boolean): DbError {
  if (action === "prepare") {
    return sqlError("55000", "prepared transactions are disabled", {
      hint: "Use COMMIT: there is no two-phase commit.",
    });
  }
  if (inBlock) return sqlError("25001", `${action.toUpperCase()} cannot run inside a transaction block`);
  return sqlError("42704", `prepared transaction with identifier "${savepoint}" does not exist`);
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
