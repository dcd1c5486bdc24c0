/**
 * Works through the rows of a statement in turns, however many cells a batch has: a batch is put aside when it comes,
 * and processed while the statement waits for room. Extended by the readers for models.
 */

import type { Turns } from "../../protocol/turns.js";
import type { Batch } from "../../query/expr/expr.js";
import type { Rows } from "../../session/sql-result.js";
import type { Value } from "../../values/values.js";

export type Columns = readonly (readonly Value[])[];
/** Runs a generator to its end; between its steps others get their turns. */
export async function takeSteps<T>(turns: Turns, steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (turns.shouldYield()) await turns.yieldTurn();
  }
}

export abstract class RowsInTurns implements Rows {
  readonly plain = [];
  count = 0;
  private aside: Columns = [];
  private reported = 0;

  constructor(private readonly turns: Turns) {}

  /** Works through rows, in short steps. */
  protected abstract take(columns: Columns, count: number): Generator<void, void>;
  /** Rough number of bytes that have been taken. */
  protected abstract get byteLength(): number;
  /** Throws when there is too much. */
  protected abstract check(): void;

  append({ columns }: Batch, count: number): number {
    // The batch is its operator's to use again.
    this.aside = columns.map((column) => Array.prototype.slice.call(column, 0, count) as Value[]);
    this.count += count;
    this.check();
    const grown = this.byteLength - this.reported;
    this.reported += grown;
    return grown;
  }

  room(): Promise<void> {
    const columns = this.aside;
    this.aside = [];
    return takeSteps(this.turns, this.take(columns, columns[0]?.length ?? 0));
  }
}
