/** Work in steps: a generator that stops wherever it may be interrupted. Used by loads and by what fills them. */
import type { CheckedTurns } from "../protocol/turns.js";

/** Runs to the end; answers with a promise only when the turn was over in between. */
export function inSteps<T>(turns: CheckedTurns, steps: Iterator<undefined, T>): T | Promise<T> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    turns.checkpoint();
    if (turns.shouldYield()) return turns.yieldTurn().then(() => inSteps(turns, steps));
  }
}

/** Runs to the end, with a round of the event loop after each step. */
export async function inRounds<T>(steps: Iterator<undefined, T>): Promise<T> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** So many of the items at a time. */
export function* batchesOf<T>(items: Iterable<T>, size: number): Generator<T[], void> {
  let batch: T[] = [];
  for (const item of items) {
    if (batch.push(item) < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
