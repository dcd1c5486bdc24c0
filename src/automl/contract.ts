/**
 * What training and prediction take and give: plain data, so that all of it crosses between threads. Actors build jobs
 * and keep the results; `train` and `loadModel` (train.ts, load-model.ts) do the work in task threads. No state.
 */
import type { MessagePort } from "node:worker_threads";

/**
 * A column of a table; all columns of one job or request have the same number of rows.
 * - number, boolean (0 or 1), timestamp (milliseconds since 1970, UTC): NaN is missing.
 * - text, category: null is missing. Text may turn out to hold numbers or dates; a category is never read as such.
 * - vector: row-major, `dimensions` numbers a row; a row whose first number is NaN is missing. Embeddings of texts.
 */
export type ColumnData =
  | { readonly name: string; readonly kind: "number" | "boolean" | "timestamp"; readonly values: Float64Array }
  | { readonly name: string; readonly kind: "text" | "category"; readonly values: readonly (string | null)[] }
  | {
      readonly name: string;
      readonly kind: "vector";
      readonly dimensions: number;
      readonly values: Float32Array;
    };
export type ColumnKind = ColumnData["kind"];

export const TASKS = [
  "binary_classification",
  "multiclass_classification",
  "regression",
  "forecasting",
  "clustering",
] as const;
export type Task = (typeof TASKS)[number];

/** What may be asked for; `linear` is ridge regression, or logistic regression where classes are predicted. */
export const ALGORITHMS = ["xgboost", "random_forest", "neural_network", "linear"] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

/** Other names of the same methods. */
const ALGORITHM_NAMES: Readonly<Record<string, Algorithm>> = {
  xgb: "xgboost",
  gradient_boosting: "xgboost",
  gradient_boosted_trees: "xgboost",
  boosted_trees: "xgboost",
  gbm: "xgboost",
  gbdt: "xgboost",
  lightgbm: "xgboost",
  lgbm: "xgboost",
  catboost: "xgboost",
  hist_gradient_boosting: "xgboost",
  rf: "random_forest",
  randomforest: "random_forest",
  random_forests: "random_forest",
  mlp: "neural_network",
  multilayer_perceptron: "neural_network",
  neural_net: "neural_network",
  neuralnetwork: "neural_network",
  nn: "neural_network",
  linear_model: "linear",
  linear_regression: "linear",
  logistic_regression: "linear",
  ridge: "linear",
  ridge_regression: "linear",
};

/** The algorithm of that name, in whatever case and with blanks or hyphens; null: there is none. */
export function algorithmNamed(name: string): Algorithm | null {
  const plain = name
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
  if ((ALGORITHMS as readonly string[]).includes(plain)) return plain as Algorithm;
  return Object.hasOwn(ALGORITHM_NAMES, plain) ? ALGORITHM_NAMES[plain]! : null;
}

export const METRICS = [
  "accuracy",
  "f1",
  "auc",
  "log_loss",
  "brier",
  "r2",
  "rmse",
  "mae",
  "mase",
  "smape",
  "silhouette",
] as const;
export type Metric = (typeof METRICS)[number];

const LOWER_IS_BETTER: ReadonlySet<Metric> = new Set(["log_loss", "brier", "rmse", "mae", "mase", "smape"]);
export function higherIsBetter(metric: Metric): boolean {
  return !LOWER_IS_BETTER.has(metric);
}

/** The first is what a search optimises when nothing is said. */
export const METRICS_OF: Readonly<Record<Task, readonly Metric[]>> = {
  binary_classification: ["log_loss", "auc", "accuracy", "f1", "brier"],
  multiclass_classification: ["log_loss", "accuracy", "f1", "auc", "brier"],
  regression: ["rmse", "mae", "r2"],
  forecasting: ["mase", "smape", "rmse", "mae"],
  clustering: ["silhouette"],
};

/** Rows below which so many configurations are enough: among more, the best is so by chance. Nine are usual ones. */
const USUAL_TRIALS = [
  { rows: 20_000, trials: 9 },
  { rows: 50_000, trials: 12 },
] as const;

/** Configurations that a search tries on so many rows. */
export function trialsOf({ maxTrials, trialsAreUsual }: TrainJob, rows: number): number {
  if (trialsAreUsual !== true) return maxTrials;
  return Math.min(maxTrials, USUAL_TRIALS.find((few) => rows < few.rows)?.trials ?? maxTrials);
}

export interface TrainJob {
  readonly columns: readonly ColumnData[];
  /** Null: there is none, and the task is clustering. */
  readonly target: string | null;
  /**
   * `classification`: binary or multi-class, as the target has it. `auto`: decided from the target, with the reason.
   */
  readonly task: Task | "classification" | "auto";
  /** Columns to learn from; all but the target when absent. */
  readonly features?: readonly string[];
  /** Forecasting needs it (a column of timestamps or numbers); elsewhere it makes the validation ordered by time. */
  readonly timeColumn?: string;
  /** All when absent or empty. */
  readonly algorithms?: readonly Algorithm[];
  /** Configurations to try, 1 to AUTOML_TRIALS_MAX. */
  readonly maxTrials: number;
  /** Nobody named that number: of few rows a model is chosen among fewer. */
  readonly trialsAreUsual?: true;
  /**
   * Milliseconds for the search. What it cuts off is said in the card; at least one configuration is always trained.
   */
  readonly timeBudgetMs: number;
  readonly metric?: Metric;
  /** An integer from 0 to 2^32 - 1. The same job with the same seed gives the same bytes, if the time cuts nothing. */
  readonly seed: number;
  /** Folds of the validation, 2 to 10; when absent 5, above 2,000 rows 3, above 50,000 rows 2. */
  readonly folds?: number;
  /** Steps to forecast by default, and to validate with. */
  readonly horizon?: number;
  /** Clusters; chosen by silhouette when absent. */
  readonly clusters?: number;
}

export interface TrainProgress {
  readonly phase: "preparing" | "screening" | "validating" | "calibrating" | "fitting" | "explaining" | "done";
  /** Trials finished, and to be done in all. */
  readonly trial: number;
  readonly trials: number;
  /** Of the metric that is optimised; null before the first. */
  readonly bestScore: number | null;
  /** Estimate; null before there is ground for one. */
  readonly etaMs: number | null;
}

/** What a training thread posts on its port, in order. A checkpoint is one finished piece of work: keep them all. */
export type TrainMessage =
  | ({ readonly kind: "progress" } & TrainProgress)
  | { readonly kind: "checkpoint"; readonly bytes: Uint8Array };

/** What `train` (train.ts) is asked for in a task thread. */
export interface TrainRequest {
  readonly job: TrainJob;
  readonly port?: MessagePort;
  /** Four bytes; training ends soon after the first word is not 0 any more, with the error `cancelled`. */
  readonly stopped?: SharedArrayBuffer;
  /** What an earlier run of the same job posted: it is not computed again, and the result is the same. */
  readonly checkpoints?: readonly Uint8Array[];
}

export interface TrialRecord {
  readonly trial: number;
  readonly algorithm: Algorithm | "kmeans";
  readonly parameters: Readonly<Record<string, number | string>>;
  /**
   * `screened`: left behind by better ones after the first look. `given_up`: it fell far behind on the first folds,
   * whose scores these are. `finished`: validated on all folds.
   */
  readonly status: "screened" | "given_up" | "finished";
  /** Of the metric that is optimised: on the first look, or as the mean of the folds. */
  readonly score: number;
  readonly foldScores: readonly number[];
  readonly durationMs: number;
}

/** What the model reads of a row. */
export interface Feature {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Of a vector: its numbers. */
  readonly dimensions?: number;
}

export interface CalibrationReport {
  readonly method: "none" | "platt" | "isotonic";
  readonly brierBefore: number;
  readonly brierAfter: number;
  readonly eceBefore: number;
  readonly eceAfter: number;
  readonly logLossBefore: number;
  readonly logLossAfter: number;
}

export interface ModelCard {
  readonly task: Task;
  readonly taskReason: string;
  readonly target: string | null;
  readonly rows: number;
  readonly rowsDropped: number;
  readonly columnsUsed: readonly { readonly name: string; readonly kind: ColumnKind; readonly treatment: string }[];
  readonly columnsDropped: readonly { readonly name: string; readonly reason: string }[];
  readonly warnings: readonly string[];
  readonly classes: readonly { readonly label: string; readonly rows: number }[] | null;
  readonly validation: string;
  /** Of the finished model out of fold: by metric, the mean, and each fold's. */
  readonly metrics: Readonly<Partial<Record<Metric, number>>>;
  readonly metricsByFold: readonly Readonly<Partial<Record<Metric, number>>>[];
  /** The same metrics of the plainest model: class shares, mean, or the season before. */
  readonly baseline: Readonly<Partial<Record<Metric, number>>>;
  readonly members: readonly { readonly algorithm: string; readonly weight: number; readonly trial: number }[];
  readonly calibration: CalibrationReport | null;
  /** By permutation: how much the metric worsens when a feature's values are shuffled; the greatest first. */
  readonly importance: readonly { readonly feature: string; readonly importance: number }[];
  readonly limits: readonly string[];
  readonly seed: number;
}

export interface TrainedModel {
  readonly task: Task;
  /** `ensemble` when several algorithms or configurations vote. */
  readonly algorithm: Algorithm | "ensemble" | "seasonal_naive" | "kmeans";
  readonly metric: Metric;
  readonly score: number;
  readonly metrics: Readonly<Partial<Record<Metric, number>>>;
  readonly trials: readonly TrialRecord[];
  readonly card: ModelCard;
  readonly features: readonly Feature[];
  /** Labels, in the order of probabilities. */
  readonly classes: readonly string[] | null;
  /** All that prediction needs, the card too: versioned, with a digest, data only. */
  readonly bytes: Uint8Array;
}

export interface Contribution {
  readonly feature: string;
  readonly contribution: number;
}
export interface Explanation {
  /** What the contributions add to; of the class that was predicted. Null with the method `ablation`. */
  readonly base: number | null;
  readonly contributions: readonly Contribution[];
}

export interface Predictions {
  /** Per row: a label (a number or truth where the target held these), a value, or the number of a cluster. */
  readonly predictions: readonly (string | number | boolean)[];
  /** Row-major: rows × classes, calibrated; null where there are no classes. */
  readonly probabilities: Float64Array | null;
  readonly explanations: readonly Explanation[] | null;
  /**
   * How explanations are to be read. `tree_path` and `linear`: parts of the log-odds or the value, which add up.
   * `ablation`: how much the probability or value changes when the feature takes its usual value.
   */
  readonly explanationMethod: "tree_path" | "linear" | "ablation" | null;
}

export interface Forecast {
  /** Of each step, in the time column's unit (milliseconds for timestamps). */
  readonly times: Float64Array;
  readonly predictions: Float64Array;
  /** The interval that holds `coverage` of the values, from the errors seen in validation. */
  readonly lower: Float64Array;
  readonly upper: Float64Array;
  readonly coverage: number;
}

export interface LoadedModel {
  readonly task: Task;
  readonly target: string | null;
  readonly features: readonly Feature[];
  readonly classes: readonly string[] | null;
  readonly card: ModelCard;
  /**
   * Columns in any order; those that the model does not know are left alone. Throws DbError `invalid_request` that
   * names the feature (and the row, from 1) when one is missing or mistyped, and when the model is one of forecasting.
   */
  predict(columns: readonly ColumnData[], options?: { readonly explain?: boolean }): Predictions;
  /** Metrics of the model on rows whose target is known. Throws as `predict`, and when the target is missing. */
  evaluate(columns: readonly ColumnData[]): Readonly<Partial<Record<Metric, number>>>;
  /** The next steps of the series. Throws `invalid_request` when the model is not one of forecasting. */
  forecast(steps?: number): Forecast;
}
