/**
 * Definitions of relations as the catalog stores them (JSON records in the tenant's shard) and as binder, optimizer
 * and executor read them. Definitions are immutable: a DDL statement writes a new one.
 */
import type { SqlType } from "../protocol/values.js";

export interface ColumnDef {
  /** Unique within its table for ever; a dropped column's id is never reused. Position in a stored record. */
  readonly id: number;
  readonly name: string;
  readonly type: SqlType;
  readonly notNull: boolean;
  /** DEFAULT as SQL text, bound when a statement needs it. */
  readonly defaultSql: string | null;
  /** Value of rows stored before the column was added, as SQL text. */
  readonly missingSql: string | null;
  /** GENERATED … AS IDENTITY or SERIAL. */
  readonly identity: "always" | "by default" | null;
}

export interface IndexColumn {
  readonly columnId: number;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export interface IndexDef {
  /** Unique within the tenant; part of every key of the index. */
  readonly id: number;
  readonly name: string;
  readonly kind: "btree";
  readonly columns: readonly IndexColumn[];
  readonly unique: boolean;
  /** The constraint that the index backs, if any. */
  readonly constraint: "primary key" | "unique" | null;
}

export interface CheckDef {
  readonly name: string;
  readonly sql: string;
}

export interface TableDef {
  /** Unique within the tenant; part of every key of the table. */
  readonly id: number;
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly ColumnDef[];
  /** Column ids of the primary key; null: rows are keyed by a hidden row number. */
  readonly primaryKey: readonly number[] | null;
  readonly primaryKeyName: string | null;
  readonly indexes: readonly IndexDef[];
  readonly checks: readonly CheckDef[];
  readonly nextColumnId: number;
  /** Microseconds since the epoch. */
  readonly createdAt: number;
}
