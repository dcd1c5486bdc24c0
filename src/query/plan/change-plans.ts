/** Nodes that change rows: INSERT, UPDATE, DELETE and MERGE, with what they check and what they answer. */
import type { IndexDef, TableDef } from "../../catalog/table.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import type { Partitioning } from "./partition-tree.js";
import type { OutputColumn, Plan } from "./plan.js";

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
export interface InsertPlan extends Partitioning {
  readonly columns: readonly OutputColumn[];
  readonly kind: "insert";
  readonly table: TableDef;
  /** The table is what INSTEAD OF triggers see of a view. */
  readonly instead?: true;
  /** With partitions: the id of a column that RETURNING reads the OID of the row's table from. */
  readonly tableOid?: ColumnId;
  /** The id of a column that RETURNING reads the row's storage key from. */
  readonly rowKey?: ColumnId;
  /** Of one that tells whether ON CONFLICT DO UPDATE changed the row. */
  readonly wasThere?: ColumnId;
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
export interface UpdatePlan extends Partitioning {
  readonly columns: readonly OutputColumn[];
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

export interface DeletePlan {
  readonly columns: readonly OutputColumn[];
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
export interface MergePlan extends Partitioning {
  readonly columns: readonly OutputColumn[];
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
