/**
 * What the tenant has, for completion, the palette and the lists beside pages. Loaded once, and again after definitions
 * changed.
 */
import type { Client } from "../../../clients/typescript/src/index.js";
import { client } from "./session.js";
import { createStore } from "./store.js";

export interface CatalogColumn {
  readonly name: string;
  readonly type: string;
}

export interface CatalogObject {
  readonly schema: string;
  readonly name: string;
  readonly kind: "table" | "view";
  readonly columns: readonly CatalogColumn[];
}

export interface GraphCatalog {
  readonly labels: readonly string[];
  readonly relationships: readonly string[];
  readonly properties: readonly string[];
}

export interface Catalog {
  readonly objects: readonly CatalogObject[] | null;
  readonly functions: readonly string[];
  readonly graph: GraphCatalog;
}

const NO_GRAPH: GraphCatalog = { labels: [], relationships: [], properties: [] };

export const catalog = createStore<Catalog>({ objects: null, functions: [], graph: NO_GRAPH });

/** Whose catalog it is, or will be. */
let loadedFor: Client | null = null;

const COLUMNS = `SELECT c.relname, n.nspname, c.relkind, a.attname, format_type(a.atttypid, a.atttypmod)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'v', 'm', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
ORDER BY n.nspname, c.relname, a.attnum`;
const FUNCTIONS = "SELECT DISTINCT proname::text AS name FROM pg_proc WHERE proname !~ '^_' ORDER BY 1";
const ROWS_MAX = 100_000;

type ColumnRow = readonly [name: string, schema: string, kind: string, column: string, type: string];

export async function loadCatalog(): Promise<void> {
  const db = client();
  if (db !== loadedFor) catalog.set({ objects: null, functions: [], graph: NO_GRAPH });
  loadedFor = db;
  const [columns, functions, labels, relationships, properties] = await Promise.all([
    db.query(COLUMNS, [], { maxRows: ROWS_MAX }),
    db.query(FUNCTIONS, [], { maxRows: ROWS_MAX }),
    names("CALL db.labels()"),
    names("CALL db.relationshipTypes()"),
    names("CALL db.propertyKeys()"),
  ]);
  // Another tenant's may have been asked for since.
  if (db !== loadedFor) return;
  catalog.set({
    objects: objectsOf(columns.lists as readonly ColumnRow[]),
    functions: functions.lists.map(([name]) => String(name)),
    graph: { labels, relationships, properties },
  });
}

async function names(call: string): Promise<readonly string[]> {
  const { lists } = await client().query(call, {}, { language: "cypher", maxRows: ROWS_MAX });
  return lists.map(([name]) => String(name));
}

function objectsOf(rows: readonly ColumnRow[]): readonly CatalogObject[] {
  const objects = new Map<string, CatalogObject & { columns: CatalogColumn[] }>();
  for (const [name, schema, kind, column, type] of rows) {
    const key = JSON.stringify([schema, name]);
    let object = objects.get(key);
    if (object === undefined) {
      object = { schema, name, kind: kind === "v" || kind === "m" ? "view" : "table", columns: [] };
      objects.set(key, object);
    }
    object.columns.push({ name: column, type });
  }
  return [...objects.values()];
}

/** Not what the server keeps for itself, and no graph's nodes. */
export function isForUsers({ schema, name }: CatalogObject): boolean {
  return !schema.startsWith("graph:") && !name.startsWith("_");
}
