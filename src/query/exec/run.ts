/**
 * Runs a program to its end and collects its rows up to a cap. The session calls it for requests whose answer is one
 * document; a streaming client pulls batches from the operator itself.
 */
import type { Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import type { OutputColumn } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { Operator, Program } from "./operator.js";

export interface ResultRows {
  readonly columns: readonly OutputColumn[];
  readonly rows: readonly (readonly Value[])[];
  /** True when there were more rows than the cap. */
  readonly truncated: boolean;
  /** Rows that INSERT, UPDATE or DELETE changed; 0 for a query. */
  readonly rowsAffected: number;
}

/**
 * All rows of the program, or the first `maxRows` of them. A program that never waits answers without a promise.
 * Data-modifying programs do all their work whatever the cap. The operator is closed in every case.
 */
export function runToCompletion(
  program: Program,
  context: ExecContext,
  options: { readonly maxRows: number },
): ResultRows | Promise<ResultRows> {
  const operator = program.open(context);
  const rows: Value[][] = [];
  let pending = false;
  try {
    for (;;) {
      const batch = operator.next();
      if (batch instanceof Promise) {
        pending = true;
        return collectLater(batch, operator, rows, program, context, options.maxRows);
      }
      if (batch === null) return resultOf(program, context, rows, false);
      if (appendRows(batch, rows, options.maxRows)) return resultOf(program, context, rows, true);
    }
  } finally {
    if (!pending) operator.close();
  }
}

async function collectLater(
  first: Promise<Batch | null>,
  operator: Operator,
  rows: Value[][],
  program: Program,
  context: ExecContext,
  maxRows: number,
): Promise<ResultRows> {
  try {
    for (let batch = await first; batch !== null; batch = await operator.next()) {
      if (appendRows(batch, rows, maxRows)) return resultOf(program, context, rows, true);
    }
    return resultOf(program, context, rows, false);
  } finally {
    operator.close();
  }
}

function resultOf(program: Program, context: ExecContext, rows: Value[][], truncated: boolean): ResultRows {
  return { columns: program.columns, rows, truncated, rowsAffected: context.statement.rowsAffected };
}

/** Appends the batch's rows; true when the cap cut some off. */
function appendRows(batch: Batch, rows: Value[][], maxRows: number): boolean {
  const { columns, length } = batch;
  const taken = Math.min(length, maxRows - rows.length);
  for (let r = 0; r < taken; r++) {
    const row = new Array<Value>(columns.length);
    for (let c = 0; c < columns.length; c++) row[c] = columns[c]![r]!;
    rows.push(row);
  }
  return taken < length;
}
