/** Confidence intervals of 95 %: of shares by Wilson's score, of means by resampling from a fixed seed. Pure. */
import { Random } from "../../src/automl/random.js";

const Z = 1.96;
const SAMPLES = 2000;

export type Interval = readonly [low: number, high: number];

export function intervalOfShare(right: number, all: number): Interval {
  if (all === 0) return [0, 1];
  const share = right / all;
  const middle = (share + Z ** 2 / (2 * all)) / (1 + Z ** 2 / all);
  const half = (Z * Math.sqrt((share * (1 - share)) / all + Z ** 2 / (4 * all ** 2))) / (1 + Z ** 2 / all);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

export function intervalOfMean(values: readonly number[]): Interval {
  const random = new Random(1, "resampling");
  const means = Array.from({ length: SAMPLES }, () => {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[Math.floor(random.next() * values.length)]!;
    return sum / values.length;
  }).sort((a, b) => a - b);
  return [means[Math.floor(0.025 * SAMPLES)]!, means[Math.floor(0.975 * SAMPLES)]!];
}
