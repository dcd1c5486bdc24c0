/**
 * /v1/vectors/collections: vector collections as a whole. vector-routes.ts has the routes of their vectors,
 * search-routes.ts those of search.
 */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { pageOf } from "../../bodies/paging.js";
import type { InputOf } from "../../bodies/validate.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { quoteIdentifier } from "../../query/expr/print.js";
import type { Answer } from "../../session/answer.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import { plainRows } from "../../session/sql-result.js";
import { DEFAULT_METRIC, type VectorMetric } from "../../values/vector-metric.js";
import { EF_LEAST } from "../../vector/calibration.js";
import { type Ask, readTogether, rowsOf, runAlone } from "../statements/run-alone.js";
import { readsAll, withDefinitions } from "../statements/with-definitions.js";
import { findVectorCollection } from "./find-vector-collection.js";
import { metricIn, type VectorCollection, vectorCollectionOf } from "./vector-collection.js";

/** Unless the request says otherwise. */
const M = 16;
const EF_CONSTRUCTION = 100;
const COLLECTIONS_PER_PAGE = 1000;

export const vectorCollectionHandlers = {
  "vectors.collections.create": createCollection,
  "vectors.collections.list": listCollections,
  "vectors.collections.get": async (request, { params }) => ({
    plain: await described(request, findVectorCollection(request, params.name!)),
  }),
  "vectors.collections.delete": (request, { params }) => {
    const { sqlName } = findVectorCollection(request, params.name!);
    return runAlone(request, { sql: `DROP TABLE ${sqlName}`, params: [] }, () => ({}));
  },
  "vectors.collections.count": async (request, { params }) => ({
    plain: { count: await countOf(findVectorCollection(request, params.name!), (text) => rowsOf(request, text)) },
  }),
} satisfies Handlers;

type Described = ResponseOf<"vectors.collections.get">;

interface NewCollection {
  readonly name: string;
  readonly dimensions: number;
  readonly metric?: string;
  readonly distance_metric?: string;
  readonly m?: number;
  readonly ef_construction?: number;
  readonly ef?: number;
  readonly ef_search?: number;
  readonly quantization?: string;
  readonly index_type?: string;
}

/** The table, its index and what makes it a collection are one transaction. */
async function createCollection(
  request: Request,
  { body }: InputOf<"vectors.collections.create">,
): Promise<Answer<Described>> {
  const wanted = body as NewCollection;
  const { name } = wanted;
  const metric = metricOf(wanted);
  const index = indexOptions(wanted);
  const { tenant } = request;
  if (withDefinitions(request, (catalog) => catalog.table(null, name)) !== null) {
    throw new DbError("conflict", `The collection "${name}" already exists.`, { sqlstate: "42P07", field: "name" });
  }
  const session = new Session(tenant, sessionOptions(request, "routes"));
  session.begin({});
  try {
    const table = quoteIdentifier(name);
    for (const sql of [
      `CREATE TABLE ${table} (id text PRIMARY KEY, vector vector(${wanted.dimensions}) NOT NULL, metadata jsonb)`,
      `CREATE INDEX ON ${table} USING hnsw (vector) WITH (metric = '${metric}', ${index})`,
    ]) {
      await session.execute({ sql, params: [], maxRows: 1, collector: plainRows, request }, () => undefined);
    }
    const { tx } = session.contextFor(request);
    tenant.catalog.change(tx, (editor) => {
      const collection = { kind: "vector", metric } as const;
      editor.replaceTable(Object.freeze({ ...editor.view.table(null, name)!, collection }));
    });
    const made = vectorCollectionOf(tenant.catalog.view(tx).table(null, name)!)!;
    const answer = { plain: description(made, 0, indexLife(request, made, 0, true)) };
    session.commit((done) => request.commit(done, answer));
    return answer;
  } finally {
    if (session.inTransaction) session.rollback();
  }
}

function metricOf({ metric, distance_metric: other }: NewCollection): VectorMetric {
  const named = metric === undefined ? null : metricIn("metric", metric);
  const alsoNamed = other === undefined ? null : metricIn("distance_metric", other);
  if (named !== null && alsoNamed !== null && named !== alsoNamed) {
    throw new DbError("invalid_request", 'The fields "metric" and "distance_metric" name different metrics.', {
      field: "distance_metric",
    });
  }
  return named ?? alsoNamed ?? DEFAULT_METRIC;
}

/** As WITH has them. */
function indexOptions({
  m = M,
  ef_construction: given,
  ef,
  ef_search: efSearch,
  quantization = "none",
  index_type: type,
}: NewCollection): string {
  if (type !== undefined && type.toLowerCase() !== "hnsw") {
    throw new DbError("invalid_request", `The index type "${type}" is not known. Known: hnsw.`, {
      field: "index_type",
    });
  }
  if (given !== undefined && given < 2 * m) {
    throw new DbError("invalid_request", `The field "ef_construction" must be at least 2 × m, which is ${2 * m}.`, {
      field: "ef_construction",
    });
  }
  if (ef !== undefined && efSearch !== undefined && ef !== efSearch) {
    throw new DbError("invalid_request", 'Send one of "ef" and "ef_search".', { field: "ef_search" });
  }
  const storage = quantization.toLowerCase();
  if (!["none", "int8", "binary"].includes(storage)) {
    throw new DbError(
      "invalid_request",
      `The quantization "${quantization}" is not known. Known: none, int8, binary.`,
      {
        field: "quantization",
      },
    );
  }
  const efConstruction = given ?? Math.max(EF_CONSTRUCTION, 2 * m);
  const searched = ef ?? efSearch;
  const search = searched === undefined ? "" : `, ef_search = ${searched}`;
  return `m = ${m}, ef_construction = ${efConstruction}${search}, storage = '${storage === "none" ? "f32" : storage}'`;
}

function listCollections(
  request: Request,
  { query }: InputOf<"vectors.collections.list">,
): Promise<Answer<Described[]>> {
  const { limit = COLLECTIONS_PER_PAGE, offset = 0 } = pageOf(query);
  return readTogether(request, async ({ catalog }, ask) => {
    const rights = rightsOfCaller(request.head)(catalog);
    const tables = catalog.tables().filter((table) => rights.mayName(table));
    const collections = tables.flatMap((table) => vectorCollectionOf(table) ?? []);
    const plain: Described[] = [];
    for (const collection of collections.slice(offset, offset + limit)) {
      const count = await countOf(collection, ask);
      const seesAll = rights.mayAll(collection.table.id, ["r"]);
      plain.push(description(collection, count, indexLife(request, collection, count, seesAll)));
    }
    return { plain };
  });
}

async function described(request: Request, collection: VectorCollection): Promise<Described> {
  const count = await countOf(collection, (text) => rowsOf(request, text));
  return description(collection, count, indexLife(request, collection, count, readsAll(request, collection.table.id)));
}

interface IndexLife {
  /** `absent`: a search will have it made. Until it is ready searches find the same, and take longer. */
  readonly state: "none" | "absent" | "building" | "ready";
  /** 0 to 1. */
  readonly progress: number;
}

/** `seesAll`: otherwise `count` is not that of the index, and how far it is would tell that. */
function indexLife({ tenant }: Request, { index }: VectorCollection, count: number, seesAll: boolean): IndexLife {
  if (index === null) return { state: "none", progress: 0 };
  const life = tenant.partition.derived.progress(tenant.number, index.id);
  if (life === null) return { state: "absent", progress: 0 };
  if (life.state === "ready" && !life.hasWork) return { state: "ready", progress: 1 };
  if (!seesAll) return { state: "building", progress: 0 };
  const done = life.state === "ready" ? life.count - life.waiting : 0;
  return { state: "building", progress: count === 0 ? 0 : Math.min(0.99, Math.floor((100 * done) / count) / 100) };
}

async function countOf({ sqlName }: VectorCollection, ask: Ask): Promise<number> {
  const [row] = await ask({ sql: `SELECT count(*) FROM ${sqlName}`, params: [] });
  return Number(row![0]);
}

function description(
  { table, dimensions, metric, index }: VectorCollection,
  count: number,
  life: IndexLife,
): Described {
  const { m = M, efConstruction = EF_CONSTRUCTION, efSearch = EF_LEAST, storage = "f32" } = index?.vector ?? {};
  return {
    name: table.name,
    dimensions,
    vector_count: count,
    metric,
    distance_metric: metric,
    index_type: "hnsw",
    index: life,
    m,
    ef_construction: efConstruction,
    ef: efSearch,
    quantization: storage === "f32" ? "none" : storage,
    created_at: new Date(table.createdAt / 1000).toISOString(),
  };
}
