/** /v1/collections: document collections as a whole. Their documents are in documents.ts. */
import type { TableDef } from "../../catalog/table.js";
import { type Collection, collectionOf, describeCollection } from "../../document/collection.js";
import { documentOfRow, rowOfDocument, updateStatement } from "../../document/document-rows.js";
import { planChange, type SchemaChange } from "../../document/schema-change.js";
import { definitionOf } from "../../document/schema-ddl.js";
import { readSchema } from "../../document/schema-request.js";
import type { EndpointName } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { Transaction } from "../../storage/store.js";
import { checkNewName, createCollectionIn, embeddingDimensions } from "../create-collection.js";
import { findCollection, type RunStatement, writeTogether } from "../document-session.js";
import type { Answer } from "../reply.js";
import type { Request } from "../request.js";
import { rowsOf, runAlone } from "../run-alone.js";
import { type IndexLife, indexLife } from "../search-index-care.js";
import type { Input } from "../validate.js";
import { withDefinitions } from "../with-definitions.js";
import type { Handler } from "./handler.js";
import { readPage } from "./paging.js";

export const collectionHandlers = {
  "collections.create": createCollection,
  "collections.list": listCollections,
  "collections.get": async (request, { params }) => ({
    plain: await described(request, findCollection(request, params.name!)),
  }),
  "collections.replace": (request, input) => changeSchema(request, input, true),
  "collections.update": (request, input) => changeSchema(request, input, false),
  "collections.delete": (request, { params }) => {
    const { sqlName } = findCollection(request, params.name!);
    return runAlone(request, { sql: `DROP TABLE ${sqlName}`, params: [] }, () => ({}));
  },
} satisfies Partial<Record<EndpointName, Handler>>;

function createCollection(request: Request, { body }: Input): Promise<Answer> {
  const { name } = body as { name: string };
  checkNewName(request, name);
  const schema = readSchema(body.schema);
  return writeTogether(request, async (run, session) => {
    const { tx } = session.contextFor(request);
    const record = describeCollection(await createCollectionIn(request, tx, run, name, schema));
    return { plain: { ...record, collection: record } };
  });
}

async function changeSchema(request: Request, { params, body }: Input, replaces: boolean): Promise<Answer> {
  const { schema, drop_fields: dropFields = [], drop_indexes: dropIndexes = [] } = body;
  const wanted = { schema: readSchema(schema), dropFields, dropIndexes, replaces };
  const dimensions = embeddingDimensions(request);
  const name = params.name!;
  findCollection(request, name);
  return writeTogether(request, async (run, session) => {
    const { tx } = session.contextFor(request);
    const collection = collectionOf(tableNamed(request, tx, name))!;
    const change = planChange(collection, wanted, dimensions);
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
    const record = describeCollection(collectionOf(next)!);
    return { plain: { ...record, collection: record } };
  });
}

function tableNamed({ tenant }: Request, tx: Transaction, name: string): TableDef {
  return tenant.catalog.view(tx).table(null, name)!;
}

function misfit(id: string, fault: string, details: object = {}): DbError {
  return new DbError("constraint_violation", `The document "${id}" does not fit: ${fault}`, {
    document: id,
    ...details,
  });
}

/** Documents that are read at once. */
const MOVED_AT_ONCE = 200;

/** Writes documents anew, under the fields that there will be. Throws constraint_violation for one that does not fit them. */
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

async function listCollections(request: Request, { query }: Input): Promise<Answer> {
  const { limit, offset, page } = readPage(query);
  const tables = withDefinitions(request, (catalog) => catalog.tables());
  const all = tables.flatMap((table) => collectionOf(table) ?? []);
  const items = all.slice(offset, offset + limit).map(describeCollection);
  return { plain: { items, total: all.length, page, page_size: limit } };
}

async function described(request: Request, collection: Collection): Promise<object> {
  const [row] = await rowsOf(request, { sql: `SELECT count(*) FROM ${collection.sqlName}`, params: [] });
  const { partition, number } = request.tenant;
  // Search indexes are made in the background; what they find is the same at any time.
  const indexes = collection.indexes.flatMap(({ name, type, search }) => {
    if (search === null) return [];
    const { state, items, waiting } = indexLife(partition.derived, number, search);
    return [{ name, type, state, progress: progressOf(state, items, waiting), items, items_waiting: waiting }];
  });
  const record = { ...describeCollection(collection), document_count: Number(row![0]), indexes };
  return { ...record, collection: record };
}

/** 0 to 1: of the vectors those that are linked into the graph. */
function progressOf(state: IndexLife["state"], items: number, waiting: number): number {
  if (state === "ready") return 1;
  return state === "linking" ? Math.floor((100 * (items - waiting)) / Math.max(1, items)) / 100 : 0;
}
