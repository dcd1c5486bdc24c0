/** Background work in steps. */
import type { Turns } from "../protocol/turns.js";

/** What steps come to, each in a turn; null: one threw, and `failed` was told why. */
export async function inTurns<Result>(
  steps: Iterator<undefined, Result>,
  turns: Turns,
  failed: (reason: string) => void,
): Promise<Result | null> {
  for (;;) {
    let step: IteratorResult<undefined, Result>;
    try {
      step = steps.next();
    } catch (error) {
      failed((error as Error).message);
      return null;
    }
    if (step.done === true) return step.value;
    if (turns.shouldYield()) await turns.yieldTurn();
  }
}

/** Of work that nothing else waits for. */
export const ALONE: Turns = { shouldYield: () => false, yieldTurn: () => Promise.resolve() };
