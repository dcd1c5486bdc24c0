/** Reads the page of metrics, which is in Prometheus's text format, and what has changed between two readings. Pure. */

export interface Reading {
  readonly at: number;
  /** The sum over all labels, by name. */
  readonly sums: ReadonlyMap<string, number>;
  /** Requests by their status. */
  readonly byStatus: ReadonlyMap<string, number>;
  /** How many requests took at most so many seconds. */
  readonly within: ReadonlyMap<number, number>;
}

const LINE = /^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)/;
const REQUESTS = "tessera_http_requests_total";
const TIMES = "tessera_http_request_duration_seconds_bucket";

export function readingOf(text: string, at: number): Reading {
  const sums = new Map<string, number>();
  const byStatus = new Map<string, number>();
  const within = new Map<number, number>();
  const add = <K>(map: Map<K, number>, key: K, value: number): Map<K, number> =>
    map.set(key, (map.get(key) ?? 0) + value);
  for (const line of text.split("\n")) {
    const [, name, labels = "", written] = LINE.exec(line) ?? [];
    const value = Number(written);
    if (name === undefined || !Number.isFinite(value)) continue;
    if (name === TIMES) add(within, secondsOf(/le="([^"]+)"/.exec(labels)?.[1]), value);
    if (name.endsWith("_bucket")) continue;
    add(sums, name, value);
    const status = name === REQUESTS ? /status="(\d+)"/.exec(labels)?.[1] : undefined;
    if (status !== undefined) add(byStatus, status, value);
  }
  return { at, sums, byStatus, within };
}

function secondsOf(bound: string | undefined): number {
  return bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound);
}

/** Of what counts up, between two readings, per second. */
export function perSecond(before: Reading, now: Reading, name: string): number {
  const seconds = (now.at - before.at) / 1000;
  return Math.max(0, ((now.sums.get(name) ?? 0) - (before.sums.get(name) ?? 0)) / seconds);
}

/**
 * Milliseconds that this part of the requests between two readings took at most, as exact as the histogram's bounds: a
 * straight line between two of them. NaN while there was none.
 */
export function quantileMs(before: Reading, now: Reading, part: number): number {
  const bounds = [...now.within.keys()].sort((a, b) => a - b);
  const counts = bounds.map((bound) => (now.within.get(bound) ?? 0) - (before.within.get(bound) ?? 0));
  const wanted = (counts.at(-1) ?? 0) * part;
  if (wanted <= 0) return Number.NaN;
  const at = counts.findIndex((count) => count >= wanted);
  const [least, fewer] = at === 0 ? [0, 0] : [bounds[at - 1]!, counts[at - 1]!];
  // Beyond the last bound nothing is known.
  if (bounds[at] === Number.POSITIVE_INFINITY) return least * 1000;
  return (least + ((bounds[at]! - least) * (wanted - fewer)) / (counts[at]! - fewer)) * 1000;
}

export function failedPerSecond(before: Reading, now: Reading): number {
  const failed = (reading: Reading): number =>
    [...reading.byStatus].reduce((sum, [status, count]) => (status.startsWith("5") ? sum + count : sum), 0);
  return Math.max(0, (failed(now) - failed(before)) / ((now.at - before.at) / 1000));
}
