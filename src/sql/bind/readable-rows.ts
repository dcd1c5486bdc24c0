/** The rows and columns of a table that a query may read. Called by the binder of FROM. */
import { permissionDenied } from "../../catalog/rights.js";
import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { rowsOf, type TableReference, type TableRows } from "./bind-scan.js";
import type { Binding } from "./binding.js";
import { checkedRights, requireSchema } from "./relation-rights.js";
import { policyFilter } from "./row-security.js";
import type { ScopeItem } from "./scope.js";

/** The rows of a table that a query names, as far as they may be read. Throws 42501. */
export function readableRows(table: TableDef, reference: TableReference, binding: Binding): TableRows {
  const rights = checkedRights(binding.env);
  if (rights === null) return rowsOf(table, reference, binding);
  const locks = reference.rowKey && reference.locks !== false;
  requireSchema(table.schema, binding.env, rights);
  const may = rights.columns(table.id, "r");
  if (may !== "all" && may.size === 0) throw permissionDenied("table", table.name);
  // PostgreSQL asks for UPDATE on a column; who may update one may lock the row.
  const updates = locks ? rights.columns(table.id, "w") : "all";
  if (updates !== "all" && updates.size === 0) throw permissionDenied("table", table.name);
  if (!rights.isRestricted(table.id)) {
    const rows = rowsOf(table, reference, binding);
    if (may !== "all") deny(table, rows.columns, may, binding);
    return rows;
  }
  // A view may know the table from before it had all columns that policies read.
  const whole = rights.catalog.tableById(table.id)!;
  const alias = { name: reference.alias?.name ?? table.name, columns: [] };
  const rows = rowsOf(whole, { ...reference, alias }, binding);
  if (may !== "all") deny(whole, rows.columns, may, binding);
  const commands = locks ? (["select", "update"] as const) : (["select"] as const);
  const plan = policyFilter(whole, rows, commands, rights, binding);
  return { ...rows, plan, items: rows.items.map((item) => named(item, table, whole, reference)) };
}

/** The relation with the columns and names that the statement, or the view around it, has for it. */
function named(item: ScopeItem, table: TableDef, whole: TableDef, { alias, name }: TableReference): ScopeItem {
  const names = alias?.columns ?? [];
  if (names.length > table.columns.length) {
    const message = `table "${item.name}" has ${table.columns.length} columns available but ${names.length} columns specified`;
    throw sqlError("42P10", message, { position: name.position });
  }
  const columns = table.columns.map((column, i) => {
    const place = whole.columns.findIndex(({ id }) => id === column.id);
    return { ...item.columns[place]!, name: names[i] ?? column.name };
  });
  return { ...item, schema: alias === null ? table.schema : null, columns, table };
}

/** Columns that no expression of the statement may read. */
function deny(
  table: Pick<TableDef, "columns" | "name">,
  columns: readonly OutputColumn[],
  readable: ReadonlySet<number>,
  binding: Binding,
): void {
  table.columns.forEach(({ id }, i) => {
    if (!readable.has(id)) binding.denied.set(columns[i]!.id, table.name);
  });
}
