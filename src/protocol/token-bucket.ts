/** A token bucket, refilled lazily when asked. Times are of one steady clock, in milliseconds. */
import type { RateLimit } from "./identity.js";

export class Bucket {
  tokens: number;
  /** Requests that run now: bounded too, by the requests themselves. */
  inFlight = 0;
  /** Thrown out of the table; whoever holds it asks the limiter for the current one. */
  detached = false;
  private refilledAt: number;

  constructor(
    public perSecond: number,
    public burst: number,
    now: number,
  ) {
    this.tokens = burst;
    this.refilledAt = now;
  }

  get limited(): boolean {
    return this.perSecond > 0;
  }

  /** Takes one token when there is one. Without a limit it always succeeds. */
  take(now: number): boolean {
    if (this.perSecond === 0) return true;
    this.refill(now);
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }

  /** Of one that was taken. */
  giveBack(): void {
    if (this.limited) this.tokens = Math.min(this.tokens + 1, this.burst);
  }

  /**
   * Takes so many tokens when there is one: what is missing is owed, and nothing is given until it has been refilled.
   * None can always be taken.
   */
  takeMany(now: number, count: number): boolean {
    if (count === 0) return true;
    if (!this.take(now)) return false;
    if (this.limited) this.tokens -= count - 1;
    return true;
  }

  refill(now: number): void {
    // A request that waited for its body or its identity is charged for when it began.
    if (now <= this.refilledAt) return;
    const refilled = this.tokens + ((now - this.refilledAt) / 1000) * this.perSecond;
    this.tokens = Math.min(refilled, this.burst);
    this.refilledAt = now;
  }

  /** Changes the limit; what was spent stays spent. */
  configure(limit: RateLimit, now: number): void {
    if (limit.perSecond === this.perSecond && limit.burst === this.burst) return;
    const spent = this.limited ? this.burst - this.tokens : 0;
    this.perSecond = limit.perSecond;
    this.burst = limit.burst;
    this.tokens = Math.max(0, limit.burst - spent);
    this.refilledAt = now;
  }

  get remaining(): number {
    return Math.max(0, Math.floor(this.tokens));
  }

  /** Whole seconds until the bucket is full again. */
  get secondsToFull(): number {
    return Math.ceil((this.burst - this.tokens) / this.perSecond);
  }

  /** Whole seconds until a token is there; at least 1. */
  get retryAfterSeconds(): number {
    return Math.max(1, Math.ceil((1 - this.tokens) / this.perSecond));
  }
}
