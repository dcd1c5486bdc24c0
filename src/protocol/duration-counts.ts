/** Times counted in buckets, by kind: a few additions on the hot path. gateway/durations.ts shows them. */

/** Upper bounds, milliseconds. */
export const BUCKETS_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000];
export const SLOTS = BUCKETS_MS.length + 1;

export class DurationCounts {
  readonly times: Float64Array;
  readonly sumsMs: Float64Array;

  constructor(kinds: number) {
    this.times = new Float64Array(kinds * SLOTS);
    this.sumsMs = new Float64Array(kinds);
  }

  /** `kind`: its place among the kinds. */
  count(kind: number, tookMs: number): void {
    let slot = 0;
    while (slot < BUCKETS_MS.length && tookMs > BUCKETS_MS[slot]!) slot++;
    this.times[kind * SLOTS + slot]!++;
    this.sumsMs[kind]! += tookMs;
  }
}
