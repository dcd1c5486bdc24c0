/**
 * Drops a sort whose input is in that order anyway, or would be if its scan ran backwards: rows are in the order of
 * their primary key; an index scan has the index's order after the columns that it holds fixed. Under a LIMIT a whole
 * scan is turned into a scan of the index that has the order, so that it can stop early. This is the "interesting
 * orders" of Selinger et al. (SIGMOD 1979).
 *
 *   Limit                                  Limit
 *     Sort (created DESC)            ⇒       Index Scan Backward using t_created_idx on t
 *       Seq Scan on t
 *
 * A hash join hands on its left rows in their order. If both sides are in the order of its keys, or can be, it may
 * become a merge join (merge-order.ts): that need not read all of the right side before the first row, holds no table,
 * and has the order of the right side's keys, too.
 */
import { EXPRESSION_COLUMN, type IndexDef, type TableDef } from "../../catalog/table.js";
import type { SqlType } from "../../values/values.js";
import { isBinaryCoercible } from "../expr/coercion.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { columnExpr } from "../plan/column-expr.js";
import type {
  AppendPlan,
  HashJoinPlan,
  IndexScanPlan,
  JoinPlan,
  LimitPlan,
  Plan,
  ScanPlan,
  SortKey,
} from "../plan/plan.js";
import { similarPairs } from "../plan/similar-pairs.js";
import { mapPlan, withChildren } from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import { LOOK_UP_ALWAYS, rangeOf } from "./choose-access.js";
import { findsRows, hashCostBy, LOOK_UP, mergeCost, RECORD, readCost, scanCost, sortCost } from "./join-cost.js";
import { keyColumnIds, keysOfScan } from "./key-conditions.js";
import { mergeInOrder, type Wanted } from "./merge-order.js";
import type { Rule } from "./rule.js";

export const eliminateSort: Rule = {
  name: "eliminate-sort",
  places: [500],
  apply: (plan, cardinality) => {
    const streamed = mapPlan(plan, (node) => underLimit(node, cardinality));
    return mapPlan(streamed, (node) => alone(node, cardinality));
  },
};

/** What the rows are wanted for. */
interface Purpose {
  readonly cardinality: Cardinality;
  /** A whole scan may become one of an index, since few rows will be asked for. */
  readonly mayUseIndex: boolean;
  /** Rows that will be asked for. */
  readonly rows: number;
  /** What was found for joins: each asks its left side in more than one way. */
  readonly found: Map<Plan, Map<string, Plan | null>>;
  /** Without the order they would have to be sorted, and that price counts. */
  readonly savesSort: boolean;
}

/** Rows of a LIMIT whose number is not known. */
const ROWS_PER_PAGE = 100;

function alone(plan: Plan, cardinality: Cardinality): Plan {
  if (plan.kind !== "sort") return plan;
  const purpose = {
    cardinality,
    mayUseIndex: false,
    rows: Number.POSITIVE_INFINITY,
    savesSort: true,
    found: new Map(),
  };
  return ordered(plan.input, wantedOf(plan.keys), purpose) ?? plan;
}

function underLimit(plan: Plan, cardinality: Cardinality): Plan {
  if (plan.kind !== "limit" || plan.limit === null) return plan;
  const purpose = { cardinality, mayUseIndex: true, rows: rowsAskedFor(plan), savesSort: true, found: new Map() };
  return into(plan, withSortReplaced(plan.input, purpose)) ?? plan;
}

function rowsAskedFor({ limit, offset }: LimitPlan): number {
  const numbers = [limit, offset].map((expr) => {
    if (expr === null) return 0;
    return expr.kind === "const" && expr.value !== null ? Number(expr.value) : ROWS_PER_PAGE;
  });
  return numbers[0]! + numbers[1]!;
}

/** The plan without the sort that it is, or is a projection of. */
function withSortReplaced(plan: Plan, purpose: Purpose): Plan | null {
  if (plan.kind === "project") return into(plan, withSortReplaced(plan.input, purpose));
  return plan.kind === "sort" ? ordered(plan.input, wantedOf(plan.keys), purpose) : null;
}

/** The input as it is, or read in the other direction, if its rows then come in the order; otherwise null. */
export function orderedAsIs(plan: Plan, wanted: readonly Wanted[], cardinality: Cardinality): Plan | null {
  const rows = Number.POSITIVE_INFINITY;
  return ordered(plan, wanted, { cardinality, mayUseIndex: false, rows, savesSort: false, found: new Map() });
}

/** Null when a key is more than a column. */
function wantedOf(keys: readonly SortKey[]): readonly Wanted[] | null {
  const wanted: Wanted[] = [];
  for (const { expr, descending, nullsFirst } of keys) {
    const columns = columnsOfKey(expr);
    if (columns === null) return null;
    wanted.push({ ...columns, descending, nullsFirst });
  }
  return wanted;
}

/** Of a column, or of `coalesce` of two. */
function columnsOfKey(expr: Expr): Pick<Wanted, "id" | "other"> | null {
  const id = orderColumn(expr);
  if (id !== null) return { id };
  if (expr.kind !== "call" || expr.fn.name !== "coalesce" || expr.args.length !== 2) return null;
  const [a, b] = expr.args.map(orderColumn) as [ColumnId | null, ColumnId | null];
  return a === null || b === null ? null : { id: a, other: b };
}

const INTEGERS: readonly SqlType["name"][] = ["int2", "int4", "int8"];

/** The column whose order the expression has: under casts that keep every value, or make an integer a wider one. */
function orderColumn(expr: Expr): ColumnId | null {
  if (expr.kind === "column") return expr.id;
  if (expr.kind !== "cast") return null;
  const { type, input } = expr;
  const from = INTEGERS.indexOf(input.type.name);
  const isWider = from >= 0 && INTEGERS.indexOf(type.name) > from && type.element === null;
  return isWider || isBinaryCoercible(input.type, type) ? orderColumn(input) : null;
}

/** The plan, changed only in direction or access, if its rows then come in the order; otherwise null. */
function ordered(plan: Plan, wanted: readonly Wanted[] | null, purpose: Purpose): Plan | null {
  if (wanted === null) return null;
  if (wanted.some(({ other }) => other !== undefined) && !MAY_COALESCE.has(plan.kind)) return null;
  switch (plan.kind) {
    case "pointget":
      return plan;
    case "scan":
      return orderedScan(plan, wanted, purpose);
    case "indexscan": {
      // One range after the other for each set of labels.
      if (plan.labels !== undefined) return null;
      const direction = directionFor(plan, plan.index, plan.prefix.length, wanted);
      if (direction === null) return null;
      return direction === plan.reverse ? plan : Object.freeze({ ...plan, reverse: direction });
    }
    case "filter":
    case "distinct":
      if (plan.kind === "distinct" && plan.on !== null) return null;
      return into(plan, ordered(plan.input, wanted, purpose));
    case "limit":
      // Another order below would be one of other rows.
      return isOrdered(plan.input, wanted, purpose) ? plan : null;
    case "window":
      // Its own order comes from below, so nothing there may be turned round.
      return isOrdered(plan.input, wanted, purpose) ? plan : null;
    case "sort":
      return startsWith(plan.keys, wanted) ? plan : null;
    case "project":
      return into(plan, ordered(plan.input, throughProject(plan, wanted), purpose));
    case "join":
      // Its pairs come by the right rows.
      return similarPairs(plan) === null ? withLeftOrdered(plan, wanted, purpose) : null;
    case "hashjoin":
      return remembered(plan, wanted, purpose, () => orderedHashJoin(plan, wanted, purpose));
    case "mergejoin":
      return mergeInOrder(plan, wanted, (input, keys) => ordered(input, keys, purpose))?.plan ?? null;
    case "append":
      return merged(plan, wanted, purpose);
    default:
      return null;
  }
}

/** Nodes that can come in the order of `coalesce` of two columns. */
const MAY_COALESCE: ReadonlySet<Plan["kind"]> = new Set([
  "pointget",
  "filter",
  "distinct",
  "limit",
  "window",
  "project",
  "hashjoin",
  "mergejoin",
]);

function isOrdered(plan: Plan, wanted: readonly Wanted[], purpose: Purpose): boolean {
  return ordered(plan, wanted, { ...purpose, mayUseIndex: false }) === plan;
}

/** Joins go through their left rows in order; right and full joins add rows at the end. */
function withLeftOrdered(plan: JoinPlan | HashJoinPlan, wanted: readonly Wanted[], purpose: Purpose): Plan | null {
  const fromLeft = wanted.every(
    ({ id, other }) => other === undefined && plan.left.columns.some((column) => column.id === id),
  );
  if (!fromLeft || plan.type === "right" || plan.type === "full") return null;
  const left = ordered(plan.left, wanted, { ...purpose, mayUseIndex: false });
  return left === null ? null : withChildren(plan, [left, plan.right]);
}

function remembered(plan: Plan, wanted: readonly Wanted[], purpose: Purpose, find: () => Plan | null): Plan | null {
  const key = JSON.stringify([purpose.mayUseIndex, wanted]);
  const answers = purpose.found.get(plan) ?? new Map<string, Plan | null>();
  purpose.found.set(plan, answers);
  let answer = answers.get(key);
  if (answer === undefined) {
    answer = find();
    answers.set(key, answer);
  }
  return answer;
}

/** By its left rows' order or as a merge join, whichever costs less for the rows that will be asked for. */
function orderedHashJoin(plan: HashJoinPlan, wanted: readonly Wanted[], purpose: Purpose): Plan | null {
  const { cardinality } = purpose;
  // A table that may not go to disk is only worth it for a sort that may have to.
  const hashed = purpose.savesSort ? (withLeftOrdered(plan, wanted, purpose) as HashJoinPlan | null) : null;
  const merge = mergeInOrder(plan, wanted, (input, keys) => ordered(input, keys, purpose));
  const kept = hashed && Object.freeze({ ...hashed, keepsLeftOrder: true as const });
  if (merge === null) return kept;
  const [left, right, output] = [cardinality.rows(plan.left), cardinality.rows(plan.right), cardinality.rows(plan)];
  const share = Math.min(1, purpose.rows / output);
  const reading = readCost(merge.join.left, cardinality) + readCost(merge.join.right, cardinality);
  const merging = share * (reading + mergeCost(left, right, output));
  const readingRight = readCost(plan.right, cardinality);
  if (kept !== null) {
    const building = readingRight + hashCostBy(plan.leftKeys, 0, right, 0);
    const probing = readCost(kept.left, cardinality) + hashCostBy(plan.leftKeys, left, 0, output);
    return merging < building + share * probing ? merge.plan : kept;
  }
  const hashing = readCost(plan.left, cardinality) + readingRight + hashCostBy(plan.leftKeys, left, right, output);
  return merging < hashing + (purpose.savesSort ? sortCost(output, purpose.rows) : 0) ? merge.plan : null;
}

/** Inputs that all come in the order are merged by it. */
function merged(plan: AppendPlan, wanted: readonly Wanted[], purpose: Purpose): Plan | null {
  if (plan.mergeKeys !== undefined) return startsWith(plan.mergeKeys, wanted) ? plan : null;
  const places = wanted.map(({ id }) => plan.columns.findIndex((column) => column.id === id));
  if (places.includes(-1) || wanted.some(({ id }) => id === plan.tableOid)) return null;
  const inputs = plan.inputs.map((input) => {
    const own = wanted.map((key, i) => ({ ...key, id: input.columns[places[i]!]!.id }));
    return ordered(input, own, purpose);
  });
  if (inputs.includes(null)) return null;
  const mergeKeys = wanted.map(({ id, descending, nullsFirst }, i): SortKey => {
    return { expr: columnExpr({ ...plan.columns[places[i]!]!, id }), descending, nullsFirst };
  });
  return Object.freeze({ ...plan, inputs: inputs as Plan[], mergeKeys });
}

/** Rows that are sorted further are sorted by the first keys, too. */
function startsWith(keys: readonly SortKey[], wanted: readonly Wanted[]): boolean {
  return (
    wanted.length <= keys.length &&
    wanted.every(({ id, descending, nullsFirst }, i) => {
      const { expr, ...key } = keys[i]!;
      return expr.kind === "column" && expr.id === id && key.descending === descending && key.nullsFirst === nullsFirst;
    })
  );
}

function into(plan: Plan, input: Plan | null): Plan | null {
  return input === null ? null : withChildren(plan, [input]);
}

function throughProject(plan: Extract<Plan, { kind: "project" }>, wanted: readonly Wanted[]): readonly Wanted[] | null {
  const mapped: Wanted[] = [];
  for (const key of wanted) {
    const expr = plan.exprs[plan.columns.findIndex((column) => column.id === key.id)];
    const columns = key.other === undefined && expr !== undefined ? columnsOfKey(expr) : null;
    if (columns === null) return null;
    mapped.push({ ...key, ...columns });
  }
  return mapped;
}

function orderedScan(scan: ScanPlan, wanted: readonly Wanted[], purpose: Purpose): Plan | null {
  if (scan.table.primaryKey !== null) {
    const direction = directionFor(scan, "primary key", 0, wanted);
    if (direction !== null) return direction === scan.reverse ? scan : Object.freeze({ ...scan, reverse: direction });
  }
  if (!purpose.mayUseIndex) return null;
  const ranges = keysOfScan(scan).flatMap((index) => {
    if (index === "primary key") return [];
    const range = rangeOf(scan, index);
    const direction = directionFor(range, index, range.prefix.length, wanted);
    return direction === null ? [] : Object.freeze({ ...range, reverse: direction });
  });
  // Statistics are read when somebody first asks for them.
  if (ranges.length === 0) return null;
  const costs = ranges.map((range) => costOfSome(range, purpose));
  const least = Math.min(...costs);
  return least < costOfSorting(scan, purpose) ? ranges[costs.indexOf(least)]! : null;
}

/** Of reading all rows and sorting those that pass. Without statistics an index is always taken. */
function costOfSorting(scan: ScanPlan, { cardinality, rows }: Purpose): number {
  if (!cardinality.isKnown(scan.table)) return Number.POSITIVE_INFINITY;
  const reading = scanCost(cardinality.tableRows(scan.table));
  return reading + sortCost(cardinality.rows(scan), rows) + LOOK_UP_ALWAYS;
}

/** Of as much of the range as has the rows that are asked for, if those that pass lie all over it. */
function costOfSome(range: IndexScanPlan, { cardinality, rows }: Purpose): number {
  if (!cardinality.isKnown(range.table)) return 0;
  const all = cardinality.rows(Object.freeze({ ...range, filter: null }));
  const passing = Math.max(1, cardinality.rows(range));
  return Math.min(1, rows / passing) * all * (findsRows(range) ? RECORD : LOOK_UP);
}

/**
 * Whether a scan of the key gives the order forwards (false), backwards (true) or not at all (null). The first `fixed`
 * columns of the key have one value in all rows.
 */
function directionFor(
  scan: ScanPlan | IndexScanPlan,
  index: IndexDef | "primary key",
  fixed: number,
  wanted: readonly Wanted[],
): boolean | null {
  const { table } = scan;
  const ids = keyColumnIds(table, index);
  const order = [...ids, ...lastOf(table, index).filter((id) => !ids.includes(id))];
  const tableColumns = new Map(scan.source.map((id, i) => [scan.columns[i]!.id, id]));
  const constant = new Set(ids.slice(0, fixed));
  let next = fixed;
  let reverse: boolean | null = null;
  for (const { id, descending, nullsFirst } of wanted) {
    const columnId = tableColumns.get(id);
    if (columnId === undefined) return null;
    if (constant.has(columnId)) continue;
    // No two rows are equal so far, further keys decide nothing.
    if (next === order.length && hasNoEquals(table, index)) break;
    if (order[next] !== columnId) return null;
    const column = index === "primary key" || next >= ids.length ? ASCENDING : index.columns[next]!;
    const backwards = descending !== column.descending;
    if (reverse !== null && backwards !== reverse) return null;
    if (isNullable(table, columnId) && nullsFirst !== (column.nullsFirst !== backwards)) return null;
    reverse = backwards;
    constant.add(columnId);
    next++;
  }
  return reverse ?? false;
}

const ASCENDING = { descending: false, nullsFirst: false };

/** Entries of an index that is not unique are in the order of the rows' keys where its own columns are equal. */
function lastOf(table: TableDef, index: IndexDef | "primary key"): readonly number[] {
  return index === "primary key" || index.unique ? [] : (table.primaryKey ?? []);
}

/** Whether no two rows have equal entries, with the rows' keys at the end of those that have them. */
function hasNoEquals(table: TableDef, index: IndexDef | "primary key"): boolean {
  if (index === "primary key" || lastOf(table, index).length > 0) return true;
  const isPlain = !index.where && index.columns.every(({ columnId }) => columnId !== EXPRESSION_COLUMN);
  return index.unique && isPlain && index.columns.every(({ columnId }) => !isNullable(table, columnId));
}

function isNullable(table: TableDef, columnId: number): boolean {
  if (table.primaryKey?.includes(columnId)) return false;
  return !table.columns.find((column) => column.id === columnId)!.notNull;
}
