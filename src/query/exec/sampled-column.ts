/**
 * What ANALYZE knows of one column of its sample: the marks of the rows that were drawn (catalog/statistics.ts), numbers in
 * typed arrays. A column's marks are all of one kind. Filled by sample-table.ts, counted by analyze-table.ts.
 */
import { type Mark, markOf } from "../../catalog/statistics.js";
import type { ColumnDef } from "../../catalog/table.js";
import { type CheckedTurns, giveWay } from "../../protocol/turns.js";
import type { Value } from "../../values/values.js";
import { type Column, type NumberColumn, valueAt } from "./segments/column.js";

/** The different values of a column in the sample, and how often each is there. */
export interface Counted {
  readonly values: ArrayLike<Mark>;
  /** As long as `values`. */
  readonly counts: ArrayLike<number>;
  /** The values are ascending. */
  readonly isSorted: boolean;
  /** Values in the sample, NULLs apart. */
  readonly present: number;
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
    else for (let i = 0; i < rows.length; i++) this.put(to + i, valueAt(held, rows[i]!));
  }

  /** Forgets all rows. */
  clear(): void {
    this.present.fill(0);
    this.texts.length = 0;
  }

  /** Of the first so many rows. */
  count(work: CheckedTurns, length: number): Promise<Counted> {
    this.reserve(length);
    return this.texts.length > 0 ? this.countTexts(work, length) : this.countNumbers(work, length);
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

  private async countTexts(work: CheckedTurns, length: number): Promise<Counted> {
    const { texts, present } = this;
    const counts = new Map<string, number>();
    let found = 0;
    for (let row = 0; row < length; row++) {
      if (row % STEP_TEXTS === STEP_TEXTS - 1) {
        work.checkpoint();
        await giveWay(work);
      }
      if (present[row] === 0) continue;
      found++;
      counts.set(texts[row]!, (counts.get(texts[row]!) ?? 0) + 1);
    }
    return { values: [...counts.keys()], counts: [...counts.values()], isSorted: false, present: found };
  }

  private async countNumbers(work: CheckedTurns, length: number): Promise<Counted> {
    const sorted = new Float64Array(length);
    let found = 0;
    for (let row = 0; row < length; row++) if (this.present[row] === 1) sorted[found++] = this.numbers[row]!;
    await giveWay(work);
    // Sorted natively: three milliseconds for all of a sample.
    sorted.subarray(0, found).sort();
    const counts = new Uint32Array(found);
    let different = 0;
    for (let i = 0; i < found; i++) {
      const isNew = different === 0 || !Object.is(sorted[i], sorted[different - 1]);
      if (isNew) sorted[different++] = sorted[i]!;
      counts[different - 1]!++;
    }
    await giveWay(work);
    return {
      values: sorted.subarray(0, different),
      counts: counts.subarray(0, different),
      isSorted: true,
      present: found,
    };
  }
}
