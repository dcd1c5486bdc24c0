/**
 * Applies REINDEX: an index gets a new id, under which its entries are made from the rows, and the old entries go. Both
 * are part of the statement's transaction, so readers have one or the other. Called by ddl.ts.
 */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { ReindexCommand } from "./ddl-command.js";
import { type DdlOutcome, existingTable, NOTHING, type Verification } from "./ddl-outcome.js";
import type { IndexDef, TableDef } from "./table.js";

type Work = { readonly table: TableDef; readonly index: IndexDef };

export function reindex(editor: CatalogEditor, { tables, database }: ReindexCommand): DdlOutcome {
  const backfills: Work[] = [];
  const clearedIndexes: Work[] = [];
  for (const target of tables) {
    const table = existingTable(editor, target);
    const ids = new Map<number, number>();
    for (const { id, name } of [...table.indexes, ...(table.searchIndexes ?? [])]) {
      if (target.index === null || target.index === name) ids.set(id, editor.nextId());
    }
    const next = renumbered(table, ids);
    editor.replaceTable(next);
    table.indexes.forEach((index, i) => {
      if (!ids.has(index.id)) return;
      backfills.push({ table: next, index: next.indexes[i]! });
      clearedIndexes.push({ table, index });
    });
  }
  return { ...NOTHING, tag: "REINDEX", backfills, clearedIndexes, verify: database === null ? [] : [isOpen(database)] };
}

function isOpen(database: string): Verification {
  const error = () => sqlError("0A000", "can only reindex the currently open database");
  return { sql: `SELECT 1 WHERE current_database() <> '${database.replaceAll("'", "''")}'`, error };
}

/** The table with other ids of its indexes, wherever it names them. Indexes for search are made anew by themselves. */
function renumbered(table: TableDef, ids: ReadonlyMap<number, number>): TableDef {
  const { indexes, searchIndexes, referencedBy, collection, comments } = table;
  const now = <I extends number | null>(id: I) => (id === null ? id : ((ids.get(id) ?? id) as I));
  return Object.freeze({
    ...table,
    indexes: indexes.map((index) => Object.freeze({ ...index, id: now(index.id) })),
    ...(searchIndexes && {
      searchIndexes: searchIndexes.map((index) => Object.freeze({ ...index, id: now(index.id) })),
    }),
    ...(comments && {
      comments: Object.fromEntries(
        Object.entries(comments).map(([key, comment]) => [
          key.replace(/^index (\d+)$/, (_, id: string) => `index ${now(Number(id))}`),
          comment,
        ]),
      ),
    }),
    ...(referencedBy && { referencedBy: referencedBy.map((each) => ({ ...each, indexId: now(each.indexId) })) }),
    ...(collection?.kind === "document" && {
      collection: {
        ...collection,
        indexes: collection.indexes.map((each) => ({ ...each, indexId: now(each.indexId) })),
      },
    }),
  });
}
