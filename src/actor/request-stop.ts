/**
 * Stops what a request waits for (a model, a provider) when the request is cancelled or ended, or its deadline passes.
 * Made by request.ts for requests that wait in this way.
 */

/** setTimeout takes no more. */
const TIMER_MS_MAX = 2_147_483_647;

export class RequestStop {
  private readonly controller = new AbortController();
  private timer: NodeJS.Timeout | null = null;
  private deadlineMs = Number.POSITIVE_INFINITY;

  /** `check` throws once the request is to stop. */
  constructor(private readonly check: () => void) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Looks again when that deadline has passed. */
  watch(deadlineMs: number): void {
    if (deadlineMs >= this.deadlineMs || !Number.isFinite(deadlineMs)) return;
    this.deadlineMs = deadlineMs;
    this.arm();
  }

  /** A timer counts from when its turn of the loop began: after a long one it is early, and set again. */
  private arm(): void {
    this.close();
    // A millisecond later, since the deadline itself has not passed yet.
    const waitMs = Math.min(TIMER_MS_MAX, Math.max(0, this.deadlineMs - Date.now()) + 1);
    this.timer = setTimeout(() => {
      this.look();
      if (!this.signal.aborted) this.arm();
    }, waitMs).unref();
  }

  look(): void {
    try {
      this.check();
    } catch (error) {
      this.close();
      this.controller.abort(error);
    }
  }

  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}
