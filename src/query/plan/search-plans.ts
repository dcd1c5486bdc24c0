/** Nodes that find rows by an index for search: those nearest to a vector, and those that answer a text search. */
import type { SearchIndexDef, TableDef } from "../../catalog/table.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import type { OutputColumn } from "./plan.js";

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
export interface TextSearchPlan {
  readonly columns: readonly OutputColumn[];
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
