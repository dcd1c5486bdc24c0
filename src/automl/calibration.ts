/**
 * Probabilities that mean what they say: Platt's sigmoid (Platt 1999, with the targets and the Newton steps of Lin, Lin
 * and Weng 2007) or isotonic regression (Zadrozny and Elkan 2002). Several classes are calibrated each against the rest
 * and made to sum to 1. Called by the search and by loaded models; no state.
 */

import type { CalibrationReport } from "./contract.js";
import { calibrationError, scoresOf } from "./metrics.js";
import type { Fold } from "./search/folds.js";

export type Curve =
  | { readonly kind: "platt"; readonly slope: number; readonly intercept: number }
  | { readonly kind: "isotonic"; readonly x: readonly number[]; readonly y: readonly number[] };

export interface Calibration {
  readonly method: "none" | "platt" | "isotonic";
  /** One for two classes, otherwise one a class; none with the method `none`. */
  readonly curves: readonly Curve[];
}

export function calibrate(
  method: Calibration["method"],
  predicted: Float64Array,
  target: Float64Array,
  outputs: number,
): Calibration {
  if (method === "none") return { method, curves: [] };
  const fit = method === "platt" ? fitPlatt : fitIsotonic;
  const curves = Array.from({ length: outputs }, (_, k) => {
    const scores = Float64Array.from(target, (_, row) => predicted[row * outputs + k]!);
    const hits = outputs === 1 ? target : target.map((is) => (is === k ? 1 : 0));
    return fit(scores, hits);
  });
  return { method, curves };
}

export function applyCalibration({ curves }: Calibration, predicted: Float64Array, outputs: number): Float64Array {
  if (curves.length === 0) return predicted;
  const result = predicted.map((probability, i) => valueAt(curves[i % outputs]!, probability));
  if (outputs === 1) return result;
  for (let at = 0; at < result.length; at += outputs) {
    let sum = 0;
    for (let k = 0; k < outputs; k++) sum += result[at + k]!;
    for (let k = 0; k < outputs; k++) result[at + k] = sum > 0 ? result[at + k]! / sum : predicted[at + k]!;
  }
  return result;
}

/** A calibration must better the log-loss by this share of it to be used at all. */
const WORTHWHILE = 0.001;

/**
 * Chosen by log-loss where it counts: each fold's rows are calibrated by a curve from the other folds' rows. Returns
 * the curve from all rows, and the probabilities as the folds saw them. `folds` number the rows of `predicted`.
 */
export function chooseCalibration(
  predicted: Float64Array,
  target: Float64Array,
  classes: number,
  folds: readonly Fold["valid"][],
): { calibration: Calibration; calibrated: Float64Array; report: CalibrationReport } {
  const outputs = classes === 2 ? 1 : classes;
  const task = classes === 2 ? "binary_classification" : "multiclass_classification";
  const lossOf = (p: Float64Array) => scoresOf(task, target, p, classes).log_loss!;
  const before = lossOf(predicted);
  let best: { method: Calibration["method"]; calibrated: Float64Array; loss: number } = {
    method: "none",
    calibrated: predicted,
    loss: before * (1 - WORTHWHILE),
  };
  for (const method of ["platt", "isotonic"] as const) {
    const calibrated = acrossFolds(method, predicted, target, outputs, folds);
    const loss = lossOf(calibrated);
    if (loss < best.loss) best = { method, calibrated, loss };
  }
  const { method, calibrated } = best;
  const report = {
    method,
    brierBefore: scoresOf(task, target, predicted, classes).brier!,
    brierAfter: scoresOf(task, target, calibrated, classes).brier!,
    eceBefore: calibrationError(target, predicted, classes),
    eceAfter: calibrationError(target, calibrated, classes),
    logLossBefore: before,
    logLossAfter: lossOf(calibrated),
  };
  return { calibration: calibrate(method, predicted, target, outputs), calibrated, report };
}

function acrossFolds(
  method: Calibration["method"],
  predicted: Float64Array,
  target: Float64Array,
  outputs: number,
  folds: readonly Int32Array[],
): Float64Array {
  const result = predicted.slice();
  for (const fold of folds) {
    const inside = new Uint8Array(target.length);
    for (const row of fold) inside[row] = 1;
    const others = Int32Array.from(target.keys()).filter((row) => inside[row] === 0);
    if (others.length === 0) continue;
    const curve = calibrate(method, take(predicted, others, outputs), take(target, others, 1), outputs);
    const calibrated = applyCalibration(curve, take(predicted, fold, outputs), outputs);
    fold.forEach((row, i) => {
      result.set(calibrated.subarray(i * outputs, (i + 1) * outputs), row * outputs);
    });
  }
  return result;
}

export function take(values: Float64Array, rows: Int32Array, outputs: number): Float64Array {
  const taken = new Float64Array(rows.length * outputs);
  rows.forEach((row, i) => {
    for (let k = 0; k < outputs; k++) taken[i * outputs + k] = values[row * outputs + k]!;
  });
  return taken;
}

function logit(probability: number): number {
  const bounded = Math.min(1 - 1e-6, Math.max(1e-6, probability));
  return Math.log(bounded / (1 - bounded));
}

/** Slope and intercept on the log-odds, by Newton's method with halved steps. */
export function fitPlatt(scores: Float64Array, hits: Float64Array): Curve {
  const x = scores.map(logit);
  const positive = hits.reduce((sum, hit) => sum + hit, 0);
  const high = (positive + 1) / (positive + 2);
  const low = 1 / (hits.length - positive + 2);
  const wanted = hits.map((hit) => (hit === 1 ? high : low));
  const lossAt = (a: number, b: number) => {
    let loss = 0;
    for (let i = 0; i < x.length; i++) {
      const z = a * x[i]! + b;
      loss += Math.log1p(Math.exp(-Math.abs(z))) + Math.max(z, 0) - z * wanted[i]!;
    }
    return loss;
  };
  let slope = 1;
  let intercept = 0;
  let loss = lossAt(slope, intercept);
  for (let step = 0; step < 100; step++) {
    let [ga, gb, haa, hab, hbb] = [0, 0, 1e-9, 0, 1e-9];
    for (let i = 0; i < x.length; i++) {
      const p = 1 / (1 + Math.exp(-(slope * x[i]! + intercept)));
      const weight = p * (1 - p);
      ga += (p - wanted[i]!) * x[i]!;
      gb += p - wanted[i]!;
      haa += weight * x[i]! * x[i]!;
      hab += weight * x[i]!;
      hbb += weight;
    }
    if (Math.abs(ga) < 1e-7 * x.length && Math.abs(gb) < 1e-7 * x.length) break;
    const determinant = haa * hbb - hab * hab;
    if (!(determinant > 0)) break;
    const da = -(hbb * ga - hab * gb) / determinant;
    const db = -(haa * gb - hab * ga) / determinant;
    let length = 1;
    while (length > 1e-10 && lossAt(slope + length * da, intercept + length * db) > loss) length /= 2;
    if (length <= 1e-10) break;
    slope += length * da;
    intercept += length * db;
    loss = lossAt(slope, intercept);
  }
  return { kind: "platt", slope, intercept };
}

/** Pool adjacent violators (Ayer et al. 1955): the non-decreasing curve with the least squared error. */
export function fitIsotonic(scores: Float64Array, hits: Float64Array): Curve {
  const order = Array.from(scores.keys()).sort((a, b) => scores[a]! - scores[b]!);
  const blocks: { sum: number; weight: number; from: number; to: number }[] = [];
  for (let i = 0; i < order.length; ) {
    // Equal scores are one point.
    const score = scores[order[i]!]!;
    let block = { sum: 0, weight: 0, from: score, to: score };
    for (; i < order.length && scores[order[i]!] === score; i++) {
      block.sum += hits[order[i]!]!;
      block.weight++;
    }
    for (
      let last = blocks.at(-1);
      last !== undefined && last.sum * block.weight >= block.sum * last.weight;
      last = blocks.at(-1)
    ) {
      block = { sum: last.sum + block.sum, weight: last.weight + block.weight, from: last.from, to: block.to };
      blocks.pop();
    }
    blocks.push(block);
  }
  // Never quite 0 or 1: what was not seen among n rows may still be.
  const margin = 1 / (hits.length + 2);
  const x: number[] = [];
  const y: number[] = [];
  for (const { sum, weight, from, to } of blocks) {
    const level = Math.min(1 - margin, Math.max(margin, sum / weight));
    for (const edge of from === to ? [from] : [from, to]) {
      x.push(edge);
      y.push(level);
    }
  }
  return { kind: "isotonic", x, y };
}

export function valueAt(curve: Curve, probability: number): number {
  if (curve.kind === "platt") return 1 / (1 + Math.exp(-(curve.slope * logit(probability) + curve.intercept)));
  const { x, y } = curve;
  if (probability <= x[0]!) return y[0]!;
  let low = 0;
  let high = x.length - 1;
  if (probability >= x[high]!) return y[high]!;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (x[middle]! <= probability) low = middle;
    else high = middle;
  }
  return y[low]! + ((probability - x[low]!) / (x[high]! - x[low]!)) * (y[high]! - y[low]!);
}
