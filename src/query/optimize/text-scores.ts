/**
 * Scores of MATCH … AGAINST for rows that need not match: the scan joined with the searches by their rows' storage
 * keys. A row that a search does not find scores 0, NULL for a query that is NULL. Called by text-by-index.ts.
 *
 *   Seq Scan on t                                 Filter: (score > 0) OR (id = 1)
 *     Filter: (MATCH … > 0) OR (id = 1)     ⇒       Left Join on the rows' keys
 *                                                     Seq Scan on t
 *                                                     Text Search using t_idx on t
 */
import type { SearchIndexDef } from "../../catalog/table.js";
import { BOOL, BYTEA, FLOAT8 } from "../../values/values.js";
import type { CallExpr, ColumnExpr, Expr } from "../expr/expr.js";
import { TEXT_SCORE } from "../expr/functions/text-search.js";
import { resolveOperator } from "../expr/resolve.js";
import { andOf, conjuncts, exprEquals, mapExpr, someExpr } from "../expr/walk.js";
import type { OutputColumn, Plan, ScanPlan } from "../plan/plan.js";
import type { TextSearchPlan } from "../plan/search-plans.js";
import { exprsOfPlan, mapExprsOfPlan } from "../plan/walk.js";
import { newColumnId } from "./new-column-id.js";
import { filtered } from "./rule.js";

/** A MATCH, and the column that has its score. */
export interface Score {
  readonly call: CallExpr;
  readonly column: ColumnExpr;
}

/** A MATCH, and the index that answers it. */
export interface Scored {
  readonly call: CallExpr;
  readonly index: SearchIndexDef;
}

export function scoreColumn(): OutputColumn {
  return { id: newColumnId(), name: "score", type: FLOAT8, nullable: true };
}

export const isTrue = (expr: Expr): boolean => expr.kind === "const" && expr.value === true;

/** Not so of a policy that lets all rows through. */
export const hides = (policy: Expr): boolean => !conjuncts(policy).every(isTrue);

export function refersTo({ id, name, type }: OutputColumn): ColumnExpr {
  return { kind: "column", id, name, type };
}

/** The calls in the node's own expressions. */
export function callsOf(plan: Plan): CallExpr[] {
  const found: CallExpr[] = [];
  for (const expr of exprsOfPlan(plan)) {
    someExpr(expr, (node) => {
      if (node.kind === "call" && node.fn === TEXT_SCORE) found.push(node);
      return false;
    });
  }
  return found;
}

/** The node with the scores' columns in the place of their calls. */
export function replaced(plan: Plan, scores: readonly Score[]): Plan {
  return mapExprsOfPlan(plan, (expr) => withColumnsFor(expr, scores));
}

function withColumnsFor(expr: Expr, scores: readonly Score[]): Expr {
  return mapExpr(expr, (node) => {
    if (node.kind !== "call" || node.fn !== TEXT_SCORE) return node;
    return scores.find(({ call }) => exprEquals(call, node))?.column ?? node;
  });
}

/**
 * The rows that `open` makes of the scan, with the scores of these calls; `main` is the call whose score its last
 * column has. Conditions of the scan that ask for a score come after the joins.
 */
export function withScores(
  scan: ScanPlan,
  others: readonly Scored[],
  open: (base: ScanPlan) => Plan,
  main: CallExpr | null,
): { readonly plan: Plan; readonly scores: readonly Score[] } {
  const mainScore = (plan: Plan): Score[] =>
    main === null ? [] : [{ call: main, column: refersTo(plan.columns.at(-1)!) }];
  if (others.length === 0) {
    const plan = open(scan);
    return { plan, scores: mainScore(plan) };
  }
  const conditions = conjuncts(scan.filter);
  const isLate = (expr: Expr) => someExpr(expr, (node) => node.kind === "call" && node.fn === TEXT_SCORE);
  const base = open(withRowKey({ ...scan, filter: andOf(conditions.filter((expr) => !isLate(expr))) }));
  const rowKey = base.columns[scan.source.length]!;
  const scores = mainScore(base);
  let plan = base;
  const exprs: Expr[] = base.columns.map(refersTo);
  const columns = [...base.columns];
  for (const { call, index } of others) {
    const search = searchFor(scan, call, index);
    const [key, score] = search.columns as readonly [OutputColumn, OutputColumn];
    plan = Object.freeze({
      kind: "join",
      type: "left",
      left: plan,
      right: search,
      condition: equal(refersTo(rowKey), refersTo(key)),
      lateral: false,
      columns: [...plan.columns, ...search.columns],
    });
    const column = scoreColumn();
    exprs.push(scoreOf(call, refersTo(score)));
    columns.push(column);
    scores.push({ call, column: refersTo(column) });
  }
  const whole: Plan = Object.freeze({ kind: "project", input: plan, exprs, columns });
  const late = conditions.filter(isLate).map((expr) => withColumnsFor(expr, scores));
  return { plan: filtered(whole, late), scores };
}

function withRowKey(scan: ScanPlan): ScanPlan {
  if (scan.rowKey !== null) return Object.freeze(scan);
  const key: OutputColumn = { id: newColumnId(), name: "row key", type: BYTEA, nullable: false };
  return Object.freeze({ ...scan, columns: [...scan.columns, key], rowKey: key.id });
}

/** All rows that match: their keys and their scores. */
function searchFor({ table, alias, policy }: ScanPlan, { args }: CallExpr, index: SearchIndexDef): TextSearchPlan {
  const key: OutputColumn = { id: newColumnId(), name: "row key", type: BYTEA, nullable: false };
  const [query, mode] = args.slice(-2) as [Expr, Expr];
  const asked = { index, query, mode, counts: null, ...(policy !== undefined && hides(policy) && { visible: null }) };
  const columns = [key, scoreColumn()];
  return Object.freeze({
    kind: "textsearch",
    table,
    alias,
    source: [],
    filter: null,
    rowKey: key.id,
    ...asked,
    columns,
  });
}

function equal(left: Expr, right: Expr): Expr {
  return { kind: "call", type: BOOL, fn: resolveOperator("=", BYTEA, BYTEA).fn, args: [left, right] };
}

function scoreOf({ args }: CallExpr, score: Expr): Expr {
  const isNull = (input: Expr): Expr => ({ kind: "isnull", type: BOOL, input, negated: false });
  const none: Expr = { kind: "const", type: FLOAT8, value: null };
  const zero: Expr = { kind: "const", type: FLOAT8, value: 0 };
  const branches = [
    // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
    { when: isNull(args.at(-2)!), then: none },
    // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
    { when: isNull(score), then: zero },
  ];
  return { kind: "case", type: FLOAT8, branches, otherwise: score };
}
