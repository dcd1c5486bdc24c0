/** Transaction control by statements where no transaction is open. */
import { sqlError } from "../protocol/errors.js";
import { warning } from "../protocol/notice.js";
import type { BoundTransaction } from "../sql/bind/bound-statement.js";
import { twoPhase } from "./control-refusals.js";
import { type Outcome, textOutcome } from "./sql-result.js";
import type { StatementRun } from "./statement-run.js";
import type { TransactionBlock } from "./transaction-block.js";

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
      if (bound.chain) throw sqlError("25P01", `${command} AND CHAIN can only be used in transaction blocks`);
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
    case "rollback to": {
      const name = action === "savepoint" ? "SAVEPOINT" : `${command} SAVEPOINT`;
      throw sqlError("25P01", `${name} can only be used in transaction blocks`, {
        hint: "Begin one with POST /v1/transactions, or send BEGIN … COMMIT in one POST /v1/query/execute/batch.",
      });
    }
  }
}
