/**
 * The shape of every operator, and the one way in which operators read another's batches. A batch usually comes at
 * once; it comes as a promise only when an operator below gave the actor's loop a turn or waited for a model. So
 * `pull` and `drain` are synchronous loops with an asynchronous continuation, and no operator awaits by itself.
 */

import type { CheckedTurns } from "../../protocol/turns.js";
import type { Batch } from "../expr/expr.js";
import type { OutputColumn, Plan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { Column } from "./segments/column.js";
import type { WantedKeys } from "./segments/key-set.js";
import type { ThreadWork } from "./threads/read-threads.js";

export type Pulled = Batch | null | Promise<Batch | null>;

/** Which segments have no row that the consumer has a use for, by their columns in a slot. */
export interface SegmentBound {
  readonly slot: number;
  /**
   * Asked before the segment's other columns are read. `rows` 0: only what stands beside the column's numbers is known.
   */
  excludes(column: Column, rows: number): boolean;
  /**
   * Learns from the column of a segment all of whose rows will come, before any does. False: it has no use for more.
   */
  foresee(column: Column, rows: number): boolean;
}

/** All state of one run of one plan node. Not re-entrant: `next` is not called while its last promise is pending. */
export interface Operator {
  /** The next batch (never empty), or null at the end. The batch is the consumer's until the next call. */
  next(): Pulled;
  /**
   * The consumer knows what to do with a Chunk (segments/chunk.ts): rows may come as such. Called before the first
   * `next`. Absent: it never makes any.
   */
  acceptChunks?(): void;
  /** The consumer is likely to read so many rows and no more. Called before the first `next`. Absent: more are read. */
  expectRows?(rows: number): void;
  /**
   * The consumer passes over the first rows. Called before the first `next`, once. True: they do not come. False, or
   * absent: they come all the same.
   */
  passOver?(rows: number): boolean;
  /** The consumer has no use for some rows. Called before the first `next`. Absent: they come all the same. */
  acceptBound?(bound: SegmentBound): void;
  /**
   * The consumer has no use for rows without one of these keys. Called before the first `next`, perhaps several times.
   * Absent: they come all the same.
   */
  acceptKeys?(keys: WantedKeys): void;
  /**
   * Other threads may do what the consumer does with the rows of whole segments: their results come in the place of
   * those rows, as a FromThread (threads/read-threads.ts). Called before the first `next`. Absent: all rows come.
   */
  acceptThreads?(work: ThreadWork): void;
  /**
   * The consumer only wants the least and the greatest value of each column: other rows than those with them need not
   * come, and values of different rows may come as one. Called before the first `next`. Absent: all rows come.
   */
  acceptExtremes?(): void;
  /**
   * The consumer makes the keys of rows by itself: from the next batch on they need not come. Answers in which slots
   * the values of the primary key are, in its order. Null, or absent: keys come all the same.
   */
  leaveOutKeys?(): readonly number[] | null;
  /** Threads that have taken part, for EXPLAIN ANALYZE. */
  readonly threadsUsed?: number;
  /** Frees cursors; may be called at any time, also twice, but not while a promise of `next` is pending. */
  close(): void;
}

/** Makes the operator of one run. Everything that does not depend on the run was done before. */
export type Open = (context: ExecContext) => Operator;

/** A compiled plan: immutable, cached and shared by any number of concurrent runs. */
export interface Program {
  readonly plan: Plan;
  readonly columns: readonly OutputColumn[];
  readonly open: Open;
}

/** What an operator makes of its input's next batch (null: the input ended); undefined asks for another one. */
export type Step = (batch: Batch | null) => Batch | null | undefined;

/** The first batch (or end) that `step` makes of the input. */
export function pull(input: Operator, step: Step): Pulled {
  for (;;) {
    const batch = input.next();
    if (batch instanceof Promise) return batch.then((arrived) => stepOrPull(arrived, input, step));
    const made = step(batch);
    if (made !== undefined) return made;
  }
}

function stepOrPull(batch: Batch | null, input: Operator, step: Step): Pulled {
  const made = step(batch);
  return made === undefined ? pull(input, step) : made;
}

/** Gives every batch of the input to `consume`, which may wait, then answers with `finish()`. */
export function drain<T>(
  input: Operator,
  consume: (batch: Batch) => void | Promise<void>,
  finish: () => T | Promise<T>,
): T | Promise<T> {
  for (;;) {
    const batch = input.next();
    if (batch instanceof Promise) return drainLater(batch, input, consume, finish);
    if (batch === null) return finish();
    const pending = consume(batch);
    if (pending instanceof Promise) {
      return drainLater(
        pending.then(() => input.next()),
        input,
        consume,
        finish,
      );
    }
  }
}

/** The same of an operator that is closed then, whatever happens. */
export function drainAndClose(input: Operator, consume: (batch: Batch) => void): void | Promise<void> {
  const close = (): void => input.close();
  const failed = (error: unknown): never => {
    close();
    throw error;
  };
  try {
    const done = drain(input, consume, close);
    return done instanceof Promise ? done.catch(failed) : done;
  } catch (error) {
    return failed(error);
  }
}

async function drainLater<T>(
  pending: Promise<Batch | null>,
  input: Operator,
  consume: (batch: Batch) => void | Promise<void>,
  finish: () => T | Promise<T>,
): Promise<T> {
  let batch = await pending;
  while (batch !== null) {
    const consumed = consume(batch);
    if (consumed instanceof Promise) await consumed;
    // To await what is there already would cost as much as a small batch.
    const next = input.next();
    batch = next instanceof Promise ? await next : next;
  }
  return finish();
}

/** `then` of a value that may have come already. */
export function after<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Rows between two looks at the clock in loops over rows. */
export const ROWS_PER_TURN_CHECK = 64;
/** The same where rows are stored: one with a vector takes a twentieth of a millisecond. */
const STORED_PER_TURN_CHECK = 8;

/**
 * Calls `work(i)` for 0 ≤ i < count, giving the actor's loop its turns in between, then answers with `finish()`.
 * `every`: how many calls until the clock is looked at; fewer for work that may take long.
 */
export function inTurns<T>(
  context: CheckedTurns,
  count: number,
  work: (index: number) => void,
  finish: () => T | Promise<T>,
  from = 0,
  every = ROWS_PER_TURN_CHECK,
): T | Promise<T> {
  for (let i = from; i < count; i++) {
    work(i);
    if (i % every === every - 1) {
      context.checkpoint();
      if (context.shouldYield())
        return context.yieldTurn().then(() => inTurns(context, count, work, finish, i + 1, every));
    }
  }
  return finish();
}

/** As `inTurns`, for work that stores a row. */
export function storeInTurns<T>(
  context: CheckedTurns,
  count: number,
  work: (index: number) => void,
  finish: () => T | Promise<T>,
): T | Promise<T> {
  return inTurns(context, count, work, finish, 0, STORED_PER_TURN_CHECK);
}

/** As `inTurns`, for work that may wait: each call begins when the one before it has ended. */
export function inOrder<T>(
  context: CheckedTurns,
  count: number,
  work: (index: number) => void | Promise<void>,
  finish: () => T | Promise<T>,
  from = 0,
): T | Promise<T> {
  for (let i = from; i < count; i++) {
    const pending = work(i);
    if (pending instanceof Promise) return pending.then(() => inOrder(context, count, work, finish, i + 1));
    context.checkpoint();
    if (context.shouldYield()) {
      return context.yieldTurn().then(() => inOrder(context, count, work, finish, i + 1));
    }
  }
  return finish();
}
