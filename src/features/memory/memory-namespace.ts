/**
 * Namespaces of memories: names, and the table behind each, `_memory_<namespace>`. A table is made by the first stored
 * memory, in the transaction of that statement. The default of its column `model` is the embedding model, so a
 * namespace keeps its model whatever the configuration says later.
 */

import type { CatalogView } from "../../catalog/catalog-view.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { ExecContext } from "../../query/exec/context.js";
import { need } from "../../query/expr/capability.js";
import type { DeferredContext } from "../../query/expr/expr.js";
import { EMBEDDING } from "../../query/expr/functions/models.js";

const PREFIX = "_memory_";
/** With the prefix as long as a name may be. */
const NAMESPACE = /^[a-z0-9_][a-z0-9_-]{0,54}$/;
const COLUMNS = ["id", "content", "metadata", "created_at", "model", "embedding"];

export interface MemoryTable {
  /** As SQL writes it. */
  readonly sqlName: string;
  readonly model: string;
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
  return { sqlName: `public."${name}"`, model: model.replaceAll("''", "'") };
}

/** The namespace's table, made when there is none. */
export async function requireTable(context: ExecContext & DeferredContext, namespace: string): Promise<MemoryTable> {
  const { services } = context;
  const found = findTable(services.catalogView(), namespace);
  if (found !== null) return found;
  const name = tableNameOf(namespace);
  const { id: model, dimensions } = need(context, EMBEDDING).describe(null);
  const table = `public."${name}"`;
  const create = `CREATE TABLE ${table} (
    id text PRIMARY KEY,
    content text NOT NULL,
    metadata jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    model text NOT NULL DEFAULT '${model.replaceAll("'", "''")}',
    embedding vector(${dimensions}) NOT NULL
  )`;
  await context.run(create, [], 0);
  await context.run(`CREATE INDEX ON ${table} USING hnsw (embedding vector_cosine_ops)`, [], 0);
  return { sqlName: table, model };
}
