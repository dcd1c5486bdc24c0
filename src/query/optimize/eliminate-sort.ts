/**
 * Drops a sort whose input comes in that order anyway, or would if its scan ran backwards: rows lie in the order of
 * their primary key, an index scan gives the index's order after the columns it holds fixed. Under a LIMIT a whole
 * scan is turned into a scan of the index that has the order, so that it can stop early. This is the "interesting
 * orders" of Selinger et al. (SIGMOD 1979).
 *
 *   Limit                                  Limit
 *     Sort (created DESC)            ⇒       Index Scan Backward using t_created_idx on t
 *       Seq Scan on t
 */
import { EXPRESSION_COLUMN, type IndexDef, type TableDef } from "../../catalog/table.js";
import type { ColumnId } from "../expr/expr.js";
import type { AppendPlan, IndexScanPlan, Plan, ScanPlan, SortKey } from "../plan/plan.js";
import { mapPlan, withChildren } from "../plan/walk.js";
import { keyColumnIds, keysOfScan } from "./key-conditions.js";
import type { Rule } from "./rule.js";

export const eliminateSort: Rule = {
  name: "eliminate-sort",
  apply: (plan) => mapPlan(mapPlan(plan, underLimit), alone),
};

function alone(plan: Plan): Plan {
  return plan.kind === "sort" ? (ordered(plan.input, wantedOf(plan.keys), false) ?? plan) : plan;
}

function underLimit(plan: Plan): Plan {
  if (plan.kind !== "limit" || plan.limit === null) return plan;
  return into(plan, withSortReplaced(plan.input)) ?? plan;
}

/** The plan without the sort that it is, or is a projection of. */
function withSortReplaced(plan: Plan): Plan | null {
  if (plan.kind === "project") return into(plan, withSortReplaced(plan.input));
  return plan.kind === "sort" ? ordered(plan.input, wantedOf(plan.keys), true) : null;
}

interface Wanted {
  readonly id: ColumnId;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** Null when a key is more than a column. */
function wantedOf(keys: readonly SortKey[]): readonly Wanted[] | null {
  const wanted = keys.flatMap(({ expr, descending, nullsFirst }) =>
    expr.kind === "column" ? [{ id: expr.id, descending, nullsFirst }] : [],
  );
  return wanted.length === keys.length ? wanted : null;
}

/** The plan, changed only in direction or access, if its rows then come in the order; otherwise null. */
function ordered(plan: Plan, wanted: readonly Wanted[] | null, mayUseIndex: boolean): Plan | null {
  if (wanted === null) return null;
  switch (plan.kind) {
    case "pointget":
      return plan;
    case "scan":
      return orderedScan(plan, wanted, mayUseIndex);
    case "indexscan": {
      const direction = directionFor(plan, plan.index, plan.prefix.length, wanted);
      if (direction === null) return null;
      return direction === plan.reverse ? plan : Object.freeze({ ...plan, reverse: direction });
    }
    case "filter":
    case "distinct":
      if (plan.kind === "distinct" && plan.on !== null) return null;
      return into(plan, ordered(plan.input, wanted, mayUseIndex));
    case "limit":
      // Another order below would be one of other rows.
      return ordered(plan.input, wanted, false) === plan.input ? plan : null;
    case "window":
      // Its own order comes from below, so nothing there may be turned round.
      return ordered(plan.input, wanted, false) === plan.input ? plan : null;
    case "sort":
      return startsWith(plan.keys, wanted) ? plan : null;
    case "project":
      return into(plan, ordered(plan.input, throughProject(plan, wanted), mayUseIndex));
    case "join":
    case "hashjoin": {
      // Both kinds of join go through their left rows in order; right and full joins add rows at the end.
      const fromLeft = wanted.every(({ id }) => plan.left.columns.some((column) => column.id === id));
      if (!fromLeft || plan.type === "right" || plan.type === "full") return null;
      const left = ordered(plan.left, wanted, false);
      if (left === null) return null;
      const joined = withChildren(plan, [left, plan.right]);
      return joined.kind === "hashjoin" ? Object.freeze({ ...joined, keepsLeftOrder: true as const }) : joined;
    }
    case "append":
      return merged(plan, wanted, mayUseIndex);
    default:
      return null;
  }
}

/** Inputs that all come in the order are merged by it. */
function merged(plan: AppendPlan, wanted: readonly Wanted[], mayUseIndex: boolean): Plan | null {
  if (plan.mergeKeys !== undefined) return startsWith(plan.mergeKeys, wanted) ? plan : null;
  const places = wanted.map(({ id }) => plan.columns.findIndex((column) => column.id === id));
  if (places.includes(-1) || wanted.some(({ id }) => id === plan.tableOid)) return null;
  const inputs = plan.inputs.map((input) => {
    const own = wanted.map((key, i) => ({ ...key, id: input.columns[places[i]!]!.id }));
    return ordered(input, own, mayUseIndex);
  });
  if (inputs.includes(null)) return null;
  const mergeKeys = wanted.map(({ id, descending, nullsFirst }, i): SortKey => {
    const { type, name } = plan.columns[places[i]!]!;
    return { expr: { kind: "column", id, type, name }, descending, nullsFirst };
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
    if (expr?.kind !== "column") return null;
    mapped.push({ ...key, id: expr.id });
  }
  return mapped;
}

function orderedScan(scan: ScanPlan, wanted: readonly Wanted[], mayUseIndex: boolean): Plan | null {
  if (scan.table.primaryKey !== null) {
    const direction = directionFor(scan, "primary key", 0, wanted);
    if (direction !== null) return direction === scan.reverse ? scan : Object.freeze({ ...scan, reverse: direction });
  }
  if (!mayUseIndex) return null;
  for (const index of keysOfScan(scan)) {
    const direction = index === "primary key" ? null : directionFor(scan, index, 0, wanted);
    if (direction !== null) return indexScanOf(scan, index, direction);
  }
  return null;
}

function indexScanOf(scan: ScanPlan, index: IndexDef | "primary key", reverse: boolean): IndexScanPlan {
  return Object.freeze({
    kind: "indexscan",
    table: scan.table,
    alias: scan.alias,
    source: scan.source,
    columns: scan.columns,
    index,
    prefix: [],
    keySets: null,
    lower: null,
    upper: null,
    filter: scan.filter,
    reverse,
    rowKey: scan.rowKey,
  });
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
  const tableColumns = new Map(scan.source.map((id, i) => [scan.columns[i]!.id, id]));
  const constant = new Set(ids.slice(0, fixed));
  let next = fixed;
  let reverse: boolean | null = null;
  for (const { id, descending, nullsFirst } of wanted) {
    const columnId = tableColumns.get(id);
    if (columnId === undefined) return null;
    if (constant.has(columnId)) continue;
    // All of a unique key without NULLs: no two rows are equal so far, further keys decide nothing.
    if (next === ids.length && isUniqueWithoutNulls(table, index)) break;
    if (ids[next] !== columnId) return null;
    const column = index === "primary key" ? ASCENDING : index.columns[next]!;
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

function isUniqueWithoutNulls(table: TableDef, index: IndexDef | "primary key"): boolean {
  if (index === "primary key") return true;
  const isPlain = !index.where && index.columns.every(({ columnId }) => columnId !== EXPRESSION_COLUMN);
  return index.unique && isPlain && index.columns.every(({ columnId }) => !isNullable(table, columnId));
}

function isNullable(table: TableDef, columnId: number): boolean {
  if (table.primaryKey?.includes(columnId)) return false;
  return !table.columns.find((column) => column.id === columnId)!.notNull;
}
