/**
 * Sorts row numbers by numbers of the rows, by radix, least significant digit first (Knuth, The Art of Computer
 * Programming 3, §5.2.5): stable, and without a look at anything but typed arrays. Numbers are made words whose order
 * as unsigned integers is theirs. Used by presorted-rows.ts; pure.
 */
import { startsOf } from "../../storage/sort-words.js";

/** A word is sorted as digits of 11, 11 and 10 bits: their counters fit into the processor's first cache. */
const SHIFTS = [0, 11, 22] as const;
const DIGITS = 2048;
const SIGN = 0x8000_0000;

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
 * greatest. Null: it was to stop, which is asked a few times.
 */
export function sortByNumbers(
  rows: number,
  columns: readonly (NumbersByRow & NumberOrder)[],
  isStopped: () => boolean,
): Int32Array | null {
  let order = new Int32Array(rows);
  for (let i = 0; i < rows; i++) order[i] = i;
  const [first] = columns;
  if (columns.length === 1 && isSorted(first!)) return order;
  // The last column first: a stable sort by an earlier one keeps its order.
  for (const column of columns.toReversed()) {
    for (const word of wordsOf(column)) {
      if (isStopped()) return null;
      order = sortByWord(order, word);
    }
    if (column.nulls !== null) order = nullsApart(order, column.nulls, column.nullsFirst);
  }
  return order;
}

/** In many tables some numbers rise with the key. */
function isSorted({ numbers, nulls, descending }: NumbersByRow & NumberOrder): boolean {
  if (nulls !== null || descending) return false;
  for (let i = 1; i < numbers.length; i++) if (!(numbers[i - 1]! <= numbers[i]!)) return false;
  return true;
}

/** Of each row, the least significant word first. Rows without a number are all alike. */
function wordsOf({ numbers, nulls, descending }: NumbersByRow & NumberOrder): Uint32Array[] {
  const { length } = numbers;
  const flip = descending ? 0xffff_ffff : 0;
  if (numbers instanceof Int32Array) {
    const words = new Uint32Array(length);
    for (let i = 0; i < length; i++) if (nulls === null || nulls[i] === 0) words[i] = numbers[i]! ^ SIGN ^ flip;
    return [words];
  }
  const double = new Float64Array(1);
  const halves = new Uint32Array(double.buffer);
  const low = new Uint32Array(length);
  const high = new Uint32Array(length);
  for (let i = 0; i < length; i++) {
    if (nulls !== null && nulls[i] === 1) continue;
    const number = numbers[i]!;
    // One form of zero, and one of what is not a number.
    double[0] = number === 0 ? 0 : Number.isNaN(number) ? Number.NaN : number;
    const isNegative = number < 0;
    low[i] = halves[0]! ^ (isNegative ? 0xffff_ffff : 0) ^ flip;
    high[i] = halves[1]! ^ (isNegative ? 0xffff_ffff : SIGN) ^ flip;
  }
  return [low, high];
}

function sortByWord(order: Int32Array, byRow: Uint32Array): Int32Array<ArrayBuffer> {
  const { length } = order;
  let places = order.slice();
  let words = new Uint32Array(length);
  const counts = SHIFTS.map(() => new Int32Array(DIGITS));
  for (let i = 0; i < length; i++) {
    const word = byRow[places[i]!]!;
    words[i] = word;
    for (let d = 0; d < SHIFTS.length; d++) counts[d]![(word >>> SHIFTS[d]!) & (DIGITS - 1)]!++;
  }
  let nextPlaces = new Int32Array(length);
  let nextWords = new Uint32Array(length);
  for (let d = 0; d < SHIFTS.length; d++) {
    const starts = counts[d]!;
    // All have the same digit.
    if (starts.includes(length)) continue;
    startsOf(starts);
    scatter(words, places, SHIFTS[d]!, starts, nextWords, nextPlaces);
    [places, nextPlaces] = [nextPlaces, places];
    [words, nextWords] = [nextWords, words];
  }
  return places;
}

/** Words move with their rows: to look them up would be to wait for the memory. */
function scatter(
  words: Uint32Array,
  places: Int32Array,
  shift: number,
  starts: Int32Array,
  nextWords: Uint32Array,
  nextPlaces: Int32Array,
): void {
  const { length } = words;
  for (let i = 0; i < length; i++) {
    const word = words[i]!;
    const at = starts[(word >>> shift) & (DIGITS - 1)]!++;
    nextWords[at] = word;
    nextPlaces[at] = places[i]!;
  }
}

function nullsApart(order: Int32Array, nulls: Uint8Array, first: boolean): Int32Array<ArrayBuffer> {
  const apart = new Int32Array(order.length);
  let at = 0;
  for (const wanted of first ? [1, 0] : [0, 1]) {
    for (let i = 0; i < order.length; i++) if (nulls[order[i]!] === wanted) apart[at++] = order[i]!;
  }
  return apart;
}
