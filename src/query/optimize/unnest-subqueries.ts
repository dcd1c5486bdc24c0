/**
 * Turns conditions on subqueries into joins: EXISTS and IN into semi joins, NOT EXISTS into anti joins. A correlated
 * subquery qualifies when its references to the outer row stand in conditions that can be lifted out of it; they
 * become the join's condition (Kim, "On Optimizing an SQL-like Nested Query", TODS 1982).
 *
 *   Filter EXISTS(Filter (o.cid = c.id) ▸ Scan o)      Semi Join (o.cid = c.id)
 *     Scan c                                     ⇒       Scan c
 *                                                        Scan o
 *
 * The same is done for such conditions of joins, and a LATERAL subquery becomes a plain one likewise.
 *
 * IN over VALUES is a list. NOT IN becomes an anti join where neither side can be NULL; otherwise it stays a subquery,
 * because it is not true when a NULL is among the values. An uncorrelated EXISTS stays too: it runs once and needs one
 * row.
 */
import { BOOL } from "../../values/values.js";
import type { ColumnId, Expr, ScalarFunction, SubqueryExpr } from "../expr/expr.js";
import { isRowComparison } from "../expr/row-comparison.js";
import { andOf, columnsOf, conjuncts, mapExpr, someExpr } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type { FilterPlan, JoinPlan, OutputColumn, Plan, ProjectPlan } from "../plan/plan.js";
import { joinColumns, mapPlan, outerColumnsOf, withChildren } from "../plan/walk.js";
import { filtered, type Rule, withColumns } from "./rule.js";

export const unnestSubqueries: Rule = {
  name: "unnest-subqueries",
  places: [200],
  apply: unnest,
};

function unnest(plan: Plan): Plan {
  return mapPlan(plan, (node) => {
    if (node.kind === "filter") {
      const predicate = withLists(node.predicate);
      return unnestFilter(predicate === node.predicate ? node : Object.freeze({ ...node, predicate }));
    }
    if (node.kind !== "join") return node;
    const condition = node.condition === null ? null : withLists(node.condition);
    return unnestJoin(condition === node.condition ? node : Object.freeze({ ...node, condition }));
  });
}

function unnestFilter(plan: FilterPlan): Plan {
  let input = plan.input;
  const rest: Expr[] = [];
  for (const condition of conjuncts(plan.predicate)) {
    const joined = joinFor(condition, input);
    if (joined === null) rest.push(condition);
    else input = joined;
  }
  return input === plan.input ? plan : filtered(input, rest);
}

/** A lateral right side that only refers to the left in conditions, and conditions of the join on subqueries. */
function unnestJoin(plan: JoinPlan): Plan {
  const lifted = plan.lateral ? lift(plan.right, idsOf(plan.left.columns)) : null;
  if (lifted === null) return unnestCondition(plan);
  const condition = andOf([...conjuncts(plan.condition), ...lifted.conditions]);
  const columns = joinColumns(plan.type, plan.left, lifted.plan);
  const joined: JoinPlan = Object.freeze({ ...plan, right: lifted.plan, condition, lateral: false, columns });
  return withColumns(unnestCondition(joined), plan.columns);
}

/** A condition on a subquery that reads one side only is said to that side, where the join's type allows it. */
function unnestCondition(plan: JoinPlan): Plan {
  let { left, right } = plan;
  const rest: Expr[] = [];
  for (const condition of conjuncts(plan.condition)) {
    const ofLeft = readsAny(condition, idsOf(left.columns));
    const ofRight = readsAny(condition, idsOf(right.columns));
    const toLeft = ofRight || plan.type === "left" || plan.type === "full" || plan.type === "anti" ? null : left;
    const toRight = ofLeft || plan.type === "right" || plan.type === "full" ? null : right;
    const joined = joinFor(condition, toLeft ?? toRight);
    if (joined === null) rest.push(condition);
    else if (toLeft !== null) left = joined;
    else right = joined;
  }
  if (left === plan.left && right === plan.right) return plan;
  return withChildren(Object.freeze({ ...plan, condition: andOf(rest) }), [left, right]);
}

function joinFor(condition: Expr, input: Plan | null): Plan | null {
  if (input === null) return null;
  const negated = condition.kind === "not";
  const subquery = negated ? condition.input : condition;
  if (subquery.kind !== "subquery") return null;
  if (subquery.form === "exists") return existsJoin(subquery, input, negated ? "anti" : "semi");
  return negated && mayGiveNull(subquery, input) ? null : inJoin(subquery, input, negated ? "anti" : "semi");
}

const PARAMETERS_MAX = 16;

/** The condition with the subqueries in it that are lists of values. */
function withLists(condition: Expr): Expr {
  if (!someExpr(condition, (node) => node.kind === "subquery" && listOf(node) !== null)) return condition;
  return mapExpr(condition, (node) => (node.kind === "subquery" ? (listOf(node) ?? node) : node));
}

/** `x IN (VALUES (a), (b))` is the list of the values, which keys can serve; null: it is something else. */
function listOf({ form, plan: values, compare, input, type }: SubqueryExpr): Expr | null {
  if (form !== "in" || values.kind !== "values" || values.columns.length !== 1 || compare === null) return null;
  if (compare.operator !== "=" || input === null || isRowComparison(compare)) return null;
  const items = values.rows.map(([item]) => item!);
  // Lists of constants are searched by a set, parameters are compared one by one.
  if (!items.every(({ kind }) => kind === "const" || (kind === "param" && items.length <= PARAMETERS_MAX))) return null;
  const itemType = compare.args[1]!;
  if (!items.every((item) => item.type === itemType)) return null;
  return Object.freeze({ kind: "in", type, input, items, equals: compare, negated: false });
}

function existsJoin(subquery: SubqueryExpr, input: Plan, type: "semi" | "anti"): Plan | null {
  const lifted = lift(withoutProjection(subquery.plan), idsOf(input.columns));
  if (lifted === null || lifted.conditions.length === 0) return null;
  return join(type, input, unnest(lifted.plan), lifted.conditions);
}

/** What an EXISTS selects does not matter. */
export function withoutProjection(plan: Plan): Plan {
  return plan.kind === "project" || plan.kind === "sort" ? withoutProjection(plan.input) : plan;
}

/** NOT IN is not true when a NULL is on either side, which an anti join does not tell. */
function mayGiveNull(subquery: SubqueryExpr, input: Plan): boolean {
  const { input: operand } = subquery;
  if (operand?.kind !== "column" || subquery.form === "all") return true;
  const column = input.columns.find(({ id }) => id === operand.id);
  return column?.nullable !== false || subquery.plan.columns[0]!.nullable;
}

function inJoin(subquery: SubqueryExpr, input: Plan, joinType: "semi" | "anti"): Plan | null {
  const { form, compare } = subquery;
  if ((form !== "in" && form !== "any") || compare?.operator !== "=" || subquery.input === null) return null;
  if (someExpr(subquery.input, (node) => node.kind === "subquery")) return null;
  const lifted = lift(subquery.plan, idsOf(input.columns));
  if (lifted === null) return null;
  const equals = equalities(compare, subquery.input, subquery.plan.columns);
  if (equals === null) return null;
  return join(joinType, input, unnest(lifted.plan), [...equals, ...lifted.conditions]);
}

/** The comparison of a value, or of a row written out, with the subquery's columns. */
function equalities(compare: ScalarFunction, input: Expr, columns: readonly OutputColumn[]): Expr[] | null {
  if (!isRowComparison(compare)) return [equality(compare, input, columns[0]!)];
  if (input.kind !== "call" || input.args.length !== columns.length) return null;
  return compare.equals.map((fn, i) => equality(fn, input.args[i]!, columns[i]!));
}

function equality(fn: ScalarFunction, left: Expr, right: OutputColumn): Expr {
  return { kind: "call", type: BOOL, fn, args: [left, columnExpr(right)] };
}

function join(type: "semi" | "anti", left: Plan, right: Plan, conditions: readonly Expr[]): JoinPlan {
  return Object.freeze({
    kind: "join",
    type,
    left,
    right,
    condition: andOf(conditions),
    lateral: false,
    columns: joinColumns(type, left, right),
  });
}

function idsOf(columns: readonly OutputColumn[]): Set<ColumnId> {
  return new Set(columns.map((column) => column.id));
}

export interface Lifted {
  /** No longer reads the outer row. */
  readonly plan: Plan;
  /** Over the outer row and the plan's columns. */
  readonly conditions: readonly Expr[];
}

/** Takes the conditions that read outer columns out of a plan; null when that cannot be done everywhere. */
export function lift(plan: Plan, outer: ReadonlySet<ColumnId>): Lifted | null {
  if (![...outerColumnsOf(plan)].some((id) => outer.has(id))) return { plan, conditions: [] };
  switch (plan.kind) {
    case "scan": {
      const [correlated, local] = split(conjuncts(plan.filter), outer);
      if (correlated.some(hasSubquery)) return null;
      return { plan: Object.freeze({ ...plan, filter: andOf(local) }), conditions: correlated };
    }
    case "filter": {
      const inner = lift(plan.input, outer);
      if (inner === null) return null;
      const [correlated, local] = split(conjuncts(plan.predicate), outer);
      if (correlated.some(hasSubquery)) return null;
      return { plan: filtered(inner.plan, local), conditions: [...inner.conditions, ...correlated] };
    }
    case "project": {
      const inner = lift(plan.input, outer);
      if (inner === null || plan.exprs.some((expr) => readsAny(expr, outer))) return null;
      return { plan: passing(plan, inner), conditions: inner.conditions };
    }
    case "join": {
      if (plan.type !== "inner" || plan.lateral) return null;
      const left = lift(plan.left, outer);
      const right = lift(plan.right, outer);
      if (left === null || right === null) return null;
      const [correlated, local] = split(conjuncts(plan.condition), outer);
      const joined = withChildren(plan, [left.plan, right.plan]) as JoinPlan;
      return {
        plan: Object.freeze({ ...joined, condition: andOf(local) }),
        conditions: [...left.conditions, ...right.conditions, ...correlated],
      };
    }
    case "sort":
      return plan.keys.some((key) => readsAny(key.expr, outer)) ? null : lift(plan.input, outer);
    default:
      return null;
  }
}

const hasSubquery = (condition: Expr) => someExpr(condition, (node) => node.kind === "subquery");

/** The projection with the columns that lifted conditions read passed on. */
function passing(plan: ProjectPlan, inner: Lifted): Plan {
  const made = idsOf(plan.columns);
  const needed = new Set(inner.conditions.flatMap((condition) => [...columnsOf(condition)]));
  const passed = inner.plan.columns.filter((column) => needed.has(column.id) && !made.has(column.id));
  return Object.freeze({
    ...plan,
    input: inner.plan,
    exprs: [...plan.exprs, ...passed.map(columnExpr)],
    columns: [...plan.columns, ...passed],
  });
}

function split(conditions: readonly Expr[], outer: ReadonlySet<ColumnId>): [Expr[], Expr[]] {
  const correlated: Expr[] = [];
  const local: Expr[] = [];
  for (const condition of conditions) (readsAny(condition, outer) ? correlated : local).push(condition);
  return [correlated, local];
}

function readsAny(expr: Expr, columns: ReadonlySet<ColumnId>): boolean {
  return [...columnsOf(expr)].some((id) => columns.has(id));
}
