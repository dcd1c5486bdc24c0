/**
 * Executes a recipe: its definitions and seeds if this version has not been executed here before, then its workflow,
 * all in one transaction with the record of the execution. A failed execution leaves only a record that it failed. A
 * record that the execution began is written before, so one that is cut off is visible. Called by the handlers of
 * recipes and by the tools.
 */

import { errorBody } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { BoundValue } from "../../recipe/bind-statement.js";
import { bindParameters } from "../../recipe/parameters.js";
import type { Recipe } from "../../recipe/recipe.js";
import type { Answer } from "../../session/answer.js";
import { elapsedSince, plainRows } from "../../session/sql-result.js";
import { ownTogether, type Run } from "../statements/run-together.js";
import { ExecutionModels, modelsToAsk } from "./recipe-models.js";
import { RecipeRunner, recipeClient, recipeSession, type StepResult } from "./recipe-runner.js";
import {
  CREATE_TABLES,
  type Execution,
  executionsUnderWay,
  hasTables,
  isSetUp,
  keepExecution,
  keepSetup,
  newExecutionId,
  trimExecutions,
} from "./recipe-store.js";

/** `auto`: with the first execution of a version; `schema`: the definitions without the seeds. */
export type Setup = "auto" | "always" | "schema" | "never";

export interface ExecutionRequest {
  readonly recipe: Recipe;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly setup: Setup;
  /** With true, everything is rolled back. */
  readonly dryRun: boolean;
}

/** One execution, as it has begun. */
interface Begun extends ExecutionRequest {
  readonly id: string;
  readonly values: ReadonlyMap<string, BoundValue>;
  /** RFC 3339, and as `performance.now()`. */
  readonly startedAt: string;
  readonly startedMs: number;
}

type Executed = ResponseOf<"recipes.execute">;

const ATTEMPTS_MAX = 4;
/** After this many executions, one checks whether older ones can be forgotten. */
const TRIM_EVERY = 32;

/** Throws the error of the first failing statement, with the part of the recipe that it belongs to. */
export async function executeRecipe(request: Request, asked: ExecutionRequest): Promise<Answer<Executed>> {
  const begun: Begun = {
    ...asked,
    id: newExecutionId(),
    values: valuesOf(asked.recipe, asked.parameters),
    startedAt: new Date().toISOString(),
    startedMs: performance.now(),
  };
  const { id, recipe } = begun;
  const keeps = !asked.dryRun && !request.readOnly;
  const underWay = executionsUnderWay(request);
  underWay.add(id);
  try {
    if (keeps) await keepAlone(request, { ...recordOf(request, begun, 0), ...NOTHING_YET });
    const answer = await attempts(request, begun);
    if (keeps && Number.parseInt(id.slice(-2), 16) % TRIM_EVERY === 0) await trimExecutions(request, recipe.id);
    return answer;
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    const told = new DbError(error.code, error.message, { ...error.details, execution_id: id });
    if (keeps) await keepFailure(request, begun, told);
    throw told;
  } finally {
    underWay.delete(id);
  }
}

/** Throws invalid_request that names the parameter. */
export function valuesOf(
  { parameters }: Recipe,
  given: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, BoundValue> {
  const values = bindParameters(parameters, given);
  if (!("fault" in values)) return values;
  throw new DbError("invalid_request", `parameters.${values.name}: ${values.fault}`, {
    field: `parameters.${values.name}`,
  });
}

async function attempts(request: Request, begun: Begun): Promise<Answer<Executed>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptOnce(request, begun);
    } catch (error) {
      const isLost = error instanceof DbError && error.code === "serialization_failure";
      if (!isLost || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

async function attemptOnce(request: Request, begun: Begun): Promise<Answer<Executed>> {
  const { id, recipe, setup, dryRun, values, startedAt, startedMs } = begun;
  const keeps = !dryRun && !request.readOnly;
  const wantsSetup = setup === "auto" ? !(await isSetUp(request, recipe.id, recipe.version)) : setup !== "never";
  const session = recipeSession(request);
  const client = recipeClient(request);
  const rowsMax = request.tenant.partition.config.query.maxRows;
  const run: Run = async (sql, params) => {
    const how = { maxRows: Number.MAX_SAFE_INTEGER, collector: plainRows, request: client, own: true } as const;
    const whole = { sql, params, ...how };
    const { rows, rowsAffected } = await session.execute(whole, (tx) => tx.rollback());
    return { rows: rows.plain!, affected: rowsAffected ?? 0 };
  };
  const kept = keeps ? new ExecutionModels(request, run) : null;
  const models = kept ?? modelsToAsk(request, dryRun);
  const runner = new RecipeRunner(session, client, { recipe, places: {}, rowsMax, models });
  session.begin({});
  try {
    if (wantsSetup) {
      await runner.define();
      if (setup !== "schema") await runner.seed();
    }
    const results = await runner.workflow(values);
    const shown = {
      execution_id: id,
      recipe_id: recipe.id,
      version: recipe.version,
      success: true,
      dry_run: dryRun,
      set_up: wantsSetup,
      results,
      statements_executed: runner.executed,
      execution_time_ms: elapsedSince(startedMs),
    };
    const answer: Answer<Executed> = { plain: shown };
    if (kept === null) return answer;
    if (wantsSetup) await keepSetup(run, recipe.id, recipe.version, startedAt);
    await keepExecution(run, {
      ...recordOf(request, begun, shown.execution_time_ms),
      status: "completed",
      steps: results.map(summaryOf),
      error: null,
      statements_executed: runner.executed,
    });
    await session.prepareCommit(client);
    session.commit((tx) => {
      kept.record(tx);
      request.commit(tx, answer);
    });
    kept.begin();
    return answer;
  } finally {
    if (session.inTransaction) session.rollback();
    await session.endTemporaries(client, (tx) => request.tenant.commit(tx));
  }
}

function recordOf(request: Request, { recipe, parameters, id, startedAt }: Begun, ms: number) {
  return {
    execution_id: id,
    recipe_id: recipe.id,
    version: recipe.version,
    user_id: request.head.userId,
    parameters,
    execution_time_ms: ms,
    started_at: startedAt,
  };
}

/** Of the history: without the rows. */
function summaryOf({ columns: _, rows: __, ...rest }: StepResult): object {
  return rest;
}

async function keepFailure(request: Request, begun: Begun, error: DbError): Promise<void> {
  // Nobody waits any more, or the server cannot: there is no turn for a record.
  if (error.code === "cancelled" || error.code === "request_timeout" || error.status >= 500) return;
  await keepAlone(request, {
    ...recordOf(request, begun, elapsedSince(begun.startedMs)),
    ...NOTHING_YET,
    status: "failed",
    error: errorBody(error),
  });
}

/**
 * For an execution without a result. If it ends in any other way than by an error, it stays so and is reported as
 * interrupted.
 */
const NOTHING_YET = { status: "running", steps: [], error: null, statements_executed: 0 } as const;

/** In a transaction of its own, before or after that of the execution. */
async function keepAlone(request: Request, execution: Execution): Promise<void> {
  await ownTogether(
    request,
    request,
    async (run) => {
      if (!hasTables(request)) for (const sql of CREATE_TABLES) await run(sql, []);
      await keepExecution(run, execution);
    },
    (tx) => request.commitPart(tx),
  );
}
