/**
 * ANALYZE of one table: estimates each column's different values, NULLs, common values and histogram from a sample of
 * the rows (sample-table.ts). The session calls it; it gives the actor's loop its turns.
 *
 * The number of different values is Haas and Stokes' Duj1 ("Sampling-Based Estimation of the Number of Distinct
 * Values", IBM RJ 10025, 1998), which PostgreSQL uses.
 */
import type { ColumnStatistics, Mark, TableStatistics } from "../../catalog/statistics.js";
import type { TableDef } from "../../catalog/table.js";
import { giveWay } from "../../protocol/turns.js";
import { inTurns } from "./operator.js";
import { type SampleWork, TableSample } from "./sample-table.js";
import { sortRows } from "./sort-rows.js";
import type { TableWork } from "./table-data.js";

const COMMON_MAX = 50;
const HISTOGRAM_BOUNDS = 65;
/** Different texts, about, that make a histogram: they are compared one by one, and some hundred for each bound are enough. */
const SORTED_TEXTS = 8192;

/** The different values of a column in the sample, and how often each is there. */
interface Counted {
  readonly values: readonly Mark[];
  readonly counts: readonly number[];
  /** The values are ascending. */
  readonly isSorted: boolean;
  /** Values in the sample, NULLs apart. */
  readonly present: number;
}

export async function analyzeTable(work: SampleWork, table: TableDef): Promise<TableStatistics> {
  const sample = new TableSample(work, table);
  await sample.draw();
  const columns: Record<number, ColumnStatistics> = {};
  for (const column of sample.columns) {
    if (!column.isUnmarked) columns[column.column.id] = await ofColumn(work, column.marks, sample);
  }
  return { rows: sample.rows, columns };
}

async function ofColumn(
  work: TableWork,
  marks: readonly (Mark | null)[],
  { rows, length }: TableSample,
): Promise<ColumnStatistics> {
  const counted = await countOf(work, marks, length);
  const { present } = counted;
  const nullFraction = length === 0 ? 0 : (length - present) / length;
  const common = commonOf(counted, length, rows);
  const outstanding = new Set(common.map(({ value }) => value));
  return {
    distinct: distinctOf(counted, rows * (1 - nullFraction)),
    nullFraction,
    common,
    histogram: await histogramOf(work, counted, outstanding),
  };
}

async function countOf(work: TableWork, marks: readonly (Mark | null)[], length: number): Promise<Counted> {
  const numbers = new Float64Array(length);
  const texts = new Map<Mark, number>();
  let present = 0;
  const count = (row: number): void => {
    const mark = marks[row]!;
    if (mark === null) return;
    if (typeof mark === "number") numbers[present] = mark;
    else texts.set(mark, (texts.get(mark) ?? 0) + 1);
    present++;
  };
  await inTurns(work, length, count, () => undefined);
  // A column's marks are all of one kind.
  if (texts.size > 0) return { values: [...texts.keys()], counts: [...texts.values()], isSorted: false, present };
  const values: number[] = [];
  const counts: number[] = [];
  await giveWay(work);
  // Sorted natively: three milliseconds for all of a sample.
  const sorted = numbers.subarray(0, present).sort();
  for (let i = 0; i < present; i++) {
    if (i > 0 && Object.is(sorted[i], values[values.length - 1])) counts[counts.length - 1]!++;
    else {
      values.push(sorted[i]!);
      counts.push(1);
    }
  }
  return { values, counts, isSorted: true, present };
}

/** d·n / (n − f₁ + f₁·n/N) of d different values in n rows, f₁ of them seen once, out of N rows. */
function distinctOf({ counts, present }: Counted, total: number): number {
  if (present === 0) return 0;
  let once = 0;
  for (const count of counts) if (count === 1) once++;
  const estimate = (counts.length * present) / (present - once + (once * present) / total);
  return Math.round(Math.min(Math.max(estimate, counts.length), total));
}

/** Every value when there are few; otherwise those clearly more frequent than the average one. */
function commonOf(counted: Counted, sampled: number, rows: number) {
  const { values, counts, present } = counted;
  const most = mostFrequent(counts);
  const whole = counts.length <= COMMON_MAX && (sampled === rows || most.every((place) => counts[place]! > 1));
  const average = present / Math.max(1, counts.length);
  const kept = whole ? most : most.filter((place) => counts[place]! > 2 && counts[place]! > 1.25 * average);
  return kept.map((place) => ({ value: values[place]!, fraction: counts[place]! / sampled }));
}

/** The places of COMMON_MAX counts at most, by falling count; a sort of all takes too long at a time. */
function mostFrequent(counts: readonly number[]): readonly number[] {
  const most: number[] = [];
  for (let each = 0; each < counts.length; each++) {
    const count = counts[each]!;
    if (most.length === COMMON_MAX && count <= counts[most[COMMON_MAX - 1]!]!) continue;
    let place = most.length;
    while (place > 0 && counts[most[place - 1]!]! < count) place--;
    most.splice(place, 0, each);
    if (most.length > COMMON_MAX) most.pop();
  }
  return most;
}

async function histogramOf(
  work: TableWork,
  counted: Counted,
  outstanding: ReadonlySet<Mark>,
): Promise<readonly Mark[]> {
  const values: Mark[] = [];
  const counts: number[] = [];
  let total = 0;
  const step = counted.isSorted ? 1 : Math.max(1, Math.floor(counted.values.length / SORTED_TEXTS));
  for (let i = 0; i < counted.values.length; i += step) {
    const value = counted.values[i]!;
    if (outstanding.has(value)) continue;
    values.push(value);
    counts.push(counted.counts[i]!);
    total += counted.counts[i]!;
  }
  if (values.length < 2) return [];
  const order = (a: number, b: number) => (values[a]! < values[b]! ? -1 : values[a]! > values[b]! ? 1 : 0);
  const sorted = counted.isSorted ? values.keys() : await sortRows(work, values.length, order);
  const bounds: Mark[] = [];
  let seen = 0;
  let last: Mark = values[0]!;
  for (const row of sorted) {
    last = values[row]!;
    seen += counts[row]!;
    const wanted = (bounds.length * total) / (HISTOGRAM_BOUNDS - 1);
    if (bounds.length === 0 || seen >= wanted) bounds.push(last);
  }
  if (bounds.at(-1) !== last) bounds.push(last);
  return bounds;
}
