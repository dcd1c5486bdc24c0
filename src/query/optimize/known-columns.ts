/**
 * Facts about a statement's columns: the table each comes from and that table's statistics, for selectivity.ts and
 * cardinality.ts. Tables that were never analyzed get guesses.
 */
import type { ColumnStatistics, StatisticsSource, TableStatistics } from "../../catalog/statistics.js";
import { type Mark, markOf } from "../../catalog/statistics.js";
import type { TableDef } from "../../catalog/table.js";
import type { ColumnId, Expr } from "../expr/expr.js";
import { columnsOf } from "../expr/walk.js";
import type { Plan } from "../plan/plan.js";
import { keyColumnIds, keysOfTable } from "./key-conditions.js";

export const UNKNOWN_ROWS = 20_000;
export const UNKNOWN_DISTINCT = 200;
export const UNKNOWN_RANGE = 1 / 3;

export interface ColumnInfo {
  readonly table: TableDef;
  readonly tableRows: number;
  readonly columnId: number;
  readonly statistics: ColumnStatistics | null;
}

export class KnownColumns {
  private readonly columns = new Map<ColumnId, ColumnInfo>();
  private readonly tables = new Map<number, TableStatistics | null>();

  constructor(private readonly source: StatisticsSource | null) {}

  of(id: ColumnId): ColumnInfo | undefined {
    return this.columns.get(id);
  }

  learn(id: ColumnId, info: ColumnInfo): void {
    this.columns.set(id, info);
  }

  /** Columns that a plan reads of a table. */
  register(plan: Extract<Plan, { kind: "scan" | "textsearch" | "pointget" | "indexscan" }>): void {
    plan.source.forEach((columnId, i) => {
      this.columns.set(plan.columns[i]!.id, this.infoOf(plan.table, columnId));
    });
  }

  /** Columns that are other columns under a new id are known as those. */
  passOn(plan: Plan, exprs: readonly Expr[]): void {
    exprs.forEach((expr, i) => {
      const info = expr.kind === "column" ? this.columns.get(expr.id) : undefined;
      if (info !== undefined) this.columns.set(plan.columns[i]!.id, info);
    });
  }

  infoOf(table: TableDef, columnId: number): ColumnInfo {
    const statistics = this.tableStatistics(table);
    return {
      table,
      tableRows: statistics?.rows ?? UNKNOWN_ROWS,
      columnId,
      statistics: statistics?.columns[columnId] ?? null,
    };
  }

  tableStatistics(table: TableDef): TableStatistics | null {
    let statistics = this.tables.get(table.id);
    if (statistics === undefined) {
      statistics = this.source?.of(table) ?? null;
      this.tables.set(table.id, statistics);
    }
    return statistics;
  }

  /** Whether the table was analyzed. */
  isKnown(table: TableDef): boolean {
    const statistics = this.tableStatistics(table);
    return statistics !== null && Object.keys(statistics.columns).length > 0;
  }

  /** Rows of the whole table, whatever a scan's filter leaves of them. */
  tableRows(table: TableDef): number {
    return this.tableStatistics(table)?.rows ?? UNKNOWN_ROWS;
  }

  /** Different values of the expression among `rows` rows. */
  distinct(expr: Expr, rows: number): number {
    const ids = [...columnsOf(expr)];
    if (ids.length === 0) return 1;
    let product = 1;
    for (const id of ids) product *= this.distinctOfColumn(id);
    return Math.max(1, Math.min(product, rows));
  }

  distinctOfColumn(id: ColumnId): number {
    return this.distinctIn(this.columns.get(id) ?? null);
  }

  distinctIn(info: ColumnInfo | null): number {
    if (info === null) return UNKNOWN_DISTINCT;
    if (info.statistics !== null) return Math.max(1, info.statistics.distinct);
    if (uniqueKeyAmong(info.table, new Set([info.columnId]))) return Math.max(1, info.tableRows);
    // A key of several columns leads with one that repeats itself.
    return Math.max(1, Math.min(UNKNOWN_DISTINCT * 10, info.tableRows / 5));
  }

  /** column = value: its own frequency if it is a common value, otherwise an even share of the rest. */
  equalTo(info: ColumnInfo | null, value: Expr): number {
    const statistics = info?.statistics ?? null;
    if (statistics === null) return 1 / this.distinctIn(info);
    const mark = constantMark(value);
    const found = mark === null ? undefined : statistics.common.find((entry) => entry.value === mark);
    if (found !== undefined) return found.fraction;
    const commonRows = statistics.common.reduce((sum, { fraction }) => sum + fraction, 0);
    const others = statistics.distinct - statistics.common.length;
    if (mark === null) return (1 - statistics.nullFraction) / Math.max(1, statistics.distinct);
    if (others <= 0) return 0.5 / Math.max(1, info!.tableRows);
    return clamp(1 - commonRows - statistics.nullFraction) / others;
  }

  /** Part of the rows whose value lies below the given one, by common values and the histogram. */
  below(info: ColumnInfo | null, value: Expr): number {
    const statistics = info?.statistics ?? null;
    const mark = constantMark(value);
    if (statistics === null || mark === null) return UNKNOWN_RANGE;
    let part = 0;
    let commonRows = 0;
    for (const entry of statistics.common) {
      commonRows += entry.fraction;
      if (entry.value < mark) part += entry.fraction;
      else if (entry.value === mark) part += entry.fraction / 2;
    }
    const others = clamp(1 - commonRows - statistics.nullFraction);
    return clamp(part + others * positionIn(statistics.histogram, mark));
  }
}

function uniqueKeyAmong(table: TableDef, ids: ReadonlySet<number>): boolean {
  return keysOfTable(table).some(
    (key) => (key === "primary key" || key.unique) && keyColumnIds(table, key).every((id) => ids.has(id)),
  );
}

function constantMark(expr: Expr): Mark | null {
  if (expr.kind === "cast") return constantMark(expr.input);
  return expr.kind === "const" && expr.value !== null ? markOf(expr.value) : null;
}

/** 0 before the first bound, 1 after the last; numbers are interpolated within their group. */
function positionIn(histogram: readonly Mark[], mark: Mark): number {
  const groups = histogram.length - 1;
  if (groups < 1) return 0.5;
  const next = histogram.findIndex((bound) => bound > mark);
  if (next === 0) return 0;
  if (next < 0) return 1;
  const [low, high] = [histogram[next - 1]!, histogram[next]!];
  const within =
    typeof low === "number" && typeof high === "number" && typeof mark === "number" ? (mark - low) / (high - low) : 0.5;
  return (next - 1 + within) / groups;
}

/** Into 0 to 1; never quite 0, since estimates are multiplied. */
export function clamp(selectivity: number): number {
  return Math.min(1, Math.max(selectivity, 1e-9));
}
