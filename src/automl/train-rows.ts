/**
 * Training of a model of rows (classification, regression):
 * 1. read the target and the features, drop what cannot help, warn of what leaks; 2. prepare columns; 3. search; 4. let
 *    the
 * best vote; 5. calibrate; 6. fit the members on all rows; 7. importance and the card. Called by train.ts; no state.
 */
import { DbError } from "../protocol/errors.js";
import { type Calibration, chooseCalibration, take } from "./calibration.js";
import {
  ALGORITHMS,
  type CalibrationReport,
  higherIsBetter,
  type Metric,
  type ModelCard,
  type TrainedModel,
  type TrainJob,
  type TrainProgress,
  trialsOf,
} from "./contract.js";
import { encode } from "./features/encode.js";
import { equalsTarget, leakageWarning } from "./features/leakage.js";
import { describeTreatment, makePlan, type Plan } from "./features/plan.js";
import { type ReadColumn, readColumn, takeRows } from "./features/read-column.js";
import { badTarget, readTarget, type Target } from "./features/read-target.js";
import { categoryStatistics, targetColumns } from "./features/target-encoding.js";
import { permutationImportance } from "./importance.js";
import { checkMemory } from "./memory-estimate.js";
import { metricWarnings } from "./metric-warnings.js";
import { type Scores, scoreOf, scoresOf } from "./metrics.js";
import { outputsOf } from "./model/learner.js";
import { ModelArrays, writeModel } from "./model/model-file.js";
import { ENCODED_CLASSES_MAX, PreparedRows } from "./model/prepared-rows.js";
import { modelInputs, type RowModel } from "./model/row-model.js";
import { saveRowModel } from "./model/save-row-model.js";
import { indices, Random } from "./random.js";
import { digestOfJob } from "./search/checkpoint.js";
import { mix, selectEnsemble } from "./search/ensemble.js";
import { type Fold, stratifiedFolds, timeOrderedFolds } from "./search/folds.js";
import { type Hooks, stopCheck } from "./search/hooks.js";
import { type Finished, finalistsOf, meanOf, Search } from "./search/search.js";

const FEW_ROWS = 50;
/** With many rows, fewer folds tell as much. */
const FOLDS = [
  { rowsMax: 2000, folds: 5 },
  { rowsMax: 50_000, folds: 3 },
  { rowsMax: Number.POSITIVE_INFINITY, folds: 2 },
] as const;
/** Cells that are shuffled to tell what features matter, and rows at most and at least. */
const IMPORTANCE_CELLS = 10_000;
const IMPORTANCE_ROWS = { max: 2000, min: 200 } as const;
/** Finalists that may vote. */
const VOTERS_MAX = 8;

interface Table {
  readonly target: Target;
  readonly plan: Plan;
  /** In the order of the plan. */
  readonly columns: readonly ReadColumn[];
  readonly warnings: readonly string[];
  readonly times: Float64Array | null;
}

export function trainRows(job: TrainJob, metric: Metric | null, hooks: Hooks): TrainedModel {
  let latest: TrainProgress = { phase: "preparing", trial: 0, trials: job.maxTrials, bestScore: null, etaMs: null };
  const progress = (now: TrainProgress) => {
    latest = now;
    hooks.progress?.(now);
  };
  const report = (phase: TrainProgress["phase"]) => progress({ ...latest, phase, etaMs: null });
  report("preparing");
  const checkStop = stopCheck(hooks);
  const table = readTable(job);
  const { target, plan } = table;
  const classes = target.classes?.length ?? 0;
  const outputs = classes > 2 ? classes : 1;
  const optimised = metric ?? (classes > 0 ? "log_loss" : "rmse");
  const algorithms =
    job.algorithms === undefined || job.algorithms.length === 0 ? ALGORITHMS : [...new Set(job.algorithms)];
  const encoded = encode(plan.planned, table.columns);
  const folds = foldsOf(job, table);
  const maxTrials = trialsOf(job, target.rows.length);
  checkMemory({
    rows: target.rows.length,
    columns: encoded.columns.length + encoded.categories.length * Math.min(outputs, ENCODED_CLASSES_MAX),
    outputs,
    finalists: finalistsOf(maxTrials, algorithms.length),
    folds: folds.length,
  });
  const prepared = new PreparedRows(encoded.columns, encoded.categories, target.values, classes);
  const score = (wanted: Float64Array, predicted: Float64Array) =>
    scoreOf(optimised, target.task, wanted, predicted, classes);
  const search = new Search({
    prepared,
    target: target.values,
    classes,
    folds,
    inOrderOfTime: table.times !== null,
    metric: optimised,
    score,
    algorithms,
    maxTrials,
    timeBudgetMs: job.timeBudgetMs,
    seed: job.seed,
    hooks: { ...hooks, progress },
    checkStop,
    job: digestOfJob(job),
  });
  const { finished, records, cutByTime } = search.run();
  report("calibrating");
  const loss = higherIsBetter(optimised) ? (t: Float64Array, p: Float64Array) => -score(t, p) : score;
  const outcome = vote(finished.slice(0, VOTERS_MAX), target, folds, loss);
  report("fitting");
  const members = outcome.votes.map(({ member, weight }) => {
    const { trial, parameters, algorithm, sharpness } = finished[member]!;
    checkStop();
    const fitted = search.fits.final({ trial, algorithm, parameters });
    return { weight, fitted, sharpness, trial, algorithm };
  });
  report("explaining");
  const statistics = encoded.categories.map(({ codes, categories }) =>
    categoryStatistics(
      codes,
      categories,
      targetColumns(target.values, classes, ENCODED_CLASSES_MAX),
      indices(target.rows.length),
    ),
  );
  const inputs = modelInputs(encoded, statistics);
  const importance = importanceOf({
    outcome,
    finished,
    search,
    table,
    folds,
    loss,
    sources: inputs.sources,
    seed: job.seed,
    checkStop,
  });
  const data = cardOfData(job, table);
  const quality = cardOfQuality(target, folds, outcome, classes);
  const { wanted, calibrated: predicted } = outcome;
  const told = metricWarnings({ classes: target.classes, wanted, predicted, metrics: quality.metrics });
  const card: ModelCard = {
    ...data,
    ...quality,
    warnings: [...data.warnings, ...told],
    members: members.map(({ algorithm, weight, trial }) => ({ algorithm, weight, trial })),
    importance,
    limits: limitsOf(table, cutByTime, folds.length, job),
    seed: job.seed,
  };
  const model: RowModel = {
    task: target.task,
    target: job.target!,
    classes: target.classes,
    labelKind: target.labelKind,
    planned: plan.planned,
    statistics,
    members,
    calibration: outcome.calibration,
    usual: Float32Array.from(inputs.columns, medianOf),
    card,
  };
  const arrays = new ModelArrays();
  const content = saveRowModel(
    { ...model, members: members.map(({ weight, fitted, sharpness }) => ({ weight, fitted, sharpness })) },
    arrays,
  );
  return {
    task: target.task,
    algorithm: members.length > 1 ? "ensemble" : members[0]!.algorithm,
    metric: optimised,
    score: card.metrics[optimised]!,
    metrics: card.metrics,
    trials: records,
    card,
    features: plan.planned.map(({ feature }) => feature),
    classes: target.classes,
    bytes: writeModel(content, arrays.list),
  };
}

function readTable(job: TrainJob): Table {
  const given = job.columns.find(({ name }) => name === job.target)!;
  const whole = readColumn(given);
  const target = readTarget(whole, job.task);
  const wanted = job.columns.filter(({ name }) => name !== job.target && (job.features?.includes(name) ?? true));
  const columns = wanted.map((column) => takeRows(readColumn(column), target.rows));
  const kept = columns.filter((column) => !equalsTarget(column, target.values, target.classes));
  const same = columns.filter((column) => !kept.includes(column)).map(({ name }) => name);
  const { plan, keys } = planOf(job, kept);
  const dropped = [...same.map((name) => ({ name, reason: "it equals the target in every row" })), ...plan.dropped];
  if (plan.planned.length === 0) {
    const reasons = dropped.map(({ name, reason }) => `"${name}": ${reason}`).join("; ");
    throw new DbError(
      "invalid_request",
      `There is no column to learn from. ${reasons || "Name features beside the target."}`,
      {
        field: "features",
      },
    );
  }
  const used = plan.planned.map(({ feature }) => kept.find(({ name }) => name === feature.name)!);
  const warnings = [
    ...keys.map(
      (name) =>
        `"${name}" has another whole number in every row, as a key has. It is learned from because there is nothing else.`,
    ),
    ...same.map((name) => `"${name}" equals the target in every row; it was left out.`),
    ...used.flatMap((column) => leakageWarning(column, target.values, target.classes?.length ?? 0) ?? []),
    ...rowWarnings(target, whole.kind === "category" ? whole.codes.length : whole.values.length),
  ];
  return {
    target,
    plan: { planned: plan.planned, dropped },
    columns: used,
    warnings,
    times: timesOf(job, target.rows),
  };
}

/**
 * A number that looks like a key is learned from where a client names it, or where there is nothing else: one of
 * `keys`.
 */
function planOf(job: TrainJob, columns: readonly ReadColumn[]): { readonly plan: Plan; readonly keys: string[] } {
  const planned = (isWanted: (name: string) => boolean) => makePlan(columns, new Random(job.seed, "plan"), isWanted);
  const plan = planned((name) => job.features?.includes(name) ?? false);
  if (plan.planned.length > 0) return { plan, keys: [] };
  const withKeys = planned(() => true);
  return { plan: withKeys, keys: withKeys.planned.map(({ feature }) => feature.name) };
}

function rowWarnings({ rows, classes, values }: Target, total: number): string[] {
  const warnings: string[] = [];
  if (rows.length < FEW_ROWS) warnings.push(`${rows.length} rows are too few to trust the scores.`);
  if (rows.length < total) warnings.push(`${total - rows.length} rows without a target were left out.`);
  for (const [number, label] of (classes ?? []).entries()) {
    const count = values.reduce((sum, is) => sum + (is === number ? 1 : 0), 0);
    if (count < 10) warnings.push(`The class "${label}" has ${count} row(s) only; it will rarely be predicted.`);
  }
  return warnings;
}

function timesOf({ timeColumn, columns }: TrainJob, rows: Int32Array): Float64Array | null {
  if (timeColumn === undefined) return null;
  const column = readColumn(columns.find(({ name }) => name === timeColumn)!);
  if (column.kind === "category" || column.kind === "vector" || column.kind === "boolean") {
    throw new DbError(
      "invalid_request",
      `The time column "${timeColumn}" holds no times; name a column of timestamps or numbers.`,
      {
        field: "time_column",
      },
    );
  }
  const times = Float64Array.from(rows, (row) => column.values[row]!);
  const missing = times.findIndex((time) => Number.isNaN(time));
  if (missing >= 0) {
    throw new DbError("invalid_request", `Row ${rows[missing]! + 1} has no value in the time column "${timeColumn}".`, {
      field: "time_column",
    });
  }
  return times;
}

function foldsOf({ folds, seed, target: name }: TrainJob, { target, times }: Table): Fold[] {
  const rows = target.rows.length;
  const wanted = folds ?? FOLDS.find(({ rowsMax }) => rows <= rowsMax)!.folds;
  const count = Math.max(2, Math.min(wanted, Math.floor(rows / 2)));
  if (times !== null) {
    const ordered = timeOrderedFolds(times, count);
    if (new Set(Array.from(ordered[0]!.train, (row) => target.values[row])).size < 2) {
      throw badTarget(
        `The earliest rows all have the same target "${name}"; leave out the time column or add rows.`,
        name!,
      );
    }
    return ordered;
  }
  return stratifiedFolds(target.values, target.classes?.length ?? 0, count, new Random(seed, "folds"));
}

interface Outcome {
  readonly calibration: Calibration;
  /** What the members predict together, each row calibrated by the other folds. */
  readonly calibrated: Float64Array;
  readonly report: CalibrationReport | null;
  readonly votes: readonly { readonly member: number; readonly weight: number }[];
  /** Target values of the validated rows, in the order of the predictions. */
  readonly wanted: Float64Array;
  /** Places of each fold's rows among them. */
  readonly places: readonly Int32Array[];
}

function vote(
  finished: readonly Finished[],
  target: Target,
  folds: readonly Fold[],
  loss: (target: Float64Array, predicted: Float64Array) => number,
): Outcome {
  const classes = target.classes?.length ?? 0;
  const outputs = classes > 2 ? classes : 1;
  const wanted = Float64Array.from(
    folds.flatMap(({ valid }) => [...valid]),
    (row) => target.values[row]!,
  );
  const predictions = finished.map(({ predicted }) => predicted);
  const votes = selectEnsemble(predictions, wanted, outputs, loss);
  const mixed = mix(
    votes.map(({ member }) => predictions[member]!),
    votes.map(({ weight }) => weight),
  );
  let at = 0;
  const places = folds.map(({ valid }) => {
    const from = at;
    at += valid.length;
    return indices(valid.length).map((place) => place + from);
  });
  if (classes > 0) return { votes, wanted, places, ...chooseCalibration(mixed, wanted, classes, places) };
  return { votes, wanted, places, calibration: { method: "none", curves: [] }, calibrated: mixed, report: null };
}

interface ImportanceOf {
  readonly outcome: Outcome;
  readonly finished: readonly Finished[];
  readonly search: Search;
  readonly table: Table;
  readonly folds: readonly Fold[];
  readonly loss: (target: Float64Array, predicted: Float64Array) => number;
  readonly sources: readonly number[];
  readonly seed: number;
  readonly checkStop: () => void;
}

/** On the last fold's validated rows, with members fitted on its other rows. */
function importanceOf({ outcome, finished, search, table, folds, loss, sources, seed, checkStop }: ImportanceOf) {
  const { valid } = folds[folds.length - 1]!;
  const random = new Random(seed, "importance");
  const rows = random.shuffle(valid.slice()).slice(0, importanceRows(table.plan.planned.length)).sort();
  const members = outcome.votes.map(({ member, weight }) => {
    const { trial, algorithm, parameters, sharpness } = finished[member]!;
    const { model, columns } = search.fits.ofLastFold({ trial, algorithm, parameters });
    return { fitted: model, columns, weight, sharpness };
  });
  const features = table.plan.planned.map(({ feature }) => feature.name);
  const worsening = permutationImportance({
    members,
    sources,
    features: features.length,
    outputs: outputsOf(table.target.classes?.length ?? 0),
    rows,
    target: table.target.values,
    loss,
    random,
    checkStop,
  });
  return features
    .map((feature, i) => ({ feature, importance: worsening[i]! }))
    .sort((a, b) => b.importance - a.importance);
}

function importanceRows(features: number): number {
  return Math.max(IMPORTANCE_ROWS.min, Math.min(IMPORTANCE_ROWS.max, Math.floor(IMPORTANCE_CELLS / features)));
}

function cardOfData(job: TrainJob, { target, plan, warnings, times }: Table) {
  const given = job.columns.find(({ name }) => name === job.target)!;
  const total = given.kind === "vector" ? 0 : given.values.length;
  const { classes, values } = target;
  return {
    task: target.task,
    taskReason: target.reason,
    target: job.target,
    rows: target.rows.length,
    rowsDropped: total - target.rows.length,
    columnsUsed: plan.planned.map((each) => ({
      name: each.feature.name,
      kind: each.feature.kind,
      treatment: describeTreatment(each),
    })),
    columnsDropped: plan.dropped,
    warnings,
    classes:
      classes?.map((label, number) => ({
        label,
        rows: values.reduce((sum, is) => sum + (is === number ? 1 : 0), 0),
      })) ?? null,
    validation:
      times !== null
        ? `folds in the order of time: each is validated on the rows after those it learned from`
        : classes === null
          ? "folds by chance; each row is predicted by models that did not learn from it"
          : "folds by chance with the classes evenly spread; each row is predicted by models that did not learn from it",
  };
}

function cardOfQuality(
  target: Target,
  folds: readonly Fold[],
  { calibrated, wanted, places, report }: Outcome,
  classes: number,
) {
  const outputs = classes > 2 ? classes : 1;
  const metricsByFold = places.map((rows) =>
    scoresOf(target.task, take(wanted, rows, 1), take(calibrated, rows, outputs), classes),
  );
  const plain = folds.map(({ train, valid }, fold) => {
    const usual = plainest(target.values, train, classes);
    const predicted = Float64Array.from({ length: valid.length * outputs }, (_, i) => usual[i % outputs]!);
    return scoresOf(target.task, take(wanted, places[fold]!, 1), predicted, classes);
  });
  return { metrics: meanScores(metricsByFold), metricsByFold, baseline: meanScores(plain), calibration: report };
}

/** The prediction from the training rows' targets alone: their mean, or the classes' shares. */
function plainest(target: Float64Array, rows: Int32Array, classes: number): number[] {
  const count = (is: number) => rows.reduce((sum, row) => sum + (target[row] === is ? 1 : 0), 0);
  if (classes === 0) return [rows.reduce((sum, row) => sum + target[row]!, 0) / rows.length];
  if (classes === 2) return [(count(1) + 0.5) / (rows.length + 1)];
  return Array.from({ length: classes }, (_, k) => (count(k) + 0.5) / (rows.length + classes / 2));
}

export function meanScores(scores: readonly Scores[]): Scores {
  const names = Object.keys(scores[0]!) as Metric[];
  return Object.fromEntries(names.map((name) => [name, meanOf(scores.map((each) => each[name]!))]));
}

function limitsOf({ target, times }: Table, cutByTime: boolean, folds: number, job: TrainJob): string[] {
  const limits = [
    `The scores come from ${folds} folds, which were also used to choose the configuration. Expect slightly worse results on new rows.`,
    "Predictions are worse than the scores say for rows unlike the training rows (new labels, values out of range).",
  ];
  if (times === null)
    limits.push("Rows are assumed to be independent. With a time column, validation follows its order.");
  if (target.classes !== null)
    limits.push("Probabilities are correct if classes are as frequent as in the training rows.");
  if (cutByTime)
    limits.push(
      `The search ended early because of its time budget (${job.timeBudgetMs} ms). Another run may find a different model.`,
    );
  return limits;
}

function medianOf(values: Float32Array): number {
  const present = values.filter((value) => !Number.isNaN(value)).sort();
  return present.length === 0 ? Number.NaN : present[present.length >>> 1]!;
}
