/** Runs VERIFY: proves from a table's chain of hashes that its rows, or one of them, are as they were written. */
import { sqlError } from "../protocol/errors.js";
import { after } from "../query/exec/operator.js";
import { VERIFY_COLUMNS, VERIFY_RECORD_COLUMNS, verifyRecord, verifyTable } from "../query/exec/verify-table.js";
import type { BoundVerify } from "../sql/bind/bound-statement.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { ExecutionScope } from "./execution-scope.js";
import { type Outcome, rowsOutcome, shapeOf } from "./sql-result.js";
import type { StatementRun } from "./statement-run.js";

const VERIFY_SHAPE = shapeOf(VERIFY_COLUMNS);
const VERIFY_RECORD_SHAPE = shapeOf(VERIFY_RECORD_COLUMNS);

export function verify(
  scope: ExecutionScope,
  bound: BoundVerify,
  run: StatementRun,
  tx: ShardTransaction,
): Outcome | Promise<Outcome> {
  if (bound.key !== undefined) return verifyOne(scope, bound.table, bound.key, run, tx);
  return after(verifyTable(scope.contextFor(tx, run.request, []), bound.table), (result) => {
    const rows = run.collector(VERIFY_SHAPE);
    rows.append({ columns: result.map((value) => [value]), length: 1 }, 1);
    return rowsOutcome(VERIFY_SHAPE, rows, false, null);
  });
}

function verifyOne(
  scope: ExecutionScope,
  table: BoundVerify["table"],
  key: readonly (string | number)[],
  run: StatementRun,
  tx: ShardTransaction,
): Outcome | Promise<Outcome> {
  const given = Array.isArray(run.params) ? (run.params as readonly unknown[]) : [];
  const texts = key.map((value) => {
    if (typeof value === "string") return value;
    const parameter = given[value - 1];
    if (parameter !== undefined && parameter !== null) return String(parameter);
    throw sqlError("08P01", `there is no value for the parameter $${value}`);
  });
  return after(verifyRecord(scope.contextFor(tx, run.request, []), table, texts), (result) => {
    const rows = run.collector(VERIFY_RECORD_SHAPE);
    rows.append({ columns: result.map((value) => [value]), length: 1 }, 1);
    return rowsOutcome(VERIFY_RECORD_SHAPE, rows, false, null);
  });
}
