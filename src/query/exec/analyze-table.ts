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
import { inTurns } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { sortRows } from "./sort-rows.js";
import type { TableWork } from "./table-data.js";
import { decoderOf, layoutOf } from "./table-layout.js";

const SAMPLE_ROWS = 30_000;
const COMMON_MAX = 50;
const HISTOGRAM_BOUNDS = 65;
/** Entries between two looks at the clock. */
const STEP_ENTRIES = 256;

export async function analyzeTable(work: TableWork, table: TableDef): Promise<TableStatistics> {
  const sample: Uint8Array[] = [];
  let rows = 0;
  const random = lehmer();
  const cursor = work.tx.scan({ ...prefixRange(layoutOf(table).rowPrefixOf(work.tenantNumber)), only: "values" });
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
    const found = await ofColumn(work, table, column, sample, rows);
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

async function ofColumn(
  work: TableWork,
  table: TableDef,
  column: ColumnDef,
  sample: readonly Uint8Array[],
  rows: number,
): Promise<ColumnStatistics | null> {
  const decode = decoderOf(layoutOf(table), [column.id]);
  const values = emptyColumns(1);
  const counts = new Map<Mark, number>();
  let present = 0;
  let unmarked = false;
  const count = (row: number): void => {
    if (unmarked) return;
    decode(sample[row]!, values, 0);
    const value = values[0]![0]!;
    if (value === null) return;
    const mark = markOf(value);
    if (mark === null) unmarked = true;
    else {
      present++;
      counts.set(mark, (counts.get(mark) ?? 0) + 1);
    }
  };
  await inTurns(work, sample.length, count, () => undefined);
  if (unmarked) return null;
  const nullFraction = sample.length === 0 ? 0 : (sample.length - present) / sample.length;
  const common = commonOf(counts, present, sample.length, rows);
  const outstanding = new Set(common.map(({ value }) => value));
  return {
    distinct: distinctOf(counts, present, rows * (1 - nullFraction)),
    nullFraction,
    common,
    histogram: await histogramOf(work, counts, outstanding),
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
  const most = mostFrequent(counts);
  const whole = counts.size <= COMMON_MAX && (sampled === rows || most.every(([, count]) => count > 1));
  const average = present / Math.max(1, counts.size);
  const kept = whole ? most : most.filter(([, count]) => count > 2 && count > 1.25 * average);
  return kept.map(([value, count]) => ({ value, fraction: count / sampled }));
}

/** COMMON_MAX of them at most, by falling frequency; a sort of all takes too long at a time. */
function mostFrequent(counts: ReadonlyMap<Mark, number>): readonly (readonly [Mark, number])[] {
  const most: (readonly [Mark, number])[] = [];
  for (const entry of counts) {
    if (most.length === COMMON_MAX && entry[1] <= most[COMMON_MAX - 1]![1]) continue;
    let place = most.length;
    while (place > 0 && most[place - 1]![1] < entry[1]) place--;
    most.splice(place, 0, entry);
    if (most.length > COMMON_MAX) most.pop();
  }
  return most;
}

async function histogramOf(
  work: TableWork,
  counts: ReadonlyMap<Mark, number>,
  outstanding: ReadonlySet<Mark>,
): Promise<readonly Mark[]> {
  const values: Mark[] = [];
  let total = 0;
  for (const [value, count] of counts) {
    if (outstanding.has(value)) continue;
    values.push(value);
    total += count;
  }
  if (values.length < 2) return [];
  const order = (a: number, b: number) => (values[a]! < values[b]! ? -1 : values[a]! > values[b]! ? 1 : 0);
  const sorted = await sortRows(work, values.length, order);
  const bounds: Mark[] = [];
  let seen = 0;
  for (const row of sorted) {
    seen += counts.get(values[row]!)!;
    const wanted = (bounds.length * total) / (HISTOGRAM_BOUNDS - 1);
    if (bounds.length === 0 || seen >= wanted) bounds.push(values[row]!);
  }
  const last = values[sorted[sorted.length - 1]!]!;
  if (bounds.at(-1) !== last) bounds.push(last);
  return bounds;
}
