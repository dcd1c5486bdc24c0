/** How good predictions are. Pure functions; `target` holds values or class numbers, predictions are rows × outputs. */
import type { Metric, Task } from "./contract.js";

export type Scores = Readonly<Partial<Record<Metric, number>>>;

/** Metrics of a task of rows. Binary: one probability a row, of class 1. */
export function scoresOf(task: Task, target: Float64Array, predicted: Float64Array, classes: number): Scores {
  if (task === "regression") return regressionScores(target, predicted);
  if (task === "binary_classification") return binaryScores(target, predicted);
  return multiclassScores(target, predicted, classes);
}

/** One metric of a task of rows, without the work for the others where it is the usual one. */
export function scoreOf(
  metric: Metric,
  task: Task,
  target: Float64Array,
  predicted: Float64Array,
  classes: number,
): number {
  if (metric !== "log_loss") return scoresOf(task, target, predicted, classes)[metric]!;
  let sum = 0;
  for (let row = 0; row < target.length; row++) {
    const is = target[row]!;
    if (classes > 2) sum -= Math.log(bounded(predicted[row * classes + is]!));
    else sum -= Math.log(bounded(is === 1 ? predicted[row]! : 1 - predicted[row]!));
  }
  return sum / target.length;
}

export function regressionScores(target: Float64Array, predicted: Float64Array): Scores {
  let squares = 0;
  let absolute = 0;
  let sum = 0;
  for (let i = 0; i < target.length; i++) {
    const error = predicted[i]! - target[i]!;
    squares += error * error;
    absolute += Math.abs(error);
    sum += target[i]!;
  }
  const mean = sum / target.length;
  let spread = 0;
  for (const value of target) spread += (value - mean) ** 2;
  return {
    rmse: Math.sqrt(squares / target.length),
    mae: absolute / target.length,
    r2: spread === 0 ? 0 : 1 - squares / spread,
  };
}

function binaryScores(target: Float64Array, predicted: Float64Array): Scores {
  let right = 0;
  let truePositive = 0;
  let positive = 0;
  let called = 0;
  let logLoss = 0;
  let brier = 0;
  for (let i = 0; i < target.length; i++) {
    const probability = predicted[i]!;
    const is = target[i]!;
    const says = probability >= 0.5 ? 1 : 0;
    if (says === is) right++;
    truePositive += says * is;
    positive += is;
    called += says;
    logLoss -= Math.log(bounded(is === 1 ? probability : 1 - probability));
    brier += (probability - is) ** 2;
  }
  const rows = target.length;
  return {
    log_loss: logLoss / rows,
    auc: areaUnderCurve(predicted, target),
    accuracy: right / rows,
    f1: positive + called === 0 ? 0 : (2 * truePositive) / (positive + called),
    brier: brier / rows,
  };
}

/** F1 and AUC are means over the classes, each against the rest; Brier's score sums over the classes of a row. */
function multiclassScores(target: Float64Array, predicted: Float64Array, classes: number): Scores {
  const rows = target.length;
  const truePositive = new Float64Array(classes);
  const called = new Float64Array(classes);
  const actual = new Float64Array(classes);
  let right = 0;
  let logLoss = 0;
  let brier = 0;
  for (let row = 0; row < rows; row++) {
    const is = target[row]!;
    const says = highestOf(predicted, row * classes, classes);
    if (says === is) right++;
    if (says === is) truePositive[is]! += 1;
    called[says]! += 1;
    actual[is]! += 1;
    logLoss -= Math.log(bounded(predicted[row * classes + is]!));
    for (let k = 0; k < classes; k++) brier += (predicted[row * classes + k]! - (k === is ? 1 : 0)) ** 2;
  }
  let f1 = 0;
  let auc = 0;
  let present = 0;
  for (let k = 0; k < classes; k++) {
    if (actual[k] === 0) continue;
    present++;
    f1 += (2 * truePositive[k]!) / (actual[k]! + called[k]!);
    const column = Float64Array.from({ length: rows }, (_, row) => predicted[row * classes + k]!);
    auc += areaUnderCurve(
      column,
      target.map((is) => (is === k ? 1 : 0)),
    );
  }
  return {
    log_loss: logLoss / rows,
    accuracy: right / rows,
    f1: f1 / present,
    auc: auc / present,
    brier: brier / rows,
  };
}

export function highestOf(values: Float64Array, from: number, count: number): number {
  let best = 0;
  for (let k = 1; k < count; k++) if (values[from + k]! > values[from + best]!) best = k;
  return best;
}

function bounded(probability: number): number {
  return Math.min(1, Math.max(1e-15, probability));
}

/**
 * The chance that a positive row scores above a negative one, ties counting half (Hanley and McNeil 1982); 0.5 with one
 * class.
 */
export function areaUnderCurve(scores: Float64Array, target: Float64Array): number {
  const order = Array.from(scores.keys()).sort((a, b) => scores[a]! - scores[b]!);
  let ranks = 0;
  let positive = 0;
  for (let from = 0; from < order.length; ) {
    let to = from;
    let positives = 0;
    while (to < order.length && scores[order[to]!] === scores[order[from]!]) positives += target[order[to++]!]!;
    ranks += positives * ((from + 1 + to) / 2);
    positive += positives;
    from = to;
  }
  const negative = scores.length - positive;
  return positive === 0 || negative === 0 ? 0.5 : (ranks - (positive * (positive + 1)) / 2) / (positive * negative);
}

/** Bins of equal width that confidence is compared with frequency in. */
const CALIBRATION_BINS = 10;

export interface CalibrationBin {
  readonly rows: number;
  /** Means over its rows: of the probability that the model gives, and of whether it is so. */
  readonly probability: number;
  readonly frequency: number;
}

/** By probability, of class 1, or of the likeliest of several classes. Empty bins have zeros. */
export function calibrationBins(target: Float64Array, predicted: Float64Array, classes: number): CalibrationBin[] {
  const rows = new Float64Array(CALIBRATION_BINS);
  const confidence = new Float64Array(CALIBRATION_BINS);
  const hits = new Float64Array(CALIBRATION_BINS);
  for (let row = 0; row < target.length; row++) {
    const best = classes === 2 ? 1 : highestOf(predicted, row * classes, classes);
    const probability = classes === 2 ? predicted[row]! : predicted[row * classes + best]!;
    const bin = Math.min(CALIBRATION_BINS - 1, Math.floor(probability * CALIBRATION_BINS));
    rows[bin]! += 1;
    confidence[bin]! += probability;
    hits[bin]! += target[row] === best ? 1 : 0;
  }
  return Array.from(rows, (count, bin) => ({
    rows: count,
    probability: count === 0 ? 0 : confidence[bin]! / count,
    frequency: count === 0 ? 0 : hits[bin]! / count,
  }));
}

/** Expected calibration error (Naeini et al. 2015). */
export function calibrationError(target: Float64Array, predicted: Float64Array, classes: number): number {
  const bins = calibrationBins(target, predicted, classes);
  return expectedError(bins);
}

export function expectedError(bins: readonly CalibrationBin[]): number {
  const all = bins.reduce((sum, { rows }) => sum + rows, 0);
  const sum = bins.reduce((total, bin) => total + bin.rows * Math.abs(bin.probability - bin.frequency), 0);
  return all === 0 ? 0 : sum / all;
}
