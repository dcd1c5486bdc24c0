/**
 * What the server's own counters say of its turns between two moments, from /metrics: how long requests waited until
 * they began, and how much CPU time the turns took, which other programs on the machine do not touch.
 */
export interface Turns {
  /** Requests' waits until they began, clock. */
  readonly waits: Buckets;
  /** CPU time of a sample of turns. */
  readonly cpu: Buckets;
}

/** Cumulative counts by upper bound in seconds, as Prometheus has them. */
type Buckets = ReadonlyMap<number, number>;

/** The counters since the server's start, all actors together. */
export async function readTurns(url: string): Promise<Turns> {
  const response = await fetch(`${url}/metrics`);
  if (!response.ok) throw new Error(`/metrics answered ${response.status}`);
  const text = await response.text();
  return {
    waits: bucketsOf(text, "tessera_actor_begin_wait_seconds"),
    cpu: bucketsOf(text, "tessera_actor_slice_cpu_seconds"),
  };
}

function bucketsOf(text: string, name: string): Buckets {
  const buckets = new Map<number, number>();
  for (const [, labels, value] of text.matchAll(new RegExp(`^${name}_bucket\\{(.*)\\} (\\S+)$`, "gm"))) {
    const bound = /le="([^"]+)"/.exec(labels!)![1]!;
    const seconds = bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound);
    buckets.set(seconds, (buckets.get(seconds) ?? 0) + Number(value));
  }
  return buckets;
}

/** The sum of what happened between several pairs of moments. */
export function turnsBetween(pairs: readonly (readonly [before: Turns, after: Turns])[]): Turns {
  const sum = (of: keyof Turns): Buckets => {
    const total = new Map<number, number>();
    for (const [before, after] of pairs) {
      for (const [bound, count] of after[of]) {
        total.set(bound, (total.get(bound) ?? 0) + count - (before[of].get(bound) ?? 0));
      }
    }
    return total;
  };
  return { waits: sum("waits"), cpu: sum("cpu") };
}

/** In words: for some shares, the bound in milliseconds that so many stay below. */
export function describeBuckets(buckets: Buckets): string {
  const bounds = [...buckets].sort(([a], [b]) => a - b);
  const total = bounds.at(-1)?.[1] ?? 0;
  if (total === 0) return "none counted";
  const cells = [0.5, 0.9, 0.99, 0.999].map((share) => {
    const at = bounds.find(([, count]) => count >= share * total)![0];
    return `${share * 100} % ${at === Number.POSITIVE_INFINITY ? "beyond the last bound" : `≤ ${at * 1000} ms`}`;
  });
  return `${cells.join(", ")} (of ${total})`;
}
