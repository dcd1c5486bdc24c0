/** The tables that UPDATE, DELETE and MERGE change when they name one from which others inherit. */
import type { HeirTable } from "../../query/plan/change-plans.js";
import { columnsIn, type TableRows } from "./bind-scan.js";
import type { Binding } from "./binding.js";
import { ANY_COLUMN, type ChangedRelation } from "./changed-relation.js";
import { bindChecks, inOrder, rowColumnsOf } from "./stored-row.js";

/** The tables of `rows` as a statement changes them; undefined: they are the table's own. */
export function heirsOf(
  { table, over }: ChangedRelation,
  { tables }: TableRows,
  binding: Binding,
): readonly HeirTable[] | undefined {
  if (tables.length === 0) return undefined;
  return tables.map((heir) => {
    const rowColumns = rowColumnsOf(heir, binding);
    const columnIds = columnsIn(heir, table, binding.env);
    const columns = columnIds.map((id) => rowColumns[heir.columns.findIndex((column) => column.id === id)]!);
    const checks = inOrder(over(table.name, columns, () => ANY_COLUMN).checks, bindChecks(heir, rowColumns, binding));
    return { table: heir, columnIds, rowColumns, checks };
  });
}
