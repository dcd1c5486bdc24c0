/**
 * The split of a node that gains most, found by one pass over each feature's histogram. Called by grow-tree.ts; no
 * state.
 */
import type { BinnedColumn } from "./bins.js";

/**
 * What a node sums up. `gradient`: per row the loss's first and second derivative. `classes`: per row a class, whose
 * shares are the leaf's values; the gain is then the one of Gini's impurity.
 */
export type Statistics =
  | { readonly kind: "gradient"; readonly gradients: Float64Array; readonly hessians: Float64Array }
  | { readonly kind: "classes"; readonly labels: Uint8Array; readonly classes: number };

export interface Split {
  readonly feature: number;
  /** Rows up to and including this bin go left. */
  readonly bin: number;
  readonly missingLeft: boolean;
  readonly gain: number;
  /** Sums of the left child: outputs, then the weight. */
  readonly left: Float64Array;
}

export interface NodeHistogram {
  readonly histogram: Float64Array;
  readonly columns: readonly BinnedColumn[];
  readonly offsets: Int32Array;
  /** Numbers of a bin: outputs, then the weight. */
  readonly stride: number;
  readonly totals: Float64Array;
}

interface Rules {
  readonly minChildWeight: number;
  readonly lambda: number;
  readonly gainMin: number;
}

interface Found {
  /** Of a node with one output: the sums of the left child. */
  leftSum: number;
  leftWeight: number;
  feature: number;
  bin: number;
  missingLeft: boolean;
  gain: number;
}

/** Null when no split gains more than `gainMin`. Of equal gains the first feature and bin wins. */
export function bestSplit(node: NodeHistogram, features: Int32Array, rules: Rules): Split | null {
  const found: Found = {
    ...{ feature: -1, bin: -1, missingLeft: false, gain: rules.gainMin },
    ...{ leftSum: 0, leftWeight: 0 },
  };
  const isOne = node.stride === 2;
  for (let i = 0; i < features.length; i++) {
    if (isOne) scanOne(node, features[i]!, rules, found);
    else scanMany(node, features[i]!, rules, found);
  }
  const { feature, bin, missingLeft, gain } = found;
  if (feature < 0) return null;
  const left = isOne ? new Float64Array(2) : sumsOfLeft(node, feature, bin, missingLeft);
  if (isOne) {
    left[0] = found.leftSum;
    left[1] = found.leftWeight;
  }
  return { feature, bin, missingLeft, gain, left };
}

/** With one output; half of the time of a training is spent here and in summing up. */
function scanOne(node: NodeHistogram, feature: number, rules: Rules, found: Found): void {
  const { histogram, totals } = node;
  const { lambda, minChildWeight } = rules;
  const valueBins = node.columns[feature]!.cuts.length + 1;
  const offset = node.offsets[feature]!;
  const sum = totals[0]!;
  const weight = totals[1]!;
  const parent = (sum * sum) / (weight + lambda);
  const missingSum = histogram[offset + 2 * valueBins]!;
  const missingWeight = histogram[offset + 2 * valueBins + 1]!;
  const hasMissing = missingWeight > 1e-9;
  // With missing values there is one split more: all values left, missing ones right.
  const last = hasMissing ? valueBins : valueBins - 1;
  let leftSum = 0;
  let leftWeight = 0;
  let best = 2 * found.gain + parent;
  for (let bin = 0; bin < last; bin++) {
    const binWeight = histogram[offset + 2 * bin + 1]!;
    if (binWeight === 0) continue;
    leftSum += histogram[offset + 2 * bin]!;
    leftWeight += binWeight;
    const rightWeight = weight - leftWeight;
    // What remains on the right only shrinks from here on.
    if (rightWeight < minChildWeight) break;
    if (leftWeight >= minChildWeight) {
      const rightSum = sum - leftSum;
      const score = (leftSum * leftSum) / (leftWeight + lambda) + (rightSum * rightSum) / (rightWeight + lambda);
      if (score > best) {
        best = score;
        // Without missing values here, those met later go with the greater side.
        note(found, feature, bin, !hasMissing && leftWeight >= rightWeight, 0.5 * (score - parent));
        found.leftSum = leftSum;
        found.leftWeight = leftWeight;
      }
    }
    if (!hasMissing || bin === valueBins - 1) continue;
    const leftWeightToo = leftWeight + missingWeight;
    const rightWeightToo = weight - leftWeightToo;
    if (leftWeightToo < minChildWeight || rightWeightToo < minChildWeight) continue;
    const leftSumToo = leftSum + missingSum;
    const rightSumToo = sum - leftSumToo;
    const score =
      (leftSumToo * leftSumToo) / (leftWeightToo + lambda) + (rightSumToo * rightSumToo) / (rightWeightToo + lambda);
    if (score > best) {
      best = score;
      note(found, feature, bin, true, 0.5 * (score - parent));
      found.leftSum = leftSumToo;
      found.leftWeight = leftWeightToo;
    }
  }
}

function note(found: Found, feature: number, bin: number, missingLeft: boolean, gain: number): void {
  found.feature = feature;
  found.bin = bin;
  found.missingLeft = missingLeft;
  found.gain = gain;
}

function scanMany(node: NodeHistogram, feature: number, rules: Rules, found: Found): void {
  const { stride, totals, histogram } = node;
  const outputs = stride - 1;
  const weight = totals[outputs]!;
  const parent = scoreOf(totals, outputs, weight, rules.lambda);
  const valueBins = node.columns[feature]!.cuts.length + 1;
  const offset = node.offsets[feature]!;
  const missing = histogram.subarray(offset + valueBins * stride, offset + (valueBins + 1) * stride);
  const hasMissing = missing[outputs]! > 1e-9;
  const left = new Float64Array(stride);
  const leftToo = new Float64Array(stride);
  const consider = (sums: Float64Array, bin: number, missingLeft: boolean | null) => {
    const leftWeight = sums[outputs]!;
    const rightWeight = weight - leftWeight;
    if (leftWeight < rules.minChildWeight || rightWeight < rules.minChildWeight) return;
    const gain = 0.5 * (pairScore(sums, totals, outputs, leftWeight, rightWeight, rules.lambda) - parent);
    if (gain > found.gain) note(found, feature, bin, missingLeft ?? leftWeight >= rightWeight, gain);
  };
  const last = hasMissing ? valueBins : valueBins - 1;
  for (let bin = 0; bin < last; bin++) {
    const at = offset + bin * stride;
    if (histogram[at + outputs] === 0) continue;
    for (let i = 0; i < stride; i++) left[i]! += histogram[at + i]!;
    consider(left, bin, hasMissing ? false : null);
    if (!hasMissing || bin === valueBins - 1) continue;
    for (let i = 0; i < stride; i++) leftToo[i] = left[i]! + missing[i]!;
    consider(leftToo, bin, true);
  }
}

function sumsOfLeft(node: NodeHistogram, feature: number, bin: number, missingLeft: boolean): Float64Array {
  const { histogram, stride } = node;
  const offset = node.offsets[feature]!;
  const sums = new Float64Array(stride);
  const add = (from: number) => {
    for (let i = 0; i < stride; i++) sums[i]! += histogram[offset + from * stride + i]!;
  };
  for (let b = 0; b <= bin; b++) add(b);
  if (missingLeft) add(node.columns[feature]!.cuts.length + 1);
  return sums;
}

function scoreOf(sums: Float64Array, outputs: number, weight: number, lambda: number): number {
  let score = 0;
  for (let i = 0; i < outputs; i++) score += sums[i]! * sums[i]!;
  return weight + lambda > 0 ? score / (weight + lambda) : 0;
}

/** Of a left side and what remains of the whole. */
function pairScore(
  left: Float64Array,
  totals: Float64Array,
  outputs: number,
  leftWeight: number,
  rightWeight: number,
  lambda: number,
): number {
  let leftSum = 0;
  let rightSum = 0;
  for (let i = 0; i < outputs; i++) {
    const part = left[i]!;
    const rest = totals[i]! - part;
    leftSum += part * part;
    rightSum += rest * rest;
  }
  return leftSum / (leftWeight + lambda) + rightSum / (rightWeight + lambda);
}
