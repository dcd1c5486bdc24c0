/** What a tenant keeps, by kind. */
import { bytesText, plural, shortCount } from "../../lib/format.js";
import { type Loaded, useLoad } from "../../lib/load.js";
import { idOfRelation } from "../../lib/relation-names.js";
import { linkTo } from "../../lib/router.js";
import { client } from "../../lib/session.js";

export type DataKind = "table" | "view" | "collection" | "vectors" | "graph" | "files" | "model";

export interface DataThing {
  readonly kind: DataKind;
  readonly id: string;
  readonly name: string;
  /** In a word, such as "2K". */
  readonly size: string;
  readonly facts: string;
}

/** Graphs and models have pages of their own. */
export function linkOf({ kind, id }: Pick<DataThing, "kind" | "id">): string {
  if (kind === "graph") return linkTo(["graph"], { graph: id });
  return kind === "model" ? linkTo(["models", id]) : linkTo(["data", kind, id]);
}

interface SentVectors {
  readonly name: string;
  readonly vector_count: number;
  readonly dimensions: number;
  readonly metric: string;
}

interface SentFiles {
  readonly id: string;
  readonly name: string;
  readonly status: string;
}

interface SentModel {
  readonly id: string;
  readonly name: string;
  readonly version?: number;
  readonly task_type?: string;
}

/** Of tables the server knows the rows without counting them. */
const RELATIONS = `SELECT n.nspname AS schema, c.relname AS name, c.relkind::text AS kind, c.relnatts::integer AS columns,
  s.n_live_tup::float8 AS rows,
  CASE WHEN c.relkind IN ('r', 'p') THEN pg_total_relation_size(c.oid)::float8 END AS bytes
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
WHERE c.relkind IN ('r', 'p', 'v', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND n.nspname NOT LIKE 'graph:%' AND c.relname !~ '^_'
ORDER BY 1, 2`;
const RELATIONS_MAX = 100_000;

interface Relation {
  readonly schema: string;
  readonly name: string;
  readonly kind: string;
  readonly columns: number;
  readonly rows: number | null;
  readonly bytes: number | null;
}

export function useThings(): Loaded<readonly DataThing[]> {
  return useLoad(thingsOf, []);
}

async function thingsOf(signal: AbortSignal): Promise<readonly DataThing[]> {
  const ask = <T>(path: string): Promise<T> => client().request<T>("GET", path, { signal });
  const [relations, collections, vectors, graphs, files, models] = await Promise.all([
    client().query<Relation>(RELATIONS, [], { signal, maxRows: RELATIONS_MAX }),
    ask<{ items: readonly { name: string }[] }>("/v1/collections"),
    ask<readonly SentVectors[]>("/v1/vectors/collections"),
    ask<{ graphs: readonly { name: string; node_count: number; edge_count: number }[] }>("/v1/graph/graphs"),
    ask<{ collections: readonly SentFiles[] }>("/v1/filesystem-collections"),
    ask<readonly SentModel[]>("/v1/automl/models"),
  ]);
  const documents = new Set(collections.items.map(({ name }) => name));
  const points = new Set(vectors.map(({ name }) => name));
  return [
    ...relations.map((relation) => ofRelation(relation, documents, points)).filter((thing) => thing !== null),
    ...vectors.map(
      ({ name, vector_count: count, dimensions, metric }): DataThing => ({
        ...{ kind: "vectors", id: name, name, size: shortCount(count) },
        facts: `${plural(count, "vector")}, ${plural(dimensions, "dimension")}, ${metric}`,
      }),
    ),
    ...graphs.graphs.map(
      ({ name, node_count: nodes, edge_count: edges }): DataThing => ({
        ...{ kind: "graph", id: name, name, size: shortCount(nodes) },
        facts: `${plural(nodes, "node")}, ${plural(edges, "relationship")}`,
      }),
    ),
    ...files.collections.map(
      ({ id, name, status }): DataThing => ({ kind: "files", id, name, size: "", facts: status }),
    ),
    ...models.map(
      ({ id, name, task_type: task }): DataThing => ({ kind: "model", id, name, size: "", facts: task ?? "" }),
    ),
  ];
}

/** Collections are also tables; vector collections have an entry of their own. */
function ofRelation(
  { schema, name, kind: relation, columns, rows, bytes }: Relation,
  documents: ReadonlySet<string>,
  points: ReadonlySet<string>,
): DataThing | null {
  if (schema === "public" && points.has(name)) return null;
  const shown = idOfRelation({ schema, name });
  const isView = relation === "v" || relation === "m";
  const kind = isView ? "view" : schema === "public" && documents.has(name) ? "collection" : "table";
  const counted = rows === null || isView ? "" : plural(rows, kind === "table" ? "row" : "document");
  const facts = [counted, plural(columns, "column"), bytesText(bytes)].filter((fact) => fact !== "").join(", ");
  return { kind, id: shown, name: shown, size: rows === null || isView ? "" : shortCount(rows), facts };
}
