/**
 * Trainings as they are stored: a row each, with checkpoints beside it until it has ended. Called by the handlers and
 * by train-job.ts; holds no state.
 */

import type { Request } from "../../actor/request.js";
import type { TrainProgress } from "../../automl/contract.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { AUTOML_JOBS_KEPT_MAX } from "../../protocol/limits.js";
import type { JobRecord } from "../../protocol/placement.js";
import { isAdministrator } from "../../session/owner.js";
import { deleteJob } from "../jobs/job-records.js";
import { ownRowsOf, timeOf } from "../statements/run-alone.js";
import { ownTogether, type Run } from "../statements/run-together.js";
import { withDefinitions } from "../statements/with-definitions.js";
import { CHECKPOINTS, CREATE_TABLES, JOBS, JOBS_NAME } from "./tables.js";
import type { TrainSpec } from "./train-spec.js";

export type JobStatus = "pending" | "running" | "completed" | "failed" | "cancelled";

export interface TrainingJob {
  readonly id: string;
  /** Who began it. */
  readonly userId: string;
  /** Of the model that it makes. */
  readonly name: string;
  /** It was made by CREATE EXPERIMENT. */
  readonly experiment: string | null;
  readonly status: JobStatus;
  readonly phase: string | null;
  /** 0 to 1. */
  readonly progress: number;
  readonly currentTrial: number;
  readonly totalTrials: number;
  readonly bestScore: number | null;
  readonly etaMs: number | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly modelId: string | null;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly completedAt: string | null;
}

const COLUMNS =
  "id, name, experiment, status, phase, progress, current_trial, total_trials, best_score, eta_ms, error, model_id, created_at, started_at, completed_at, user_id";

export interface NewJob {
  readonly id: string;
  readonly name: string;
  readonly experiment: string | null;
  readonly spec: TrainSpec;
  readonly callbackUrl: string | null;
  readonly createdAt: string;
}

/**
 * Ids of the ended trainings that are too many. Read outside of the transaction that inserts, which would otherwise
 * lose against each step of any training that runs.
 */
export async function surplusJobs(request: Request): Promise<string[]> {
  if (!hasJobs(request)) return [];
  const rows = await ownRowsOf(request, {
    sql: `SELECT id FROM ${JOBS} WHERE experiment IS NULL AND status IN ('completed', 'failed', 'cancelled')
      ORDER BY created_at DESC OFFSET ${AUTOML_JOBS_KEPT_MAX}`,
    params: [],
  });
  return rows.map(([id]) => id as string);
}

/** `surplus`: the jobs that make room for it. */
export async function insertJob(run: Run, userId: string, job: NewJob, surplus: readonly string[]): Promise<void> {
  const { id, name, experiment, spec, callbackUrl, createdAt } = job;
  for (const sql of CREATE_TABLES) await run(sql, []);
  if (experiment !== null) {
    const same = await run(`SELECT 1 FROM ${JOBS} WHERE experiment = $1::text`, [experiment]);
    if (same.rows.length > 0) {
      throw new DbError("conflict", `The experiment "${experiment}" already exists.`, { sqlstate: "42710" });
    }
  }
  if (surplus.length > 0) await run(`DELETE FROM ${JOBS} WHERE id = ANY($1::text[])`, [surplus]);
  await run(
    `INSERT INTO ${JOBS} (id, user_id, name, experiment, status, progress, current_trial, total_trials, spec, created_at, callback)
     VALUES ($1, $2, $3, $4, 'pending', 0, 0, $5::int8, $6::jsonb, $7::timestamptz, $8::jsonb)`,
    [
      id,
      userId,
      name,
      experiment,
      spec.maxTrials,
      JSON.stringify(spec),
      createdAt,
      callbackUrl === null ? null : JSON.stringify({ url: callbackUrl }),
    ],
  );
}

export function hasJobs(request: Request): boolean {
  return withDefinitions(request, (catalog) => catalog.table(null, JOBS_NAME)) !== null;
}

/** Null: there is none. */
export async function readJob(request: Request, id: string): Promise<TrainingJob | null> {
  if (!hasJobs(request)) return null;
  const [row] = await ownRowsOf(request, { sql: `SELECT ${COLUMNS} FROM ${JOBS} WHERE id = $1::text`, params: [id] });
  return row === undefined ? null : jobOf(row);
}

/** That of another user does not exist, but for administrators. Throws not_found. */
export async function findJob(request: Request, id: string): Promise<TrainingJob> {
  const job = await readJob(request, id);
  if (job !== null && (job.userId === request.head.userId || isAdministrator(request))) return job;
  throw new DbError("not_found", `The training job "${id.slice(0, 100)}" does not exist.`, {
    field: "id",
    hint: "GET /v1/automl/jobs lists them.",
  });
}

/** Newest first. `userId`: only that user's; null: the tenant's. */
export async function listJobs(
  request: Request,
  where: string,
  limit: number,
  offset: number,
  userId: string | null = null,
): Promise<TrainingJob[]> {
  if (!hasJobs(request)) return [];
  const rows = await ownRowsOf(request, {
    sql: `SELECT ${COLUMNS} FROM ${JOBS} WHERE ${where} AND ($3::text IS NULL OR user_id = $3::text)
      ORDER BY created_at DESC, id DESC LIMIT $1::int8 OFFSET $2::int8`,
    params: [limit, offset, userId],
  });
  return rows.map(jobOf);
}

export async function specOfJob(request: Request, id: string): Promise<TrainSpec & { readonly digest: string | null }> {
  const [row] = await ownRowsOf(request, {
    sql: `SELECT spec, data_digest FROM ${JOBS} WHERE id = $1::text`,
    params: [id],
  });
  return { ...(row![0] as TrainSpec), digest: row![1] as string | null };
}

export async function checkpointsOf(request: Request, id: string): Promise<Uint8Array[]> {
  const rows = await ownRowsOf(request, {
    sql: `SELECT bytes FROM ${CHECKPOINTS} WHERE job_id = $1::text ORDER BY seq`,
    params: [id],
  });
  return rows.map(([bytes]) => bytes as Uint8Array);
}

/** It begins, on data with that digest: checkpoints of others are of no use. */
export async function beginJob(run: Run, id: string, digest: string): Promise<void> {
  await running(run, id);
  await run(
    `DELETE FROM ${CHECKPOINTS} WHERE job_id = $1::text
       AND EXISTS (SELECT 1 FROM ${JOBS} WHERE id = $1::text AND data_digest IS DISTINCT FROM $2::text)`,
    [id, digest],
  );
  await run(
    `UPDATE ${JOBS} SET status = 'running', phase = 'preparing', data_digest = $2::text,
       started_at = coalesce(started_at, $3::timestamptz) WHERE id = $1::text`,
    [id, digest, new Date().toISOString()],
  );
}

export async function saveProgress(
  run: Run,
  id: string,
  { phase, trial, trials, bestScore, etaMs }: TrainProgress,
  checkpoints: readonly { readonly seq: number; readonly bytes: Uint8Array }[],
): Promise<void> {
  await running(run, id);
  await run(
    `UPDATE ${JOBS} SET phase = $2::text, current_trial = $3::int8, total_trials = $4::int8, best_score = $5::float8,
       eta_ms = $6::float8, progress = $7::float8 WHERE id = $1::text`,
    [id, phase, trial, trials, bestScore, etaMs, shareDone(trial, trials)],
  );
  for (const { seq, bytes } of checkpoints) {
    await run(
      `INSERT INTO ${CHECKPOINTS} VALUES ($1, $2::int8, $3::bytea) ON CONFLICT (job_id, seq) DO UPDATE SET bytes = excluded.bytes`,
      [id, seq, bytes],
    );
  }
}

/** The end is no trial. */
export function shareDone(trial: number, trials: number): number {
  return Math.round((100 * trial) / (trials + 1)) / 100;
}

/** Throws cancelled when somebody else has ended it. */
async function running(run: Run, id: string): Promise<void> {
  const { rows } = await run(`SELECT status FROM ${JOBS} WHERE id = $1::text`, [id]);
  const status = rows[0]?.[0];
  if (status !== "pending" && status !== "running") throw new DbError("cancelled");
}

/** Of one that runs or waits. */
export async function endJob(
  run: Run,
  id: string,
  end:
    | { readonly status: "completed"; readonly modelId: string; readonly score: number; readonly trials: number }
    | { readonly status: "failed"; readonly error: DbError }
    | { readonly status: "cancelled" },
): Promise<void> {
  await run(`DELETE FROM ${CHECKPOINTS} WHERE job_id = $1::text`, [id]);
  await run(
    `UPDATE ${JOBS} SET status = $2::text, completed_at = $3::timestamptz, eta_ms = NULL, phase = NULL, error = $4::jsonb,
       model_id = $5::text, progress = CASE WHEN $2::text = 'completed' THEN 1 ELSE progress END,
       best_score = coalesce($6::float8, best_score), current_trial = coalesce($7::int8, current_trial),
       total_trials = coalesce($7::int8, total_trials)
     WHERE id = $1::text`,
    [
      id,
      end.status,
      new Date().toISOString(),
      end.status === "failed" ? JSON.stringify({ code: end.error.code, message: end.error.message }) : null,
      end.status === "completed" ? end.modelId : null,
      end.status === "completed" ? end.score : null,
      end.status === "completed" ? end.trials : null,
    ],
  );
}

/** A job as a transaction sees it; null: there is none. */
export async function readJobRow(run: Run, id: string) {
  const { rows } = await run(`SELECT ${COLUMNS}, callback IS NOT NULL FROM ${JOBS} WHERE id = $1::text`, [id]);
  const row = rows[0];
  return row === undefined ? null : { row, isOver: isOver(jobOf(row)), hasCallback: row.at(-1) === true };
}

/** As clients read it. */
export function jobView(job: TrainingJob): ResponseOf<"automl.job"> {
  return {
    job_id: job.id,
    id: job.id,
    name: job.name,
    status: job.status,
    progress: job.progress,
    phase: job.phase,
    current_trial: job.currentTrial,
    total_trials: job.totalTrials,
    best_score: job.bestScore,
    eta_ms: job.etaMs,
    error: job.error,
    created_at: job.createdAt,
    started_at: job.startedAt,
    completed_at: job.completedAt,
    model_id: job.modelId,
    ...(job.experiment !== null && { experiment: job.experiment }),
  };
}

/** In messages, whose `id` is the client's. */
export function followedView(job: TrainingJob): Omit<ResponseOf<"automl.job">, "id"> {
  const { id: _id, ...view } = jobView(job);
  return view;
}

export function isOver({ status }: TrainingJob): boolean {
  return status !== "pending" && status !== "running";
}

export function jobOf(row: readonly unknown[]): TrainingJob {
  const [id, name, experiment, status, phase, progress, currentTrial, totalTrials, bestScore, etaMs, error, modelId] =
    row;
  const [createdAt, startedAt, completedAt] = row.slice(12, 15).map((time) => (time === null ? null : timeOf(time)));
  return {
    id: id as string,
    userId: row[15] as string,
    name: name as string,
    experiment: experiment as string | null,
    status: status as JobStatus,
    phase: phase as string | null,
    progress: progress as number,
    currentTrial: Number(currentTrial),
    totalTrials: Number(totalTrials),
    bestScore: bestScore as number | null,
    etaMs: etaMs as number | null,
    error: error as TrainingJob["error"],
    modelId: modelId as string | null,
    createdAt: createdAt!,
    startedAt: startedAt ?? null,
    completedAt: completedAt ?? null,
  };
}

/** Removes the job's record, since there is nothing left to do for it. */
export function forgetJob(request: Request, record: JobRecord): Promise<void> {
  return ownTogether(
    request,
    request,
    async () => undefined,
    (tx) => {
      deleteJob(tx, record);
      request.commitPart(tx);
    },
  );
}
