/**
 * The order of rows by sort keys, and a stable sort that gives the actor's loop its turns: runs are sorted at once,
 * then merged bottom-up (Knuth, The Art of Computer Programming 3, §5.2.4). Used by Sort and ordered aggregates.
 */
import type { Value } from "../../protocol/values.js";
import { sortComparator } from "../expr/compare.js";
import type { SortKey } from "../plan/plan.js";
import { inTurns, type Turns } from "./operator.js";

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

/** The numbers 0 ≤ i < count in that order; equal rows stay in ascending order. */
export function sortRows(context: Turns, count: number, order: RowOrder): Uint32Array | Promise<Uint32Array> {
  const rows = new Uint32Array(count);
  for (let i = 0; i < count; i++) rows[i] = i;
  if (count <= RUN_ROWS) return rows.sort(order);
  const runs = Math.ceil(count / RUN_ROWS);
  const sortRun = (run: number) => void rows.subarray(run * RUN_ROWS, (run + 1) * RUN_ROWS).sort(order);
  return eachInTurn(context, runs, sortRun, () => mergeRuns(context, rows, new Uint32Array(count), RUN_ROWS, order));
}

/** Like `inTurns` for pieces of work that each take milliseconds. */
function eachInTurn<T>(
  context: Turns,
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
  context: Turns,
  rows: Uint32Array,
  spare: Uint32Array,
  width: number,
  order: RowOrder,
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
  return inTurns(context, rows.length, merge, () => mergeRuns(context, spare, rows, 2 * width, order));
}
