/**
 * Sorts row numbers by numbers of the rows, by radix, least significant digit first (Knuth, The Art of Computer
 * Programming 3, §5.2.5): stable, and without a look at anything but typed arrays. Numbers are made words whose order
 * as unsigned integers is theirs. Used by presorted-rows.ts, column-order.ts and
 * kept-rows.ts; pure.
 */
import { startsOf } from "../../storage/sort-words.js";

/** A word is sorted as digits of 11, 11 and 10 bits: their counters fit into the processor's first cache. */
const SHIFTS = [0, 11, 22] as const;
const DIGITS = 2048;
const SIGN = 0x8000_0000;
/** Rows of one step, a part of a millisecond. */
const STEP_ROWS = 32_768;

/** Numbers by row, and 1 where there is none; null: each row has one. */
export interface NumbersByRow {
  readonly numbers: Int32Array | Float64Array;
  readonly nulls: Uint8Array | null;
}

export interface NumberOrder {
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/**
 * Row numbers in the order of the columns' numbers; of equal ones in that of the rows. −0 equals 0, and NaN is the
 * greatest. Null: it was to stop, which is asked at each step.
 */
export function sortByNumbers(
  rows: number,
  columns: readonly (NumbersByRow & NumberOrder)[],
  isStopped: () => boolean,
): Int32Array | null {
  const steps = sortInSteps(rows, columns);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (isStopped()) return null;
  }
}

/** The same in steps (in-steps.ts). */
export function* sortInSteps(
  rows: number,
  columns: readonly (NumbersByRow & NumberOrder)[],
): Generator<undefined, Int32Array> {
  const sorting = new Sorting(rows);
  yield* inSteps(rows, (from, to) => sorting.number(from, to));
  const [first] = columns;
  if (columns.length === 1 && (yield* isSorted(first!, rows))) return sorting.order;
  // The last column first: a stable sort by an earlier one keeps its order.
  for (const column of columns.toReversed()) {
    for (const load of wordsOf(column)) yield* sorting.byWord(load);
    if (column.nulls !== null) yield* sorting.nullsApart(column.nulls, column.nullsFirst);
  }
  return sorting.order;
}

function* inSteps(rows: number, work: (from: number, to: number) => void): Generator<undefined, void> {
  for (let from = 0; from < rows; from += STEP_ROWS) {
    work(from, Math.min(from + STEP_ROWS, rows));
    yield;
  }
}

/** In many tables some numbers rise with the key. */
function* isSorted({ numbers, nulls, descending }: NumbersByRow & NumberOrder, rows: number) {
  if (nulls !== null || descending) return false;
  for (let from = 1; from < rows; from += STEP_ROWS) {
    const to = Math.min(from + STEP_ROWS, rows);
    for (let i = from; i < to; i++) if (!(numbers[i - 1]! <= numbers[i]!)) return false;
    yield;
  }
  return true;
}

/** Writes the words of these rows. Rows without a number are all alike. */
type LoadWords = (rows: Int32Array, from: number, to: number, words: Uint32Array) => void;

/** The least significant word first. */
function wordsOf({ numbers, nulls, descending }: NumbersByRow & NumberOrder): LoadWords[] {
  const flip = descending ? 0xffff_ffff : 0;
  if (numbers instanceof Int32Array) {
    return [
      (rows, from, to, words) => {
        for (let i = from; i < to; i++) {
          const row = rows[i]!;
          words[i] = nulls !== null && nulls[row] === 1 ? 0 : numbers[row]! ^ SIGN ^ flip;
        }
      },
    ];
  }
  const double = new Float64Array(1);
  const halves = new Uint32Array(double.buffer);
  const loadHalf = (half: 0 | 1, sign: number): LoadWords => {
    return (rows, from, to, words) => {
      for (let i = from; i < to; i++) {
        const row = rows[i]!;
        if (nulls !== null && nulls[row] === 1) {
          words[i] = 0;
          continue;
        }
        const number = numbers[row]!;
        // One form of zero, and one of what is not a number.
        double[0] = number === 0 ? 0 : Number.isNaN(number) ? Number.NaN : number;
        words[i] = halves[half]! ^ (number < 0 ? 0xffff_ffff : sign) ^ flip;
      }
    };
  };
  return [loadHalf(0, 0), loadHalf(1, SIGN)];
}

class Sorting {
  order: Int32Array;
  private words: Uint32Array;
  private nextOrder: Int32Array;
  private nextWords: Uint32Array;

  constructor(private readonly rows: number) {
    this.order = new Int32Array(rows);
    this.nextOrder = new Int32Array(rows);
    this.words = new Uint32Array(rows);
    this.nextWords = new Uint32Array(rows);
  }

  number(from: number, to: number): void {
    const { order } = this;
    for (let i = from; i < to; i++) order[i] = i;
  }

  *byWord(load: LoadWords): Generator<undefined, void> {
    const { rows } = this;
    const counts = SHIFTS.map(() => new Int32Array(DIGITS));
    yield* inSteps(rows, (from, to) => {
      load(this.order, from, to, this.words);
      count(this.words, from, to, counts);
    });
    for (let d = 0; d < SHIFTS.length; d++) {
      const starts = counts[d]!;
      // All have the same digit.
      if (starts.includes(rows)) continue;
      startsOf(starts);
      const { words, order, nextWords, nextOrder } = this;
      yield* inSteps(rows, (from, to) => scatter(words, order, from, to, SHIFTS[d]!, starts, nextWords, nextOrder));
      [this.order, this.nextOrder] = [nextOrder, order];
      [this.words, this.nextWords] = [nextWords, words];
    }
  }

  *nullsApart(nulls: Uint8Array, first: boolean): Generator<undefined, void> {
    const { order, nextOrder, rows } = this;
    let at = 0;
    for (const wanted of first ? [1, 0] : [0, 1]) {
      yield* inSteps(rows, (from, to) => {
        for (let i = from; i < to; i++) if (nulls[order[i]!] === wanted) nextOrder[at++] = order[i]!;
      });
    }
    [this.order, this.nextOrder] = [nextOrder, order];
  }
}

function count(words: Uint32Array, from: number, to: number, counts: readonly Int32Array[]): void {
  const [first, second, third] = counts as [Int32Array, Int32Array, Int32Array];
  for (let i = from; i < to; i++) {
    const word = words[i]!;
    first[word & (DIGITS - 1)]!++;
    second[(word >>> SHIFTS[1]) & (DIGITS - 1)]!++;
    third[word >>> SHIFTS[2]]!++;
  }
}

/** Words move with their rows: to look them up would be to wait for the memory. */
function scatter(
  words: Uint32Array,
  order: Int32Array,
  from: number,
  to: number,
  shift: number,
  starts: Int32Array,
  nextWords: Uint32Array,
  nextOrder: Int32Array,
): void {
  for (let i = from; i < to; i++) {
    const word = words[i]!;
    const at = starts[(word >>> shift) & (DIGITS - 1)]!++;
    nextWords[at] = word;
    nextOrder[at] = order[i]!;
  }
}
