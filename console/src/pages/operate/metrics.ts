/** Reads the page of metrics, which is in Prometheus's text format, and what has changed between two readings. Pure. */

export interface Reading {
  readonly at: number;
  /** The sum over all labels, by name. */
  readonly sums: ReadonlyMap<string, number>;
  /** Requests by their status. */
  readonly byStatus: ReadonlyMap<string, number>;
}

const LINE = /^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)/;

export function readingOf(text: string, at: number): Reading {
  const sums = new Map<string, number>();
  const byStatus = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, name, labels = "", written] = LINE.exec(line) ?? [];
    const value = Number(written);
    if (name === undefined || name.endsWith("_bucket") || !Number.isFinite(value)) continue;
    sums.set(name, (sums.get(name) ?? 0) + value);
    const status = name === "tessera_http_requests_total" ? /status="(\d+)"/.exec(labels)?.[1] : undefined;
    if (status !== undefined) byStatus.set(status, (byStatus.get(status) ?? 0) + value);
  }
  return { at, sums, byStatus };
}

/** Of what counts up, between two readings, per second. */
export function perSecond(before: Reading, now: Reading, name: string): number {
  const seconds = (now.at - before.at) / 1000;
  return Math.max(0, ((now.sums.get(name) ?? 0) - (before.sums.get(name) ?? 0)) / seconds);
}

/** Milliseconds that a request took on average; NaN while there was none. */
export function meanMs(before: Reading, now: Reading, histogram: string): number {
  const count = perSecond(before, now, `${histogram}_count`);
  return count === 0 ? Number.NaN : (perSecond(before, now, `${histogram}_sum`) / count) * 1000;
}

export function failedPerSecond(before: Reading, now: Reading): number {
  const failed = (reading: Reading): number =>
    [...reading.byStatus].reduce((sum, [status, count]) => (status.startsWith("5") ? sum + count : sum), 0);
  return Math.max(0, (failed(now) - failed(before)) / ((now.at - before.at) / 1000));
}
