/**
 * Gradient-boosted trees: Friedman 2001 with the second-order gains, shrinkage and sampling of rows and columns of
 * XGBoost (Chen and Guestrin 2016) over histograms (LightGBM, Ke et al. 2017). Losses: squared error, log-loss of two
 * classes, softmax with a tree per class and round. Called by model/learners.ts; no state.
 */
import type { ArraySink, ColumnContributions, FittedModel, Sample, SavedModel, StoredArray } from "../model/learner.js";
import { outputsOf } from "../model/learner.js";
import { type GrowOptions, TreeGrower } from "./grow-tree.js";
import { joinTrees, leafOf, type Tree, type TreeArrays } from "./tree.js";
import { explainTrees, loadTrees, saveTrees } from "./tree-arrays.js";

export interface BoostingParameters {
  readonly rounds: number;
  /** Rounds without a better loss on the watched rows after which it ends. */
  readonly patience: number;
  readonly learningRate: number;
  readonly leaves: number;
  readonly depth: number;
  readonly minChildWeight: number;
  readonly lambda: number;
  /** Shares from 0 to 1. */
  readonly rowShare: number;
  readonly columnShare: number;
}

/** A round counts as a gain when the loss is at most this share of the last gain's. */
const WORTHWHILE = 0.998;

export function fitBoosting(sample: Sample, parameters: BoostingParameters): FittedModel {
  const { target, classes, train, watch, random } = sample;
  const outputs = outputsOf(classes);
  const binned = sample.inputs.binned();
  const base = baseScores(target, train, classes);
  const rows = target.length;
  const scores = Array.from({ length: outputs }, (_, k) => new Float64Array(rows).fill(base[k]!));
  const gradients = new Float64Array(rows);
  const hessians = new Float64Array(rows).fill(1);
  const options: GrowOptions = {
    leavesMax: parameters.leaves,
    depthMax: parameters.depth,
    minChildWeight: parameters.minChildWeight,
    lambda: parameters.lambda,
    gainMin: 1e-12,
    featuresPerNode: null,
    cuts: "best",
  };
  const grower = new TreeGrower(binned, { kind: "gradient", gradients, hessians }, options, random, train.length);
  const trees: Tree[] = [];
  const watched: number[] = [];
  let best = Number.POSITIVE_INFINITY;
  let bestRound = 0;
  const shares = outputs > 1 ? scores.map(({ length }) => new Float64Array(length)) : null;
  const sampler = new Sampler(train, binned.length, parameters, random);
  for (let round = 0; round < parameters.rounds; round++) {
    const { grown, others, features } = sampler.next();
    if (shares !== null) softmaxOf(scores, grown, shares);
    for (let k = 0; k < outputs; k++) {
      sample.checkStop();
      derive(gradients, hessians, { scores: scores[k]!, probabilities: shares, k, target, classes, rows: grown });
      const tree = grower.grow(grown, features, parameters.learningRate);
      addTree(tree, scores[k]!, grown);
      walkTree(tree, scores[k]!, sample.inputs.columns, others);
      if (watch !== null) walkTree(tree, scores[k]!, sample.inputs.columns, watch);
      trees.push(tree);
    }
    if (watch === null) continue;
    const loss = lossOf(scores, watch, target, classes);
    watched.push(loss);
    if (loss < best * WORTHWHILE) {
      best = loss;
      bestRound = round;
    } else if (round - bestRound >= parameters.patience) break;
  }
  return new Boosting(classes, base, joinTrees(trees), watched, trees);
}

/** Rows and columns of each round. Owns its arrays, which a round may permute. */
class Sampler {
  private readonly rows: Int32Array;
  private readonly all: Int32Array;

  constructor(
    train: Int32Array,
    columns: number,
    private readonly parameters: BoostingParameters,
    private readonly random: Sample["random"],
  ) {
    this.rows = train.slice();
    this.all = Int32Array.from({ length: columns }, (_, i) => i);
  }

  next(): { grown: Int32Array; others: Int32Array; features: Int32Array } {
    const { rowShare, columnShare } = this.parameters;
    const count = Math.max(1, Math.round(rowShare * this.rows.length));
    if (count < this.rows.length) this.random.shuffle(this.rows, count);
    const columns = Math.max(1, Math.round(columnShare * this.all.length));
    if (columns < this.all.length) this.random.shuffle(this.all, columns);
    return {
      // In the order of the table, which its columns are then read in.
      grown: this.rows.subarray(0, count).sort(),
      others: this.rows.subarray(count),
      features: this.all.slice(0, columns).sort(),
    };
  }
}

function baseScores(target: Float64Array, train: Int32Array, classes: number): Float64Array {
  if (classes === 0) {
    let sum = 0;
    for (const row of train) sum += target[row]!;
    return Float64Array.of(sum / train.length);
  }
  const counts = new Float64Array(classes).fill(0.5);
  for (const row of train) counts[target[row]!]! += 1;
  const total = train.length + classes / 2;
  if (classes === 2) return Float64Array.of(Math.log(counts[1]! / counts[0]!));
  return counts.map((count) => Math.log(count / total));
}

interface Derivation {
  readonly scores: Float64Array;
  readonly probabilities: readonly Float64Array[] | null;
  readonly k: number;
  readonly target: Float64Array;
  readonly classes: number;
  readonly rows: Int32Array;
}

function derive(gradients: Float64Array, hessians: Float64Array, from: Derivation): void {
  const { scores, probabilities, k, target, classes, rows } = from;
  if (classes === 0) {
    for (const row of rows) gradients[row] = scores[row]! - target[row]!;
    return;
  }
  for (const row of rows) {
    const probability = probabilities === null ? sigmoid(scores[row]!) : probabilities[k]![row]!;
    const wanted = probabilities === null ? target[row]! : target[row] === k ? 1 : 0;
    gradients[row] = probability - wanted;
    hessians[row] = Math.max((probabilities === null ? 1 : 2) * probability * (1 - probability), 1e-16);
  }
}

export function sigmoid(score: number): number {
  return 1 / (1 + Math.exp(-score));
}

/** Into `shares`, at the rows. */
function softmaxOf(scores: readonly Float64Array[], rows: Int32Array, shares: readonly Float64Array[]): void {
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const highest = highestAt(scores, row);
    let sum = 0;
    for (let k = 0; k < scores.length; k++) sum += shares[k]![row] = Math.exp(scores[k]![row]! - highest);
    for (let k = 0; k < scores.length; k++) shares[k]![row]! /= sum;
  }
}

function highestAt(scores: readonly Float64Array[], row: number): number {
  let highest = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < scores.length; k++) if (scores[k]![row]! > highest) highest = scores[k]![row]!;
  return highest;
}

/** Squared error, or log-loss, as a mean over rows. */
function lossOf(scores: readonly Float64Array[], rows: Int32Array, target: Float64Array, classes: number): number {
  let sum = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    const score = scores[0]![row]!;
    if (classes === 0) sum += (score - target[row]!) ** 2;
    else if (classes > 2) sum += lossOfClass(scores, row, target[row]!);
    else sum += Math.log1p(Math.exp(-Math.abs(score))) + Math.max(score, 0) - score * target[row]!;
  }
  return sum / rows.length;
}

/** No probability is less than 10⁻¹⁵ here. */
function lossOfClass(scores: readonly Float64Array[], row: number, is: number): number {
  const highest = highestAt(scores, row);
  let sum = 0;
  for (let k = 0; k < scores.length; k++) sum += Math.exp(scores[k]![row]! - highest);
  return Math.min(Math.log(sum) - (scores[is]![row]! - highest), 15 * Math.LN10);
}

function addTree(tree: Tree, scores: Float64Array, rows: Int32Array): void {
  for (const { node, start, end } of tree.leaves) {
    const value = tree.values[node]!;
    for (let i = start; i < end; i++) scores[rows[i]!]! += value;
  }
}

function walkTree(tree: Tree, scores: Float64Array, columns: readonly Float32Array[], rows: Int32Array): void {
  for (let i = 0; i < rows.length; i++) scores[rows[i]!]! += tree.values[leafOf(tree, 0, columns, rows[i]!)]!;
}

class Boosting implements FittedModel {
  private readonly outputs: number;

  constructor(
    private readonly classes: number,
    private readonly base: Float64Array,
    private readonly arrays: TreeArrays,
    readonly watched: readonly number[],
    private readonly trees: readonly Tree[] | null,
  ) {
    this.outputs = outputsOf(classes);
  }

  firstRounds(rounds: number): FittedModel {
    const trees = this.trees!.slice(0, rounds * this.outputs);
    return new Boosting(this.classes, this.base, joinTrees(trees), this.watched, trees);
  }

  predict(columns: readonly Float32Array[], rows: Int32Array): Float64Array {
    const { outputs, arrays } = this;
    const result = new Float64Array(rows.length * outputs);
    for (let i = 0; i < result.length; i++) result[i] = this.base[i % outputs]!;
    for (let tree = 0; tree < arrays.roots.length; tree++) {
      const root = arrays.roots[tree]!;
      const k = tree % outputs;
      for (let i = 0; i < rows.length; i++) {
        result[i * outputs + k]! += arrays.values[leafOf(arrays, root, columns, rows[i]!)]!;
      }
    }
    if (this.classes === 2) for (let i = 0; i < result.length; i++) result[i] = sigmoid(result[i]!);
    if (this.classes > 2) softmaxRows(result, outputs);
    return result;
  }

  explain(columns: readonly Float32Array[], row: number, output: number): ColumnContributions {
    const trees = [...this.arrays.roots].filter((_, tree) => tree % this.outputs === output);
    const { base, contributions } = explainTrees(this.arrays, trees, columns, row, 1, 0);
    return { base: base + this.base[output]!, contributions };
  }

  save(sink: ArraySink): SavedModel {
    return { kind: "boosting", classes: this.classes, base: [...this.base], trees: saveTrees(this.arrays, sink) };
  }
}

export function loadBoosting(saved: SavedModel, arrays: readonly StoredArray[]): FittedModel {
  const { classes, base, trees } = saved as unknown as { classes: number; base: number[]; trees: number[] };
  return new Boosting(classes, Float64Array.from(base), loadTrees(trees, arrays), [], null);
}

/** In place: each row's scores become probabilities. */
export function softmaxRows(scores: Float64Array, outputs: number): void {
  for (let at = 0; at < scores.length; at += outputs) {
    let highest = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < outputs; k++) highest = Math.max(highest, scores[at + k]!);
    let sum = 0;
    for (let k = 0; k < outputs; k++) sum += scores[at + k] = Math.exp(scores[at + k]! - highest);
    for (let k = 0; k < outputs; k++) scores[at + k]! /= sum;
  }
}
