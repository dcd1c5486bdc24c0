/**
 * Foreign keys of and to partitioned tables. Partitions store the rows, so each has the table's foreign keys as parts
 * of the table's own (ForeignKeyDef.parentId, always the topmost). Only the table's own key handles changes of
 * referenced rows. The partitions of a referenced table know the keys that refer to it (TableDef.referencedBy). Called
 * by foreign-key-ddl.ts and the files of partitions.
 */
import type { CatalogEditor } from "./catalog-editor.js";
import { type ActionOutcome, columnName, existingColumn, type Verification } from "./ddl-outcome.js";
import { verification } from "./foreign-key-verification.js";
import { childrenOf } from "./inheritance.js";
import type { ForeignKeyDef, ReferenceDef, TableDef } from "./table.js";
import { constraintName, constraintNames } from "./table-names.js";

/** Those of the partitioned table, and those that refer to it, in a partition that joins it. */
export function adoptForeignKeys(
  editor: CatalogEditor,
  parent: TableDef,
  partitionId: number,
  isEmpty: boolean,
): ActionOutcome {
  const keys = (parent.foreignKeys ?? []).map((key) => adoptForeignKey(editor, parent, key, partitionId));
  for (const reference of parent.referencedBy ?? []) adoptReference(editor, parent, reference, partitionId);
  return isEmpty ? {} : { verify: keys.flat() };
}

/** After a partitioned table got a foreign key: its partitions get it. */
export function spreadForeignKey(editor: CatalogEditor, tableId: number, key: ForeignKeyDef): void {
  const table = editor.view.tableById(tableId)!;
  if (table.partitionKey === undefined) return;
  for (const { id } of childrenOf(table, editor.view)) adoptForeignKey(editor, table, key, id);
}

/** After something refers to a partitioned table: its partitions know. */
export function spreadReference(editor: CatalogEditor, tableId: number, reference: ReferenceDef): void {
  const table = editor.view.tableById(tableId)!;
  if (table.partitionKey === undefined) return;
  for (const { id } of childrenOf(table, editor.view)) adoptReference(editor, table, reference, id);
}

/** Answers what the partition's rows must be checked for: nothing when it has such a key of its own. */
function adoptForeignKey(
  editor: CatalogEditor,
  parent: TableDef,
  key: ForeignKeyDef,
  partitionId: number,
): Verification[] {
  const child = editor.view.tableById(partitionId)!;
  const idOf = (id: number) => existingColumn(child, columnName(parent, id)).id;
  const own = (child.foreignKeys ?? []).find(
    (other) => other.parentId === undefined && isSame(parent, key, child, other),
  );
  const part: ForeignKeyDef = {
    ...key,
    id: own?.id ?? editor.nextId(),
    name: own?.name ?? partName(child, key),
    columns: key.columns.map(idOf),
    onDeleteColumns: key.onDeleteColumns.map(idOf),
    parentId: key.parentId ?? key.id,
  };
  const others = (child.foreignKeys ?? []).filter((other) => other !== own);
  editor.replaceTable(Object.freeze({ ...child, foreignKeys: [...others, part] }));
  if (own !== undefined) {
    // The table's key looks after the referenced rows from now on.
    dropPartsOfForeignKey(editor, own.id);
    dropReferencesToPartitions(editor, own.id);
  }
  spreadForeignKey(editor, partitionId, part);
  if (own !== undefined && !own.notValid) return [];
  return key.notValid
    ? []
    : [verification(editor.view.tableById(partitionId)!, editor.view.tableById(key.tableId)!, part)];
}

/** The key's own name, unless the partition has a constraint of that name. */
function partName(child: TableDef, key: ForeignKeyDef): string {
  const columns = key.columns.map((_, i) => columnName(child, child.columns[i]!.id));
  return constraintNames(child).includes(key.name) ? constraintName(child, null, columns, "fkey") : key.name;
}

function isSame(parent: TableDef, key: ForeignKeyDef, child: TableDef, other: ForeignKeyDef): boolean {
  const describe = (table: TableDef, of: ForeignKeyDef) => {
    const names = of.columns.map((id) => columnName(table, id));
    const { tableId, references, match, onUpdate, onDelete, deferrable, initiallyDeferred } = of;
    return JSON.stringify([names, tableId, references, match, onUpdate, onDelete, deferrable, initiallyDeferred]);
  };
  return describe(parent, key) === describe(child, other);
}

function adoptReference(editor: CatalogEditor, parent: TableDef, reference: ReferenceDef, partitionId: number): void {
  const child = editor.view.tableById(partitionId)!;
  const { indexId } = reference;
  const part: ReferenceDef = {
    ...reference,
    columns: reference.columns.map((id) => existingColumn(child, columnName(parent, id)).id),
    indexId: indexId === null ? null : (child.indexes.find((index) => index.parentId === indexId)?.id ?? null),
  };
  editor.replaceTable(Object.freeze({ ...child, referencedBy: [...(child.referencedBy ?? []), part] }));
  spreadReference(editor, partitionId, part);
}

/** The parts in partitions of a foreign key that is dropped. */
export function dropPartsOfForeignKey(editor: CatalogEditor, keyId: number): void {
  for (const table of editor.view.tables()) {
    const rest = table.foreignKeys?.filter(({ parentId }) => parentId !== keyId);
    if (rest === undefined || rest.length === table.foreignKeys!.length) continue;
    editor.replaceTable(Object.freeze({ ...table, foreignKeys: rest }));
  }
}

/** What referenced tables and their partitions know of a foreign key that goes. */
export function dropReferencesToPartitions(editor: CatalogEditor, keyId: number): void {
  for (const table of editor.view.tables()) {
    const rest = table.referencedBy?.filter(({ foreignKeyId }) => foreignKeyId !== keyId);
    if (rest === undefined || rest.length === table.referencedBy!.length) continue;
    editor.replaceTable(Object.freeze({ ...table, referencedBy: rest }));
  }
}

/**
 * A partition that leaves keeps its parts of foreign keys as keys of its own, and is no longer referred to as part of
 * its table.
 */
export function disownForeignKeys(editor: CatalogEditor, partitionId: number): void {
  const table = editor.view.tableById(partitionId)!;
  const keys = table.foreignKeys ?? [];
  const freed = keys.map(({ parentId: _, ...key }): ForeignKeyDef => key);
  const outside = (table.referencedBy ?? []).filter(({ foreignKeyId, tableId }) => {
    return editor.view
      .tableById(tableId)
      ?.foreignKeys?.some(({ id, tableId: to }) => id === foreignKeyId && to === partitionId);
  });
  editor.replaceTable(
    Object.freeze({
      ...table,
      ...(table.foreignKeys && { foreignKeys: freed }),
      ...(table.referencedBy && { referencedBy: outside }),
    }),
  );
  keys.forEach((key, i) => {
    if (key.parentId === undefined) return;
    const target = editor.view.tableById(key.tableId)!;
    const before = target.referencedBy!.find(({ foreignKeyId }) => foreignKeyId === key.parentId)!;
    const reference: ReferenceDef = { ...before, foreignKeyId: key.id, tableId: partitionId };
    editor.replaceTable(Object.freeze({ ...target, referencedBy: [...target.referencedBy!, reference] }));
    spreadReference(editor, target.id, reference);
    reparent(editor, partitionId, key.parentId, freed[i]!.id);
  });
  for (const child of childrenOf(editor.view.tableById(partitionId)!, editor.view)) {
    forget(
      editor,
      child,
      new Set((table.referencedBy ?? []).filter((each) => !outside.includes(each)).map((each) => each.foreignKeyId)),
    );
  }
}

/** In the partitions of a partition: parts of one key are now parts of another. */
function reparent(editor: CatalogEditor, tableId: number, from: number, to: number): void {
  for (const child of childrenOf(editor.view.tableById(tableId)!, editor.view)) {
    const foreignKeys = child.foreignKeys?.map((key) => (key.parentId === from ? { ...key, parentId: to } : key));
    editor.replaceTable(Object.freeze({ ...child, ...(foreignKeys && { foreignKeys }) }));
    reparent(editor, child.id, from, to);
  }
}

function forget(editor: CatalogEditor, table: TableDef, keyIds: ReadonlySet<number>): void {
  const referencedBy = table.referencedBy?.filter(({ foreignKeyId }) => !keyIds.has(foreignKeyId));
  editor.replaceTable(Object.freeze({ ...table, ...(referencedBy && { referencedBy }) }));
  for (const child of childrenOf(table, editor.view)) forget(editor, child, keyIds);
}
