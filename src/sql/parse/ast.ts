/**
 * The syntax tree of SQL, part two: statements (expressions and queries are in `ast-query.ts`). Made by `parse.ts`,
 * read by `sql/bind` and by the session, which runs transaction control itself.
 */
import type { AccessStatement } from "./ast-access.js";
import type { CursorStatement } from "./ast-cursor.js";
import type {
  AlterCompositeStatement,
  AlterDomainStatement,
  AlterEnumStatement,
  AlterTableStatement,
  CommentStatement,
  CreateDomainStatement,
  CreateExtensionStatement,
  CreateIndexStatement,
  CreateSequenceStatement,
  CreateTableAsStatement,
  CreateTableStatement,
  CreateTypeStatement,
  CreateViewStatement,
  DatabaseStatement,
  DiscardStatement,
  DropStatement,
  LockStatement,
  OptionNode,
  RenameStatement,
  SetSchemaStatement,
  TruncateStatement,
} from "./ast-definitions.js";
import type { FunctionStatement } from "./ast-functions.js";
import type { OperatorStatement } from "./ast-operators.js";
import type { CreatePropertyGraphStatement, DropPropertyGraphStatement } from "./ast-property-graph.js";
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
import type { CreateRuleNode, DropRuleStatement, RenameRuleStatement } from "./ast-rules.js";
import type { StatisticsStatement } from "./ast-statistics.js";
import type { TriggerStatement } from "./ast-triggers.js";

/** One statement of a text, with the part of the client's text that it takes: characters `start` (0-based) to `end`. */
export interface Statement {
  readonly node: StatementNode;
  readonly start: number;
  readonly end: number;
  /** That part of the text, without surrounding white space. */
  readonly text: string;
}

export type CreateRuleStatement = CreateRuleNode<StatementNode>;
export type RuleStatement = CreateRuleStatement | DropRuleStatement | RenameRuleStatement;

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
  | DatabaseStatement
  | AlterTableStatement
  | RenameStatement
  | DropStatement
  | TruncateStatement
  | TriggerStatement
  | CreateRuleNode<StatementNode>
  | DropRuleStatement
  | OperatorStatement
  | RenameRuleStatement
  | StatisticsStatement
  | CommentStatement
  | AnalyzeStatement
  | RefreshStatement
  | ReindexStatement
  | PrepareStatement
  | ExecuteStatement
  | DeallocateStatement
  | CursorStatement
  | SetConstraintsStatement
  | VerifyStatement
  | FunctionStatement
  | CreatePropertyGraphStatement
  | DropPropertyGraphStatement
  | AccessStatement
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
  /** Of a long statement: what its rows are, in place of the one row of `source`. */
  readonly listed?: ListedNode;
  readonly overriding: "system" | "user" | null;
  readonly onConflict: OnConflictNode | null;
  readonly returning: readonly TargetNode[] | null;
  readonly returningNames?: ReturningNames;
}

/** Rows that are not in the tree: so many of them, with these columns. */
export interface ListedNode {
  readonly columns: readonly {
    readonly kind: "text" | "int4" | "int8" | "numeric" | "bool" | "default" | "parameter";
    readonly hasNulls: boolean;
    /** All are 0, 1 or NULL. */
    readonly isZeroOrOne: boolean;
    /** Of parameters: the index of the first row's, and how much the next row's is higher. */
    readonly first: number;
    readonly step: number;
  }[];
  readonly count: number;
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

export const EXPLAIN_FORMATS = ["text", "json", "xml", "yaml"] as const;
export type ExplainFormat = (typeof EXPLAIN_FORMATS)[number];

export interface ExplainStatement {
  readonly kind: "explain";
  readonly statement: StatementNode;
  readonly analyze: boolean;
  readonly verbose: boolean;
  readonly format: ExplainFormat;
  /** COSTS, BUFFERS, TIMING and so on, as written. */
  readonly options: readonly OptionNode[];
  readonly position: number;
}

export type IsolationLevel = "read uncommitted" | "read committed" | "repeatable read" | "serializable";

/** `prepare` is PREPARE TRANSACTION. */
export type TransactionAction =
  | "begin"
  | "commit"
  | "rollback"
  | "savepoint"
  | "release"
  | "rollback to"
  | "prepare"
  | "commit prepared"
  | "rollback prepared";

export interface TransactionStatement {
  readonly kind: "transaction";
  readonly action: TransactionAction;
  /** START TRANSACTION, which does what BEGIN does. */
  readonly isStart?: true;
  /** Of savepoint, release and rollback to; the identifier of a prepared transaction. */
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
  /** null: what the setting was at first. */
  readonly values: readonly (string | number | boolean)[] | null;
  /** Written as RESET. */
  readonly resets?: true;
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
  readonly what: "tables" | "indexes" | "databases" | "models" | "columns" | "summary";
  /** Of `summary`, where it is not of a table: the text of the query. */
  readonly query?: string;
  /** The table of `columns`, of `summary`, and, where given, of `indexes`. */
  readonly table: NameNode | null;
  /** SHOW … LIKE 'pattern' */
  readonly like: string | null;
  readonly position: number;
}

/** VERIFY TABLE t: checks the hash chain of an immutable table. VERIFY RECORD key IN t: one row of it. */
export interface VerifyStatement {
  readonly kind: "verify";
  readonly table: NameNode;
  /** Of VERIFY RECORD: values of the primary key; `column` null: in its order. */
  readonly key?: readonly VerifyKey[];
  readonly position: number;
}

export interface VerifyKey {
  readonly column: string | null;
  /** As text, or the number of a parameter from 1 on. */
  readonly value: string | number;
}

/** ANALYZE and VACUUM, and CLUSTER and CHECKPOINT, for which there is nothing to do either. */
export interface AnalyzeStatement {
  readonly kind: "analyze" | "vacuum" | "cluster" | "checkpoint";
  /** Also VACUUM (ANALYZE). */
  readonly analyzes: boolean;
  readonly tables: readonly NameNode[];
  /** Columns that the statement names, by table. */
  readonly columns: readonly (readonly string[])[];
  /** Of CLUSTER … USING. */
  readonly index?: string;
  readonly position: number;
}

export interface ReindexStatement {
  readonly kind: "reindex";
  readonly target: "index" | "table" | "schema" | "database" | "system";
  /** Of an index, a table or a schema. */
  readonly name: NameNode | null;
  readonly concurrently: boolean;
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

/** CREATE TABLE … AS EXECUTE: filled by a prepared statement. */
export interface CreateTableAsExecuteStatement extends Omit<CreateTableAsStatement, "kind" | "query" | "text"> {
  readonly kind: "create table as execute";
  readonly execute: ExecuteStatement;
}
