/**
 * The plan of a query's windows: one node per distinct window, each over the sort that it needs and does not find.
 * Windows whose order another one's order begins with come right above it and share its sort. bind-select.ts calls it.
 */
import type { Expr } from "../../query/expr/expr.js";
import { exprEquals } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan, SortKey, WindowPlan } from "../../query/plan/plan.js";
import type { Binding } from "./binding.js";
import { project, sorted } from "./source.js";
import { type CollectedWindow, sameKey, type WindowCollector, type WindowSpec } from "./window-collector.js";

/** The window nodes over a plan, each over the sort that it needs and does not find. */
export function windowPlan(collector: WindowCollector, given: Plan, binding: Binding): Plan {
  const { input, windows } = withKeys(collector.windows, given, binding);
  let plan = input;
  let order: readonly SortKey[] = [];
  for (const { spec, calls, columns } of bySharedOrder(windows)) {
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
function withKeys(windows: readonly CollectedWindow[], input: Plan, binding: Binding) {
  const computed: Expr[] = [];
  const exprs = windows.flatMap(({ spec }) => [...spec.partitionBy, ...spec.orderBy.map((key) => key.expr)]);
  for (const expr of exprs) {
    const plain = expr.kind === "column" || expr.kind === "const" || expr.kind === "param";
    if (!plain && !computed.some((other) => exprEquals(other, expr))) computed.push(expr);
  }
  if (computed.length === 0) return { input, windows };
  const passed = input.columns.map(columnExpr);
  const names = [...input.columns.map((column) => column.name), ...computed.map(() => "window key")];
  const { plan, columns } = project(input, [...passed, ...computed], names, binding);
  const keys = columns.slice(passed.length).map(columnExpr);
  const column = (expr: Expr) => keys[computed.findIndex((other) => exprEquals(other, expr))] ?? expr;
  const over = windows.map(({ spec, ...window }) => ({
    ...window,
    spec: {
      ...spec,
      partitionBy: spec.partitionBy.map(column),
      orderBy: spec.orderBy.map((key) => ({ ...key, expr: column(key.expr) })),
    },
  }));
  return { input: plan, windows: over };
}

/** The order in which a window wants its rows. */
function orderOf(spec: WindowSpec): SortKey[] {
  const keys = spec.partitionBy.map((expr): SortKey => ({ expr, descending: false, nullsFirst: false }));
  return [...keys, ...spec.orderBy].filter(
    (key, i, all) => all.findIndex((other) => exprEquals(other.expr, key.expr)) === i,
  );
}

/** Windows with longer orders first, each followed by those whose order it begins with. */
function bySharedOrder(windows: readonly CollectedWindow[]): CollectedWindow[] {
  const rest = [...windows].sort((a, b) => orderOf(b.spec).length - orderOf(a.spec).length);
  const result: CollectedWindow[] = [];
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
