/** The work that remains after a definition statement was applied, and small parts that the files of ddl share. */

import { type DbError, sqlError } from "../protocol/errors.js";
import { isNamedOid } from "../values/catalog-types.js";
import type { SqlType } from "../values/values.js";
import type { CatalogEditor } from "./catalog-editor.js";
import type { RelationName } from "./ddl-command.js";
import { meant, missingColumn } from "./did-you-mean.js";
import { quotedIdentifier } from "./relation-names.js";
import type { CheckDef, ColumnDef, IndexDef, TableDef } from "./table.js";

/** A query over the new definitions that must find no row; what to throw for the first row it finds. */
export interface Verification {
  readonly sql: string;
  /** `values`: the row's, as text; null for NULL. */
  readonly error: (values: readonly (string | null)[]) => DbError;
}

/** Rows that must be rewritten under another definition of their table. */
export interface Rewrite {
  readonly before: TableDef;
  readonly after: TableDef;
  /**
   * The rows, by the columns of `after`, under the new definitions; null: the statement's own query gave them before.
   */
  readonly select: string | null;
}

/** What a definition statement did, and the work on data that it leaves, in the order in which to do it. */
export interface DdlOutcome {
  /** As PostgreSQL's command tag: "CREATE TABLE". */
  readonly tag: string;
  /** `relation "t" already exists, skipping` and the like. */
  readonly notices: readonly string[];
  /** By CREATE TABLE; absent: none, or it was there. */
  readonly made?: TableDef;
  readonly rewrites: readonly Rewrite[];
  /** Indexes whose entries must be made for the rows that are there. */
  readonly backfills: readonly { readonly table: TableDef; readonly index: IndexDef }[];
  /** Tables whose rows and index entries must go: dropped ones and truncated ones. */
  readonly cleared: readonly TableDef[];
  /** Indexes whose entries must go. */
  readonly clearedIndexes: readonly { readonly table: TableDef; readonly index: IndexDef }[];
  readonly verify: readonly Verification[];
}

export const NOTHING = {
  notices: [],
  rewrites: [],
  backfills: [],
  cleared: [],
  clearedIndexes: [],
  verify: [],
} as const;

export function at(position: number): { position: number } | undefined {
  return position > 0 ? { position } : undefined;
}

/** Throws 42P01. */
export function existingTable(editor: CatalogEditor, { schema, name, position }: RelationName): TableDef {
  const table = editor.view.table(schema, name);
  if (table === null) throw missingTable(editor, `relation "${name}"`, { schema, name, position });
  return table;
}

/** 42P01 with the table of the schema that may have been meant. */
export function missingTable(editor: CatalogEditor, spelled: string, { schema, name, position }: RelationName): Error {
  const names = editor.view.tables().flatMap((table) => (table.schema === schema ? [table.name] : []));
  return sqlError("42P01", `${spelled} does not exist`, { ...at(position), ...meant(name, names) });
}

/** `schema.name` as SQL. */
export function quotedTable(table: TableDef): string {
  return `${quotedIdentifier(table.schema)}.${quotedIdentifier(table.name)}`;
}

/**
 * The table's rows as an item of FROM, without those of tables that inherit from it; a partitioned table has no others.
 */
export function ownRows(table: TableDef): string {
  return table.partitionKey === undefined ? `ONLY ${quotedTable(table)}` : quotedTable(table);
}

export function columnName(table: TableDef, id: number): string {
  return table.columns.find((column) => column.id === id)!.name;
}

/** Names of columns as SQL, in a list. */
export function quotedColumns(table: TableDef, ids: readonly number[]): string[] {
  return ids.map((id) => quotedIdentifier(columnName(table, id)));
}

export function replaceColumn(table: TableDef, id: number, change: Partial<TableDef["columns"][number]>): TableDef {
  const columns = table.columns.map((column) => (column.id === id ? Object.freeze({ ...column, ...change }) : column));
  return Object.freeze({ ...table, columns });
}

/** What an action leaves; its notices and work are of the statement. */
export type ActionOutcome = Partial<Omit<DdlOutcome, "tag">>;

/** What several actions leave, in their order. */
export function combined(outcomes: readonly ActionOutcome[]): ActionOutcome {
  return {
    notices: outcomes.flatMap(({ notices = [] }) => notices),
    rewrites: outcomes.flatMap(({ rewrites = [] }) => rewrites),
    backfills: outcomes.flatMap(({ backfills = [] }) => backfills),
    cleared: outcomes.flatMap(({ cleared = [] }) => cleared),
    clearedIndexes: outcomes.flatMap(({ clearedIndexes = [] }) => clearedIndexes),
    verify: outcomes.flatMap(({ verify = [] }) => verify),
  };
}

/** Throws 42703. */
export function existingColumn(table: TableDef, name: string): ColumnDef {
  const column = table.columns.find((other) => other.name === name);
  if (column === undefined) {
    throw missingColumn(name, table, null);
  }
  return column;
}

/** A query for all rows of the table, by its columns. */
export function selectRows(table: TableDef, replaced: ReadonlyMap<number, string> = new Map()): string {
  const exprs = table.columns.map((column) =>
    asStored(replaced.get(column.id) ?? quotedIdentifier(column.name), column.type),
  );
  return `SELECT ${exprs.join(", ")} FROM ${ownRows(table)}`;
}

/** A query gives names for regclass and the like, where OIDs are stored. */
function asStored(expr: string, type: SqlType): string {
  const { typeName } = type.element ?? type;
  if (!isNamedOid(type.element ?? type)) return expr;
  return type.element === null ? `(${expr})::${typeName}::oid` : `(${expr})::${typeName}[]::oid[]`;
}

/** SET NOT NULL over the rows that are there. */
export function withoutNulls(table: TableDef, column: ColumnDef): Verification {
  return {
    sql: `SELECT 1 FROM ${ownRows(table)} WHERE ${quotedIdentifier(column.name)} IS NULL LIMIT 1`,
    error: () => {
      const message = `column "${column.name}" of relation "${table.name}" contains null values`;
      return sqlError("23502", message, { schema: table.schema, table: table.name, column: column.name });
    },
  };
}

/** A new CHECK over the rows that are there. */
export function satisfies(table: TableDef, check: CheckDef): Verification {
  return {
    sql: `SELECT 1 FROM ${ownRows(table)} WHERE NOT (${check.sql}) LIMIT 1`,
    error: () =>
      sqlError("23514", `check constraint "${check.name}" of relation "${table.name}" is violated by some row`, {
        schema: table.schema,
        table: table.name,
        constraint: check.name,
      }),
  };
}

export function withoutPrimaryKey(table: TableDef): TableDef {
  const { primaryKeyInclude: _, ...rest } = table;
  return Object.freeze({ ...rest, primaryKey: null, primaryKeyName: null });
}
