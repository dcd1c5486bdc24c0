/**
 * Shares an actor's thread between statements. A statement works for at most one slice, then waits for its next turn;
 * between turns the loop takes new requests, so a point read never waits behind a report. Turns go round the tenants,
 * not the statements: a tenant with a hundred reports gets as many turns as a tenant with one.
 */

/** Milliseconds of work before a statement gives way. */
const SLICE_MS = 4;

interface Waiting {
  readonly resume: () => void;
}

export class Scheduler {
  private sliceStart = performance.now();
  /** Waiting statements by tenant number; the first entry of the map is the tenant whose turn is next. */
  private readonly queues = new Map<number, Waiting[]>();
  private armed = false;
  private waitingCount = 0;

  /** Statements that wait for a turn. */
  get waiting(): number {
    return this.waitingCount;
  }

  /** A new piece of work begins: it gets a whole slice. */
  startSlice(): void {
    this.sliceStart = performance.now();
  }

  shouldYield(): boolean {
    return performance.now() - this.sliceStart > SLICE_MS;
  }

  /** Resolves when it is the tenant's turn again. */
  yieldTurn(tenant: number): Promise<void> {
    return new Promise((resume) => {
      const queue = this.queues.get(tenant);
      if (queue === undefined) this.queues.set(tenant, [{ resume }]);
      else queue.push({ resume });
      this.waitingCount++;
      this.arm();
    });
  }

  private arm(): void {
    if (this.armed) return;
    this.armed = true;
    setImmediate(() => this.next());
  }

  /** Resumes one statement of the tenant whose turn it is; its slice runs before the loop goes on. */
  private next(): void {
    this.armed = false;
    for (const [tenant, queue] of this.queues) {
      const waiting = queue.shift()!;
      this.queues.delete(tenant);
      if (queue.length > 0) this.queues.set(tenant, queue);
      this.waitingCount--;
      this.startSlice();
      waiting.resume();
      break;
    }
    if (this.queues.size > 0) this.arm();
  }
}
