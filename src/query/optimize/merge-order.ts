/**
 * Whether a join can be a merge of its inputs: both must come, or be made to come, in one order of the join's keys.
 * Called by eliminate-sort.ts, which wants its rows in some order, and by choose-join.ts, which takes any.
 *
 *   wanted: a.k DESC, a.x      left:  a.k DESC, a.x
 *   join:   a.k = b.k     ⇒    right: b.k DESC
 */
import type { SqlType } from "../../protocol/values.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import type { HashJoinPlan, JoinType, KeyDirection, MergeJoinPlan, Plan } from "../plan/plan.js";
import { withChildren } from "../plan/walk.js";

/** Rows in the order of a column. */
export interface Wanted extends KeyDirection {
  readonly id: ColumnId;
  /** The order is that of `coalesce` of the two columns, as USING makes it of both sides of a full join. */
  readonly other?: ColumnId;
}

/** Either kind of join that has pairs of keys. */
type EquiJoin = HashJoinPlan | MergeJoinPlan;

/** An input whose rows come in the order; null when there is no way. */
export type InOrder = (input: Plan, wanted: readonly Wanted[]) => Plan | null;

/** Types of which two values are equal in their order just when a hash join takes them for equal. */
const MERGEABLE: ReadonlySet<SqlType["name"]> = new Set([
  "bool",
  "int2",
  "int4",
  "int8",
  "oid",
  "float4",
  "float8",
  "numeric",
  "text",
  "varchar",
  "bpchar",
  "name",
  "uuid",
  "bytea",
  "date",
  "time",
  "timestamp",
  "timestamptz",
  "enum",
]);

interface KeyPair {
  readonly left: ColumnId;
  readonly right: ColumnId;
  readonly leftKey: Expr;
  readonly rightKey: Expr;
}

interface DirectedPair extends KeyDirection {
  readonly pair: KeyPair;
}

/** The join as a merge whose rows come in the order (none: in any order of its keys); null when it cannot be. */
export function mergeInOrder(plan: EquiJoin, wanted: readonly Wanted[], inOrder: InOrder): MergeJoinPlan | null {
  const pairs = pairsOf(plan);
  if (pairs === null) return null;
  const orders = inputOrders(plan, pairs, wanted);
  if (orders === null) return null;
  const left = inOrder(plan.left, orders.left);
  if (left === null) return null;
  const right = inOrder(
    plan.right,
    orders.keys.map(({ pair, descending, nullsFirst }) => ({ id: pair.right, descending, nullsFirst })),
  );
  if (right === null) return null;
  const joined = withChildren(plan, [left, right]);
  if (joined.kind === "mergejoin" && joined === plan && hasOrder(plan, orders.keys)) return plan;
  return Object.freeze({
    kind: "mergejoin",
    type: plan.type,
    left,
    right,
    leftKeys: orders.keys.map(({ pair }) => pair.leftKey),
    rightKeys: orders.keys.map(({ pair }) => pair.rightKey),
    directions: orders.keys.map(({ descending, nullsFirst }) => ({ descending, nullsFirst })),
    residual: plan.residual,
    columns: joined.columns,
  });
}

function hasOrder(plan: MergeJoinPlan, keys: readonly DirectedPair[]): boolean {
  return keys.every(({ pair, descending, nullsFirst }, i) => {
    const direction = plan.directions[i]!;
    const isSame = direction.descending === descending && direction.nullsFirst === nullsFirst;
    return isSame && plan.leftKeys[i] === pair.leftKey;
  });
}

function pairsOf(plan: EquiJoin): readonly KeyPair[] | null {
  const pairs: KeyPair[] = [];
  for (const [i, leftKey] of plan.leftKeys.entries()) {
    const rightKey = plan.rightKeys[i]!;
    if (leftKey.kind !== "column" || rightKey.kind !== "column") return null;
    if (!MERGEABLE.has(leftKey.type.name) || leftKey.type.element !== null) return null;
    if (pairs.some(({ left, right }) => left === leftKey.id || right === rightKey.id)) return null;
    pairs.push({ left: leftKey.id, right: rightKey.id, leftKey, rightKey });
  }
  return pairs;
}

/** The order of the left rows, which begins with all keys, and the keys in that order. */
function inputOrders(
  plan: EquiJoin,
  pairs: readonly KeyPair[],
  wanted: readonly Wanted[],
): { readonly left: readonly Wanted[]; readonly keys: readonly DirectedPair[] } | null {
  const left: Wanted[] = [];
  const keys: DirectedPair[] = [];
  const add = (pair: KeyPair, { descending, nullsFirst }: KeyDirection) => {
    left.push({ id: pair.left, descending, nullsFirst });
    keys.push({ pair, descending, nullsFirst });
  };
  for (const key of wanted) {
    const pair = pairs.find((candidate) => isKey(plan.type, candidate, key));
    if (pair !== undefined) {
      if (!keys.some((used) => used.pair === pair)) add(pair, key);
    } else if (keys.length < pairs.length || !followsLeft(plan, key)) return null;
    else left.push(key);
  }
  const direction = wanted[0] ?? { descending: false, nullsFirst: false };
  for (const pair of pairs) if (!keys.some((used) => used.pair === pair)) add(pair, direction);
  return { left, keys };
}

/** Whether the join's rows are in the order of the column when they are in that of the pair. */
function isKey(type: JoinType, { left, right }: KeyPair, { id, other }: Wanted): boolean {
  if (other !== undefined) return (id === left && other === right) || (id === right && other === left);
  switch (type) {
    case "inner":
      return id === left || id === right;
    case "right":
      return id === right;
    case "full":
      return false;
    default:
      return id === left;
  }
}

/** Within one key the rows come in the order of the left side's, but for rows of the right side alone. */
function followsLeft({ type, left }: EquiJoin, { id, other }: Wanted): boolean {
  if (type === "right" || type === "full" || other !== undefined) return false;
  return left.columns.some((column) => column.id === id);
}
