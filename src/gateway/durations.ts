/** Times counted in buckets, by kind, as a Prometheus histogram when /metrics is read. */
import { Histogram, type Registry } from "prom-client";
import { BUCKETS_MS, type DurationCounts, SLOTS } from "../protocol/duration-counts.js";
import type { Sample } from "./metric-sample.js";

export class Durations {
  /** `kinds`: the labels of each. `all`: what was counted, of those kinds, to be added up. */
  constructor(
    private readonly kinds: readonly Readonly<Record<string, string>>[],
    private readonly all: () => readonly Pick<DurationCounts, "times" | "sumsMs">[],
  ) {}

  /** Samples of a Prometheus histogram, times in seconds. */
  samples(name: string): Sample[] {
    const samples: Sample[] = [];
    const all = this.all();
    const sum = (of: "times" | "sumsMs", at: number): number => all.reduce((total, one) => total + one[of][at]!, 0);
    for (const [index, labels] of this.kinds.entries()) {
      let total = 0;
      const buckets: Sample[] = [];
      for (let slot = 0; slot < SLOTS; slot++) {
        total += sum("times", index * SLOTS + slot);
        const le = slot < BUCKETS_MS.length ? String(BUCKETS_MS[slot]! / 1000) : "+Inf";
        buckets.push({ metricName: `${name}_bucket`, labels: { le, ...labels }, value: total });
      }
      if (total === 0) continue;
      samples.push(...buckets);
      samples.push({ metricName: `${name}_sum`, labels, value: sum("sumsMs", index) / 1000 });
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
