/** Counts the rows that a window steps through, so that its operator knows when to look at the clock. */

/** Rows of one look at the clock: at first, and at most. */
const FIRST_ROWS = 1;
const ROWS_MAX = 512;
/** Milliseconds between two looks that are worth aiming at. */
const LOOK_MS = 1;

/** How many rows may be stepped before the next look at the clock: fewer where they take long. */
export class StepBudget {
  left = FIRST_ROWS;
  private rows = FIRST_ROWS;
  private since = performance.now();

  /** After a look at the clock. `waited`: a turn was given in between. */
  renew(waited: boolean): void {
    const now = performance.now();
    if (!waited) this.rows = now - this.since > LOOK_MS ? Math.ceil(this.rows / 2) : Math.min(this.rows * 2, ROWS_MAX);
    this.since = now;
    this.left = this.rows;
  }
}
