/**
 * The one algebra. Binders of every language produce these nodes, rules in `optimize/` rewrite them, `exec/` turns
 * each into an operator. Nodes are frozen and tagged by `kind`; a node's `columns` are what it hands to its parent.
 *
 * Logical nodes say what; the access nodes at the end (`pointget`, `indexscan`, `hashjoin`, `topn`) say how and are
 * only made by rules. A tree that no rule has touched is executable too, just slower: that is how rules are tested.
 */
import type { IndexDef, SearchIndexDef, TableDef } from "../../catalog/table.js";
import type { LockStrength } from "../../protocol/lock-strength.js";
import type { SqlType } from "../../values/values.js";
import type { AggregateFunction, CallExpr, ColumnId, Expr, SubqueryExpr, WindowFunction } from "../expr/expr.js";
import type { InRange } from "../expr/in-range.js";
import type { TableFunction } from "../expr/table-function.js";
import type { CountWalksPlan, ExpandPathPlan, ExpandPlan, GraphWritePlan, MatchPlan } from "./graph-plans.js";
import type { IndexExprs } from "./index-exprs.js";
import type { Partitioning, PartitionMembership, PruningTest } from "./partition-tree.js";

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

/** By a vector index, as long as that is ready. */
export interface NearestSearch {
  readonly index: SearchIndexDef;
  /** The vector to search for; no columns of the scan in it. */
  readonly query: Expr;
  /** How many rows are wanted: the sum of these. */
  readonly counts: readonly Expr[];
  /**
   * Instead of so many rows: all within this distance (float8; NULL: none), and perhaps some more, which the filter
   * sorts out; `counts` is empty. Columns of queries around may be in this one and in `query`.
   */
  readonly within?: Expr;
  /** Rows without a vector come before all others, not after them. */
  readonly nullsFirst: boolean;
  /** Set where the scan's last column is the distance in single precision, as the index measures it (float4). */
  readonly distance?: NearestDistance;
}

export interface NearestDistance {
  /** The distance over the table's columns, for rows that the index does not have as they are. */
  readonly call: Expr;
  /** The column of the vector in it, which the scan does not give. */
  readonly vector: OutputColumn;
  /** All other columns that are read above are in the primary key, exactly: rows need not be read. */
  readonly byKey: boolean;
}

/**
 * Rows of a table that answer a text search, best first, by a text index. `columns[i]` is table column `source[i]`;
 * after them come the storage key, if it is wanted, and the score (float8).
 */
export interface TextSearchPlan extends Node {
  readonly kind: "textsearch";
  readonly table: TableDef;
  readonly alias: string;
  readonly source: readonly number[];
  readonly filter: Expr | null;
  /** As in a scan. */
  readonly rowKey: ColumnId | null;
  readonly index: SearchIndexDef;
  /** What is searched for, and how it is read (TEXT_MODES), both text; no columns of the table in them. */
  readonly query: Expr;
  readonly mode: Expr;
  /** Only so many of the best are wanted, with those as good as the last: the sum of these. Null: all. */
  readonly counts: readonly Expr[] | null;
  /** Under a policy: scores go by the rows for which this is true; null: by none. Absent: by all of the table. */
  readonly visible?: Expr | null;
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

/** Expressions are constants or parameters of type int8; a NULL limit is no limit. */
/** FOR UPDATE and FOR SHARE: rows that the transaction holds against others until it ends. */
export interface LockPlan extends Node {
  readonly kind: "lock";
  readonly input: Plan;
  /** The columns of the input with the rows' storage keys. */
  readonly keys: readonly Expr[];
  readonly strength: LockStrength;
  readonly wait: "block" | "skip" | "error";
  /** No more rows than are asked for may be held: a LIMIT is above. */
  readonly oneByOne: boolean;
}

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

/** RETURNING of a data-modifying node: `exprs` over the table's columns, bound to `rowColumns`. */
export interface Returning {
  readonly rowColumns: readonly OutputColumn[];
  readonly exprs: readonly Expr[];
  /** Of MERGE: a further column with what was done with the row, as MERGE_ACTION() gives it. */
  readonly action?: OutputColumn;
}

/** A CHECK bound over `rowColumns`. */
export interface BoundCheck {
  readonly name: string;
  readonly predicate: Expr;
  /** WITH CHECK OPTION of the view of this name, which NULL fails, too. */
  readonly view?: boolean;
  /** Row security of the table of this name: the policy, or "" for all that permit. NULL fails, too. */
  readonly policy?: string;
  /** The policy's USING is asked, of a row that is there; "target": of one that MERGE changes. */
  readonly using?: true | "target";
}

/** `input` gives one column per live table column, in table order, defaults already filled in. */
export interface InsertPlan extends Node, Partitioning {
  readonly kind: "insert";
  readonly table: TableDef;
  /** The table is what INSTEAD OF triggers see of a view. */
  readonly instead?: true;
  /** With partitions: the id of a column that RETURNING reads the OID of the row's table from. */
  readonly tableOid?: ColumnId;
  readonly input: Plan;
  readonly rowColumns: readonly OutputColumn[];
  readonly checks: readonly BoundCheck[];
  readonly returning: Returning | null;
  readonly onConflict: OnConflict | null;
  /** Over `rowColumns`: expressions of generated columns that have to be waited for; lift-deferred takes them away. */
  readonly generated?: readonly Expr[];
}

export interface OnConflict {
  /** The index that arbitrates; null: any. */
  readonly index: IndexDef | "primary key" | null;
  readonly action: "nothing" | "update";
  /** Over `existing` (the stored row) and `excluded` (the proposed one). */
  readonly existing: readonly OutputColumn[];
  readonly excluded: readonly OutputColumn[];
  readonly assignments: readonly { readonly columnId: number; readonly expr: Expr }[];
  readonly where: Expr | null;
  /** Where policies decide: over `existing`, and over the columns of the new row. */
  readonly policies?: { readonly using: readonly BoundCheck[]; readonly checks: readonly BoundCheck[] };
}

/** A table whose rows a statement changes that names one from which it inherits, or itself. */
export interface HeirTable {
  readonly table: TableDef;
  /** Per column of the table that the statement names, the id of the column here. */
  readonly columnIds: readonly number[];
  /** The new row as it will be stored here, for checks. */
  readonly rowColumns: readonly OutputColumn[];
  readonly checks: readonly BoundCheck[];
}

/** `input` gives the old row (all live columns, bound to `oldColumns`), other FROM columns, and the row key last. */
export interface UpdatePlan extends Node, Partitioning {
  readonly kind: "update";
  readonly table: TableDef;
  /** As in InsertPlan. */
  readonly instead?: true;
  readonly input: Plan;
  readonly oldColumns: readonly OutputColumn[];
  readonly rowKey: ColumnId;
  /** New values over the input's columns; an unassigned column keeps its old value. */
  readonly assignments: readonly { readonly columnId: number; readonly expr: Expr }[];
  /** The new row, for checks and RETURNING. */
  readonly rowColumns: readonly OutputColumn[];
  readonly checks: readonly BoundCheck[];
  readonly returning: Returning | null;
  /** The tables that `input` gives rows of, each with its own checks; absent: only `table`. */
  readonly heirs?: readonly HeirTable[];
  /** With partitions: the column of the input that has the OID of the row's table. */
  readonly tableOid?: ColumnId;
  /** As in InsertPlan. */
  readonly generated?: readonly Expr[];
}

export interface DeletePlan extends Node {
  readonly kind: "delete";
  readonly table: TableDef;
  /** As in InsertPlan. */
  readonly instead?: true;
  /** As in UpdatePlan. */
  readonly heirs?: readonly HeirTable[];
  readonly input: Plan;
  readonly rowKey: ColumnId;
  readonly oldColumns: readonly OutputColumn[];
  readonly returning: Returning | null;
}

/** What MERGE does with joined rows of one kind, when the condition (over the input) holds. */
export interface MergeAction {
  readonly match: "matched" | "not matched by target" | "not matched by source";
  readonly condition: Expr | null;
  readonly action: "insert" | "update" | "delete" | "nothing";
  /** New values over the input's columns: of INSERT all columns, of UPDATE those that change. */
  readonly assignments: readonly { readonly columnId: number; readonly expr: Expr }[];
  /** Where policies decide: of the old row, over the input's columns, and of the new row, over `rowColumns`. */
  readonly policies?: { readonly using: readonly BoundCheck[]; readonly checks: readonly BoundCheck[] };
}

/** `input` joins the old rows (`oldColumns`, `rowKey`) with the source; of a row without one side those are NULL. */
export interface MergePlan extends Node, Partitioning {
  readonly kind: "merge";
  readonly table: TableDef;
  /** As in UpdatePlan. Rows are inserted into `table`, or into its partitions. */
  readonly heirs?: readonly HeirTable[];
  readonly input: Plan;
  readonly oldColumns: readonly OutputColumn[];
  readonly rowKey: ColumnId;
  /** TRUE for rows that the source has. */
  readonly inSource: ColumnId;
  /** The first that fits is taken. */
  readonly actions: readonly MergeAction[];
  /** The new row, of DELETE the old one: for checks and RETURNING. */
  readonly rowColumns: readonly OutputColumn[];
  readonly checks: readonly BoundCheck[];
  readonly returning: Returning | null;
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
