/**
 * Whether an index scan need not fetch the rows: what it reads are columns of the index or of the primary key, which
 * every entry ends in, of types whose values keys give back as they were put in. (A numeric's key has lost its scale.)
 * EXPLAIN and the executor ask.
 */
import type { SqlType } from "../../protocol/values.js";
import type { IndexScanPlan } from "./plan.js";

const EXACT_IN_KEYS: ReadonlySet<SqlType["name"]> = new Set([
  "bool",
  "int2",
  "int4",
  "int8",
  "text",
  "varchar",
  "date",
  "timestamp",
  "timestamptz",
  "uuid",
  "bytea",
]);

/** For each column of the scan where its value stands in an entry; null: the rows are needed. */
export function placesInEntry(plan: IndexScanPlan): readonly PlaceInEntry[] | null {
  const { table, index, source, columns, rowKey } = plan;
  if (index === "primary key" || rowKey !== null) return null;
  const keys = index.columns.map(({ columnId }) => columnId);
  const places: PlaceInEntry[] = [];
  for (const [i, id] of source.entries()) {
    const { name, element } = columns[i]!.type;
    if (!EXACT_IN_KEYS.has(name) || element !== null) return null;
    const inKey = keys.indexOf(id);
    const inSuffix = table.primaryKey?.indexOf(id) ?? -1;
    if (inKey < 0 && inSuffix < 0) return null;
    places.push(inKey >= 0 ? { part: "key", at: inKey } : { part: "suffix", at: inSuffix });
  }
  return places;
}

/** The index's own columns, or those of the primary key. */
export interface PlaceInEntry {
  readonly part: "key" | "suffix";
  readonly at: number;
}
