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
 * An EXISTS within a larger condition (under OR, in a select list) is done likewise, by groups without aggregates.
 *
 * Done only where it is cheaper: a few outer rows with an index below keep their subquery. Runs after conditions have
 * been pushed down, so that one knows how many outer rows there are; push-down-filters.ts runs once more after it.
 */
import { BOOL } from "../../values/values.js";
import type { ColumnExpr, ColumnId, Expr, SubqueryExpr } from "../expr/expr.js";
import { andOf, columnsOf, conjuncts, isVolatile, mapExpr, someExpr, walkExpr } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type { AggregatePlan, OutputColumn, Plan, ProjectPlan } from "../plan/plan.js";
import { exprsOfPlan, joinColumns, mapExprsOfPlan, mapPlan, walkPlan, withChildren } from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import { LOOK_UP, looksUpIn, readCost } from "./join-cost.js";
import { filtered, type Rule, withColumns } from "./rule.js";
import { lift, withoutProjection } from "./unnest-subqueries.js";

export const decorrelateAggregates: Rule = {
  name: "decorrelate-aggregates",
  places: [240],
  apply: (plan, cardinality) => mapPlan(plan, (node) => decorrelate(node, cardinality)),
};

function decorrelate(plan: Plan, cardinality: Cardinality): Plan {
  switch (plan.kind) {
    case "scan": {
      const [own, nested] = partition(plan.filter);
      if (nested.length === 0) return plan;
      const bare = Object.freeze({ ...plan, filter: andOf(own) });
      return filteredBy(nested, bare, cardinality) ?? plan;
    }
    case "join": {
      if (plan.type !== "inner" || plan.lateral) return plan;
      const [own, nested] = partition(plan.condition);
      if (nested.length === 0) return plan;
      const bare = Object.freeze({ ...plan, condition: andOf(own) });
      return filteredBy(nested, bare, cardinality) ?? plan;
    }
    case "filter":
      return filteredBy(conjuncts(plan.predicate), plan.input, cardinality) ?? plan;
    case "project": {
      const replaced = replaceAll(plan.exprs, plan.input, cardinality);
      return replaced === null ? plan : Object.freeze({ ...plan, input: replaced.input, exprs: replaced.exprs });
    }
    case "aggregate": {
      const replaced = replaceAll(exprsOfPlan(plan), plan.input, cardinality);
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

function filteredBy(conditions: readonly Expr[], input: Plan, cardinality: Cardinality): Plan | null {
  const replaced = replaceAll(conditions, input, cardinality);
  return replaced && withColumns(filtered(replaced.input, replaced.exprs), input.columns);
}

/** The expressions with their subqueries replaced by columns that the new input has; null when none could be. */
function replaceAll(exprs: readonly Expr[], input: Plan, cardinality: Cardinality) {
  let current = input;
  const next = exprs.map((expr) => {
    const conditional = underCase(expr);
    return mapExpr(expr, (node) => {
      if (node.kind !== "subquery" || !isCandidate(node) || conditional.has(node)) return node;
      const joined = joinFor(node, current, cardinality);
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

function joinFor(subquery: SubqueryExpr, input: Plan, cardinality: Cardinality): Joined | null {
  const outer = new Set(input.columns.map(({ id }) => id));
  if (!subquery.outer.every((id) => outer.has(id))) return null;
  if (subquery.form === "exists") return existsFor(subquery, input, outer, cardinality);
  const top = subquery.plan;
  const projection = top.kind === "project" ? top : null;
  const aggregate = projection === null ? top : projection.input;
  if (aggregate.kind !== "aggregate" || aggregate.groups.length > 0 || aggregate.grouping !== undefined) return null;
  // What these give for no rows is only known in a statement that runs.
  if (aggregate.calls.some(({ fn }) => fn.open !== undefined)) return null;
  if (projection?.exprs.some(unmovable)) return null;
  if (exprsOfPlan(aggregate).some((expr) => unmovable(expr) || readsAny(expr, outer))) return null;
  const tied = tiedTo(outer, aggregate.input, input, cardinality);
  if (tied === null) return null;
  const grouped = groupedBy(aggregate, tied.plan, tied.ties);
  return { input: leftJoin(input, grouped, tied.conditions), value: selected(projection, aggregate) };
}

/** An EXISTS within a larger condition: whether the outer row matches one of the groups. */
function existsFor(
  subquery: SubqueryExpr,
  input: Plan,
  outer: ReadonlySet<ColumnId>,
  cardinality: Cardinality,
): Joined | null {
  const tied = tiedTo(outer, withoutProjection(subquery.plan), input, cardinality);
  if (tied === null) return null;
  const grouped = groupedBy({ kind: "aggregate", calls: [], ...NO_GROUPS, input: tied.plan }, tied.plan, tied.ties);
  // Equality refuses NULLs: a group that was met has a key.
  const value: Expr = Object.freeze({ kind: "isnull", type: BOOL, input: tied.ties[0]!, negated: true });
  return { input: leftJoin(input, grouped, tied.conditions), value };
}

const NO_GROUPS = { groups: [], columns: [] };

/** The plan without its references to the outer row, which are all equalities with columns of its own. */
function tiedTo(outer: ReadonlySet<ColumnId>, plan: Plan, input: Plan, cardinality: Cardinality) {
  const lifted = lift(plan, outer);
  if (lifted === null || hasVolatile(lifted.plan)) return null;
  const ties = lifted.conditions.map((condition) => tieOf(condition, outer));
  if (ties.length === 0 || ties.includes(null)) return null;
  if (!pays(input, lifted.plan, lifted.conditions, cardinality)) return null;
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

/** One run of the subquery for each different outer row, against one pass over all that it reads. */
function pays(input: Plan, inner: Plan, conditions: readonly Expr[], cardinality: Cardinality): boolean {
  const runs = cardinality.rows(input);
  const whole = readCost(inner, cardinality) + cardinality.rows(inner);
  const byIndex = looksUpIn(inner, conditions) !== null;
  return runs * (byIndex ? LOOK_UP * 2 : whole) > whole;
}

function groupedBy(aggregate: AggregatePlan, input: Plan, ties: readonly ColumnExpr[]): Plan {
  const groups = ties.filter((tie, i) => ties.findIndex(({ id }) => id === tie.id) === i);
  const columns = groups.map(({ id }) => input.columns.find((column) => column.id === id)!);
  return Object.freeze({ ...aggregate, input, groups, columns: [...columns, ...aggregate.columns] });
}

/** What the subquery selects, over the joined aggregates; a row without a group has what they give for no rows. */
function selected(projection: ProjectPlan | null, aggregate: AggregatePlan): Expr {
  const values = new Map(
    aggregate.calls.map((call, i) => [aggregate.columns[i]!.id, valueOfCall(call, aggregate.columns[i]!)]),
  );
  if (projection === null) return values.get(aggregate.columns[0]!.id)!;
  return mapExpr(projection.exprs[0]!, (node) => (node.kind === "column" ? (values.get(node.id) ?? node) : node));
}

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
