/**
 * How the answer of a followed query changes with its table: the interface of query-delta.ts and aggregate-delta.ts to
 * query-group.ts, and how differences of answers are reported.
 */

import type { ExecContext } from "../../query/exec/context.js";
import type { Value } from "../../values/values.js";
import type { ChangedRow } from "./row-change.js";

/** Rows of an answer as JSON, by what tells them apart. */
export type AnswerRows = Map<string, string>;

/** A row of the answer as JSON: as many of the values as the query has columns. */
export type WriteRow = (values: readonly Value[]) => string;

/** Made for one group of subscribers; it may keep a state between the calls. */
export interface AnswerDelta {
  /** The answer; of one that has more rows than `rowsMax` perhaps not all of them. */
  whole(context: ExecContext, rowsMax: number, write: WriteRow): Promise<AnswerRows>;
  /**
   * Brings `answer` up to date with these changes, which come after all that it has. Null: the answer does not follow
   * from them, and is as it was; nothing can be applied until `whole` has run again.
   */
  apply(rows: readonly ChangedRow[], answer: AnswerRows, context: ExecContext, write: WriteRow): Difference | null;
}

/** Places in the answer, from 0. */
export interface Places {
  /** As it was: of `removed`, and then of the old rows of `changed`. */
  readonly before: readonly number[];
  /** As it is: of the new rows of `changed`, and then of `added`. */
  readonly after: readonly number[];
}

export class Difference {
  readonly added: string[] = [];
  readonly removed: string[] = [];
  readonly changed: (readonly [old: string, now: string])[] = [];
  /** Null: the answer has no order that clients are to keep. */
  places: Places | null = null;

  /** A row was `old` and is `now`; undefined: there was or is none. */
  tell(old: string | undefined, now: string | undefined): void {
    if (old === now) return;
    if (old === undefined) this.added.push(now!);
    else if (now === undefined) this.removed.push(old);
    else this.changed.push([old, now]);
  }
}

export function differenceOf(before: AnswerRows, after: AnswerRows): Difference {
  const difference = new Difference();
  for (const [key, old] of before) difference.tell(old, after.get(key));
  for (const [key, now] of after) if (!before.has(key)) difference.added.push(now);
  return difference;
}

/**
 * The same of an answer that is in an order: rows that have moved are changed, too. The fewest rows move: all others
 * are a longest sequence that goes on upwards (Fredman, "On computing the length of longest increasing subsequences",
 * 1975).
 */
export function orderedDifferenceOf(before: AnswerRows, after: AnswerRows): Difference {
  const difference = new Difference();
  const placeBefore = new Map<string, number>();
  const placesRemoved: number[] = [];
  for (const [key, old] of before) {
    const place = placeBefore.size;
    placeBefore.set(key, place);
    if (after.has(key)) continue;
    difference.removed.push(old);
    placesRemoved.push(place);
  }
  const isSame = (key: string, now: string): boolean => before.get(key) === now;
  const same = [...after].flatMap(([key, now]) => (isSame(key, now) ? placeBefore.get(key)! : []));
  const stay = longestUpwards(same);
  const [placesOld, placesNew, placesAdded]: [number[], number[], number[]] = [[], [], []];
  let [place, sameBefore] = [0, 0];
  for (const [key, now] of after) {
    const old = before.get(key);
    if (old === undefined) {
      difference.added.push(now);
      placesAdded.push(place);
    } else if (!isSame(key, now) || !stay.has(sameBefore++)) {
      difference.changed.push([old, now]);
      placesOld.push(placeBefore.get(key)!);
      placesNew.push(place);
    }
    place++;
  }
  difference.places = { before: [...placesRemoved, ...placesOld], after: [...placesNew, ...placesAdded] };
  return difference;
}

/** Positions of a longest part of `values` that goes upwards. All values differ. */
function longestUpwards(values: readonly number[]): ReadonlySet<number> {
  /** By length less one: where the part of that length ends that has the least end. */
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [i, value] of values.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (values[ends[middle]!]! < value) low = middle + 1;
      else high = middle;
    }
    previous.push(low === 0 ? -1 : ends[low - 1]!);
    ends[low] = i;
  }
  const found = new Set<number>();
  for (let at = ends.at(-1) ?? -1; at >= 0; at = previous[at]!) found.add(at);
  return found;
}
