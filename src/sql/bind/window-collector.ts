/**
 * The windows of one query and the calls over them, gathered while its expressions are bound. Each distinct call becomes
 * a column of a WindowPlan; the expression that held it refers to that column. Calls of equal windows share a plan node,
 * and windows whose order another one's order begins with share its sort.
 */
import type { SqlType } from "../../protocol/values.js";
import type { ColumnExpr, ColumnId, Expr } from "../../query/expr/expr.js";
import { exprEquals } from "../../query/expr/walk.js";
import type { OutputColumn, Plan, SortKey, WindowCall, WindowFrame, WindowPlan } from "../../query/plan/plan.js";
import type { WindowNode } from "../parse/ast-query.js";
import { type Binding, columnExpr } from "./binding.js";
import { project, sorted } from "./source.js";

/** A window definition with its names resolved. */
export interface WindowSpec {
  readonly partitionBy: readonly Expr[];
  readonly orderBy: readonly SortKey[];
  readonly frame: WindowFrame;
  /** Whether the frame was written; such a window cannot be built upon. */
  readonly framed: boolean;
}

interface Window {
  readonly spec: WindowSpec;
  readonly calls: WindowCall[];
  readonly columns: OutputColumn[];
}

/** Window functions that are never NULL. */
const NOT_NULL = new Set(["row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "count"]);

export class WindowCollector {
  private windows: Window[] = [];
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
      window.columns.push(newColumn(call.fn.name, call.fn.returns, !NOT_NULL.has(call.fn.name)));
    }
    return columnExpr(window.columns[slot]!);
  }

  columnIds(): ColumnId[] {
    return this.windows.flatMap(({ columns }) => columns.map((column) => column.id));
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

  /** The window nodes over a plan, each over the sort that it needs and does not find. */
  plan(input: Plan, binding: Binding): Plan {
    let plan = this.withKeys(input, binding);
    let order: readonly SortKey[] = [];
    for (const { spec, calls, columns } of bySharedOrder(this.windows)) {
      const keys = orderOf(spec);
      if (!startsWith(order, keys)) {
        plan = sorted(plan, keys);
        order = keys;
      }
      const { partitionBy, orderBy, frame } = spec;
      plan = Object.freeze({
        kind: "window",
        input: plan,
        partitionBy,
        orderBy,
        frame,
        calls,
        columns: [...plan.columns, ...columns],
      }) satisfies WindowPlan;
    }
    return plan;
  }

  /** Keys that are more than a column are computed once, below the sorts; the windows then refer to those columns. */
  private withKeys(input: Plan, binding: Binding): Plan {
    const computed: Expr[] = [];
    const exprs = this.windows.flatMap(({ spec }) => [...spec.partitionBy, ...spec.orderBy.map((key) => key.expr)]);
    for (const expr of exprs) {
      const plain = expr.kind === "column" || expr.kind === "const" || expr.kind === "param";
      if (!plain && !computed.some((other) => exprEquals(other, expr))) computed.push(expr);
    }
    if (computed.length === 0) return input;
    const passed = input.columns.map(columnExpr);
    const names = [...input.columns.map((column) => column.name), ...computed.map(() => "window key")];
    const { plan, columns } = project(input, [...passed, ...computed], names, binding);
    const keys = columns.slice(passed.length).map(columnExpr);
    const column = (expr: Expr) => keys[computed.findIndex((other) => exprEquals(other, expr))] ?? expr;
    this.windows = this.windows.map(({ spec, ...window }) => ({
      ...window,
      spec: {
        ...spec,
        partitionBy: spec.partitionBy.map(column),
        orderBy: spec.orderBy.map((key) => ({ ...key, expr: column(key.expr) })),
      },
    }));
    return plan;
  }
}

/** The order in which a window wants its rows. */
function orderOf(spec: WindowSpec): SortKey[] {
  const keys = spec.partitionBy.map((expr): SortKey => ({ expr, descending: false, nullsFirst: false }));
  return [...keys, ...spec.orderBy].filter(
    (key, i, all) => all.findIndex((other) => exprEquals(other.expr, key.expr)) === i,
  );
}

/** Windows with longer orders first, each followed by those whose order it begins with. */
function bySharedOrder(windows: readonly Window[]): Window[] {
  const rest = [...windows].sort((a, b) => orderOf(b.spec).length - orderOf(a.spec).length);
  const result: Window[] = [];
  while (rest.length > 0) {
    const first = rest[0]!;
    const order = orderOf(first.spec);
    for (const window of [...rest]) {
      if (window !== first && !startsWith(order, orderOf(window.spec))) continue;
      result.push(window);
      rest.splice(rest.indexOf(window), 1);
    }
  }
  return result;
}

function startsWith(order: readonly SortKey[], keys: readonly SortKey[]): boolean {
  return keys.length <= order.length && keys.every((key, i) => sameKey(key, order[i]!));
}

function sameKey(a: SortKey, b: SortKey): boolean {
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
