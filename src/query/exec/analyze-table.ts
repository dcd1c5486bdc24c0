/**
 * ANALYZE of one table: counts all rows and draws a sample of them, from which it estimates each column's different
 * values, NULLs, common values and histogram. The session calls it; it gives the actor's loop its turns.
 *
 * The sample is Vitter's algorithm R ("Random Sampling with a Reservoir", TOMS 1985); the number of different values
 * is Haas and Stokes' Duj1 ("Sampling-Based Estimation of the Number of Distinct Values", IBM RJ 10025, 1998), which
 * PostgreSQL uses.
 */
import { type ColumnStatistics, type Mark, markOf, type TableStatistics } from "../../catalog/statistics.js";
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { prefixRange } from "../../storage/keys.js";
import { emptyColumns } from "./row-buffer.js";
import type { TableWork } from "./table-data.js";
import { decoderOf, layoutOf } from "./table-layout.js";

const SAMPLE_ROWS = 30_000;
const COMMON_MAX = 50;
const HISTOGRAM_BOUNDS = 65;
/** Entries between two looks at the clock. */
const STEP_ENTRIES = 512;

export async function analyzeTable(work: TableWork, table: TableDef): Promise<TableStatistics> {
  const sample: Uint8Array[] = [];
  let rows = 0;
  const random = lehmer();
  const cursor = work.tx.scan(prefixRange(layoutOf(table).rowPrefixOf(work.tenantNumber)));
  try {
    for (;;) {
      work.checkpoint();
      const { keys, values } = cursor.next(STEP_ENTRIES);
      if (keys.length === 0) break;
      for (let i = 0; i < keys.length; i++, rows++) {
        if (rows < SAMPLE_ROWS) sample.push(Buffer.from(values[i]!));
        else {
          const place = Math.floor(random() * (rows + 1));
          if (place < SAMPLE_ROWS) sample[place] = Buffer.from(values[i]!);
        }
      }
      if (work.shouldYield()) await work.yieldTurn();
    }
  } finally {
    cursor.close();
  }
  const columns: Record<number, ColumnStatistics> = {};
  for (const column of table.columns) {
    work.checkpoint();
    if (work.shouldYield()) await work.yieldTurn();
    const found = ofColumn(table, column, sample, rows);
    if (found !== null) columns[column.id] = found;
  }
  return { rows, columns };
}

/** Lehmer's generator (Park and Miller, CACM 1988) with a fixed seed: the same rows give the same statistics. */
function lehmer(): () => number {
  let state = 48_271;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function ofColumn(
  table: TableDef,
  column: ColumnDef,
  sample: readonly Uint8Array[],
  rows: number,
): ColumnStatistics | null {
  const decode = decoderOf(layoutOf(table), [column.id]);
  const values = emptyColumns(1);
  for (const [row, record] of sample.entries()) decode(record, values, row);
  const counts = new Map<Mark, number>();
  let present = 0;
  for (const value of values[0]!) {
    if (value === null) continue;
    const mark = markOf(value);
    if (mark === null) return null;
    present++;
    counts.set(mark, (counts.get(mark) ?? 0) + 1);
  }
  const nullFraction = sample.length === 0 ? 0 : (sample.length - present) / sample.length;
  const common = commonOf(counts, present, sample.length, rows);
  const outstanding = new Set(common.map(({ value }) => value));
  return {
    distinct: distinctOf(counts, present, rows * (1 - nullFraction)),
    nullFraction,
    common,
    histogram: histogramOf(counts, outstanding),
  };
}

/** d·n / (n − f₁ + f₁·n/N) of d different values in n rows, f₁ of them seen once, out of N rows. */
function distinctOf(counts: ReadonlyMap<Mark, number>, sampled: number, total: number): number {
  if (sampled === 0) return 0;
  let once = 0;
  for (const count of counts.values()) if (count === 1) once++;
  const estimate = (counts.size * sampled) / (sampled - once + (once * sampled) / total);
  return Math.round(Math.min(Math.max(estimate, counts.size), total));
}

/** Every value when there are few; otherwise those clearly more frequent than the average one. */
function commonOf(counts: ReadonlyMap<Mark, number>, present: number, sampled: number, rows: number) {
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  const whole = sorted.length <= COMMON_MAX && (sampled === rows || sorted.every(([, count]) => count > 1));
  const average = present / Math.max(1, sorted.length);
  const kept = whole ? sorted : sorted.slice(0, COMMON_MAX).filter(([, count]) => count > 2 && count > 1.25 * average);
  return kept.map(([value, count]) => ({ value, fraction: count / sampled }));
}

function histogramOf(counts: ReadonlyMap<Mark, number>, outstanding: ReadonlySet<Mark>): readonly Mark[] {
  const sorted = [...counts].filter(([value]) => !outstanding.has(value));
  if (sorted.length < 2) return [];
  sorted.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  let total = 0;
  for (const [, count] of sorted) total += count;
  const bounds: Mark[] = [];
  let seen = 0;
  for (const [value, count] of sorted) {
    seen += count;
    const wanted = (bounds.length * total) / (HISTOGRAM_BOUNDS - 1);
    if (bounds.length === 0 || seen >= wanted) bounds.push(value);
  }
  const last = sorted.at(-1)![0];
  if (bounds.at(-1) !== last) bounds.push(last);
  return bounds;
}
