/** Work in steps: a generator that stops wherever it may be interrupted. Used by loads and by what fills them. */

/** How work gives way; an ExecContext, a request. */
export interface Turns {
  checkpoint(): void;
  shouldYield(): boolean;
  yieldTurn(): Promise<void>;
}

/** Runs to the end; answers with a promise only when the turn was over in between. */
export function inSteps(turns: Turns, steps: Iterator<undefined, void>): void | Promise<void> {
  while (steps.next().done !== true) {
    turns.checkpoint();
    if (turns.shouldYield()) return turns.yieldTurn().then(() => inSteps(turns, steps));
  }
}
