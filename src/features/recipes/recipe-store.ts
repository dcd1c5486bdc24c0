/**
 * Recipes and their executions as they are stored: in tables of the tenant, through statements like a client's. Called
 * by the handlers of recipes; holds no state.
 */

import { randomBytes } from "node:crypto";
import type { Partition } from "../../actor/partition.js";
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { RECIPE_EXECUTIONS_KEPT, RECIPES_MAX } from "../../protocol/limits.js";
import { type Recipe, recipeOf } from "../../recipe/recipe.js";
import { compareVersions } from "../../recipe/semver.js";
import { isAdministrator } from "../../session/owner.js";
import { FLOAT8, INT8, JSONB, TEXT, TIMESTAMPTZ } from "../../values/values.js";
import { rowsOfUser } from "../statements/own-relation.js";
import { ownRowsOf, rowsOf, timeOf } from "../statements/run-alone.js";
import { ownTogether, type Run } from "../statements/run-together.js";
import { withDefinitions } from "../statements/with-definitions.js";

/** That the recipe did here what its tests say. */
export interface Certificate {
  readonly digest: string;
  /** The version of the server. */
  readonly engine: string;
  readonly certified_at: string;
  readonly tests: number;
  readonly statements: number;
  readonly execution_time_ms: number;
}

/** What is known of a recipe without its document. */
export interface RecipeEntry {
  readonly id: string;
  readonly version: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly digest: string;
  readonly builtIn: boolean;
  /** Null: built in, or stored without a signature. */
  readonly signedBy: string | null;
  readonly sourceUrl: string | null;
  /** Null: built in; the project's own tests have run it. */
  readonly certificate: Certificate | null;
  readonly createdAt: string | null;
}

export interface StoredRecipe extends RecipeEntry {
  readonly document: object;
  readonly recipe: Recipe;
}

export interface Execution {
  readonly execution_id: string;
  readonly recipe_id: string;
  readonly version: string;
  /** `interrupted`: it ended without a result, and nothing of it is stored. */
  readonly status: "running" | "completed" | "failed" | "interrupted";
  readonly user_id: string;
  readonly parameters: unknown;
  /** Per step: what ran, and how many rows. */
  readonly steps: unknown;
  readonly error: unknown;
  readonly statements_executed: number;
  readonly execution_time_ms: number;
  readonly started_at: string;
}

type Row = readonly unknown[];

const RECIPES = `public."_recipes"`;
const SETUPS = `public."_recipe_setups"`;
const EXECUTIONS = `public."_recipe_executions"`;

export const CREATE_TABLES: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS ${RECIPES} (
    id text NOT NULL, version text NOT NULL, name text NOT NULL, description text NOT NULL, category text NOT NULL,
    tags jsonb NOT NULL, digest text NOT NULL, signed_by text, source_url text, certificate jsonb NOT NULL,
    created_by text NOT NULL, created_at timestamptz NOT NULL, document jsonb NOT NULL, PRIMARY KEY (id, version))`,
  `CREATE TABLE IF NOT EXISTS ${SETUPS} (
    recipe_id text NOT NULL, version text NOT NULL, executed_at timestamptz NOT NULL, PRIMARY KEY (recipe_id, version))`,
  `CREATE TABLE IF NOT EXISTS ${EXECUTIONS} (
    id text PRIMARY KEY, recipe_id text NOT NULL, version text NOT NULL, status text NOT NULL, user_id text NOT NULL,
    parameters jsonb NOT NULL, steps jsonb NOT NULL, error jsonb, statements_executed bigint NOT NULL,
    execution_time_ms double precision NOT NULL, started_at timestamptz NOT NULL)`,
  `CREATE INDEX IF NOT EXISTS "_recipe_executions_recipe" ON ${EXECUTIONS} (recipe_id, id)`,
];

const ENTRY = "id, version, name, description, category, tags, digest, signed_by, source_url, certificate, created_at";
const EXECUTION =
  "id, recipe_id, version, status, user_id, parameters, steps, error, statements_executed, execution_time_ms, started_at";

/** tessera_recipe_executions: a user's own ones in SQL. */
export const OWN_EXECUTIONS = rowsOfUser("_recipe_executions", {
  id: TEXT,
  recipe_id: TEXT,
  version: TEXT,
  status: TEXT,
  parameters: JSONB,
  steps: JSONB,
  error: JSONB,
  statements_executed: INT8,
  execution_time_ms: FLOAT8,
  started_at: TIMESTAMPTZ,
});

export function hasTables(request: Request): boolean {
  return withDefinitions(request, (catalog) => catalog.table("public", "_recipe_executions")) !== null;
}

/** Ids of later executions are greater, from one millisecond to the next. */
export function newExecutionId(): string {
  return `run_${Date.now().toString(36)}${randomBytes(10).toString("hex")}`;
}

export function noRecipe(id: string, version?: string): DbError {
  const what = version === undefined ? "" : `, version ${version.slice(0, 100)},`;
  return new DbError("not_found", `The recipe "${id.slice(0, 100)}"${what} does not exist.`, {
    field: version === undefined ? "id" : "version",
    hint: "GET /v1/recipes lists the recipes. POST /v1/recipes/import imports one.",
  });
}

/** The tenant's own, without the documents; newest version of each first. */
export async function ownEntries(request: Request, id?: string): Promise<RecipeEntry[]> {
  if (!hasTables(request)) return [];
  const rows = await rowsOf(request, {
    sql: `SELECT ${ENTRY} FROM ${RECIPES}${id === undefined ? "" : " WHERE id = $1::text"}`,
    params: id === undefined ? [] : [id],
  });
  return rows.map(entryOf).sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : compareVersions(b.version, a.version)));
}

/** Null: there is none. */
export async function ownRecipe(request: Request, id: string, version: string): Promise<StoredRecipe | null> {
  if (!hasTables(request)) return null;
  const [row] = await rowsOf(request, {
    sql: `SELECT ${ENTRY}, document FROM ${RECIPES} WHERE id = $1::text AND version = $2::text`,
    params: [id, version],
  });
  if (row === undefined) return null;
  const document = row[11] as object;
  return { ...entryOf(row), document, recipe: recipeOf(document) };
}

/** Takes the place of the same version. Throws when there are too many. */
export async function putRecipe(run: Run, { recipe, document, ...entry }: StoredRecipe, userId: string): Promise<void> {
  for (const sql of CREATE_TABLES) await run(sql, []);
  const { rows } = await run(`SELECT count(*) FROM ${RECIPES}`, []);
  if (Number(rows[0]![0]) >= RECIPES_MAX) {
    throw new DbError("conflict", `There are already ${RECIPES_MAX} versions of recipes, which is the limit.`, {
      hint: "Delete some with DELETE /v1/recipes/{id}.",
    });
  }
  const { id, version, name, description, category, tags, digest, signedBy, sourceUrl, certificate, createdAt } = entry;
  await run(
    `INSERT INTO ${RECIPES} (${ENTRY}, created_by, document)
     VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10::jsonb, $11::timestamptz, $12, $13::jsonb)
     ON CONFLICT (id, version) DO UPDATE SET certificate = excluded.certificate, signed_by = excluded.signed_by,
       source_url = excluded.source_url`,
    [
      id,
      version,
      name,
      description,
      category,
      JSON.stringify(tags),
      digest,
      signedBy,
      sourceUrl,
      JSON.stringify(certificate),
      createdAt,
      userId,
      JSON.stringify(document),
    ],
  );
}

/** One version, or all; what they have set up stays, and so does the history. Throws not_found. */
export async function deleteRecipe(run: Run, id: string, version: string | undefined): Promise<void> {
  const { affected } =
    version === undefined
      ? await run(`DELETE FROM ${RECIPES} WHERE id = $1::text`, [id])
      : await run(`DELETE FROM ${RECIPES} WHERE id = $1::text AND version = $2::text`, [id, version]);
  if (affected === 0) throw noRecipe(id, version);
}

/** Whether that version has made its definitions here. */
export async function isSetUp(request: Request, id: string, version: string): Promise<boolean> {
  if (!hasTables(request)) return false;
  const rows = await rowsOf(request, {
    sql: `SELECT 1 FROM ${SETUPS} WHERE recipe_id = $1::text AND version = $2::text`,
    params: [id, version],
  });
  return rows.length > 0;
}

export async function keepSetup(run: Run, id: string, version: string, at: string): Promise<void> {
  await run(
    `INSERT INTO ${SETUPS} VALUES ($1, $2, $3::timestamptz)
     ON CONFLICT (recipe_id, version) DO UPDATE SET executed_at = excluded.executed_at`,
    [id, version, at],
  );
}

/** Replaces its record. */
export async function keepExecution(run: Run, execution: Execution): Promise<void> {
  const { execution_id: id, recipe_id: recipe, version, status, user_id: user, started_at: at } = execution;
  const { parameters, steps, error, statements_executed: executed, execution_time_ms: ms } = execution;
  await run(
    `INSERT INTO ${EXECUTIONS} (${EXECUTION})
     VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8::jsonb, $9::int8, $10::float8, $11::timestamptz)
     ON CONFLICT (id) DO UPDATE SET status = excluded.status, steps = excluded.steps, error = excluded.error,
       statements_executed = excluded.statements_executed, execution_time_ms = excluded.execution_time_ms`,
    [
      id,
      recipe,
      version,
      status,
      user,
      JSON.stringify(parameters),
      JSON.stringify(steps),
      error === null ? null : JSON.stringify(error),
      executed,
      ms,
      at,
    ],
  );
}

/** Forgets the oldest executions of a recipe beyond those that are kept, in a transaction of its own. */
export async function trimExecutions(request: Request, recipe: string): Promise<void> {
  await ownTogether(
    request,
    request,
    (run) =>
      run(
        `DELETE FROM ${EXECUTIONS} WHERE recipe_id = $1::text AND id <= (
           SELECT id FROM ${EXECUTIONS} WHERE recipe_id = $1::text ORDER BY id DESC LIMIT 1 OFFSET $2::int8)`,
        [recipe, RECIPE_EXECUTIONS_KEPT],
      ),
    (tx) => request.commitPart(tx),
  );
}

/** Which executions somebody may look at: parameters, errors and numbers of rows tell what a user could see. */
const SHOWN = "($1::text IS NULL OR user_id = $1::text)";
const viewerOf = (request: Request) => (isAdministrator(request) ? null : request.head.userId);

/** Newest first: the user's own, to administrators everybody's. */
export async function listExecutions(
  request: Request,
  recipe: string,
  limit: number,
  offset: number,
): Promise<{ readonly executions: readonly Execution[]; readonly total: number }> {
  if (!hasTables(request)) return { executions: [], total: 0 };
  const where = `${SHOWN} AND recipe_id = $2::text`;
  const viewer = viewerOf(request);
  const rows = await ownRowsOf(request, {
    sql: `SELECT ${EXECUTION} FROM ${EXECUTIONS} WHERE ${where} ORDER BY id DESC LIMIT $3::int8 OFFSET $4::int8`,
    params: [viewer, recipe, limit, offset],
  });
  const [counted] = await ownRowsOf(request, {
    sql: `SELECT count(*) FROM ${EXECUTIONS} WHERE ${where}`,
    params: [viewer, recipe],
  });
  return { executions: rows.map((row) => executionOf(request, row)), total: Number(counted![0]) };
}

/** Throws not_found, also for another user's. */
export async function findExecution(request: Request, recipe: string, id: string): Promise<Execution> {
  const [row] = hasTables(request)
    ? await ownRowsOf(request, {
        sql: `SELECT ${EXECUTION} FROM ${EXECUTIONS} WHERE ${SHOWN} AND recipe_id = $2::text AND id = $3::text`,
        params: [viewerOf(request), recipe, id],
      })
    : [];
  if (row !== undefined) return executionOf(request, row);
  throw new DbError("not_found", `The execution "${id.slice(0, 100)}" of the recipe does not exist.`, {
    field: "execution_id",
    hint: "GET /v1/recipes/{id}/executions lists yours.",
  });
}

function entryOf(row: Row): RecipeEntry {
  const [id, version, name, description, category, tags, digest, signedBy, sourceUrl, certificate, createdAt] = row as [
    string,
    string,
    string,
    string,
    string,
    readonly string[],
    string,
    string | null,
    string | null,
    Certificate,
    string,
  ];
  return {
    id,
    version,
    name,
    description,
    category,
    tags,
    digest,
    builtIn: false,
    signedBy,
    sourceUrl,
    certificate,
    createdAt: timeOf(createdAt),
  };
}

/**
 * Of each partition: executions that are under way in it. What is recorded as running and is not among them has ended.
 */
const underWay = new WeakMap<Partition, Set<string>>();

export function executionsUnderWay({ partition }: Request): Set<string> {
  const some = underWay.get(partition) ?? new Set<string>();
  underWay.set(partition, some);
  return some;
}

const INTERRUPTED = {
  code: "interrupted",
  message:
    "The execution ended without a result: the server stopped, the client disconnected, or it timed out. All its changes were rolled back.",
};

function executionOf(request: Request, row: Row): Execution {
  const [id, recipe, version, status, user, parameters, steps, error, executed, ms, at] = row;
  const isInterrupted = status === "running" && !executionsUnderWay(request).has(id as string);
  return {
    execution_id: id as string,
    recipe_id: recipe as string,
    version: version as string,
    status: isInterrupted ? "interrupted" : (status as Execution["status"]),
    user_id: user as string,
    parameters,
    steps,
    error: isInterrupted ? INTERRUPTED : error,
    statements_executed: Number(executed),
    execution_time_ms: ms as number,
    started_at: timeOf(at),
  };
}
