/**
 * The log of slow statements: what ran longer than query.slow_ms, with its plan. Values stay out of it unless the
 * configuration lets them in: constants in texts and plans become `?`, parameters are only counted. Statements that end
 * within a turn are never looked at, so the usual ones pay nothing. Made by the actor for all of its partitions.
 */
import { explainText } from "../query/plan/explain.js";
import type { Outcome } from "./sql-result.js";
import type { StatementPlan } from "./statement-plan.js";
import type { StatementRun } from "./statement-run.js";

/** Characters of the text and of the plan in one line of the log. */
const TEXT_CHARACTERS_MAX = 4_000;
const PLAN_LINES_MAX = 100;
/** Characters of a text that are searched for constants: a text of megabytes is more than a regular expression has stack for. */
const SEARCHED_CHARACTERS_MAX = 64 * 1024;

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
      if (ms >= slowMs) this.#log(plan, run, { tenant, user, ms: Math.round(ms), rows, error });
    };
    outcome.then(
      ({ rows, rowsAffected }) => look(rowsAffected ?? rows.count ?? rows.plain?.length ?? null, null),
      (error: unknown) => look(null, (error as { code?: string }).code ?? "internal_error"),
    );
    return outcome;
  }

  #log(plan: StatementPlan, run: StatementRun, facts: object): void {
    this.count++;
    const { values, log } = this.options;
    const lines = plan.program === null ? [] : explainText(plan.program.plan).slice(0, PLAN_LINES_MAX);
    const parameters = Array.isArray(run.params) ? run.params : Object.values(run.params);
    log("slow statement", {
      requestId: run.request.requestId,
      ...facts,
      sql: (values ? run.sql : withoutConstants(run.sql, languageOf(plan))).slice(0, TEXT_CHARACTERS_MAX),
      parameters: values ? JSON.stringify(parameters).slice(0, TEXT_CHARACTERS_MAX) : parameters.length,
      plan: lines.map((line) => (values ? line : withoutConstants(line)).slice(0, TEXT_CHARACTERS_MAX)),
    });
  }
}

/**
 * The beginning of the text with `?` for texts and numbers, and without comments. One pass from the left, since what a quote means depends on
 * what came before it. In SQL a backslash counts in E'' only, and names stand in double quotes; in Cypher it counts always,
 * and what stands in double quotes is a text, too.
 */
export function withoutConstants(text: string, language: "sql" | "cypher" = "sql"): string {
  const [tokens, name] = language === "sql" ? [SQL_TOKENS, '"'] : [CYPHER_TOKENS, "`"];
  return text.slice(0, SEARCHED_CHARACTERS_MAX).replace(tokens, (token) => {
    if (token.startsWith(name)) return token;
    return token.startsWith("--") || token.startsWith("/") ? " " : "?";
  });
}

const NUMBER = String.raw`(?<![\w$."])\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b`;
const LONG_COMMENT = String.raw`\/\*[\s\S]*?(?:\*\/|$)`;

const SQL_TOKENS = new RegExp(
  [
    String.raw`"(?:[^"]|"")*(?:"|$)`,
    String.raw`--[^\n]*`,
    LONG_COMMENT,
    String.raw`\$(?<tag>[A-Za-z_]\w*|)\$[\s\S]*?(?:\$\k<tag>\$|$)`,
    String.raw`\b[eE]'(?:[^'\\]|''|\\[\s\S])*(?:'|$)`,
    String.raw`(?:\b[bBxX])?'(?:[^']|'')*(?:'|$)`,
    NUMBER,
  ].join("|"),
  "g",
);

const CYPHER_TOKENS = new RegExp(
  [
    "`(?:[^`]|``)*(?:`|$)",
    String.raw`\/\/[^\n]*`,
    LONG_COMMENT,
    String.raw`'(?:[^'\\]|\\[\s\S])*(?:'|$)`,
    String.raw`"(?:[^"\\]|\\[\s\S])*(?:"|$)`,
    NUMBER,
  ].join("|"),
  "g",
);

/** Of a statement's text. */
export function languageOf(plan: StatementPlan): "sql" | "cypher" {
  return plan.parameterNames === null ? "sql" : "cypher";
}
