/**
 * What ANALYZE knows of one column of its sample: the marks of the rows that were drawn (catalog/statistics.ts),
 * numbers in typed arrays. A column's marks are all of one kind. Filled by sample-table.ts, counted by
 * analyze-table.ts.
 */
import { type Mark, markOf } from "../../catalog/statistics.js";
import type { ColumnDef } from "../../catalog/table.js";
import { type CheckedTurns, giveWay } from "../../protocol/turns.js";
import type { Value } from "../../values/values.js";
import { type Column, type NumberColumn, valueAt } from "./segments/column.js";
import { textValueAt } from "./segments/text-column.js";

/** The different values of a column in the sample, and how often each is there. */
export interface Counted {
  readonly values: ArrayLike<Mark>;
  /** As long as `values`. */
  readonly counts: ArrayLike<number>;
  /** The values are ascending. */
  readonly isSorted: boolean;
  /** Values in the sample, NULLs apart. */
  readonly present: number;
  /** Null: not asked for. */
  readonly spread: Spread | null;
}

/** How the values are spread over the segments that the sample is of. */
export interface Spread {
  /** How many different values each segment has in the sample, all together. */
  readonly items: number;
  /** Values that only one segment has in the sample. */
  readonly single: number;
}

const CAPACITY_MIN = 1024;
/** Texts counted between two looks at the clock. */
const STEP_TEXTS = 1024;
/** Powers of ten up to here are exact. */
const EXACT_POWER_MAX = 22;

export class SampledColumn {
  /** A value has no mark: there are no statistics of the column. */
  isUnmarked = false;
  /** By row, where the marks are numbers. */
  private numbers = new Float64Array(0);
  /** By row, where they are texts. */
  private readonly texts: string[] = [];
  /** By row: 1 where there is a value. */
  private present = new Uint8Array(0);

  constructor(readonly column: ColumnDef) {}

  /** The value of a row; one before it may be replaced. */
  put(row: number, value: Value): void {
    this.reserve(row + 1);
    this.present[row] = value === null ? 0 : 1;
    const mark = value === null ? null : markOf(value);
    if (typeof mark === "number") this.putNumber(row, mark);
    else if (mark !== null) this.putText(row, mark);
    else if (value !== null) this.isUnmarked = true;
  }

  /** The values that a segment has in some of its rows, from `to` on. */
  putHeld(held: Column, rows: readonly number[], to: number): void {
    if (held.kind === "number" && held.scale <= EXACT_POWER_MAX) this.putNumbers(held, rows, to);
    else if (held.kind === "dictionary" && held.entries !== undefined) {
      // To make all texts of the dictionary would take longer.
      for (let i = 0; i < rows.length; i++) this.put(to + i, textValueAt(held.entries, held.codes[rows[i]!]!));
    } else for (let i = 0; i < rows.length; i++) this.put(to + i, valueAt(held, rows[i]!));
  }

  /** Forgets all rows. */
  clear(): void {
    this.present.fill(0);
    this.texts.length = 0;
  }

  /**
   * Of the first so many rows. `starts`: where those of the next segment begin; null: it is not asked how values are
   * spread.
   */
  count(work: CheckedTurns, length: number, starts: readonly number[] | null): Promise<Counted> {
    this.reserve(length);
    return this.texts.length > 0 ? this.countTexts(work, length, starts) : this.countNumbers(work, length, starts);
  }

  private putNumber(row: number, mark: number): void {
    if (row >= this.numbers.length) {
      const longer = new Float64Array(this.present.length);
      longer.set(this.numbers);
      this.numbers = longer;
    }
    this.numbers[row] = mark;
  }

  private putText(row: number, mark: string): void {
    // An array with holes is slower.
    while (this.texts.length < row) this.texts.push("");
    this.texts[row] = mark;
  }

  private putNumbers(
    { data, nulls, scale, hasNaN, min, max }: NumberColumn,
    rows: readonly number[],
    to: number,
  ): void {
    if (rows.length === 0) return;
    const last = to + rows.length - 1;
    this.reserve(last + 1);
    this.putNumber(last, 0);
    const { numbers, present } = this;
    const divisor = scale <= 0 ? 1 : 10 ** scale;
    const allFinite = !hasNaN && (min > max || (Number.isFinite(min) && Number.isFinite(max)));
    for (let i = 0; i < rows.length; i++) {
      const number = data[rows[i]!]! / divisor;
      numbers[to + i] = allFinite ? number : (markOf(number) as number);
      present[to + i] = nulls !== null && nulls[rows[i]!] === 1 ? 0 : 1;
    }
  }

  private reserve(rows: number): void {
    if (rows <= this.present.length) return;
    const longer = new Uint8Array(Math.max(CAPACITY_MIN, rows, 2 * this.present.length));
    longer.set(this.present);
    this.present = longer;
  }

  private async countTexts(work: CheckedTurns, length: number, starts: readonly number[] | null): Promise<Counted> {
    const { texts, present } = this;
    const places = new Map<string, number>();
    const values: string[] = [];
    const counts = new Uint32Array(length);
    // Of each value: in how many segments it is, and the last of them.
    const segments = new Uint32Array(length);
    const lastSegment = new Int32Array(length);
    let found = 0;
    let items = 0;
    let segment = 0;
    const first = starts?.[0] ?? length;
    let next = 0;
    for (let row = 0; row < length; row++) {
      if (row % STEP_TEXTS === STEP_TEXTS - 1) {
        work.checkpoint();
        await giveWay(work);
      }
      // Rows of no segment are each of another one.
      if (row < first) segment++;
      // A segment may have lost all its rows that were drawn.
      for (; starts !== null && next < starts.length && starts[next] === row; next++) segment++;
      if (present[row] === 0) continue;
      found++;
      let place = places.get(texts[row]!);
      if (place === undefined) {
        place = values.length;
        places.set(texts[row]!, place);
        values.push(texts[row]!);
        lastSegment[place] = -1;
      }
      counts[place]!++;
      if (lastSegment[place] === segment) continue;
      lastSegment[place] = segment;
      segments[place]!++;
      items++;
    }
    const different = values.length;
    const spread = starts === null ? null : { items, single: countOf(segments, different, 1) };
    return { values, counts: counts.subarray(0, different), isSorted: false, present: found, spread };
  }

  private async countNumbers(work: CheckedTurns, length: number, starts: readonly number[] | null): Promise<Counted> {
    const sorted = new Float64Array(length);
    const found = this.gather(0, length, sorted, 0);
    await giveWay(work);
    const { different, counts } = await countSorted(work, sorted.subarray(0, found));
    await giveWay(work);
    return {
      values: sorted.subarray(0, different),
      counts,
      isSorted: true,
      present: found,
      spread: starts === null ? null : await this.spreadOfNumbers(work, length, starts, found, counts),
    };
  }

  /** `found`: how many numbers there are; `counts`: of each different one. */
  private async spreadOfNumbers(
    work: CheckedTurns,
    length: number,
    starts: readonly number[],
    found: number,
    counts: Uint32Array,
  ): Promise<Spread> {
    // No number is there twice, so none is in two segments.
    if (counts.length === found) return { items: found, single: found };
    const each = new Float64Array(length);
    // Rows of no segment are each of another one.
    let items = this.gather(0, starts[0] ?? length, each, 0);
    for (let i = 0; i < starts.length; i++) {
      const end = this.gather(starts[i]!, starts[i + 1] ?? length, each, items);
      items += (await countSorted(work, each.subarray(items, end))).different;
      await giveWay(work);
    }
    // Where no segment has a number twice, the number of its segments is that of its rows.
    const segments = items === found ? counts : (await countSorted(work, each.subarray(0, items))).counts;
    return { items, single: countOf(segments, segments.length, 1) };
  }

  /** Puts the numbers of some rows into an array, from a place on. Answers where they end. */
  private gather(from: number, to: number, into: Float64Array, place: number): number {
    let end = place;
    for (let row = from; row < to; row++) if (this.present[row] === 1) into[end++] = this.numbers[row]!;
    return end;
  }
}

interface DifferentNumbers {
  readonly different: number;
  readonly counts: Uint32Array;
}

/**
 * Sorts the numbers, natively: three milliseconds for all of a sample; and leaves each different one once, at the
 * beginning.
 */
async function countSorted(work: CheckedTurns, numbers: Float64Array): Promise<DifferentNumbers> {
  numbers.sort();
  await giveWay(work);
  const counts = new Uint32Array(numbers.length);
  let different = 0;
  for (let i = 0; i < numbers.length; i++) {
    const isNew = different === 0 || !Object.is(numbers[i], numbers[different - 1]);
    if (isNew) numbers[different++] = numbers[i]!;
    counts[different - 1]!++;
  }
  return { different, counts: counts.subarray(0, different) };
}

function countOf(numbers: Uint32Array, length: number, wanted: number): number {
  let count = 0;
  for (let i = 0; i < length; i++) if (numbers[i] === wanted) count++;
  return count;
}
