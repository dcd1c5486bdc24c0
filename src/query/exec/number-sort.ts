/**
 * Sorts rows whose keys are all numbers without a look at the values: each key becomes a double that rises where the
 * order does. Runs are sorted by radix (sort-numbers.ts), then merged. Used by Sort, for one run of a statement.
 */
import type { CheckedTurns } from "../../protocol/turns.js";
import type { Value } from "../../values/values.js";
import type { SortKey } from "../plan/plan.js";
import { GrowingArray } from "./segments/growing-array.js";
import { sortByNumbers } from "./sort-numbers.js";
import { eachInTurn } from "./sort-rows.js";

/** Types of which all values are numbers; bigints are numbers as long as they are exact. */
const NUMBERS: ReadonlySet<string> = new Set(
  "int2 int4 int8 oid float4 float8 date time timestamp timestamptz".split(" "),
);
/** Keys sorted without a pause, a millisecond or so, and rows merged between two looks at the clock. */
const KEYS_AT_ONCE = 16_384;

/** Of a row of sort keys; null: not all of them are numbers. */
export type NumberSortOf = () => NumberSort | null;

export function numberSortOf(keys: readonly SortKey[]): NumberSortOf {
  const isPossible = keys.length > 0 && keys.every(({ expr }) => NUMBERS.has(expr.type.name));
  return () => (isPossible ? new NumberSort(keys) : null);
}

export class NumberSort {
  private columns: readonly GrowingArray<Float64Array>[];

  constructor(private readonly keys: readonly SortKey[]) {
    this.columns = keys.map(() => new GrowingArray(Float64Array));
  }

  /** Adds values of the key. False: one of them has no such number, and the rows have to be compared. */
  add(key: number, values: ArrayLike<Value>, length: number): boolean {
    const { descending, nullsFirst } = this.keys[key]!;
    const room = this.columns[key]!.room(length);
    const ofNull = nullsFirst ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    for (let row = 0; row < length; row++) {
      const value = values[row]!;
      if (value === null) {
        room[row] = ofNull;
        continue;
      }
      const number = typeof value === "bigint" ? Number(value) : (value as number);
      // Infinity is what NULL is, NaN is equal to itself, and large integers are not exact.
      if (!(Math.abs(number) <= Number.MAX_SAFE_INTEGER)) return false;
      // Not −0.
      room[row] = (descending ? -number : number) + 0;
    }
    return true;
  }

  /** Forgets all rows. */
  clear(): void {
    this.columns = this.keys.map(() => new GrowingArray(Float64Array));
  }

  /** The numbers 0 ≤ i < count in the keys' order; equal rows stay in ascending order. */
  sort(context: CheckedTurns, count: number): Uint32Array | Promise<Uint32Array> {
    const step = (): Uint32Array | Promise<Uint32Array> => {
      for (const column of this.columns) {
        while (!column.settle()) if (context.shouldYield()) return context.yieldTurn().then(step);
      }
      return sortRuns(
        context,
        this.columns.map((column) => column.all()),
        count,
      );
    };
    return step();
  }
}

function sortRuns(
  context: CheckedTurns,
  columns: readonly Float64Array[],
  count: number,
): Uint32Array | Promise<Uint32Array> {
  const rows = new Uint32Array(count);
  const width = rowsAtOnce(columns);
  const sortRun = (run: number): void => {
    const from = run * width;
    const to = Math.min(from + width, count);
    const sorted = sortByNumbers(
      to - from,
      columns.map((column) => ({ ...ASCENDING, numbers: asIntegers(column.subarray(from, to)) })),
      () => false,
    )!;
    for (let i = 0; i < sorted.length; i++) rows[from + i] = from + sorted[i]!;
  };
  const merge = () => mergeRuns(context, columns, rows, new Uint32Array(count), width);
  return eachInTurn(context, Math.ceil(count / width), sortRun, merge);
}

const rowsAtOnce = ({ length }: readonly Float64Array[]): number => Math.ceil(KEYS_AT_ONCE / length);

const ASCENDING = { nulls: null, descending: false, nullsFirst: false } as const;

/** They are sorted in half the time. */
function asIntegers(numbers: Float64Array): Float64Array | Int32Array {
  const integers = new Int32Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!;
    integers[i] = number;
    if (integers[i] !== number) return numbers;
  }
  return integers;
}

/** Merges pairs of runs of `width` rows until one is left. */
function mergeRuns(
  context: CheckedTurns,
  columns: readonly Float64Array[],
  from: Uint32Array,
  to: Uint32Array,
  width: number,
): Uint32Array | Promise<Uint32Array> {
  const count = from.length;
  if (width >= count) return from;
  const pieceRows = rowsAtOnce(columns);
  // Where the next rows of both runs are.
  const place = { left: 0, right: 0 };
  // Pairs of runs start where pieces do: `width` is a multiple of a piece.
  const piece = (index: number): void => {
    const start = index * pieceRows;
    const pair = start - (start % (2 * width));
    if (start === pair) {
      place.left = pair;
      place.right = pair + width;
    }
    const end = Math.min(start + pieceRows, count);
    const leftEnd = Math.min(pair + width, count);
    const rightEnd = Math.min(pair + 2 * width, count);
    mergePiece(columns, from, to, { start, end, leftEnd, rightEnd, place });
  };
  const next = () => mergeRuns(context, columns, to, from, 2 * width);
  return eachInTurn(context, Math.ceil(count / pieceRows), piece, next);
}

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly leftEnd: number;
  readonly rightEnd: number;
  readonly place: { left: number; right: number };
}

function mergePiece(
  columns: readonly Float64Array[],
  from: Uint32Array,
  to: Uint32Array,
  { start, end, leftEnd, rightEnd, place }: Piece,
): void {
  const first = columns[0]!;
  let { left, right } = place;
  for (let at = start; at < end; at++) {
    if (left < leftEnd && (right >= rightEnd || !isBehind(columns, first, from[left]!, from[right]!))) {
      to[at] = from[left++]!;
    } else to[at] = from[right++]!;
  }
  place.left = left;
  place.right = right;
}

/** Whether row `a` comes after row `b`. */
function isBehind(columns: readonly Float64Array[], first: Float64Array, a: number, b: number): boolean {
  const [x, y] = [first[a]!, first[b]!];
  if (x !== y) return x > y;
  for (let i = 1; i < columns.length; i++) {
    const column = columns[i]!;
    if (column[a] !== column[b]) return column[a]! > column[b]!;
  }
  return false;
}
