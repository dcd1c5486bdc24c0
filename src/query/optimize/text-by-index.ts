/**
 * MATCH … AGAINST is a text index's business: a scan with such a condition becomes a search, whose scores take the place
 * of the same MATCH everywhere above, as far as the search's rows are handed on.
 *
 *   Sort (MATCH …) DESC                        Sort score DESC
 *     Seq Scan on t, Filter MATCH … > 0   ⇒       Text Search using t_idx on t
 */
import type { SearchIndexDef } from "../../catalog/table.js";
import { FLOAT8 } from "../../protocol/values.js";
import type { CallExpr, ColumnExpr, Expr } from "../expr/expr.js";
import { TEXT_SCORE } from "../expr/functions/text-search.js";
import { andOf, columnsOf, conjuncts, exprEquals, mapExpr } from "../expr/walk.js";
import type { OutputColumn, Plan, ScanPlan, TextSearchPlan } from "../plan/plan.js";
import { childrenOf, mapExprsOfPlan, withChildren } from "../plan/walk.js";
import { documentSearch } from "./document-condition.js";
import { newColumnId } from "./new-column-id.js";
import { type Rule, withColumns } from "./rule.js";

export const textByIndex: Rule = {
  name: "text-by-index",
  apply: (plan) => {
    const { plan: found } = rewritten(plan);
    return found === plan ? plan : withColumns(found, plan.columns);
  },
};

/** A MATCH, and the column that has its score. */
interface Score {
  readonly call: CallExpr;
  readonly column: ColumnExpr;
}

interface Rewritten {
  readonly plan: Plan;
  /** Of searches below, whose columns are among the plan's. */
  readonly scores: readonly Score[];
}

const NONE: readonly Score[] = [];

function rewritten(plan: Plan): Rewritten {
  if (plan.kind === "scan") return searched(plan);
  const children = childrenOf(plan);
  if (children.length === 0) return { plan, scores: NONE };
  const inputs = children.map(rewritten);
  const scores = inputs.flatMap((input) => input.scores);
  if (inputs.every((input, i) => input.plan === children[i])) return { plan, scores: NONE };
  if (!handsOn(plan)) {
    const whole = withChildren(
      plan,
      inputs.map((input, i) => (fits(plan) ? input.plan : withColumns(input.plan, children[i]!.columns))),
    );
    return { plan: fits(plan) ? replaced(whole, scores) : whole, scores: NONE };
  }
  return {
    plan: replaced(
      withChildren(
        plan,
        inputs.map((input) => input.plan),
      ),
      scores,
    ),
    scores,
  };
}

/** Nodes whose rows have all columns of their inputs' rows. */
function handsOn({ kind }: Plan): boolean {
  return kind === "filter" || kind === "sort" || kind === "limit" || kind === "topn" || kind === "join";
}

/** Nodes that name the columns they read, so that one more below does not matter. */
function fits({ kind }: Plan): boolean {
  return kind === "project" || kind === "aggregate";
}

function replaced(plan: Plan, scores: readonly Score[]): Plan {
  return mapExprsOfPlan(plan, (expr) =>
    mapExpr(expr, (node) => {
      if (node.kind !== "call" || node.fn !== TEXT_SCORE) return node;
      return scores.find(({ call }) => exprEquals(call, node))?.column ?? node;
    }),
  );
}

function searched(scan: ScanPlan): Rewritten {
  const same = { plan: scan, scores: NONE };
  if (scan.filter === null) return same;
  for (const condition of conjuncts(scan.filter)) {
    const call = matchOf(condition);
    const index = call === null ? null : indexFor(scan, call);
    if (call === null || index === null) continue;
    const rest = conjuncts(scan.filter).filter((other) => other !== condition);
    const [query, mode] = call.args.slice(-2) as [Expr, Expr];
    const search = searchOf(scan, query, mode, index, andOf(rest));
    const { id, name, type } = search.columns.at(-1)!;
    return { plan: search, scores: [{ call, column: { kind: "column", id, name, type } }] };
  }
  const search = hasKey(scan) ? null : searchOfDocuments(scan);
  return search === null ? same : { plan: search, scores: NONE };
}

/** By `to_tsvector(…) @@ query`, which stays a condition. */
function searchOfDocuments(scan: ScanPlan): TextSearchPlan | null {
  for (const condition of conjuncts(scan.filter)) {
    const found = documentSearch(scan, condition);
    if (found !== null) return searchOf(scan, found.query, found.mode, found.index, scan.filter);
  }
  return null;
}

/** Whether one row at most is wanted, by its primary key. */
function hasKey(scan: ScanPlan): boolean {
  const keys = scan.table.primaryKey ?? [];
  const isFixed = (columnId: number) =>
    conjuncts(scan.filter).some(
      (part) =>
        part.kind === "call" && part.fn.operator === "=" && part.args.some((arg) => columnIdOf(scan, arg) === columnId),
    );
  return keys.length > 0 && keys.every(isFixed);
}

/** `MATCH … > 0` */
function matchOf(condition: Expr): CallExpr | null {
  if (condition.kind !== "call" || condition.fn.operator !== ">") return null;
  const [left, right] = condition.args as [Expr, Expr];
  if (left.kind !== "call" || left.fn !== TEXT_SCORE) return null;
  return right.kind === "const" && right.value === 0 ? left : null;
}

function indexFor(scan: ScanPlan, { args }: CallExpr): SearchIndexDef | null {
  const own = new Set(scan.columns.map(({ id }) => id));
  if (args.slice(-2).some((expr) => [...columnsOf(expr)].some((id) => own.has(id)))) return null;
  const ids = args.slice(0, -2).map((expr) => columnIdOf(scan, expr));
  const isSame = (of: readonly number[]) => of.length === ids.length && of.every((id) => ids.includes(id));
  return scan.table.searchIndexes?.find(({ method, columnIds }) => method === "text" && isSame(columnIds)) ?? null;
}

/** Of the table's column, also where it was made text for the function; −1 for any other expression. */
function columnIdOf(scan: ScanPlan, expr: Expr): number {
  if (expr.kind === "cast") return columnIdOf(scan, expr.input);
  const place = expr.kind === "column" ? scan.columns.findIndex(({ id }) => id === expr.id) : -1;
  return place < 0 ? -1 : scan.source[place]!;
}

function searchOf(scan: ScanPlan, query: Expr, mode: Expr, index: SearchIndexDef, filter: Expr | null): TextSearchPlan {
  const score: OutputColumn = { id: newColumnId(), name: "score", type: FLOAT8, nullable: false };
  const { table, alias, source, rowKey } = scan;
  const columns = [...scan.columns, score];
  const found = { index, query, mode, counts: null };
  return Object.freeze({ kind: "textsearch", table, alias, source, filter, rowKey, ...found, columns });
}
