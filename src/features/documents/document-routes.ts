/** /v1/collections/{name}/documents: documents by their ids, and lists of them. */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Handlers } from "../../actor/handler.js";
import { errorBody } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import { numberedPageOf } from "../../bodies/paging.js";
import type { Input, InputOf } from "../../bodies/validate.js";
import type { Collection } from "../../document/collection.js";
import {
  DocumentColumns,
  documentOfRow,
  insertStatement,
  rowOfDocument,
  updateStatement,
} from "../../document/document-rows.js";
import { isObject, type JsonObject, mergePatch } from "../../document/merge-patch.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { giveWay } from "../../protocol/turns.js";
import type { Answer } from "../../session/answer.js";
import type { Session } from "../../session/session.js";
import { rowsOf, runAlone } from "../statements/run-alone.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { findCollection, type RunStatement, writeTogether } from "./document-session.js";
import { cursorOf, readCursor } from "./list-cursor.js";

export const documentHandlers = {
  "documents.insert": insertDocument,
  "documents.bulk": (request, input) =>
    input.body.ordered === false ? insertEach(request, input) : insertAll(request, input),
  "documents.list": listDocuments,
  "documents.get": getDocument,
  "documents.replace": replaceDocument,
  "documents.patch": patchDocument,
  "documents.delete": (request, { params }) => {
    const { sqlName } = findCollection(request, params.name!);
    const statement = { sql: `DELETE FROM ${sqlName} WHERE id = $1::text`, params: [params.id!] };
    return runAlone(request, statement, ({ rowsAffected }) => {
      // Hidden, kept by a policy, or not there: which of them is not told.
      if (rowsAffected === 0) throw noDocument(params.id!);
      return {};
    });
  },
} satisfies Handlers;

type Document = ResponseOf<"documents.get">;

function noDocument(id: string): DbError {
  return new DbError("not_found", `The document "${id}" does not exist.`);
}

/** It can be seen, so it is there; a policy keeps it from being changed. */
function hiddenFromUpdate(id: string): DbError {
  return new DbError("forbidden", `permission denied for document "${id}": a policy does not let you change it`, {
    sqlstate: "42501",
  });
}

/** Neither a policy nor a missing right keeps the caller from changing a document. */
function seesAll(request: Request, { table }: Collection): boolean {
  return withDefinitions(request, (catalog) => rightsOfCaller(request.head)(catalog).mayAll(table.id));
}

type Inserted = Answer<ResponseOf<"documents.insert">>;

function insertDocument(request: Request, { params, body }: Input): Inserted | Promise<Inserted> {
  const collection = findCollection(request, params.name!);
  const row = rowOfDocument(collection, body);
  return runAlone(request, insertStatement(collection, row), () => ({ plain: { id: row.id } }));
}

type Stored = ResponseOf<"documents.bulk">;

async function insertAll(request: Request, { params, body }: InputOf<"documents.bulk">): Promise<Answer<Stored>> {
  const collection = findCollection(request, params.name!);
  const { documents } = body as { documents: readonly JsonObject[] };
  const statements: DocumentColumns[] = [];
  let columns = new DocumentColumns(collection);
  for (const [i, document] of documents.entries()) {
    columns.add(rowOfDocument(collection, document, undefined, `documents[${i}]`));
    if (i === documents.length - 1 || columns.isFull) {
      statements.push(columns);
      columns = new DocumentColumns(collection);
    }
    if (request.shouldYield()) await request.yieldTurn();
  }
  return writeTogether(request, async (run, session) => {
    const ids: string[] = [];
    for (const some of statements) {
      if (!(await insertTogether(run, session, some))) await insertSingly(request, run, collection, some, ids.length);
      for (const { id } of some.rows) ids.push(id);
    }
    return { plain: { ids, inserted: ids.length } };
  });
}

/** One of them cannot be stored: inserting each by itself tells which one. `before`: documents before these. */
async function insertSingly(
  request: Request,
  run: RunStatement,
  collection: Collection,
  { rows }: DocumentColumns,
  before: number,
): Promise<void> {
  for (const [i, row] of rows.entries()) {
    try {
      await run(insertStatement(collection, row));
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      const document = before + i;
      throw new DbError(error.code, `documents[${document}]: ${error.message}`, { ...error.details, document });
    }
    if (request.shouldYield()) await request.yieldTurn();
  }
}

/** By one statement; false when some document does not go in, and then none has. */
async function insertTogether(run: RunStatement, session: Session, columns: DocumentColumns): Promise<boolean> {
  session.savepoint(BEFORE_DOCUMENT);
  try {
    await run(columns.statement());
    session.release(BEFORE_DOCUMENT);
    return true;
  } catch (error) {
    if (!isOfDocument(error)) throw error;
    session.rollbackTo(BEFORE_DOCUMENT);
    session.release(BEFORE_DOCUMENT);
    return false;
  }
}

/** Name of the savepoint before what may fail without ending the bulk. */
const BEFORE_DOCUMENT = "document";

async function insertEach(request: Request, { params, body }: InputOf<"documents.bulk">): Promise<Answer<Stored>> {
  const collection = findCollection(request, params.name!);
  const { documents } = body as { documents: readonly JsonObject[] };
  return writeTogether(request, async (run, session) => {
    const results: object[] = [];
    const ids: (string | null)[] = [];
    for (const [i, document] of documents.entries()) {
      session.savepoint(BEFORE_DOCUMENT);
      try {
        const row = rowOfDocument(collection, document, undefined, `documents[${i}]`);
        await run(insertStatement(collection, row));
        ids.push(row.id);
        results.push({ index: i, type: "success", id: row.id });
      } catch (error) {
        if (!isOfDocument(error)) throw error;
        session.rollbackTo(BEFORE_DOCUMENT);
        ids.push(null);
        results.push({ index: i, type: "error", error: errorBody(error) });
      }
      session.release(BEFORE_DOCUMENT);
      if (request.shouldYield()) await request.yieldTurn();
    }
    const inserted = ids.filter((id) => id !== null).length;
    return { plain: { ids, inserted, failed: documents.length - inserted, results } };
  });
}

function isOfDocument(error: unknown): error is DbError {
  return error instanceof DbError && error.status < 500 && !ENDS_ALL.has(error.code);
}

/** Not of one document. */
const ENDS_ALL: ReadonlySet<string> = new Set(["cancelled", "request_timeout", "serialization_failure"]);

async function getDocument(request: Request, { params }: Input): Promise<Answer<Document>> {
  const collection = findCollection(request, params.name!);
  const sql = `SELECT ${collection.selectList} FROM ${collection.sqlName} WHERE id = $1::text`;
  const [row] = await rowsOf(request, { sql, params: [params.id!] });
  if (row === undefined) throw noDocument(params.id!);
  return { plain: documentOfRow(collection, row) };
}

/** `{data, merge}`; a body without `data` is the document itself. */
function replaceDocument(request: Request, { params, body }: Input): Promise<Answer<Document>> {
  const { data, merge } = body;
  const isWrapped =
    isObject(data) &&
    Object.keys(body).every((name) => name === "data" || name === "merge") &&
    !hasWrapperFields(request, params);
  return isWrapped
    ? changeDocument(request, params, data, merge === true)
    : changeDocument(request, params, body, false);
}

/**
 * A merge patch. `{data, merge}` means the same as for PUT if both are present, because `data` alone is a usual field.
 */
function patchDocument(request: Request, { params, body }: Input): Promise<Answer<Document>> {
  const { data, merge } = body;
  const isWrapped =
    isObject(data) &&
    typeof merge === "boolean" &&
    Object.keys(body).length === 2 &&
    !hasWrapperFields(request, params);
  return isWrapped ? changeDocument(request, params, data, merge) : changeDocument(request, params, body, true);
}

/** The collection's schema has a field `data` or `merge`: bodies with these names are documents. */
function hasWrapperFields(request: Request, params: Input["params"]): boolean {
  return findCollection(request, params.name!).fields.some(({ name }) => name === "data" || name === "merge");
}

function changeDocument(
  request: Request,
  params: Input["params"],
  change: JsonObject,
  merges: boolean,
): Promise<Answer<Document>> {
  const collection = findCollection(request, params.name!);
  const id = params.id!;
  return writeTogether(request, async (run) => {
    const sql = `SELECT ${collection.selectList} FROM ${collection.sqlName} WHERE id = $1::text`;
    const [stored] = (await run({ sql, params: [id] })).rows;
    if (stored === undefined) throw noDocument(id);
    // Each step takes milliseconds for a document of thousands of keys.
    await giveWay(request);
    const next = merges ? mergePatch(documentOfRow(collection, stored), change) : change;
    await giveWay(request);
    const row = rowOfDocument(collection, next as JsonObject, id);
    if (row.id !== id)
      throw new DbError("invalid_request", "id: the id of a document does not change", { field: "id" });
    await giveWay(request);
    const { affected } = await run(updateStatement(collection, row));
    // Where no policy hides anything a trigger or a rule has left it as it is.
    if (affected === 0 && !seesAll(request, collection)) throw hiddenFromUpdate(id);
    await giveWay(request);
    const [changed] = (await run({ sql, params: [id] })).rows;
    // Another one than the caller may see: a trigger has made it so.
    if (changed === undefined) throw noDocument(id);
    await giveWay(request);
    return { plain: documentOfRow(collection, changed) };
  });
}

async function listDocuments(
  request: Request,
  { params, query }: InputOf<"documents.list">,
): Promise<Answer<ResponseOf<"documents.list">>> {
  const collection = findCollection(request, params.name!);
  const { limit, offset, page } = numberedPageOf(query);
  const { selectList, sqlName } = collection;
  const cursor = query.cursor === undefined ? null : readCursor(query.cursor);
  const after = cursor?.afterId ?? null;
  const before = (cursor?.offset ?? 0) + offset;
  const where = after === null ? "" : " WHERE id > $3::text";
  const rows = await rowsOf(request, {
    sql: `SELECT ${selectList} FROM ${sqlName}${where} ORDER BY id LIMIT $1::int8 OFFSET $2::int8`,
    params: after === null ? [limit + 1, offset] : [limit + 1, offset, after],
  });
  const [counted] = await rowsOf(request, { sql: `SELECT count(*) FROM ${sqlName}`, params: [] });
  const items = rows.slice(0, limit).map((row) => documentOfRow(collection, row));
  const next =
    rows.length > limit ? cursorOf({ offset: before + items.length, afterId: items.at(-1)!.id as string }) : null;
  const total = Number(counted![0]);
  return { plain: { items, documents: items, total, page, page_size: limit, next_cursor: next } };
}
