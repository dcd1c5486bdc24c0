/** The rows and columns of a table that a query may read. Called by the binder of FROM. */
import { permissionDenied } from "../../catalog/rights.js";
import type { TableDef } from "../../catalog/table.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import type { TableRows } from "./bind-scan.js";
import type { Binding } from "./binding.js";
import { checkedRights, requireSchema } from "./relation-rights.js";
import { policyFilter } from "./row-security.js";

/** The rows of a table that a query names, as far as they may be read. Throws 42501. */
export function readable(table: TableDef, rows: TableRows, locks: boolean, binding: Binding): TableRows {
  const rights = checkedRights(binding.env);
  if (rights === null) return rows;
  requireSchema(table.schema, binding.env, rights);
  const columns = rights.columns(table.id, "r");
  if (columns !== "all") {
    if (columns.size === 0) throw permissionDenied("table", table.name);
    deny(table, rows.columns, columns, binding);
  }
  // PostgreSQL asks for UPDATE on a column; who may update one may lock the row.
  const updates = locks ? rights.columns(table.id, "w") : "all";
  if (updates !== "all" && updates.size === 0) throw permissionDenied("table", table.name);
  if (!rights.isRestricted(table.id)) return rows;
  const commands = locks ? (["select", "update"] as const) : (["select"] as const);
  return { ...rows, plan: policyFilter(table, rows, commands, rights, binding) };
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
