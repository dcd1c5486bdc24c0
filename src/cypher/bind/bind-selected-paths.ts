/**
 * `SHORTEST k` before a pattern that no search walks as it is: one with several parts, with a WHERE of its own, or with
 * conditions on nodes of a way that has no direction. All its paths are matched, and each pair of ends keeps the
 * shortest. It stands alone in its MATCH, as in Neo4j.
 */
import { PATH_LENGTH } from "../../query/expr/cypher/clause-functions.js";
import { cypherOperator } from "../../query/expr/cypher/registry.js";
import type { Expr } from "../../query/expr/expr.js";
import { WINDOW_FUNCTION_TABLE } from "../../query/expr/functions/window.js";
import { andOf, columnsOf, conjuncts } from "../../query/expr/walk.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import type { Plan, SortKey, WindowFrame } from "../../query/plan/plan.js";
import { INT8 } from "../../values/values.js";
import type { MatchClause, PathPattern } from "../parse/ast.js";
import { bindCondition } from "./bind-condition.js";
import { type Binding, contextOf, type Rows } from "./binding.js";
import { PatternBinder } from "./pattern-binder.js";
import { filtered, joined, ONE_ROW, only, project, sorted } from "./rows.js";
import { call, columnsOfEntity, type Variable, variant } from "./variables.js";

/** Whether a walk of the graph finds the paths that are wanted, and no others. */
export function isSearched({ search, mode, steps, where }: PathPattern): boolean {
  if (search === "all") return true;
  const { group, length, direction } = steps[0]!.relationship;
  if (steps.length > 1 || mode === "acyclic" || where !== undefined || (group?.further.length ?? 0) > 0) return false;
  // The search for one path or one length keeps the shortest ways to each node alone.
  if (typeof search === "string" && (length?.min ?? 1) > 1) return false;
  if (group === undefined || direction !== "either") return true;
  const isSaid = group.nodes.some((node) => node.labels !== null || node.properties !== null || node.where !== null);
  return !isSaid && group.where === null;
}

const FRAME: WindowFrame = {
  mode: "range",
  start: { kind: "unbounded preceding", offset: null, inRange: null },
  end: { kind: "current row", offset: null, inRange: null },
  exclude: "no others",
};

const ASCENDING = { descending: false, nullsFirst: false } as const;

const RANKS = { paths: "row_number", groups: "dense_rank" } as const;

export function bindSelectedPaths(
  path: PathPattern,
  { optional, patterns, where }: Pick<MatchClause, "optional" | "patterns" | "where">,
  rows: Rows,
  binding: Binding,
): Rows {
  if (patterns.length > 1) {
    const what = "a path of several parts that is searched with SHORTEST stands alone in its MATCH: write two of them";
    throw binding.error(path.position, "InvalidRelationshipPattern", what);
  }
  const pattern = new PatternBinder(rows.scope, optional, binding);
  const { places, value } = pattern.path({ ...path, search: "all" });
  const found = pattern.finish();
  const { nodes, edges, columns, scope } = pattern;
  const ends = [...new Set([places[0]!, places.at(-1)!])].flatMap((place) => {
    const node = nodes[place]!;
    return node.kind === "new" ? [node.columns] : [];
  });
  const said = where === null ? [] : conjuncts(bindCondition(where, contextOf(binding, scope)));
  // What is said of the ends alone chooses pairs, not paths of a pair.
  const free = new Set(ends.flatMap((end) => columnsOfEntity({ kind: "node", columns: end }).map(({ id }) => id)));
  const made = new Set(columns.map(({ id }) => id));
  const isOfEnds = (each: Expr) => [...columnsOf(each)].every((id) => free.has(id) || !made.has(id));
  const predicate = andOf([...found, ...said.filter(isOfEnds)]);
  const common = { input: ONE_ROW, graph: binding.graph, optional: false, nodes, edges, predicate, columns } as const;
  const matched: Plan = Object.freeze({ kind: "match", ...common });
  const chosen = shortest(matched, { path, value, ends: ends.map(({ id }) => columnExpr(id)) }, binding);
  const rest = andOf(said.filter((each) => !isOfEnds(each)));
  return { plan: joined(rows.plan, only(filtered(chosen, rest), columns), optional), scope };
}

interface Choice {
  readonly path: PathPattern;
  /** The path. */
  readonly value: Variable;
  /** Ids of ends that are not known before; a pair of ends is one partition. */
  readonly ends: readonly Expr[];
}

function shortest(matched: Plan, { path: { search }, value, ends }: Choice, binding: Binding): Plan {
  const { start, parts } = (value as Extract<Variable, { readonly kind: "value" }>).path!;
  const length = call(PATH_LENGTH, [start, ...parts.map(({ id }) => id)]);
  const input = project(matched, [{ name: "length", expr: length }], matched.columns, binding);
  const keys = [...ends, columnExpr(input.columns[0]!)].map((expr): SortKey => ({ ...ASCENDING, expr }));
  const { by, count } =
    typeof search === "object" ? search : ({ by: search === "shortest" ? "paths" : "groups", count: 1 } as const);
  const fn = WINDOW_FUNCTION_TABLE.find(({ name }) => name === RANKS[by])!;
  const rank = binding.newColumn("rank", INT8, false);
  const ranked: Plan = Object.freeze({
    kind: "window",
    input: sorted(input, keys),
    partitionBy: ends,
    orderBy: keys.slice(ends.length),
    frame: FRAME,
    calls: [{ kind: "function", fn, args: [], filter: null } as const],
    columns: [...input.columns, rank],
  });
  return filtered(ranked, call(cypherOperator("<="), [columnExpr(rank), variant(count)]));
}
