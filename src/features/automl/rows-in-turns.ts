/**
 * Rows of a statement that are worked through in turns, however many cells a batch has and whatever is done with each: a
 * batch is put aside when it comes, and taken while the statement waits for room. Extended by those who read for models.
 */

import type { Batch } from "../../query/expr/expr.js";
import type { Rows } from "../../session/sql-result.js";
import type { Client } from "../../session/statement-run.js";
import type { Value } from "../../values/values.js";

export type Columns = readonly (readonly Value[])[];
export type Turns = Pick<Client, "shouldYield" | "yieldTurn">;

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
  #aside: Columns = [];
  #reported = 0;

  constructor(private readonly turns: Turns) {}

  /** Works through rows, in short steps. */
  protected abstract take(columns: Columns, count: number): Generator<void, void>;
  /** Of what has been taken, roughly. */
  protected abstract get byteLength(): number;
  /** Throws when there is too much. */
  protected abstract check(): void;

  append({ columns }: Batch, count: number): number {
    // The batch is its operator's to use again.
    this.#aside = columns.map((column) => Array.prototype.slice.call(column, 0, count) as Value[]);
    this.count += count;
    this.check();
    const grown = this.byteLength - this.#reported;
    this.#reported += grown;
    return grown;
  }

  room(): Promise<void> {
    const columns = this.#aside;
    this.#aside = [];
    return takeSteps(this.turns, this.take(columns, columns[0]?.length ?? 0));
  }
}
