/**
 * The one algebra. Binders of every language produce these nodes, rules in `optimize/` rewrite them, `exec/` turns
 * each into an operator. Nodes are frozen and tagged by `kind`; a node's `columns` are what it hands to its parent.
 *
 * Logical nodes say what; the access nodes at the end (`pointget`, `indexscan`, `hashjoin`, `topn`) say how and are
 * only made by rules. A tree that no rule has touched is executable too, just slower: that is how rules are tested.
 */
import type { IndexDef, TableDef } from "../../catalog/table.js";
import type { LockStrength } from "../../protocol/lock-strength.js";
import type { SqlType } from "../../values/values.js";
import type { AggregateFunction, CallExpr, ColumnId, Expr, SubqueryExpr, WindowFunction } from "../expr/expr.js";
import type { InRange } from "../expr/in-range.js";
import type { TableFunction } from "../expr/table-function.js";
import type { DeletePlan, InsertPlan, MergePlan, UpdatePlan } from "./change-plans.js";
import type { CountWalksPlan, ExpandPathPlan, ExpandPlan, GraphWritePlan, MatchPlan } from "./graph-plans.js";
import type { IndexExprs } from "./index-exprs.js";
import type { PartitionMembership, PruningTest } from "./partition-tree.js";
import type { NearestSearch, TextSearchPlan } from "./search-plans.js";

declare module "../expr/expr.js" {
  interface HeldByExpressions {
    /** Of a subquery. */
    readonly plan: Plan;
  }
}

export interface OutputColumn {
  readonly id: ColumnId;
  readonly name: string;
  readonly type: SqlType;
  readonly nullable: boolean;
  /** Of a query's result: the column of a table that it is, by the numbers of the system catalog. */
  readonly origin?: { readonly table: number; readonly column: number };
}

export type Plan =
  | ScanPlan
  | ValuesPlan
  | TableFunctionPlan
  | ProjectPlan
  | ProjectSetPlan
  | DeferredPlan
  | FilterPlan
  | JoinPlan
  | AggregatePlan
  | WindowPlan
  | SortPlan
  | LimitPlan
  | LockPlan
  | DistinctPlan
  | SetOpPlan
  | AppendPlan
  | InsertPlan
  | UpdatePlan
  | DeletePlan
  | MergePlan
  | WithPlan
  | CommonScanPlan
  | RecursivePlan
  | PointGetPlan
  | IndexScanPlan
  | HashJoinPlan
  | MergeJoinPlan
  | TopNPlan
  | TextSearchPlan
  | MatchPlan
  | ExpandPlan
  | ExpandPathPlan
  | CountWalksPlan
  | GraphWritePlan;

interface Node {
  readonly columns: readonly OutputColumn[];
}

/**
 * All rows of a table; `columns[i]` is table column `source[i]` (a ColumnDef id). `filter` is applied while scanning.
 */
export interface ScanPlan extends Node {
  readonly kind: "scan";
  readonly table: TableDef;
  readonly alias: string;
  readonly source: readonly number[];
  readonly filter: Expr | null;
  readonly reverse: boolean;
  /** Set when the rows feed UPDATE/DELETE: the id of an extra last column that holds the row's storage key. */
  readonly rowKey: ColumnId | null;
  /** Expressions of indexes over these columns, by index id; absent: no index has any. */
  readonly indexExprs?: IndexExprs;
  /** Of a partition read with its table: what its rows satisfy, over these columns. */
  readonly membership?: readonly PartitionMembership[];
  /** Above, only the rows nearest to a vector are wanted: the scan need not give others (nearest-by-index.ts). */
  readonly nearest?: NearestSearch;
  /**
   * The rows' policy as it was bound, which the filter has or a node above: what is told of all rows tells of none it
   * hides.
   */
  readonly policy?: Expr;
}

export interface ValuesPlan extends Node {
  readonly kind: "values";
  readonly rows: readonly (readonly Expr[])[];
}

/** One call of a set-returning function; `shape` is the type of a row: a record's fields, or one value. */
export interface SetCall {
  readonly fn: TableFunction;
  readonly args: readonly Expr[];
  readonly shape: SqlType;
}

/**
 * Functions in FROM, side by side: as many rows as the longest gives, NULLs where a shorter one has ended. Columns: the
 * fields of each call's rows, then the row's number (int8) when `ordinality`.
 */
export interface TableFunctionPlan extends Node {
  readonly kind: "tablefunction";
  readonly alias: string;
  readonly calls: readonly SetCall[];
  readonly ordinality: boolean;
}

/** `columns[i]` = `exprs[i]` over the input. */
export interface ProjectPlan extends Node {
  readonly kind: "project";
  readonly input: Plan;
  readonly exprs: readonly Expr[];
}

/**
 * Set-returning functions of a select list: each row of the input once per row of the longest call, NULLs where a
 * shorter one has ended; a row for which no call gives any is dropped. Columns: the input's, then one per call.
 */
export interface ProjectSetPlan extends Node {
  readonly kind: "projectset";
  readonly input: Plan;
  readonly calls: readonly SetCall[];
}

/**
 * Values that have to be waited for, computed for some rows at a time. Columns: the input's, then one per call. Rows
 * keep their order.
 */
export interface DeferredPlan extends Node {
  readonly kind: "deferred";
  readonly input: Plan;
  readonly calls: readonly DeferredCall[];
  /** What writes the rows above asks for these values again, for generated columns: they are kept for the statement. */
  readonly keeps?: true;
}

export interface DeferredCall {
  /**
   * A call of a deferred function, over columns of the input; or a correlated subquery in which there are such calls.
   */
  readonly expr: CallExpr | SubqueryExpr;
  /** The condition under which it is computed; other rows get NULL. Null: it is computed for all rows. */
  readonly when: Expr | null;
}

export interface FilterPlan extends Node {
  readonly kind: "filter";
  readonly input: Plan;
  readonly predicate: Expr;
  /** The condition is a policy's: it may read what the statement may not. */
  readonly trusted?: true;
  /** Above a policy's filter: only conditions that tell nothing of a row may go below. */
  readonly barrier?: true;
}

export type JoinType = "inner" | "left" | "right" | "full" | "semi" | "anti";

/** Columns: left's then right's (left's alone for semi and anti). A null condition is a cross join. */
export interface JoinPlan extends Node {
  readonly kind: "join";
  readonly type: JoinType;
  readonly left: Plan;
  readonly right: Plan;
  readonly condition: Expr | null;
  /** The right side reads columns of the left (LATERAL, or an unnested correlated subquery). */
  readonly lateral: boolean;
}

export interface AggregateCall {
  readonly fn: AggregateFunction;
  readonly args: readonly Expr[];
  readonly distinct: boolean;
  readonly filter: Expr | null;
  readonly orderBy: readonly SortKey[];
  /** Arguments before WITHIN GROUP: they have one value per group. `args` are then those of `orderBy`. */
  readonly direct?: readonly Expr[];
}

/** Columns: one per group expression, then one per call. No groups: exactly one row. */
export interface AggregatePlan extends Node {
  readonly kind: "aggregate";
  readonly input: Plan;
  readonly groups: readonly Expr[];
  readonly calls: readonly AggregateCall[];
  /** GROUPING SETS and its kin; absent: one set of all groups. */
  readonly grouping?: GroupingSets;
}

/** The rows are grouped once per set; groups that are not in the set are NULL. An empty set has one row always. */
export interface GroupingSets {
  /** Positions in `groups`. */
  readonly sets: readonly (readonly number[])[];
  /** One further int4 column each, after those of the calls: its value in each set (GROUPING()). */
  readonly masks: readonly (readonly number[])[];
}

/**
 * Window calls that share one window. The input comes sorted by `partitionBy` (ascending, NULLs last), then `orderBy`.
 * Columns: the input's, then one per call.
 */
export interface WindowPlan extends Node {
  readonly kind: "window";
  readonly input: Plan;
  readonly partitionBy: readonly Expr[];
  readonly orderBy: readonly SortKey[];
  readonly frame: WindowFrame;
  readonly calls: readonly WindowCall[];
}

export type WindowCall =
  | { readonly kind: "function"; readonly fn: WindowFunction; readonly args: readonly Expr[]; readonly filter: null }
  | {
      readonly kind: "aggregate";
      readonly fn: AggregateFunction;
      readonly args: readonly Expr[];
      readonly filter: Expr | null;
    };

export interface WindowFrame {
  readonly mode: "rows" | "range" | "groups";
  readonly start: WindowBound;
  readonly end: WindowBound;
  readonly exclude: "no others" | "current row" | "group" | "ties";
}

/** `offset` is set for preceding and following: a constant or parameter, int8 for rows and groups. */
export interface WindowBound {
  readonly kind: "unbounded preceding" | "preceding" | "current row" | "following" | "unbounded following";
  readonly offset: Expr | null;
  /** Of a RANGE offset: how it is added to values of the one sort key. */
  readonly inRange: InRange | null;
}

export interface KeyDirection {
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export interface SortKey extends KeyDirection {
  readonly expr: Expr;
}

export interface SortPlan extends Node {
  readonly kind: "sort";
  readonly input: Plan;
  readonly keys: readonly SortKey[];
}

/** FOR UPDATE and FOR SHARE: rows that the transaction holds against others until it ends. */
export interface LockPlan extends Node {
  readonly kind: "lock";
  readonly input: Plan;
  /** The columns of the input with the rows' storage keys. */
  readonly keys: readonly Expr[];
  /** The names of their tables. */
  readonly tables: readonly string[];
  readonly strength: LockStrength;
  readonly wait: "block" | "skip" | "error";
  /** No more rows than are asked for may be held: a LIMIT is above. */
  readonly oneByOne: boolean;
}

/** Expressions are constants or parameters of type int8; a NULL limit is no limit. */
export interface LimitPlan extends Node {
  readonly kind: "limit";
  readonly input: Plan;
  readonly limit: Expr | null;
  readonly offset: Expr | null;
  /** WITH TIES: the sort keys; rows that equal the last one in them come, too. */
  readonly ties?: readonly Expr[];
}

/** `on` null: all columns. Otherwise DISTINCT ON: the first row per value of those expressions. */
export interface DistinctPlan extends Node {
  readonly kind: "distinct";
  readonly input: Plan;
  readonly on: readonly Expr[] | null;
}

export interface SetOpPlan extends Node {
  readonly kind: "setop";
  readonly op: "union" | "intersect" | "except";
  readonly all: boolean;
  readonly left: Plan;
  readonly right: Plan;
}

/**
 * The rows of a table and of those that inherit from it, or of a table's partitions: one input after the other.
 * Columns go by position: those of each input, then `tableOid`.
 */
export interface AppendPlan extends Node {
  readonly kind: "append";
  /** The table that the statement names, and what it is called there. */
  readonly table: TableDef;
  readonly alias: string;
  readonly inputs: readonly Plan[];
  /** OIDs of the tables that the inputs read, parallel to them. */
  readonly oids: readonly number[];
  /** The id of an extra last column that holds the OID of the row's table; null: nobody asks. */
  readonly tableOid: ColumnId | null;
  /**
   * Set by prune-partitions, parallel to `inputs`: an input that one of its tests fails when the plan runs is empty.
   */
  readonly tests?: readonly (readonly PruningTest[])[];
  /** Set by eliminate-sort: the inputs come in this order, and so do the rows of all of them. */
  readonly mergeKeys?: readonly SortKey[];
}

/** A WITH table as nodes name it: compared by identity. */
export interface CommonTable {
  readonly name: string;
  /** Columns of enclosing queries that its rows depend on. */
  readonly outer: readonly ColumnId[];
  /** The rows of the last step of a recursive query, as its next step reads them. */
  readonly working: boolean;
  /** Made by share-subplans: nobody wrote it. */
  readonly shared?: true;
}

/** Tables whose rows are computed once, on first use, and read by the CommonScan nodes below. */
export interface WithPlan extends Node {
  readonly kind: "with";
  /**
   * The clauses of a Cypher statement that writes: each table runs to its end before the next begins, and what follows
   * sees what it wrote. Absent: all parts read one snapshot.
   */
  readonly sequential?: true;
  /** Each may read those before it. One that changes data runs to its end exactly once, read or not. */
  readonly tables: readonly CommonTableDefinition[];
  readonly input: Plan;
}

export interface CommonTableDefinition {
  readonly table: CommonTable;
  readonly plan: Plan;
  /**
   * Contains INSERT, UPDATE, DELETE, MERGE or a graph's writes: then all parts of the statement read the snapshot from
   * before it.
   */
  readonly modifies: boolean;
}

/** The table's rows; `columns[i]` is the definition's column `source[i]`, or column i without a `source`. */
export interface CommonScanPlan extends Node {
  readonly kind: "commonscan";
  readonly table: CommonTable;
  readonly alias: string;
  readonly source?: readonly number[];
}

/** `left`, then `right` over the rows that came last (a CommonScan of `working`) until there are no new ones. */
export interface RecursivePlan extends Node {
  readonly kind: "recursive";
  readonly working: CommonTable;
  /** Numbers the steps, as an outer column of the step: what depends on the working table depends on it. */
  readonly iteration: ColumnId;
  /** False (UNION): rows that came before are dropped. */
  readonly all: boolean;
  readonly left: Plan;
  readonly right: Plan;
}

// ---- access and physical nodes, made by rules only ----

/** At most one row: the whole primary key, or all columns of a unique index, given by constants or parameters. */
export interface PointGetPlan extends Node {
  readonly kind: "pointget";
  readonly table: TableDef;
  readonly alias: string;
  readonly source: readonly number[];
  readonly index: IndexDef | "primary key";
  /** One per key column, already of the column's type. */
  readonly key: readonly Expr[];
  readonly filter: Expr | null;
  readonly rowKey: ColumnId | null;
  /** Columns that only the filter reads. */
  readonly filterOnly?: ReadonlySet<ColumnId>;
}

/**
 * A range of the primary key or of an index: equal to `prefix` on the first key columns, then bounded on the next.
 * With `keySets` (an IN list), one sub-range per element of the column after the prefix; the bounds are on the one
 * after that.
 */
export interface IndexScanPlan extends Node {
  readonly kind: "indexscan";
  readonly table: TableDef;
  readonly alias: string;
  readonly source: readonly number[];
  readonly index: IndexDef | "primary key";
  readonly prefix: readonly Expr[];
  readonly keySets: readonly Expr[] | null;
  /** The elements are those of the arrays in `keySets`. */
  readonly keyArrays?: true;
  readonly lower: { readonly expr: Expr; readonly inclusive: boolean } | null;
  readonly upper: { readonly expr: Expr; readonly inclusive: boolean } | null;
  /** The key column after the prefix is NULL; without sets and bounds. */
  readonly isNull?: boolean;
  /**
   * By the index on labels of a graph's nodes, without all of those: the nodes that have these labels
   * (label-ranges.ts).
   */
  readonly labels?: readonly string[];
  readonly filter: Expr | null;
  readonly reverse: boolean;
  readonly rowKey: ColumnId | null;
}

/** An equi-join: builds a table of the right side by `rightKeys`, probes with the left. `residual` after the match. */
export interface HashJoinPlan extends Node {
  readonly kind: "hashjoin";
  readonly type: JoinType;
  readonly left: Plan;
  readonly right: Plan;
  readonly leftKeys: readonly Expr[];
  readonly rightKeys: readonly Expr[];
  /** Set by eliminate-sort: the rows must come in the order of the left side, so the join must not go to disk. */
  readonly keepsLeftOrder?: true;
  /** Of a semi or anti join: the table is of the left rows, which come when all right rows have been seen. */
  readonly buildsLeft?: true;
  readonly residual: Expr | null;
}

/** An equi-join of inputs that both come in the order of its keys, which are columns; so do its rows. */
export interface MergeJoinPlan extends Node {
  readonly kind: "mergejoin";
  readonly type: JoinType;
  readonly left: Plan;
  readonly right: Plan;
  readonly leftKeys: readonly Expr[];
  readonly rightKeys: readonly Expr[];
  /** Per key. */
  readonly directions: readonly KeyDirection[];
  readonly residual: Expr | null;
}

/** Sort and limit in one, keeping only limit + offset rows. */
export interface TopNPlan extends Node {
  readonly kind: "topn";
  readonly input: Plan;
  readonly keys: readonly SortKey[];
  readonly limit: Expr;
  readonly offset: Expr | null;
}
