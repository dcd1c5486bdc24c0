/**
 * Training of a clustering: prepared columns around zero, k-means for each number of clusters, the best silhouette.
 * Called by train.ts.
 */
import { DbError } from "../../protocol/errors.js";
import type { ModelCard, TrainedModel, TrainJob, TrialRecord } from "../contract.js";
import { encode } from "../features/encode.js";
import { describeTreatment, makePlan } from "../features/plan.js";
import { readColumn, rowsOfColumn } from "../features/read-column.js";
import { scalingOf, standardised } from "../linear/standardise.js";
import { checkMemory } from "../memory-estimate.js";
import { ModelArrays, writeModel } from "../model/model-file.js";
import { indices, Random } from "../random.js";
import { type Hooks, stopCheck } from "../search/hooks.js";
import { saveClusterModel } from "./cluster-model.js";
import { type Clustering, kMeans, silhouette } from "./k-means.js";

const CLUSTERS_MAX = 10;
/** Rows that the number of clusters is chosen on. */
const CHOICE_ROWS_MAX = 10_000;

export function trainClusters(job: TrainJob, hooks: Hooks): TrainedModel {
  const checkStop = stopCheck(hooks);
  const rows = rowsOfColumn(job.columns[0]!);
  if (rows < 4)
    throw new DbError("invalid_request", `Clustering needs at least 4 rows, not ${rows}.`, { field: "columns" });
  const wanted = job.columns.filter(({ name }) => name !== job.target && (job.features?.includes(name) ?? true));
  const read = wanted.map(readColumn);
  const plan = makePlan(read, new Random(job.seed, "plan"), (name) => job.features?.includes(name) ?? false);
  if (plan.planned.length === 0) {
    const reasons = plan.dropped.map(({ name, reason }) => `"${name}": ${reason}`).join("; ");
    throw new DbError("invalid_request", `There is no column to find clusters in. ${reasons}`, { field: "features" });
  }
  const columns = plan.planned.map(({ feature }) => read.find(({ name }) => name === feature.name)!);
  const encoded = encode(plan.planned, columns).columns;
  checkMemory({ rows, columns: encoded.length, outputs: 1, finalists: 0, folds: 0 });
  const scaling = scalingOf(encoded, indices(rows));
  const matrix = standardised(encoded, indices(rows), scaling);
  const { chosen, trials } = chooseClusters(job, matrix, encoded.length, hooks, checkStop);
  const found = kMeans(matrix, encoded.length, chosen, new Random(job.seed, `final ${chosen}`), checkStop);
  const score = silhouette(matrix, encoded.length, found.labels, new Random(job.seed, "silhouette"));
  const card: ModelCard = {
    task: "clustering",
    taskReason: job.task === "clustering" ? "the request asks for it" : "there is no target",
    target: null,
    rows,
    rowsDropped: 0,
    columnsUsed: plan.planned.map((each) => ({
      name: each.feature.name,
      kind: each.feature.kind,
      treatment: describeTreatment(each),
    })),
    columnsDropped: plan.dropped,
    warnings: score < 0.25 ? [`A silhouette of ${score.toFixed(2)} says that the rows form no clear clusters.`] : [],
    classes: sizesOf(found, chosen),
    validation:
      job.clusters === undefined
        ? "the number of clusters with the best silhouette"
        : "the number of clusters that was asked for",
    metrics: { silhouette: score },
    metricsByFold: [],
    baseline: {},
    members: [{ algorithm: "kmeans", weight: 1, trial: 0 }],
    calibration: null,
    importance: [],
    limits: [
      "The algorithm finds round clusters in standardised columns. It splits long or nested shapes.",
      "Every prepared column has the same weight. Leave out columns that should not matter.",
    ],
    seed: job.seed,
  };
  const arrays = new ModelArrays();
  const content = saveClusterModel({ planned: plan.planned, scaling, centres: found.centres, card }, arrays);
  return {
    task: "clustering",
    algorithm: "kmeans",
    metric: "silhouette",
    score,
    metrics: card.metrics,
    trials,
    card,
    features: plan.planned.map(({ feature }) => feature),
    classes: null,
    bytes: writeModel(content, arrays.list),
  };
}

function sizesOf({ labels }: Clustering, count: number) {
  const sizes = new Array<number>(count).fill(0);
  for (const label of labels) sizes[label]! += 1;
  return sizes.map((rows, cluster) => ({ label: String(cluster), rows }));
}

function chooseClusters(job: TrainJob, matrix: Float32Array, width: number, hooks: Hooks, checkStop: () => void) {
  const rows = matrix.length / width;
  const trials: TrialRecord[] = [];
  if (job.clusters !== undefined) {
    if (job.clusters > rows)
      throw new DbError("invalid_request", `clusters is ${job.clusters}, more than the ${rows} rows.`, {
        field: "clusters",
      });
    return { chosen: job.clusters, trials };
  }
  const picked = new Random(job.seed, "choice").shuffle(indices(rows)).slice(0, CHOICE_ROWS_MAX).sort();
  const sample = new Float32Array(picked.length * width);
  picked.forEach((row, i) => {
    sample.set(matrix.subarray(row * width, (row + 1) * width), i * width);
  });
  const most = Math.min(CLUSTERS_MAX, rows - 1);
  let chosen = 2;
  let best = Number.NEGATIVE_INFINITY;
  const started = Date.now();
  for (let count = 2; count <= most; count++) {
    const from = Date.now();
    const { labels } = kMeans(sample, width, count, new Random(job.seed, `clusters ${count}`), checkStop);
    const score = silhouette(sample, width, labels, new Random(job.seed, "silhouette"));
    if (score > best) {
      best = score;
      chosen = count;
    }
    const parameters = { clusters: count, starts: 4 };
    trials.push({
      trial: count - 2,
      algorithm: "kmeans",
      parameters,
      status: "finished",
      score,
      foldScores: [],
      durationMs: Date.now() - from,
    });
    hooks.progress?.({ phase: "validating", trial: count - 1, trials: most - 1, bestScore: best, etaMs: null });
    if (Date.now() - started > job.timeBudgetMs) break;
  }
  return { chosen, trials };
}
