/**
 * One SELECT: its clauses in the order in which they take effect.
 *
 *   FROM → WHERE → GROUP BY and aggregates → HAVING → windows → [targets → DISTINCT] → ORDER BY → LIMIT → targets
 *
 * Where nothing forbids it the target list comes last, so that it is only evaluated for rows that are returned.
 */
import { sqlError } from "../../protocol/errors.js";
import { SELECT_COLUMNS_MAX } from "../../protocol/limits.js";
import type { Expr } from "../../query/expr/expr.js";
import { oidOfId } from "../../query/expr/types.js";
import { exprEquals, isVolatile, someExpr } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan, SortKey } from "../../query/plan/plan.js";
import type { ColumnNode, ExprNode, QueryNode, SelectBody, TargetNode } from "../parse/ast-query.js";
import { AggregateCollector } from "./aggregate-collector.js";
import { contextOf, type ExprContext } from "./bind-context.js";
import { bindBoolean, bindExpr } from "./bind-expr.js";
import { bindFrom } from "./bind-from.js";
import { bindGroups, Grouping } from "./bind-group.js";
import { checkLocking } from "./bind-locking.js";
import { fieldsOf } from "./bind-row.js";
import { bindWindowClause } from "./bind-window.js";
import type { Binding, QueryOptions, Source } from "./binding.js";
import { coerceAssignment, isUnknown, resolveUnknown } from "./coerce.js";
import type { BoundGroups } from "./grouping-sets.js";
import { LockedRows } from "./locked-rows.js";
import { outputName } from "./output-name.js";
import type { Scope } from "./scope.js";
import { SetCollector } from "./set-collector.js";
import { bindSortKey, checkComparable, outputSortKey } from "./sort-key.js";
import { filtered, type Limits, limited, ONE_ROW, project, sorted } from "./source.js";
import { attnum } from "./system/relation-facts.js";
import { WindowCollector } from "./window-collector.js";
import { windowPlan } from "./window-plan.js";

/** A column of the result, before grouping is applied to its expression. */
export interface Target {
  readonly name: string;
  readonly expr: Expr;
  readonly position: number;
}

export function bindSelect(
  query: QueryNode,
  body: SelectBody,
  scope: Scope,
  binding: Binding,
  options: QueryOptions,
  limits: Limits | null,
): Source {
  const source = bindClauses(query, body, scope, binding, options, limits);
  for (const [i, origin] of scope.origins.entries()) binding.setOrigin(source.columns[i]!.id, origin);
  if (scope.isOutermost) binding.origins = scope.origins;
  return source;
}

function bindClauses(
  query: QueryNode,
  body: SelectBody,
  scope: Scope,
  binding: Binding,
  options: QueryOptions,
  limits: Limits | null,
): Source {
  if (query.locking.length > 0) scope.locks = new LockedRows(query.locking);
  scope.isOfOneItem = body.from.length === 1 && body.from[0]!.kind === "table";
  const from = bindFrom(body.from, scope, binding) ?? ONE_ROW;
  let input = filtered(from, bindWhere(body.where, scope, binding));
  const collector = new AggregateCollector();
  scope.aggregates = collector;
  if (body.groupBy.length > 0 || typeof body.distinct !== "string") scope.alikeSubqueries = new Map();
  const sets = new SetCollector();
  const windows = new WindowCollector(body.windows);
  scope.windows = windows;
  const context: ExprContext = { ...contextOf(binding, scope, "SELECT"), aggregates: true, windows: true, sets };
  const plain = body.groupBy.length === 0 && body.distinct === "all" && !scope.parent?.expressionsOnly;
  let targets = bindTargets(body.targets, plain ? { ...context, mayWait: true } : context);
  targets = settleUnknowns(targets, body.distinct !== "all" || query.orderBy.length > 0, binding, options);
  scope.origins = originsOf(targets, scope, binding);
  const groups = bindGroups(body, targets, { ...contextOf(binding, scope, "GROUP BY"), sets });
  const inHaving: ExprContext = { ...contextOf(binding, scope, "HAVING"), aggregates: true };
  const having = body.having === null ? null : bindBoolean(body.having, "HAVING", inHaving);
  let keys = query.orderBy.map((sort) => bindOrderKey(sort, targets, context));
  let on = typeof body.distinct === "string" ? null : bindDistinctOn(body.distinct.on, targets, context);
  bindWindowClause(windows, context, bindExpr);
  if (query.locking.length > 0) {
    const has = { aggregates: !collector.isEmpty, windows: [...windows.keys()].length > 0, sets: !sets.isEmpty };
    checkLocking(query, body, scope, has);
  }
  if (groups !== null || having !== null || !collector.isEmpty) {
    const grouping = new Grouping(groups ?? NO_GROUPS, collector, scope, binding);
    const split = sets.splitByGroups(groups?.exprs ?? []);
    windows.map((expr) => grouping.apply(expr));
    targets = targets.map((target) => ({ ...target, expr: grouping.apply(target.expr) }));
    keys = keys.map((key) => ({ ...key, expr: grouping.apply(key.expr) }));
    on = on?.map((expr) => grouping.apply(expr)) ?? null;
    const condition = having === null ? null : grouping.apply(having);
    split.above((expr) => grouping.apply(expr), [...outputsOf(targets, keys, on), ...windows.keys()]);
    input = filtered(grouping.plan(split.below(input)), condition);
  }
  const inWindows = sets.splitByGroups(windows.keys());
  input = windowPlan(windows, inWindows.below(input), binding);
  inWindows.above((expr) => expr, []);
  if (!sets.isEmpty) return withSets(sets, { input, targets, keys, on, limits }, body, query, binding);
  if (body.distinct === "distinct") return distinctRows(input, targets, keys, limits, query, binding);
  if (on !== null) return distinctOn(input, targets, keys, on, limits, query, binding);
  const rows = groups === null && having === null && collector.isEmpty && windows.isEmpty;
  return plainRows(input, rows ? withCurrentRow(targets, scope, binding) : targets, keys, limits, binding, scope.locks);
}

/** After the targets: what tells the row for WHERE CURRENT OF. */
function withCurrentRow(targets: readonly Target[], scope: Scope, binding: Binding): readonly Target[] {
  const { cursorTables } = binding;
  if (cursorTables === null || !scope.isOutermost) return targets;
  cursorTables.isGiven = true;
  return [...targets, ...cursorTables.exprs.map((expr) => ({ name: "current row", expr, position: 0 }))];
}

/** Columns of tables that are in the result as they are, also through subqueries. */
export function originsOf(
  targets: readonly Target[],
  { items }: Scope,
  binding: Binding,
): NonNullable<Binding["origins"]> {
  return targets.map(({ expr }) => {
    if (expr.kind !== "column") return null;
    for (const { table, columns } of items) {
      const index = columns.findIndex((column) => column.expr.kind === "column" && column.expr.id === expr.id);
      if (index < 0) continue;
      if (table === null) return binding.originOf(expr.id);
      return { table: oidOfId(table.id), column: attnum(table, table.columns[index]!.id) };
    }
    return null;
  });
}

/** A query with aggregates alone is one group. */
const NO_GROUPS: BoundGroups = { exprs: [], sets: null };

function outputsOf(targets: readonly Target[], keys: readonly SortKey[], on: readonly Expr[] | null): Expr[] {
  return [...exprsOf(targets), ...keys.map((key) => key.expr), ...(on ?? [])];
}

interface Rows {
  readonly input: Plan;
  readonly targets: readonly Target[];
  readonly keys: readonly SortKey[];
  readonly on: readonly Expr[] | null;
  readonly limits: Limits | null;
}

/**
 * Set-returning calls are expanded after the rows are sorted (and made distinct by ON), unless the order or ON needs
 * what they give; LIMIT counts the expanded rows.
 */
function withSets(sets: SetCollector, rows: Rows, body: SelectBody, query: QueryNode, binding: Binding): Source {
  const { input, targets, keys, on, limits } = rows;
  if (body.distinct === "distinct") return distinctRows(sets.plan(input), targets, keys, limits, query, binding);
  const early = sets.isReadBy([...keys.map((key) => key.expr), ...(on ?? [])]);
  if (on !== null && (early || keys.length === 0)) {
    return distinctOn(sets.plan(input), targets, keys, on, limits, query, binding);
  }
  if (early) return plainRows(sets.plan(input), targets, keys, limits, binding);
  const ordered = on === null ? sorted(input, keys) : distinctByOn(input, keys, on, query);
  if (sets.keepsRows) {
    return project(sets.plan(limited(ordered, limits, keys)), exprsOf(targets), namesOf(targets), binding);
  }
  return project(limited(sets.plan(ordered), limits, keys), exprsOf(targets), namesOf(targets), binding);
}

export function bindWhere(node: ExprNode | null, scope: Scope, binding: Binding): Expr | null {
  return node === null ? null : bindBoolean(node, "WHERE", contextOf(binding, scope, "WHERE"));
}

/** The target list, with `*` expanded. Also RETURNING. */
export function bindTargets(nodes: readonly TargetNode[], context: ExprContext): Target[] {
  // Before each is bound; a * may be no entry at all.
  checkTargetCount(nodes.length < SELECT_COLUMNS_MAX ? 0 : nodes.filter((node) => !isStar(node)).length);
  const targets = nodes.flatMap((node): Target[] => {
    const { expr, position } = node;
    if (expr.kind === "column" && expr.star) return expandStar(expr, position, context);
    if (expr.kind === "field" && expr.name === "*") {
      return fieldsOf(expr, context, bindExpr).map((field) => ({ ...field, position: expr.position || position }));
    }
    return [
      { name: node.name ?? outputName(expr), expr: bindExpr(expr, context), position: expr.position || position },
    ];
  });
  checkTargetCount(targets.length);
  return targets;
}

const isStar = ({ expr }: TargetNode): boolean =>
  (expr.kind === "column" && expr.star) || (expr.kind === "field" && expr.name === "*");

function checkTargetCount(count: number): void {
  if (count <= SELECT_COLUMNS_MAX) return;
  throw sqlError("54011", `target lists can have at most ${SELECT_COLUMNS_MAX} entries`);
}

function expandStar(node: ColumnNode, position: number, context: ExprContext): Target[] {
  const { scope, binding } = context;
  const { path } = node;
  const items = path.length === 0 ? scope.items.filter((item) => item.unqualified) : [scope.starItem(path, position)];
  if (items.length === 0 && scope.items.length === 0) {
    throw sqlError("42601", "SELECT * with no tables specified is not valid", { position });
  }
  binding.noted.stars.set(node, items);
  binding.noted.printed?.items.set(node, items);
  return items.flatMap((item) =>
    item.columns.map(({ name, expr }) => {
      // A node of its own, as for a named reference, so that grouping can say where it stands.
      const copy = expr.kind === "column" ? binding.setPosition(Object.freeze({ ...expr }), position) : expr;
      return { name, expr: copy, position };
    }),
  );
}

/** Literals and parameters that are still open: into the type that the rows are stored as, else text. */
function settleUnknowns(targets: Target[], settled: boolean, binding: Binding, options: QueryOptions): Target[] {
  return targets.map((target, i) => {
    if (!isUnknown(target.expr)) return target;
    const expected = options.expected?.[i] ?? null;
    if (expected !== null && expected.name !== "unknown") {
      const column = { name: target.name, type: expected };
      return { ...target, expr: coerceAssignment(target.expr, column, binding, target.position) };
    }
    if (options.unknowns === "keep" && !settled) return target;
    return { ...target, expr: resolveUnknown(target.expr, binding) };
  });
}

function bindOrderKey(sort: QueryNode["orderBy"][number], targets: readonly Target[], context: ExprContext): SortKey {
  const output = outputSortKey(sort.expr, targets, "ORDER BY", (a, b) => exprEquals(a.expr, b.expr));
  if (output !== null) return bindSortKey(sort, output.expr);
  const expr = resolveUnknown(bindExpr(sort.expr, { ...context, clause: "ORDER BY" }), context.binding);
  return bindSortKey(sort, expr);
}

function bindDistinctOn(nodes: readonly ExprNode[], targets: readonly Target[], context: ExprContext): Expr[] {
  return nodes.map((node) => {
    const output = outputSortKey(node, targets, "DISTINCT ON", (a, b) => exprEquals(a.expr, b.expr));
    const expr = output?.expr ?? bindExpr(node, { ...context, clause: "DISTINCT ON" });
    checkComparable(expr.type, node.position);
    return expr;
  });
}

// ---- the end of the plan ----

const exprsOf = (targets: readonly Target[]) => targets.map((target) => target.expr);
const namesOf = (targets: readonly Target[]) => targets.map((target) => target.name);

function plainRows(
  input: Plan,
  targets: readonly Target[],
  keys: readonly SortKey[],
  limits: Limits | null,
  binding: Binding,
  locks: LockedRows | null = null,
): Source {
  if (locks !== null || !computesFirst(keys, limits)) {
    const ordered = sorted(input, keys);
    const held = locks === null ? ordered : locks.around(ordered, limits !== null);
    if (locks !== null) binding.locksRows = true;
    return project(limited(held, limits, keys), exprsOf(targets), namesOf(targets), binding);
  }
  const { plan, keys: over, columns } = computed(input, targets, keys, binding);
  const result = limited(sorted(plan, over), limits, over);
  if (plan.columns.length === columns.length) return { plan: result, columns };
  return project(result, columns.map(columnExpr), namesOf(targets), binding);
}

/** Keys that take work are computed once, beside the targets; volatile ones must be, to be what is shown. */
function computesFirst(keys: readonly SortKey[], limits: Limits | null): boolean {
  const plain = (expr: Expr) => expr.kind === "column" || expr.kind === "const" || expr.kind === "param";
  const changing = (expr: Expr) => isVolatile(expr) || someExpr(expr, (node) => node.kind === "subquery");
  return keys.some(({ expr }) => (limits === null ? !plain(expr) : changing(expr)));
}

/** The targets and after them those sort keys that are not among the targets; keys and columns refer to them. */
function computed(input: Plan, targets: readonly Target[], keys: readonly SortKey[], binding: Binding) {
  const exprs = exprsOf(targets);
  const slots = keys.map(({ expr }) => {
    const found = exprs.findIndex((other) => other === expr || exprEquals(other, expr));
    return found >= 0 ? found : exprs.push(expr) - 1;
  });
  const names = exprs.map((_, i) => targets[i]?.name ?? "sort key");
  const { plan, columns } = project(input, exprs, names, binding);
  return {
    plan,
    keys: keys.map((key, i) => ({ ...key, expr: columnExpr(columns[slots[i]!]!) })),
    columns: columns.slice(0, targets.length),
  };
}

function distinctRows(
  input: Plan,
  targets: readonly Target[],
  keys: readonly SortKey[],
  limits: Limits | null,
  query: QueryNode,
  binding: Binding,
): Source {
  for (const target of targets) checkComparable(target.expr.type, target.position);
  const { plan, keys: over, columns } = computed(input, targets, keys, binding);
  if (plan.columns.length > columns.length) {
    const outside = query.orderBy.find((_, i) => !columns.some((column) => column.id === columnId(over[i]!)));
    const message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
    throw sqlError("42P10", message, { position: outside?.position ?? 0 });
  }
  const distinct: Plan = Object.freeze({ kind: "distinct", input: plan, on: null, columns: plan.columns });
  return { plan: limited(sorted(distinct, over), limits, over), columns };
}

const columnId = (key: SortKey) => (key.expr.kind === "column" ? key.expr.id : -1);

/** The first row per value: so the order comes before. */
function distinctOn(
  input: Plan,
  targets: readonly Target[],
  keys: readonly SortKey[],
  on: readonly Expr[],
  limits: Limits | null,
  query: QueryNode,
  binding: Binding,
): Source {
  const distinct = distinctByOn(input, keys, on, query);
  return project(limited(distinct, limits, keys), exprsOf(targets), namesOf(targets), binding);
}

function distinctByOn(input: Plan, keys: readonly SortKey[], on: readonly Expr[], query: QueryNode): Plan {
  const leading = keys.slice(0, on.length);
  const stray = leading.findIndex((key) => !on.some((expr) => exprEquals(expr, key.expr)));
  if (stray >= 0) {
    const message = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
    throw sqlError("42P10", message, { position: query.orderBy[stray]!.position });
  }
  const rows = sorted(input, keys);
  return Object.freeze({ kind: "distinct", input: rows, on, columns: rows.columns });
}
