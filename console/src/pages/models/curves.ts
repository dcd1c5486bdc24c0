/** Curves that show how good predictions are, from true values and what was predicted. Pure. */
import type { ChartData } from "../../ui/chart.js";

const BINS = 10;

/** A class that was there, and how probable the model called it. */
export interface Judged {
  readonly isTrue: boolean;
  readonly probability: number;
}

/** How often the class was there, among rows that the model called about as probable; beside what would be right. */
export function calibrationOf(rows: readonly Judged[]): ChartData {
  const bins = Array.from({ length: BINS }, () => ({ count: 0, sum: 0, hits: 0 }));
  for (const { isTrue, probability } of rows) {
    const bin = bins[Math.min(BINS - 1, Math.floor(probability * BINS))]!;
    bin.count++;
    bin.sum += probability;
    bin.hits += Number(isTrue);
  }
  const filled = bins.filter(({ count }) => count > 0);
  const x = filled.map(({ sum, count }) => sum / count);
  return {
    ...{ kind: "line", xKind: "number", x },
    series: [
      { name: "happened", values: filled.map(({ hits, count }) => hits / count) },
      { name: "as predicted", values: x },
    ],
  };
}

const POINTS_MAX = 200;

/** Of those that are of the class, how many are found, when so many of the others are taken for it, too. */
export function rocOf(rows: readonly Judged[]): ChartData {
  const sorted = [...rows].sort((a, b) => b.probability - a.probability);
  const all = sorted.filter(({ isTrue }) => isTrue).length;
  const others = sorted.length - all;
  const points: [number, number][] = [[0, 0]];
  let [hits, misses] = [0, 0];
  for (const [i, { isTrue, probability }] of sorted.entries()) {
    if (isTrue) hits++;
    else misses++;
    // Rows that the model does not tell apart are one point.
    if (sorted[i + 1]?.probability !== probability) points.push([misses / (others || 1), hits / (all || 1)]);
  }
  const step = Math.max(1, Math.ceil(points.length / POINTS_MAX));
  const shown = points.filter((_, i) => i % step === 0 || i === points.length - 1);
  const x = shown.map(([share]) => share);
  return {
    ...{ kind: "line", xKind: "number", x },
    series: [
      { name: "found", values: shown.map(([, share]) => share) },
      { name: "by chance", values: x },
    ],
  };
}

/** Points on the line are right. */
export function predictedAndTrue(truth: readonly number[], predicted: readonly number[]): ChartData {
  return {
    ...{ kind: "scatter", xKind: "number", x: truth },
    series: [
      { name: "predicted", values: predicted },
      { name: "true", values: truth },
    ],
  };
}

/** The best score up to each trial, and the trial's own. `isLess`: less is better. */
export function progressOf(scores: readonly number[], isLess: boolean): ChartData {
  const best: number[] = [];
  for (const score of scores) {
    const before = best.at(-1) ?? score;
    best.push(isLess ? Math.min(before, score) : Math.max(before, score));
  }
  return {
    ...{ kind: "line", xKind: "number", x: scores.map((_, i) => i + 1) },
    series: [
      { name: "this trial", values: scores },
      { name: "best so far", values: best },
    ],
  };
}
