/** Uniqueness of the keys of a sorted load run: against each other, and against what is stored. For loads of rows. */

import { keyAfter } from "../../storage/keys.js";
import type { LoadRun } from "../../storage/load-run.js";
import type { Transaction } from "../../storage/store.js";

/** Keys looked up at a time, and between two looks at the clock: few enough for a load in a file. */
const STEP_KEYS = 64;
/** Keys whose look-up takes as long as another look for the greatest one. */
const KEYS_PER_LOOK = 128;

/**
 * In steps (in-steps.ts): the first row whose key another one has or that the transaction finds stored; infinity: none.
 * @param rowOf the row of the write at a place of the run.
 */
export function* firstTaken(
  tx: Transaction,
  run: LoadRun,
  rowOf: (place: number) => number,
): Generator<undefined, number> {
  const { size } = run;
  let first = Number.POSITIVE_INFINITY;
  if (size === 0) return first;
  let greatest = tx.greatestKey(run.prefix);
  const below = () => (greatest === null ? 0 : run.lowerBound(keyAfter(greatest)));
  let mayBeStored = below();
  // In a branch the first looks may find only a bound, which is nearer each time.
  for (let looks = size / KEYS_PER_LOOK; looks >= 1 && mayBeStored > 0; looks--) {
    yield;
    const before: Uint8Array | null = greatest;
    greatest = tx.greatestKey(run.prefix);
    if (greatest !== null && before !== null && Buffer.compare(greatest, before) === 0) break;
    mayBeStored = below();
  }
  for (let from = 0; from < size; from += STEP_KEYS) {
    const to = Math.min(from + STEP_KEYS, size);
    for (let i = Math.max(from, 1); i < to; i++) {
      if (run.isSameKey(i - 1, i)) first = Math.min(first, Math.max(rowOf(i - 1), rowOf(i)));
    }
    const looked = Math.min(to, mayBeStored) - from;
    if (looked > 0) {
      const keys = Array.from({ length: looked }, (_, i) => run.keyOf(run.numberAt(from + i)));
      tx.getMany(keys).forEach((stored, i) => {
        if (stored !== undefined) first = Math.min(first, rowOf(from + i));
      });
    }
    yield;
  }
  return first;
}
