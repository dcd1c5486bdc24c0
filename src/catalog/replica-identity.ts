/**
 * REPLICA IDENTITY of tables: kept for dumps and for programs that read the catalog. Called by
 * alter-table.ts.
 */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { ActionOutcome } from "./ddl-outcome.js";
import { EXPRESSION_COLUMN, type GivenIdentity, type IndexDef, type TableDef } from "./table.js";

/** Throws 42704, 42809, 0A000. */
export function setReplicaIdentity(editor: CatalogEditor, table: TableDef, identity: GivenIdentity): ActionOutcome {
  const { replicaIdentity: _, ...rest } = table;
  const replicaIdentity = typeof identity === "object" ? { indexId: indexOf(editor, table, identity.index) } : identity;
  editor.replaceTable(Object.freeze(replicaIdentity === "default" ? rest : { ...rest, replicaIdentity }));
  return {};
}

function indexOf(editor: CatalogEditor, table: TableDef, name: string): number | null {
  if (name === table.primaryKeyName) return null;
  const index = table.indexes.find((other) => other.name === name);
  if (index === undefined) {
    const isSearch = table.searchIndexes?.some((other) => other.name === name) === true;
    if (isSearch) throw sqlError("42809", `cannot use non-unique index "${name}" as replica identity`);
    if (editor.view.hasRelation(table.schema, name)) {
      throw sqlError("42809", `"${name}" is not an index for table "${table.name}"`);
    }
    throw sqlError("42704", `index "${name}" for table "${table.name}" does not exist`);
  }
  const wrong = whyNot(index);
  const state = wrong === "non-unique" ? "42809" : "0A000";
  if (wrong !== null) throw sqlError(state, `cannot use ${wrong} index "${name}" as replica identity`);
  const nullable = table.columns.find(
    ({ id, notNull }) => !notNull && index.columns.some((key) => key.columnId === id),
  );
  if (nullable === undefined) return index.id;
  const why = `because column "${nullable.name}" is nullable`;
  throw sqlError("42809", `index "${name}" cannot be used as replica identity ${why}`);
}

function whyNot(index: IndexDef): string | null {
  if (index.deferrable !== undefined) return "non-immediate";
  if (!index.unique || index.exclusion) return "non-unique";
  if (index.columns.some(({ columnId }) => columnId === EXPRESSION_COLUMN)) return "expression";
  return index.where ? "partial" : null;
}

/** Throws 42P16 before a column of the index may be NULL. */
export function checkNoIdentity(table: TableDef, columnId: number, name: string): void {
  const identity = table.replicaIdentity;
  if (typeof identity !== "object") return;
  const index = table.indexes.find(({ id }) => id === identity.indexId);
  if (index?.columns.some((key) => key.columnId === columnId) !== true) return;
  throw sqlError("42P16", `column "${name}" is in index used as replica identity`);
}
