/**
 * How a scan gets at its rows: by the whole primary key or a unique index (one get), by a range of the primary key or
 * of an index, or by reading everything. Takes the key that binds most columns; conditions that the key takes over
 * leave the filter, the others stay in it.
 *
 *   Seq Scan on t                             Point Get using t_pkey on t
 *     Filter: ((id = $1) AND (x > 2))   ⇒       Index Cond: (id = $1)
 *                                               Filter: (x > 2)
 *
 * After Selinger et al., "Access Path Selection in a Relational Database Management System", SIGMOD 1979, with ranks
 * in place of estimates between keys; statistics tell when an index would read too much.
 */
import { graphDefOf } from "../../catalog/graph.js";
import type { IndexDef } from "../../catalog/table.js";
import type { Expr } from "../expr/expr.js";
import { andOf, columnsOf, conjuncts } from "../expr/walk.js";
import type { IndexScanPlan, Plan, ScanPlan } from "../plan/plan.js";
import { mapPlan } from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import { findsRows, LOOK_UP, RECORD, scanCost } from "./join-cost.js";
import { type KeyCondition, keyColumnIds, keyConditionsOf, keysOfScan } from "./key-conditions.js";
import type { Rule } from "./rule.js";

export const chooseAccess: Rule = {
  name: "choose-access",
  places: [430],
  apply: (plan, cardinality) =>
    mapPlan(plan, (node) => {
      if (node.kind !== "scan") return node;
      const access = accessFor(node);
      return access.kind === "indexscan" && readsTooMuch(access, cardinality) ? node : access;
    }),
};

/**
 * An index costs a look-up per row, unless its entries have all that is read: over a large part of the table reading
 * all of it is cheaper.
 */
export function readsTooMuch(scan: IndexScanPlan, cardinality: Cardinality): boolean {
  if (scan.index === "primary key" || !cardinality.isKnown(scan.table)) return false;
  const unfiltered = Object.freeze({ ...scan, filter: null });
  const perRow = findsRows(scan) ? RECORD : LOOK_UP;
  return cardinality.rows(unfiltered) * perRow > scanCost(cardinality.tableRows(scan.table)) + LOOK_UP_ALWAYS;
}

/** Look-ups that are done without further thought, by their cost: the segments may not be there yet. */
export const LOOK_UP_ALWAYS = 2000;

/** What a key makes of the conditions. */
interface Access {
  readonly index: IndexDef | "primary key";
  readonly equal: readonly KeyCondition[];
  readonly among: KeyCondition | null;
  readonly lower: KeyCondition | null;
  readonly upper: KeyCondition | null;
  /** IS NULL of the column after the equal ones. */
  readonly isNull: KeyCondition | null;
  readonly isPoint: boolean;
  readonly rank: number;
}

/** The scan, or the node that reads the same rows by a key. */
export function accessFor(scan: ScanPlan): Plan {
  const conditions = keyConditionsOf(scan);
  if (conditions.length === 0 && scan.indexExprs === undefined) return scan;
  let best: Access | null = null;
  for (const index of keysOfScan(scan)) {
    const access = accessBy(index, scan, conditions);
    if (access.rank > (best?.rank ?? 0)) best = access;
  }
  return best === null ? scan : planOf(scan, best);
}

/** One stretch of the index, with what the conditions say of where it begins and ends; else all of it. */
export function rangeOf(scan: ScanPlan, index: IndexDef): IndexScanPlan {
  const access = accessBy(index, scan, keyConditionsOf(scan));
  return planOf(scan, { ...access, among: null, isPoint: false }) as IndexScanPlan;
}

/** More than any number of bound columns: one row at most. */
const POINT_RANK = 10_000;
/** A list over a whole unique key: one get per element. */
const POINTS_RANK = 5000;
const EQUAL_RANK = 10;
const AMONG_RANK = 8;
const RANGE_RANK = 3;
/** Rows lie under the primary key, an index costs a second read. */
const PRIMARY_KEY_RANK = 1;
/** A partial index leaves rows out by itself. */
const PARTIAL_RANK = 2;

function accessBy(index: IndexDef | "primary key", scan: ScanPlan, conditions: readonly KeyCondition[]): Access {
  const ids = keyColumnIds(scan.table, index);
  const find = (columnId: number | undefined, ...ops: KeyCondition["op"][]) =>
    conditions.find((condition) => condition.columnId === columnId && ops.includes(condition.op)) ?? null;
  // What an outer row says is taken for the narrower bound than what all rows have in common.
  const findBound = (columnId: number | undefined, ...ops: KeyCondition["op"][]) =>
    conditions.find(
      ({ columnId: id, op, values }) => id === columnId && ops.includes(op) && columnsOf(values[0]!).size > 0,
    ) ?? find(columnId, ...ops);
  const equal: KeyCondition[] = [];
  for (const id of ids) {
    const condition = find(id, "=");
    if (condition === null) break;
    equal.push(condition);
  }
  const unique = index === "primary key" || index.unique;
  const isPoint = unique && equal.length === ids.length;
  const among = isPoint ? null : find(ids[equal.length], "in", "any");
  const isNull = isPoint || among !== null ? null : find(ids[equal.length], "null");
  const fixed = equal.length + (among === null ? 0 : 1);
  const lower = isNull === null ? findBound(ids[fixed], ">", ">=") : null;
  const upper = isNull === null ? findBound(ids[fixed], "<", "<=") : null;
  let rank = equal.length * EQUAL_RANK;
  if (isPoint) rank += POINT_RANK;
  if (among !== null) rank += unique && fixed === ids.length ? POINTS_RANK : AMONG_RANK;
  if (lower !== null) rank += RANGE_RANK;
  if (upper !== null) rank += RANGE_RANK;
  if (isNull !== null) rank += AMONG_RANK;
  if (rank > 0 && index === "primary key") rank += PRIMARY_KEY_RANK;
  // Nodes with a label are found by nodes-by-label.ts, later: a join may still look them up by another key.
  if (index !== "primary key" && index.where && (rank > 0 || graphDefOf(scan.table) === null)) rank += PARTIAL_RANK;
  return { index, equal, among, lower, upper, isNull, isPoint, rank };
}

function planOf(scan: ScanPlan, access: Access): Plan {
  const { index, equal, among, lower, upper, isNull } = access;
  const taken = [...equal, among, lower, upper, isNull].filter((condition) => condition !== null);
  const used = new Set(taken.filter(({ isWider }) => !isWider).map(({ condition }) => condition));
  const common = {
    table: scan.table,
    alias: scan.alias,
    source: scan.source,
    columns: scan.columns,
    index,
    filter: andOf(conjuncts(scan.filter).filter((condition) => !used.has(condition))),
    rowKey: scan.rowKey,
  };
  const values: Expr[] = equal.map((condition) => condition.values[0]!);
  if (access.isPoint) return Object.freeze({ kind: "pointget", ...common, key: values });
  return Object.freeze({
    kind: "indexscan",
    ...common,
    prefix: values,
    keySets: among?.values ?? null,
    ...(among?.op === "any" && { keyArrays: true }),
    lower: boundOf(lower),
    upper: boundOf(upper),
    ...(isNull !== null && { isNull: true }),
    reverse: scan.reverse,
  });
}

function boundOf(condition: KeyCondition | null): IndexScanPlan["lower"] {
  return condition && { expr: condition.values[0]!, inclusive: condition.op.length === 2 };
}
