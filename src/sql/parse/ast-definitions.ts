/**
 * The syntax tree of statements that define things: tables, indexes, views, types, sequences, and what changes, renames
 * or drops them. Made by from-pg-ddl.ts and its neighbours; ast.ts has the other statements.
 */

import type { TableLockMode } from "../../protocol/lock-strength.js";
import type { PartitionBoundNode, PartitionByNode } from "./ast-partition.js";
import type { ExprNode, NameNode, QueryNode, TypeNode } from "./ast-query.js";

export type ForeignKeyAction = "no action" | "restrict" | "cascade" | "set null" | "set default";

export type ConstraintNode = {
  readonly name: string | null;
  readonly deferrable: boolean;
  readonly initiallyDeferred: boolean;
  /** NOT VALID: existing rows are not checked. */
  readonly notValid: boolean;
  readonly position: number;
} & (
  | { readonly kind: "null" | "not null" }
  | { readonly kind: "default"; readonly expr: ExprNode }
  | { readonly kind: "identity"; readonly always: boolean; readonly options: readonly OptionNode[] }
  | { readonly kind: "generated"; readonly expr: ExprNode; readonly stored: boolean }
  | { readonly kind: "check"; readonly expr: ExprNode; readonly noInherit?: true }
  /** `INTEGER PRIMARY KEY`, AUTO_INCREMENT: what an INSERT does not give is assigned. */
  | { readonly kind: "assigned" }
  /** ON UPDATE CURRENT_TIMESTAMP */
  | { readonly kind: "on update"; readonly expr: ExprNode }
  | {
      readonly kind: "primary key" | "unique";
      /** Empty on a column's own constraint. */
      readonly columns: readonly string[];
      readonly including: readonly string[];
      readonly nullsNotDistinct: boolean;
      /** USING INDEX name */
      readonly index: string | null;
    }
  | {
      readonly kind: "exclude";
      readonly method: string;
      readonly elements: readonly IndexElement[];
      /** One per element. */
      readonly operators: readonly string[];
      readonly including: readonly string[];
      readonly where: ExprNode | null;
    }
  | {
      readonly kind: "foreign key";
      readonly columns: readonly string[];
      readonly table: NameNode;
      readonly references: readonly string[];
      readonly match: "simple" | "full" | "partial";
      readonly onUpdate: ForeignKeyAction;
      readonly onDelete: ForeignKeyAction;
      readonly onDeleteColumns: readonly string[];
    }
);

export interface ColumnDefNode {
  readonly name: string;
  readonly type: TypeNode;
  readonly constraints: readonly ConstraintNode[];
  readonly collation: readonly string[] | null;
  readonly position: number;
}

export interface CreateTableStatement {
  readonly kind: "create table";
  readonly name: NameNode;
  readonly persistence: Persistence;
  readonly ifNotExists: boolean;
  readonly columns: readonly ColumnDefNode[];
  readonly constraints: readonly ConstraintNode[];
  /** LIKE table INCLUDING …; the grammar's bit mask of options, and how many columns stand before it. */
  readonly like: readonly { readonly table: NameNode; readonly options: number; readonly after: number }[];
  /** OF type; absent: the columns are listed. */
  readonly ofType?: TypedTableNode;
  /** INHERITS; absent: none. */
  readonly inherits?: readonly NameNode[];
  /** CREATE IMMUTABLE TABLE. */
  readonly immutable: boolean;
  readonly options: readonly OptionNode[];
  readonly onCommit: "preserve" | "delete" | "drop";
  readonly partitionBy?: PartitionByNode;
  /** Then `columns` is empty. */
  readonly partitionOf?: PartitionOfNode;
  readonly position: number;
}

/** PARTITION OF parent (column constraints) bound; constraints of the table stand with the statement. */
export interface PartitionOfNode {
  readonly parent: NameNode;
  readonly bound: PartitionBoundNode;
  readonly columns: readonly PartitionColumnNode[];
}

/** A column that the parent has, with constraints of the partition's own. */
export interface PartitionColumnNode {
  readonly name: string;
  readonly constraints: readonly ConstraintNode[];
  readonly position: number;
}

/** OF type (column WITH OPTIONS constraints, …) */
export interface TypedTableNode {
  readonly type: TypeNode;
  readonly columns: readonly PartitionColumnNode[];
}

export type Persistence = "permanent" | "temporary" | "unlogged";

export interface CreateTableAsStatement {
  readonly kind: "create table as";
  readonly name: NameNode;
  readonly persistence: Persistence;
  readonly materializedView: boolean;
  readonly ifNotExists: boolean;
  readonly columns: readonly string[];
  readonly query: QueryNode;
  readonly onCommit: "preserve" | "delete" | "drop";
  readonly options: readonly OptionNode[];
  readonly withData: boolean;
  /** The whole statement, which a materialized view keeps. */
  readonly text: string;
  readonly position: number;
}

/** One key of an index: a column or an expression. */
export interface IndexElement {
  readonly column: string | null;
  readonly expr: ExprNode | null;
  readonly descending: boolean;
  readonly nullsFirst: boolean | null;
  readonly operatorClass: string | null;
  readonly collation: readonly string[] | null;
}

export interface CreateIndexStatement {
  readonly kind: "create index";
  readonly name: string | null;
  readonly table: NameNode;
  readonly concurrently?: true;
  readonly unique: boolean;
  readonly ifNotExists: boolean;
  readonly nullsNotDistinct: boolean;
  /** USING method, lower case. */
  readonly method: string;
  readonly elements: readonly IndexElement[];
  readonly including: readonly string[];
  readonly where: ExprNode | null;
  readonly options: readonly OptionNode[];
  readonly position: number;
}

export interface CreateExtensionStatement {
  readonly kind: "create extension";
  readonly name: string;
  readonly ifNotExists: boolean;
  readonly position: number;
}

export interface CreateViewStatement {
  readonly kind: "create view";
  readonly name: NameNode;
  readonly persistence: Persistence;
  readonly replace: boolean;
  readonly columns: readonly string[];
  readonly query: QueryNode;
  /** WITH CHECK OPTION. */
  readonly checkOption: "local" | "cascaded" | null;
  readonly options: readonly OptionNode[];
  /** The whole statement, which the view keeps. */
  readonly text: string;
  readonly position: number;
}

/** CREATE TYPE: an enum's labels or a composite type's fields. */
export interface CreateTypeStatement {
  readonly kind: "create type";
  readonly name: NameNode;
  readonly labels: readonly string[] | null;
  readonly fields: readonly { readonly name: string; readonly type: TypeNode }[];
  /** Of AS RANGE: its options, in the order given; `value` null where it is neither a name nor a type. */
  readonly range?: readonly RangeOption[];
  readonly position: number;
}

export interface RangeOption {
  readonly name: string;
  readonly value: TypeNode | null;
}

/** ALTER TYPE … ADD VALUE, or RENAME VALUE with `oldLabel`. */
export interface AlterEnumStatement {
  readonly kind: "alter enum";
  readonly name: NameNode;
  readonly label: string;
  readonly oldLabel: string | null;
  readonly neighbor: string | null;
  readonly after: boolean;
  readonly ifNotExists: boolean;
  readonly position: number;
}

/** ALTER TYPE … of a composite type; RENAME ATTRIBUTE is a RenameStatement. */
export interface AlterCompositeStatement {
  readonly kind: "alter composite";
  readonly name: NameNode;
  readonly changes: readonly (
    | { readonly kind: "add" | "retype"; readonly name: string; readonly type: TypeNode }
    | { readonly kind: "drop"; readonly name: string; readonly ifExists: boolean }
  )[];
  readonly cascade: boolean;
  readonly position: number;
}

export interface CreateDomainStatement {
  readonly kind: "create domain";
  readonly name: NameNode;
  readonly type: TypeNode;
  readonly constraints: readonly ConstraintNode[];
  readonly position: number;
}

export interface AlterDomainStatement {
  readonly kind: "alter domain";
  readonly name: NameNode;
  readonly command:
    | { readonly kind: "set default"; readonly expr: ExprNode }
    | { readonly kind: "drop default" | "set not null" | "drop not null" }
    | { readonly kind: "add constraint"; readonly constraint: ConstraintNode }
    | { readonly kind: "drop constraint"; readonly name: string; readonly ifExists: boolean }
    | { readonly kind: "validate constraint"; readonly name: string };
  readonly position: number;
}

/** ALTER … SET SCHEMA. */
export interface SetSchemaStatement {
  readonly kind: "set schema";
  readonly object: "relation" | "sequence" | "type";
  readonly name: NameNode;
  readonly schema: string;
  readonly ifExists: boolean;
  readonly position: number;
}

export interface LockStatement {
  readonly kind: "lock";
  readonly tables: readonly NameNode[];
  readonly mode: TableLockMode;
  readonly nowait: boolean;
  readonly position: number;
}

export interface DiscardStatement {
  readonly kind: "discard";
  readonly what: "all" | "plans" | "sequences" | "temp";
  readonly position: number;
}

/** CREATE, ALTER and DROP DATABASE. */
export type DatabaseStatement = { readonly kind: "database"; readonly position: number } & DatabaseAction;

export type DatabaseAction =
  /** `template`: what it begins as a copy of; null: it begins empty. */
  | {
      readonly action: "create";
      readonly name: string;
      readonly template: string | null;
      readonly notices: readonly string[];
    }
  | { readonly action: "drop"; readonly name: string; readonly ifExists: boolean; readonly force: boolean }
  | { readonly action: "rename"; readonly name: string; readonly newName: string }
  /** Asks for what every database has, or for what changes nothing: then the notices say so. */
  | { readonly action: "alter"; readonly name: string; readonly notices: readonly string[] };

export interface CreateSequenceStatement {
  readonly kind: "create sequence" | "alter sequence";
  readonly name: NameNode;
  readonly persistence: Persistence;
  /** IF NOT EXISTS of create, IF EXISTS of alter. */
  readonly tolerant: boolean;
  readonly options: readonly OptionNode[];
  readonly position: number;
}

export interface AlterTableStatement {
  readonly kind: "alter table";
  /** What the statement calls it; a table may also be an index or a view. */
  readonly object: "table" | "view";
  readonly name: NameNode;
  readonly ifExists: boolean;
  readonly commands: readonly AlterTableCommand[];
  readonly position: number;
}

export type AlterTableCommand =
  | { readonly kind: "add column"; readonly column: ColumnDefNode; readonly ifNotExists: boolean }
  | { readonly kind: "drop column"; readonly name: string; readonly ifExists: boolean; readonly cascade: boolean }
  | {
      readonly kind: "alter type";
      readonly name: string;
      readonly type: TypeNode;
      readonly collation: readonly string[] | null;
      readonly using: ExprNode | null;
    }
  | { readonly kind: "set default"; readonly name: string; readonly expr: ExprNode }
  | { readonly kind: "drop default" | "set not null" | "drop not null"; readonly name: string }
  | { readonly kind: "add constraint"; readonly constraint: ConstraintNode }
  | { readonly kind: "drop constraint"; readonly name: string; readonly ifExists: boolean; readonly cascade: boolean }
  | { readonly kind: "validate constraint"; readonly name: string }
  | { readonly kind: "inherit" | "no inherit"; readonly parent: NameNode }
  /** OF type; null: NOT OF. */
  | { readonly kind: "of"; readonly type: TypeNode | null }
  | {
      readonly kind: "add identity";
      readonly name: string;
      readonly always: boolean;
      readonly options: readonly OptionNode[];
    }
  | { readonly kind: "set identity"; readonly name: string; readonly options: readonly OptionNode[] }
  | { readonly kind: "drop identity" | "drop expression"; readonly name: string; readonly ifExists: boolean }
  | {
      readonly kind: "alter constraint";
      readonly name: string;
      readonly deferrable: boolean;
      readonly initiallyDeferred: boolean;
    }
  /** ATTACH PARTITION; without a bound, of an index. */
  | { readonly kind: "attach partition"; readonly partition: NameNode; readonly bound: PartitionBoundNode | null }
  | { readonly kind: "detach partition"; readonly partition: NameNode; readonly mode: DetachMode }
  /** ENABLE, DISABLE TRIGGER; null: USER, or with those of foreign keys ALL. */
  | {
      readonly kind: "set trigger";
      readonly name: string | null;
      readonly isAll?: true;
      readonly enabled: "origin" | "disabled" | "replica" | "always";
    }
  /** ENABLE, DISABLE RULE. */
  | {
      readonly kind: "set rule";
      readonly name: string;
      readonly enabled: "origin" | "disabled" | "replica" | "always";
    }
  /** SET or RESET (options) of a view, a table or an index. */
  | { readonly kind: "options"; readonly options: readonly OptionNode[]; readonly reset: boolean }
  /** SET (audit = '…') and RESET (audit); null: nothing is audited. */
  | { readonly kind: "set audit"; readonly uses: string | null; readonly position: number }
  | {
      readonly kind: "replica identity";
      readonly identity: "default" | "full" | "nothing" | { readonly index: string };
    }
  /** Kept for the catalog alone. */
  | ({ readonly kind: "detail" } & (
      | { readonly what: "logged"; readonly unlogged: boolean }
      | { readonly what: "cluster"; readonly index: string | null }
      | { readonly what: "storage" | "compression"; readonly name: string; readonly value: string }
      | { readonly what: "statistics"; readonly name: string; readonly value: number }
    ))
  /** Has no meaning here; `what` names it in the notice. */
  /** `column`: the name, or in an index the number, of the one that the action is about. */
  | { readonly kind: "ignored"; readonly what: string; readonly column?: string | number };

export type DetachMode = "at once" | "concurrently" | "finalize";

/** ALTER … RENAME; `column` (or constraint) null: the relation itself. */
export interface RenameStatement {
  readonly kind: "rename";
  readonly object:
    | "table"
    | "view"
    | "materialized view"
    | "index"
    | "sequence"
    | "column"
    | "constraint"
    | "schema"
    | "type"
    | "attribute"
    | "domain constraint";
  readonly relation: NameNode;
  readonly part: string | null;
  readonly newName: string;
  /** Of an attribute: typed tables follow. */
  readonly cascade?: boolean;
  readonly ifExists: boolean;
  readonly position: number;
}

export interface DropStatement {
  readonly kind: "drop";
  readonly object:
    | "table"
    | "index"
    | "view"
    | "materialized view"
    | "sequence"
    | "schema"
    | "type"
    | "domain"
    | "absent";
  /** Of `absent`, a kind of object that does not exist here (functions, triggers, collations, …): its name. */
  readonly what: string;
  readonly names: readonly NameNode[];
  readonly ifExists: boolean;
  readonly cascade: boolean;
  readonly concurrently?: true;
  readonly position: number;
}

export interface TruncateStatement {
  readonly kind: "truncate";
  readonly tables: readonly NameNode[];
  readonly restartIdentity: boolean;
  readonly cascade: boolean;
  readonly position: number;
}

export interface CommentStatement {
  readonly kind: "comment";
  readonly object: string;
  readonly name: readonly string[];
  readonly comment: string | null;
  readonly position: number;
}

/** `name = value` of WITH (…) and similar lists; a flag without a value has true. */
export interface OptionNode {
  readonly name: string;
  readonly value: string | number | boolean;
  readonly position: number;
}
