/** /v1/vectors/collections/{name}/vectors: storing, reading and removing vectors. */
import type { EndpointName } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
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

/** Of items with one id the last counts. */
function storeMany(
  request: Request,
  collection: VectorCollection,
  given: readonly unknown[],
): Answer | Promise<Answer> {
  const items = new Map<string, VectorItem>();
  for (let i = 0; i < given.length; i++) {
    const item = vectorItem(given[i], `vectors[${i}]`, collection);
    items.set(item.id, item);
  }
  const ids = [...items.keys()];
  const vectors: Float32Array[] = [];
  const metadata: (object | null)[] = [];
  for (const item of items.values()) {
    vectors.push(item.vector);
    metadata.push(item.metadata);
  }
  const source = "unnest($1::text[], $2::vector[], $3::jsonb[]) AS item (id, vector, metadata)";
  const sql = `INSERT INTO ${collection.sqlName} (id, vector, metadata) SELECT id, vector, metadata FROM ${source} WHERE true ${ON_CONFLICT}`;
  return runAlone(request, { sql, params: [ids, vectors, metadata] }, () => ({
    plain: { ids, inserted: ids.length },
  }));
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
