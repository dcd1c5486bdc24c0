/**
 * Namespaces of memories: names, and the table behind each, `_memory_<namespace>`. A table is made by the first stored
 * memory, in the transaction of that statement. The default of its column `model` is the embedding model, so a
 * namespace keeps its model whatever the configuration says later.
 *
 * A row is a memory as it held from `valid_from` (without one: from `created_at`) to `valid_until`; without that it is
 * current. `superseded_by` is the memory that came after it. Memories that followed each other have the same `chain`.
 */

import type { CatalogView } from "../../catalog/catalog-view.js";
import type { TableDef } from "../../catalog/table.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import type { ExecContext } from "../../query/exec/context.js";
import { need } from "../../query/expr/capability.js";
import type { DeferredContext } from "../../query/expr/expr.js";
import { EMBEDDING } from "../../query/expr/functions/models.js";

const PREFIX = "_memory_";
/** With the prefix as long as a name may be. */
const NAMESPACE = /^[a-z0-9_][a-z0-9_-]{0,54}$/;
const COLUMNS = ["id", "content", "metadata", "created_at", "model", "embedding"];
/** Namespaces of earlier versions lack them until their next write. */
const HISTORY_COLUMNS = {
  valid_from: "timestamptz",
  valid_until: "timestamptz",
  superseded_by: "text",
  chain: "text",
} as const;

/** A deferred function is computed in the context of its statement. */
export type MemoryContext = ExecContext & DeferredContext;

export interface MemoryTable {
  /** As SQL writes it. */
  readonly sqlName: string;
  readonly model: string;
  /** It has the columns of the history. */
  readonly hasHistory: boolean;
  /** SQL over a row: since when it holds. */
  readonly start: string;
  /** SQL over a row: valid_from, valid_until and superseded_by, under these names. */
  readonly history: string;
}

/** In lower case, as unquoted names of tables are. Throws 22023. */
export function namespaceOf(text: string): string {
  const name = text.toLowerCase();
  if (NAMESPACE.test(name)) return name;
  throw sqlError("22023", `invalid memory namespace "${text.slice(0, 80)}"`, {
    hint: "A namespace has 1 to 55 letters, digits, underscores and hyphens, and does not begin with a hyphen.",
  });
}

export function tableNameOf(namespace: string): string {
  return PREFIX + namespace;
}

/** The namespace whose table it is; null: the table is another one. */
export function namespaceOfTable({ schema, name }: TableDef): string | null {
  if (schema !== "public" || !name.startsWith(PREFIX)) return null;
  const namespace = name.slice(PREFIX.length);
  return NAMESPACE.test(namespace) ? namespace : null;
}

/**
 * The namespace's table; null: nothing was stored in it yet. Throws 42809 where a table of that name is no such table.
 */
export function findTable(catalog: CatalogView, namespace: string): MemoryTable | null {
  const name = tableNameOf(namespace);
  const table = catalog.table(null, name);
  if (table === null) return null;
  const columns = new Map(table.columns.map((column) => [column.name, column]));
  const model = /^'((?:[^']|'')*)'/.exec(columns.get("model")?.defaultSql ?? "")?.[1];
  if (model === undefined || !COLUMNS.every((column) => columns.has(column))) {
    throw sqlError("42809", `the table "${name}" is not a memory namespace`, {
      hint: `A namespace's table has the columns ${COLUMNS.join(", ")}. Rename the columns of yours, or use another namespace.`,
    });
  }
  const hasHistory = historyOf(table);
  return memoryTable(`public."${name}"`, model.replaceAll("''", "'"), hasHistory);
}

/** Whether the table has the columns of the history. Throws 42809 where it has some of them, or has them otherwise. */
export function historyOf(table: TableDef): boolean {
  const columns = new Map(table.columns.map((column) => [column.name, column.type.name]));
  const own = Object.entries(HISTORY_COLUMNS).map(([name, type]) => columns.get(name) === type);
  if (own.every((isThere) => isThere)) return true;
  const taken = Object.keys(HISTORY_COLUMNS).find((name) => columns.has(name));
  if (taken === undefined) return false;
  throw sqlError(
    "42809",
    `the column "${taken}" of the table "${table.name}" stands in the way of its memories' history`,
    {
      hint: `A namespace's table has valid_from and valid_until (timestamptz), superseded_by and chain (text). Rename your column "${taken}".`,
    },
  );
}

function memoryTable(sqlName: string, model: string, hasHistory: boolean): MemoryTable {
  const start = hasHistory ? "coalesce(valid_from, created_at)" : "created_at";
  const history = hasHistory
    ? `${start} AS valid_from, valid_until, superseded_by`
    : "created_at AS valid_from, NULL::timestamptz AS valid_until, NULL::text AS superseded_by";
  return { sqlName, model, hasHistory, start, history };
}

/** The namespace's table with the columns of the history: made when there is none, altered when it lacks them. */
export async function requireTable(context: MemoryContext, namespace: string): Promise<MemoryTable> {
  const { services } = context;
  const found = findTable(services.catalogView(), namespace);
  if (found?.hasHistory === true) return found;
  if (found !== null) return withHistory(context, found);
  const name = tableNameOf(namespace);
  const { id: model, dimensions } = need(context, EMBEDDING).describe(null);
  const table = `public."${name}"`;
  const create = `CREATE TABLE ${table} (
    id text PRIMARY KEY,
    content text NOT NULL,
    metadata jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    model text NOT NULL DEFAULT '${model.replaceAll("'", "''")}',
    embedding vector(${dimensions}) NOT NULL,
    valid_from timestamptz,
    valid_until timestamptz,
    superseded_by text,
    chain text
  )`;
  await context.run(create, [], 0);
  await context.run(`CREATE INDEX ON ${table} USING hnsw (embedding vector_cosine_ops)`, [], 0);
  await context.run(`CREATE INDEX ON ${table} (chain)`, [], 0);
  return memoryTable(table, model, true);
}

/** The rows stay as they are: without valid_from a memory holds since it was made. */
async function withHistory(context: DeferredContext, { sqlName, model }: MemoryTable): Promise<MemoryTable> {
  const columns = Object.entries(HISTORY_COLUMNS).map(([name, type]) => `ADD COLUMN ${name} ${type}`);
  try {
    await context.run(`ALTER TABLE ${sqlName} ${columns.join(", ")}`, [], 0);
    await context.run(`CREATE INDEX ON ${sqlName} (chain)`, [], 0);
  } catch (error) {
    if (!(error instanceof DbError) || error.details?.sqlstate !== "42501") throw error;
    throw sqlError("42501", error.message, {
      hint: "The namespace is of an earlier version. Its next write by its owner or an administrator adds the columns of the history.",
    });
  }
  return memoryTable(sqlName, model, true);
}
