import { andOf, conjuncts } from "../../query/expr/walk.js";
import type { MatchPlan, PatternNode } from "../../query/plan/graph-plans.js";
import type { Plan } from "../../query/plan/plan.js";
import { VARIANT } from "../../values/values.js";
import type { MatchClause, PathPattern } from "../parse/ast.js";
import { bindCondition } from "./bind-condition.js";
import { bindSelectedPaths, isSearched } from "./bind-selected-paths.js";
import { existsSubquery } from "./bind-subquery.js";
import { type Binding, contextOf, type Rows } from "./binding.js";
import { PatternBinder } from "./pattern-binder.js";
import { ONE_ROW } from "./rows.js";
import type { Variables } from "./variables.js";

export type PatternClause = Pick<MatchClause, "optional" | "repeatable" | "patterns" | "where">;

export function bindMatch(clause: PatternClause, rows: Rows, binding: Binding): Rows {
  const selected = clause.patterns.find((path) => !isSearched(path));
  if (selected !== undefined) return bindSelectedPaths(selected, clause, rows, binding);
  const pattern = new PatternBinder(rows.scope, clause.optional, binding, clause.repeatable);
  for (const path of clause.patterns) pattern.path(path);
  if (clause.optional && pattern.columns.length === 0) return optionalPaths(clause, pattern, rows, binding);
  const plan = matchOf(pattern, clause, rows.plan, binding);
  return { plan, scope: pattern.scope };
}

/** OPTIONAL MATCH of entities that are bound already leaves the rows as they are; its paths exist if it matches. */
function optionalPaths(clause: PatternClause, pattern: PatternBinder, rows: Rows, binding: Binding): Rows {
  const plan = matchOf(pattern, { ...clause, optional: false }, ONE_ROW, binding);
  const found = existsSubquery(plan);
  const scope = new Map(pattern.scope);
  for (const [name, variable] of pattern.scope) {
    if (rows.scope.has(name) || variable.kind !== "value") continue;
    // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
    const branches = [{ when: found, then: variable.expr }];
    scope.set(name, { kind: "value", expr: { kind: "case", type: VARIANT, branches, otherwise: null } });
  }
  return { plan: rows.plan, scope };
}

function matchOf(
  pattern: PatternBinder,
  { optional, repeatable, where }: Omit<PatternClause, "patterns">,
  input: Plan,
  binding: Binding,
): MatchPlan {
  const conditions = pattern.finish();
  const { scope, nodes, edges, columns } = pattern;
  if (where !== null) conditions.push(...conjuncts(bindCondition(where, contextOf(binding, scope))));
  return Object.freeze({
    kind: "match",
    input,
    graph: binding.graph,
    optional,
    ...(repeatable && { repeatable }),
    nodes,
    edges,
    predicate: andOf(conditions),
    columns: [...input.columns, ...columns],
  });
}

/** What MERGE looks for: `nodes[i]` and `nodes[i + 1]` are the ends of `plan.edges[i]`. */
export interface MergePattern {
  readonly plan: MatchPlan;
  readonly scope: Variables;
  readonly nodes: readonly PatternNode[];
}

/** The pattern of a MERGE, over one row whose columns are those of an enclosing query. */
export function bindMergePattern(path: PathPattern, scope: Variables, binding: Binding): MergePattern {
  const pattern = new PatternBinder(scope, false, binding);
  const { places } = pattern.path(path);
  const plan = matchOf(pattern, { optional: false, where: null }, ONE_ROW, binding);
  return { plan, scope: pattern.scope, nodes: places.map((place) => pattern.nodes[place]!) };
}
