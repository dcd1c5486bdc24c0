/**
 * Ends a training in one transaction: its row records how it ended, its model is stored, the job's record is removed,
 * and the webhook's record is added if one was asked for. Called by train-job.ts and by whatever stops a training.
 */

import type { Request } from "../../actor/request.js";
import type { JobRecord } from "../../protocol/placement.js";
import type { Client } from "../../session/statement-run.js";
import { deleteJob, putJob } from "../jobs/job-records.js";
import { JOBS } from "../jobs/jobs.js";
import { ownTogether, type Run } from "../statements/run-together.js";
import { endJob, followedView, hasJobs, jobOf, readJobRow } from "./job-store.js";
import { WEBHOOK } from "./webhook.js";

/** Of jobs that train (features/features.ts). */
export const TRAINING = "automl";

/** The topic of a training, for followers. */
export function topicOf(id: string): string {
  return `automl/${id}`;
}

/**
 * `decide` answers how it ends, and may write what belongs to that. Answers false when it had ended before: then
 * nothing was written.
 */
export async function endTraining(
  request: Request,
  client: Client,
  record: JobRecord,
  decide: (run: Run) => Promise<Parameters<typeof endJob>[2]>,
  commit: (tx: Parameters<Request["commitPart"]>[0]) => void = (tx) => request.commitPart(tx),
): Promise<boolean> {
  if (!hasJobs(request)) return false;
  const { partition, tenant } = request;
  const webhook: JobRecord = { ...record, kind: WEBHOOK };
  const ended = await ownTogether(
    request,
    client,
    async (run) => {
      const before = await readJobRow(run, record.id);
      if (before === null || before.isOver) return null;
      await endJob(run, record.id, await decide(run));
      return readJobRow(run, record.id);
    },
    (tx, done) => {
      if (done !== null) {
        deleteJob(tx, record);
        if (done.hasCallback) putJob(tx, webhook);
      }
      commit(tx);
    },
  );
  if (ended === null) return false;
  if (ended.hasCallback) partition.part(JOBS).queue.start(webhook);
  const { progress } = partition.part(JOBS);
  const message = { type: "automl.finished", ...followedView(jobOf(ended.row)) };
  // Nothing is reported before it is on disk.
  partition.durable().then(
    () => progress.end(tenant.number, topicOf(record.id), message),
    () => undefined,
  );
  return true;
}
