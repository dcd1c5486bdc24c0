/**
 * The layout of a table's rows in storage, computed once per table definition: types by column id, key columns of the
 * primary key and of every index. Definitions are immutable, so the layout is cached by them.
 *
 * A row is `rowPrefix · suffix → record`; the suffix is the encoded primary key, or the row number of a table without
 * one. An index entry is `indexPrefix · encoded columns [· suffix] → suffix` and perhaps more (entry-value.ts). The
 * suffix is part of the key unless the index is unique and none of the columns is NULL, so that a second row with the
 * same values finds the key taken.
 */
import { withoutReferences } from "../../catalog/object-reference.js";
import { type ColumnDef, forbidsOverlap, type IndexDef, storageOf, type TableDef } from "../../catalog/table.js";
import { encodeKey, type KeyColumn } from "../../storage/key-codec.js";
import { indexPrefix, rowPrefix } from "../../storage/keys.js";
import { type RecordDecoder, recordDecoder } from "../../storage/record-codec.js";
import { fromText, toText } from "../../values/text-format.js";
import type { SqlType, Value } from "../../values/values.js";

export interface KeyLayout {
  /** Of the index or constraint, for messages and EXPLAIN. */
  readonly name: string;
  readonly unique: boolean;
  /**
   * A key that is checked at the end of the statement or transaction, or that forbids more than equal values; its
   * entries are those of an ordinary index.
   */
  readonly deferrable: boolean;
  /** It forbids more than equal values in its last column; "deferrable": perhaps until the transaction ends. */
  readonly overlap: false | "immediate" | "deferrable";
  /** That no two values of the last column may satisfy. */
  readonly operator: string;
  /** An EXCLUDE constraint. */
  readonly exclusion: boolean;
  /** NULL counts as equal to NULL. */
  readonly nullsNotDistinct: boolean;
  /** The index's id; 0 for the primary key. */
  readonly indexId: number;
  /** Its keys or its predicate are expressions: values come from TableExpressions. */
  readonly computed: boolean;
  /** EXPRESSION_COLUMN for an expression. */
  readonly columnIds: readonly number[];
  /** Of columns, or the text of expressions; for messages. */
  readonly columnNames: readonly string[];
  readonly columns: readonly KeyColumn[];
  /** The INCLUDE columns whose values entries have; null: none. */
  readonly included: { readonly ids: readonly number[]; readonly types: readonly SqlType[] } | null;
  /** The first bytes of all its keys, for a tenant. */
  readonly prefixOf: (tenantNumber: number) => Buffer;
}

/** What its entries are made of, as another thread may have it. */
export type EntryLayout = Omit<KeyLayout, "prefixOf">;

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
  /** It has generated columns, or indexes over expressions or with predicates. */
  readonly computed: boolean;
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
  const rowPrefixOf = lastOf((tenant) => rowPrefix(tenant, storageOf(table)));
  return {
    table,
    types,
    missing: missingValues(table),
    notNull: table.columns.filter((column) => column.notNull || table.primaryKey?.includes(column.id)),
    rowPrefixOf,
    primaryKey: table.primaryKey && {
      name: table.primaryKeyName ?? `${table.name}_pkey`,
      unique: true,
      deferrable: false,
      overlap: false,
      operator: "=",
      exclusion: false,
      nullsNotDistinct: false,
      indexId: 0,
      computed: false,
      columnIds: table.primaryKey,
      columnNames: table.primaryKey.map((id) => columnOf(table, id).name),
      columns: table.primaryKey.map((id) => ({ type: types[id]!, descending: false, nullsFirst: false })),
      included: null,
      prefixOf: rowPrefixOf,
    },
    indexes: ownIndexes(table).map((index) => indexLayout(table, index)),
    computed: table.columns.some((column) => column.generatedSql) || table.indexes.some(isComputed),
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
    deferrable: index.deferrable !== undefined || forbidsOverlap(index),
    overlap: forbidsOverlap(index) && (index.deferrable === undefined ? "immediate" : "deferrable"),
    operator: index.operators?.at(-1) ?? "=",
    exclusion: index.exclusion ?? false,
    nullsNotDistinct: index.nullsNotDistinct ?? false,
    indexId: index.id,
    computed: isComputed(index),
    columnIds: index.columns.map((column) => column.columnId),
    columnNames: index.columns.map(
      ({ columnId, expression }) => (expression && withoutReferences(expression.sql)) ?? columnOf(table, columnId).name,
    ),
    columns: index.columns.map(({ columnId, expression, descending, nullsFirst }) => ({
      type: expression?.type ?? columnOf(table, columnId).type,
      descending,
      nullsFirst,
    })),
    included: includedColumns(table, index),
    prefixOf: lastOf((tenant) => indexPrefix(tenant, storageOf(table), index.id)),
  };
}

function includedColumns(table: TableDef, { include, storesIncluded }: IndexDef): KeyLayout["included"] {
  if (!storesIncluded || include === undefined) return null;
  return { ids: include, types: include.map((id) => columnOf(table, id).type) };
}

/** Whether the index has keys that are expressions, or a predicate. */
export function isComputed(index: IndexDef): boolean {
  return Boolean(index.where) || index.columns.some((column) => column.expression !== undefined);
}

function columnOf(table: TableDef, id: number): ColumnDef {
  return table.columns.find((column) => column.id === id)!;
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

/** A record's values by column id. */
export function rowOfRecord(layout: TableLayout, record: Uint8Array): Value[] {
  const ids = layout.table.columns.map(({ id }) => id);
  const columns: Value[][] = ids.map(() => []);
  decoderOf(layout, ids)(record, columns, 0);
  const row = new Array<Value>(layout.table.nextColumnId).fill(null);
  ids.forEach((id, i) => {
    row[id] = columns[i]![0]!;
  });
  return row;
}

/** The values of the key's columns in a row, which is an array by column id. */
export function keyValues(key: KeyLayout, row: readonly Value[]): Value[] {
  return key.columnIds.map((id) => row[id]!);
}

/** The key of an entry. NULLs are distinct, unless told otherwise: with one, the suffix makes it unlike any other. */
export function entryKey(index: KeyLayout, tenantNumber: number, values: readonly Value[], suffix: Uint8Array): Buffer {
  const key = encodeKey(index.prefixOf(tenantNumber), index.columns, values);
  return index.unique && (index.nullsNotDistinct || !values.includes(null)) ? key : joinKey(key, suffix);
}

/** `(a, b)=(1, x)`, for the details of errors. */
export function keyText(key: KeyLayout, values: readonly Value[], timeZone: string): string {
  const texts = values.map((value, i) => valueText(key.columns[i]!.type, value, timeZone));
  return `(${key.columnNames.join(", ")})=(${texts.join(", ")})`;
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
