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

export class Difference {
  readonly added: string[] = [];
  readonly removed: string[] = [];
  readonly changed: (readonly [old: string, now: string])[] = [];

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
