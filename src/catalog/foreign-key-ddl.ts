/** FOREIGN KEY constraints in the catalog: both ends of each are kept in step. Used by ddl.ts and alter-table.ts. */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { NewForeignKey } from "./ddl-command.js";
import { existingTable, type Verification } from "./ddl-outcome.js";
import { verification } from "./foreign-key-verification.js";
import {
  dropPartsOfForeignKey,
  dropReferencesToPartitions,
  spreadForeignKey,
  spreadReference,
} from "./partition-foreign-keys.js";
import type { ForeignKeyDef, ReferenceDef, TableDef } from "./table.js";
import { constraintName } from "./table-names.js";

/** The table with the constraint, and what its rows must be checked for. Throws 42710, 42830. */
export function addForeignKey(
  editor: CatalogEditor,
  table: TableDef,
  from: NewForeignKey,
): { readonly table: TableDef; readonly verification: Verification } {
  const target = from.table === null ? table : existingTable(editor, from.table);
  const idOf = (owner: TableDef, name: string) => owner.columns.find((column) => column.name === name)!.id;
  const references = from.references.map((name) => idOf(target, name));
  const key: ForeignKeyDef = {
    id: editor.nextId(),
    name: constraintName(table, from.name, from.columns, "fkey"),
    columns: from.columns.map((name) => idOf(table, name)),
    tableId: target.id,
    references,
    match: from.match,
    onUpdate: from.onUpdate,
    onDelete: from.onDelete,
    onDeleteColumns: from.onDeleteColumns.map((name) => idOf(table, name)),
    deferrable: from.deferrable,
    initiallyDeferred: from.initiallyDeferred,
    notValid: from.notValid,
  };
  const indexId = referencedIndex(target, references);
  editor.replaceTable(Object.freeze({ ...table, foreignKeys: [...(table.foreignKeys ?? []), key] }));
  const now = editor.view.tableById(target.id)!;
  const reference: ReferenceDef = { foreignKeyId: key.id, tableId: table.id, columns: references, indexId };
  editor.replaceTable(Object.freeze({ ...now, referencedBy: [...(now.referencedBy ?? []), reference] }));
  spreadForeignKey(editor, table.id, key);
  spreadReference(editor, target.id, reference);
  const next = editor.view.tableById(table.id)!;
  return { table: next, verification: verification(next, editor.view.tableById(target.id)!, key) };
}

/** The unique index over exactly these columns, null for the primary key. Throws 42830. */
function referencedIndex(table: TableDef, columns: readonly number[]): number | null {
  const same = (ids: readonly number[]) => ids.length === columns.length && columns.every((id) => ids.includes(id));
  if (table.primaryKey !== null && same(table.primaryKey)) return null;
  const index = table.indexes.find(
    (other) => other.unique && !other.exclusion && !other.where && same(other.columns.map((column) => column.columnId)),
  );
  if (index !== undefined) return index.id;
  throw sqlError("42830", `there is no unique constraint matching given keys for referenced table "${table.name}"`);
}

/** Removes the constraint from both tables, and from the partitions of both. */
export function dropForeignKey(editor: CatalogEditor, table: TableDef, key: ForeignKeyDef): void {
  const { foreignKeys = [] } = editor.view.tableById(table.id)!;
  const rest = foreignKeys.filter((other) => other.id !== key.id);
  editor.replaceTable(Object.freeze({ ...editor.view.tableById(table.id)!, foreignKeys: rest }));
  if (key.parentId !== undefined) return;
  if (table.partitionKey !== undefined) dropPartsOfForeignKey(editor, key.id);
  const target = editor.view.tableById(key.tableId);
  if (target === null) return;
  const referencedBy = (target.referencedBy ?? []).filter(({ foreignKeyId }) => foreignKeyId !== key.id);
  editor.replaceTable(Object.freeze({ ...target, referencedBy }));
  if (target.partitionKey !== undefined) dropReferencesToPartitions(editor, key.id);
}

/** ENABLE, DISABLE TRIGGER ALL: whether foreign keys of and to the table, and its partitions, are checked. */
export function setReferencesChecked(editor: CatalogEditor, tableId: number, isChecked: boolean): void {
  const marked = <T extends { readonly unchecked?: true }>({ unchecked: _, ...item }: T) =>
    Object.freeze((isChecked ? item : { ...item, unchecked: true }) as T);
  const table = editor.view.tableById(tableId)!;
  const { foreignKeys, referencedBy, children = [] } = table;
  editor.replaceTable(
    Object.freeze({
      ...table,
      ...(foreignKeys !== undefined && { foreignKeys: foreignKeys.map(marked) }),
      ...(referencedBy !== undefined && { referencedBy: referencedBy.map(marked) }),
    }),
  );
  if (table.partitionKey === undefined) return;
  for (const child of children) setReferencesChecked(editor, child, isChecked);
}

/** Before the table goes: the other ends of its own foreign keys. */
export function dropTableReferences(editor: CatalogEditor, table: TableDef): void {
  for (const key of table.foreignKeys ?? []) if (key.tableId !== table.id) dropForeignKey(editor, table, key);
}

/**
 * Removes foreign keys that depend on `what` ("table t"), which is about to go; answers the notices. Throws 2BP01
 * without CASCADE.
 */
export function dropReferences(
  editor: CatalogEditor,
  what: string,
  table: TableDef,
  references: readonly ReferenceDef[],
  cascade: boolean,
): string[] {
  const dependents = references.map((reference) => {
    const owner = editor.view.tableById(reference.tableId)!;
    const key = owner.foreignKeys!.find(({ id }) => id === reference.foreignKeyId)!;
    return { owner, key, text: `constraint ${key.name} on table ${owner.name}` };
  });
  if (dependents.length === 0) return [];
  if (!cascade) {
    throw sqlError("2BP01", `cannot drop ${what} because other objects depend on it`, {
      detail: dependents.map(({ text }) => `${text} depends on ${what}`).join("\n"),
      hint: "Use DROP ... CASCADE to drop the dependent objects too.",
      table: table.name,
    });
  }
  for (const { owner, key } of dependents) dropForeignKey(editor, owner, key);
  return dependents.map(({ text }) => `drop cascades to ${text}`);
}
