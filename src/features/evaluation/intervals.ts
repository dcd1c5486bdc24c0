/**
 * Intervals of 95 %: of means by resampling from a fixed seed (the percentile bootstrap, Efron 1979), of shares by
 * Wilson's score (1927), of quantiles by ranks. Pure; `resampled` works in steps, so that others get their turns.
 */
import { Random } from "../../automl/random.js";

export type Interval = readonly [low: number, high: number];

/** A figure with its interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const Z = 1.96;
const SAMPLES = 2000;
const TAIL = 0.025;

/**
 * Of the mean of each series. All series have the same length, and one draw of questions serves them all, so that the
 * interval of a difference is that of pairs. Seeded: the same series have the same intervals.
 */
export function* resampled(series: readonly Float64Array[]): Generator<void, Interval[]> {
  const random = new Random(1, "resampling");
  const length = series[0]?.length ?? 0;
  const means = series.map(() => new Float64Array(SAMPLES));
  const sums = new Float64Array(series.length);
  for (let sample = 0; sample < SAMPLES; sample++) {
    sums.fill(0);
    for (let i = 0; i < length; i++) {
      const place = Math.floor(random.next() * length);
      for (let s = 0; s < series.length; s++) sums[s]! += series[s]![place]!;
    }
    for (let s = 0; s < series.length; s++) means[s]![sample] = sums[s]! / length;
    yield;
  }
  const intervals: Interval[] = [];
  for (const own of means) {
    own.sort();
    intervals.push([own[Math.floor(TAIL * SAMPLES)]!, own[Math.floor((1 - TAIL) * SAMPLES)]!]);
    yield;
  }
  return intervals;
}

/** Of one series, at once. */
export function intervalOfMean(values: readonly number[]): Interval {
  const steps = resampled([Float64Array.from(values)]);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value[0]!;
  }
}

export function intervalOfShare(right: number, all: number): Interval {
  if (all === 0) return [0, 1];
  const share = right / all;
  const middle = (share + Z ** 2 / (2 * all)) / (1 + Z ** 2 / all);
  const half = (Z * Math.sqrt((share * (1 - share)) / all + Z ** 2 / (4 * all ** 2))) / (1 + Z ** 2 / all);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** Of sorted values: the value that this share is at or below, between the ranks where it can lie. */
export function quantileOf(sorted: Float64Array, share: number): Estimate {
  const { length } = sorted;
  const spread = Z * Math.sqrt(length * share * (1 - share));
  const at = (rank: number) => sorted[Math.min(length - 1, Math.max(0, Math.ceil(rank) - 1))]!;
  return { value: at(length * share), low: at(length * share - spread), high: at(length * share + spread + 1) };
}

export function meanOf(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}
