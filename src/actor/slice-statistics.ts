/**
 * What the scheduler did, as counts for /metrics: how long slices took and how long work waited for them. Owned by it.
 */
import { type Histogram, SCHEDULER_BUCKETS_MS, type SchedulerMetrics } from "../protocol/messages.js";

/** Durations by bucket. */
export class Counts {
  private readonly counts = new Float64Array(SCHEDULER_BUCKETS_MS.length + 1);
  private sumMs = 0;

  add(ms: number): void {
    let bucket = 0;
    while (bucket < SCHEDULER_BUCKETS_MS.length && ms > SCHEDULER_BUCKETS_MS[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.sumMs += ms;
  }

  get histogram(): Histogram {
    return { counts: [...this.counts], sumSeconds: this.sumMs / 1000 };
  }
}

export class SliceStatistics {
  private readonly slices = new Counts();
  private readonly waits = new Counts();
  private readonly firstWaits = new Counts();
  private readonly sliceCpu = new Counts();
  private overruns = 0;
  private longestMs = 0;

  /** `isFirst`: a request that begins now. */
  waited(ms: number, isFirst: boolean): void {
    this.waits.add(ms);
    if (isFirst) this.firstWaits.add(ms);
  }

  /** CPU time of a slice that was measured. */
  usedCpu(ms: number): void {
    this.sliceCpu.add(ms);
  }

  ran(ms: number, overran: boolean): void {
    this.slices.add(ms);
    if (overran) this.overruns++;
    if (ms > this.longestMs) this.longestMs = ms;
  }

  get metrics(): SchedulerMetrics {
    return {
      sliceOverruns: this.overruns,
      longestSliceSeconds: this.longestMs / 1000,
      slices: this.slices.histogram,
      waits: this.waits.histogram,
      firstWaits: this.firstWaits.histogram,
      sliceCpu: this.sliceCpu.histogram,
    };
  }
}
