/**
 * Statements that the engine itself runs inside a client's statement: checks and actions of constraints, checks of
 * rows for new definitions. They go through parser, binder and optimizer as a client's do, so they use indexes and
 * set off constraints of their own. One per session.
 */
import type { TableDef } from "../catalog/table.js";
import { compilePlan } from "../query/exec/compile-plan.js";
import { type ExecContext, StatementState } from "../query/exec/context.js";
import { type ResultRows, runToCompletion } from "../query/exec/run.js";
import { optimize } from "../query/optimize/optimize.js";
import type { Plan } from "../query/plan/plan.js";
import type { Value } from "../values/values.js";
import type { StatementPlan } from "./statement-plan.js";
import type { Tenant } from "./tenant.js";

/** Plans kept while definitions stay as they are. */
const PLANS_MAX = 256;

const ALL_ROWS = { maxRows: Number.MAX_SAFE_INTEGER };

export class InternalStatements {
  private readonly plans = new Map<string, StatementPlan>();
  private version: number | string | null = null;

  constructor(
    private readonly tenant: Tenant,
    private readonly planFor: (sql: string, context: ExecContext) => StatementPlan,
  ) {}

  /**
   * Runs the text with these values for its parameters, within the transaction of `base`. What is left to check is in
   * the answered context's statement.
   */
  run(
    sql: string,
    params: readonly Value[],
    base: ExecContext,
  ): { readonly rows: ResultRows | Promise<ResultRows>; readonly context: ExecContext } {
    const context = innerContext(base, params);
    const { program } = this.plan(sql, context);
    return { rows: runToCompletion(program!, context, ALL_ROWS), context };
  }

  /** The rows of a plan that is not optimized yet. */
  runPlan(plan: Plan, base: ExecContext, params: readonly Value[] = []): ResultRows | Promise<ResultRows> {
    return runToCompletion(compilePlan(optimize(plan)), innerContext(base, params), ALL_ROWS);
  }

  /** The table as the transaction sees it; null: dropped. */
  table(id: number, context: ExecContext): TableDef | null {
    return this.tenant.catalog.view(context.tx).tableById(id);
  }

  private plan(sql: string, context: ExecContext): StatementPlan {
    const { version } = this.tenant.catalog.view(context.tx);
    if (this.version !== version || this.plans.size >= PLANS_MAX) this.plans.clear();
    this.version = version;
    let plan = this.plans.get(sql);
    if (plan === undefined) {
      plan = this.planFor(sql, context);
      this.plans.set(sql, plan);
    }
    return plan;
  }
}

function innerContext(base: ExecContext, params: readonly Value[]): ExecContext {
  return { ...base, params, outer: null, statement: new StatementState(base.statement.memoryBytesMax) };
}
