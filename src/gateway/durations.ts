/** Times counted in buckets, by kind: a few additions on the hot path, a Prometheus histogram when /metrics is read. */
import { Histogram, type Registry } from "prom-client";
import type { Sample } from "./metric-sample.js";

/** Upper bounds, milliseconds. */
const BUCKETS_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000];
const SLOTS = BUCKETS_MS.length + 1;

export class Durations {
  private readonly times: Float64Array;
  private readonly sumsMs: Float64Array;

  /** `kinds`: the labels of each. */
  constructor(private readonly kinds: readonly Readonly<Record<string, string>>[]) {
    this.times = new Float64Array(kinds.length * SLOTS);
    this.sumsMs = new Float64Array(kinds.length);
  }

  /** `kind`: its place among the kinds. */
  count(kind: number, tookMs: number): void {
    let slot = 0;
    while (slot < BUCKETS_MS.length && tookMs > BUCKETS_MS[slot]!) slot++;
    this.times[kind * SLOTS + slot]!++;
    this.sumsMs[kind]! += tookMs;
  }

  /** Samples of a Prometheus histogram, times in seconds. */
  samples(name: string): Sample[] {
    const samples: Sample[] = [];
    for (const [index, labels] of this.kinds.entries()) {
      let total = 0;
      const buckets: Sample[] = [];
      for (let slot = 0; slot < SLOTS; slot++) {
        total += this.times[index * SLOTS + slot]!;
        const le = slot < BUCKETS_MS.length ? String(BUCKETS_MS[slot]! / 1000) : "+Inf";
        buckets.push({ metricName: `${name}_bucket`, labels: { le, ...labels }, value: total });
      }
      if (total === 0) continue;
      samples.push(...buckets);
      samples.push({ metricName: `${name}_sum`, labels, value: this.sumsMs[index]! / 1000 });
      samples.push({ metricName: `${name}_count`, labels, value: total });
    }
    return samples;
  }
}

/** A histogram whose buckets are counted elsewhere: prom-client's own is too slow for every request. */
export class DurationHistogram extends Histogram {
  constructor(
    facts: { readonly name: string; readonly help: string; readonly labelNames: readonly string[] },
    private readonly durations: Durations,
    registry: Registry,
  ) {
    super({ ...facts, labelNames: [...facts.labelNames], registers: [registry] });
  }

  /** The registry asks this for text instead of `get`. */
  async getForPromString(): Promise<object> {
    const { name, help } = this as unknown as { name: string; help: string };
    return { name, help, type: "histogram", values: this.durations.samples(name), aggregator: "sum" };
  }
}
