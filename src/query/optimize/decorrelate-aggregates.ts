/**
 * A scalar subquery that aggregates the rows belonging to an outer row becomes a join with all such aggregates, made
 * once, grouped by what ties them to the outer row (Kim, "On Optimizing an SQL-like Nested Query", TODS 1982; with the
 * outer join that keeps empty groups, Ganski and Wong, SIGMOD 1987).
 *
 *   Filter (l.q < SubPlan)                        Filter (l.q < avg)
 *     Scan l                                        Left Join (l2.part = l.part)
 *     SubPlan: Aggregate avg(l2.q)          ⇒         Scan l
 *                Filter (l2.part = l.part)            Aggregate avg(l2.q) by l2.part
 *                  Scan l2                              Scan l2
 *
 * An EXISTS within a larger condition (under OR, in a select list) is done likewise, by groups without aggregates, and
 * so is a LATERAL subquery that aggregates.
 *
 * Done only where it is cheaper: a few outer rows with an index below keep their subquery. Runs after conditions have
 * been pushed down, so that one knows how many outer rows there are; push-down-filters.ts runs once more after it.
 */
import { BOOL } from "../../values/values.js";
import type { ColumnExpr, ColumnId, Expr, SubqueryExpr } from "../expr/expr.js";
import { andOf, columnsOf, conjuncts, isVolatile, mapExpr, someExpr, walkExpr } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type { AggregateCall, AggregatePlan, JoinPlan, OutputColumn, Plan } from "../plan/plan.js";
import {
  childrenOf,
  exprsOfPlan,
  joinColumns,
  mapExprsOfPlan,
  outerColumnsOf,
  walkPlan,
  withChildren,
} from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import { groupCost, LOOK_UP, looksUpIn, RECORD, readCost } from "./join-cost.js";
import { newColumnId } from "./new-column-id.js";
import { filtered, type Rule, withColumns } from "./rule.js";
import { lift, withoutProjection } from "./unnest-subqueries.js";

export const decorrelateAggregates: Rule = {
  name: "decorrelate-aggregates",
  places: [240],
  apply: (plan, cardinality) => visit(plan, cardinality, Number.POSITIVE_INFINITY),
};

/** `wanted`: no more rows of the plan are. */
function visit(plan: Plan, cardinality: Cardinality, wanted: number): Plan {
  const children = childrenOf(plan);
  const next = children.map((child) => visit(child, cardinality, wantedBelow(plan, child, wanted)));
  const changed = next.some((child, i) => child !== children[i]) ? withChildren(plan, next) : plan;
  return decorrelate(changed, { cardinality, wanted });
}

/** Where rows are left out, or their order has to be known first, all rows below are looked at. */
function wantedBelow(plan: Plan, child: Plan, wanted: number): number {
  switch (plan.kind) {
    case "limit": {
      const counts = [plan.limit, plan.offset].map((count) => (count === null ? 0 : numberOf(count)));
      return plan.limit === null || counts.includes(null) ? wanted : Math.min(wanted, counts[0]! + counts[1]!);
    }
    case "project":
      return wanted;
    case "sort":
      return plan.keys.every(({ expr }) => isReady(expr, child)) ? wanted : Number.POSITIVE_INFINITY;
    default:
      return Number.POSITIVE_INFINITY;
  }
}

const numberOf = (count: Expr) => (count.kind === "const" && count.value !== null ? Number(count.value) : null);

/** The key is a column that is there before any subquery runs: push-down-limits.ts sorts below the projection. */
function isReady(key: Expr, child: Plan): boolean {
  if (key.kind !== "column") return false;
  if (child.kind !== "project") return true;
  const made = child.exprs[child.columns.findIndex(({ id }) => id === key.id)];
  return made?.kind === "column";
}

interface Prices {
  readonly cardinality: Cardinality;
  /** Rows that are wanted, at most. */
  readonly wanted: number;
}

function decorrelate(plan: Plan, prices: Prices): Plan {
  switch (plan.kind) {
    case "scan": {
      const [own, nested] = partition(plan.filter);
      if (nested.length === 0) return plan;
      const bare = Object.freeze({ ...plan, filter: andOf(own) });
      return filteredBy(nested, bare, prices) ?? plan;
    }
    case "join": {
      if (plan.lateral) return lateral(plan, prices) ?? plan;
      if (plan.type !== "inner") return plan;
      const [own, nested] = partition(plan.condition);
      if (nested.length === 0) return plan;
      const bare = Object.freeze({ ...plan, condition: andOf(own) });
      return filteredBy(nested, bare, prices) ?? plan;
    }
    case "filter":
      return filteredBy(conjuncts(plan.predicate), plan.input, prices) ?? plan;
    case "project": {
      const replaced = replaceAll(plan.exprs, plan.input, prices);
      return replaced === null ? plan : Object.freeze({ ...plan, input: replaced.input, exprs: replaced.exprs });
    }
    case "aggregate": {
      const replaced = replaceAll(exprsOfPlan(plan), plan.input, prices);
      if (replaced === null) return plan;
      let next = 0;
      return withChildren(
        mapExprsOfPlan(plan, () => replaced.exprs[next++]!),
        [replaced.input],
      );
    }
    default:
      return plan;
  }
}

/** A LATERAL side that aggregates gives one row for each left one, which conditions of an inner join may refuse. */
function lateral(plan: JoinPlan, prices: Prices): Plan | null {
  const { left, right, type } = plan;
  const conditions = conjuncts(plan.condition).filter((condition) => !isTrue(condition));
  if (type !== "inner" && (type !== "left" || conditions.length > 0)) return null;
  const joined = groupsFor(right, left, prices);
  if (joined === null || (type === "left" && joined.conditions.length > 0)) return null;
  const exprs = [...left.columns.map(columnExpr), ...joined.values];
  const input = filtered(joined.input, joined.conditions);
  return filtered(Object.freeze({ kind: "project", input, exprs, columns: plan.columns }), conditions);
}

const isTrue = (condition: Expr) => condition.kind === "const" && condition.value === true;

/** Conditions without and with a correlated scalar subquery. */
function partition(predicate: Expr | null): [Expr[], Expr[]] {
  const own: Expr[] = [];
  const nested: Expr[] = [];
  for (const condition of conjuncts(predicate)) (someExpr(condition, isCandidate) ? nested : own).push(condition);
  return [own, nested];
}

function isCandidate(expr: Expr): boolean {
  return expr.kind === "subquery" && (expr.form === "scalar" || expr.form === "exists") && expr.outer.length > 0;
}

function filteredBy(conditions: readonly Expr[], input: Plan, prices: Prices): Plan | null {
  const replaced = replaceAll(conditions, input, prices);
  return replaced && withColumns(filtered(replaced.input, replaced.exprs), input.columns);
}

/** The expressions with their subqueries replaced by columns that the new input has; null when none could be. */
function replaceAll(exprs: readonly Expr[], input: Plan, prices: Prices) {
  let current = input;
  const next = exprs.map((expr) => {
    const conditional = underCase(expr);
    return mapExpr(expr, (node) => {
      if (node.kind !== "subquery" || !isCandidate(node) || conditional.has(node)) return node;
      const joined = joinFor(node, current, prices);
      if (joined === null) return node;
      current = joined.input;
      return joined.value;
    });
  });
  return current === input ? null : { input: current, exprs: next };
}

/** Subqueries that are perhaps not evaluated for a row, so that their errors must not be met either. */
function underCase(expr: Expr): Set<Expr> {
  const found = new Set<Expr>();
  walkExpr(expr, (node) => {
    if (node.kind !== "case" && node.kind !== "list" && !(node.kind === "call" && node.fn.lazy)) return true;
    walkExpr(node, (inner) => {
      if (inner.kind === "subquery") found.add(inner);
    });
    return false;
  });
  return found;
}

interface Joined {
  readonly input: Plan;
  readonly value: Expr;
}

function joinFor(subquery: SubqueryExpr, input: Plan, prices: Prices): Joined | null {
  if (subquery.form === "exists") return existsFor(subquery, input, prices);
  const groups = groupsFor(subquery.plan, input, prices);
  // Without a row, it would be NULL.
  return groups === null || groups.conditions.length > 0 ? null : { input: groups.input, value: groups.values[0]! };
}

interface Groups {
  readonly input: Plan;
  /** What the plan selects. */
  readonly values: readonly Expr[];
  /** That the plan's row has to meet. */
  readonly conditions: readonly Expr[];
}

/** The input with the aggregates of the rows that belong to each of its rows. */
function groupsFor(top: Plan, input: Plan, prices: Prices): Groups | null {
  const outer = new Set(input.columns.map(({ id }) => id));
  if (![...outerColumnsOf(top)].every((id) => outer.has(id))) return null;
  const projection = top.kind === "project" ? top : null;
  const selection = projection === null ? top : projection.input;
  const filter = selection.kind === "filter" ? selection : null;
  const aggregate = filter === null ? selection : filter.input;
  if (aggregate.kind !== "aggregate" || aggregate.groups.length > 0 || aggregate.grouping !== undefined) return null;
  // What these give for no rows is only known in a statement that runs.
  if (aggregate.calls.some(({ fn }) => fn.open !== undefined && fn.takesJson !== true)) return null;
  const exprs = projection?.exprs ?? aggregate.columns.map(columnExpr);
  const conditions = conjuncts(filter?.predicate ?? null);
  const all = [...exprs, ...conditions, ...exprsOfPlan(aggregate)];
  if (all.some((expr) => unmovable(expr) || readsAny(expr, outer))) return null;
  const tied = tiedTo(outer, aggregate.input, input, aggregate.calls, prices);
  if (tied === null) return null;
  const columns = aggregate.columns.map((column) => ({ ...column, id: newColumnId() }));
  const grouped = groupedBy({ ...aggregate, columns }, tied.plan, tied.ties);
  const values = new Map(
    aggregate.calls.map((call, i) => [aggregate.columns[i]!.id, valueOfCall(call, columns[i]!)] as const),
  );
  const over = (expr: Expr) => mapExpr(expr, (node) => (node.kind === "column" ? (values.get(node.id) ?? node) : node));
  return {
    input: leftJoin(input, grouped, tied.conditions),
    values: exprs.map(over),
    conditions: conditions.map(over),
  };
}

/** An EXISTS within a larger condition: whether the outer row matches one of the groups. */
function existsFor(subquery: SubqueryExpr, input: Plan, prices: Prices): Joined | null {
  const outer = new Set(input.columns.map(({ id }) => id));
  if (!subquery.outer.every((id) => outer.has(id))) return null;
  const tied = tiedTo(outer, withoutProjection(subquery.plan), input, [], prices);
  if (tied === null) return null;
  const grouped = groupedBy({ kind: "aggregate", calls: [], ...NO_GROUPS, input: tied.plan }, tied.plan, tied.ties);
  // Equality refuses NULLs: a group that was met has a key.
  const value: Expr = Object.freeze({ kind: "isnull", type: BOOL, input: tied.ties[0]!, negated: true });
  return { input: leftJoin(input, grouped, tied.conditions), value };
}

const NO_GROUPS = { groups: [], columns: [] };

/** The plan without its references to the outer row, which are all equalities with columns of its own. */
function tiedTo(
  outer: ReadonlySet<ColumnId>,
  plan: Plan,
  input: Plan,
  calls: readonly AggregateCall[],
  prices: Prices,
) {
  const lifted = lift(plan, outer);
  if (lifted === null || hasVolatile(lifted.plan)) return null;
  const ties = lifted.conditions.map((condition) => tieOf(condition, outer));
  if (ties.length === 0 || ties.includes(null)) return null;
  if (!pays(input, lifted.plan, lifted.conditions, calls, prices)) return null;
  return { ...lifted, ties: ties as ColumnExpr[] };
}

function leftJoin(left: Plan, right: Plan, conditions: readonly Expr[]): Plan {
  return Object.freeze({
    kind: "join",
    type: "left",
    left,
    right,
    condition: andOf(conditions),
    lateral: false,
    columns: joinColumns("left", left, right),
  });
}

const unmovable = (expr: Expr) => isVolatile(expr) || someExpr(expr, (node) => node.kind === "subquery");

function hasVolatile(plan: Plan): boolean {
  let found = false;
  walkPlan(plan, (node) => {
    if (exprsOfPlan(node).some(isVolatile)) found = true;
  });
  return found;
}

/** The inner column of `inner column = expression over the outer row`. */
function tieOf(condition: Expr, outer: ReadonlySet<ColumnId>): ColumnExpr | null {
  if (condition.kind !== "call" || condition.fn.operator !== "=" || condition.args.length !== 2) return null;
  const [a, b] = condition.args as [Expr, Expr];
  const isOuter = (expr: Expr) => [...columnsOf(expr)].every((id) => outer.has(id)) && columnsOf(expr).size > 0;
  if (a.kind === "column" && !outer.has(a.id) && isOuter(b)) return a;
  return b.kind === "column" && !outer.has(b.id) && isOuter(a) ? b : null;
}

/** Aggregates that work on columns, and what a row costs in others. */
const COLUMN_AGGREGATES: ReadonlySet<string> = new Set(["count", "sum", "avg", "min", "max"]);
const STEP = 1;

/** One run of the subquery for each different outer row, against one pass over all that it reads. */
function pays(
  input: Plan,
  inner: Plan,
  conditions: readonly Expr[],
  calls: readonly AggregateCall[],
  { cardinality, wanted }: Prices,
): boolean {
  const runs = Math.min(cardinality.rows(input), wanted);
  const rows = cardinality.rows(inner);
  const isPlain = calls.every(({ fn, distinct, orderBy }) => {
    return COLUMN_AGGREGATES.has(fn.name) && !distinct && orderBy.length === 0;
  });
  const whole = readCost(inner, cardinality) + (isPlain ? groupCost(rows, false) : rows * STEP);
  if (looksUpIn(inner, conditions) === null) return runs > 1;
  // The first or last of an index's entries is found at once.
  const isExtreme = calls.every(({ fn }) => fn.extreme !== undefined);
  const found = isExtreme ? 0 : cardinality.rows(filtered(inner, conditions));
  return runs * (LOOK_UP * 2 + found * RECORD) > whole;
}

function groupedBy(aggregate: AggregatePlan, input: Plan, ties: readonly ColumnExpr[]): Plan {
  const groups = ties.filter((tie, i) => ties.findIndex(({ id }) => id === tie.id) === i);
  const columns = groups.map(({ id }) => input.columns.find((column) => column.id === id)!);
  return Object.freeze({ ...aggregate, input, groups, columns: [...columns, ...aggregate.columns] });
}

/** A row without a group has what the call gives for no rows. */
function valueOfCall({ fn }: AggregatePlan["calls"][number], output: OutputColumn): Expr {
  const column = columnExpr(output);
  const { type } = column;
  const empty = fn.result(fn.init());
  if (empty === null) return column;
  const isMissing: Expr = { kind: "isnull", type: BOOL, input: column, negated: false };
  // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
  const branches = [{ when: isMissing, then: { kind: "const", type, value: empty } as Expr }];
  return Object.freeze({ kind: "case", type, branches, otherwise: column });
}

function readsAny(expr: Expr, columns: ReadonlySet<ColumnId>): boolean {
  return [...columnsOf(expr)].some((id) => columns.has(id));
}
