/** The tables of a cursor's query whose rows WHERE CURRENT OF may change (current-of.ts). */
import type { Expr } from "../../query/expr/expr.js";

/** In place of a column's id: the row's key in storage. */
export const ROW_KEY = -1;

export interface CursorTable {
  readonly tableId: number;
  /** What tells its rows: ids of columns, or ROW_KEY. They are the last columns of the plan, table after table. */
  readonly parts: readonly number[];
}

/** With the expressions of their parts. */
export class CursorTables {
  readonly tables: CursorTable[] = [];
  readonly exprs: Expr[] = [];
  /** The plan gives them. */
  isGiven = false;

  add(tableId: number, parts: readonly number[], exprs: readonly Expr[]): void {
    this.tables.push({ tableId, parts });
    this.exprs.push(...exprs);
  }
}
