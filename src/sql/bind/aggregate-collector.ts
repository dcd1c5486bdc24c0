/**
 * The aggregate calls of one query, gathered while its expressions are bound. Each distinct call becomes a column of
 * the query's AggregatePlan; the expression that held it refers to that column.
 */

import type { ColumnExpr, ColumnId, Expr } from "../../query/expr/expr.js";
import { exprEquals } from "../../query/expr/walk.js";
import type { AggregateCall, OutputColumn } from "../../query/plan/plan.js";
import type { SqlType } from "../../values/values.js";

/** A call of GROUPING, before its arguments are found among the groups. */
export interface GroupingCall {
  readonly args: readonly Expr[];
  readonly column: OutputColumn;
  readonly position: number;
}

export class AggregateCollector {
  readonly calls: AggregateCall[] = [];
  /** One per call. */
  readonly columns: OutputColumn[] = [];
  readonly groupings: GroupingCall[] = [];

  get isEmpty(): boolean {
    return this.calls.length === 0 && this.groupings.length === 0;
  }

  columnIds(): ColumnId[] {
    return [...this.columns, ...this.groupings.map((grouping) => grouping.column)].map((column) => column.id);
  }

  addGrouping(args: readonly Expr[], position: number, newColumn: () => OutputColumn): ColumnExpr {
    let grouping = this.groupings.find((other) => sameAll(other.args, args));
    if (grouping === undefined) {
      grouping = { args, position, column: newColumn() };
      this.groupings.push(grouping);
    }
    const { id, name, type } = grouping.column;
    return Object.freeze({ kind: "column", id, name, type });
  }

  /** A column for the call: that of an equal call, or a new one. */
  add(call: AggregateCall, newColumn: (name: string, type: SqlType, nullable: boolean) => OutputColumn): ColumnExpr {
    let slot = this.calls.findIndex((other) => sameCall(other, call));
    if (slot < 0) {
      slot = this.calls.push(call) - 1;
      this.columns.push(
        newColumn(call.fn.name, call.fn.returns, call.fn.name !== "count" || call.fn.open !== undefined),
      );
    }
    const { id, name, type } = this.columns[slot]!;
    return Object.freeze({ kind: "column", id, name, type });
  }
}

function sameCall(a: AggregateCall, b: AggregateCall): boolean {
  return (
    a.fn === b.fn &&
    a.distinct === b.distinct &&
    sameAll(a.args, b.args) &&
    sameAll(a.direct ?? [], b.direct ?? []) &&
    sameMaybe(a.filter, b.filter) &&
    a.orderBy.length === b.orderBy.length &&
    a.orderBy.every((key, i) => {
      const other = b.orderBy[i]!;
      return (
        exprEquals(key.expr, other.expr) && key.descending === other.descending && key.nullsFirst === other.nullsFirst
      );
    })
  );
}

function sameAll(a: readonly Expr[], b: readonly Expr[]): boolean {
  return a.length === b.length && a.every((expr, i) => exprEquals(expr, b[i]!));
}

function sameMaybe(a: Expr | null, b: Expr | null): boolean {
  return a === null || b === null ? a === b : exprEquals(a, b);
}
