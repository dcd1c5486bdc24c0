/** /v1/collections: document collections as a whole. Their documents are in documents.ts. */
import { type Collection, collectionOf, describeCollection } from "../../document/collection.js";
import { createStatements, definitionOf, type SchemaPlan } from "../../document/schema-ddl.js";
import { readSchema, type SchemaRequest } from "../../document/schema-request.js";
import type { EndpointName } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { IDENTIFIER_BYTES_MAX } from "../../protocol/limits.js";
import { findCollection, readRows, withDefinitions, writeAlone, writeTogether } from "../document-session.js";
import type { Answer } from "../reply.js";
import type { Request } from "../request.js";
import type { Input } from "../validate.js";
import type { Handler } from "./handler.js";
import { readPage } from "./paging.js";

export const collectionHandlers = {
  "collections.create": createCollection,
  "collections.list": listCollections,
  "collections.get": async (request, { params }) => ({
    plain: await described(request, findCollection(request, params.name!)),
  }),
  "collections.delete": (request, { params }) => {
    const { sqlName } = findCollection(request, params.name!);
    return writeAlone(request, { sql: `DROP TABLE ${sqlName}`, params: [] }, () => ({}));
  },
} satisfies Partial<Record<EndpointName, Handler>>;

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

function createCollection(request: Request, { body }: Input): Promise<Answer> {
  const { name } = body as { name: string };
  if (!NAME.test(name) || Buffer.byteLength(name) > IDENTIFIER_BYTES_MAX) {
    const message = `The field "name" must be 1 to ${IDENTIFIER_BYTES_MAX} letters, digits and _ . -`;
    throw new DbError("invalid_request", message, { field: "name" });
  }
  const schema = readSchema(body.schema);
  const plan = createStatements(name, schema, embeddingDimensions(request, schema));
  if (withDefinitions(request, (catalog) => catalog.table(null, name)) !== null) throw taken(name);
  return writeTogether(request, async (run, session) => {
    for (const sql of plan.statements) await run({ sql, params: [] });
    const { tx } = session.contextFor(request);
    const table = defineCollection(request, tx, name, plan);
    const record = describeCollection(collectionOf(table)!);
    return { plain: { ...record, collection: record } };
  });
}

/** Of the vectors that embedded texts get; null: nothing is embedded. Throws what says that there is no model. */
function embeddingDimensions(request: Request, { fields }: SchemaRequest): number | null {
  return fields.some(({ embed }) => embed) ? request.partition.models.describe(null).dimensions : null;
}

function taken(name: string): DbError {
  return new DbError("conflict", `The collection "${name}" already exists.`, { sqlstate: "42P07", field: "name" });
}

/** Puts what statements cannot say into the table's definition. */
function defineCollection(
  { tenant }: Request,
  tx: Parameters<typeof tenant.catalog.view>[0],
  name: string,
  plan: SchemaPlan,
): Collection["table"] {
  return tenant.catalog.change(tx, (editor) => {
    const table = editor.view.table(null, name)!;
    const next = Object.freeze({ ...table, collection: definitionOf(table, plan) });
    editor.replaceTable(next);
    return next;
  });
}

async function listCollections(request: Request, { query }: Input): Promise<Answer> {
  const { limit, offset, page } = readPage(query);
  const tables = withDefinitions(request, (catalog) => catalog.tables());
  const all = tables.flatMap((table) => collectionOf(table) ?? []);
  const items = all.slice(offset, offset + limit).map(describeCollection);
  return { plain: { items, total: all.length, page, page_size: limit } };
}

async function described(request: Request, collection: Collection): Promise<object> {
  const [row] = await readRows(request, { sql: `SELECT count(*) FROM ${collection.sqlName}`, params: [] });
  const record = { ...describeCollection(collection), document_count: Number(row![0]) };
  return { ...record, collection: record };
}
