/**
 * The split of a node that gains most among one cut by chance in each feature (Geurts, Ernst and Wehenkel 2006,
 * "Extremely randomized trees"). No histogram is summed up. Called by grow-tree.ts; no state.
 */
import type { Random } from "../random.js";
import type { Split, Statistics } from "./best-split.js";
import type { BinnedColumn } from "./bins.js";

/** Rows `start` to `end` of `rows`. */
export interface RowRange {
  readonly rows: Int32Array;
  readonly start: number;
  readonly end: number;
}

interface Rules {
  readonly minChildWeight: number;
  readonly gainMin: number;
}

/** Bins of the rows that have a value; `hasMissing` when a row has none. */
interface Spread {
  readonly low: number;
  readonly high: number;
  readonly hasMissing: boolean;
}

/** Null when no cut gains more than `gainMin`. */
export function randomSplit(
  columns: readonly BinnedColumn[],
  statistics: Statistics,
  range: RowRange,
  features: Int32Array,
  totals: Float64Array,
  rules: Rules,
  random: Random,
): Split | null {
  let best: Split | null = null;
  for (const feature of features) {
    const column = columns[feature]!;
    const { low, high, hasMissing } = spreadOf(column, range);
    // Of one value, those rows against the missing ones.
    const bin = high > low ? low + random.below(high - low) : high;
    const missingLeft = high > low && hasMissing && random.next() < 0.5;
    const left = sumsOfLeft(column, statistics, range, bin, missingLeft, totals.length);
    const gain = gainOf(left, totals, rules.minChildWeight);
    if (gain > (best?.gain ?? rules.gainMin)) best = { feature, bin, missingLeft, gain, left };
  }
  return best;
}

function spreadOf({ bins, cuts }: BinnedColumn, { rows, start, end }: RowRange): Spread {
  const missing = cuts.length + 1;
  let low = missing;
  let high = -1;
  let hasMissing = false;
  for (let i = start; i < end; i++) {
    const bin = bins[rows[i]!]!;
    if (bin === missing) {
      hasMissing = true;
      continue;
    }
    if (bin < low) low = bin;
    if (bin > high) high = bin;
  }
  return { low, high, hasMissing };
}

function sumsOfLeft(
  { bins, cuts }: BinnedColumn,
  statistics: Statistics,
  { rows, start, end }: RowRange,
  cut: number,
  missingLeft: boolean,
  stride: number,
): Float64Array {
  const missing = cuts.length + 1;
  const sums = new Float64Array(stride);
  for (let i = start; i < end; i++) {
    const row = rows[i]!;
    const bin = bins[row]!;
    if (bin === missing ? !missingLeft : bin > cut) continue;
    if (statistics.kind === "classes") {
      sums[statistics.labels[row]!]! += 1;
      sums[stride - 1]! += 1;
    } else {
      sums[0]! += statistics.gradients[row]!;
      sums[1]! += statistics.hessians[row]!;
    }
  }
  return sums;
}

function gainOf(left: Float64Array, totals: Float64Array, minChildWeight: number): number {
  const outputs = totals.length - 1;
  const weight = totals[outputs]!;
  const leftWeight = left[outputs]!;
  const rightWeight = weight - leftWeight;
  if (leftWeight < minChildWeight || rightWeight < minChildWeight) return Number.NEGATIVE_INFINITY;
  let [leftScore, rightScore, score] = [0, 0, 0];
  for (let i = 0; i < outputs; i++) {
    const whole = totals[i]!;
    const part = left[i]!;
    leftScore += part * part;
    rightScore += (whole - part) * (whole - part);
    score += whole * whole;
  }
  return 0.5 * (leftScore / leftWeight + rightScore / rightWeight - score / weight);
}
