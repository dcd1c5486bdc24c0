/**
 * Tells where a row that a foreign key refers to is found by one lookup. Used by checks of single rows and of loads.
 */
import type { ForeignKeyDef, IndexDef, TableDef } from "../../catalog/table.js";
import { type KeyLayout, keyLayoutOf } from "./table-layout.js";

/** The referenced key, and which of the foreign key's columns gives each of its values. */
export interface ReferencedKey {
  readonly index: IndexDef | "primary key";
  readonly layout: KeyLayout;
  /** Column ids of the referencing table, in the order of the layout's columns. */
  readonly sources: readonly number[];
}

/** Null when a query must find the row: types differ and a comparison converts, or some partition has it. */
export function referencedKey(parent: TableDef, table: TableDef, key: ForeignKeyDef): ReferencedKey | null {
  if (parent.partitionKey !== undefined) return null;
  const typeOf = ({ columns }: TableDef, id: number) => columns.find((column) => column.id === id)!.type;
  const sameTypes = key.columns.every((id, i) => {
    const own = typeOf(table, id);
    const other = typeOf(parent, key.references[i]!);
    return (
      own.name === other.name &&
      own.name !== "bpchar" &&
      own.name !== "citext" &&
      own.element === null &&
      other.element === null
    );
  });
  if (!sameTypes) return null;
  const reference = parent.referencedBy?.find(({ foreignKeyId }) => foreignKeyId === (key.parentId ?? key.id));
  const index = reference?.indexId ? parent.indexes.find(({ id }) => id === reference.indexId) : "primary key";
  if (index === undefined || (index === "primary key" && parent.primaryKey === null)) return null;
  const layout = keyLayoutOf(parent, index);
  const sources = layout.columnIds.map((id) => key.columns[key.references.indexOf(id)]!);
  return { index, layout, sources };
}
