/**
 * Changes a document collection's schema in a transaction that is open. Called by whoever changes them: by request, or
 * for a folder.
 */

import type { Request } from "../../actor/request.js";
import type { TableDef } from "../../catalog/table.js";
import { type Collection, collectionOf } from "../../document/collection.js";
import { documentOfRow, rowOfDocument, updateStatement } from "../../document/document-rows.js";
import { planChange, type SchemaChange, type SchemaChangeRequest } from "../../document/schema-change.js";
import { definitionOf } from "../../document/schema-ddl.js";
import { DbError } from "../../protocol/errors.js";
import type { Transaction } from "../../storage/store.js";
import { embeddingDimensions } from "./create-collection.js";
import type { RunStatement } from "./document-session.js";

/**
 * The collection as it is afterwards; `run` works in the transaction `tx`. Throws invalid_request for what cannot be
 * changed so, constraint_violation for a document that does not fit.
 */
export async function changeCollectionIn(
  request: Request,
  tx: Transaction,
  run: RunStatement,
  name: string,
  wanted: SchemaChangeRequest,
): Promise<Collection> {
  const collection = collectionOf(tableNamed(request, tx, name))!;
  const change = planChange(collection, wanted, embeddingDimensions(request));
  for (const sql of change.before) await run({ sql, params: [] });
  if (change.moved !== null) await moveDocuments(request, run, collection, change, tx);
  for (const [field, column] of change.required) {
    const sql = `SELECT id FROM ${collection.sqlName} WHERE ${column} IS NULL LIMIT 1`;
    const [row] = (await run({ sql, params: [] })).rows;
    if (row !== undefined) throw misfit(row[0] as string, `${field}: is required`);
  }
  for (const sql of change.after) await run({ sql, params: [] });
  const table = tableNamed(request, tx, name);
  const next = Object.freeze({ ...table, collection: definitionOf(table, change) });
  request.tenant.catalog.change(tx, (editor) => editor.replaceTable(next));
  return collectionOf(next)!;
}

function tableNamed({ tenant }: Request, tx: Transaction, name: string): TableDef {
  return tenant.catalog.view(tx).table(null, name)!;
}

function misfit(id: string, fault: string, details: object = {}): DbError {
  return new DbError("constraint_violation", `The document "${id}" does not match the schema: ${fault}`, {
    document: id,
    ...details,
  });
}

/** Documents that are read at once. */
const MOVED_AT_ONCE = 200;

/** Rewrites documents under the new fields. Throws constraint_violation for one that does not fit them. */
async function moveDocuments(
  request: Request,
  run: RunStatement,
  collection: Collection,
  change: SchemaChange,
  tx: Transaction,
): Promise<void> {
  const table = tableNamed(request, tx, collection.name);
  // What is read is laid out by the old fields, what is written by the new ones.
  const next = collectionOf({ ...table, collection: definitionOf(table, { fields: change.fields, indexes: [] }) })!;
  const { selectList, sqlName } = collection;
  const sql = `SELECT ${selectList} FROM ${sqlName} WHERE id > $1::text AND (${change.moved}) ORDER BY id LIMIT ${MOVED_AT_ONCE}`;
  for (let last = ""; ; ) {
    const { rows } = await run({ sql, params: [last] });
    const moved = rows.map((row) => {
      try {
        return rowOfDocument(next, documentOfRow(collection, row));
      } catch (error) {
        if (!(error instanceof DbError)) throw error;
        throw misfit(row[0] as string, error.message, error.details);
      }
    });
    for (const row of moved) {
      await run(updateStatement(next, row));
      if (request.shouldYield()) await request.yieldTurn();
    }
    if (rows.length < MOVED_AT_ONCE) return;
    last = rows.at(-1)![0] as string;
  }
}
