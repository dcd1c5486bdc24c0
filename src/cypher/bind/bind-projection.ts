/**
 * WITH and RETURN: what they compute becomes columns and variables, then come DISTINCT, ORDER BY, SKIP, LIMIT and
 * WHERE. Entities stay columns until the result itself, where they become values.
 */

import { LIMIT_ROWS, SKIP_ROWS } from "../../query/expr/cypher/clause-functions.js";
import { FIRST_VALUE } from "../../query/expr/cypher/registry.js";
import type { ColumnId, Expr } from "../../query/expr/expr.js";
import { columnsOf, exprEquals, isVolatile, mapExpr, someExpr } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { AggregatePlan, OutputColumn, Plan, SortKey } from "../../query/plan/plan.js";
import type { Expr as ExprNode, ProjectionClause, ProjectionItem, SortItem } from "../parse/ast.js";
import { isChoice, isHidden } from "../parse/composed-queries.js";
import { AggregateCollector, hasAggregate } from "./aggregate-collector.js";
import { bindCondition } from "./bind-condition.js";
import { type Binding, contextOf, type ExprContext, type Rows } from "./binding.js";
import { filtered, type Limits, limited, type Made, only, project, sorted } from "./rows.js";
import { call, columnsOfEntity, entityIn, NO_VARIABLES, type Variable, type Variables } from "./variables.js";

/** An item of the clause, with `*` written out. */
interface Item {
  readonly name: string;
  readonly node: ExprNode;
}

/** An item that has been bound: a variable as it will be, or the expression of one that is new. */
interface Target extends Item {
  readonly made: readonly Made[];
  /** Null: one value. */
  readonly entity: Exclude<Variable["kind"], "value"> | null;
}

/** The rows with the clause's variables, and their names in order. */
export interface Projected extends Rows {
  readonly names: readonly string[];
}

/** `kept`: variables of the query around this one, which `*` does not mean, and which are seen after grouping. */
export function bindProjection(
  clause: ProjectionClause,
  rows: Rows,
  binding: Binding,
  kept: Variables = NO_VARIABLES,
): Projected {
  const items = itemsOf(clause, rows.scope, kept);
  const names = items.map(({ name }) => name);
  const choice = items.find(({ name, node }) => isChoice(name) && hasAggregate(node));
  if (choice !== undefined) {
    const what = "a condition of WHEN has no aggregates: compute them before, by WITH or NEXT";
    throw binding.error(clause.position, "InvalidAggregation", what);
  }
  if (items.some(({ node }) => hasAggregate(node))) return { ...grouped(clause, items, rows, binding, kept), names };
  const targets = items.map((item) => targetOf(item, contextOf(binding, rows.scope)));
  if (clause.distinct) return { ...distinctRows(clause, targets, rows, binding, kept), names };
  return { ...plainRows(clause, targets, rows, binding), names };
}

/** `*` is all variables, by name. */
function itemsOf({ kind, star, items, position }: ProjectionClause, scope: Variables, kept: Variables): Item[] {
  const isStarred = (name: string) => !kept.has(name) && !(kind === "return" && isHidden(name));
  const all = star ? [...scope.keys()].filter(isStarred).sort(byCodeUnits) : [];
  const named = items.map(({ name, expr }: ProjectionItem): Item => ({ name, node: expr }));
  return [...all.map((name): Item => ({ name, node: { kind: "variable", name, position } })), ...named];
}

const byCodeUnits = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function targetOf(item: Item, context: ExprContext): Target {
  const { name, node } = item;
  const variable = node.kind === "variable" ? context.scope.get(node.name) : undefined;
  if (variable === undefined || variable.kind === "value") {
    return { ...item, made: [{ name, expr: context.binding.bind.expr(node, context) }], entity: null };
  }
  const made = columnsOfEntity(variable).map((column, i) => ({
    name: i === 0 ? name : `${name}.${PARTS[variable.kind][i]}`,
    expr: columnExpr(column),
  }));
  return { ...item, made, entity: variable.kind };
}

const PARTS = {
  node: ["id", "labels", "properties"],
  relationship: ["id", "type", "src", "dst", "properties"],
} as const;

/** The variables that targets become in columns that stand in the targets' order. */
function scopeOf(targets: readonly Target[], columns: readonly OutputColumn[]): Variables {
  const scope = new Map<string, Variable>();
  let at = 0;
  for (const { name, made, entity } of targets) {
    const own = columns.slice(at, at + made.length);
    at += made.length;
    scope.set(name, entity === null ? { kind: "value", expr: columnExpr(own[0]!) } : entityIn(entity, own));
  }
  return scope;
}

// ---- without aggregates and DISTINCT ----

/** ORDER BY and WHERE see what was before, too, where no new variable has the name. */
function plainRows(clause: ProjectionClause, targets: readonly Target[], rows: Rows, binding: Binding): Rows {
  const made = targets.flatMap((target) => target.made);
  const projection = project(rows.plan, made, [], binding);
  const scope = scopeOf(targets, projection.columns);
  const context = contextOf(binding, new Map([...rows.scope, ...scope]));
  const keys = sharing(sortKeys(clause.orderBy, context), made, projection.columns);
  const limits = limitsOf(clause, binding);
  const where = clause.where === null ? null : bindCondition(clause.where, context);
  const below = where === null && limits.limit !== null ? keysBelow(keys, made, projection.columns) : null;
  if (below !== null) {
    const input = limited(sorted(rows.plan, below), limits);
    return { plan: Object.freeze({ ...projection, input }) as Plan, scope };
  }
  const read = new Set([...keys.map(({ expr }) => expr), ...(where === null ? [] : [where])].flatMap(readBy));
  for (const { id } of projection.columns) read.delete(id);
  const passed = rows.plan.columns.filter(({ id }) => read.has(id));
  const wide = passed.length === 0 ? projection : withPassed(projection, passed);
  const plan = filtered(limited(sorted(wide, keys), limits), where);
  return { plan: only(plan, projection.columns), scope };
}

const readBy = (expr: Expr) => [...columnsOf(expr)];

function withPassed(projection: Plan, passed: readonly OutputColumn[]): Plan {
  if (projection.kind !== "project") return projection;
  const exprs = [...projection.exprs, ...passed.map(columnExpr)];
  return Object.freeze({ ...projection, exprs, columns: [...projection.columns, ...passed] });
}

/** A key that is computed by the clause, too, is its column. */
function sharing(keys: readonly SortKey[], made: readonly Made[], columns: readonly OutputColumn[]): SortKey[] {
  return keys.map((key) => {
    const place = made.findIndex(({ expr }) => expr.kind !== "column" && exprEquals(expr, key.expr));
    return place < 0 ? key : { ...key, expr: columnExpr(columns[place]!) };
  });
}

/**
 * The keys over the projection's input, so that it is computed only for rows that are kept; null when that is not
 * possible.
 */
function keysBelow(
  keys: readonly SortKey[],
  made: readonly Made[],
  columns: readonly OutputColumn[],
): readonly SortKey[] | null {
  const meaning = new Map<ColumnId, Expr>(made.map(({ expr }, i) => [columns[i]!.id, expr]));
  const isFixed = (expr: Expr) => isVolatile(expr) || someExpr(expr, (node) => node.kind === "subquery");
  const read = keys.flatMap(({ expr }) => readBy(expr));
  const isMovable = (id: ColumnId) => meaning.get(id) === undefined || !isFixed(meaning.get(id)!);
  if (keys.some(({ expr }) => isFixed(expr)) || !read.every(isMovable)) return null;
  const replace = (node: Expr) => (node.kind === "column" ? (meaning.get(node.id) ?? node) : node);
  return keys.map((key) => ({ ...key, expr: mapExpr(key.expr, replace) }));
}

// ---- DISTINCT ----

function distinctRows(
  clause: ProjectionClause,
  targets: readonly Target[],
  rows: Rows,
  binding: Binding,
  kept: Variables,
): Rows {
  const input = project(
    rows.plan,
    targets.flatMap(({ made }) => made),
    [],
    binding,
  );
  const scope = scopeOf(targets, input.columns);
  const plan: Plan = Object.freeze({ kind: "distinct", input, on: distinctKeys(scope), columns: input.columns });
  return finished(clause, { plan, scope }, targets, binding, kept);
}

/** Entities are told apart by their ids. Null: all columns. */
function distinctKeys(scope: Variables): readonly Expr[] | null {
  const variables = [...scope.values()];
  if (variables.every(({ kind }) => kind === "value")) return null;
  return variables.map((variable) => (variable.kind === "value" ? variable.expr : columnExpr(variable.columns.id)));
}

/** ORDER BY and WHERE see the clause's variables, and its expressions as they are written. */
function finished(
  clause: ProjectionClause,
  rows: Rows,
  items: readonly Item[],
  binding: Binding,
  kept: Variables,
): Rows {
  const seen = new Map([...kept, ...withOldNames(rows.scope, items)]);
  const context = { ...contextOf(binding, seen), computed: computedBy(items, rows.scope) };
  const keys = sortKeys(clause.orderBy, context);
  const where = clause.where === null ? null : bindCondition(clause.where, context);
  const plan = filtered(limited(sorted(rows.plan, keys), limitsOf(clause, binding)), where);
  return { plan, scope: rows.scope };
}

/** A variable that went through under a new name is known by its old one, too. */
function withOldNames(scope: Variables, items: readonly Item[]): Variables {
  const all = new Map(scope);
  for (const { name, node } of items) {
    if (node.kind === "variable" && !all.has(node.name)) all.set(node.name, scope.get(name)!);
  }
  return all;
}

function computedBy(items: readonly Item[], scope: Variables): ExprContext["computed"] {
  return items.flatMap(({ name, node }) => {
    const variable = scope.get(name)!;
    if (node.kind === "variable" || variable.kind !== "value") return [];
    return [{ node, expr: variable.expr }];
  });
}

// ---- aggregates ----

/** Items without aggregates are what rows are grouped by; the others are computed of groups and of aggregates. */
function grouped(
  clause: ProjectionClause,
  items: readonly Item[],
  rows: Rows,
  binding: Binding,
  kept: Variables,
): Rows {
  const collector = new AggregateCollector(binding, rows.scope);
  const keys = items
    .filter(({ node }) => !hasAggregate(node))
    .map((item) => targetOf(item, contextOf(binding, rows.scope)));
  const groups = new Grouping(keys, binding);
  const scope = groups.scope;
  const context: ExprContext = {
    binding,
    scope: withOldNames(scope, keys),
    aggregates: collector,
    computed: computedBy(keys, scope),
  };
  const targets = items.map((item): Target => {
    if (!hasAggregate(item.node)) return targetOf({ ...item, node: ownVariable(item) }, { ...context, scope });
    return { ...item, made: [{ name: item.name, expr: binding.bind.expr(item.node, context) }], entity: null };
  });
  const plan = groups.plan(rows.plan, collector);
  const input = project(
    plan,
    targets.flatMap(({ made }) => made),
    [],
    binding,
  );
  const result = { plan: input, scope: scopeOf(targets, input.columns) };
  const distinct: Rows = clause.distinct
    ? {
        ...result,
        plan: Object.freeze({ kind: "distinct", input, on: distinctKeys(result.scope), columns: input.columns }),
      }
    : result;
  return finished(clause, distinct, items, binding, kept);
}

const ownVariable = ({ name, node }: Item): ExprNode => ({ kind: "variable", name, position: node.position });

/** Keys of an aggregation: of entities the id is one, what else there is of them is taken from any row of the group. */
class Grouping {
  readonly scope: Variables = NO_VARIABLES;
  private readonly groups: Expr[] = [];
  private readonly groupColumns: OutputColumn[] = [];
  private readonly rest: Expr[] = [];
  private readonly restColumns: OutputColumn[] = [];

  constructor(keys: readonly Target[], binding: Binding) {
    const columns = keys.flatMap(({ made, entity }) =>
      made.map(({ name, expr }, i) => {
        const column = binding.newColumn(name, expr.type);
        const isKey = entity === null || i === 0;
        (isKey ? this.groups : this.rest).push(expr);
        (isKey ? this.groupColumns : this.restColumns).push(column);
        return column;
      }),
    );
    this.scope = scopeOf(keys, columns);
  }

  plan(input: Plan, collector: AggregateCollector): AggregatePlan {
    const firsts = this.rest.map((expr) => ({
      fn: FIRST_VALUE,
      args: [expr],
      distinct: false,
      filter: null,
      orderBy: [],
    }));
    const columns = [...this.groupColumns, ...this.restColumns, ...collector.columns];
    const calls = [...firsts, ...collector.calls];
    return Object.freeze({ kind: "aggregate", input, groups: this.groups, calls, columns });
  }
}

// ---- order and number ----

/** Null is greater than everything. */
function sortKeys(items: readonly SortItem[], context: ExprContext): SortKey[] {
  return items.map(({ expr, descending }) => ({ expr: sortExpr(expr, context), descending, nullsFirst: descending }));
}

function sortExpr(node: ExprNode, context: ExprContext): Expr {
  return context.binding.bind.expr(node, context);
}

/** SKIP and LIMIT: no variables are in them. */
function limitsOf({ skip, limit }: ProjectionClause, binding: Binding): Limits {
  const context = contextOf(binding, NO_VARIABLES);
  const rows = (node: ExprNode, fn: typeof SKIP_ROWS) => call(fn, [binding.bind.expr(node, context)]);
  return {
    limit: limit === null ? null : rows(limit, LIMIT_ROWS),
    offset: skip === null ? null : rows(skip, SKIP_ROWS),
  };
}
