/** A clock that moves only when a test says so. */
import type { Cancel, Clock } from "../../src/gateway/clock.js";

interface Timer {
  dueAt: number;
  readonly everyMs: number | null;
  readonly run: () => void;
}

export class FakeClock implements Clock {
  private nowMs = 1000;
  private readonly timers = new Set<Timer>();
  private readonly startedAt = Date.now();

  now(): number {
    return this.nowMs;
  }

  wall(): number {
    return this.startedAt + this.nowMs;
  }

  after(ms: number, run: () => void): Cancel {
    return this.add({ dueAt: this.nowMs + ms, everyMs: null, run });
  }

  every(ms: number, run: () => void): Cancel {
    return this.add({ dueAt: this.nowMs + ms, everyMs: ms, run });
  }

  /** Moves on and runs what has become due, in order. */
  advance(ms: number): void {
    const end = this.nowMs + ms;
    for (;;) {
      const due = [...this.timers].filter(({ dueAt }) => dueAt <= end).sort((a, b) => a.dueAt - b.dueAt)[0];
      if (due === undefined) break;
      this.nowMs = due.dueAt;
      if (due.everyMs === null) this.timers.delete(due);
      else due.dueAt += due.everyMs;
      due.run();
    }
    this.nowMs = end;
  }

  private add(timer: Timer): Cancel {
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }
}
