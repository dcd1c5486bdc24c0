/** Notes what tells the rows of a table in a cursor's query, for WHERE CURRENT OF (current-of.ts). */
import type { TableDef } from "../../catalog/table.js";
import type { Expr } from "../../query/expr/expr.js";
import { isNamedOid } from "../../values/catalog-types.js";
import { BYTEA } from "../../values/values.js";
import type { TableRows } from "./bind-scan.js";
import type { Binding } from "./binding.js";
import { ROW_KEY } from "./cursor-tables.js";

/** Notes a table of a cursor's query. */
export function noteCursorTable(table: TableDef, rows: TableRows, binding: Binding): void {
  const { rowKey } = rows;
  const key = keyTelling(table, rows);
  const shown = rows.items[0]!.columns;
  const columns = key.map((id) => shown[table.columns.findIndex((column) => column.id === id)]!.expr);
  // What is shown as another type would not be the key.
  const isReadable = (expr: Expr) =>
    expr.kind === "column" && !binding.denied.has(expr.id) && !isNamedOid(expr.type.element ?? expr.type);
  if (key.length > 0 && columns.every(isReadable)) binding.cursorTables!.add(table.id, key, columns);
  else if (rowKey !== null) {
    const column: Expr = { kind: "column", id: rowKey, type: BYTEA, name: "row key" };
    binding.cursorTables!.add(table.id, [ROW_KEY], [column]);
  }
}

/** Ids of the columns that tell a row from others; empty: none do. Tables that inherit have keys of their own. */
export function keyTelling(
  { primaryKey, partitionKey }: TableDef,
  { tables }: Pick<TableRows, "tables">,
): readonly number[] {
  return tables.length === 0 || partitionKey !== undefined ? (primaryKey ?? []) : [];
}
