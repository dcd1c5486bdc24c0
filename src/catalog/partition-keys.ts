/** Rules for keys and columns of a partitioned table, so that a row's partition is always known. Called by ddl. */
import { sqlError } from "../protocol/errors.js";
import { EXPRESSION_COLUMN, type IndexDef, type TableDef } from "./table.js";

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

/** As checkUniqueKey, for an index that may be unique. */
export function checkUniqueIndex(table: TableDef, index: IndexDef): void {
  if (!index.unique && index.deferrable === undefined) return;
  const what = index.deferrable?.primary ? "PRIMARY KEY" : index.constraint === null ? "unique index" : "UNIQUE";
  checkUniqueKey(
    table,
    index.columns.map(({ columnId }) => columnId),
    what,
  );
}

/** Keys and constraints that CREATE TABLE gives a partitioned table. Throws 0A000, 42P16. */
export function checkKeysOfPartitioned(table: TableDef): void {
  if (table.partitionKey === undefined) return;
  if (table.primaryKey !== null) checkUniqueKey(table, table.primaryKey, "PRIMARY KEY");
  for (const index of table.indexes) checkUniqueIndex(table, index);
  if (table.checks.some(({ noInherit }) => noInherit)) {
    throw sqlError("42P16", `cannot add NO INHERIT constraint to partitioned table "${table.name}"`);
  }
}

/** Before a column changes or goes. Throws 42P16 when the partition key is made of it. */
export function checkNoPartitionKey(
  table: TableDef,
  columnId: number,
  reads: (sql: string) => boolean,
  verb: "alter" | "drop",
): void {
  const isPart = table.partitionKey?.keys.some(
    (key) => key.columnId === columnId || (key.expression !== undefined && reads(key.expression.sql)),
  );
  if (!isPart) return;
  const { name } = table.columns.find(({ id }) => id === columnId)!;
  const message = `cannot ${verb} column "${name}" because it is part of the partition key of relation "${table.name}"`;
  throw sqlError("42P16", message);
}
