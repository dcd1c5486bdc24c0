/**
 * How a join finds its pairs. Conditions `left = right` become keys of a hash join, the rest its residual. When the
 * right side has an index on the join's columns and looking up each left row there costs less than reading it whole
 * (join-cost.ts), that is done (index nested loop: a lateral join over a point get or an index scan). The bounds of a
 * range may come from the left row, too, with equalities before it or without. A join's sides
 * are exchanged where that serves: to look up the left side of an inner join, or to build the hash table of the smaller
 * one (a semi or anti join then gives its left rows at the end, see hash-join.ts). Inputs that both come in the order
 * of the keys are merged, when that costs less than a hash table.
 *
 *   Join (o.cid = c.id AND o.x > c.y)        Hash Join, Hash Cond: (o.cid = c.id)
 *                                      ⇒       Join Filter: (o.x > c.y)
 */
import { type SqlType, VARIANT } from "../../values/values.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { isVariantAsIs } from "../expr/variant-order.js";
import { andOf, columnsOf, conjuncts, isVolatile, mapExpr, someExpr } from "../expr/walk.js";
import type {
  AppendPlan,
  HashJoinPlan,
  IndexScanPlan,
  JoinPlan,
  JoinType,
  OutputColumn,
  Plan,
  ScanPlan,
} from "../plan/plan.js";
import { joinColumns, mapPlan, outerColumnsOf, withChildren } from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import { accessFor } from "./choose-access.js";
import { orderedAsIs } from "./eliminate-sort.js";
import {
  canLookUp,
  findsRows,
  hashCostBy,
  hashCostOf,
  lookUpCost,
  mergeCost,
  nestedLoopCost,
  outputCost,
  readCost,
} from "./join-cost.js";
import { mergeInOrder } from "./merge-order.js";
import { type Rule, withColumns } from "./rule.js";

export const chooseJoin: Rule = {
  name: "choose-join",
  places: [440],
  apply: (plan, cardinality) => mapPlan(plan, (node) => (node.kind === "join" ? chooseFor(node, cardinality) : node)),
};

function chooseFor(plan: JoinPlan, cardinality: Cardinality): Plan {
  const leftIds = idsOf(plan.left.columns);
  if (plan.lateral && readsAny(outerColumnsOf(plan.right), leftIds)) return plan;
  const conditions = conditionsOf(plan, leftIds, idsOf(plan.right.columns));
  const { equal, rest } = conditions;
  const [turned, turnedConditions] = turn(plan, conditions);
  const looked = lookUpRight(plan, conditions, cardinality);
  const lookedLeft = TURNED.has(plan.type) ? lookUpRight(turned, turnedConditions, cardinality) : null;
  if (looked !== null && (lookedLeft === null || looked.cost <= lookedLeft.cost)) return looked.plan;
  if (lookedLeft !== null) return withColumns(lookedLeft.plan, plan.columns);
  if (equal.length === 0) return plan.lateral ? Object.freeze({ ...plan, lateral: false }) : plan;
  const merged = mergedAsIs(hashed(plan, equal, rest), cardinality);
  if (merged !== null) return merged;
  if (!buildsLeft(plan, cardinality)) return hashed(plan, equal, rest);
  if (!TURNED.has(plan.type)) return Object.freeze({ ...hashed(plan, equal, rest), buildsLeft: true });
  return withColumns(hashed(turned, turnedConditions.equal, rest), plan.columns);
}

/** The conditions of a join. */
interface Conditions {
  readonly equal: readonly Comparison[];
  readonly ranges: readonly Comparison[];
  /** All that are no equalities. */
  readonly others: readonly Expr[];
  /** What a hash join by the equalities has to check: the others, and some equalities again. */
  readonly rest: readonly Expr[];
}

function conditionsOf(plan: JoinPlan, leftIds: ReadonlySet<ColumnId>, rightIds: ReadonlySet<ColumnId>): Conditions {
  const equal: Comparison[] = [];
  const ranges: Comparison[] = [];
  const others: Expr[] = [];
  const rest: Expr[] = [];
  for (const condition of conjuncts(plan.condition)) {
    const comparison = comparisonOf(condition, leftIds, rightIds);
    if (comparison?.isEqual) equal.push(comparison);
    else {
      others.push(condition);
      if (comparison !== null) ranges.push(comparison);
    }
    // Variants of equal keys need not be equal: NaN is not.
    if (!comparison?.isEqual || comparison.isWider) rest.push(condition);
  }
  return { equal, ranges, others, rest };
}

/**
 * The table is built of the right side, unless that is the larger one. Where the left rows would otherwise pass in
 * their order, it must be much larger.
 */
function buildsLeft({ type, left, right }: JoinPlan, cardinality: Cardinality): boolean {
  const [leftRows, rightRows] = [cardinality.rows(left), cardinality.rows(right)];
  return rightRows > leftRows * (type === "inner" || type === "right" || type === "full" ? 1 : TURN_FACTOR);
}

const TURN_FACTOR = 2;

function hashed(plan: JoinPlan, equal: readonly Comparison[], rest: readonly Expr[]): HashJoinPlan {
  return Object.freeze({
    kind: "hashjoin",
    type: plan.type,
    left: plan.left,
    right: plan.right,
    leftKeys: equal.map(({ left }) => left),
    rightKeys: equal.map(({ right }) => right),
    residual: andOf(rest),
    columns: plan.columns,
  });
}

/** A merge of inputs that come in the order of the keys anyway, when that costs less than a table of either of them. */
function mergedAsIs(join: HashJoinPlan, cardinality: Cardinality): Plan | null {
  const merge = mergeInOrder(join, [], (input, wanted) => orderedAsIs(input, wanted, cardinality));
  if (merge === null) return null;
  const [left, right, output] = [cardinality.rows(join.left), cardinality.rows(join.right), cardinality.rows(join)];
  const [smaller, larger] = left < right ? [left, right] : [right, left];
  return mergeCost(left, right, output) < hashCostBy(join.leftKeys, larger, smaller, output) ? merge.plan : null;
}

/** The types of joins whose sides can be exchanged, and what they are then. Semi and anti joins have no such node. */
const TURNED: ReadonlyMap<JoinType, JoinType> = new Map([
  ["inner", "inner"],
  ["left", "right"],
  ["right", "left"],
  ["full", "full"],
]);

/** The join with its sides exchanged. */
function turn(plan: JoinPlan, conditions: Conditions): [JoinPlan, Conditions] {
  const type = TURNED.get(plan.type) ?? plan.type;
  const columns = joinColumns(type, plan.right, plan.left);
  const turned = Object.freeze({ ...plan, type, left: plan.right, right: plan.left, columns });
  const exchanged = (one: Comparison): Comparison => ({ ...one, left: one.right, right: one.left });
  return [turned, { ...conditions, equal: conditions.equal.map(exchanged), ranges: conditions.ranges.map(exchanged) }];
}

/** A comparison of two expressions, each over its own side. */
interface Comparison {
  readonly condition: Expr;
  readonly left: Expr;
  readonly right: Expr;
  /** `left = right`, and such values have equal hash keys. */
  readonly isEqual: boolean;
  /** The keys of values that are not equal may be. */
  readonly isWider: boolean;
}

const RANGE_OPERATORS = new Set(["<", "<=", ">", ">="]);

function comparisonOf(
  condition: Expr,
  leftIds: ReadonlySet<ColumnId>,
  rightIds: ReadonlySet<ColumnId>,
): Comparison | null {
  if (condition.kind !== "call" || condition.args.length !== 2) return null;
  if (isVolatile(condition) || someExpr(condition, (node) => node.kind === "subquery")) return null;
  const [a, b] = condition.args as [Expr, Expr];
  const isEqual = condition.fn.operator === "=" && hashAlike(a.type, b.type);
  if (!isEqual && !RANGE_OPERATORS.has(condition.fn.operator ?? "")) return null;
  const overLeft = (expr: Expr) => readsAny(columnsOf(expr), leftIds) && !readsAny(columnsOf(expr), rightIds);
  const overRight = (expr: Expr) => readsAny(columnsOf(expr), rightIds) && !readsAny(columnsOf(expr), leftIds);
  const isWider = a.type === VARIANT && b.type === VARIANT;
  if (overLeft(a) && overRight(b)) return { condition, left: a, right: b, isEqual, isWider };
  return overLeft(b) && overRight(a) ? { condition, left: b, right: a, isEqual, isWider } : null;
}

const INTEGERS = new Set(["int2", "int4", "int8"]);
const FLOATS = new Set(["float4", "float8"]);
const TEXTS = new Set(["text", "varchar"]);

/** Equal values of the two types have equal hash keys. */
function hashAlike(a: SqlType, b: SqlType): boolean {
  if (a.name === b.name) return a.element === b.element;
  if (a === VARIANT || b === VARIANT) return isVariantAsIs(a) && isVariantAsIs(b);
  return [INTEGERS, FLOATS, TEXTS].some((family) => family.has(a.name) && family.has(b.name));
}

/** By an index, when that costs less than reading the whole right side and hashing it, or trying all pairs. */
function lookUpRight(
  plan: JoinPlan,
  { equal, ranges, others }: Conditions,
  cardinality: Cardinality,
): { readonly plan: Plan; readonly cost: number } | null {
  if (!canLookUp(plan.type) || equal.length + ranges.length === 0) return null;
  const bounds = boundsOf(plan.right, equal, ranges);
  const right = lookedUp(plan.right, [...equal, ...bounds], cardinality);
  if (right === null) return null;
  const [left, whole] = [cardinality.rows(plan.left), cardinality.rows(plan.right)];
  const output = cardinality.rows(plan);
  const pairing = equal.length > 0 ? hashCostOf(left, whole, output) : nestedLoopCost(left, whole, output);
  const cost = left * costOfOne(right, cardinality) + outputCost(output);
  if (cost > readCost(plan.right, cardinality) + pairing) return null;
  const rest = others.filter((condition) => !bounds.some((bound) => bound.condition === condition));
  const looked = Object.freeze({ ...plan, condition: andOf(rest), lateral: true });
  return { plan: withChildren(looked, [plan.left, right]), cost };
}

/** The comparisons that bound what a key finds. */
function boundsOf(right: Plan, equal: readonly Comparison[], ranges: readonly Comparison[]): readonly Comparison[] {
  if (ranges.length === 0) return [];
  if (right.kind === "append") {
    const used = right.inputs.flatMap((input) => {
      const [equalInside, rangesInside] = [equal, ranges].map((some) => inInputs(some, right, input));
      return boundsOf(input, equalInside!, rangesInside!).map(({ left }) => left);
    });
    return ranges.filter(({ left }) => used.includes(left));
  }
  if (right.kind !== "scan") return [];
  const access = accessFor(filteredScan(right, [...equal, ...ranges]));
  if (access.kind !== "indexscan") return [];
  return ranges.filter(({ left }) => left === access.lower?.expr || left === access.upper?.expr);
}

/** One look-up; it finds rows that the right side's own conditions may then refuse. */
function costOfOne(access: Plan, cardinality: Cardinality): number {
  switch (access.kind) {
    case "append":
      return access.inputs.reduce((sum, input) => sum + costOfOne(input, cardinality), 0);
    case "pointget":
      return lookUpCost("point", 1, 1);
    case "indexscan":
      return lookUpCost(findsRows(access) ? "rows" : "entries", 1, foundByOne(access, cardinality));
    default:
      return readCost(access, cardinality);
  }
}

/** Between two values of which nothing is known lies as much of a column as PostgreSQL supposes. */
const UNKNOWN_RANGE_SHARE = 0.005;

function foundByOne(access: IndexScanPlan, cardinality: Cardinality): number {
  const { prefix, lower, upper, table } = access;
  const found = cardinality.rows(Object.freeze({ ...access, filter: null }));
  const isUnknown = [lower, upper].every((bound) => bound !== null && columnsOf(bound.expr).size > 0);
  return isUnknown && prefix.length === 0 ? Math.max(found, cardinality.tableRows(table) * UNKNOWN_RANGE_SHARE) : found;
}

/** The scan at the bottom of the right side as a look-up by the comparisons, if a key serves them. */
function lookedUp(right: Plan, by: readonly Comparison[], cardinality: Cardinality): Plan | null {
  if (right.kind === "append") return lookedUpInAll(right, by, cardinality);
  if (right.kind !== "scan") return null;
  const access = accessFor(filteredScan(right, by));
  // The right side's own conditions may be what the key serves; then nothing is looked up by the left row.
  return boundIn(access).some((expr) => by.some(({ left }) => left === expr)) ? access : null;
}

/** What a key is compared with. */
function boundIn(access: Plan): readonly (Expr | undefined)[] {
  if (access.kind === "pointget") return access.key;
  return access.kind === "indexscan" ? [...access.prefix, access.lower?.expr, access.upper?.expr] : [];
}

/** Every input by a key of its own; a parent that is all but empty may be read whole. */
function lookedUpInAll(append: AppendPlan, by: readonly Comparison[], cardinality: Cardinality): Plan | null {
  let keyed = false;
  const inputs = append.inputs.map((input) => {
    const inside = inInputs(by, append, input);
    const access = lookedUp(input, inside, cardinality);
    if (access !== null) {
      keyed = true;
      return access;
    }
    const isSmall =
      input.kind === "scan" && cardinality.isKnown(input.table) && cardinality.tableRows(input.table) <= READ_WHOLE_MAX;
    return isSmall ? filteredScan(input, inside) : null;
  });
  return keyed && !inputs.includes(null) ? Object.freeze({ ...append, inputs: inputs as Plan[] }) : null;
}

/** Rows of a table that cost no more to read than to look one up. */
const READ_WHOLE_MAX = 16;

/** The comparisons as those of an input's columns. */
function inInputs(comparisons: readonly Comparison[], append: AppendPlan, input: Plan): readonly Comparison[] {
  return comparisons.map((one) => ({ ...one, condition: inInput(one.condition, append, input) }));
}

function inInput(condition: Expr, append: AppendPlan, input: Plan): Expr {
  return mapExpr(condition, (node) => {
    const place = node.kind === "column" ? append.columns.findIndex(({ id }) => id === node.id) : -1;
    const column = input.columns[place];
    return column === undefined ? node : { kind: "column", id: column.id, type: column.type, name: column.name };
  });
}

function filteredScan(scan: ScanPlan, by: readonly Comparison[]): ScanPlan {
  const conditions = [...conjuncts(scan.filter), ...by.map(({ condition }) => condition)];
  return Object.freeze({ ...scan, filter: andOf(conditions) });
}

function idsOf(columns: readonly OutputColumn[]): Set<ColumnId> {
  return new Set(columns.map((column) => column.id));
}

function readsAny(read: ReadonlySet<ColumnId>, columns: ReadonlySet<ColumnId>): boolean {
  return [...read].some((id) => columns.has(id));
}
