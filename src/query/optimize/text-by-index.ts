/**
 * MATCH … AGAINST is a text index's business: a scan with such a condition becomes a search, whose scores take the
 * place of the same MATCH everywhere above, as far as the search's rows are handed on. A MATCH that is no condition by
 * itself (under OR, under NOT, in the select list) has its scores joined to the scan (text-scores.ts).
 *
 *   Sort (MATCH …) DESC                        Sort score DESC
 *     Seq Scan on t, Filter MATCH … > 0   ⇒       Text Search using t_idx on t
 */
import type { SearchIndexDef } from "../../catalog/table.js";
import type { CallExpr, ColumnExpr, Expr } from "../expr/expr.js";
import { TEXT_SCORE } from "../expr/functions/text-search.js";
import { andOf, columnsOf, conjuncts, exprEquals, mapExpr } from "../expr/walk.js";
import type { AppendPlan, Plan, ProjectPlan, ScanPlan } from "../plan/plan.js";
import type { TextSearchPlan } from "../plan/search-plans.js";
import { childrenOf, withChildren } from "../plan/walk.js";
import { documentSearch } from "./document-condition.js";
import { type Rule, withColumns } from "./rule.js";
import {
  callsOf,
  hides,
  isTrue,
  refersTo,
  replaced,
  type Score,
  type Scored,
  scoreColumn,
  withScores,
} from "./text-scores.js";
import { trigramSearch } from "./trigram-condition.js";

export const textByIndex: Rule = {
  name: "text-by-index",
  places: [300],
  apply: (plan) => {
    const { plan: found } = rewritten(plan, []);
    return found === plan ? plan : withColumns(found, plan.columns);
  },
};

interface Rewritten {
  readonly plan: Plan;
  /** Of searches below, whose columns are among the plan's. */
  readonly scores: readonly Score[];
}

const NONE: readonly Score[] = [];

/** `wanted`: MATCH of the nodes above, over the plan's columns. */
function rewritten(plan: Plan, wanted: readonly CallExpr[]): Rewritten {
  if (plan.kind === "scan") return searched(plan, wanted);
  if (plan.kind === "project") return project(plan, wanted);
  if (plan.kind === "append") return append(plan, wanted);
  const children = childrenOf(plan);
  if (children.length === 0) return { plan, scores: NONE };
  const passed = handsOn(plan) ? [...wanted, ...callsOf(plan)] : callsOf(plan);
  const inputs = children.map((child) => rewritten(child, passed));
  const scores = inputs.flatMap((input) => input.scores);
  if (inputs.every((input, i) => input.plan === children[i])) return { plan, scores: NONE };
  if (!handsOn(plan)) {
    const isFit = plan.kind === "aggregate";
    const whole = withChildren(
      plan,
      inputs.map((input, i) => (isFit ? input.plan : withColumns(input.plan, children[i]!.columns))),
    );
    return { plan: isFit ? replaced(whole, scores) : whole, scores: NONE };
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

/** Passes on the scores of the columns that it is made from. */
function project(plan: ProjectPlan, wanted: readonly CallExpr[]): Rewritten {
  const exprs = new Map(plan.columns.map(({ id }, i) => [id, plan.exprs[i]!]));
  const below = wanted.map((call) => renamed(call, (id) => exprs.get(id)));
  const { plan: input, scores } = rewritten(plan.input, [...callsOf(plan), ...below]);
  if (input === plan.input) return { plan, scores: NONE };
  const own = replaced(withChildren(plan, [input]), scores) as ProjectPlan;
  const handed = below.flatMap((call, i) => {
    const found = scores.find((score) => exprEquals(score.call, call));
    return found === undefined ? [] : [{ call: wanted[i]!, from: found.column, column: scoreColumn() }];
  });
  const columns = [...own.columns, ...handed.map(({ column }) => column)];
  const whole: Plan = Object.freeze({ ...own, columns, exprs: [...own.exprs, ...handed.map(({ from }) => from)] });
  return {
    plan: handed.length === 0 ? own : whole,
    scores: handed.map(({ call, column }) => ({ call, column: refersTo(column) })),
  };
}

/** Each input by an index of its own; a score that not all of them have is nobody's. */
function append(plan: AppendPlan, wanted: readonly CallExpr[]): Rewritten {
  const own = plan.tableOid === null ? plan.columns : plan.columns.slice(0, -1);
  const places = new Map(own.map(({ id }, i) => [id, i]));
  const below = plan.inputs.map(({ columns }) =>
    wanted.map((call) => renamed(call, (id) => (places.has(id) ? refersTo(columns[places.get(id)!]!) : undefined))),
  );
  const inputs = plan.inputs.map((input, i) => rewritten(input, below[i]!));
  if (inputs.every((input, i) => input.plan === plan.inputs[i])) return { plan, scores: NONE };
  const handed = wanted.flatMap((call, w) => {
    const columns = inputs.map(
      ({ scores }, i) => scores.find((score) => exprEquals(score.call, below[i]![w]!))?.column,
    );
    return columns.includes(undefined) ? [] : [{ call, from: columns as ColumnExpr[], column: scoreColumn() }];
  });
  const withScores = inputs.map((input, i) => {
    const scores = handed.map(({ from }) => ({ ...scoreColumn(), id: from[i]!.id }));
    return withColumns(input.plan, [...plan.inputs[i]!.columns, ...scores]);
  });
  const columns = [...own, ...handed.map(({ column }) => column), ...plan.columns.slice(own.length)];
  return {
    plan: Object.freeze({ ...plan, inputs: withScores, columns }),
    scores: handed.map(({ call, column }) => ({ call, column: refersTo(column) })),
  };
}

function renamed(call: CallExpr, exprOf: (id: number) => Expr | undefined): CallExpr {
  return mapExpr(call, (node) => (node.kind === "column" ? (exprOf(node.id) ?? node) : node)) as CallExpr;
}

/** Nodes whose rows have all columns of their inputs' rows. */
function handsOn({ kind }: Plan): boolean {
  return kind === "filter" || kind === "sort" || kind === "limit" || kind === "topn" || kind === "join";
}

function searched(scan: ScanPlan, wanted: readonly CallExpr[]): Rewritten {
  const conditions = conjuncts(scan.filter);
  for (const condition of conditions) {
    const call = matchOf(condition);
    const index = call === null ? null : indexFor(scan, call);
    if (call === null || index === null) continue;
    const rest = { ...scan, filter: andOf(conditions.filter((other) => other !== condition)) };
    const others = othersOf(rest, [...wanted, ...callsOf(rest)], call);
    return withScores(rest, others, (base) => searchOf(base, ...queryOf(call), index, base.filter), call);
  }
  const others = othersOf(scan, [...wanted, ...callsOf(scan)], null);
  const search = hasKey(scan) ? null : searchOfDocuments(scan);
  if (others.length === 0) return { plan: search ?? scan, scores: NONE };
  return withScores(scan, others, (base) => base, null);
}

/** The different MATCH among these that an index of the scan's table answers, but this one. */
function othersOf(scan: ScanPlan, calls: readonly CallExpr[], main: CallExpr | null): Scored[] {
  const found: Scored[] = [];
  for (const call of calls) {
    if (found.some((other) => exprEquals(other.call, call)) || (main !== null && exprEquals(main, call))) continue;
    const index = indexFor(scan, call);
    if (index !== null) found.push({ call, index });
  }
  return found;
}

const queryOf = ({ args }: CallExpr) => args.slice(-2) as [Expr, Expr];

/** By `to_tsvector(…) @@ query` or a condition on trigrams, which stays a condition. */
function searchOfDocuments(scan: ScanPlan): TextSearchPlan | null {
  for (const condition of conjuncts(scan.filter)) {
    const found = documentSearch(scan, condition) ?? trigramSearch(scan, condition);
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

/** Whether an index answers the MATCH, of which the columns are the plan's, for each row that there is. */
export function isAnswered(plan: Plan, call: CallExpr): boolean {
  if (plan.kind === "scan") return indexFor(plan, call) !== null;
  if (handsOn(plan)) return childrenOf(plan).some((child) => isAnswered(child, call));
  if (plan.kind !== "append") return false;
  const places = new Map(plan.columns.map(({ id }, i) => [id, i]));
  return plan.inputs.every((input) => {
    const own = renamed(call, (id) => {
      const column = places.has(id) ? input.columns[places.get(id)!] : undefined;
      return column && refersTo(column);
    });
    return isAnswered(input, own);
  });
}

function indexFor(scan: ScanPlan, { args }: CallExpr): SearchIndexDef | null {
  const own = new Set(scan.columns.map(({ id }) => id));
  if (args.slice(-2).some((expr) => [...columnsOf(expr)].some((id) => own.has(id)))) return null;
  const ids = args.slice(0, -2).map((expr) => columnIdOf(scan, expr));
  const isSame = (of: readonly number[]) => of.length === ids.length && of.every((id) => ids.includes(id));
  return scan.table.searchIndexes?.find((index) => isWords(index) && isSame(index.columnIds)) ?? null;
}

const isWords = ({ method, text }: SearchIndexDef) => method === "text" && text?.trigrams !== true;

/** Of the table's column, also where it was made text for the function; −1 for any other expression. */
function columnIdOf(scan: ScanPlan, expr: Expr): number {
  if (expr.kind === "cast") return columnIdOf(scan, expr.input);
  const place = expr.kind === "column" ? scan.columns.findIndex(({ id }) => id === expr.id) : -1;
  return place < 0 ? -1 : scan.source[place]!;
}

function searchOf(scan: ScanPlan, query: Expr, mode: Expr, index: SearchIndexDef, filter: Expr | null): TextSearchPlan {
  const { table, alias, source, rowKey, policy } = scan;
  const columns = [...scan.columns, scoreColumn()];
  const hidesRows = policy !== undefined && hides(policy);
  const found = { index, query, mode, counts: null, ...(hidesRows && { visible: visibleUnder(policy, filter) }) };
  return Object.freeze({ kind: "textsearch", table, alias, source, filter, rowKey, ...found, columns });
}

/**
 * The policy, as far as it decides. Null: a part of it is not in the filter, so nobody knows the rows that it lets
 * through.
 */
function visibleUnder(policy: Expr, filter: Expr | null): Expr | null {
  const has = conjuncts(filter);
  const parts = conjuncts(policy).filter((part) => !isTrue(part));
  return parts.every((part) => has.some((condition) => exprEquals(condition, part))) ? andOf(parts) : null;
}
