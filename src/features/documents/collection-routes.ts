/** /v1/collections: document collections as a whole. Their documents are in documents.ts. */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { numberedPageOf } from "../../bodies/paging.js";
import type { Input, InputOf } from "../../bodies/validate.js";
import type { CatalogView } from "../../catalog/catalog-view.js";
import { permissionDenied } from "../../catalog/rights.js";
import { collectionOf, describeCollection } from "../../document/collection.js";
import { readSchema } from "../../document/schema-request.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { sqlError } from "../../protocol/errors.js";
import type { Answer } from "../../session/answer.js";
import { runAlone } from "../statements/run-alone.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { changeCollectionIn } from "./change-collection.js";
import { collectionFacts } from "./collection-facts.js";
import { checkNewName, createCollectionIn } from "./create-collection.js";
import { findCollection, writeTogether } from "./document-session.js";

export const collectionHandlers = {
  "collections.create": createCollection,
  "collections.list": listCollections,
  "collections.get": async (request, { params }) => ({
    plain: await collectionFacts(request, params.name),
  }),
  "collections.replace": (request, input) => changeSchema(request, input, true),
  "collections.update": (request, input) => changeSchema(request, input, false),
  "collections.delete": (request, { params }) => {
    const { sqlName } = findCollection(request, params.name!);
    return runAlone(request, { sql: `DROP TABLE ${sqlName}`, params: [] }, () => ({}));
  },
} satisfies Handlers;

type Described = ResponseOf<"collections.get">;

function createCollection(request: Request, { body }: InputOf<"collections.create">): Promise<Answer<Described>> {
  const { name } = body as { name: string };
  checkNewName(request, name);
  const schema = readSchema(body.schema);
  return writeTogether(request, async (run, session) => {
    const { tx } = session.contextFor(request);
    const record = describeCollection(await createCollectionIn(request, tx, run, name, schema));
    return { plain: { ...record, collection: record } };
  });
}

async function changeSchema(request: Request, { params, body }: Input, replaces: boolean): Promise<Answer<Described>> {
  const { schema, drop_fields: dropFields = [], drop_indexes: dropIndexes = [] } = body;
  const wanted = { schema: readSchema(schema), dropFields, dropIndexes, replaces };
  const name = params.name!;
  findCollection(request, name);
  return writeTogether(request, async (run, session) => {
    const { tx } = session.contextFor(request);
    requireWhole(request, request.tenant.catalog.view(tx), name);
    const record = describeCollection(await changeCollectionIn(request, tx, run, name, wanted));
    return { plain: { ...record, collection: record } };
  });
}

/** Throws 42501 unless the caller owns the collection, and sees all of its documents: a change checks each. */
function requireWhole({ head }: Request, catalog: CatalogView, name: string): void {
  const rights = rightsOfCaller(head)(catalog);
  const table = catalog.table(null, name);
  if (table === null || !rights.matter) return;
  if (!rights.mayAlter(table.id)) throw sqlError("42501", `must be owner of table ${name}`);
  if (!rights.mayAll(table.id)) throw permissionDenied("table", name);
}

async function listCollections(
  request: Request,
  { query }: InputOf<"collections.list">,
): Promise<Answer<ResponseOf<"collections.list">>> {
  const { limit, offset, page } = numberedPageOf(query);
  const tables = withDefinitions(request, (catalog) => {
    const rights = rightsOfCaller(request.head)(catalog);
    return catalog.tables().filter((table) => rights.mayName(table));
  });
  const all = tables.flatMap((table) => collectionOf(table) ?? []);
  const items = all.slice(offset, offset + limit).map(describeCollection);
  return { plain: { items, total: all.length, page, page_size: limit } };
}
