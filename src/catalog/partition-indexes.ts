/**
 * Keys and indexes that partitions share with their table. Each index of a partitioned table has a counterpart in
 * every partition (IndexDef.parentId, TableDef.primaryKeyInherited). Called by the files of ddl;
 * partition-foreign-keys.ts does the same for foreign keys.
 */
import { sqlError } from "../protocol/errors.js";
import type { CatalogEditor } from "./catalog-editor.js";
import {
  type ActionOutcome,
  columnName,
  combined,
  existingColumn,
  selectRows,
  withoutPrimaryKey,
} from "./ddl-outcome.js";
import { childrenOf } from "./inheritance.js";
import { adoptForeignKeys } from "./partition-foreign-keys.js";
import { checkUniqueIndex, checkUniqueKey } from "./partition-keys.js";
import { expressionPart } from "./relation-names.js";
import { EXPRESSION_COLUMN, type IndexColumn, type IndexDef, type TableDef } from "./table.js";
import { TableNames } from "./table-names.js";

/** All keys of the partitioned table, in a partition that joins it. `isEmpty`: a new table. */
export function adoptKeys(
  editor: CatalogEditor,
  parent: TableDef,
  partitionId: number,
  isEmpty: boolean,
): ActionOutcome {
  const outcomes: ActionOutcome[] = [];
  if (parent.primaryKey !== null) outcomes.push(adoptPrimaryKey(editor, parent, partitionId, isEmpty));
  for (const index of parent.indexes) outcomes.push(adoptIndex(editor, parent, index, partitionId, isEmpty));
  outcomes.push(adoptForeignKeys(editor, parent, partitionId, isEmpty));
  return combined(outcomes);
}

/** After a partitioned table got a primary key: all its partitions get it. */
export function spreadPrimaryKey(editor: CatalogEditor, table: TableDef, isEmpty = false): ActionOutcome {
  const children = table.partitionKey === undefined ? [] : childrenOf(table, editor.view);
  return combined(children.map(({ id }) => adoptPrimaryKey(editor, table, id, isEmpty)));
}

/** After a partitioned table got an index: all its partitions get it. */
export function spreadIndex(editor: CatalogEditor, table: TableDef, index: IndexDef, isEmpty = false): ActionOutcome {
  const children = table.partitionKey === undefined ? [] : childrenOf(table, editor.view);
  return combined(children.map(({ id }) => adoptIndex(editor, table, index, id, isEmpty)));
}

function adoptPrimaryKey(
  editor: CatalogEditor,
  parent: TableDef,
  partitionId: number,
  isEmpty: boolean,
): ActionOutcome {
  const child = editor.view.tableById(partitionId)!;
  const names = parent.primaryKey!.map((id) => columnName(parent, id));
  if (child.primaryKey !== null) {
    const same = child.primaryKey.map((id) => columnName(child, id)).join("\0") === names.join("\0");
    if (!same || child.primaryKeyInherited) {
      throw sqlError("42P16", `multiple primary keys for table "${child.name}" are not allowed`);
    }
    editor.replaceTable(Object.freeze({ ...child, primaryKeyInherited: true }));
    return {};
  }
  const ids = names.map((name) => existingColumn(child, name).id);
  checkUniqueKey(child, ids, "PRIMARY KEY");
  const after: TableDef = Object.freeze({
    ...child,
    columns: child.columns.map((column) =>
      ids.includes(column.id) ? Object.freeze({ ...column, notNull: true }) : column,
    ),
    primaryKey: ids,
    primaryKeyName: new TableNames(editor, child.schema, child.name).relation(null, [], "pkey"),
    ...(parent.primaryKeyInclude && {
      primaryKeyInclude: parent.primaryKeyInclude.map((id) => existingColumn(child, columnName(parent, id)).id),
    }),
    primaryKeyInherited: true,
  });
  editor.replaceTable(after);
  if (child.partitionKey !== undefined) return spreadPrimaryKey(editor, after, isEmpty);
  return isEmpty ? {} : { rewrites: [{ before: child, after, select: selectRows(after) }] };
}

function adoptIndex(
  editor: CatalogEditor,
  parent: TableDef,
  index: IndexDef,
  partitionId: number,
  isEmpty: boolean,
): ActionOutcome {
  const child = editor.view.tableById(partitionId)!;
  const found = child.indexes.find((other) => fits(parent, index, child, other));
  if (found !== undefined) {
    replaceIndex(editor, child, { ...found, parentId: index.id });
    if (found.invalid) invalidate(editor, parent.id, index.id);
    return {};
  }
  const idOf = (id: number) => existingColumn(child, columnName(parent, id)).id;
  const { parentId: _, invalid: __, ...rest } = index;
  const copy: IndexDef = Object.freeze({
    ...rest,
    id: editor.nextId(),
    name: new TableNames(editor, child.schema, child.name).relation(
      null,
      [
        ...index.columns.map((key) => keyName(parent, key)),
        ...(index.include ?? []).map((id) => columnName(parent, id)),
      ],
      index.constraint === null ? "idx" : "key",
    ),
    columns: index.columns.map((key) =>
      key.columnId === EXPRESSION_COLUMN ? key : { ...key, columnId: idOf(key.columnId) },
    ),
    ...(index.include && { include: index.include.map(idOf), storesIncluded: true }),
    parentId: index.id,
  });
  checkUniqueIndex(child, copy);
  const table = editor.createIndex(child, copy);
  if (child.partitionKey !== undefined) return spreadIndex(editor, table, copy, isEmpty);
  return isEmpty ? {} : { backfills: [{ table, index: copy }] };
}

/** The index lacks a valid part, and so does the one above it. */
function invalidate(editor: CatalogEditor, tableId: number, indexId: number): void {
  const table = editor.view.tableById(tableId)!;
  const index = table.indexes.find(({ id }) => id === indexId)!;
  replaceIndex(editor, table, { ...index, invalid: true });
  if (index.parentId !== undefined) invalidate(editor, table.parents![0]!, index.parentId);
}

/** The name that a key has in made-up names of indexes. */
function keyName(table: TableDef, { columnId, expression }: IndexColumn): string {
  if (expression === undefined) return columnName(table, columnId);
  return expressionPart(expression.sql);
}

/** Whether an index of a partition can be the part of the table's index there. */
export function fits(parent: TableDef, index: IndexDef, child: TableDef, other: IndexDef): boolean {
  if (other.parentId !== undefined || (index.constraint !== null && other.constraint === null)) return false;
  return describe(parent, index) === describe(child, other);
}

function describe(table: TableDef, index: IndexDef): string {
  const { unique, where = null, include = [], nullsNotDistinct = false } = index;
  const keys = index.columns.map(({ columnId, expression, descending, nullsFirst }) => {
    return [expression?.sql ?? columnName(table, columnId), expression === undefined, descending, nullsFirst];
  });
  const included = include.map((id) => columnName(table, id));
  return JSON.stringify([keys, unique, where, included, nullsNotDistinct]);
}

/** The table with a new definition of the index. */
export function replaceIndex(editor: CatalogEditor, table: TableDef, index: IndexDef): void {
  const indexes = table.indexes.map((other) => (other.id === index.id ? Object.freeze(index) : other));
  editor.replaceTable(Object.freeze({ ...table, indexes }));
}

/** Before a partitioned table's index goes: its parts in the partitions go. */
export function dropIndexParts(editor: CatalogEditor, table: TableDef, index: IndexDef): ActionOutcome {
  const cleared = childrenOf(table, editor.view).flatMap((child) => {
    const part = child.indexes.find(({ parentId }) => parentId === index.id);
    if (part === undefined) return [];
    const below = dropIndexParts(editor, child, part).clearedIndexes ?? [];
    editor.dropIndex(editor.view.tableById(child.id)!, part);
    return [...below, { table: child, index: part }];
  });
  return { clearedIndexes: cleared };
}

/** Before a partitioned table's primary key goes: its parts in the partitions go. */
export function dropPrimaryKeyParts(editor: CatalogEditor, table: TableDef): ActionOutcome {
  const outcomes = childrenOf(table, editor.view).map((child): ActionOutcome => {
    if (!child.primaryKeyInherited) return {};
    const below = dropPrimaryKeyParts(editor, child);
    const { primaryKeyInherited: _, ...rest } = child;
    const after = withoutPrimaryKey(rest);
    editor.replaceTable(after);
    return combined([below, { rewrites: [{ before: child, after, select: selectRows(after) }] }]);
  });
  return combined(outcomes);
}

/** A partition that leaves keeps its keys as its own. */
export function disownKeys(editor: CatalogEditor, partitionId: number): void {
  const { primaryKeyInherited: _, ...table } = editor.view.tableById(partitionId)!;
  const indexes = table.indexes.map((index) => {
    const { parentId: __, ...own } = index;
    return Object.freeze(own);
  });
  editor.replaceTable(Object.freeze({ ...table, indexes }));
}

/**
 * ALTER INDEX … ATTACH PARTITION. The table's index is valid once every partition has its part. Throws 55000 when the
 * two do not fit.
 */
export function attachIndex(
  editor: CatalogEditor,
  table: TableDef,
  action: { readonly index: string; readonly schema: string; readonly partition: string },
): ActionOutcome {
  const child = childrenOf(table, editor.view).find((partition) => {
    const names = [partition.primaryKeyName, ...partition.indexes.map(({ name }) => name)];
    return partition.schema === action.schema && names.includes(action.partition);
  });
  const refuse = (detail: string, code = "42P17") =>
    sqlError(code, `cannot attach index "${action.partition}" as a partition of index "${action.index}"`, {
      detail,
    });
  if (child === undefined) {
    throw refuse(`Index "${action.partition}" is not an index on any partition of table "${table.name}".`, "55000");
  }
  if (action.index === table.primaryKeyName) {
    if (child.primaryKeyName !== action.partition) throw refuse("The index definitions do not match.");
    if (child.primaryKeyInherited) return {};
    editor.replaceTable(Object.freeze({ ...child, primaryKeyInherited: true }));
    const { primaryKeyInvalid: _, ...valid } = table;
    const all = childrenOf(table, editor.view).every((partition) => partition.primaryKeyInherited);
    if (all) editor.replaceTable(Object.freeze(valid));
    return {};
  }
  const index = table.indexes.find(({ name }) => name === action.index)!;
  const own = child.indexes.find(({ name }) => name === action.partition);
  if (own?.parentId === index.id) return {};
  if (own?.parentId !== undefined) {
    throw refuse(`Index "${own.name}" is already attached to another index.`, "55000");
  }
  const other = child.indexes.find(({ parentId }) => parentId === index.id);
  if (other !== undefined) throw refuse(`Another index is already attached for partition "${child.name}".`, "55000");
  if (own === undefined || !fits(table, index, child, own)) {
    throw refuse("The index definitions do not match.");
  }
  replaceIndex(editor, child, { ...own, parentId: index.id });
  validateIndex(editor, table.id, index.id);
  return {};
}

/** An index that all partitions have a valid part of is valid, and so may be the one above it. */
function validateIndex(editor: CatalogEditor, tableId: number, indexId: number): void {
  const table = editor.view.tableById(tableId)!;
  const index = table.indexes.find(({ id }) => id === indexId)!;
  const hasPart = (partition: TableDef) =>
    partition.indexes.some(({ parentId, invalid }) => parentId === indexId && !invalid);
  if (!index.invalid || !childrenOf(table, editor.view).every(hasPart)) return;
  const { invalid: _, ...valid } = index;
  replaceIndex(editor, table, valid);
  if (index.parentId !== undefined) validateIndex(editor, table.parents![0]!, index.parentId);
}
