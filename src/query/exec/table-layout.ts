/**
 * How the rows of a table lie in storage, worked out once per table definition: types by column id, key columns of the
 * primary key and of every index. Definitions are immutable, so the layout is cached by them.
 *
 * A row is `rowPrefix · suffix → record`; the suffix is the encoded primary key, or the row number of a table without
 * one. An index entry is `indexPrefix · encoded columns [· suffix] → suffix`: the suffix is part of the key unless the
 * index is unique and none of the columns is NULL, so that a second row with the same values finds the key taken.
 */
import type { ColumnDef, IndexDef, TableDef } from "../../catalog/table.js";
import { fromText, toText } from "../../protocol/text-format.js";
import type { SqlType, Value } from "../../protocol/values.js";
import { encodeKey, type KeyColumn } from "../../storage/key-codec.js";
import { indexPrefix, rowPrefix } from "../../storage/keys.js";
import { type RecordDecoder, recordDecoder } from "../../storage/record-codec.js";

export interface KeyLayout {
  /** Of the index or constraint, for messages and EXPLAIN. */
  readonly name: string;
  readonly unique: boolean;
  readonly columnIds: readonly number[];
  readonly columns: readonly KeyColumn[];
  /** The first bytes of all its keys, for a tenant. */
  readonly prefixOf: (tenantNumber: number) => Buffer;
}

export interface TableLayout {
  readonly table: TableDef;
  /** By column id; null for columns that were dropped. */
  readonly types: readonly (SqlType | null)[];
  /** By column id: what records that were stored before the column was added have in it. */
  readonly missing: readonly Value[];
  /** Columns that must not be NULL, key columns included. */
  readonly notNull: readonly ColumnDef[];
  readonly rowPrefixOf: (tenantNumber: number) => Buffer;
  /** Null: rows are keyed by row numbers. */
  readonly primaryKey: KeyLayout | null;
  /** The indexes that have entries of their own, in the table's order. */
  readonly indexes: readonly KeyLayout[];
}

const layouts = new WeakMap<TableDef, TableLayout>();

export function layoutOf(table: TableDef): TableLayout {
  let layout = layouts.get(table);
  if (layout === undefined) {
    layout = makeLayout(table);
    layouts.set(table, layout);
  }
  return layout;
}

function makeLayout(table: TableDef): TableLayout {
  const types = new Array<SqlType | null>(table.nextColumnId).fill(null);
  for (const column of table.columns) types[column.id] = column.type;
  const rowPrefixOf = lastOf((tenant) => rowPrefix(tenant, table.id));
  return {
    table,
    types,
    missing: missingValues(table),
    notNull: table.columns.filter((column) => column.notNull || table.primaryKey?.includes(column.id)),
    rowPrefixOf,
    primaryKey: table.primaryKey && {
      name: table.primaryKeyName ?? `${table.name}_pkey`,
      unique: true,
      columnIds: table.primaryKey,
      columns: table.primaryKey.map((id) => ({ type: types[id]!, descending: false, nullsFirst: false })),
      prefixOf: rowPrefixOf,
    },
    indexes: ownIndexes(table).map((index) => indexLayout(table, index)),
  };
}

/** By column id. A definition keeps the value in its type's text form. */
function missingValues(table: TableDef): readonly Value[] {
  const values = new Array<Value>(table.nextColumnId).fill(null);
  for (const column of table.columns) {
    if (column.missingSql !== null) values[column.id] = fromText(column.type, column.missingSql);
  }
  return values;
}

/** Without the index that a primary key counts as: its entries are the rows themselves. */
export function ownIndexes(table: TableDef): readonly IndexDef[] {
  return table.indexes.filter((index) => index.constraint !== "primary key");
}

export function indexLayout(table: TableDef, index: IndexDef): KeyLayout {
  return {
    name: index.name,
    unique: index.unique,
    columnIds: index.columns.map((column) => column.columnId),
    columns: index.columns.map(({ columnId, descending, nullsFirst }) => ({
      type: table.columns.find((column) => column.id === columnId)!.type,
      descending,
      nullsFirst,
    })),
    prefixOf: lastOf((tenant) => indexPrefix(tenant, table.id, index.id)),
  };
}

export function keyLayoutOf(table: TableDef, index: IndexDef | "primary key"): KeyLayout {
  const layout = layoutOf(table);
  if (index === "primary key" || index.constraint === "primary key") return layout.primaryKey!;
  return layout.indexes[ownIndexes(table).indexOf(index)] ?? indexLayout(table, index);
}

/** Remembers the answer for the last tenant: a definition, and so nearly always its plans, belong to one. */
function lastOf(make: (tenantNumber: number) => Buffer): (tenantNumber: number) => Buffer {
  let last = -1;
  let prefix: Buffer = Buffer.alloc(0);
  return (tenantNumber) => {
    if (tenantNumber !== last) {
      prefix = make(tenantNumber);
      last = tenantNumber;
    }
    return prefix;
  };
}

/** Reads the columns with these ids out of a record; see recordDecoder. */
export function decoderOf(layout: TableLayout, ids: readonly number[]): RecordDecoder {
  return recordDecoder(
    layout.types,
    ids,
    ids.map((id) => layout.missing[id]!),
  );
}

/** The values of the key's columns in a row, which is an array by column id. */
export function keyValues(key: KeyLayout, row: readonly Value[]): Value[] {
  return key.columnIds.map((id) => row[id]!);
}

/** The key of a row's entry in an index. NULLs are distinct: with one, the suffix makes the entry unlike any other. */
export function entryKey(index: KeyLayout, tenantNumber: number, row: readonly Value[], suffix: Uint8Array): Buffer {
  const values = keyValues(index, row);
  const key = encodeKey(index.prefixOf(tenantNumber), index.columns, values);
  return index.unique && !values.includes(null) ? key : joinKey(key, suffix);
}

/** `(a, b)=(1, x)`, for the details of errors. */
export function keyText(table: TableDef, key: KeyLayout, row: readonly Value[], timeZone: string): string {
  const names = key.columnIds.map((id) => table.columns.find((column) => column.id === id)!.name);
  const values = key.columnIds.map((id, i) => valueText(key.columns[i]!.type, row[id]!, timeZone));
  return `(${names.join(", ")})=(${values.join(", ")})`;
}

export function valueText(type: SqlType, value: Value, timeZone: string): string {
  return value === null ? "null" : toText(type, value, timeZone);
}

/** `prefix · suffix`. */
export function joinKey(prefix: Uint8Array, suffix: Uint8Array): Buffer {
  const key = Buffer.allocUnsafe(prefix.length + suffix.length);
  key.set(prefix);
  key.set(suffix, prefix.length);
  return key;
}
