/**
 * Experiments: trainings that CREATE EXPERIMENT has named. Called by sql-functions.ts; each change is one transaction.
 */

import type { Request } from "../../actor/request.js";
import { experimentFields } from "../../protocol/endpoints/automl.js";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { type DbError, sqlError } from "../../protocol/errors.js";
import { readCallOptions } from "../../session/call-options.js";
import type { Json } from "../../values/values.js";
import { ownRowsOf } from "../statements/run-alone.js";
import { ownTogether } from "../statements/run-together.js";
import { hasJobs, isOver, listJobs, readJob, type TrainingJob } from "./job-store.js";
import { callersRights, forgetName, noteModel, requireToTrain } from "./model-rights.js";
import { copyModel, findModel, isNewName, isNewNameIn } from "./model-store.js";
import { startTraining, stopTraining, waitForTraining } from "./start-training.js";
import { JOBS, MODEL_BYTES, MODELS } from "./tables.js";
import { specOf, type TrainBody } from "./train-spec.js";

const OPTIONS = Strict(experimentFields);

/** How often a statement that waits for a training lets its snapshot go. */
const RENEW_MS = 1000;

/** The value of `automl_result`. `renew` gives the statement a new snapshot, so that no older state must be kept. */
export async function createExperiment(
  request: Request,
  name: string,
  isAsync: boolean,
  source: Pick<TrainBody, "query" | "parameters">,
  options: Json,
  renew: () => void,
): Promise<object> {
  const spec = await specOf(request, { ...readCallOptions("CREATE EXPERIMENT", OPTIONS, options), ...source });
  request.hasActed = true;
  const job = await startTraining(request, { spec, name, experiment: name });
  if (isAsync) return { status: job.status, experiment: name, job_id: job.id, best_model_id: null };
  const renewing = setInterval(renew, RENEW_MS);
  const { modelId } = await waitForTraining(request, job.id).finally(() => clearInterval(renewing));
  const { algorithm, score, metric, task, trainingTimeMs } = await findModel(request, modelId!);
  return {
    ...{ status: "completed", experiment: name, job_id: job.id, best_model_id: modelId, best_score: score },
    ...{ algorithm, metric, task, training_time_ms: trainingTimeMs },
  };
}

async function find(request: Request, name: string): Promise<TrainingJob | null> {
  if (!hasJobs(request)) return null;
  const sql = `SELECT id FROM ${JOBS} WHERE experiment = $1::text`;
  const [row] = await ownRowsOf(request, { sql, params: [name] });
  return row === undefined ? null : readJob(request, row[0] as string);
}

function none(name: string): DbError {
  return sqlError("42704", `experiment "${name}" does not exist`);
}

/** Removes it with its own models; deployed models stay. Returns false if it does not exist and `ifExists` is set. */
export async function dropExperiment(request: Request, name: string, ifExists: boolean): Promise<boolean> {
  const job = await find(request, name);
  if (job === null) {
    if (ifExists) return false;
    throw none(name);
  }
  requireToTrain(request, name);
  request.hasActed = true;
  if (!isOver(job)) await stopTraining(request, job.id);
  await ownTogether(
    request,
    request,
    async (run) => {
      await run(`DELETE FROM ${MODEL_BYTES} WHERE model_id IN (SELECT id FROM ${MODELS} WHERE experiment = $1::text)`, [
        name,
      ]);
      await run(`DELETE FROM ${MODELS} WHERE experiment = $1::text`, [name]);
      await run(`DELETE FROM ${JOBS} WHERE experiment = $1::text`, [name]);
      return isNewNameIn(run, name);
    },
    (tx, isLast) => {
      if (isLast) forgetName(request, tx, name);
      request.commitPart(tx);
    },
  );
  return true;
}

/** The experiment's model under a name of its own. */
export async function deployModel(request: Request, name: string, experiment: string): Promise<object> {
  const job = await find(request, experiment);
  if (job === null) throw none(experiment);
  if (job.status !== "completed") {
    throw sqlError("55000", `experiment "${experiment}" has no model: it is ${job.status}`);
  }
  // Whoever has a copy of a model may use it.
  await findModel(request, job.modelId!);
  requireToTrain(request, name, await isNewName(request, name));
  request.hasActed = true;
  const { modelsPerTenantMax } = request.partition.config.automl;
  let isNew = false;
  const id = await ownTogether(
    request,
    request,
    async (run) => {
      isNew = await isNewNameIn(run, name);
      return copyModel(run, job.modelId!, name, modelsPerTenantMax);
    },
    (tx) => {
      noteModel(request, tx, { name, isNew });
      request.commitPart(tx);
    },
  );
  return { status: "deployed", model: name, model_id: id, experiment };
}

/** Whoever may not see all tables sees only own ones: a score tells of the rows behind it. */
export function listExperiments(request: Request): Promise<TrainingJob[]> {
  const rights = callersRights(request);
  const userId = !rights.ofRoles || rights.mayAllButMemories ? null : request.head.userId;
  return listJobs(request, "experiment IS NOT NULL", Number.MAX_SAFE_INTEGER, 0, userId);
}
