/** Runs EXPLAIN: tells how a plan would run, or runs it and tells how it did. Called by the StatementRunner. */
import { compilePlan } from "../query/exec/compile-plan.js";
import { Measurements } from "../query/exec/measure-operators.js";
import { after } from "../query/exec/operator.js";
import type { BoundExplain } from "../sql/bind/bound-statement.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Value } from "../values/values.js";
import type { ExecutionScope } from "./execution-scope.js";
import { explainedFor, explainLines, explainOutcome } from "./explain-statement.js";
import { collect, parametersOf } from "./run-program.js";
import { type Outcome, type Rows, rowsOutcome, statsOf } from "./sql-result.js";
import type { StatementPlan } from "./statement-plan.js";
import type { StatementRun } from "./statement-run.js";

/** Takes rows that nobody wants to see. */
const NO_ROWS: Rows = { append: () => 0 };

/** `given`: the parameters' values, where they are not those of the run. */
export function runExplain(
  scope: ExecutionScope,
  plan: StatementPlan,
  bound: BoundExplain,
  run: StatementRun,
  tx: ShardTransaction,
  given?: readonly Value[],
): Outcome | Promise<Outcome> {
  const program = plan.program!;
  const statistics = scope.tenant.statistics.source(tx);
  const { explained } = run;
  const told = explainedFor(bound, scope.names.hidesRows(tx));
  const shown = explained === undefined ? told : ({ ...told, format: "json" } as const);
  const outcomeOf = (lines: string[], rows: Outcome): Outcome => {
    if (explained === undefined) return explainOutcome(shown, lines, run.collector);
    explained(lines[0]!);
    return rows;
  };
  if (!bound.analyze) {
    return after(scope.check(plan, tx, run.request), () =>
      outcomeOf(
        explainLines(program.plan, shown, statistics, null),
        rowsOutcome(plan.shape!, run.collector(plan.shape!), false, null),
      ),
    );
  }
  scope.requireRunnable(bound.statement);
  const measurements = new Measurements();
  const measured = compilePlan(program.plan, (node, open) => measurements.around(node, open));
  const context = scope.contextFor(tx, run.request, given ?? parametersOf(plan, run), plan.graph);
  const rows = explained === undefined ? NO_ROWS : run.collector(plan.shape!);
  const started = performance.now();
  const report = (): Outcome => {
    const milliseconds = performance.now() - started;
    const { memoryBytesPeak: bytesPeak, graphChanges } = context.statement;
    const lines = explainLines(program.plan, shown, statistics, { measurements, milliseconds, bytesPeak });
    const stats = graphChanges && statsOf(graphChanges);
    return outcomeOf(lines, { ...rowsOutcome(plan.shape!, rows, false, null), stats });
  };
  return after(collect(measured.open(context), rows, Number.MAX_SAFE_INTEGER, context.statement, run.request), () => {
    const events = context.statement.constraintEvents;
    return events === null ? report() : after(scope.checkConstraints(events, context), report);
  });
}
