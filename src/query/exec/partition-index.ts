/** Finds a partition's unique key for a partitioned table's, for ON CONFLICT. */
import { withoutReferences } from "../../catalog/object-reference.js";
import type { IndexDef, TableDef } from "../../catalog/table.js";

type Key = IndexDef | "primary key";

/** Throws when the partition does not have the key: every valid one is on all of them. */
export function partitionIndex(partition: TableDef, key: Key, root: TableDef): Key {
  const nameOf = (table: TableDef, id: number) => table.columns.find((column) => column.id === id)!.name;
  const names = (table: TableDef, of: Key) =>
    of === "primary key"
      ? table.primaryKey!.map((id) => nameOf(table, id))
      : of.columns.map(
          ({ columnId, expression }) => (expression && withoutReferences(expression.sql)) ?? nameOf(table, columnId),
        );
  const wanted = names(root, key).join("\0");
  const same = (other: Key) => names(partition, other).join("\0") === wanted;
  if (key === "primary key" && partition.primaryKey !== null && same("primary key")) return "primary key";
  const where = key === "primary key" ? null : (key.where ?? null);
  const found = partition.indexes.find((index) => index.unique && (index.where ?? null) === where && same(index));
  if (found !== undefined) return found;
  if (partition.primaryKey !== null && same("primary key")) return "primary key";
  throw new Error(`partition "${partition.name}" lacks a unique key of "${root.name}"`);
}
