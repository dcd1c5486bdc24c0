/**
 * The syntax tree of SQL, part two: statements (expressions and queries are in `ast-query.ts`). Made by `parse.ts`,
 * read by `sql/bind` and by the session, which runs transaction control itself.
 */
import type { CursorStatement } from "./ast-cursor.js";
import type { FunctionStatement } from "./ast-functions.js";
import type { PartitionBoundNode, PartitionByNode } from "./ast-partition.js";
import type {
  AliasNode,
  DataModifyingNode,
  ExprNode,
  FromNode,
  NameNode,
  QueryNode,
  TargetNode,
  TypeNode,
  WithNode,
} from "./ast-query.js";

/** One statement of a text, with the part of the client's text that it takes: characters `start` (0-based) to `end`. */
export interface Statement {
  readonly node: StatementNode;
  readonly start: number;
  readonly end: number;
  /** That part of the text, without surrounding white space. */
  readonly text: string;
}

export type StatementNode =
  | SelectStatement
  | DataStatement
  | ExplainStatement
  | TransactionStatement
  | SetStatement
  | ShowStatement
  | CreateTableStatement
  | CreateTableAsStatement
  | CreateTableAsExecuteStatement
  | CreateIndexStatement
  | CreateExtensionStatement
  | CreateViewStatement
  | CreateSchemaStatement
  | CreateSequenceStatement
  | CreateTypeStatement
  | AlterEnumStatement
  | AlterCompositeStatement
  | CreateDomainStatement
  | AlterDomainStatement
  | SetSchemaStatement
  | LockStatement
  | DiscardStatement
  | AlterTableStatement
  | RenameStatement
  | DropStatement
  | TruncateStatement
  | CommentStatement
  | AnalyzeStatement
  | RefreshStatement
  | PrepareStatement
  | ExecuteStatement
  | DeallocateStatement
  | CursorStatement
  | SetConstraintsStatement
  | VerifyStatement
  | FunctionStatement
  | ListStatement;

export type DataStatement = InsertStatement | UpdateStatement | DeleteStatement | MergeStatement;

/** A query; `SELECT … INTO t` arrives as CREATE TABLE AS. */
export interface SelectStatement {
  readonly kind: "select";
  readonly query: QueryNode;
  readonly position: number;
}

/** RETURNING WITH (OLD AS old, NEW AS new); null: not renamed. */
export interface ReturningNames {
  readonly old: string | null;
  readonly new: string | null;
}

/** The table that a statement changes. */
export interface TargetTable {
  readonly name: NameNode;
  readonly alias: AliasNode | null;
}

export interface InsertStatement extends DataModifyingNode {
  readonly kind: "insert";
  readonly with: WithNode | null;
  readonly table: TargetTable;
  /** null: all columns, in order. */
  readonly columns: readonly AssignmentTarget[] | null;
  /** null: DEFAULT VALUES. */
  readonly source: QueryNode | null;
  readonly overriding: "system" | "user" | null;
  readonly onConflict: OnConflictNode | null;
  readonly returning: readonly TargetNode[] | null;
  readonly returningNames?: ReturningNames;
}

export interface AssignmentTarget {
  readonly name: string;
  /** `a[1]`, `a.b`: what follows the column's name. */
  readonly indirection: readonly ExprNode[];
  readonly position: number;
}

/** `replace` is REPLACE INTO: every column of the stored row takes its value from the proposed one. */
export interface OnConflictNode {
  readonly action: "nothing" | "update" | "replace";
  /** null: not given. `anyKey`: whichever key conflicts (ON DUPLICATE KEY UPDATE, REPLACE INTO). */
  readonly target: ConflictTarget | null;
  readonly anyKey: boolean;
  readonly assignments: readonly AssignmentNode[];
  readonly where: ExprNode | null;
  readonly position: number;
}

/** What may conflict: columns or expressions (with the predicate of a partial index), or a constraint by name. */
export interface ConflictTarget {
  readonly elements: readonly ExprNode[];
  readonly where: ExprNode | null;
  readonly constraint: string | null;
  readonly position: number;
}

/** `targets = value`; with several targets the value is a row or a subquery of as many columns. */
export interface AssignmentNode {
  readonly targets: readonly AssignmentTarget[];
  /** True when written `(a, b) = …`, which wants a row even for one column. */
  readonly multiple: boolean;
  readonly value: ExprNode;
}

export interface UpdateStatement extends DataModifyingNode {
  readonly kind: "update";
  readonly with: WithNode | null;
  readonly table: TargetTable;
  readonly assignments: readonly AssignmentNode[];
  readonly from: readonly FromNode[];
  readonly where: ExprNode | null;
  readonly returning: readonly TargetNode[] | null;
  readonly returningNames?: ReturningNames;
}

export interface DeleteStatement extends DataModifyingNode {
  readonly kind: "delete";
  readonly with: WithNode | null;
  readonly table: TargetTable;
  readonly using: readonly FromNode[];
  readonly where: ExprNode | null;
  readonly returning: readonly TargetNode[] | null;
  readonly returningNames?: ReturningNames;
}

export interface MergeStatement extends DataModifyingNode {
  readonly kind: "merge";
  readonly with: WithNode | null;
  readonly table: TargetTable;
  readonly source: FromNode;
  readonly condition: ExprNode;
  readonly clauses: readonly MergeClause[];
  readonly returning: readonly TargetNode[] | null;
  readonly returningNames?: ReturningNames;
}

export interface MergeClause {
  readonly match: "matched" | "not matched by target" | "not matched by source";
  readonly condition: ExprNode | null;
  readonly action: "insert" | "update" | "delete" | "nothing";
  readonly overriding: "system" | "user" | null;
  readonly columns: readonly AssignmentTarget[] | null;
  /** Of an insert; null: DEFAULT VALUES. */
  readonly values: readonly ExprNode[] | null;
  readonly assignments: readonly AssignmentNode[];
}

export interface ExplainStatement {
  readonly kind: "explain";
  readonly statement: StatementNode;
  readonly analyze: boolean;
  readonly verbose: boolean;
  readonly format: "text" | "json";
  /** COSTS, BUFFERS, TIMING and so on, as written. */
  readonly options: readonly OptionNode[];
  readonly position: number;
}

/** `name = value` of WITH (…) and similar lists; a flag without a value has true. */
export interface OptionNode {
  readonly name: string;
  readonly value: string | number | boolean;
  readonly position: number;
}

export type IsolationLevel = "read uncommitted" | "read committed" | "repeatable read" | "serializable";

export interface TransactionStatement {
  readonly kind: "transaction";
  /** `prepare` is PREPARE TRANSACTION. */
  readonly action: "begin" | "commit" | "rollback" | "savepoint" | "release" | "rollback to" | "prepare";
  /** Of savepoint, release and rollback to. */
  readonly savepoint: string | null;
  /** AND CHAIN. */
  readonly chain: boolean;
  readonly isolation: IsolationLevel | null;
  readonly readOnly: boolean | null;
  readonly deferrable: boolean | null;
  readonly position: number;
}

/** SET name = values, RESET name, SET TRANSACTION …; `values` null is DEFAULT or RESET. */
export interface SetStatement {
  readonly kind: "set";
  readonly name: string;
  readonly local: boolean;
  readonly values: readonly (string | number | boolean)[] | null;
  /** SET [SESSION CHARACTERISTICS AS] TRANSACTION only; then `name` is "transaction" or "session characteristics". */
  readonly transaction: {
    readonly isolation: IsolationLevel | null;
    readonly readOnly: boolean | null;
    readonly deferrable: boolean | null;
  } | null;
  readonly position: number;
}

/** SHOW name, of a setting. */
export interface ShowStatement {
  readonly kind: "show";
  readonly name: string;
  readonly position: number;
}

/** SHOW TABLES|INDEXES|DATABASES|MODELS|COLUMNS and DESCRIBE, as other dialects have them. */
export interface ListStatement {
  readonly kind: "list";
  readonly what: "tables" | "indexes" | "databases" | "models" | "columns";
  /** The table of `columns` and, where given, of `indexes`. */
  readonly table: NameNode | null;
  /** SHOW … LIKE 'pattern' */
  readonly like: string | null;
  readonly position: number;
}

/** VERIFY TABLE t: checks the hash chain of an immutable table. */
export interface VerifyStatement {
  readonly kind: "verify";
  readonly table: NameNode;
  readonly position: number;
}

// ---- definitions ----

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
  readonly withData: boolean;
  /** The whole statement, which a materialized view keeps; empty inside CREATE SCHEMA. */
  readonly text: string;
  readonly position: number;
}

/** CREATE TABLE … AS EXECUTE: filled by a prepared statement. */
export interface CreateTableAsExecuteStatement extends Omit<CreateTableAsStatement, "kind" | "query" | "text"> {
  readonly kind: "create table as execute";
  readonly execute: ExecuteStatement;
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
  readonly checkOption: "local" | "cascaded" | null;
  /** The whole statement, which the view keeps; empty inside CREATE SCHEMA. */
  readonly text: string;
  readonly position: number;
}

export interface CreateSchemaStatement {
  readonly kind: "create schema";
  /** null: that of the role in AUTHORIZATION. */
  readonly name: string | null;
  readonly role: string | null;
  readonly ifNotExists: boolean;
  /** CREATE statements that run within the schema. */
  readonly elements: readonly StatementNode[];
  readonly position: number;
}

/** CREATE TYPE: an enum's labels or a composite type's fields. */
export interface CreateTypeStatement {
  readonly kind: "create type";
  readonly name: NameNode;
  readonly labels: readonly string[] | null;
  readonly fields: readonly { readonly name: string; readonly type: TypeNode }[];
  readonly position: number;
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
  readonly position: number;
}

export interface DiscardStatement {
  readonly kind: "discard";
  readonly what: "all" | "plans" | "sequences" | "temp";
  readonly position: number;
}

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
  | { readonly kind: "alter type"; readonly name: string; readonly type: TypeNode; readonly using: ExprNode | null }
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
  /** SET or RESET (options) of a view. */
  | { readonly kind: "view options"; readonly options: readonly OptionNode[]; readonly reset: boolean }
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

/** ANALYZE and VACUUM. */
export interface AnalyzeStatement {
  readonly kind: "analyze" | "vacuum";
  readonly tables: readonly NameNode[];
  /** Columns that the statement names, by table. */
  readonly columns: readonly (readonly string[])[];
  readonly position: number;
}

export interface RefreshStatement {
  readonly kind: "refresh";
  readonly name: NameNode;
  readonly withData: boolean;
  readonly position: number;
}

/** PREPARE name [(types)] AS statement */
export interface PrepareStatement {
  readonly kind: "prepare";
  readonly name: string;
  readonly types: readonly TypeNode[];
  readonly statement: StatementNode;
  readonly position: number;
}

export interface ExecuteStatement {
  readonly kind: "execute";
  readonly name: string;
  readonly args: readonly ExprNode[];
  readonly position: number;
}

/** `name` null: ALL. */
export interface DeallocateStatement {
  readonly kind: "deallocate";
  readonly name: string | null;
  readonly position: number;
}

export interface SetConstraintsStatement {
  readonly kind: "set constraints";
  /** Empty: ALL. */
  readonly names: readonly NameNode[];
  readonly deferred: boolean;
  readonly position: number;
}
