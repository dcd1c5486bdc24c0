/**
 * Partitions come and go: CREATE TABLE … PARTITION OF, ATTACH and DETACH PARTITION. Called by ddl.ts and alter-table.ts;
 * indexes and foreign keys that a partition shares with its table are in partition-indexes.ts.
 */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { NewPartition } from "./ddl-command.js";
import { type ActionOutcome, existingTable, quotedTable, type Verification } from "./ddl-outcome.js";
import { linkChild, unlinkChild } from "./link-tables.js";
import { type PartitionBounds, partitionBoundsOf } from "./partition-bounds.js";
import { disownForeignKeys } from "./partition-foreign-keys.js";
import { adoptKeys, disownKeys } from "./partition-indexes.js";
import { checkNewBound } from "./partition-overlap.js";
import { EXPRESSION_COLUMN, type PartitionKeyDef, type TableDef } from "./table.js";

/** The bounds of the table's partitions as they are now. */
export function boundsOf(editor: CatalogEditor, table: TableDef): PartitionBounds {
  return partitionBoundsOf(table, (id) => editor.view.tableById(id));
}

/** Before a partition of that name is made. Throws 42P17 for a bound that overlaps or is empty. */
export function checkPartition(editor: CatalogEditor, name: string, partition: NewPartition): void {
  const parent = existingTable(editor, partition.parent);
  const nameOf = (id: number) => editor.view.tableById(id)!.name;
  checkNewBound(boundsOf(editor, parent), { name, ...partition }, nameOf);
}

/** The table, whose definition names its parent already, becomes a partition in full: keys, and rows of DEFAULT. */
export function joinPartition(
  editor: CatalogEditor,
  partitionId: number,
  partition: NewPartition,
  isEmpty: boolean,
): ActionOutcome {
  const parent = existingTable(editor, partition.parent);
  const keys = adoptKeys(editor, parent, partitionId, isEmpty);
  const { fallback } = boundsOf(editor, parent);
  if (fallback === null || fallback === partitionId) return keys;
  const rest = editor.view.tableById(fallback)!;
  const message = `updated partition constraint for default partition "${rest.name}" would be violated by some row`;
  return { ...keys, verify: [...(keys.verify ?? []), mustBeEmpty(rest, `(${partition.condition})`, message)] };
}

function mustBeEmpty(table: TableDef, condition: string, message: string): Verification {
  return {
    sql: `SELECT 1 FROM ${quotedTable(table)} WHERE ${condition} LIMIT 1`,
    error: () => sqlError("23514", message, { table: table.name }),
  };
}

/** ATTACH PARTITION; sql/bind has refused what is no table for it. Throws 42P17, 42804, 23514. */
export function attachPartition(
  editor: CatalogEditor,
  parent: TableDef,
  action: { readonly partition: NewPartition; readonly table: string; readonly schema: string },
): ActionOutcome {
  const child = existingTable(editor, { schema: action.schema, name: action.table, position: 0 });
  checkPartition(editor, child.name, action.partition);
  const linked = linkChild(editor, child, parent);
  // What a partition shares with its table is never its own.
  const shared = <T extends { readonly inherited?: number }>(part: T): T =>
    part.inherited ? Object.freeze({ ...part, local: false }) : part;
  const partition: TableDef = Object.freeze({
    ...linked,
    columns: linked.columns.map(shared),
    checks: linked.checks.map(shared),
    partitionBound: action.partition.bound,
  });
  editor.replaceTable(partition);
  const joined = joinPartition(editor, child.id, action.partition, false);
  const message = `partition constraint of relation "${child.name}" is violated by some row`;
  const { condition } = action.partition;
  const own = condition === "" ? [] : [mustBeEmpty(child, `NOT (${condition})`, message)];
  return { ...joined, verify: [...own, ...(joined.verify ?? [])] };
}

/** DETACH PARTITION. Throws 42P01. */
export function detachPartition(
  editor: CatalogEditor,
  parent: TableDef,
  action: { readonly table: string; readonly schema: string },
): ActionOutcome {
  const child = editor.view.table(action.schema, action.table);
  if (child === null || !parent.children?.includes(child.id) || child.partitionBound === undefined) {
    throw sqlError("42P01", `relation "${action.table}" is not a partition of relation "${parent.name}"`);
  }
  disownKeys(editor, child.id);
  disownForeignKeys(editor, child.id);
  const unlinked = unlinkChild(editor, editor.view.tableById(child.id)!, parent);
  const { partitionBound: _, parents: __, ...free } = unlinked;
  editor.replaceTable(Object.freeze(free));
  return {};
}

/** Throws 0A000 for a unique key of a partitioned table that does not tell which partition a row is in. */
export function checkUniqueKey(
  table: Pick<TableDef, "name" | "columns" | "partitionKey">,
  columns: readonly number[],
  what: "PRIMARY KEY" | "UNIQUE" | "unique index",
): void {
  if (table.partitionKey === undefined) return;
  const kind = what === "unique index" ? "UNIQUE" : what;
  for (const { columnId } of table.partitionKey.keys) {
    if (columnId === EXPRESSION_COLUMN) {
      throw sqlError("0A000", `unsupported ${kind} constraint with partition key definition`, {
        detail: `${kind} constraints cannot be used when partition keys include expressions.`,
      });
    }
    if (columns.includes(columnId)) continue;
    const { name } = table.columns.find(({ id }) => id === columnId)!;
    throw sqlError("0A000", "unique constraint on partitioned table must include all partitioning columns", {
      detail: `${kind} constraint on table "${table.name}" lacks column "${name}" which is part of the partition key.`,
    });
  }
}

/** Keys and constraints that CREATE TABLE gives a partitioned table. Throws 0A000, 42P16. */
export function checkKeysOfPartitioned(table: TableDef): void {
  if (table.partitionKey === undefined) return;
  if (table.primaryKey !== null) checkUniqueKey(table, table.primaryKey, "PRIMARY KEY");
  for (const index of table.indexes) {
    const ids = index.columns.map(({ columnId }) => columnId);
    if (index.unique) checkUniqueKey(table, ids, index.constraint === null ? "unique index" : "UNIQUE");
  }
  if (table.checks.some(({ noInherit }) => noInherit)) {
    throw sqlError("42P16", `cannot add NO INHERIT constraint to partitioned table "${table.name}"`);
  }
}

/** Whether a column, or an expression that reads it, is in the partition key. */
export function isPartitionColumn(
  key: PartitionKeyDef | undefined,
  columnId: number,
  reads: (sql: string) => boolean,
): "column" | "expression" | null {
  for (const part of key?.keys ?? []) {
    if (part.columnId === columnId) return "column";
    if (part.expression !== undefined && reads(part.expression.sql)) return "expression";
  }
  return null;
}
