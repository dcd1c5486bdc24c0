/** The partitions below and above a table, bound over its row: for INSERT, UPDATE and MERGE. */
import type { TableDef } from "../../catalog/table.js";
import type { PartitionBranch, Partitioning, PartitionLeaf } from "../../query/plan/partition-tree.js";
import type { OutputColumn } from "../../query/plan/plan.js";
import { parseExpression } from "../parse/parse.js";
import { bindMembership, inOrderOf, partitionLevel, type TableRow } from "./bind-membership.js";
import type { Binding } from "./binding.js";
import { columnsRead } from "./stored-expression.js";
import { bindChecks } from "./stored-row.js";

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

/** A trigger may give any column another value. */
const changesAny = ({ triggers = [] }: TableDef): boolean =>
  triggers.some(({ level, timing, events }) => level === "row" && timing === "before" && events.includes("update"));

/** Whether a partition key above or below the table reads one of the columns, or rows may move by a trigger. */
function movesRows(table: TableDef, assigned: readonly number[], { env }: Binding): boolean {
  const names = new Set(table.columns.filter(({ id }) => assigned.includes(id)).map(({ name }) => name));
  const reads = ({ partitionKey, columns }: TableDef) =>
    (partitionKey?.keys ?? []).some(({ columnId, expression }) =>
      expression === undefined
        ? names.has(columns.find(({ id }) => id === columnId)!.name)
        : columnsRead(parseExpression(expression.sql)).some((name) => names.has(name)),
    );
  const get = (id: number) => env.catalog.tableById(id)!;
  const below = (part: TableDef): boolean =>
    reads(part) || changesAny(part) || (part.children ?? []).some((id) => below(get(id)));
  const above = (part: TableDef): boolean =>
    part.partitionBound !== undefined && (reads(get(part.parents![0]!)) || above(get(part.parents![0]!)));
  return (
    (table.partitionKey !== undefined && below(table)) ||
    (table.partitionBound !== undefined && changesAny(table)) ||
    above(table)
  );
}

/** Where rows of a partitioned table go. */
function bindPartitions(table: TableDef, columns: readonly OutputColumn[], binding: Binding): PartitionBranch {
  return branch(table, { table, columns }, binding);
}

function branch(table: TableDef, row: TableRow, binding: Binding): PartitionBranch {
  const partitions = (table.children ?? []).map((id) => {
    const child = binding.env.catalog.tableById(id)!;
    return [id, child.partitionKey === undefined ? leaf(child, row, binding) : branch(child, row, binding)] as const;
  });
  return { ...partitionLevel(table, row, binding), partitions: new Map(partitions) };
}

function leaf(table: TableDef, row: TableRow, binding: Binding): PartitionLeaf {
  const columnIds = row.table.columns.map(({ name }) => table.columns.find((column) => column.name === name)!.id);
  return { table, columnIds, checks: bindChecks(table, inOrderOf(table, row), binding) };
}
