/**
 * Tells whether an index scan can do without the rows. It can if all columns that it reads are INCLUDE columns, or
 * columns of the index or primary key (which ends every entry) of types whose keys give the exact value back. (A
 * numeric's key has lost its scale.) EXPLAIN and the executor call it.
 */
import type { SqlType } from "../../values/values.js";
import type { Expr } from "../expr/expr.js";
import { conjuncts, exprEquals } from "../expr/walk.js";
import { graphIndexExprs } from "./graph-index-exprs.js";
import type { IndexScanPlan, PointGetPlan } from "./plan.js";
import type { TextSearchPlan } from "./search-plans.js";

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

/** Whether a key gives the type's values back as they were put in. */
export function isExactInKeys({ name, element }: SqlType): boolean {
  return EXACT_IN_KEYS.has(name) && element === null;
}

/** For each column of the scan where its value stands in an entry; null: the rows are needed. */
export function placesInEntry(plan: IndexScanPlan): readonly PlaceInEntry[] | null {
  const { table, index, source, columns, rowKey } = plan;
  if (index === "primary key" || rowKey !== null) return null;
  const keys = index.columns.map(({ columnId }) => columnId);
  const included = index.storesIncluded ? index.include! : [];
  const placeOf = (id: number, type: SqlType): PlaceInEntry | null => {
    const isExact = isExactInKeys(type);
    const [key, suffix, include] = [keys.indexOf(id), table.primaryKey?.indexOf(id) ?? -1, included.indexOf(id)];
    if (key >= 0 && isExact) return { part: "key", at: key };
    if (suffix >= 0 && isExact) return { part: "suffix", at: suffix };
    return include >= 0 ? { part: "included", at: include } : null;
  };
  const places: PlaceInEntry[] = [];
  for (const [i, id] of source.entries()) {
    const place = placeOf(id, columns[i]!.type);
    if (place === null) return null;
    places.push(place);
  }
  return places;
}

/** For each column of a text search where it stands in the primary key; null: the rows are needed. */
export function placesInKey({ table, source, columns, filter }: TextSearchPlan): readonly number[] | null {
  if (filter !== null) return null;
  const key = table.primaryKey ?? [];
  const places = source.map((id, i) => (isExactInKeys(columns[i]!.type) ? key.indexOf(id) : -1));
  return places.includes(-1) ? null : places;
}

/** The index's own columns, those of the primary key, or those that it includes. */
export interface PlaceInEntry {
  readonly part: "key" | "suffix" | "included";
  readonly at: number;
}

/**
 * For each column of a point get where it stands in the primary key, null for one that only the filter reads; null: the
 * row is needed. Holds where each value of the key is a text, a number or a truth value: then all rows whose entries
 * have the key pass the filter.
 */
export function placesByKey(plan: PointGetPlan): readonly (number | null)[] | null {
  const { table, index, source, columns, filterOnly, rowKey } = plan;
  if (index === "primary key" || rowKey !== null || !isImpliedByKey(plan)) return null;
  const places: (number | null)[] = [];
  for (const [i, id] of source.entries()) {
    const column = columns[i]!;
    const place = isExactInKeys(column.type) ? (table.primaryKey?.indexOf(id) ?? -1) : -1;
    if (place >= 0) places.push(place);
    else if (filterOnly?.has(column.id)) places.push(null);
    else return null;
  }
  return places;
}

function isImpliedByKey({ table, index, source, columns, key, filter }: PointGetPlan): boolean {
  if (index === "primary key") return false;
  const columnOf = (columnId: number) => columns[source.indexOf(columnId)] ?? null;
  const exprs = graphIndexExprs(table, columnOf)?.get(index.id);
  if (exprs === undefined) return false;
  const isKey = (a: Expr, b: Expr) =>
    exprs.keys.some((expr, i) => expr !== null && exprEquals(expr, a) && exprEquals(key[i]!, b));
  return conjuncts(filter).every((condition) => {
    if (exprs.predicate !== null && exprEquals(exprs.predicate, condition)) return true;
    if (condition.kind !== "call" || condition.fn.operator !== "=") return false;
    const [a, b] = condition.args as [Expr, Expr];
    return isKey(a, b) || isKey(b, a);
  });
}
