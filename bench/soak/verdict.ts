/**
 * Whether a soak was flat: how memory, files and what is stored grew over its last two thirds, and whether answers at
 * its end took longer than at its begin. Pure; called by run.ts.
 */

import { sortedQuantile } from "../statistics.js";
import { type Census, type CensusGrowth, censusGrowths, isStoredMore } from "./census.js";
import type { WindowReport } from "./load.js";
import { DATA_PARTS, type Sample } from "./samples.js";

export interface Line {
  /** Per hour. */
  readonly slope: number;
  /** Half of the 95% interval of the slope, by the points' distances from the line. */
  readonly slopeError: number;
  readonly mean: number;
}

export interface Growth extends Line {
  readonly what: string;
  readonly unit: "bytes" | "count";
  /** Growth per hour up to which it counts as flat. */
  readonly bound: number;
  readonly flat: boolean;
}

export interface Slowdown {
  readonly kind: string;
  readonly pieces: number;
  readonly p50Ms: readonly [first: number, last: number];
  readonly p99Ms: readonly [first: number, last: number];
  readonly slower: boolean;
}

export interface FailureCount {
  readonly kind: string;
  readonly status: number;
  readonly count: number;
  readonly first: string;
}

export interface Verdict {
  readonly growths: readonly Growth[];
  readonly slowdowns: readonly Slowdown[];
  readonly failures: readonly FailureCount[];
  /** Server CPU milliseconds per piece of work, of the first third and of the last. */
  readonly cpuMsPerPiece: readonly [number, number];
  /** Of what is stored, those kinds of which there is more at the end than after a third. */
  readonly stored: readonly CensusGrowth[];
  readonly problems: readonly string[];
}

/** Points of a sawtooth are taken as the least of each such interval: what garbage collection left. */
const FLOOR_SECONDS = 30;
/** Logs are cut less often: the least of each such share of the time that is judged. */
const DATA_FLOORS = 8;
const HOUR_SECONDS = 3600;
const MIB = 2 ** 20;
/** Shares of the mean and least bounds per hour. */
const BOUNDS: Readonly<Record<string, { readonly share: number; readonly least: number }>> = {
  rss: { share: 0.05, least: 24 * MIB },
  heap: { share: 0.1, least: 8 * MIB },
  handles: { share: 0, least: 4 },
  threads: { share: 0, least: 2 },
  data: { share: 0.1, least: 24 * MIB },
};
/** A kind with fewer pieces in a third has no 99th percentile to speak of. */
const PIECES_MIN = 300;
/** Slower means both: by this factor, and by so many milliseconds. */
const SLOWER_FACTOR = 1.5;
const SLOWER_MS = 10;

/** Least squares; x in seconds. Fewer than three points have no error, and a slope of none. */
export function leastSquares(points: readonly (readonly [seconds: number, value: number])[]): Line {
  const n = points.length;
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / Math.max(1, n);
  const mean = points.reduce((sum, [, y]) => sum + y, 0) / Math.max(1, n);
  let xx = 0;
  let xy = 0;
  for (const [x, y] of points) {
    xx += (x - meanX) ** 2;
    xy += (x - meanX) * (y - mean);
  }
  if (n < 3 || xx === 0) return { slope: 0, slopeError: Number.POSITIVE_INFINITY, mean };
  const slope = xy / xx;
  let residual = 0;
  for (const [x, y] of points) residual += (y - mean - slope * (x - meanX)) ** 2;
  const error = 1.96 * Math.sqrt(residual / (n - 2) / xx);
  return { slope: slope * HOUR_SECONDS, slopeError: error * HOUR_SECONDS, mean };
}

/** The least value of each interval, at its middle. */
export function floors(points: readonly (readonly [number, number])[], seconds = FLOOR_SECONDS): [number, number][] {
  const least = new Map<number, number>();
  for (const [x, y] of points) {
    const interval = Math.floor(x / seconds);
    least.set(interval, Math.min(y, least.get(interval) ?? Number.POSITIVE_INFINITY));
  }
  return [...least].map(([interval, y]) => [(interval + 0.5) * seconds, y]);
}

/**
 * Over the last two thirds. Something leaks when the slope lies above the bound even after the error is taken off, so
 * that a wave within a short soak is none; a leak that a soak is too short to see has a large `slopeError`.
 * `toothBytes`: what logs and files gain from one filling of memory to the next, which counts as flat however short the
 * soak.
 */
export function growths(samples: readonly Sample[], toothBytes = 0): Growth[] {
  const end = samples.at(-1)?.second ?? 0;
  const late = samples.filter(({ second }) => second >= end / 3);
  const actors = Math.max(0, ...late.map(({ heapBytes }) => heapBytes.length));
  const series: [what: string, bound: string, value: (sample: Sample) => number | undefined][] = [
    ["memory (RSS)", "rss", (sample) => sample.rssBytes],
    ...Array.from({ length: actors }, (_, i): [string, string, (sample: Sample) => number | undefined] => [
      i === actors - 1 ? "heap of the gateway" : `heap of actor ${i}`,
      "heap",
      (sample) => (sample.heapBytes.length === actors ? sample.heapBytes[i] : undefined),
    ]),
    ["handles", "handles", (sample) => sample.handles],
    ["threads", "threads", (sample) => sample.threads],
    ["data directory", "data", (sample) => sample.dataBytes],
    ...DATA_PARTS.map((part): [string, string, (sample: Sample) => number] => [
      `  ${part}`,
      "data",
      (sample) => sample.dataPartBytes[part],
    ]),
  ];
  const judgedSeconds = (end * 2) / 3;
  return series.map(([what, kind, value]) => {
    const points: [number, number][] = [];
    for (const sample of late) {
      const y = value(sample);
      if (y !== undefined) points.push([sample.second, y]);
    }
    const isData = kind === "data";
    const line = leastSquares(
      floors(points, isData ? Math.max(FLOOR_SECONDS, judgedSeconds / DATA_FLOORS) : undefined),
    );
    const { share, least } = BOUNDS[kind]!;
    const tooth = isData ? (toothBytes * HOUR_SECONDS) / Math.max(1, judgedSeconds) : 0;
    const bound = Math.max(share * line.mean, least, tooth);
    const unit = kind === "handles" || kind === "threads" ? "count" : "bytes";
    return { what, unit, ...line, bound, flat: !(line.slope - line.slopeError > bound) };
  });
}

export function quantile(values: readonly number[], share: number): number {
  return sortedQuantile(Float64Array.from(values).sort(), share) ?? 0;
}

/** The last third against the first. */
export function slowdowns(windows: readonly WindowReport[]): Slowdown[] {
  const end = windows.at(-1)?.second ?? 0;
  const kinds = new Set(windows.flatMap(({ latenciesMs }) => Object.keys(latenciesMs)));
  const of = (kind: string, from: number, to: number): number[] =>
    windows.filter(({ second }) => second > from && second <= to).flatMap(({ latenciesMs }) => latenciesMs[kind] ?? []);
  return [...kinds].map((kind) => {
    const first = of(kind, 0, end / 3);
    const last = of(kind, (2 * end) / 3, end);
    const p99Ms = [quantile(first, 0.99), quantile(last, 0.99)] as const;
    const enough = Math.min(first.length, last.length) >= PIECES_MIN;
    const slower = enough && p99Ms[1] > p99Ms[0] * SLOWER_FACTOR && p99Ms[1] > p99Ms[0] + SLOWER_MS;
    const pieces = of(kind, 0, end).length;
    return { kind, pieces, p50Ms: [quantile(first, 0.5), quantile(last, 0.5)], p99Ms, slower };
  });
}

export function countFailures(windows: readonly WindowReport[]): FailureCount[] {
  const counts = new Map<string, { kind: string; status: number; count: number; first: string }>();
  for (const { kind, status, message } of windows.flatMap(({ failures }) => failures)) {
    const known = counts.get(`${kind} ${status}`);
    if (known === undefined) counts.set(`${kind} ${status}`, { kind, status, count: 1, first: message });
    else known.count++;
  }
  return [...counts.values()];
}

function cpuMsPerPiece(samples: readonly Sample[], windows: readonly WindowReport[], from: number, to: number): number {
  const within = samples.filter(({ second }) => second > from && second <= to);
  const used = (within.at(-1)?.cpuSeconds ?? 0) - (within[0]?.cpuSeconds ?? 0);
  const pieces = windows
    .filter(({ second }) => second > from && second <= to)
    .reduce((sum, { latenciesMs }) => sum + Object.values(latenciesMs).reduce((n, one) => n + one.length, 0), 0);
  return (1000 * used) / Math.max(1, pieces);
}

export interface JudgeOptions {
  readonly toothBytes?: number;
  /** What is stored after a third, and at the end. */
  readonly censuses?: readonly [Census, Census] | null;
}

export function judge(
  samples: readonly Sample[],
  windows: readonly WindowReport[],
  { toothBytes = 0, censuses = null }: JudgeOptions = {},
): Verdict {
  const end = samples.at(-1)?.second ?? 0;
  const grown = growths(samples, toothBytes);
  const stored = censuses === null ? [] : censusGrowths(...censuses);
  const slowed = slowdowns(windows);
  const failures = countFailures(windows);
  return {
    growths: grown,
    slowdowns: slowed,
    failures,
    cpuMsPerPiece: [cpuMsPerPiece(samples, windows, 0, end / 3), cpuMsPerPiece(samples, windows, (2 * end) / 3, end)],
    stored,
    problems: [
      ...grown.filter(({ flat }) => !flat).map(({ what }) => `${what.trim()} grows`),
      ...(censuses !== null && isStoredMore(...censuses)
        ? [`more is stored at the end than after a third, most of ${stored[0]?.kind}`]
        : []),
      ...slowed.filter(({ slower }) => slower).map(({ kind }) => `${kind} became slower`),
      ...failures.map(({ kind, status, count, first }) => `${kind}: ${count} × ${status}, first: ${first}`),
    ],
  };
}
