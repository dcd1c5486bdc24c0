/**
 * Certifies a recipe: runs it with its own tests, as this server and this tenant would, in a transaction that is
 * rolled back. What it creates without naming a schema or graph goes into fresh ones, so that its tests neither see
 * the tenant's rows nor collide with its tables. Called by the handlers of recipes.
 */
import { randomBytes } from "node:crypto";
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { VERSION } from "../../protocol/version.js";
import { bindParameters } from "../../recipe/parameters.js";
import type { Expectation, ReadRecipe, Recipe, RecipeTest } from "../../recipe/recipe.js";
import { parseRange } from "../../recipe/semver.js";
import type { Session } from "../../session/session.js";
import { elapsedSince, plainRows } from "../../session/sql-result.js";
import type { Client, StatementText } from "../../session/statement-run.js";
import { faultOfResult } from "./compare-results.js";
import { NO_MODELS } from "./recipe-models.js";
import { RecipeRunner, recipeClient, recipeSession, type StepResult } from "./recipe-runner.js";
import type { Certificate } from "./recipe-store.js";

/** Of a test's step. */
const ROWS_MAX = 10_000;
const TEST_SAVEPOINT = "_recipe_test";

/** Throws invalid_recipe when it is for other versions of the server. */
export function requireEngine({ engine }: Recipe): void {
  if (parseRange(engine)!(VERSION)) return;
  throw new DbError("invalid_recipe", `engine: the recipe is for ${engine}; this server is ${VERSION}`, {
    field: "engine",
    hint: "Use a version of the recipe for this server, or update the server.",
  });
}

/** Throws recipe_not_certified that says which test, step and statement failed, and where it stands. */
export async function certify(
  request: Request,
  read: Pick<ReadRecipe, "recipe" | "digest" | "places">,
): Promise<Certificate> {
  const { recipe, digest, places } = read;
  requireEngine(recipe);
  const started = performance.now();
  const session = recipeSession(request);
  const client = recipeClient(request);
  session.begin({});
  try {
    const room = new FreshRoom(session, client);
    await room.open();
    const runner = new RecipeRunner(session, client, {
      recipe,
      places,
      rowsMax: ROWS_MAX,
      models: NO_MODELS,
      graphFor: (name) => room.graphFor(name),
    });
    await runner.define().catch(refuse);
    await runner.seed().catch(refuse);
    const tests = testsOf(recipe);
    for (const test of tests) {
      session.savepoint(TEST_SAVEPOINT);
      await runTest(runner, recipe, test);
      session.rollbackTo(TEST_SAVEPOINT);
      session.release(TEST_SAVEPOINT);
    }
    return {
      digest,
      engine: VERSION,
      certified_at: new Date().toISOString(),
      tests: recipe.tests.length,
      statements: runner.executed,
      execution_time_ms: elapsedSince(started),
    };
  } finally {
    if (session.inTransaction) session.rollback();
    await session.endTemporaries(client, (tx) => request.tenant.commit(tx));
  }
}

/** Without tests of its own the workflow runs with the defaults. */
function testsOf({ tests, parameters }: Recipe): readonly RecipeTest[] {
  if (tests.length > 0) return tests;
  const needed = Object.keys(parameters).filter((name) => parameters[name]!.default === undefined);
  if (needed.length === 0) return [{ name: "with its defaults" }];
  throw new DbError(
    "recipe_not_certified",
    `The recipe cannot be tested: these parameters have no default: ${needed.join(", ")}.`,
    {
      field: "tests",
      hint: "Add a test with parameters, or defaults.",
    },
  );
}

async function runTest(runner: RecipeRunner, recipe: Recipe, test: RecipeTest): Promise<void> {
  let results: readonly StepResult[];
  try {
    const values = bindParameters(recipe.parameters, test.parameters ?? {});
    if ("fault" in values) throw new DbError("invalid_request", `parameters.${values.name}: ${values.fault}`);
    results = await runner.workflow(values);
  } catch (error) {
    if (isPassing(error)) throw error;
    const { code } = error as DbError;
    if (test.error === code) return;
    if (test.error === undefined) return refuse(error, test.name);
    throw failed(test, `expected the error ${test.error}, got ${code}: ${(error as Error).message}`, {});
  }
  if (test.error !== undefined) throw failed(test, `expected the error ${test.error}, and it succeeded`, {});
  for (const expected of test.expect ?? []) {
    const result = results.find(({ step }) => step === expected.step)!;
    const fault = faultOfResult(expected, result);
    if (fault !== null) throw failed(test, `step "${expected.step}": ${fault}`, { step: expected.step });
  }
}

function failed({ name }: RecipeTest, what: string, details: { readonly step?: Expectation["step"] }): DbError {
  return new DbError("recipe_not_certified", `Test "${name}": ${what}`, { test: name, ...details });
}

/** Nothing that the recipe did. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof DbError)) return true;
  return (
    error.status >= 500 || ["cancelled", "request_timeout", "serialization_failure", "forbidden"].includes(error.code)
  );
}

/** An error of the database as one of the certification; `code` in its details is the database's. */
function refuse(error: unknown, test?: string): never {
  if (isPassing(error)) throw error;
  const { code, message, details } = error as DbError;
  const where = test === undefined ? "" : `Test "${test}": `;
  const told = { ...details, ...(test !== undefined && { test }), error: code };
  throw new DbError("recipe_not_certified", where + message, told);
}

/** A schema and graphs of its own for as long as the transaction lasts. */
class FreshRoom {
  private readonly mark = randomBytes(8).toString("hex");
  private readonly graphs = new Map<string | undefined, string>();

  constructor(
    private readonly session: Session,
    private readonly client: Client,
  ) {}

  async open(): Promise<void> {
    const schema = `_recipe_${this.mark}`;
    await this.run({ sql: `CREATE SCHEMA "${schema}"`, params: [] });
    this.session.settings.setText("search_path", `"${schema}", public`, true);
  }

  async graphFor(name: string | undefined): Promise<string> {
    const key = name === "default" ? undefined : name;
    let graph = this.graphs.get(key);
    if (graph === undefined) {
      graph = `_recipe_${this.mark}_${this.graphs.size}`;
      this.graphs.set(key, graph);
      await this.run({ sql: "", params: [], command: { kind: "create graph", graph, ifNotExists: false } });
    }
    return graph;
  }

  private async run(text: StatementText): Promise<void> {
    const run = { ...text, maxRows: 1, collector: plainRows, request: this.client };
    await this.session.execute(run, (tx) => tx.rollback());
  }
}
