/** How work in the background gives way to other work of its thread. */
export interface Turns {
  shouldYield(): boolean;
  /** Rejects when the work is to end. */
  yieldTurn(): Promise<void>;
}

/** Of work that nothing else waits for. */
export const ALONE: Turns = { shouldYield: () => false, yieldTurn: () => Promise.resolve() };
