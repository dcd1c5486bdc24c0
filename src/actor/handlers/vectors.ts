/** /v1/vectors/collections/{name}/vectors: storing, reading and removing vectors. */
import type { EndpointName } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { writeTogether } from "../document-session.js";
import { findVectorCollection } from "../find-vector-collection.js";
import type { Answer } from "../reply.js";
import type { Request } from "../request.js";
import { runAlone } from "../run-alone.js";
import type { Input } from "../validate.js";
import type { VectorCollection } from "../vector-collection.js";
import { type VectorItem, vectorItem } from "../vector-input.js";
import type { Handler } from "./handler.js";

export const vectorHandlers = {
  "vectors.upsert": (request, { params, body }) => {
    const collection = findVectorCollection(request, params.name!);
    if (body.vectors === undefined) return storeOne(request, collection, vectorItem(body, "", collection));
    for (const name of ["id", "vector", "values", "metadata"]) {
      if (body[name] === undefined) continue;
      throw new DbError("invalid_request", `Send "vectors" or "${name}", not both.`, { field: name });
    }
    return storeMany(request, collection, body.vectors);
  },
  "vectors.batch": (request, { params, body }) =>
    storeMany(request, findVectorCollection(request, params.name!), body.vectors),
  "vectors.get": getVector,
  "vectors.delete": (request, { params }) => {
    const { sqlName } = findVectorCollection(request, params.name!);
    return runAlone(request, { sql: `DELETE FROM ${sqlName} WHERE id = $1`, params: [params.id] }, (outcome) => {
      if (outcome.rowsAffected === 0) throw missing(params.id!);
      return {};
    });
  },
  "vectors.deleteMany": (request, { params, body }) => {
    const { sqlName } = findVectorCollection(request, params.name!);
    const sql = `DELETE FROM ${sqlName} WHERE id = ANY ($1::text[])`;
    if (body.ids.length > ITEMS_AT_ONCE) return deleteInTurns(request, sql, body.ids);
    return runAlone(request, { sql, params: [body.ids] }, ({ rowsAffected }) => ({ plain: { deleted: rowsAffected } }));
  },
} satisfies Partial<Record<EndpointName, Handler>>;

const ON_CONFLICT = "ON CONFLICT (id) DO UPDATE SET vector = excluded.vector, metadata = excluded.metadata";

function storeOne(
  request: Request,
  { sqlName }: VectorCollection,
  { id, vector, metadata }: VectorItem,
): Answer | Promise<Answer> {
  const sql = `INSERT INTO ${sqlName} (id, vector, metadata) VALUES ($1, $2, $3) ${ON_CONFLICT}`;
  const answer = { plain: { id, ids: [id], inserted: 1 } };
  return runAlone(request, { sql, params: [id, vector, metadata] }, () => answer);
}

/** Of more, each statement takes so many. */
const ITEMS_AT_ONCE = 2000;

function deleteInTurns(request: Request, sql: string, ids: readonly string[]): Promise<Answer> {
  return writeTogether(request, async (run) => {
    let deleted = 0;
    for (let from = 0; from < ids.length; from += ITEMS_AT_ONCE) {
      deleted += (await run({ sql, params: [ids.slice(from, from + ITEMS_AT_ONCE)] })).affected;
    }
    return { plain: { deleted } };
  });
}

/** Of items with one id the last counts. */
function storeMany(
  request: Request,
  collection: VectorCollection,
  given: readonly unknown[],
): Answer | Promise<Answer> {
  const source = "unnest($1::text[], $2::vector[], $3::jsonb[]) AS item (id, vector, metadata)";
  const sql = `INSERT INTO ${collection.sqlName} (id, vector, metadata) SELECT id, vector, metadata FROM ${source} WHERE true ${ON_CONFLICT}`;
  const items = new Map<string, VectorItem>();
  const add = (i: number): void => {
    const item = vectorItem(given[i], `vectors[${i}]`, collection);
    items.set(item.id, item);
  };
  if (given.length > ITEMS_AT_ONCE) return storeInTurns(request, sql, given.length, add, items);
  for (let i = 0; i < given.length; i++) add(i);
  const answer = { plain: { ids: [...items.keys()], inserted: items.size } };
  return runAlone(request, { sql, params: columnsOf([...items.values()]) }, () => answer);
}

async function storeInTurns(
  request: Request,
  sql: string,
  count: number,
  add: (i: number) => void,
  items: ReadonlyMap<string, VectorItem>,
): Promise<Answer> {
  for (let i = 0; i < count; i++) {
    add(i);
    if (i % 256 === 0 && request.shouldYield()) await request.yieldTurn();
  }
  const all = [...items.values()];
  return writeTogether(request, async (run) => {
    for (let from = 0; from < all.length; from += ITEMS_AT_ONCE) {
      await run({ sql, params: columnsOf(all.slice(from, from + ITEMS_AT_ONCE)) });
    }
    return { plain: { ids: [...items.keys()], inserted: items.size } };
  });
}

/** A list per column. */
function columnsOf(items: readonly VectorItem[]): [string[], Float32Array[], (object | null)[]] {
  return [items.map(({ id }) => id), items.map(({ vector }) => vector), items.map(({ metadata }) => metadata)];
}

function getVector(request: Request, { params }: Input): Answer | Promise<Answer> {
  const { sqlName } = findVectorCollection(request, params.name!);
  const sql = `SELECT id, vector, metadata FROM ${sqlName} WHERE id = $1`;
  return runAlone(request, { sql, params: [params.id] }, ({ rows }) => {
    const [row] = rows.plain!;
    if (row === undefined) throw missing(params.id!);
    const [id, vector, metadata] = row;
    return { plain: { id, vector, metadata } };
  });
}

function missing(id: string): DbError {
  return new DbError("not_found", `The vector "${id}" does not exist.`, { id });
}
