/**
 * The windows of one query and the calls over them, gathered while its expressions are bound. Each distinct call
 * becomes a column of a WindowPlan (window-plan.ts); the expression that held it refers to that column.
 */

import type { ColumnExpr, ColumnId, Expr } from "../../query/expr/expr.js";
import { exprEquals } from "../../query/expr/walk.js";
import type { OutputColumn, SortKey, WindowCall, WindowFrame } from "../../query/plan/plan.js";
import type { SqlType } from "../../values/values.js";
import type { WindowNode } from "../parse/ast-query.js";

/** A window definition with its names resolved. */
export interface WindowSpec {
  readonly partitionBy: readonly Expr[];
  readonly orderBy: readonly SortKey[];
  readonly frame: WindowFrame;
  /** Whether the frame was written; such a window cannot be built upon. */
  readonly framed: boolean;
}

/** A window with the calls over it, and their columns. */
export interface CollectedWindow {
  readonly spec: WindowSpec;
  readonly calls: WindowCall[];
  readonly columns: OutputColumn[];
}

/** Window functions that are never NULL. */
const NOT_NULL = new Set(["row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "count"]);

export class WindowCollector {
  windows: CollectedWindow[] = [];
  /** Windows of the WINDOW clause that were bound so far. */
  readonly named = new Map<string, WindowSpec>();

  constructor(
    /** The WINDOW clause. */
    readonly definitions: readonly WindowNode[],
  ) {}

  get isEmpty(): boolean {
    return this.windows.length === 0;
  }

  /** A column for the call: that of an equal call over an equal window, or a new one. */
  add(
    spec: WindowSpec,
    call: WindowCall,
    newColumn: (name: string, type: SqlType, nullable: boolean) => OutputColumn,
  ): ColumnExpr {
    let window = this.windows.find((other) => sameSpec(other.spec, spec));
    if (window === undefined) {
      window = { spec, calls: [], columns: [] };
      this.windows.push(window);
    }
    let slot = window.calls.findIndex((other) => sameCall(other, call));
    if (slot < 0) {
      slot = window.calls.push(call) - 1;
      window.columns.push(newColumn(call.fn.name, call.fn.returns, !NOT_NULL.has(call.fn.name) || "open" in call.fn));
    }
    const { id, name, type } = window.columns[slot]!;
    return Object.freeze({ kind: "column", id, name, type });
  }

  columnIds(): ColumnId[] {
    return this.windows.flatMap(({ columns }) => columns.map((column) => column.id));
  }

  /** What the windows are partitioned and ordered by. */
  keys(): Expr[] {
    return this.windows.flatMap(({ spec }) => [...spec.partitionBy, ...spec.orderBy.map((key) => key.expr)]);
  }

  /** Rewrites every expression of the windows: what grouping makes of them. */
  map(change: (expr: Expr) => Expr): void {
    const keys = (orderBy: readonly SortKey[]) => orderBy.map((key) => ({ ...key, expr: change(key.expr) }));
    this.windows = this.windows.map(({ spec, calls, columns }) => ({
      columns,
      spec: { ...spec, partitionBy: spec.partitionBy.map(change), orderBy: keys(spec.orderBy) },
      calls: calls.map((call): WindowCall => {
        const args = call.args.map(change);
        if (call.kind === "function") return { ...call, args };
        return { ...call, args, filter: call.filter === null ? null : change(call.filter) };
      }),
    }));
  }
}

export function sameKey(a: SortKey, b: SortKey): boolean {
  return a.descending === b.descending && a.nullsFirst === b.nullsFirst && exprEquals(a.expr, b.expr);
}

function sameSpec(a: WindowSpec, b: WindowSpec): boolean {
  return (
    sameAll(a.partitionBy, b.partitionBy) &&
    a.orderBy.length === b.orderBy.length &&
    a.orderBy.every((key, i) => sameKey(key, b.orderBy[i]!)) &&
    sameFrame(a.frame, b.frame)
  );
}

function sameFrame(a: WindowFrame, b: WindowFrame): boolean {
  const sameBound = (x: WindowFrame["start"], y: WindowFrame["start"]) =>
    x.kind === y.kind && sameMaybe(x.offset, y.offset);
  return a.mode === b.mode && a.exclude === b.exclude && sameBound(a.start, b.start) && sameBound(a.end, b.end);
}

function sameCall(a: WindowCall, b: WindowCall): boolean {
  return a.fn === b.fn && sameAll(a.args, b.args) && sameMaybe(a.filter, b.filter);
}

function sameAll(a: readonly Expr[], b: readonly Expr[]): boolean {
  return a.length === b.length && a.every((expr, i) => exprEquals(expr, b[i]!));
}

function sameMaybe(a: Expr | null, b: Expr | null): boolean {
  return a === null || b === null ? a === b : exprEquals(a, b);
}
