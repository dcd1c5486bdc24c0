/**
 * The result of binding a statement: a logical plan for what runs on the algebra, a command for everything else.
 * Parameter types are final here, so the session can convert parameter values before it runs anything.
 */

import type { CatalogView } from "../../catalog/catalog-view.js";
import type { DdlCommand } from "../../catalog/ddl-command.js";
import type { ViewQuery } from "../../catalog/kept-query.js";
import type { TextShape } from "../../catalog/ranked-search.js";
import type { Acting, Rights } from "../../catalog/rights.js";
import type { RoleDef } from "../../catalog/role.js";
import type { SearchIndexDef, TableDef } from "../../catalog/table.js";
import type { TableLockMode } from "../../protocol/lock-strength.js";
import type { NoticeFields } from "../../protocol/notice.js";
import type { CallExpr, Expr, RoutineCall, TransitionTable } from "../../query/expr/expr.js";
import type { TableFunction } from "../../query/expr/table-function.js";
import type { OutputColumn, Plan } from "../../query/plan/plan.js";
import type { SqlType, Value } from "../../values/values.js";
import type { ExplainFormat, IsolationLevel, StatementNode, TransactionAction } from "../parse/ast.js";
import type { DatabaseAction } from "../parse/ast-definitions.js";
import type { ExprNode } from "../parse/ast-query.js";
import type { CursorTable } from "./cursor-tables.js";
import type { BindingNotes } from "./shown/notes.js";

export interface BindEnvironment {
  readonly catalog: CatalogView;
  /**
   * Per `$n`, the type that the value the client sent suggests, or null. Used only for a parameter whose type the
   * statement leaves open; then text, as PostgreSQL, when there is no suggestion either.
   */
  readonly parameterTypes: readonly (SqlType | null)[];
  /** Per `$n`, the type that it has whatever the statement does with it (PREPARE name (types)); absent: none. */
  readonly declaredTypes?: readonly (SqlType | null)[];
  /** Schemas in which unqualified names are looked up, first hit wins; new relations go into the first. */
  readonly searchPath: readonly string[];
  /**
   * What is bound was kept with a definition: references of its text count (catalog/object-reference.ts), and other
   * names mean the system's first.
   */
  readonly stored?: true;
  /** What names mean in this statement, which was kept with a definition. */
  readonly kept?: ViewQuery;
  /** What the statement, which will be kept, says is put here; absent: nobody asks. */
  readonly noted?: Noted;
  /** The session's time zone, in which a definition's constants are read; absent: UTC. */
  readonly timeZone?: string;
  /** The schema of the session's temporary relations, in the path once it has any; absent: there is no session. */
  readonly temporarySchema?: string;
  /** Whether a call of a deferred function that may be applied needs no waiting; absent: none does. */
  readonly answersAtOnce?: (call: CallExpr) => boolean;
  /** What a text index tells of a query, to who sees all of the table; absent: nothing. */
  readonly textShape?: (table: TableDef, index: SearchIndexDef, query: string) => TextShape | null;
  /** What the session's role may do, with the definitions that it may do it with; absent: the engine itself asks. */
  readonly rights?: Rights;
  /** Of who asked, within a view whose owner's are in `rights`; absent: these are. */
  readonly asked?: Rights;
  /** A client sends the statement for itself, and what is bound is the statement, not what it calls or reads. */
  readonly isSent?: true;
  /** Who the session began as. */
  readonly session?: Acting;
  /** For statements about what sessions begin with; absent: there is no session. */
  readonly settings?: SettingsOfRoles;
  /** Takes the calls that can be checked before a row is there (session/check-calls.ts), of what a definition keeps. */
  readonly calls?: CallExpr[];
  /** The row of a call whose arguments tell it (TableFunction.shapeOf); absent: such calls name their columns. */
  readonly shapeOf?: (fn: TableFunction, args: readonly Value[]) => SqlType;
  /** Binds what cypher() in FROM reads; absent: it cannot be called. */
  readonly cypher?: CypherBinder;
  /** Ids of the tables whose rows come with their storage keys, since the statement names their ctid; absent: none. */
  readonly keyedTables?: ReadonlySet<number>;
  /** Of a statement inside a function: what names mean that no relation has, and what $n is. */
  readonly variables?: Variables;
  /** Of a statement inside a function: what its rows have to be. */
  readonly expected?: ExpectedResult;
  /**
   * Of a statement inside a trigger's function: tables of the rows that were changed; only their columns count here.
   */
  readonly transitions?: ReadonlyMap<string, TransitionTable>;
}

/** What statements about settings of roles and databases ask of the session. */
export interface SettingsOfRoles {
  /** The one that the session is in. */
  database(): string;
  /** The values of SET as one. */
  text(name: string, values: readonly (string | number | boolean)[]): string;
  /** The session's value. Throws 42704. */
  current(name: string): string;
  /** Throws as SET does. `name` in lower case. */
  check(name: string, value: string, catalog: CatalogView): void;
  isForSuperusers(name: string): boolean;
}

/** What definitions keep of a statement. */
export interface Noted {
  /** Ids of the functions and types that nodes of the statement name, of those that statements made. */
  readonly named: WeakMap<object, number>;
  /** By the id of a table, ids of the columns that get values. */
  readonly changed: Map<number, Set<number>>;
  /** Of nodes that name a column of a row that has the names of its relation: the id of that. */
  readonly own: WeakMap<object, number>;
  /** What `*` stands for. */
  readonly stars: WeakMap<object, readonly StarItem[]>;
  /** For who prints the statement; absent: nobody does. */
  readonly printed?: BindingNotes;
}

/** A relation whose columns `*` means, as Scope has it. */
export interface StarItem {
  readonly name: string | null;
  readonly qualifiable: boolean;
  readonly own?: number;
  readonly columns: readonly { readonly name: string }[];
}

/** A query of Cypher as a part of this statement's plan. Throws an error that says what is wrong with the text. */
export type CypherBinder = (
  text: string,
  into: {
    /** undefined: the default graph. */
    readonly graph: string | undefined;
    /** A column id that the statement has not used. */
    newId(): number;
    /** The value of `$name`, a variant. */
    parameter(name: string): Expr;
  },
) => {
  readonly source: { readonly plan: Plan; readonly columns: readonly OutputColumn[] };
  readonly readOnly: boolean;
};

/** The types that a statement's columns must have; others are converted to them as on storing. */
export interface ExpectedResult {
  readonly types: readonly SqlType[];
  /** What has no conversion on storing is written as text and read again, as assignments of PL/pgSQL do. */
  readonly throughText?: true;
  /** Throws when the columns cannot become that. */
  check(columns: readonly OutputColumn[]): void;
}

/** A variable, parameter or field of one, under the name that its value is shown with. */
export interface FoundVariable {
  readonly name: string;
  readonly expr: Expr;
}

/** Variables of the function that contains the statement. */
export interface Variables {
  /** What the path names, or null. */
  find(path: readonly string[], position: number): FoundVariable | null;
  /** `$n`, from 0; null: there are not so many. */
  parameter(index: number): Expr | null;
  /** Which is meant when a name is both a variable's and a column's; "error" throws 42702. */
  readonly conflict: "error" | "variable" | "column";
}

export type BoundStatement =
  | BoundQuery
  | BoundExplain
  | BoundExplainExecute
  | BoundAnalyze
  | BoundDdl
  | BoundDdlSteps
  | BoundSetConstraints
  | BoundVerify
  | BoundTransaction
  | BoundSet
  | BoundSetDefaults
  | BoundShow
  | BoundPrepare
  | BoundExecute
  | BoundFill
  | BoundDeallocate
  | BoundDeclare
  | BoundFetch
  | BoundCloseCursor
  | BoundDatabase
  | BoundLock
  | BoundDiscard
  | BoundCall
  | BoundDo;

/** CALL. The row of arguments is computed first; the procedure's outputs are the result's only row. */
export interface BoundCall {
  readonly kind: "call";
  readonly routine: RoutineCall;
  readonly args: Plan;
  /** As they were written, and where each parameter's value comes from: a function puts outputs into its variables. */
  readonly given: readonly ExprNode[];
  readonly sources: readonly { readonly kind: string; readonly index?: number }[];
}

/** DO: a body in PL/pgSQL. */
export interface BoundDo {
  readonly kind: "do";
  /** What clients are told that has run. */
  readonly command: string;
  readonly body: string;
}

export interface BoundQuery {
  readonly kind: "query";
  readonly command: "select" | "insert" | "update" | "delete" | "merge" | "cypher";
  readonly plan: Plan;
  /** The result's columns; empty when nothing is returned. */
  readonly columns: readonly OutputColumn[];
  /** One per parameter up to the highest that occurs; values must be converted to these. */
  readonly parameterTypes: readonly SqlType[];
  /** Parameters for which `BindEnvironment.parameterTypes` mattered: the plan fits only values of the same types. */
  readonly openParameters: readonly number[];
  /** Writes nothing: allowed for read-only keys and in read-only transactions. */
  readonly readOnly: boolean;
  /** It holds rows against others: it may have to be run again, so its rows do not leave before its end. */
  readonly locksRows?: true;
  /** Of a cursor: the tables that WHERE CURRENT OF may be about. What tells their rows follows the result's columns. */
  readonly cursorTables?: readonly CursorTable[];
  /** False for INSERT, UPDATE and DELETE without RETURNING. */
  readonly returnsRows: boolean;
  /** Calls functions whose statements may write: each of those is refused on its own where nothing may be written. */
  readonly callsRoutines: boolean;
}

export interface BoundExplain {
  readonly kind: "explain";
  readonly statement: BoundQuery;
  /** Runs the statement; then `readOnly` of the statement counts. */
  readonly analyze: boolean;
  readonly verbose: boolean;
  readonly costs: boolean;
  readonly format: ExplainFormat;
}

/** EXPLAIN EXECUTE: of what the session has prepared under that name. */
export interface BoundExplainExecute extends Omit<BoundExplain, "kind" | "statement"> {
  readonly kind: "explain execute";
  readonly execute: BoundExecute;
}

/** A statement that may not run in a transaction block: its name; absent: it may. */
interface MayRunAlone {
  readonly alone?: string;
}

/** ANALYZE: renews the statistics of these tables. The others do nothing else here. */
export interface BoundAnalyze extends MayRunAlone {
  readonly kind: "analyze";
  readonly tag: "ANALYZE" | "VACUUM" | "CLUSTER" | "CHECKPOINT";
  readonly tables: readonly TableDef[];
  readonly notices: readonly NoticeFields[];
}

export interface BoundDdl extends MayRunAlone {
  readonly kind: "ddl";
  readonly command: DdlCommand;
  /** The role that makes what it makes; absent: the session's. */
  readonly maker?: RoleDef;
  /** Rows of the table as they will be, by a plan over the definitions before the command; null: they stay. */
  readonly rows?: Plan | null;
  /** The query that the command keeps without running it: of a view. */
  readonly stored?: Plan;
  /** Values of the parameters in `rows`; absent: it has none, or they come with the run. */
  readonly parameters?: readonly Value[];
  /** Of those that come with the run, as BoundQuery has them. */
  readonly parameterTypes?: readonly SqlType[];
  readonly openParameters?: readonly number[];
}

/** Bound when its turn comes, against the definitions as the steps before it left them. Null: nothing is left to do. */
export type DdlStep = (env: BindEnvironment) => BoundDdl | null;

/** A statement of several definition commands (ALTER TABLE). */
export interface BoundDdlSteps extends MayRunAlone {
  readonly kind: "ddl steps";
  readonly tag: string;
  readonly steps: readonly DdlStep[];
  readonly notices: readonly string[];
}

/** VERIFY TABLE: whether the hash chain of an immutable table is whole. */
export interface BoundVerify {
  readonly kind: "verify";
  readonly table: TableDef;
  /** VERIFY RECORD: values of the primary key in its order, as texts or as numbers of parameters. */
  readonly key?: readonly (string | number)[];
}

export interface BoundSetConstraints {
  readonly kind: "set constraints";
  /** Ids of foreign keys, and of the indexes of unique keys; null: ALL. */
  readonly keys: readonly number[] | null;
  readonly deferred: boolean;
}

export interface TransactionOptions {
  readonly isolation: IsolationLevel | null;
  readonly readOnly: boolean | null;
  readonly deferrable: boolean | null;
}

export interface BoundTransaction {
  readonly kind: "transaction";
  /** `set` is SET TRANSACTION. */
  readonly action: TransactionAction | "set";
  /** START TRANSACTION. */
  readonly isStart?: true;
  readonly savepoint: string | null;
  /** AND CHAIN. */
  readonly chain: boolean;
  readonly options: TransactionOptions;
}

/** A setting's new value; `values` null: back to its default. The session decides which settings exist. */
export interface BoundSet {
  readonly kind: "set";
  readonly name: string;
  readonly values: readonly (string | number | boolean)[] | null;
  readonly local: boolean;
  readonly resets?: true;
}

/** SET SESSION CHARACTERISTICS AS TRANSACTION: of transactions that say nothing else. */
export interface BoundSetDefaults {
  readonly kind: "set defaults";
  readonly options: TransactionOptions;
}

/** DISCARD. */
export interface BoundDiscard {
  readonly kind: "discard";
  readonly what: "all" | "plans" | "sequences" | "temp";
}

/** LOCK TABLE. */
export interface BoundLock {
  readonly kind: "lock";
  readonly mode: TableLockMode;
  readonly nowait: boolean;
  readonly tables: readonly { readonly storage: number; readonly name: string }[];
}

/** What the session asks of the tenant's databases. */
export interface BoundDatabase {
  readonly kind: "database";
  readonly tag: string;
  readonly action: DatabaseAction;
}

/** One row with the setting's value, in a column named after it. */
export interface BoundShow {
  readonly kind: "show";
  readonly name: string;
}

/** The tree is bound when the session has taken the statement in, and again when definitions change. */
export interface BoundPrepare {
  readonly kind: "prepare";
  readonly name: string;
  readonly types: readonly SqlType[];
  readonly node: StatementNode;
}

/** bind-arguments.ts binds the arguments, once the session knows the types. */
export interface BoundExecute {
  readonly kind: "execute";
  readonly name: string;
  readonly args: readonly ExprNode[];
}

/** CREATE TABLE … AS EXECUTE: `fill` gives the definition, once the session has the statement and its values. */
export interface BoundFill {
  readonly kind: "create table as execute";
  readonly execute: BoundExecute;
  readonly fill: (query: BoundQuery, values: readonly Value[], env: BindEnvironment) => BoundDdl;
}

export interface BoundDeallocate {
  readonly kind: "deallocate";
  readonly name: string | null;
}

export interface BoundDeclare {
  readonly kind: "declare cursor";
  readonly name: string;
  readonly binary: boolean;
  readonly scroll: boolean | null;
  readonly hold: boolean;
  readonly statement: BoundQuery;
}

/** FETCH and MOVE; a count of Infinity is ALL. */
export interface BoundFetch {
  readonly kind: "fetch";
  readonly name: string;
  readonly isMove: boolean;
  readonly direction: "forward" | "backward" | "absolute" | "relative";
  readonly count: number;
}

/** `name` null: all. */
export interface BoundCloseCursor {
  readonly kind: "close cursor";
  readonly name: string | null;
}
