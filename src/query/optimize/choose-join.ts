/**
 * How a join finds its pairs. Conditions `left = right` become keys of a hash join, the rest its residual. When the
 * right side has an index on the join's columns and looking up each left row there costs less than reading it whole
 * (join-cost.ts), that is done (index nested loop: a lateral join over a point get or an index scan). A join's sides
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
import type { AppendPlan, HashJoinPlan, JoinPlan, JoinType, OutputColumn, Plan, ScanPlan } from "../plan/plan.js";
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
  const rightIds = idsOf(plan.right.columns);
  const equal: Equality[] = [];
  const others: Expr[] = [];
  const rest: Expr[] = [];
  for (const condition of conjuncts(plan.condition)) {
    const equality = equalityOf(condition, leftIds, rightIds);
    if (equality !== null) equal.push(equality);
    else others.push(condition);
    // Variants of equal keys need not be equal: NaN is not.
    if (equality === null || equality.isWider) rest.push(condition);
  }
  if (equal.length === 0) return plan.lateral ? Object.freeze({ ...plan, lateral: false }) : plan;
  const looked = lookUpRight(plan, equal, others, cardinality);
  if (looked !== null) return looked;
  const [turned, turnedEqual] = turn(plan, equal);
  if (plan.type === "inner") {
    const lookedLeft = lookUpRight(turned, turnedEqual, others, cardinality);
    if (lookedLeft !== null) return withColumns(lookedLeft, plan.columns);
  }
  const merged = mergedAsIs(hashed(plan, equal, rest), cardinality);
  if (merged !== null) return merged;
  if (!buildsLeft(plan, cardinality)) return hashed(plan, equal, rest);
  if (plan.type !== "semi" && plan.type !== "anti") return withColumns(hashed(turned, turnedEqual, rest), plan.columns);
  return Object.freeze({ ...hashed(plan, equal, rest), buildsLeft: true });
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

function hashed(plan: JoinPlan, equal: readonly Equality[], rest: readonly Expr[]): HashJoinPlan {
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

const TURNED: Readonly<Partial<Record<JoinType, JoinType>>> = { left: "right", right: "left" };

/** The join with its sides exchanged; for semi and anti joins there is no such node. */
function turn(plan: JoinPlan, equal: readonly Equality[]): [JoinPlan, Equality[]] {
  const type = TURNED[plan.type] ?? plan.type;
  const columns = joinColumns(type, plan.right, plan.left);
  const turned = Object.freeze({ ...plan, type, left: plan.right, right: plan.left, columns });
  return [turned, equal.map((equality) => ({ ...equality, left: equality.right, right: equality.left }))];
}

/** `left = right`, each over its own side. */
interface Equality {
  readonly condition: Expr;
  readonly left: Expr;
  readonly right: Expr;
  /** The keys of values that are not equal may be. */
  readonly isWider: boolean;
}

function equalityOf(condition: Expr, leftIds: ReadonlySet<ColumnId>, rightIds: ReadonlySet<ColumnId>): Equality | null {
  if (condition.kind !== "call" || condition.fn.operator !== "=" || condition.args.length !== 2) return null;
  if (isVolatile(condition) || someExpr(condition, (node) => node.kind === "subquery")) return null;
  const [a, b] = condition.args as [Expr, Expr];
  if (!hashAlike(a.type, b.type)) return null;
  const overLeft = (expr: Expr) => readsAny(columnsOf(expr), leftIds) && !readsAny(columnsOf(expr), rightIds);
  const overRight = (expr: Expr) => readsAny(columnsOf(expr), rightIds) && !readsAny(columnsOf(expr), leftIds);
  const isWider = a.type === VARIANT && b.type === VARIANT;
  if (overLeft(a) && overRight(b)) return { condition, left: a, right: b, isWider };
  return overLeft(b) && overRight(a) ? { condition, left: b, right: a, isWider } : null;
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

/**
 * By an index, when that costs less than reading the whole right side and hashing it. `rest`: the other conditions; the
 * equalities are the right side's.
 */
function lookUpRight(
  plan: JoinPlan,
  equal: readonly Equality[],
  rest: readonly Expr[],
  cardinality: Cardinality,
): Plan | null {
  if (!canLookUp(plan.type)) return null;
  const right = lookedUp(plan.right, equal, cardinality);
  if (right === null) return null;
  const [left, whole] = [cardinality.rows(plan.left), cardinality.rows(plan.right)];
  const output = cardinality.rows(plan);
  const reading = readCost(plan.right, cardinality) + hashCostOf(left, whole, output);
  if (left * costOfOne(right, cardinality) + outputCost(output) > reading) return null;
  return withChildren(Object.freeze({ ...plan, condition: andOf(rest), lateral: true }), [plan.left, right]);
}

/** One look-up; it finds rows that the right side's own conditions may then refuse. */
function costOfOne(access: Plan, cardinality: Cardinality): number {
  switch (access.kind) {
    case "append":
      return access.inputs.reduce((sum, input) => sum + costOfOne(input, cardinality), 0);
    case "pointget":
      return lookUpCost("point", 1, 1);
    case "indexscan": {
      const found = cardinality.rows(Object.freeze({ ...access, filter: null }));
      return lookUpCost(findsRows(access) ? "rows" : "entries", 1, found);
    }
    default:
      return readCost(access, cardinality);
  }
}

/** The scan at the bottom of the right side as a look-up by the equalities, if a key serves them. */
function lookedUp(right: Plan, equal: readonly Equality[], cardinality: Cardinality): Plan | null {
  if (right.kind === "append") return lookedUpInAll(right, equal, cardinality);
  if (right.kind !== "scan") return null;
  const scan: ScanPlan = filteredScan(right, equal);
  const access = accessFor(scan);
  const bound = access.kind === "pointget" ? access.key : access.kind === "indexscan" ? access.prefix : [];
  // The right side's own conditions may be what the key serves; then nothing is looked up by the left row.
  return bound.some((expr) => equal.some(({ left }) => left === expr)) ? access : null;
}

/** Every input by a key of its own; a parent that is all but empty may be read whole. */
function lookedUpInAll(append: AppendPlan, equal: readonly Equality[], cardinality: Cardinality): Plan | null {
  let keyed = false;
  const inputs = append.inputs.map((input) => {
    const inside = equal.map((equality) => ({ ...equality, condition: inInput(equality.condition, append, input) }));
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

function inInput(condition: Expr, append: AppendPlan, input: Plan): Expr {
  return mapExpr(condition, (node) => {
    const place = node.kind === "column" ? append.columns.findIndex(({ id }) => id === node.id) : -1;
    const column = input.columns[place];
    return column === undefined ? node : { kind: "column", id: column.id, type: column.type, name: column.name };
  });
}

function filteredScan(scan: ScanPlan, equal: readonly Equality[]): ScanPlan {
  const conditions = [...conjuncts(scan.filter), ...equal.map(({ condition }) => condition)];
  return Object.freeze({ ...scan, filter: andOf(conditions) });
}

function idsOf(columns: readonly OutputColumn[]): Set<ColumnId> {
  return new Set(columns.map((column) => column.id));
}

function readsAny(read: ReadonlySet<ColumnId>, columns: ReadonlySet<ColumnId>): boolean {
  return [...read].some((id) => columns.has(id));
}
