/**
 * The order of rows by sort keys, and a stable sort that gives the actor's loop its turns: runs are sorted at once,
 * then merged bottom-up (Knuth, The Art of Computer Programming 3, §5.2.4). Used by Sort and ordered aggregates.
 */
import type { CheckedTurns } from "../../protocol/turns.js";
import type { Value } from "../../values/values.js";
import { sortComparator } from "../expr/compare.js";
import { unitsOf } from "../expr/work.js";
import type { SortKey } from "../plan/plan.js";
import { inTurns } from "./operator.js";

/** Compares two rows of parallel key columns. */
export type RowOrder = (a: number, b: number) => number;

export type RowOrderOf = (keys: readonly ArrayLike<Value>[]) => RowOrder;

export function rowOrderOf(keys: readonly SortKey[]): RowOrderOf {
  const comparators = keys.map((key) => sortComparator(key.expr.type, key.descending, key.nullsFirst));
  if (comparators.length === 1) {
    const compare = comparators[0]!;
    return ([values]) =>
      (a, b) =>
        compare(values![a]!, values![b]!);
  }
  return (columns) => (a, b) => {
    for (let i = 0; i < comparators.length; i++) {
      const order = comparators[i]!(columns[i]![a]!, columns[i]![b]!);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** Rows sorted without a pause: half a millisecond of comparisons or so. */
const RUN_ROWS = 1024;

/**
 * Rows whose keys are looked at to tell how long comparisons take, and units of a key that count as another comparison.
 */
const SAMPLED_ROWS = 16;
const UNITS_PER_COMPARISON = 64;

/** About how many times as long as usual a comparison of these keys takes. */
export function comparisonCost(keys: readonly ArrayLike<Value>[], count: number): number {
  if (count === 0) return 1;
  let units = 0;
  const step = Math.max(1, Math.floor(count / SAMPLED_ROWS));
  for (const values of keys) for (let row = 0; row < count; row += step) units += unitsOf(values[row]!);
  return 1 + Math.floor(units / Math.ceil(count / step) / UNITS_PER_COMPARISON);
}

/** The numbers 0 ≤ i < count in that order; equal rows stay in ascending order. `cost`: see `comparisonCost`. */
export function sortRows(
  context: CheckedTurns,
  count: number,
  order: RowOrder,
  cost = 1,
): Uint32Array | Promise<Uint32Array> {
  const rows = new Uint32Array(count);
  for (let i = 0; i < count; i++) rows[i] = i;
  const width = Math.max(1, Math.floor(RUN_ROWS / cost));
  if (count <= width) return rows.sort(order);
  const runs = Math.ceil(count / width);
  const sortRun = (run: number) => void rows.subarray(run * width, (run + 1) * width).sort(order);
  const every = Math.max(1, Math.floor(COMPARISONS_PER_LOOK / cost));
  const merge = () => mergeRuns(context, rows, new Uint32Array(count), width, order, every);
  return eachInTurn(context, runs, sortRun, merge);
}

/** Merged rows between two looks at the clock. */
const COMPARISONS_PER_LOOK = 64;

/** Like `inTurns` for pieces of work that each take milliseconds. */
export function eachInTurn<T>(
  context: CheckedTurns,
  count: number,
  work: (index: number) => void,
  finish: () => T | Promise<T>,
  from = 0,
): T | Promise<T> {
  for (let i = from; i < count; i++) {
    if (i > from && context.shouldYield()) {
      return context.yieldTurn().then(() => eachInTurn(context, count, work, finish, i));
    }
    context.checkpoint();
    work(i);
  }
  return finish();
}

/** Merges pairs of runs of `width` rows until one is left; `spare` is as long as `rows`. */
function mergeRuns(
  context: CheckedTurns,
  rows: Uint32Array,
  spare: Uint32Array,
  width: number,
  order: RowOrder,
  every: number,
): Uint32Array | Promise<Uint32Array> {
  if (width >= rows.length) return rows;
  let left = 0;
  let right = width;
  let pair = 0;
  const merge = (to: number) => {
    if (to === pair + 2 * width) {
      pair = to;
      left = pair;
      right = pair + width;
    }
    const leftEnd = Math.min(pair + width, rows.length);
    const rightEnd = Math.min(pair + 2 * width, rows.length);
    const takeLeft = left < leftEnd && (right >= rightEnd || order(rows[left]!, rows[right]!) <= 0);
    spare[to] = takeLeft ? rows[left++]! : rows[right++]!;
  };
  const next = () => mergeRuns(context, spare, rows, 2 * width, order, every);
  return inTurns(context, rows.length, merge, next, 0, every);
}

/** Numbers sorted without a pause, a millisecond or so, and merged between two looks at the clock. */
const NUMBERS_AT_ONCE = 16_384;

/** The numbers in ascending order, NaN last and −0 before 0; in turns, as `sortRows`. (`sortByNumbers` sorts rows.) */
export function sortNumbers(context: CheckedTurns, given: readonly number[]): Float64Array | Promise<Float64Array> {
  const count = given.length;
  const numbers = new Float64Array(count);
  const sortRun = (index: number): void => {
    const start = index * NUMBERS_AT_ONCE;
    const end = Math.min(start + NUMBERS_AT_ONCE, count);
    for (let i = start; i < end; i++) numbers[i] = given[i]!;
    numbers.subarray(start, end).sort();
  };
  const merge = () => mergeNumbers(context, numbers, new Float64Array(count), NUMBERS_AT_ONCE);
  return eachInTurn(context, Math.ceil(count / NUMBERS_AT_ONCE), sortRun, merge);
}

/** As `mergeRuns`, for numbers themselves. */
function mergeNumbers(
  context: CheckedTurns,
  from: Float64Array,
  to: Float64Array,
  width: number,
): Float64Array | Promise<Float64Array> {
  const count = from.length;
  if (width >= count) return from;
  let left = 0;
  let right = width;
  const piece = (index: number): void => {
    const start = index * NUMBERS_AT_ONCE;
    // Pairs of runs start where pieces do: `width` is a multiple of a piece.
    const pair = start - (start % (2 * width));
    if (start === pair) {
      left = pair;
      right = pair + width;
    }
    const leftEnd = Math.min(pair + width, count);
    const rightEnd = Math.min(pair + 2 * width, count);
    const end = Math.min(start + NUMBERS_AT_ONCE, count);
    for (let at = start; at < end; at++) {
      // NaN is the last: it is taken from the left only when nothing else is on the right.
      const takesLeft =
        right >= rightEnd || (left < leftEnd && (from[left]! <= from[right]! || Number.isNaN(from[right]!)));
      to[at] = takesLeft ? from[left++]! : from[right++]!;
    }
  };
  const next = () => mergeNumbers(context, to, from, 2 * width);
  return eachInTurn(context, Math.ceil(count / NUMBERS_AT_ONCE), piece, next);
}
