/** What a tenant keeps, by kind. */
import { bytesText, shortCount } from "../../lib/format.js";
import { type Loaded, useLoad } from "../../lib/load.js";
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
export function linkOf({ kind, id }: DataThing): string {
  if (kind === "graph") return linkTo(["graph"], { graph: id });
  return kind === "model" ? linkTo(["models", id]) : linkTo(["data", kind, id]);
}

interface SentTable {
  readonly name: string;
  readonly schema: string;
  readonly type: string;
  readonly row_count: number;
  readonly size_bytes: number;
  readonly column_count: number;
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

export function useThings(): Loaded<readonly DataThing[]> {
  return useLoad(async (signal) => {
    const ask = <T>(path: string): Promise<T> => client().request<T>("GET", path, { signal });
    const [tables, collections, vectors, graphs, files, models] = await Promise.all([
      ask<readonly SentTable[]>("/v1/schema/tables"),
      ask<{ items: readonly { name: string }[] }>("/v1/collections"),
      ask<readonly SentVectors[]>("/v1/vectors/collections"),
      ask<{ graphs: readonly { name: string; node_count: number; edge_count: number }[] }>("/v1/graph/graphs"),
      ask<{ collections: readonly SentFiles[] }>("/v1/filesystem-collections"),
      ask<readonly SentModel[]>("/v1/automl/models"),
    ]);
    const documents = new Set(collections.items.map(({ name }) => name));
    const points = new Set(vectors.map(({ name }) => name));
    return [
      ...tables.map((table) => ofTable(table, documents, points)).filter((thing) => thing !== null),
      ...vectors.map(
        ({ name, vector_count: count, dimensions, metric }): DataThing => ({
          ...{ kind: "vectors", id: name, name, size: shortCount(count) },
          facts: `${dimensions} dimensions, ${metric}`,
        }),
      ),
      ...graphs.graphs.map(
        ({ name, node_count: nodes, edge_count: edges }): DataThing => ({
          ...{ kind: "graph", id: name, name, size: shortCount(nodes) },
          facts: `${shortCount(nodes)} nodes, ${shortCount(edges)} relationships`,
        }),
      ),
      ...files.collections.map(
        ({ id, name, status }): DataThing => ({ kind: "files", id, name, size: "", facts: status }),
      ),
      ...models.map(
        ({ id, name, task_type: task }): DataThing => ({ kind: "model", id, name, size: "", facts: task ?? "" }),
      ),
    ];
  }, []);
}

/** Collections are also tables; vector collections have an entry of their own. */
function ofTable(
  { name, schema, type, row_count: rows, size_bytes: bytes, column_count: columns }: SentTable,
  documents: ReadonlySet<string>,
  points: ReadonlySet<string>,
): DataThing | null {
  if (schema === "public" && points.has(name)) return null;
  const shown = schema === "public" ? name : `${schema}.${name}`;
  const isView = type.includes("view");
  const kind = isView ? "view" : schema === "public" && documents.has(name) ? "collection" : "table";
  const facts = isView ? `${columns} columns` : `${shortCount(rows)} rows, ${columns} columns, ${bytesText(bytes)}`;
  return { kind, id: shown, name: shown, size: isView ? "" : shortCount(rows), facts };
}
