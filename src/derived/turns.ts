/** Background work in steps. */
import type { Turns } from "../protocol/turns.js";

/** Of work that nothing else waits for. */
export const ALONE: Turns = { shouldYield: () => false, yieldTurn: () => Promise.resolve() };
