/** The partitions below and above a table, bound over its row: for INSERT, UPDATE and MERGE. */
import { partitionBoundsOf } from "../../catalog/partition-bounds.js";
import { quotedIdentifier } from "../../catalog/relation-names.js";
import type { TableDef } from "../../catalog/table.js";
import type { Expr } from "../../query/expr/expr.js";
import { foldExpr } from "../../query/expr/fold.js";
import type {
  PartitionBranch,
  Partitioning,
  PartitionLeaf,
  PartitionLevel,
  PartitionMembership,
} from "../../query/plan/partition-tree.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { parseExpression } from "../parse/parse.js";
import { bindExpr } from "./bind-expr.js";
import { storedContext } from "./bind-index-exprs.js";
import { type Binding, columnExpr } from "./binding.js";
import { columnsRead } from "./stored-expression.js";
import { bindChecks } from "./stored-row.js";

/** The statement's table, and its columns as `rowColumns` holds their values. */
interface Row {
  readonly table: TableDef;
  readonly columns: readonly OutputColumn[];
}

/**
 * What a statement that writes rows of the table needs to know of partitions. `assigned`: columns that an update gives
 * values to; others stay where they are.
 */
export function partitioningOf(
  table: TableDef,
  columns: readonly OutputColumn[],
  binding: Binding,
  assigned: readonly number[] | null = null,
): Partitioning {
  if (assigned !== null && !movesRows(table, assigned, binding)) return {};
  return {
    ...(table.partitionKey !== undefined && { partitions: bindPartitions(table, columns, binding) }),
    ...(table.partitionBound !== undefined && { membership: bindMembership(table, columns, binding) }),
  };
}

/** Whether a partition key above or below the table reads one of the columns. */
function movesRows(table: TableDef, assigned: readonly number[], { env }: Binding): boolean {
  const names = new Set(table.columns.filter(({ id }) => assigned.includes(id)).map(({ name }) => name));
  const reads = ({ partitionKey, columns }: TableDef) =>
    (partitionKey?.keys ?? []).some(({ columnId, expression }) =>
      expression === undefined
        ? names.has(columns.find(({ id }) => id === columnId)!.name)
        : columnsRead(parseExpression(expression.sql)).some((name) => names.has(name)),
    );
  const get = (id: number) => env.catalog.tableById(id)!;
  const below = (part: TableDef): boolean => reads(part) || (part.children ?? []).some((id) => below(get(id)));
  const above = (part: TableDef): boolean =>
    part.partitionBound !== undefined && (reads(get(part.parents![0]!)) || above(get(part.parents![0]!)));
  return (table.partitionKey !== undefined && below(table)) || above(table);
}

/** Where rows of a partitioned table go. */
function bindPartitions(table: TableDef, columns: readonly OutputColumn[], binding: Binding): PartitionBranch {
  return branch(table, { table, columns }, binding);
}

/** What puts a row into this partition; empty for a table that is none. */
function bindMembership(
  table: TableDef,
  columns: readonly OutputColumn[],
  binding: Binding,
): readonly PartitionMembership[] {
  const result: PartitionMembership[] = [];
  for (let part = table; part.partitionBound !== undefined; ) {
    const parent = binding.env.catalog.tableById(part.parents![0]!)!;
    result.unshift({ level: level(parent, { table, columns }, binding), partitionId: part.id });
    part = parent;
  }
  return result;
}

function branch(table: TableDef, row: Row, binding: Binding): PartitionBranch {
  const partitions = (table.children ?? []).map((id) => {
    const child = binding.env.catalog.tableById(id)!;
    return [id, child.partitionKey === undefined ? leaf(child, row, binding) : branch(child, row, binding)] as const;
  });
  return { ...level(table, row, binding), partitions: new Map(partitions) };
}

function leaf(table: TableDef, row: Row, binding: Binding): PartitionLeaf {
  const columnIds = row.table.columns.map(({ name }) => table.columns.find((column) => column.name === name)!.id);
  return { table, columnIds, checks: bindChecks(table, inOrderOf(table, row), binding) };
}

/** The row's columns as another table of the hierarchy, whose columns have the same names, has them in its order. */
function inOrderOf(table: TableDef, row: Row): OutputColumn[] {
  return table.columns.map(({ name }) => row.columns[row.table.columns.findIndex((column) => column.name === name)]!);
}

function level(table: TableDef, row: Row, binding: Binding): PartitionLevel {
  const columns = inOrderOf(table, row);
  const context = storedContext(table, columns, binding);
  const { keys } = table.partitionKey!;
  const exprs = keys.map(({ columnId, expression }): Expr => {
    if (expression !== undefined) return foldExpr(bindExpr(parseExpression(expression.sql), context));
    return columnExpr(columns[table.columns.findIndex(({ id }) => id === columnId)]!);
  });
  const bounds = partitionBoundsOf(table, (id) => binding.env.catalog.tableById(id));
  return { table, keys: exprs, keyText: partitionKeyText(table), bounds };
}

/** `a, lower(b), (a + b)` */
export function partitionKeyText(table: TableDef): string {
  const texts = table.partitionKey!.keys.map(({ columnId, expression }) => {
    if (expression === undefined) return quotedIdentifier(table.columns.find(({ id }) => id === columnId)!.name);
    return parseExpression(expression.sql).kind === "call" ? expression.sql : `(${expression.sql})`;
  });
  return texts.join(", ");
}
