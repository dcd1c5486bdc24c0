import type { SearchIndexDef, TableDef, VectorMetric } from "../../catalog/table.js";
import { DbError } from "../../protocol/errors.js";
import { quoteIdentifier } from "../../query/expr/print.js";

/** How a metric is written, and what its distances mean. */
interface MetricForm {
  readonly operator: string;
  /** Grows with likeness. */
  readonly scoreOf: (distance: number) => number;
  /** The largest distance whose score is at least this one. */
  readonly distanceOf: (score: number) => number;
}

export const METRIC_FORMS: Readonly<Record<VectorMetric, MetricForm>> = {
  cosine: { operator: "<=>", scoreOf: (distance) => 1 - distance, distanceOf: (score) => 1 - score },
  l2: {
    operator: "<->",
    scoreOf: (distance) => 1 / (1 + distance),
    distanceOf: (score) => (score <= 0 ? Number.POSITIVE_INFINITY : 1 / score - 1),
  },
  dot: { operator: "<#>", scoreOf: (distance) => 0 - distance, distanceOf: (score) => 0 - score },
};

/** As requests name them. */
const METRIC_NAMES: Readonly<Record<string, VectorMetric>> = {
  cosine: "cosine",
  l2: "l2",
  euclidean: "l2",
  dot: "dot",
  dot_product: "dot",
};

export interface VectorCollection {
  readonly table: TableDef;
  /** Quoted. */
  readonly sqlName: string;
  readonly dimensions: number;
  readonly metric: VectorMetric;
  /** Null: a statement has dropped it, and searches compare all vectors. */
  readonly index: SearchIndexDef | null;
}

/** By definition: those that are used often are looked up in every request. */
const known = new WeakMap<TableDef, VectorCollection | null>();

/** Null: not a vector collection, or not any more, because a statement has changed its columns. */
export function vectorCollectionOf(table: TableDef): VectorCollection | null {
  let collection = known.get(table);
  if (collection === undefined) {
    collection = describe(table);
    known.set(table, collection);
  }
  return collection;
}

function describe(table: TableDef): VectorCollection | null {
  const { collection, columns, searchIndexes = [] } = table;
  const column = columns.find(({ name }) => name === "vector");
  const dimensions = column?.type.name === "vector" ? column.type.modifier : null;
  if (collection?.kind !== "vector" || dimensions === null) return null;
  const index = searchIndexes.find(({ method, columnIds }) => method === "hnsw" && columnIds[0] === column!.id);
  const { metric } = collection;
  return { table, sqlName: quoteIdentifier(table.name), dimensions, metric, index: index ?? null };
}

/** The metric of that name. Throws invalid_request, which names the field. */
export function metricNamed(name: string, field: string): VectorMetric {
  const key = name.toLowerCase();
  if (Object.hasOwn(METRIC_NAMES, key)) return METRIC_NAMES[key]!;
  const names = Object.keys(METRIC_NAMES).join(", ");
  throw new DbError("invalid_request", `The metric "${name}" is not known. Known: ${names}.`, { field });
}
