import { isVectorIndexOf } from "../../catalog/search-index-ddl.js";
import type { SearchIndexDef, TableDef } from "../../catalog/table.js";
import { DbError } from "../../protocol/errors.js";
import { quoteIdentifier } from "../../query/expr/print.js";
import { METRIC_NAMES, metricNamed, type VectorMetric } from "../../values/vector-metric.js";

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
  const index = searchIndexes.find(isVectorIndexOf(column!.id));
  const { metric } = collection;
  return { table, sqlName: quoteIdentifier(table.name), dimensions, metric, index: index ?? null };
}

/** The metric of that name. Throws invalid_request, which names the field. */
export function metricIn(field: string, name: string): VectorMetric {
  const metric = metricNamed(name);
  if (metric !== undefined) return metric;
  throw new DbError("invalid_request", `The metric "${name}" is not known. Known: ${METRIC_NAMES.join(", ")}.`, {
    field,
  });
}
