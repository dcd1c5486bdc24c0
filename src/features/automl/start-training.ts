/**
 * Starts, waits for and stops trainings, in the same way for routes, tools and statements. The work itself is a
 * background job (train-job.ts).
 */

import { randomUUID } from "node:crypto";
import type { Request } from "../../actor/request.js";
import { DbError, ERRORS, type ErrorCode } from "../../protocol/errors.js";
import type { JobRecord } from "../../protocol/placement.js";
import type { Client } from "../../session/statement-run.js";
import { ownerOf } from "../jobs/background-request.js";
import { putJob } from "../jobs/job-records.js";
import { JOBS } from "../jobs/jobs.js";
import { ownTogether } from "../statements/run-together.js";
import { endTraining, TRAINING } from "./end-training.js";
import { findJob, insertJob, surplusJobs, type TrainingJob } from "./job-store.js";
import { requireToTrain } from "./model-rights.js";
import { isNewName } from "./model-store.js";
import { readTrainingData } from "./read-columns.js";
import type { TrainSpec } from "./train-spec.js";
import { checkCallback } from "./webhook.js";

type Tx = Parameters<Request["commitPart"]>[0];

export interface TrainingOrder {
  readonly spec: TrainSpec;
  readonly name: string;
  readonly experiment?: string;
  readonly callbackUrl?: string;
}

/** Makes the job; `commit` commits it with the answer. Throws rate_limited when the tenant has enough of them. */
export async function startTraining(
  request: Request,
  { spec, name, experiment, callbackUrl }: TrainingOrder,
  commit: (tx: Tx, job: TrainingJob) => void = (tx) => request.commitPart(tx),
): Promise<TrainingJob> {
  const { partition } = request;
  if (callbackUrl !== undefined) checkCallback(callbackUrl, partition.config);
  requireRoomToTrain(request);
  requireToTrain(request, name, await isNewName(request, name));
  const id = `job_${randomUUID()}`;
  const record = recordOf(request, id);
  const surplus = await surplusJobs(request);
  const job = await ownTogether(
    request,
    request,
    async (run) => {
      const made = newJob(request.head.userId, id, name, experiment ?? null, spec);
      await insertJob(run, request.head.userId, { ...made, spec, callbackUrl: callbackUrl ?? null }, surplus);
      return made;
    },
    (tx, made) => {
      putJob(tx, record);
      commit(tx, made);
    },
  );
  partition.part(JOBS).queue.start(record);
  return job;
}

/** Throws forbidden, not_supported and rate_limited where no training can begin. */
function requireRoomToTrain({ partition, tenant, readOnly }: Request): void {
  if (readOnly) throw new DbError("forbidden", "The credential is read-only and may not train models.");
  if (partition.tasks?.models === undefined) {
    throw new DbError("not_supported", "Models cannot be trained here: the server has no training threads.");
  }
  partition.part(JOBS).queue.admit(tenant.number, TRAINING);
}

/** What a training would do and with how much, after all that can be found wrong with it before it begins. */
export async function plannedTraining(request: Request, { spec, name }: Pick<TrainingOrder, "spec" | "name">) {
  requireRoomToTrain(request);
  requireToTrain(request, name, await isNewName(request, name));
  const { columns, rows, embedded } = await readTrainingData(request, spec, false);
  const { target, task, algorithms = null, metric = null, maxTrials, timeBudgetMs, seed } = spec;
  const isFeature = (column: string): boolean => column !== target && column !== spec.timeColumn;
  return {
    ...{ model_name: name, task, target, algorithms, metric, max_trials: maxTrials, seed, rows },
    time_budget_seconds: timeBudgetMs / 1000,
    features: columns.filter((column) => isFeature(column.name)).map((column) => column.name),
    embedded_features: embedded,
  };
}

function newJob(userId: string, id: string, name: string, experiment: string | null, spec: TrainSpec): TrainingJob {
  return {
    ...{ id, userId, name, experiment, status: "pending", phase: null, progress: 0, currentTrial: 0 },
    ...{ totalTrials: spec.maxTrials, bestScore: null, etaMs: null, error: null, modelId: null },
    ...{ createdAt: new Date().toISOString(), startedAt: null, completedAt: null },
  };
}

function recordOf(request: Request, id: string): JobRecord {
  return { tenant: request.tenant.number, kind: TRAINING, id, owner: ownerOf(request) };
}

/**
 * Waits for the end. A request that is cancelled or runs past its deadline stops the training, because nobody would get
 * the model. Throws the training's own error, or the error that ends the request.
 */
export async function waitForTraining(request: Request, id: string): Promise<TrainingJob> {
  const { partition, tenant } = request;
  const signal = request.signal();
  let leave = (): void => undefined;
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave);
  });
  try {
    if (signal.aborted) throw signal.reason;
    await Promise.race([partition.part(JOBS).queue.whenEnded({ tenant: tenant.number, kind: TRAINING, id }), left]);
  } catch (error) {
    // One that the actor ends is asked again elsewhere, and the job goes on there.
    if (request.ending === null) await stopTraining(request, id, UNCANCELLED);
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
  }
  await request.yieldTurn();
  const job = await findJob(request, id);
  if (job.status === "completed") return job;
  if (job.status === "failed") throw new DbError(codeOf(job.error!.code), job.error!.message, { job_id: id });
  throw new DbError("conflict", "The training was stopped.", { job_id: id });
}

function codeOf(code: string): ErrorCode {
  return code in ERRORS ? (code as ErrorCode) : "internal_error";
}

/** Stops what is done for a request that is over. */
const UNCANCELLED: Client = {
  checkpoint: () => undefined,
  shouldYield: () => false,
  yieldTurn: () => Promise.resolve(),
};

/** Ends a training that has not ended; nothing happens to one that has. */
export async function stopTraining(
  request: Request,
  id: string,
  client: Client = request,
  commit: (tx: Tx) => void = (tx) => request.commitPart(tx),
): Promise<void> {
  const { partition } = request;
  const record = recordOf(request, id);
  const isEnded = await endTraining(request, client, record, async () => ({ status: "cancelled" }), commit);
  if (isEnded) await partition.part(JOBS).queue.cancel(record);
}
