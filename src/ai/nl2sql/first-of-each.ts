/**
 * "The most expensive product in each category", "the latest order of each customer": the first rows of each group, by
 * a column of theirs. Found for read-question.ts, written for write-query.ts; no state.
 */
import type { ColumnFinder } from "./column-finder.js";
import type { FirstOfEach, GroupKey } from "./query-shape.js";
import type { ColumnRef, TableFacts } from "./schema-facts.js";
import { identifier } from "./sql-names.js";

/** Whether each row that is asked for is in one group. */
export function isOfEach(groups: readonly GroupKey[], columns: ColumnFinder): boolean {
  const { base } = columns;
  if (groups.length === 0 || base!.primaryKey.length !== 1) return false;
  return groups.every((group) => {
    const table = group.kind === "table" ? group.table : group.ref.table;
    return table === base ? group.kind !== "table" : columns.isOneOf(table);
  });
}

/** The condition that a row is one of them. `inner`: FROM and WHERE of all rows; several may be equally first. */
export function firstOfEachSql(
  { groups, ref, descending, count }: FirstOfEach,
  base: TableFacts,
  inner: string,
  columnsOf: (key: GroupKey) => readonly { readonly by: string }[],
): string {
  const key = `${base.sqlName}.${identifier(base.primaryKey[0]!)}`;
  const by = groups.flatMap(columnsOf).map((column) => column.by);
  const order = `${columnSql(ref)}${descending ? " DESC" : ""}`;
  const place = `rank() OVER (PARTITION BY ${by.join(", ")} ORDER BY ${order})`;
  return `${key} IN (SELECT key FROM (SELECT ${key} AS key, ${place} AS place ${inner}) AS ranked WHERE place <= ${count})`;
}

/** As answers show it. */
export const shownSql = (ref: ColumnRef): string => ref.column.stored ?? columnSql(ref);

export function columnSql({ table, column }: ColumnRef): string {
  if (column.sql !== undefined) return column.sql;
  const stored = `${table.sqlName}.${identifier(column.name)}`;
  return column.isText === true ? `${stored}::${column.kind}` : stored;
}
