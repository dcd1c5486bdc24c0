/**
 * How bold the probabilities of a configuration should be: p^s, made to sum to 1 again, with the s that is best for
 * rows it did not learn from (temperature scaling, Guo et al. 2017). A forest is too timid, a network too bold; made
 * alike, they can be compared and vote together. No state.
 */

/** Beyond these the rows are too few to tell. */
const LEAST = 0.25;
const MOST = 6;
const STEPS = 24;
const GOLDEN = (Math.sqrt(5) - 1) / 2;
const PROBABILITY_MIN = 1e-6;

/** Rows × outputs as log-odds: of the second of two classes, or of each class. */
function logits(predicted: Float64Array, outputs: number): Float64Array {
  const bounded = (p: number) => Math.min(1 - PROBABILITY_MIN, Math.max(PROBABILITY_MIN, p));
  return predicted.map((p) => (outputs === 1 ? Math.log(bounded(p) / (1 - bounded(p))) : Math.log(bounded(p))));
}

/** By golden section: the loss is convex in it. */
export function sharpnessOf(predicted: Float64Array, target: Float64Array, outputs: number): number {
  const scores = logits(predicted, outputs);
  const loss = (power: number) => lossOf(scores, target, outputs, Math.exp(power));
  let [low, high] = [Math.log(LEAST), Math.log(MOST)];
  let [a, b] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
  let [lossA, lossB] = [loss(a), loss(b)];
  for (let step = 0; step < STEPS; step++) {
    if (lossA <= lossB) {
      [high, b, lossB] = [b, a, lossA];
      a = high - GOLDEN * (high - low);
      lossA = loss(a);
    } else {
      [low, a, lossA] = [a, b, lossB];
      b = low + GOLDEN * (high - low);
      lossB = loss(b);
    }
  }
  return Number(Math.exp((low + high) / 2).toPrecision(4));
}

function lossOf(scores: Float64Array, target: Float64Array, outputs: number, sharpness: number): number {
  let sum = 0;
  for (let row = 0; row < target.length; row++) {
    const is = target[row]!;
    if (outputs === 1) {
      const score = sharpness * scores[row]!;
      sum += Math.log1p(Math.exp(-Math.abs(score))) + Math.max(score, 0) - score * is;
      continue;
    }
    const at = row * outputs;
    let highest = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < outputs; k++) highest = Math.max(highest, scores[at + k]!);
    let total = 0;
    for (let k = 0; k < outputs; k++) total += Math.exp(sharpness * (scores[at + k]! - highest));
    sum += Math.log(total) - sharpness * (scores[at + is]! - highest);
  }
  return sum;
}

/** A copy; the order of a row's classes stays. */
export function sharpened(predicted: Float64Array, outputs: number, sharpness: number): Float64Array {
  if (sharpness === 1) return predicted;
  const scores = logits(predicted, outputs).map((score) => sharpness * score);
  if (outputs === 1) return scores.map((score) => 1 / (1 + Math.exp(-score)));
  for (let at = 0; at < scores.length; at += outputs) {
    const row = scores.subarray(at, at + outputs);
    const highest = row.reduce((most, score) => Math.max(most, score), Number.NEGATIVE_INFINITY);
    let total = 0;
    for (let k = 0; k < outputs; k++) total += row[k] = Math.exp(row[k]! - highest);
    for (let k = 0; k < outputs; k++) row[k]! /= total;
  }
  return scores;
}
