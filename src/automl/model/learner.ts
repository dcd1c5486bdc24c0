/** The common interface of all learners: the sample they fit, and the fitted model that predicts. Types only. */
import type { Random } from "../random.js";
import type { BinnedColumn } from "../tree/bins.js";

/** The columns of one fit or one request. `binned` is made when first asked for. */
export interface Inputs {
  /** Prepared columns × rows; NaN is missing. */
  readonly columns: readonly Float32Array[];
  binned(): readonly BinnedColumn[];
}

/** 1 for values and for two classes (the probability of the second), otherwise the number of classes. */
export function outputsOf(classes: number): number {
  return classes <= 2 ? 1 : classes;
}

export interface Sample {
  readonly inputs: Inputs;
  /** Rows to learn from. */
  readonly train: Int32Array;
  /** Of all rows: values, or the number of the class. */
  readonly target: Float64Array;
  /** 0: values are predicted. */
  readonly classes: number;
  /** Rows that a boosting watches to know when to end; null: it makes as many rounds as its parameters say. */
  readonly watch: Int32Array | null;
  readonly random: Random;
  /** Throws `cancelled` when training is to end; called every few milliseconds. */
  readonly checkStop: () => void;
}

export type Parameters = Readonly<Record<string, number | string>>;

/** Where a fitted model puts its arrays when it is written, and what it reads back. */
export type StoredArray = Float32Array | Float64Array | Int32Array | Uint8Array;
export interface ArraySink {
  /** The number under which the array is found again. */
  add(array: StoredArray): number;
}

export interface FittedModel {
  /** Rows × outputs. Values, probabilities of the second of two classes, or of each class. */
  predict(columns: readonly Float32Array[], rows: Int32Array): Float64Array;
  /**
   * Parts of the log-odds or value of one row that add up, by prepared column; null where only ablation can tell.
   * `output`: the class of interest; 0 where there is one output.
   */
  explain(columns: readonly Float32Array[], row: number, output: number): ColumnContributions | null;
  /** Plain data; arrays go to the sink. */
  save(sink: ArraySink): SavedModel;
  /** Of a boosting that watched: the loss on the watched rows after each round. */
  readonly watched?: readonly number[];
  /** The same model with its first rounds only. */
  firstRounds?(rounds: number): FittedModel;
}

export interface ColumnContributions {
  readonly base: number;
  readonly contributions: Float64Array;
}

export interface SavedModel {
  readonly kind: "boosting" | "forest" | "linear" | "network" | "committee";
  readonly [key: string]: unknown;
}
