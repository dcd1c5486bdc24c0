/** Transaction control by statements where no transaction is open. */
import { type DbError, sqlError } from "../protocol/errors.js";
import { warning } from "../protocol/notice.js";
import type { BoundTransaction } from "../sql/bind/bound-statement.js";
import { twoPhase } from "./control-refusals.js";
import { type Outcome, textOutcome } from "./sql-result.js";
import type { StatementRun } from "./statement-run.js";
import type { TransactionBlock } from "./transaction-block.js";

export const NO_BLOCK_TO_SET = warning("SET LOCAL can only be used in transaction blocks", "25P01");

/** Begins a transaction, or says that there is none. Throws 25P01, 42704. */
export function controlOutside(bound: BoundTransaction, run: StatementRun, block: TransactionBlock): Outcome {
  const { action } = bound;
  const command = action.toUpperCase();
  const done = (tag: string, message?: string) =>
    textOutcome("result", [tag], run.collector, message === undefined ? undefined : [warning(message, "25P01")]);
  switch (action) {
    case "begin":
      block.begin(bound.options);
      return done(command);
    case "commit":
    case "rollback":
      if (bound.chain) throw needsBlock(bound)!;
      return done(command, "there is no transaction in progress");
    case "set":
      return done("SET", "SET TRANSACTION can only be used in transaction blocks");
    case "prepare":
      return done("ROLLBACK", "there is no transaction in progress");
    case "commit prepared":
    case "rollback prepared":
      throw twoPhase(bound, false);
    case "savepoint":
    case "release":
    case "rollback to":
      throw needsBlock(
        bound,
        "Begin one with POST /v1/transactions, or send BEGIN … COMMIT in one POST /v1/query/execute/batch.",
      )!;
  }
}

/** The error 25P01 for what a client may say only of a transaction that it has begun; null: it may say it anywhere. */
export function needsBlock({ action, chain }: BoundTransaction, hint?: string): DbError | null {
  const isOfPart = action === "savepoint" || action === "release" || action === "rollback to";
  if (!chain && !isOfPart) return null;
  const command = action.toUpperCase();
  const name = chain ? `${command} AND CHAIN` : action === "savepoint" ? command : `${command} SAVEPOINT`;
  const message = `${name} can only be used in transaction blocks`;
  return sqlError("25P01", message, hint === undefined ? undefined : { hint });
}
