/** The meaning of a question before it is SQL. Made by `read-question.ts`, written by `write-query.ts`. */
import type { ColumnRef, TableFacts } from "./schema-facts.js";

/** A condition on a column; `sql` writes it around the column's name in SQL. */
export interface Filter {
  readonly ref: ColumnRef;
  readonly sql: (column: string) => string;
  /** Of a negated one: what does not hold. Of many rows none may have it. */
  readonly denied?: (column: string) => string;
  /** Where the negation stands: what one negation denies of many rows is denied of each of them together. */
  readonly denial?: number;
  /** Where it is said. */
  readonly at?: number;
  /** A value, or what is true or false. */
  readonly isState?: true;
}

export type TimeUnit = "year" | "quarter" | "month" | "week" | "day" | "hour" | "hour of day" | "weekday";

export type AggregateFn = "avg" | "sum" | "min" | "max" | "median";

export type GroupKey =
  | { readonly kind: "column"; readonly ref: ColumnRef }
  | { readonly kind: "table"; readonly table: TableFacts }
  | { readonly kind: "time"; readonly ref: ColumnRef; readonly unit: TimeUnit };

/** A share of 1, or of 100. */
type Whole = 1 | 100;

export type Aggregate =
  | { readonly fn: "count"; readonly distinct: ColumnRef | null }
  /** Of a group's rows among all rows; with `ref`, of the sum of its numbers among the sum of all. */
  | { readonly fn: "share"; readonly ref: ColumnRef | null; readonly of: Whole }
  /** Of rows for which all of these hold, among all rows. */
  | { readonly fn: "rate"; readonly holds: readonly Filter[]; readonly of: Whole }
  | { readonly fn: AggregateFn; readonly ref: ColumnRef };

export interface Order {
  /** null: by the number of rows in the group. */
  readonly ref: ColumnRef | null;
  readonly descending: boolean;
}

export interface FirstOfEach {
  readonly groups: readonly GroupKey[];
  readonly ref: ColumnRef;
  readonly descending: boolean;
  readonly count: number;
}

export interface QueryShape {
  /** Whose rows are listed, counted or aggregated. */
  readonly base: TableFacts;
  /** Columns that are asked for; empty: all of `base`. */
  readonly columns: readonly ColumnRef[];
  readonly isDistinct: boolean;
  readonly aggregates: readonly Aggregate[];
  readonly groups: readonly GroupKey[];
  readonly filters: readonly Filter[];
  /** Tables of which a row must, or must not, belong to the row of `base`. */
  readonly related: readonly { readonly table: TableFacts; readonly exists: boolean }[];
  /** Of groups by `base`, or by `groups`: how many rows of `table`. */
  readonly having: { readonly table: TableFacts; readonly comparison: string; readonly count: number } | null;
  /** Of groups: what an aggregate of their rows is. */
  readonly havingValue: {
    readonly aggregate: Aggregate;
    readonly comparison: string;
    readonly number: number;
  } | null;
  /** Of these a row of `base` has the most or fewest. */
  readonly ranking: { readonly table: TableFacts; readonly descending: boolean } | null;
  readonly order: Order | null;
  /** Groups of this unit are compared with the ones before. */
  readonly change: TimeUnit | null;
  readonly limit: number | null;
  /** What is asked of all groups together: how many there are, or how many rows each has on average. */
  readonly ofGroups: "count" | "average" | null;
  /** Of the rows of each of these groups only the first. */
  readonly firstOfEach: FirstOfEach | null;
  /** Tables that the question names: ways over them are preferred. */
  readonly named: ReadonlySet<TableFacts>;
}
