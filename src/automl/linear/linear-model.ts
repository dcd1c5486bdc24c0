/**
 * Ridge regression (Hoerl and Kennard 1970) and logistic regression with an L2 penalty, two classes or softmax, on
 * standardised columns. Called by model/learners.ts; no state.
 */
import type { ArraySink, ColumnContributions, FittedModel, Sample, SavedModel, StoredArray } from "../model/learner.js";
import { outputsOf } from "../model/learner.js";
import { sigmoid, softmaxRows } from "../tree/boosting.js";
import { minimise } from "./minimise.js";
import { type Scaling, scalingOf, standardised } from "./standardise.js";

export interface LinearParameters {
  /** Of the mean loss: the penalty is half of it times the squared length of the weights, without the intercepts. */
  readonly penalty: number;
  readonly stepsMax: number;
}

/** Of the mean loss's slopes: closer to the minimum, predictions hardly change. */
const TOLERANCE = 1e-4;

export function fitLinear(sample: Sample, parameters: LinearParameters): FittedModel {
  const { train, target, classes } = sample;
  const outputs = outputsOf(classes);
  const scaling = scalingOf(sample.inputs.columns, train);
  const matrix = standardised(sample.inputs.columns, train, scaling);
  const width = sample.inputs.columns.length;
  // Values are scaled as well, so that the penalty and the tolerance mean the same for all tables.
  const { mean, deviation } = classes === 0 ? momentsOf(target, train) : { mean: 0, deviation: 1 };
  const wanted = Float64Array.from(train, (row) => (target[row]! - mean) / deviation);
  const weights = new Float64Array(outputs * (width + 1));
  const loss = lossOn(matrix, wanted, { width, outputs, classes, penalty: parameters.penalty });
  minimise(
    weights,
    (point, gradient) => {
      sample.checkStop();
      return loss(point, gradient);
    },
    { stepsMax: parameters.stepsMax, tolerance: TOLERANCE },
  );
  if (classes === 0) {
    for (let i = 0; i < weights.length; i++) weights[i]! *= deviation;
    weights[width]! += mean;
  }
  return new Linear(classes, scaling, weights);
}

function momentsOf(target: Float64Array, rows: Int32Array): { mean: number; deviation: number } {
  let sum = 0;
  for (const row of rows) sum += target[row]!;
  const mean = sum / rows.length;
  let squares = 0;
  for (const row of rows) squares += (target[row]! - mean) ** 2;
  return { mean, deviation: Math.sqrt(squares / rows.length) || 1 };
}

interface LossShape {
  readonly width: number;
  readonly outputs: number;
  readonly classes: number;
  readonly penalty: number;
}

/** Mean loss and its gradient. Weights of an output: its columns, then the intercept. */
function lossOn(matrix: Float32Array, wanted: Float64Array, { width, outputs, classes, penalty }: LossShape) {
  const scores = new Float64Array(outputs);
  return (weights: Float64Array, gradient: Float64Array): number => {
    gradient.fill(0);
    let loss = 0;
    for (let row = 0; row < wanted.length; row++) {
      const at = row * width;
      scoresOf(scores, weights, matrix, at, width);
      const want = wanted[row]!;
      if (classes === 0) {
        scores[0]! -= want;
        loss += 0.5 * scores[0]! * scores[0]!;
      } else if (outputs === 1) {
        const score = scores[0]!;
        loss += Math.log1p(Math.exp(-Math.abs(score))) + Math.max(score, 0) - score * want;
        scores[0] = sigmoid(score) - want;
      } else {
        softmaxRows(scores, outputs);
        loss -= Math.log(Math.max(scores[want]!, 1e-300));
        scores[want]! -= 1;
      }
      // `scores` are the derivatives now.
      addSlopes(gradient, scores, matrix, at, width);
    }
    loss /= wanted.length;
    for (let i = 0; i < weights.length; i++) {
      gradient[i]! /= wanted.length;
      if (i % (width + 1) === width) continue;
      gradient[i]! += penalty * weights[i]!;
      loss += 0.5 * penalty * weights[i]! * weights[i]!;
    }
    return loss;
  };
}

/** Of all outputs. Four at once share each value of the row, and their sums do not wait for each other. */
function scoresOf(scores: Float64Array, weights: Float64Array, matrix: Float32Array, at: number, width: number): void {
  const outputs = scores.length;
  const next = width + 1;
  let k = 0;
  for (; k + 3 < outputs; k += 4) {
    const [a, b, c, d] = [k * next, (k + 1) * next, (k + 2) * next, (k + 3) * next];
    let sumA = weights[a + width]!;
    let sumB = weights[b + width]!;
    let sumC = weights[c + width]!;
    let sumD = weights[d + width]!;
    for (let i = 0; i < width; i++) {
      const value = matrix[at + i]!;
      sumA += weights[a + i]! * value;
      sumB += weights[b + i]! * value;
      sumC += weights[c + i]! * value;
      sumD += weights[d + i]! * value;
    }
    scores[k] = sumA;
    scores[k + 1] = sumB;
    scores[k + 2] = sumC;
    scores[k + 3] = sumD;
  }
  for (; k < outputs; k++) scores[k] = scoreOf(weights, k * next, matrix, at, width);
}

/** Adds a row's part of the gradient, four outputs at once. */
function addSlopes(
  gradient: Float64Array,
  slopes: Float64Array,
  matrix: Float32Array,
  at: number,
  width: number,
): void {
  const outputs = slopes.length;
  const next = width + 1;
  let k = 0;
  for (; k + 3 < outputs; k += 4) {
    const [a, b, c, d] = [k * next, (k + 1) * next, (k + 2) * next, (k + 3) * next];
    const slopeA = slopes[k]!;
    const slopeB = slopes[k + 1]!;
    const slopeC = slopes[k + 2]!;
    const slopeD = slopes[k + 3]!;
    for (let i = 0; i < width; i++) {
      const value = matrix[at + i]!;
      gradient[a + i]! += slopeA * value;
      gradient[b + i]! += slopeB * value;
      gradient[c + i]! += slopeC * value;
      gradient[d + i]! += slopeD * value;
    }
    gradient[a + width]! += slopeA;
    gradient[b + width]! += slopeB;
    gradient[c + width]! += slopeC;
    gradient[d + width]! += slopeD;
  }
  for (; k < outputs; k++) {
    const slope = slopes[k]!;
    const to = k * next;
    for (let i = 0; i < width; i++) gradient[to + i]! += slope * matrix[at + i]!;
    gradient[to + width]! += slope;
  }
}

function scoreOf(weights: Float64Array, from: number, matrix: Float32Array, at: number, width: number): number {
  let even = weights[from + width]!;
  let odd = 0;
  let i = 0;
  for (; i + 1 < width; i += 2) {
    even += weights[from + i]! * matrix[at + i]!;
    odd += weights[from + i + 1]! * matrix[at + i + 1]!;
  }
  if (i < width) even += weights[from + i]! * matrix[at + i]!;
  return even + odd;
}

class Linear implements FittedModel {
  constructor(
    private readonly classes: number,
    private readonly scaling: Scaling,
    private readonly weights: Float64Array,
  ) {}

  predict(columns: readonly Float32Array[], rows: Int32Array): Float64Array {
    const outputs = outputsOf(this.classes);
    const width = this.scaling.means.length;
    const matrix = standardised(columns, rows, this.scaling);
    const result = new Float64Array(rows.length * outputs);
    for (let i = 0; i < result.length; i++) {
      const row = Math.floor(i / outputs);
      result[i] = scoreOf(this.weights, (i % outputs) * (width + 1), matrix, row * width, width);
    }
    if (this.classes === 2) for (let i = 0; i < result.length; i++) result[i] = sigmoid(result[i]!);
    if (this.classes > 2) softmaxRows(result, outputs);
    return result;
  }

  explain(columns: readonly Float32Array[], row: number, output: number): ColumnContributions {
    const width = this.scaling.means.length;
    const from = output * (width + 1);
    const matrix = standardised(columns, Int32Array.of(row), this.scaling);
    const contributions = Float64Array.from(matrix, (value, column) => value * this.weights[from + column]!);
    return { base: this.weights[from + width]!, contributions };
  }

  save(sink: ArraySink): SavedModel {
    const { means, factors } = this.scaling;
    return {
      kind: "linear",
      classes: this.classes,
      arrays: [means, factors, this.weights].map((array) => sink.add(array)),
    };
  }
}

export function loadLinear(saved: SavedModel, arrays: readonly StoredArray[]): FittedModel {
  const { classes, arrays: numbers } = saved as unknown as { classes: number; arrays: number[] };
  const [means, factors, weights] = numbers.map((number) => arrays[number] as Float64Array);
  return new Linear(classes, { means: means!, factors: factors! }, weights!);
}
