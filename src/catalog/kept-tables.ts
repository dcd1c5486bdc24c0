/**
 * Tables that features keep for themselves. Their rows belong to the users who made them, and only the features know
 * which row is whose. So statements of clients may not name them, unless an administrator sends them; statements of the
 * features say that they are such (`StatementText.own`). Roles and grants do not change that.
 */
import { type CatalogView, DEFAULT_SCHEMA } from "./catalog-view.js";

/** Tables of large objects, which dumps and lists of tables have by other names (pg_largeobject). */
const OF_LARGE_OBJECTS = ["_large_objects", "_large_object_pages"];

const NAMES: ReadonlySet<string> = new Set([
  "_agent_runs",
  "_automl_checkpoints",
  "_automl_jobs",
  "_automl_model_bytes",
  "_automl_models",
  "_chat_messages",
  "_chat_sessions",
  "_evaluation_scores",
  "_evaluations",
  "_file_collections",
  "_file_documents",
  "_file_thumbnails",
  ...OF_LARGE_OBJECTS,
  "_recipe_executions",
  "_responses",
]);

/** Tables of features, and their sequences: whose request first needs one makes it. */
const OF_FEATURES = /^_(?:agents?|automl|chat|file|large_objects?|recipes?|responses)(?:_|$)/;

export function isOfFeature({ schema, name }: { readonly schema: string; readonly name: string }): boolean {
  return schema === DEFAULT_SCHEMA && OF_FEATURES.test(name);
}

export function isOfLargeObjects({ schema, name }: { readonly schema: string; readonly name: string }): boolean {
  return schema === DEFAULT_SCHEMA && OF_LARGE_OBJECTS.includes(name);
}

export function hasLargeObjects(catalog: Pick<CatalogView, "table">): boolean {
  return OF_LARGE_OBJECTS.some((name) => catalog.table(DEFAULT_SCHEMA, name) !== null);
}

/** Whether a table of that name would be such a table, or be taken for one. */
export function isKept({ schema, name }: { readonly schema: string; readonly name: string }): boolean {
  return schema === DEFAULT_SCHEMA && NAMES.has(name);
}

/** A namespace of memories: its maker's, where the tenant has roles. What is said of all tables does not open it. */
export function isOfMemories({ schema, name }: { readonly schema: string; readonly name: string }): boolean {
  return schema === DEFAULT_SCHEMA && name.startsWith("_memory_");
}

/** Whether it stays when everything in `public` goes: what users told a feature, and what it made of that. */
export function outlivesSchema(relation: { readonly schema: string; readonly name: string }): boolean {
  return isKept(relation) || isOfMemories(relation) || isOfFeature(relation);
}

const knownMemories = new WeakMap<Pick<CatalogView, "tables">, ReadonlySet<number>>();

/** Ids of all of them. */
export function tablesOfMemories(catalog: Pick<CatalogView, "tables">): ReadonlySet<number> {
  let memories = knownMemories.get(catalog);
  if (memories === undefined) {
    memories = new Set(catalog.tables().flatMap((table) => (isOfMemories(table) ? [table.id] : [])));
    knownMemories.set(catalog, memories);
  }
  return memories;
}

const NONE: ReadonlySet<number> = new Set();
/** Definitions are immutable, so what follows from them is kept with them. */
const known = new WeakMap<Tables, ReadonlySet<number>>();

type Tables = Pick<CatalogView, "table" | "view">;

/** Ids of those that the definitions have; views of such names, from before they were kept, among them. */
export function keptTables(catalog: Tables): ReadonlySet<number> {
  let kept = known.get(catalog);
  if (kept === undefined) {
    const ids = [...NAMES].flatMap((name) => {
      const found = catalog.table(DEFAULT_SCHEMA, name) ?? catalog.view(DEFAULT_SCHEMA, name);
      return found === null ? [] : [found.id];
    });
    kept = ids.length === 0 ? NONE : new Set(ids);
    known.set(catalog, kept);
  }
  return kept;
}
