/**
 * Moves conditions down as far as their meaning stays the same: through projections, groups and set operations, to the
 * side of a join that they read, into the scans. A condition that reads both sides of an inner join becomes the join's
 * condition. On the way, outer joins whose NULL rows a condition refuses become stricter (null-rejection.ts), and a
 * condition on one side of an equality is copied to the other side (derived-conditions.ts).
 *
 *   Filter (a.x = 1 AND a.id = b.id)          Join (a.id = b.id)
 *     Join (cross)                     ⇒        Scan a, Filter (x = 1)
 *       Scan a, Scan b                          Scan b
 *
 * Conditions with volatile functions stay where they are. Ullman, Principles of Database and Knowledge-Base Systems,
 * §11.2, has the equivalences.
 */
import { OID } from "../../values/values.js";
import { PROPERTY } from "../expr/cypher/entities.js";
import { cypherOperator, HAS_LABEL } from "../expr/cypher/registry.js";
import type { CallExpr, ColumnId, Expr, ScalarFunction } from "../expr/expr.js";
import { TEXT_SCORE } from "../expr/functions/text-search.js";
import { andOf, columnsOf, conjuncts, isVolatile, mapExpr, someExpr, takesLong } from "../expr/walk.js";
import { columnExpr } from "../plan/column-expr.js";
import type {
  AggregatePlan,
  AppendPlan,
  FilterPlan,
  JoinPlan,
  OutputColumn,
  Plan,
  ProjectPlan,
  ScanPlan,
  SetOpPlan,
} from "../plan/plan.js";
import { childrenOf, mapPlan, withChildren } from "../plan/walk.js";
import { derivedConditions } from "./derived-conditions.js";
import { simplifiedJoin } from "./null-rejection.js";
import { filtered, type Rule } from "./rule.js";
import { isAnswered } from "./text-by-index.js";

export const pushDownFilters: Rule = {
  name: "push-down-filters",
  places: [230, 250],
  apply: (plan) => push(plan, []),
};

/** The plan with the conditions applied to its rows, each as deep as possible. */
function push(plan: Plan, conditions: readonly Expr[]): Plan {
  switch (plan.kind) {
    case "filter": {
      if (plan.barrier) return pushThroughBarrier(plan, conditions);
      const [stay, move] = partition(conjuncts(plan.predicate), isVolatile);
      if (stay.length === 0) return push(plan.input, [...move, ...conditions]);
      const input = push(plan.input, [...move, ...conditions]);
      return input === plan.input && move.length === 0 && conditions.length === 0 ? plan : filtered(input, stay);
    }
    case "scan":
      return pushIntoScan(plan, conditions);
    case "project":
      return pushThroughProject(plan, conditions);
    case "projectset":
    case "deferred": {
      const made = idsOf(plan.columns.slice(-plan.calls.length));
      const [stay, move] = partition(conditions, (condition) => reads(condition, made, "some"));
      return filtered(withChildren(plan, [push(plan.input, move)]), stay);
    }
    case "aggregate":
      return pushThroughAggregate(plan, conditions);
    case "join":
      return pushIntoJoin(plan, conditions);
    case "setop":
      return pushIntoSetOp(plan, conditions);
    case "append":
      return pushIntoAppend(plan, conditions);
    case "sort":
      return withChildren(plan, [push(plan.input, conditions)]);
    case "with": {
      const tables = plan.tables.map((definition) => push(definition.plan, []));
      return withChildren(plan, [...tables, push(plan.input, conditions)]);
    }
    case "window": {
      // A condition on what rows are partitioned by takes whole partitions out.
      const keys = new Set(plan.partitionBy.flatMap((expr) => (expr.kind === "column" ? expr.id : [])));
      const [move, stay] = partition(conditions, (condition) => reads(condition, keys, "only"));
      return filtered(withChildren(plan, [push(plan.input, move)]), stay);
    }
    case "distinct": {
      const keys =
        plan.on === null ? null : new Set(plan.on.flatMap((expr) => (expr.kind === "column" ? expr.id : [])));
      const [move, stay] = partition(conditions, (condition) => keys === null || reads(condition, keys, "only"));
      return filtered(withChildren(plan, [push(plan.input, move)]), stay);
    }
    default: {
      const children = childrenOf(plan).map((child) => push(child, []));
      return filtered(withChildren(plan, children), conditions);
    }
  }
}

/** Conditions that could tell of a row, by an error or by what a function does, see no row that a policy hides. */
function pushThroughBarrier(plan: FilterPlan, conditions: readonly Expr[]): Plan {
  const [safe, others] = partition(conditions, (condition) => isLeakproof(condition, plan.input));
  return filtered(withChildren(plan, [push(plan.input, safe)]), others);
}

/** Comparisons of values cannot fail, and answer nothing but yes, no or NULL. */
function isLeakproof(expr: Expr, below: Plan): boolean {
  return !someExpr(expr, (node) => {
    switch (node.kind) {
      case "const":
      case "param":
      case "column":
      case "and":
      case "or":
      case "not":
        return false;
      case "call":
        // A text index names the rows that match; of a row there is nothing to compute. Without one a row is an error.
        if (node.fn === TEXT_SCORE) return !isAnswered(below, node);
        return !isComparison(node.fn) && !isSafeOfGraph(node, below);
      default:
        return true;
    }
  });
}

function isComparison({ operator, args, routine }: ScalarFunction): boolean {
  return routine === undefined && COMPARISONS.has(operator ?? "") && args.every(({ name }) => COMPARED.has(name));
}

/** Of a graph's own rows, labels and properties are there or not, and Cypher's equality fails for no values. */
function isSafeOfGraph({ fn, args }: CallExpr, below: Plan): boolean {
  if (fn === HAS_LABEL || fn === CYPHER_EQUALS) return true;
  if (fn !== PROPERTY || below.kind !== "filter" || below.input.kind !== "scan") return false;
  const [of] = args;
  const { table, columns } = below.input;
  return table.collection?.kind === "graph" && of?.kind === "column" && columns.some(({ id }) => id === of.id);
}

const CYPHER_EQUALS = cypherOperator("=");

const COMPARISONS: ReadonlySet<string> = new Set(["=", "<>", "<", "<=", ">", ">="]);
const COMPARED: ReadonlySet<string> = new Set(
  "int2 int4 int8 float4 float8 numeric bool text varchar bpchar name uuid date time timestamp timestamptz oid".split(
    " ",
  ),
);

/** Barriers have done their work once filters are down: what is left above them stays there. */
export const removeBarriers: Rule = {
  name: "remove-barriers",
  places: [260],
  apply: (plan) => mapPlan(plan, (node) => (node.kind === "filter" && node.barrier ? node.input : node)),
};

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  const yes: T[] = [];
  const no: T[] = [];
  for (const item of items) (test(item) ? yes : no).push(item);
  return [yes, no];
}

function idsOf(columns: readonly OutputColumn[]): Set<ColumnId> {
  return new Set(columns.map((column) => column.id));
}

/** Whether a condition reads some of these columns, or at most these. */
function reads(condition: Expr, columns: ReadonlySet<ColumnId>, how: "some" | "only"): boolean {
  const read = [...columnsOf(condition)];
  return how === "some" ? read.some((id) => columns.has(id)) : read.every((id) => columns.has(id));
}

const hasSubquery = (expr: Expr) => someExpr(expr, (node) => node.kind === "subquery");

/**
 * The condition with columns replaced by their expressions, or null if it cannot be moved in this way: an expression
 * must be safe to evaluate twice, and a subquery's own plan cannot be rewritten.
 */
function substituted(condition: Expr, meaning: ReadonlyMap<ColumnId, Expr>): Expr | null {
  for (const id of columnsOf(condition)) {
    const expr = meaning.get(id);
    if (expr === undefined) continue;
    const same = expr.kind === "column" && expr.id === id;
    if (!same && (hasSubquery(condition) || hasSubquery(expr) || isVolatile(expr))) return null;
  }
  return mapExpr(condition, (node) => (node.kind === "column" ? (meaning.get(node.id) ?? node) : node));
}

/** What may take long for a row stays above, where turns are given between rows. */
function pushIntoScan(plan: ScanPlan, conditions: readonly Expr[]): Plan {
  const [stay, move] = partition(conditions, takesLong);
  if (move.length === 0) return filtered(plan, stay);
  return filtered(Object.freeze({ ...plan, filter: andOf([...conjuncts(plan.filter), ...move]) }), stay);
}

function pushThroughProject(plan: ProjectPlan, conditions: readonly Expr[]): Plan {
  const meaning = new Map(plan.columns.map((column, i) => [column.id, plan.exprs[i]!]));
  const move: Expr[] = [];
  const stay: Expr[] = [];
  for (const condition of conditions) {
    const moved = substituted(condition, meaning);
    if (moved === null) stay.push(condition);
    else move.push(moved);
  }
  return filtered(withChildren(plan, [push(plan.input, move)]), stay);
}

/** Only conditions on group columns; without groups there is a row even over no input. */
function pushThroughAggregate(plan: AggregatePlan, conditions: readonly Expr[]): Plan {
  const meaning = new Map(plan.groups.map((expr, i) => [plan.columns[i]!.id, expr]));
  const computed = idsOf(plan.columns.slice(plan.groups.length));
  const move: Expr[] = [];
  const stay: Expr[] = [];
  for (const condition of conditions) {
    const movable = plan.groups.length > 0 && plan.grouping === undefined && !reads(condition, computed, "some");
    const moved = movable ? substituted(condition, meaning) : null;
    if (moved === null) stay.push(condition);
    else move.push(moved);
  }
  return filtered(withChildren(plan, [push(plan.input, move)]), stay);
}

/** Every set operation treats equal rows alike, so a condition on its rows may be applied to both sides. */
function pushIntoSetOp(plan: SetOpPlan, conditions: readonly Expr[]): Plan {
  const meaningIn = (side: Plan) =>
    new Map<ColumnId, Expr>(plan.columns.map((column, i) => [column.id, columnExpr(side.columns[i]!)]));
  const left: Expr[] = [];
  const right: Expr[] = [];
  const stay: Expr[] = [];
  for (const condition of conditions) {
    const inLeft = substituted(condition, meaningIn(plan.left));
    const inRight = substituted(condition, meaningIn(plan.right));
    if (inLeft === null || inRight === null) stay.push(condition);
    else {
      left.push(inLeft);
      right.push(inRight);
    }
  }
  return filtered(withChildren(plan, [push(plan.left, left), push(plan.right, right)]), stay);
}

/** A condition goes into every input, or stays: what an input's columns and its table's OID are is known there. */
function pushIntoAppend(plan: AppendPlan, conditions: readonly Expr[]): Plan {
  const meanings = plan.inputs.map((input, i) => {
    const meaning = new Map<ColumnId, Expr>();
    for (const [c, column] of input.columns.entries()) meaning.set(plan.columns[c]!.id, columnExpr(column));
    if (plan.tableOid !== null) meaning.set(plan.tableOid, { kind: "const", type: OID, value: plan.oids[i]! });
    return meaning;
  });
  const moved: Expr[][] = plan.inputs.map(() => []);
  const stay: Expr[] = [];
  for (const condition of conditions) {
    const inside = meanings.map((meaning) => substituted(condition, meaning));
    if (inside.includes(null)) stay.push(condition);
    else for (const [i, expr] of inside.entries()) moved[i]!.push(expr!);
  }
  const inputs = plan.inputs.map((input, i) => push(input, moved[i]!));
  return filtered(withChildren(plan, inputs), stay);
}

/** Where conditions may go that stand above a join or in it. */
interface Placement {
  readonly left: Expr[];
  readonly right: Expr[];
  readonly on: Expr[];
  readonly above: Expr[];
}

function pushIntoJoin(plan: JoinPlan, conditions: readonly Expr[]): Plan {
  const leftIds = idsOf(plan.left.columns);
  const rightIds = idsOf(plan.right.columns);
  const type = simplifiedJoin(plan.type, leftIds, rightIds, conditions);
  const placement: Placement = { left: [], right: [], on: [], above: [] };
  for (const condition of conditions) {
    const side = sideOf(condition, leftIds, rightIds);
    if (side === "left" && type !== "right" && type !== "full") placement.left.push(condition);
    else if (side === "right" && (type === "inner" || type === "right")) placement.right.push(condition);
    else if (type === "inner") placement.on.push(condition);
    else placement.above.push(condition);
  }
  const kept = conjuncts(plan.condition);
  for (const condition of kept) {
    const side = isVolatile(condition) ? "both" : sideOf(condition, leftIds, rightIds);
    if (side === "left" && (type === "inner" || type === "right" || type === "semi")) placement.left.push(condition);
    else if (side === "right" && type !== "right" && type !== "full") placement.right.push(condition);
    else placement.on.push(condition);
  }
  if (type !== "right" && type !== "full") {
    placement.right.push(...derivedConditions(placement.on, placement.left, rightIds, placement.right));
  }
  if (type === "inner") {
    placement.left.push(...derivedConditions(placement.on, placement.right, leftIds, placement.left));
  }
  const joined = withChildren(plan, [push(plan.left, placement.left), push(plan.right, placement.right)]) as JoinPlan;
  const unchanged = type === plan.type && sameItems(placement.on, kept);
  const condition = andOf(placement.on);
  return filtered(unchanged ? joined : Object.freeze({ ...joined, type, condition }), placement.above);
}

/** The side that a condition reads; constants count as left. */
function sideOf(condition: Expr, left: ReadonlySet<ColumnId>, right: ReadonlySet<ColumnId>): "left" | "right" | "both" {
  if (!reads(condition, right, "some")) return "left";
  return reads(condition, left, "some") ? "both" : "right";
}

function sameItems(a: readonly Expr[], b: readonly Expr[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}
