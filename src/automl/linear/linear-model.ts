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
    { stepsMax: parameters.stepsMax, tolerance: 1e-6 },
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
      for (let k = 0; k < outputs; k++) scores[k] = scoreOf(weights, k * (width + 1), matrix, at, width);
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
      for (let k = 0; k < outputs; k++) {
        const slope = scores[k]!;
        const to = k * (width + 1);
        for (let i = 0; i < width; i++) gradient[to + i]! += slope * matrix[at + i]!;
        gradient[to + width]! += slope;
      }
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

function scoreOf(weights: Float64Array, from: number, matrix: Float32Array, at: number, width: number): number {
  let sum = weights[from + width]!;
  for (let i = 0; i < width; i++) sum += weights[from + i]! * matrix[at + i]!;
  return sum;
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
