/**
 * Definition statements after binding: names are resolved to schemas, types to SqlTypes, defaults and checks are
 * proven to bind and kept as SQL text. `sql/bind` makes them, `ddl.ts` applies them.
 */
import type { SqlType } from "../protocol/values.js";
import type { SequenceOptions } from "./sequence.js";

export type DdlCommand =
  | CreateTableCommand
  | DropTableCommand
  | CreateIndexCommand
  | DropIndexCommand
  | TruncateCommand;

export interface NewColumn {
  readonly name: string;
  readonly type: SqlType;
  readonly notNull: boolean;
  readonly defaultSql: string | null;
  readonly identity: "always" | "by default" | null;
  /** Of an identity or SERIAL column: a sequence that belongs to it is made, and its next value is the default. */
  readonly sequence: SequenceOptions | null;
}

/** A PRIMARY KEY or UNIQUE constraint; `name` null: made up as PostgreSQL does (`t_pkey`, `t_a_b_key`). */
export interface NewKey {
  readonly name: string | null;
  readonly columns: readonly string[];
}

export interface CreateTableCommand {
  readonly kind: "create table";
  readonly schema: string;
  readonly name: string;
  readonly ifNotExists: boolean;
  readonly columns: readonly NewColumn[];
  readonly primaryKey: NewKey | null;
  readonly uniques: readonly NewKey[];
  /** `column`: the one column that the check is about, for its made-up name (`t_a_check`). */
  readonly checks: readonly { readonly name: string | null; readonly sql: string; readonly column: string | null }[];
}

export interface RelationName {
  readonly schema: string;
  readonly name: string;
  /** Of the name in the statement, for messages. */
  readonly position: number;
}

export interface DropTableCommand {
  readonly kind: "drop table";
  readonly tables: readonly RelationName[];
  readonly ifExists: boolean;
  readonly cascade: boolean;
}

export interface NewIndexColumn {
  readonly name: string;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export interface CreateIndexCommand {
  readonly kind: "create index";
  /** null: made up as PostgreSQL does (`t_a_b_idx`). */
  readonly name: string | null;
  readonly table: RelationName;
  readonly unique: boolean;
  readonly ifNotExists: boolean;
  readonly columns: readonly NewIndexColumn[];
}

export interface DropIndexCommand {
  readonly kind: "drop index";
  readonly indexes: readonly RelationName[];
  readonly ifExists: boolean;
  readonly cascade: boolean;
}

/** Empties the tables. */
export interface TruncateCommand {
  readonly kind: "truncate";
  readonly tables: readonly RelationName[];
}
