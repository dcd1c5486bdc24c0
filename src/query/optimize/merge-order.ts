/**
 * Whether a join can be a merge of its inputs: both must come, or be made to come, in one order of the join's keys.
 * Called by eliminate-sort.ts, which wants its rows in some order, and by choose-join.ts, which takes any.
 *
 *   wanted: a.k DESC, a.x      left:  a.k DESC, a.x
 *   join:   a.k = b.k     ⇒    right: b.k DESC
 */
import type { SqlType } from "../../values/values.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { columnsOf } from "../expr/walk.js";
import type { HashJoinPlan, KeyDirection, MergeJoinPlan, Plan } from "../plan/plan.js";
import { joinColumns, withChildren } from "../plan/walk.js";
import { isUnique } from "./drop-distinct.js";
import { withColumns } from "./rule.js";

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
export function mergeInOrder(plan: EquiJoin, wanted: readonly Wanted[], inOrder: InOrder): Merge | null {
  const join = mergeOfSides(plan, wanted, inOrder);
  if (join !== null) return { join, plan: join };
  if (plan.type !== "inner" || wanted.length < 2) return null;
  // Of rows with one key those of the left side give the order.
  const turned = mergeOfSides(turn(plan), wanted, inOrder);
  return turned && { join: turned, plan: withColumns(turned, plan.columns) };
}

interface Merge {
  readonly join: MergeJoinPlan;
  /** The join, or what gives its columns as they were. */
  readonly plan: Plan;
}

function turn(plan: EquiJoin): EquiJoin {
  const { left, right, leftKeys, rightKeys } = plan;
  const columns = joinColumns(plan.type, right, left);
  return Object.freeze({ ...plan, left: right, right: left, leftKeys: rightKeys, rightKeys: leftKeys, columns });
}

function mergeOfSides(plan: EquiJoin, wanted: readonly Wanted[], inOrder: InOrder): MergeJoinPlan | null {
  const pairs = pairsOf(plan);
  if (pairs === null) return null;
  for (const orders of inputOrders(plan, pairs, wanted)) {
    const left = inOrder(plan.left, orders.left);
    if (left === null) continue;
    const rightOrder = orders.keys.map(({ pair, ...direction }): Wanted => ({ id: pair.right, ...direction }));
    const right = inOrder(plan.right, rightOrder);
    if (right !== null) return mergeOf(plan, orders.keys, left, right);
  }
  return null;
}

function mergeOf(plan: EquiJoin, keys: readonly DirectedPair[], left: Plan, right: Plan): MergeJoinPlan {
  const joined = withChildren(plan, [left, right]);
  if (joined.kind === "mergejoin" && joined === plan && hasOrder(plan, keys)) return plan;
  return Object.freeze({
    kind: "mergejoin",
    type: plan.type,
    left,
    right,
    leftKeys: keys.map(({ pair }) => pair.leftKey),
    rightKeys: keys.map(({ pair }) => pair.rightKey),
    directions: keys.map(({ descending, nullsFirst }) => ({ descending, nullsFirst })),
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
    if (!MERGEABLE.has(rightKey.type.name)) return null;
    if (pairs.some(({ left, right }) => left === leftKey.id || right === rightKey.id)) return null;
    pairs.push({ left: leftKey.id, right: rightKey.id, leftKey, rightKey });
  }
  return pairs;
}

/** The order of the left rows, which begins with all keys, and the keys in that order. */
interface InputOrder {
  readonly left: readonly Wanted[];
  readonly keys: readonly DirectedPair[];
}

/** Orders of the inputs from which the wanted one follows; keys that it leaves out come after it in any order. */
function inputOrders(plan: EquiJoin, pairs: readonly KeyPair[], wanted: readonly Wanted[]): readonly InputOrder[] {
  const keys: DirectedPair[] = [];
  const further: Wanted[] = [];
  for (const key of wanted) {
    const { descending, nullsFirst } = key;
    const pair = pairs.find((candidate) => isKey(plan, candidate, key));
    if (pair === undefined) {
      if (keys.length < pairs.length) return [];
      if (further.length === 0 && isUniqueByKeys(plan)) break;
      if (!followsLeft(plan, key)) return [];
      further.push(key);
    } else if (!keys.some((used) => used.pair === pair)) keys.push({ pair, descending, nullsFirst });
  }
  const rest = pairs.filter((pair) => !keys.some((used) => used.pair === pair));
  return arrangements(rest).flatMap((arranged) =>
    directionsAfter(wanted).map((direction) => {
      const all = [...keys, ...arranged.map((pair) => ({ pair, ...direction }))];
      const left = all.map(({ pair, descending, nullsFirst }) => ({ id: pair.left, descending, nullsFirst }));
      return { left: [...left, ...further], keys: all };
    }),
  );
}

/** Whether no two rows have one key, so that it alone gives their order. */
function isUniqueByKeys({ type, left, right, leftKeys, rightKeys }: EquiJoin): boolean {
  const idsOf = (keys: readonly Expr[]) => new Set([...keys].flatMap((key) => [...columnsOf(key)]));
  return (
    type !== "right" &&
    type !== "full" &&
    isUnique(left, idsOf(leftKeys)) &&
    isUnique(right, idsOf(rightKeys), "no NULLs")
  );
}

/** Keys that go on in every order are tried up to this many. */
const ARRANGED_MAX = 3;

function arrangements(pairs: readonly KeyPair[]): readonly (readonly KeyPair[])[] {
  if (pairs.length < 2 || pairs.length > ARRANGED_MAX) return [pairs];
  return pairs.flatMap((first) => arrangements(pairs.filter((pair) => pair !== first)).map((rest) => [first, ...rest]));
}

const ASCENDING: KeyDirection = { descending: false, nullsFirst: false };
const DESCENDING: KeyDirection = { descending: true, nullsFirst: true };

/** Of keys that the wanted order leaves out: as the order begins, since an index goes one way. */
function directionsAfter(wanted: readonly Wanted[]): readonly KeyDirection[] {
  if (wanted.length === 0) return [ASCENDING, DESCENDING];
  return [{ descending: wanted[0]!.descending, nullsFirst: wanted[0]!.nullsFirst }];
}

/** Whether the join's rows are in the order of the column when they are in that of the pair. */
function isKey(plan: EquiJoin, { left, right }: KeyPair, { id, other }: Wanted): boolean {
  if (other !== undefined) return (id === left && other === right) || (id === right && other === left);
  const ofLeft = plan.type !== "right" && plan.type !== "full" && areEqual(plan.left, id, left);
  const ofRight = (plan.type === "right" || plan.type === "inner") && areEqual(plan.right, id, right);
  return ofLeft || ofRight;
}

/** Whether inner joins make the two columns equal in all rows of the plan. */
function areEqual(plan: Plan, a: ColumnId, b: ColumnId): boolean {
  return a === b || equalColumns(plan, new Set([a])).has(b);
}

/** Adds the columns that equal one of these. */
function equalColumns(plan: Plan, found: Set<ColumnId>): Set<ColumnId> {
  switch (plan.kind) {
    case "filter":
    case "project":
      return equalColumns(plan.input, found);
    case "hashjoin":
    case "mergejoin": {
      const equal = plan.type === "inner" ? plan.leftKeys.map((key, i) => [key, plan.rightKeys[i]!] as const) : [];
      for (let size = -1; size < found.size; ) {
        size = found.size;
        if (plan.type !== "right" && plan.type !== "full") equalColumns(plan.left, found);
        if (plan.type === "right" || plan.type === "inner") equalColumns(plan.right, found);
        for (const [left, right] of equal) {
          if (left.kind !== "column" || right.kind !== "column") continue;
          if (found.has(left.id)) found.add(right.id);
          else if (found.has(right.id)) found.add(left.id);
        }
      }
      return found;
    }
    default:
      return found;
  }
}

/** Within one key the rows come in the order of the left side's, but for rows of the right side alone. */
function followsLeft({ type, left }: EquiJoin, { id, other }: Wanted): boolean {
  if (type === "right" || type === "full" || other !== undefined) return false;
  return left.columns.some((column) => column.id === id);
}
