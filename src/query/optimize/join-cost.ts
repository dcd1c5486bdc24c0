/**
 * What a join costs by each method, in microseconds as measured on this engine, rounded. Used for the order of joins
 * and for the method of each, so that both see the same prices. What matters is their proportion: a row of a column
 * segment costs little, a row fetched by its key some hundred times as much.
 */
import type { SqlType } from "../../values/values.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { placesInEntry } from "../plan/covering.js";
import type { IndexScanPlan, JoinType, Plan, ScanPlan } from "../plan/plan.js";
import { childrenOf } from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import { keyColumnIds, keysOfTable } from "./key-conditions.js";

/** A row put into a hash table, a row looked up there, a row handed on. */
const BUILD = 0.15;
const PROBE = 0.03;
const OUTPUT = 0.1;
/** A row fetched by its whole key; a range of a key opened, or a row fetched by what an index says of it. */
const POINT = 5;
export const LOOK_UP = 16;
/** A row of either side of a merge join. */
const MERGE = 0.22;
/** How much more a hash table costs whose keys are not numbers in typed arrays. */
const MAP_FACTOR = 4;
/** Rows of a table that fit into the memory of a statement, roughly, and what it costs to put a row on disk. */
const TABLE_ROWS_MAX = 4_000_000;
const SPILLED_ROW = 2;
/** A comparison of a sort. */
const COMPARE = 0.04;
/** A row put into its group. */
const GROUP = 0.2;
const GROUP_SEGMENT_ROW = 0.06;
/** A plan opened once more. */
const OPEN = 2;
/** A pair tried by a nested loop. */
const PAIR = 0.05;
/** A row of a scan: small tables are read from their records, large ones from column segments. */
export const RECORD = 1;
const SEGMENT_ROW = 0.05;
/** A row that a scan hands on, in arrays of the segment. */
const SEGMENT_OUTPUT = 0.02;
const RECORDS_MAX = 2048;

/** How a key finds rows: one by all of a unique key, or a range of the rows or of an index's entries. */
export type LookUp = "point" | "rows" | "entries";

/** The given number of look-ups, which find the given number of rows, whatever the table's size. */
export function lookUpCost(by: LookUp, lookUps: number, found: number): number {
  return by === "point" ? lookUps * POINT : lookUps * LOOK_UP + found * (by === "rows" ? RECORD : LOOK_UP / 2);
}

/** Rows handed on. */
export function outputCost(rows: number): number {
  return rows * OUTPUT;
}

/** A table of the right rows, probed with the left ones. */
export function hashCost(left: number, right: number, output: number): number {
  return right * BUILD + left * PROBE + output * OUTPUT;
}

/** Whichever side the table is built of. */
export function hashCostOf(left: number, right: number, output: number): number {
  return Math.min(hashCost(left, right, output), hashCost(right, left, output));
}

/** The same for a join by these keys, the table being made of the right side. */
export function hashCostBy(keys: readonly Expr[], left: number, right: number, output: number): number {
  const factor = keys.every(({ type }) => NUMBER_KEYS.has(type.name)) ? 1 : MAP_FACTOR;
  const spilling = right > TABLE_ROWS_MAX ? (left + right) * SPILLED_ROW : 0;
  return factor * (right * BUILD + left * PROBE) + spilling + output * OUTPUT;
}

/** Types whose values hash joins compare as numbers (exec/number-keys.ts). */
const NUMBER_KEYS: ReadonlySet<SqlType["name"]> = new Set([
  "int2",
  "int4",
  "int8",
  "oid",
  "date",
  "time",
  "timestamp",
  "timestamptz",
]);

/** Two inputs that come in the order of the keys. */
export function mergeCost(left: number, right: number, output: number): number {
  return (left + right) * MERGE + output * OUTPUT;
}

/** Sorting rows of which only the first few are wanted. */
export function sortCost(rows: number, wanted: number): number {
  return rows * (OUTPUT + COMPARE * Math.log2(Math.max(2, Math.min(rows, wanted))));
}

export function nestedLoopCost(left: number, right: number, output: number): number {
  return left * right * PAIR + right * BUILD + output * OUTPUT;
}

/** Rows put into groups; straight from a scan by one key that is done on the segments' arrays. */
export function groupCost(rows: number, fromSegments: boolean): number {
  return rows * (fromSegments ? GROUP_SEGMENT_ROW : GROUP);
}

/** Rows kept once, and read by so many. */
export function sharingCost(rows: number, readers: number): number {
  return rows * (BUILD + readers * OUTPUT);
}

/** A right side that is opened and read again for each left row. */
export function lateralCost(left: number, right: number, output: number): number {
  return left * (OPEN + right) + output * OUTPUT;
}

export function scanCost(rows: number): number {
  return rows <= RECORDS_MAX ? rows * RECORD : RECORDS_MAX * RECORD + rows * SEGMENT_ROW;
}

/** Reading an input: the rows that its scans go through. */
export function readCost(plan: Plan, cardinality: Cardinality): number {
  switch (plan.kind) {
    case "scan": {
      const all = cardinality.tableRows(plan.table);
      return scanCost(all) + cardinality.rows(plan) * (all <= RECORDS_MAX ? OUTPUT : SEGMENT_OUTPUT);
    }
    case "indexscan":
      return cardinality.rows(plan) * (findsRows(plan) ? RECORD : LOOK_UP);
    case "pointget":
      return plan.index === "primary key" ? RECORD : LOOK_UP;
    case "values":
      return plan.rows.length;
    default:
      return childrenOf(plan).reduce(
        (cost, input) => cost + readCost(input, cardinality) + cardinality.rows(input) * PROBE,
        cardinality.rows(plan) * OUTPUT,
      );
  }
}

/** Whether what the scan goes through has all that it reads: the rows themselves, or entries that cover it. */
export function findsRows(scan: IndexScanPlan): boolean {
  return scan.index === "primary key" || placesInEntry(scan) !== null;
}

/** The best way by which a key of the scan's table finds rows, given the columns that equalities bind; or none. */
export function lookUpBy(scan: ScanPlan, equal: readonly Expr[]): LookUp | null {
  const tableColumns = new Map<ColumnId, number>(scan.source.map((id, i) => [scan.columns[i]!.id, id]));
  const given = new Set<number>();
  for (const condition of equal) {
    if (condition.kind !== "call" || condition.fn.operator !== "=") continue;
    for (const arg of condition.args) {
      const id = arg.kind === "column" ? tableColumns.get(arg.id) : undefined;
      if (id !== undefined) given.add(id);
    }
  }
  let best: LookUp | null = null;
  for (const key of keysOfTable(scan.table)) {
    const ids = keyColumnIds(scan.table, key);
    if (!given.has(ids[0]!)) continue;
    if ((key === "primary key" || key.unique) && ids.every((id) => given.has(id))) return "point";
    best = key === "primary key" ? "rows" : (best ?? "entries");
  }
  return best;
}

/** The same for an append: by keys of all its scans. */
export function looksUpIn(plan: Plan, equal: readonly Expr[]): LookUp | null {
  if (plan.kind === "scan") return lookUpBy(plan, equal);
  if (plan.kind !== "append") return null;
  // Columns go by position.
  const ways = plan.inputs.map((input) =>
    input.kind === "scan" ? lookUpBy({ ...input, columns: plan.columns }, equal) : null,
  );
  return ways.includes(null) ? null : ways.includes("entries") ? "entries" : ways.includes("rows") ? "rows" : "point";
}

export function canLookUp(type: JoinType): boolean {
  return type !== "right" && type !== "full";
}
