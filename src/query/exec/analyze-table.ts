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
import { HISTOGRAM_GROUPS, type SampleWork, TableSample } from "./sample-table.js";
import type { Counted, SampledColumn } from "./sampled-column.js";
import { sortRows } from "./sort-rows.js";
import type { TableWork } from "./table-data.js";

const COMMON_MAX = 50;
/**
 * Different texts, about, that make a histogram: they are compared one by one, and 64 for each group are
 * enough.
 */
const SORTED_TEXTS = 64 * HISTOGRAM_GROUPS;

export async function analyzeTable(work: SampleWork, table: TableDef): Promise<TableStatistics> {
  const sample = new TableSample(work, table);
  await sample.draw();
  const columns: Record<number, ColumnStatistics> = {};
  for (const column of sample.columns) {
    if (!column.isUnmarked) columns[column.column.id] = await ofColumn(work, column, sample);
  }
  return { rows: sample.rows, columns };
}

async function ofColumn(work: TableWork, column: SampledColumn, sample: TableSample): Promise<ColumnStatistics> {
  const { rows, length, share, starts } = sample;
  const counted = await column.count(work, length, share === 1 ? null : starts);
  const { present, values, counts } = counted;
  const nullFraction = length === 0 ? 0 : (length - present) / length;
  const common = commonOf(counted, length, rows);
  await giveWay(work);
  const distinct = distinctOf(counted, rows * (1 - nullFraction), share, starts.length);
  await giveWay(work);
  return {
    distinct,
    nullFraction,
    common: common.map((place) => ({ value: values[place]!, fraction: counts[place]! / length })),
    histogram: await histogramOf(work, counted, new Set(common)),
  };
}

/**
 * Of a sample in two stages. Where equal values are spread over the segments, it is like one of all rows. Where they
 * are neighbours, too many of them are in it: then the segments that were drawn are a population of their own, and the
 * others are estimated from them. What lies between the two is weighed by how the values of the sample are spread.
 * @param share part of the rows that the sample is of.
 */
function distinctOf(counted: Counted, total: number, share: number, segments: number): number {
  const { counts, present, spread } = counted;
  if (present === 0) return 0;
  const bounded = (estimate: number): number => Math.round(Math.min(Math.max(estimate, counts.length), total));
  const ofSpread = bounded(duj1(counts.length, present, countOnce(counts), present / total));
  if (spread === null || segments === 0) return ofSpread;
  const inDrawn = duj1(counts.length, present, countOnce(counts), Math.min(1, present / (total * share)));
  const ofNeighbours = bounded(inDrawn * (duj1(counts.length, spread.items, spread.single, share) / counts.length));
  // How many items there would be of values without an order.
  let expected = 0;
  for (let i = 0; i < counts.length; i++) expected += segments * (1 - (1 - 1 / segments) ** counts[i]!);
  const repeated = expected - counts.length;
  const weight = repeated < 1 ? 0 : Math.min(1, Math.max(0, (expected - spread.items) / repeated));
  return bounded(ofSpread ** (1 - weight) * ofNeighbours ** weight);
}

/**
 * d·n / (n − f₁ + f₁·q) of d different values in n rows, f₁ of them seen once, where the n rows are the part q of all.
 */
function duj1(different: number, rows: number, once: number, part: number): number {
  return (different * rows) / (rows - once + once * part);
}

function countOnce(counts: ArrayLike<number>): number {
  let once = 0;
  for (let i = 0; i < counts.length; i++) if (counts[i] === 1) once++;
  return once;
}

/** Places of every value when there are few; otherwise of those clearly more frequent than the average one. */
function commonOf({ counts, present }: Counted, sampled: number, rows: number): readonly number[] {
  const most = mostFrequent(counts);
  const whole = counts.length <= COMMON_MAX && (sampled === rows || most.every((place) => counts[place]! > 1));
  const average = present / Math.max(1, counts.length);
  return whole ? most : most.filter((place) => counts[place]! > 2 && counts[place]! > 1.25 * average);
}

/** The places of COMMON_MAX counts at most, by falling count; a sort of all takes too long at a time. */
function mostFrequent(counts: ArrayLike<number>): readonly number[] {
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

/** `common`: places of values that are counted apart. */
async function histogramOf(
  work: TableWork,
  { values, counts, isSorted }: Counted,
  common: ReadonlySet<number>,
): Promise<readonly Mark[]> {
  const step = isSorted ? 1 : Math.max(1, Math.floor(values.length / SORTED_TEXTS));
  const places = new Uint32Array(Math.ceil(values.length / step));
  let length = 0;
  let total = 0;
  for (let place = 0; place < values.length; place += step) {
    if (common.has(place)) continue;
    places[length++] = place;
    total += counts[place]!;
  }
  if (length < 2) return [];
  await giveWay(work);
  const order = (a: number, b: number) => orderOf(values[places[a]!]!, values[places[b]!]!);
  const sorted = isSorted ? null : await sortRows(work, length, order);
  const bounds: Mark[] = [];
  let seen = 0;
  let last = places[0]!;
  for (let i = 0; i < length; i++) {
    last = places[sorted === null ? i : sorted[i]!]!;
    seen += counts[last]!;
    const wanted = (bounds.length * total) / HISTOGRAM_GROUPS;
    if (bounds.length === 0 || seen >= wanted) bounds.push(values[last]!);
  }
  if (bounds.at(-1) !== values[last]) bounds.push(values[last]!);
  return bounds;
}

const orderOf = (a: Mark, b: Mark): number => (a < b ? -1 : a > b ? 1 : 0);
