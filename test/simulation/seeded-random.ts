/** Random numbers that follow from a seed: all that a simulation leaves to chance comes from here. */
import { Random } from "../fuzz/random.js";

export class SeededRandom extends Random {
  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  pick<T>(items: readonly T[]): T {
    return this.one(items);
  }

  /** Another sequence that follows from this one. */
  fork(): SeededRandom {
    return new SeededRandom(Math.floor(this.next() * 2 ** 32));
  }
}
