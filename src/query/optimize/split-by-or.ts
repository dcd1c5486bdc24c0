/**
 * A pattern with `this node is such OR that node is such` is two patterns, each of which begins where its condition
 * leaves few nodes; as one it would begin anywhere and go everywhere. Called by plan-patterns.ts before a pattern is
 * planned.
 *
 *   Match (a)-->(b)                        Append
 *     Filter: a.name = $1 OR b.name = $1  ⇒   Match (a)-->(b), Filter: a.name = $1
 *                                             Match (a)-->(b), Filter: b.name = $1 AND NOT (a.name = $1)
 */
import { BOOL } from "../../values/values.js";
import type { ColumnId, Expr, LogicExpr } from "../expr/expr.js";
import { andOf, columnsOf, conjuncts, isVolatile, mapExpr, someExpr } from "../expr/walk.js";
import type { EdgeColumns, MatchPlan, NodeColumns, PatternEdge, PatternNode } from "../plan/graph-plans.js";
import type { OutputColumn, Plan } from "../plan/plan.js";
import type { Cardinality } from "./cardinality.js";
import { newColumnId } from "./new-column-id.js";
import { filtersOf, rowsToBeginWith } from "./pattern-planner.js";

/** A pattern that begins with fewer nodes is not worth it. */
const ROWS_MIN = 50;
/** Nodes that each part leaves. */
const SHARE_MAX = 0.05;
const PARTS_MAX = 4;

/** Null: the pattern stays one. */
export function splitByOr(match: MatchPlan, cardinality: Cardinality): Plan | null {
  const { input, optional, edges } = match;
  const isOneRow = input.kind === "values" && input.rows.length === 1 && input.columns.length === 0;
  if (optional || !isOneRow || edges.length === 0 || isGuarded(match)) return null;
  const conditions = conjuncts(match.predicate);
  // What subqueries read of the pattern would keep its old names.
  if (
    [...conditions, ...edges.flatMap(({ shape }) => filtersOf(shape))].some((one) =>
      someExpr(one, (node) => node.kind === "subquery"),
    )
  ) {
    return null;
  }
  const choice = conditions.find((condition): condition is LogicExpr =>
    isOfSeveralNodes(condition, match, cardinality),
  );
  if (choice === undefined || rowsToBeginWith(match, cardinality) < ROWS_MIN) return null;
  const others = conditions.filter((condition) => condition !== choice);
  const [first, ...rest] = choice.args as [Expr, ...Expr[]];
  const anyOfRest: Expr = rest.length === 1 ? rest[0]! : { ...choice, args: rest };
  const left = copyOf({ ...match, predicate: andOf([...others, first]) });
  const right = copyOf({ ...match, predicate: andOf([...others, anyOfRest, isNotTrue(first)]) });
  return Object.freeze({ kind: "setop", op: "union", all: true, left, right, columns: match.columns });
}

/** Conditions of a pattern under policies are asked where its parts have been seen. */
function isGuarded({ nodes, edges }: MatchPlan): boolean {
  return (
    nodes.some((node) => node.kind === "new" && node.policy !== undefined) ||
    edges.some(({ shape }) => shape.kind === "one" && shape.policy !== undefined)
  );
}

/** Parts about one node each, not all the same, that each leave few. */
function isOfSeveralNodes(condition: Expr, { nodes }: MatchPlan, cardinality: Cardinality): condition is LogicExpr {
  if (condition.kind !== "or" || condition.args.length > PARTS_MAX || isVolatile(condition)) return false;
  const about = condition.args.map((part) => {
    const read = [...columnsOf(part)];
    return nodes.findIndex(
      (node) => node.kind === "new" && read.length > 0 && read.every((id) => isOwn(node.columns, id)),
    );
  });
  if (about.includes(-1) || new Set(about).size === 1) return false;
  return condition.args.every((part) => cardinality.selectivity(part) <= SHARE_MAX);
}

function isOwn({ id, labels, properties }: NodeColumns, column: ColumnId): boolean {
  return column === id.id || column === labels.id || column === properties.id;
}

function isNotTrue(condition: Expr): Expr {
  const [yes, no] = [true, false].map((value): Expr => ({ kind: "const", type: BOOL, value }));
  // biome-ignore lint/suspicious/noThenProperty: the node names its parts as SQL does
  return { kind: "case", type: BOOL, branches: [{ when: condition, then: no! }], otherwise: yes! };
}

/** The match under new column ids, its columns in the same order. */
function copyOf(match: MatchPlan): MatchPlan {
  const renamed = new Map<ColumnId, ColumnId>();
  const column = (old: OutputColumn): OutputColumn => {
    const id = renamed.get(old.id) ?? newColumnId();
    renamed.set(old.id, id);
    return { ...old, id };
  };
  const ofNode = ({ id, labels, properties }: NodeColumns): NodeColumns => ({
    id: column(id),
    labels: column(labels),
    properties: column(properties),
  });
  const ofEdge = ({ id, type, src, dst, properties }: EdgeColumns): EdgeColumns => ({
    id: column(id),
    type: column(type),
    src: column(src),
    dst: column(dst),
    properties: column(properties),
  });
  const nodes = match.nodes.map(
    (node): PatternNode => (node.kind === "new" ? { ...node, columns: ofNode(node.columns) } : node),
  );
  const made = match.edges.map(({ shape, ...edge }): PatternEdge => {
    if (shape.kind === "one") return { ...edge, shape: { ...shape, columns: ofEdge(shape.columns) } };
    if (shape.kind === "bound") return { ...edge, shape };
    const { cycle, each, relationships } = shape;
    const steps = cycle?.map((step) => ({ ...step, each: ofEdge(step.each) }));
    const own = { each: ofEdge(each), relationships: column(relationships), ...(steps && { cycle: steps }) };
    return { ...edge, shape: { ...shape, ...own } };
  });
  const expr = (old: Expr): Expr =>
    mapExpr(old, (node) => (node.kind === "column" ? { ...node, id: renamed.get(node.id) ?? node.id } : node));
  const edges = made.map(({ shape, ...edge }): PatternEdge => {
    if (shape.kind === "one") return { ...edge, shape };
    if (shape.kind === "bound") return { ...edge, shape: { ...shape, id: expr(shape.id) } };
    const [filter, bound] = [shape.filter && expr(shape.filter), shape.bound && expr(shape.bound)];
    const cycle = shape.cycle?.map((step) => ({ ...step, filter: step.filter && expr(step.filter) }));
    return { ...edge, shape: { ...shape, filter, bound, ...(cycle && { cycle }) } };
  });
  const predicate = match.predicate && expr(match.predicate);
  return Object.freeze({ ...match, nodes, edges, predicate, columns: match.columns.map(column) });
}
