/**
 * Partition keys bound over a row: the condition that a row of a partition satisfies. For scans and for statements
 * that write.
 */
import { partitionBoundsOf } from "../../catalog/partition-bounds.js";
import type { TableDef } from "../../catalog/table.js";
import type { Expr } from "../../query/expr/expr.js";
import { foldExpr } from "../../query/expr/fold.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { PartitionLevel, PartitionMembership } from "../../query/plan/partition-tree.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { bindExpr } from "./bind-expr.js";
import { storedContext } from "./bind-index-exprs.js";
import type { Binding } from "./binding.js";
import { partitionKeyText } from "./partition-key-text.js";
import { parseStored } from "./stored-names.js";

/** The statement's table, and its columns as `rowColumns` holds their values. */
export interface TableRow {
  readonly table: TableDef;
  readonly columns: readonly OutputColumn[];
}

/** The conditions for a row of this partition; empty for a table that is not a partition. */
export function bindMembership(
  table: TableDef,
  columns: readonly OutputColumn[],
  binding: Binding,
): readonly PartitionMembership[] {
  const result: PartitionMembership[] = [];
  for (let part = table; part.partitionBound !== undefined; ) {
    const parent = binding.env.catalog.tableById(part.parents![0]!)!;
    result.unshift({ level: partitionLevel(parent, { table, columns }, binding), partitionId: part.id });
    part = parent;
  }
  return result;
}

/** The row's columns as another table of the hierarchy, whose columns have the same names, has them in its order. */
export function inOrderOf(table: TableDef, row: TableRow): OutputColumn[] {
  return table.columns.map(({ name }) => row.columns[row.table.columns.findIndex((column) => column.name === name)]!);
}

export function partitionLevel(table: TableDef, row: TableRow, binding: Binding): PartitionLevel {
  const columns = inOrderOf(table, row);
  const context = storedContext(table, columns, binding);
  const { keys } = table.partitionKey!;
  const exprs = keys.map(({ columnId, expression }): Expr => {
    if (expression !== undefined) return foldExpr(bindExpr(parseStored(expression.sql, table.schema), context));
    return columnExpr(columns[table.columns.findIndex(({ id }) => id === columnId)]!);
  });
  const bounds = partitionBoundsOf(table, (id) => binding.env.catalog.tableById(id));
  return { table, keys: exprs, keyText: partitionKeyText(table), bounds };
}
