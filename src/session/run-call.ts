/** CALL: the arguments are a row that is computed first; the outputs are the result's only row. */
import { after } from "../query/exec/operator.js";
import type { BoundCall } from "../sql/bind/bound-statement.js";
import type { RoutineRunner } from "../sql/routine/routine-runner.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Value } from "../values/values.js";
import type { ExecutionScope } from "./execution-scope.js";
import { procedureColumns } from "./result-columns.js";
import { type Outcome, rowsOutcome, shapeOf, textOutcome } from "./sql-result.js";
import type { StatementRun } from "./statement-run.js";

export function runCall(
  scope: ExecutionScope,
  routines: RoutineRunner,
  bound: BoundCall,
  run: StatementRun,
  tx: ShardTransaction,
): Outcome | Promise<Outcome> {
  // Inside a function the statement has its variables for parameters.
  const params = run.params as readonly Value[];
  const context = scope.contextFor(tx, run.request, params);
  const args = scope.internalStatements().runPlan(bound.args, context, params);
  return after(args, ({ rows }) =>
    after(routines.callProcedure(bound.routine, rows[0]!, context), (values) => {
      const columns = procedureColumns(bound);
      if (columns.length === 0) return textOutcome("result", ["CALL"], run.collector);
      const shape = shapeOf(columns);
      const result = run.collector(shape);
      if (values.length > 0) result.append({ columns: values.map((value) => [value]), length: 1 }, 1);
      return rowsOutcome(shape, result, false, null);
    }),
  );
}
