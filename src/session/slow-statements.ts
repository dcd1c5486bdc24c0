/**
 * The log of slow statements: those that ran longer than query.slow_ms, with their plans. Values are left out unless
 * the configuration allows them: constants in texts and plans become `?`, parameters are only counted. Statements that
 * end within a turn are never looked at, so the usual ones pay nothing. Made by the actor for all of its partitions.
 */
import { withoutConstants } from "../protocol/statement-shape.js";
import { Overrun } from "../protocol/stretch.js";
import { explainText } from "../query/plan/explain.js";
import type { Outcome } from "./sql-result.js";
import type { StatementPlan } from "./statement-plan.js";
import type { StatementRun } from "./statement-run.js";

/** Characters of the text and of the plan in one line of the log. */
const TEXT_CHARACTERS_MAX = 4_000;
const PLAN_LINES_MAX = 100;

export interface SlowStatementsOptions {
  /** 0: nothing is logged. */
  readonly slowMs: number;
  /** Constants and parameters are logged as they are. */
  readonly values: boolean;
  readonly log: (message: string, fields: object) => void;
}

export class SlowStatements {
  count = 0;

  constructor(private readonly options: SlowStatementsOptions) {}

  /** Waits along; `outcome` is what it was. */
  watch(
    outcome: Promise<Outcome>,
    plan: StatementPlan,
    run: StatementRun,
    tenant: string,
    user: string,
  ): Promise<Outcome> {
    const { slowMs } = this.options;
    if (slowMs === 0) return outcome;
    const startedMs = performance.now();
    const look = (rows: number | null, error: string | null): void => {
      const ms = performance.now() - startedMs;
      if (ms >= slowMs) this.log(plan, run, { tenant, user, ms: Math.round(ms), rows, error });
    };
    outcome.then(
      ({ rows, rowsAffected }) => look(rowsAffected ?? rows.count ?? rows.plain?.length ?? null, null),
      (error: unknown) => look(null, errorOf(error)),
    );
    return outcome;
  }

  private log(plan: StatementPlan, run: StatementRun, facts: object): void {
    this.count++;
    const { values, log } = this.options;
    const lines = plan.program === null ? [] : explainText(plan.program.plan).slice(0, PLAN_LINES_MAX);
    const language = languageOf(plan);
    const parameters = Array.isArray(run.params) ? run.params : Object.values(run.params);
    log("slow statement", {
      requestId: run.request.requestId,
      ...facts,
      language,
      sql: (values ? run.sql : withoutConstants(run.sql, language)).slice(0, TEXT_CHARACTERS_MAX),
      parameters: values ? JSON.stringify(parameters).slice(0, TEXT_CHARACTERS_MAX) : parameters.length,
      plan: lines.map((line) => (values ? line : withoutConstants(line)).slice(0, TEXT_CHARACTERS_MAX)),
    });
  }
}

/** In words of the log: an overrun is no failure, the session runs the statement again. */
function errorOf(error: unknown): string {
  if (error instanceof Overrun) return "run again in shorter turns";
  return (error as { code?: string }).code ?? "internal_error";
}

/** Of a statement's text. */
export function languageOf(plan: StatementPlan): "sql" | "cypher" {
  return plan.parameterNames === null ? "sql" : "cypher";
}
