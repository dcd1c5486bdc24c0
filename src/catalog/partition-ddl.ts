/**
 * Adds and removes partitions: CREATE TABLE … PARTITION OF, ATTACH and DETACH PARTITION. Called by ddl.ts and
 * alter-table.ts; partition-indexes.ts has the indexes and foreign keys that a partition shares with its table.
 */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { NewPartition } from "./ddl-command.js";
import {
  type ActionOutcome,
  columnName,
  existingTable,
  quotedColumns,
  quotedTable,
  type Verification,
} from "./ddl-outcome.js";
import { descendantsOf } from "./inheritance.js";
import { linkChild, unlinkChild } from "./link-tables.js";
import { type PartitionBounds, partitionBoundsOf } from "./partition-bounds.js";
import { disownForeignKeys } from "./partition-foreign-keys.js";
import { adoptKeys, disownKeys } from "./partition-indexes.js";
import { checkNewBound } from "./partition-overlap.js";
import type { TableDef } from "./table.js";
import { requireSameAudit } from "./table-audit.js";
import { adoptTriggers, disownTriggers } from "./trigger-ddl.js";

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
  adoptTriggers(editor, parent, partitionId);
  const { fallback } = boundsOf(editor, parent);
  if (fallback === null || fallback === partitionId) return keys;
  const rest = editor.view.tableById(fallback)!;
  const message = `updated partition constraint for default partition "${rest.name}" would be violated by some row`;
  return { ...keys, verify: [...(keys.verify ?? []), mustBeEmpty(rest, `(${partition.condition})`, message)] };
}

function mustBeEmpty(table: TableDef, condition: string, message: string): Verification {
  return {
    // What the condition says of the key is no longer true of the table's partitions, so it must not choose among them.
    sql: `SELECT 1 FROM ${quotedTable(table)} WHERE (${condition}) IS TRUE LIMIT 1`,
    error: () => sqlError("23514", message, { schema: table.schema, table: table.name }),
  };
}

/** ATTACH PARTITION; sql/bind has refused what is no table for it. Throws 42P17, 42804, 23514. */
export function attachPartition(
  editor: CatalogEditor,
  parent: TableDef,
  action: { readonly partition: NewPartition; readonly table: string; readonly schema: string },
): ActionOutcome {
  const child = existingTable(editor, { schema: action.schema, name: action.table, position: 0 });
  const circular = parent.foreignKeys?.find(({ tableId }) => tableId === child.id);
  if (circular !== undefined) {
    const why = `because it is referenced by foreign key "${circular.name}"`;
    throw sqlError("0A000", `cannot attach table "${child.name}" as a partition ${why}`);
  }
  const inside = descendantsOf(child, editor.view).find(({ id }) =>
    parent.foreignKeys?.some((key) => key.tableId === id),
  );
  if (inside !== undefined) {
    const why = "because it is being used by active queries in this session";
    throw sqlError("55006", `cannot ALTER TABLE "${inside.name}" ${why}`);
  }
  checkPartition(editor, child.name, action.partition);
  requireSameAudit(child, parent);
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
  const verify = referencesTo(editor, child);
  disownKeys(editor, child.id);
  disownForeignKeys(editor, child.id);
  disownTriggers(editor, child.id);
  const unlinked = unlinkChild(editor, editor.view.tableById(child.id)!, parent);
  const { partitionBound: _, parents: __, ...free } = unlinked;
  editor.replaceTable(Object.freeze(free));
  return { verify };
}

/** No row may refer to one that leaves with its partition. */
function referencesTo(editor: CatalogEditor, partition: TableDef): Verification[] {
  return (partition.referencedBy ?? []).flatMap(({ foreignKeyId, tableId, columns }): Verification[] => {
    const owner = editor.view.tableById(tableId)!;
    const key = owner.foreignKeys!.find(({ id }) => id === foreignKeyId)!;
    if (key.tableId === partition.id) return [];
    const own = quotedColumns(partition, columns);
    const equal = quotedColumns(owner, key.columns).map((name, i) => `f.${name} = p.${own[i]}`);
    const names = columns.map((id) => columnName(partition, id)).join(", ");
    const selected = own.map((name) => `p.${name}`).join(", ");
    const from = `${quotedTable(owner)} f JOIN ${quotedTable(partition)} p ON ${equal.join(" AND ")}`;
    return [
      {
        sql: `SELECT ${selected} FROM ${from} LIMIT 1`,
        error: (values) => {
          const message = `removing partition "${partition.name}" violates foreign key constraint "${key.name}"`;
          return sqlError("23503", message, {
            detail: `Key (${names})=(${values.join(", ")}) is still referenced from table "${owner.name}".`,
            schema: owner.schema,
            table: owner.name,
            constraint: key.name,
          });
        },
      },
    ];
  });
}
