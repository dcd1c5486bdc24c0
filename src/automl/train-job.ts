/**
 * Trains a model from columns: checks the job, decides the task, hands it to the training of rows, series or clusters.
 * Synchronous; tells of itself and is stopped through hooks. Called by train.ts; no state.
 */
import { DbError } from "../protocol/errors.js";
import {
  AUTOML_BUDGET_MS_MAX,
  AUTOML_COLUMNS_MAX,
  AUTOML_FORECAST_STEPS_MAX,
  AUTOML_ROWS_MAX,
  AUTOML_TRIALS_MAX,
} from "../protocol/limits.js";
import { trainClusters } from "./cluster/train-clusters.js";
import { ALGORITHMS, METRICS_OF, type Metric, TASKS, type Task, type TrainedModel, type TrainJob } from "./contract.js";
import { readColumn, rowsOfColumn } from "./features/read-column.js";
import { readTarget } from "./features/read-target.js";
import { checkMemory } from "./memory-estimate.js";
import type { Hooks } from "./search/hooks.js";
import { trainSeries } from "./series/train-series.js";
import { trainRows } from "./train-rows.js";

/**
 * Throws `invalid_request` for a job that cannot be trained (with the reason and a remedy), `cancelled` when stopped.
 */
export function trainJob(job: TrainJob, hooks: Hooks = {}): TrainedModel {
  checkJob(job);
  const task = decideTask(job);
  const metric = metricOf(job, task);
  const model = trainTask(job, task, metric, hooks);
  hooks.progress?.({ phase: "done", trial: job.maxTrials, trials: job.maxTrials, bestScore: model.score, etaMs: 0 });
  return model;
}

function trainTask(job: TrainJob, task: Task, metric: Metric | null, hooks: Hooks): TrainedModel {
  if (task === "clustering") return trainClusters(job, hooks);
  if (task === "forecasting") return trainSeries(job, metric ?? "mase", hooks);
  return trainRows(job, metric, hooks);
}

function decideTask({ task, target, timeColumn, columns, features }: TrainJob): Task {
  if (task === "clustering" || (task === "auto" && target === null)) return "clustering";
  if (task === "forecasting") return task;
  const others = columns.filter(
    ({ name }) => name !== target && name !== timeColumn && (features?.includes(name) ?? true),
  );
  const alone = task === "auto" && timeColumn !== undefined && others.length === 0;
  const column = readColumn(columns.find(({ name }) => name === target)!);
  if (alone && column.kind === "number") return "forecasting";
  return readTarget(column, task).task;
}

function metricOf({ metric }: TrainJob, task: Task): Metric | null {
  if (metric === undefined) return null;
  if (METRICS_OF[task].includes(metric)) return metric;
  throw invalid(`The metric "${metric}" is not one of ${task}; choose ${METRICS_OF[task].join(", ")}.`, "metric");
}

function invalid(message: string, field: string): DbError {
  return new DbError("invalid_request", message, { field });
}

function checkJob(job: TrainJob): void {
  const { columns, target, task } = job;
  if (columns.length === 0) throw invalid("There are no columns to train on.", "columns");
  if (columns.length > AUTOML_COLUMNS_MAX) {
    throw invalid(`There are ${columns.length} columns; at most ${AUTOML_COLUMNS_MAX} can be trained on.`, "columns");
  }
  const names = columns.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw invalid(`Two columns are named "${twice}"; give one another name.`, "columns");
  const rows = rowsOfColumn(columns[0]!);
  for (const column of columns) {
    if (rowsOfColumn(column) !== rows)
      throw invalid(`The column "${column.name}" has a different number of rows than the others.`, "columns");
  }
  if (rows === 0) throw invalid("The table has no rows; there is nothing to learn from.", "columns");
  if (rows > AUTOML_ROWS_MAX)
    throw invalid(`The table has ${rows} rows; at most ${AUTOML_ROWS_MAX} can be trained on. Use a sample.`, "columns");
  if (task !== "auto" && task !== "classification" && !TASKS.includes(task)) {
    throw invalid(`There is no task "${task}"; choose auto, classification, ${TASKS.join(", ")}.`, "task");
  }
  const known = (name: string, field: string) => {
    if (!names.includes(name))
      throw invalid(`There is no column "${name}". The columns are ${names.slice(0, 50).join(", ")}.`, field);
  };
  if (target !== null && task !== "clustering") known(target, "target");
  if (target === null && task !== "clustering" && task !== "auto")
    throw invalid(`The task ${task} needs a target column.`, "target");
  if (job.timeColumn !== undefined) known(job.timeColumn, "time_column");
  for (const name of job.features ?? []) known(name, "features");
  checkSearch(job);
  // Before anything is read: most columns become at least one.
  checkMemory({ rows, columns: columns.length, outputs: 1, finalists: 0, folds: 0 });
}

function checkSearch(job: TrainJob): void {
  const whole = (value: number | undefined, low: number, high: number, field: string) => {
    if (value === undefined || (Number.isInteger(value) && value >= low && value <= high)) return;
    throw invalid(`${field} is ${value}; it must be a whole number from ${low} to ${high}.`, field);
  };
  whole(job.maxTrials, 1, AUTOML_TRIALS_MAX, "max_trials");
  whole(job.timeBudgetMs, 1, AUTOML_BUDGET_MS_MAX, "time_budget_ms");
  whole(job.seed, 0, 2 ** 32 - 1, "seed");
  whole(job.folds, 2, 10, "folds");
  whole(job.horizon, 1, AUTOML_FORECAST_STEPS_MAX, "horizon");
  whole(job.clusters, 2, 50, "clusters");
  for (const algorithm of job.algorithms ?? []) {
    if (!ALGORITHMS.includes(algorithm)) {
      throw invalid(`There is no algorithm "${algorithm}"; choose among ${ALGORITHMS.join(", ")}.`, "algorithms");
    }
  }
}
