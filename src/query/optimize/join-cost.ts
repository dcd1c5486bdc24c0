/**
 * What a join costs by each method, in microseconds as measured on this engine, rounded. Used for the order of joins and
 * for the method of each, so that both see the same prices. What matters is their proportion: a row of a column segment
 * costs little, a row fetched by its key some hundred times as much.
 */
import type { ColumnId, Expr } from "../expr/expr.js";
import type { JoinType, Plan, ScanPlan } from "../plan/plan.js";
import { childrenOf } from "../plan/walk.js";
import type { Cardinality } from "./cardinality.js";
import { keyColumnIds, keysOfTable } from "./key-conditions.js";

/** A row put into a hash table, a row looked up there, a row handed on, a row fetched by a key of its table. */
const BUILD = 0.4;
const PROBE = 0.2;
const OUTPUT = 0.15;
export const LOOK_UP = 16;
/** A row put into its group. */
const GROUP = 0.5;
const GROUP_SEGMENT_ROW = 0.1;
/** A plan opened once more. */
const OPEN = 2;
/** A pair tried by a nested loop. */
const PAIR = 0.05;
/** A row of a scan: small tables are read from their records, large ones from column segments. */
const RECORD = 1;
const SEGMENT_ROW = 0.05;
const RECORDS_MAX = 2048;

/** Left rows looked up one by one, whatever the right side costs; `output` rows come of it. */
export function lookUpCost(left: number, output: number): number {
  return left * LOOK_UP + output * OUTPUT;
}

/** A table of the right rows, probed with the left ones. */
export function hashCost(left: number, right: number, output: number): number {
  return right * BUILD + left * PROBE + output * OUTPUT;
}

/** Whichever side the table is built of. */
export function hashCostOf(left: number, right: number, output: number): number {
  return Math.min(hashCost(left, right, output), hashCost(right, left, output));
}

export function nestedLoopCost(left: number, right: number, output: number): number {
  return left * right * PAIR + right * BUILD + output * OUTPUT;
}

/** Rows put into groups; straight from a scan by one key that is done on the segments' arrays. */
export function groupCost(rows: number, fromSegments: boolean): number {
  return rows * (fromSegments ? GROUP_SEGMENT_ROW : GROUP);
}

/** A right side that is opened and read anew for each left row. */
export function lateralCost(left: number, right: number, output: number): number {
  return left * (OPEN + right) + output * OUTPUT;
}

export function scanCost(rows: number): number {
  return rows <= RECORDS_MAX ? rows * RECORD : RECORDS_MAX * RECORD + rows * SEGMENT_ROW;
}

/** Reading an input: the rows that its scans go through. */
export function readCost(plan: Plan, cardinality: Cardinality): number {
  switch (plan.kind) {
    case "scan":
      return scanCost(cardinality.tableRows(plan.table)) + cardinality.rows(plan) * OUTPUT;
    case "indexscan":
    case "pointget":
      return cardinality.rows(plan) * (plan.index === "primary key" ? RECORD : LOOK_UP);
    case "values":
      return plan.rows.length;
    default:
      return childrenOf(plan).reduce(
        (cost, input) => cost + readCost(input, cardinality) + cardinality.rows(input) * PROBE,
        cardinality.rows(plan) * OUTPUT,
      );
  }
}

/** True when some key of the scan's table begins with a column that an equality gives. */
export function servesLookUp(scan: ScanPlan, equal: readonly Expr[]): boolean {
  const tableColumns = new Map<ColumnId, number>(scan.source.map((id, i) => [scan.columns[i]!.id, id]));
  const given = new Set<number>();
  for (const condition of equal) {
    if (condition.kind !== "call" || condition.fn.operator !== "=") continue;
    for (const arg of condition.args) {
      const id = arg.kind === "column" ? tableColumns.get(arg.id) : undefined;
      if (id !== undefined) given.add(id);
    }
  }
  return keysOfTable(scan.table).some((key) => given.has(keyColumnIds(scan.table, key)[0]!));
}

/** The same for the scans of an append, all of them. */
export function looksUpIn(plan: Plan, equal: readonly Expr[]): boolean {
  if (plan.kind === "scan") return servesLookUp(plan, equal);
  if (plan.kind !== "append") return false;
  // Columns go by position.
  return plan.inputs.every(
    (input) => input.kind === "scan" && servesLookUp({ ...input, columns: plan.columns }, equal),
  );
}

export function canLookUp(type: JoinType): boolean {
  return type !== "right" && type !== "full";
}
