/**
 * Models that a recipe trains and uses. A training reads its data when it gets a thread, long after the recipe has
 * ended. So the recipe's transaction holds only the job: it is committed with the rest, then runs in the background
 * and survives restarts. Made for one attempt at an execution.
 */

import { randomUUID } from "node:crypto";
import type { Request } from "../../actor/request.js";
import type { Metric } from "../../automl/contract.js";
import { DbError } from "../../protocol/errors.js";
import type { JobRecord } from "../../protocol/placement.js";
import type { Training } from "../../recipe/recipe.js";
import { TRAINING } from "../automl/end-training.js";
import { insertJob, surplusJobs } from "../automl/job-store.js";
import { findModel, noModel } from "../automl/model-store.js";
import { type PredictedRow, predictRows } from "../automl/predict.js";
import { type Source, type TrainSpec, trialsWanted } from "../automl/train-spec.js";
import { ownerOf } from "../jobs/background-request.js";
import { putJob } from "../jobs/job-records.js";
import { JOBS } from "../jobs/jobs.js";
import type { Run } from "../statements/run-together.js";
import type { Predicted, RecipeModels } from "./recipe-runner.js";

/** Where nothing is kept: trainings are only looked at, and there are no models. */
export const NO_MODELS: RecipeModels = {
  train: async () => null,
  predict: async (model) => {
    throw noModel(model);
  },
};

/** Models as they are, where nothing is trained: in a dry run a training is only looked at, else it is refused. */
export const modelsToAsk = (request: Request, dryRun: boolean): RecipeModels => ({
  train: async () => {
    if (dryRun && !request.readOnly) return null;
    throw new DbError("forbidden", "The credential is read-only and may not train models.");
  },
  predict: (model, rows) => predict(request, model, rows),
});

/** Of an execution that is committed. */
export class ExecutionModels implements RecipeModels {
  private readonly jobs: JobRecord[] = [];

  constructor(
    private readonly request: Request,
    /** In the transaction of the recipe. */
    private readonly run: Run,
  ) {}

  async train(training: Training, source: Source): Promise<string> {
    const { request } = this;
    const { partition, tenant } = request;
    if (partition.tasks?.models === undefined) {
      throw new DbError("not_supported", "Models cannot be trained here: the server has no training threads.");
    }
    partition.part(JOBS).queue.admit(tenant.number, TRAINING);
    const id = `job_${randomUUID()}`;
    const spec = specOf(training, source, partition.config.automl.timeBudgetSeconds);
    const { userId } = request.head;
    const createdAt = new Date().toISOString();
    const job = { id, name: training.model, spec, experiment: null, callbackUrl: null, createdAt };
    await insertJob(this.run, userId, job, await surplusJobs(request));
    this.jobs.push({ tenant: tenant.number, kind: TRAINING, id, owner: ownerOf(request) });
    return id;
  }

  predict(model: string, rows: readonly object[]): Promise<readonly Predicted[]> {
    return predict(this.request, model, rows);
  }

  /** In the transaction, before it is committed. */
  record(tx: Parameters<typeof putJob>[0]): void {
    for (const job of this.jobs) putJob(tx, job);
  }

  /** After the commit. */
  begin(): void {
    for (const job of this.jobs) this.request.partition.part(JOBS).queue.start(job);
  }
}

function specOf(training: Training, source: TrainSpec["source"], budgetSeconds: number): TrainSpec {
  const { target, task = "auto", features, metric, seed = 0 } = training;
  return {
    source,
    target,
    task,
    ...trialsWanted(training.max_trials),
    timeBudgetMs: (training.time_budget_secs ?? budgetSeconds) * 1000,
    seed,
    ...(features !== undefined && { features }),
    ...(metric !== undefined && { metric: metric as Metric }),
  };
}

async function predict(request: Request, name: string, rows: readonly object[]): Promise<readonly Predicted[]> {
  const model = await findModel(request, name);
  const { predictions, probabilities } = await predictRows(request, model, rows as readonly PredictedRow[]);
  return predictions.map((prediction, i) => ({
    prediction,
    probability: probabilities?.[i]?.[String(prediction)] ?? null,
  }));
}
