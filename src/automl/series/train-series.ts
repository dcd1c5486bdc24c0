/**
 * Training of a forecast: learners on lags and the calendar beside the seasonal-naive baseline, all judged on the last
 * stretches of the series, each forecast from what came before it (rolling origin, Tashman 2000). Called by train.ts.
 */
import {
  ALGORITHMS,
  type Algorithm,
  type Metric,
  type ModelCard,
  type TrainedModel,
  type TrainJob,
  type TrialRecord,
} from "../contract.js";
import { checkMemory } from "../memory-estimate.js";
import type { Scores } from "../metrics.js";
import type { FittedModel, Parameters } from "../model/learner.js";
import { defaultParameters, fitLearner, parametersByChance } from "../model/learners.js";
import { ModelArrays, writeModel } from "../model/model-file.js";
import { indices, Random } from "../random.js";
import { digestOfJob, readPiece, writePiece } from "../search/checkpoint.js";
import { mix, selectEnsemble } from "../search/ensemble.js";
import { type Hooks, stopCheck } from "../search/hooks.js";
import { meanOf } from "../search/search.js";
import { binColumn } from "../tree/bins.js";
import { intervalSpread } from "./interval-spread.js";
import { anchorOf, chooseLags, featureCount, fillFeatures, type Lags, reachOf } from "./lag-features.js";
import { readSeries, type Series, seasonOf } from "./read-series.js";
import { forecastSteps, type SeriesModel, saveSeries } from "./series-model.js";
import { seasonalScale, seriesScores } from "./series-scores.js";

const ORIGINS_MAX = 5;
const COVERAGE = 0.9;

interface Setting {
  readonly job: TrainJob;
  readonly series: Series;
  /** What is forecast: the values or their logarithms. */
  readonly values: Float64Array;
  readonly logarithmic: boolean;
  readonly lags: Lags;
  readonly horizon: number;
  /** Places where the validated stretches start. */
  readonly origins: readonly number[];
  readonly metric: Metric;
  readonly checkStop: () => void;
}

interface Candidate {
  readonly trial: number;
  readonly algorithm: Algorithm | "seasonal_naive";
  readonly parameters: Parameters;
  /** Of all validated stretches, one after the other, in the scale that is forecast in. */
  readonly predicted: Float64Array;
  readonly scores: readonly Scores[];
}

export function trainSeries(job: TrainJob, metric: Metric, hooks: Hooks): TrainedModel {
  const setting = settingOf(job, metric, stopCheck(hooks));
  const { series, values, horizon, origins, logarithmic, lags } = setting;
  const naive = judge(setting, { trial: -1, algorithm: "seasonal_naive", parameters: {} }, allStretches(setting, null));
  const { candidates, records, cutByTime } = tryAll(setting, hooks);
  const byScore = [naive, ...candidates].sort((a, b) => scoreOf(a, metric) - scoreOf(b, metric) || a.trial - b.trial);
  const back = (predicted: Float64Array) => (logarithmic ? predicted.map(Math.exp) : predicted);
  const actual = Float64Array.from(origins.flatMap((origin) => [...series.values.subarray(origin, origin + horizon)]));
  const scale = seasonalScale(series.values, lags.season);
  const votes = selectEnsemble(
    byScore.map(({ predicted }) => predicted),
    actual,
    1,
    (wanted, predicted) => seriesScores(wanted, back(predicted), scale)[metric]!,
  );
  const mixed = mix(
    votes.map(({ member }) => byScore[member]!.predicted),
    votes.map(({ weight }) => weight),
  );
  const judged = judge(setting, naive, mixed);
  const members = votes.map(({ member, weight }) => {
    const { algorithm, parameters, trial } = byScore[member]!;
    const fitted = algorithm === "seasonal_naive" ? null : fitOn(setting, algorithm, parameters, values.length, trial);
    return { weight, fitted, algorithm, trial };
  });
  const card = cardOf(setting, judged, naive, members, cutByTime);
  const model: SeriesModel = {
    target: job.target!,
    timeColumn: job.timeColumn!,
    calendar: series.calendar,
    start: series.start,
    step: series.step,
    lags,
    logarithmic,
    history: values.slice(-reachOf(lags)),
    length: values.length,
    members: members.map(({ weight, fitted }) => ({ weight, fitted })),
    spread: intervalSpread(values, mixed, origins, horizon, COVERAGE),
    coverage: COVERAGE,
    horizon,
    scale,
    card,
  };
  const arrays = new ModelArrays();
  const content = saveSeries(model, arrays);
  return {
    task: "forecasting",
    algorithm: members.length > 1 ? "ensemble" : members[0]!.algorithm,
    metric,
    score: card.metrics[metric]!,
    metrics: card.metrics,
    trials: records,
    card,
    features: [],
    classes: null,
    bytes: writeModel(content, arrays.list),
  };
}

function settingOf(job: TrainJob, metric: Metric, checkStop: () => void): Setting {
  const series = readSeries(job);
  const season = seasonOf(series);
  const length = series.values.length;
  const horizon = Math.max(1, Math.min(job.horizon ?? Math.max(season, 6), Math.floor(length / 5)));
  // At least half of the series comes before the first stretch.
  const count = Math.max(1, Math.min(ORIGINS_MAX, Math.floor(length / 2 / horizon)));
  const origins = Array.from({ length: count }, (_, i) => length - (count - i) * horizon);
  const logarithmic = growsWithLevel(series.values, Math.max(season, 4));
  const values = logarithmic ? series.values.map(Math.log) : series.values;
  const stepMs = series.step.unit === "month" ? Number.POSITIVE_INFINITY : series.step.size;
  const lags = chooseLags(season, origins[0]!, series.calendar, stepMs);
  checkMemory({ rows: length, columns: featureCount(lags), outputs: 1, finalists: job.maxTrials, folds: count });
  return { job, series, values, logarithmic, lags, horizon, origins, metric, checkStop };
}

/** Whether swings are greater where values are, by which logarithms are even; only where all values are above 0. */
function growsWithLevel(values: Float64Array, block: number): boolean {
  if (values.some((value) => value <= 0)) return false;
  const means: number[] = [];
  const spreads: number[] = [];
  for (let from = 0; from + block <= values.length; from += block) {
    const part = [...values.subarray(from, from + block)];
    const mean = meanOf(part);
    means.push(mean);
    spreads.push(Math.sqrt(meanOf(part.map((value) => (value - mean) ** 2))));
  }
  if (means.length < 4) return false;
  const [m, s] = [meanOf(means), meanOf(spreads)];
  let [both, left, right] = [0, 0, 0];
  means.forEach((mean, i) => {
    both += (mean - m) * (spreads[i]! - s);
    left += (mean - m) ** 2;
    right += (spreads[i]! - s) ** 2;
  });
  return left > 0 && right > 0 && both / Math.sqrt(left * right) > 0.7;
}

function tryAll(setting: Setting, hooks: Hooks) {
  const { job, metric } = setting;
  const digest = digestOfJob(job);
  const known = new Map(
    (hooks.checkpoints ?? []).flatMap((bytes) => {
      const piece = readPiece(digest, bytes);
      return piece === null ? [] : [[piece.trial, piece] as const];
    }),
  );
  const algorithms =
    job.algorithms === undefined || job.algorithms.length === 0 ? ALGORITHMS : [...new Set(job.algorithms)];
  const random = new Random(job.seed, "candidates");
  const now = hooks.now ?? Date.now;
  const started = now();
  const candidates: Candidate[] = [];
  const records: TrialRecord[] = [];
  let cutByTime = false;
  for (let trial = 0; trial < job.maxTrials; trial++) {
    const algorithm = algorithms[trial] ?? random.pick(algorithms);
    const parameters =
      trial < algorithms.length
        ? defaultParameters(algorithm, setting.values.length)
        : parametersByChance(algorithm, random);
    if (trial > 0 && now() - started > job.timeBudgetMs) {
      cutByTime = true;
      break;
    }
    const from = now();
    const piece = known.get(trial) ?? {
      stage: "full" as const,
      trial,
      scores: [],
      rounds: null,
      predicted: Float32Array.from(allStretches(setting, { algorithm, parameters, trial })),
      durationMs: now() - from,
    };
    if (!known.has(trial)) hooks.checkpoint?.(writePiece(digest, piece));
    const candidate = judge(setting, { trial, algorithm, parameters }, Float64Array.from(piece.predicted));
    candidates.push(candidate);
    const foldScores = candidate.scores.map((scores) => scores[metric]!);
    records.push({
      trial,
      algorithm,
      parameters,
      status: "finished",
      score: meanOf(foldScores),
      foldScores,
      durationMs: piece.durationMs,
    });
    const bestScore = Math.min(...records.map(({ score }) => score));
    const etaMs = Math.round(((now() - started) / (trial + 1)) * (job.maxTrials - trial - 1));
    hooks.progress?.({ phase: "validating", trial: trial + 1, trials: job.maxTrials, bestScore, etaMs });
  }
  return { candidates, records, cutByTime };
}

/** `learner` null: the season before is repeated. */
function allStretches(
  setting: Setting,
  learner: { readonly algorithm: Algorithm; readonly parameters: Parameters; readonly trial: number } | null,
): Float64Array {
  const { origins, horizon, values, series, lags } = setting;
  const predicted = new Float64Array(origins.length * horizon);
  origins.forEach((origin, i) => {
    const fitted =
      learner === null ? null : fitOn(setting, learner.algorithm, learner.parameters, origin, learner.trial);
    const grid = { lags, start: series.start, step: series.step };
    predicted.set(forecastSteps(grid, fitted, values.subarray(0, origin), origin, horizon), i * horizon);
  });
  return predicted;
}

function judge(
  { origins, horizon, series, logarithmic, lags }: Setting,
  { trial, algorithm, parameters }: Pick<Candidate, "trial" | "algorithm" | "parameters">,
  predicted: Float64Array,
): Candidate {
  const scores = origins.map((origin, i) => {
    const stretch = predicted.subarray(i * horizon, (i + 1) * horizon);
    const actual = series.values.subarray(origin, origin + horizon);
    const scale = seasonalScale(series.values.subarray(0, origin), lags.season);
    return seriesScores(actual, logarithmic ? stretch.map(Math.exp) : stretch, scale);
  });
  return { trial, algorithm, parameters, predicted, scores };
}

function scoreOf({ scores }: Candidate, metric: Metric): number {
  return meanOf(scores.map((each) => each[metric]!));
}

/** On the values before `end`. A boosting's rounds are chosen on the latest tenth and more, then it learns from all. */
function fitOn(
  { lags, series, values, job, checkStop }: Setting,
  algorithm: Algorithm,
  parameters: Parameters,
  end: number,
  trial: number,
): FittedModel {
  const reach = reachOf(lags);
  const rows = end - reach;
  const columns = Array.from({ length: featureCount(lags) }, () => new Float32Array(rows));
  const target = new Float64Array(rows);
  for (let row = 0; row < rows; row++) {
    fillFeatures(lags, series, values, reach + row, columns, row, 0);
    target[row] = values[reach + row]! - anchorOf(lags, values, reach + row);
  }
  const binned = columns.map(binColumn);
  const sample = { inputs: { columns, binned: () => binned }, target, classes: 0, checkStop };
  const all = indices(rows);
  const stream = `series ${trial} ${end}`;
  if (algorithm !== "xgboost" || rows < 20) {
    const fixed = algorithm === "xgboost" ? { ...parameters, rounds: 50 } : parameters;
    return fitLearner(
      algorithm,
      { ...sample, train: all, watch: null, random: new Random(job.seed, stream) },
      fixed,
      "full",
    );
  }
  const split = Math.floor(rows * 0.85);
  const watching = {
    ...sample,
    train: all.slice(0, split),
    watch: all.slice(split),
    random: new Random(job.seed, stream),
  };
  const { watched } = fitLearner(algorithm, watching, parameters, "full");
  const rounds = watched!.reduce((best, loss, i) => (loss < watched![best]! ? i : best), 0) + 1;
  const final = { ...sample, train: all, watch: null, random: new Random(job.seed, stream) };
  return fitLearner(algorithm, final, { ...parameters, rounds }, "full");
}

function meanScoresOf({ scores }: Candidate): Scores {
  const names = Object.keys(scores[0]!) as Metric[];
  return Object.fromEntries(names.map((name) => [name, meanOf(scores.map((each) => each[name]!))]));
}

function cardOf(
  { job, series, lags, horizon, origins, logarithmic }: Setting,
  judged: Candidate,
  naive: Candidate,
  members: readonly { readonly algorithm: string; readonly weight: number; readonly trial: number }[],
  cutByTime: boolean,
): ModelCard {
  const others = job.columns.map(({ name }) => name).filter((name) => name !== job.target && name !== job.timeColumn);
  const asked = job.task === "forecasting";
  const warnings: string[] = [];
  if (series.filled > 0) warnings.push(`${series.filled} missing steps were interpolated linearly.`);
  if (lags.season === 1) warnings.push("No clear season was found; the baseline repeats the last value.");
  return {
    task: "forecasting",
    taskReason: asked ? "the request asks for it" : "there is a time column and nothing else beside the target",
    target: job.target,
    rows: series.values.length - series.filled,
    rowsDropped: 0,
    columnsUsed: [
      {
        name: job.timeColumn!,
        kind: series.calendar ? "timestamp" : "number",
        treatment: "the order of the series and its calendar",
      },
      {
        name: job.target!,
        kind: "number",
        treatment: `${logarithmic ? "its logarithm; " : ""}${lags.season === 1 ? "no season" : `a season of ${lags.season} steps`}; earlier values ${lags.lags.join(", ")} steps back`,
      },
    ],
    columnsDropped: others.map((name) => ({ name, reason: "a forecast learns from the series alone" })),
    warnings,
    classes: null,
    validation: `the last ${origins.length} stretches of ${horizon} steps, each forecast from what came before it`,
    metrics: meanScoresOf(judged),
    metricsByFold: judged.scores,
    baseline: meanScoresOf(naive),
    members: members.map(({ algorithm, weight, trial }) => ({ algorithm, weight, trial })),
    calibration: null,
    importance: [],
    limits: [
      `Intervals hold ${COVERAGE * 100} % of the values if errors are like those in validation. Beyond ${horizon} steps the intervals are extrapolated.`,
      "The forecast assumes that the future is like the past. It does not foresee new kinds of events.",
      ...(cutByTime
        ? [
            `The search ended early because of its time budget (${job.timeBudgetMs} ms). Another run may find a different model.`,
          ]
        : []),
    ],
    seed: job.seed,
  };
}
