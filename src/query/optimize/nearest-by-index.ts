/**
 * Takes the rows nearest to a vector from a vector index: the scan below is told that no others are wanted. The sort
 * stays above it and ranks the few rows that come; the filter stays in the scan, which gives as many rows as match.
 *
 *   Top-N Sort (v <=> $1, Limit 10)          Top-N Sort (v <=> $1, Limit 10)
 *     Project                          ⇒       Project
 *       Seq Scan on t, Filter …                  Vector Search using t_v_idx on t, Filter …
 */
import type { SearchIndexDef } from "../../catalog/table.js";
import { isSameForm, isWholeForm, type VectorForm } from "../../values/vector-form.js";
import { BIT_METRICS, METRIC_ENTRIES, type VectorMetric } from "../../values/vector-metric.js";
import type { CallExpr, ColumnExpr, Expr } from "../expr/expr.js";
import { formOf } from "../expr/form-of.js";
import { columnsOf, conjuncts, isVolatile } from "../expr/walk.js";
import type { Plan, ScanPlan, SortKey, TopNPlan } from "../plan/plan.js";
import type { TextSearchPlan } from "../plan/search-plans.js";
import { mapPlan, withChildren } from "../plan/walk.js";
import { implies } from "./implied.js";
import type { Rule } from "./rule.js";

export const nearestByIndex: Rule = {
  name: "nearest-by-index",
  places: [520],
  apply: (plan) => mapPlan(plan, (node) => (node.kind === "topn" ? nearest(node) : node)),
};

interface Ranking {
  readonly metric: VectorMetric;
  /** What the function gives grows with likeness. */
  readonly descending: boolean;
}

const RANKINGS: Readonly<Record<string, Ranking>> = Object.fromEntries([
  ...METRIC_ENTRIES.flatMap(([metric, { operator, distanceFunctions, likeness }]) => [
    ...[operator, ...distanceFunctions].map((name) => [name, { metric, descending: false }] as const),
    ...(likeness?.functions ?? []).map((name) => [name, { metric, descending: true }] as const),
  ]),
  ...BIT_METRICS.flatMap(({ names, metric }) => names.map((name) => [name, { metric, descending: false }] as const)),
]);

function nearest(plan: TopNPlan): Plan {
  const [key, ...others] = plan.keys as [SortKey, ...SortKey[]];
  // Further keys tell rows of the same score apart, which a text search gives; a vector search does not.
  const input = toldOf(plan.input, key.expr, key, plan, others.length === 0);
  return input === null ? plan : withChildren(plan, [input]);
}

/** The input with the search added to its scan; null if the index cannot answer any. */
function toldOf(input: Plan, expr: Expr, key: SortKey, top: TopNPlan, isOnly: boolean): Plan | null {
  if (input.kind === "scan") return isOnly ? toldScan(input, expr, key, top) : null;
  if (input.kind === "textsearch") return toldSearch(input, expr, key, top);
  if (input.kind !== "project") return null;
  const place = expr.kind === "column" ? input.columns.findIndex(({ id }) => id === expr.id) : -1;
  // A key that computes on what the projection gives is no distance of a stored vector.
  if (place < 0 || input.exprs.some(isVolatile)) return null;
  const below = toldOf(input.input, input.exprs[place]!, key, top, isOnly);
  return below === null ? null : withChildren(input, [below]);
}

function toldScan(scan: ScanPlan, expr: Expr, key: SortKey, { limit, offset }: TopNPlan): Plan | null {
  const distance = withoutFloatCast(expr);
  const ranking = distance.kind === "call" ? RANKINGS[distance.fn.name] : undefined;
  if (ranking === undefined || ranking.descending !== key.descending) return null;
  if (scan.reverse || scan.rowKey !== null || (scan.filter !== null && isVolatile(scan.filter))) return null;
  const sides = sidesOf(distance as CallExpr, scan);
  if (sides === null) return null;
  const index = indexOf(scan, sides, ranking.metric);
  if (index === null) return null;
  const counts = offset === null ? [limit] : [limit, offset];
  const found = { index, query: sides.query, counts, nullsFirst: key.nullsFirst };
  return Object.freeze({ ...scan, nearest: found });
}

/** What orders like the expression: a distance in single precision does. */
export function withoutFloatCast(expr: Expr): Expr {
  return expr.kind === "cast" && expr.type.name === "float4" && expr.input.type.name === "float8" ? expr.input : expr;
}

/** The best of a text search come first anyway. */
function toldSearch(search: TextSearchPlan, expr: Expr, key: SortKey, { limit, offset }: TopNPlan): Plan | null {
  if (expr.kind !== "column" || expr.id !== search.columns.at(-1)!.id || !key.descending) return null;
  return Object.freeze({ ...search, counts: offset === null ? [limit] : [limit, offset] });
}

interface Sides {
  readonly column: ColumnExpr;
  /** What is compared of it; undefined: the vector as it is. */
  readonly form: VectorForm | undefined;
  readonly query: Expr;
}

/** The stored vector and the vector that it is compared with, whichever side each is on. */
function sidesOf({ args }: CallExpr, scan: ScanPlan): Sides | null {
  const [left, right] = args as readonly [Expr, Expr];
  for (const [stored, query] of [
    [left, right],
    [right, left],
  ] as const) {
    const formed = formOf(stored);
    const column = formed?.column ?? uncast(stored);
    if (column === null || !scan.columns.some(({ id }) => id === column.id)) continue;
    const isOwn = scan.columns.some(({ id }) => columnsOf(query).has(id));
    if (!isOwn && !isVolatile(query)) return { column, form: formed?.form, query };
  }
  return null;
}

/**
 * A column of vector(n), halfvec(n) or sparsevec(n), also where it was made a plain one for the function: that keeps
 * all members.
 */
function uncast(expr: Expr): ColumnExpr | null {
  if (expr.kind === "cast" && (expr.type.name === "vector" || expr.type.name === expr.input.type.name)) {
    return ["vector", "halfvec", "sparsevec"].includes(expr.input.type.name) ? uncast(expr.input) : null;
  }
  return expr.kind === "column" ? expr : null;
}

function indexOf(scan: ScanPlan, { column, form }: Sides, metric: VectorMetric): SearchIndexDef | null {
  const columnId = scan.source[scan.columns.findIndex(({ id }) => id === column.id)];
  const plainly = (form: VectorForm | undefined) => (form && isWholeForm(form, column.type) ? undefined : form);
  const wanted = plainly(form);
  const fits = ({ vector, columnIds }: SearchIndexDef) =>
    vector?.metric === metric && columnIds[0] === columnId && isSameForm(plainly(vector.form), wanted);
  const found = (scan.table.searchIndexes ?? []).filter(fits);
  const hasAllWanted = ({ id }: SearchIndexDef) => {
    const predicate = scan.indexExprs?.get(id)?.predicate ?? null;
    return predicate !== null && scan.filter !== null && implies(conjuncts(scan.filter), predicate);
  };
  // A partial one is smaller.
  return found.find(hasAllWanted) ?? found.find(({ vector }) => vector!.where === undefined) ?? null;
}
