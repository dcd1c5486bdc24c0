/**
 * Long work of an actor of a cluster, in slices between which others have their turn. Used by placement.ts and
 * tenures.ts.
 */
import { setImmediate as nextTurn } from "node:timers/promises";

/** That is worked on in one turn. */
const SLICE_MS = 2;

export class Turns {
  private began = performance.now();

  /** Call it before each piece of work. */
  async next(): Promise<void> {
    if (!this.isOver) return;
    await nextTurn();
    this.began = performance.now();
  }

  get isOver(): boolean {
    return performance.now() - this.began >= SLICE_MS;
  }
}
