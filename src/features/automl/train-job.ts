/**
 * A training in the background, from its beginning or from where a restart cut it off:
 *
 *  1. It waits for a free training thread, and only then reads its data (read-columns.ts).
 *  2. If the data are the same as before a restart, it continues with the checkpoints of the finished trials; otherwise
 *     it begins again.
 *  3. The thread trains; progress and checkpoints are written at most once a second, and reported to followers.
 *  4. The model and the end of the job are written in one transaction (end-training.ts).
 */

import type { TrainedModel, TrainMessage, TrainProgress } from "../../automl/contract.js";
import type { ModelTasks } from "../../automl/model-tasks.js";
import { DbError } from "../../protocol/errors.js";
import type { Job, JobKind } from "../jobs/job-kind.js";
import { JOBS } from "../jobs/jobs.js";
import { ownTogether } from "../statements/run-together.js";
import { endTraining, TRAINING, topicOf } from "./end-training.js";
import {
  beginJob,
  checkpointsOf,
  followedView,
  forgetJob,
  isOver,
  readJob,
  saveProgress,
  shareDone,
  specOfJob,
  type TrainingJob,
} from "./job-store.js";
import { noteModel } from "./model-rights.js";
import { insertModel, isNewNameIn, type ModelConfig } from "./model-store.js";
import { readTrainingData, type TrainingData } from "./read-columns.js";
import type { TrainSpec } from "./train-spec.js";

/** How often progress is written at most. */
const SAVE_MS = 1000;

export const trainingJobs: JobKind = {
  name: TRAINING,
  bounds: ({ automl }) => ({ runningMax: automl.runningPerTenantMax, waitingMax: automl.waitingPerTenantMax }),
  run: runTraining,
  fail: endAsFailed,
};

async function runTraining(job: Job): Promise<void> {
  const models = job.partition.tasks?.models;
  if (models === undefined) throw new Error("there are no training threads");
  let release: (() => void) | null = null;
  try {
    release = await models.trainingSlot(job.signal);
    await train(job, models);
  } catch (error) {
    // It was stopped: who stopped it has written why, or the next start goes on.
    if (job.signal.aborted) return;
    await fail(job, error);
  } finally {
    release?.();
  }
}

async function train(job: Job, models: ModelTasks): Promise<void> {
  const started = performance.now();
  const begun = await job.work(async (request) => {
    const stored = await readJob(request, job.record.id);
    if (stored === null || isOver(stored)) return null;
    const { digest: _digest, ...spec } = await specOfJob(request, job.record.id);
    const data = await readTrainingData(request, spec);
    await ownTogether(
      request,
      request,
      (run) => beginJob(run, stored.id, data.digest),
      (tx) => request.commitPart(tx),
    );
    return { stored, spec, data, checkpoints: await checkpointsOf(request, stored.id) };
  });
  // What the record is about is gone: so is the record.
  if (begun === null) {
    await job.work((request) => forgetJob(request, job.record));
    return;
  }
  const { stored, spec, data, checkpoints } = begun;
  const saver = new ProgressSaver(job, stored, checkpoints.length);
  const { source: _source, ...rest } = spec;
  const hear = (message: TrainMessage): void => saver.hear(message);
  const trained = await models.train({ spec: rest, columns: data.columns, checkpoints, signal: job.signal, hear });
  await saver.finish();
  await complete(job, stored, spec, data, trained, performance.now() - started);
}

async function complete(
  job: Job,
  stored: TrainingJob,
  spec: TrainSpec,
  { embedded, rows, hasMoments }: TrainingData,
  trained: TrainedModel,
  trainingTimeMs: number,
): Promise<void> {
  const { config, models } = job.partition;
  const { source: _source, ...asked } = spec;
  const embeddingModel = embedded.length === 0 ? null : models.describe(null).id;
  await job.work((request) => {
    let isStored = false;
    let isNew = false;
    const decide: Parameters<typeof endTraining>[3] = async (run) => {
      isStored = true;
      isNew = await isNewNameIn(run, stored.name);
      const modelId = await insertModel(
        run,
        trained,
        {
          name: stored.name,
          jobId: stored.id,
          experiment: stored.experiment,
          userId: job.record.owner.userId,
          config: configOf({ ...asked, rows, hasMoments, embeddingModel }, embedded),
          trainingTimeMs: Math.round(trainingTimeMs),
        },
        config.automl.modelsPerTenantMax,
      );
      return { status: "completed", modelId, score: trained.score, trials: trained.trials.length };
    };
    return endTraining(request, request, job.record, decide, (tx) => {
      if (isStored) noteModel(request, tx, { name: stored.name, isNew });
      request.commitPart(tx);
    });
  });
}

/** As clients write it. */
function configOf(known: object, embedded: readonly string[]): ModelConfig {
  const named = Object.entries(known).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return { ...Object.fromEntries(named), embedded };
}

/** Errors of the client's data or options are reported to the client; our own faults are also logged. */
async function fail(job: Job, thrown: unknown): Promise<void> {
  const isExpected = thrown instanceof DbError;
  const error = isExpected ? thrown : new DbError("internal_error", "The training failed; the log has the details.");
  await endAsFailed(job, error);
  if (!isExpected) throw thrown;
}

async function endAsFailed(job: Job, error: DbError): Promise<void> {
  await job.work((request) => endTraining(request, request, job.record, async () => ({ status: "failed", error })));
}

/** Writes what the thread says, one transaction after the other and the newest state only. */
class ProgressSaver {
  private progress: TrainProgress | null = null;
  private readonly checkpoints: { readonly seq: number; readonly bytes: Uint8Array }[] = [];
  private saving: Promise<void> | null = null;
  private savedMs = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | null = null;
  private failure: unknown = null;
  private seq: number;

  constructor(
    private readonly job: Job,
    private readonly stored: TrainingJob,
    checkpoints: number,
  ) {
    this.seq = checkpoints;
  }

  hear(message: TrainMessage): void {
    if (message.kind === "checkpoint") this.checkpoints.push({ seq: this.seq++, bytes: message.bytes });
    else {
      const { kind: _kind, ...progress } = message;
      this.progress = progress;
      this.tell(progress);
    }
    this.saveSoon();
  }

  /** Resolves when nothing is being written. */
  async finish(): Promise<void> {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    await this.saving;
    if (this.failure !== null) throw this.failure;
  }

  private tell({ phase, trial, trials, bestScore, etaMs }: TrainProgress): void {
    const { partition, record } = this.job;
    const now: TrainingJob = {
      ...this.stored,
      ...{ status: "running", phase, currentTrial: trial, totalTrials: trials, bestScore, etaMs },
      progress: shareDone(trial, trials),
    };
    partition
      .part(JOBS)
      .progress.publish(record.tenant, topicOf(record.id), { type: "automl.progress", ...followedView(now) });
  }

  private saveSoon(): void {
    if (this.saving !== null || this.timer !== null) return;
    const waitMs = Math.max(0, this.savedMs + SAVE_MS - performance.now());
    this.timer = setTimeout(() => {
      this.timer = null;
      this.saving = this.save().finally(() => {
        this.saving = null;
        if (this.checkpoints.length > 0 && this.failure === null) this.saveSoon();
      });
    }, waitMs);
  }

  private async save(): Promise<void> {
    this.savedMs = performance.now();
    const { job } = this;
    if (job.signal.aborted || this.progress === null) return;
    const progress = this.progress;
    const checkpoints = this.checkpoints.splice(0);
    try {
      await job.work((request) =>
        ownTogether(
          request,
          request,
          (run) => saveProgress(run, job.record.id, progress, checkpoints),
          (tx) => request.commitPart(tx),
        ),
      );
    } catch (error) {
      if (!job.signal.aborted) this.failure = error;
    }
  }
}
