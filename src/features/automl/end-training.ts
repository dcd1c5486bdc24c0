/**
 * The end of a training, in one transaction: its row says how it ended, its model is stored, the job's record goes, and the
 * record of the webhook comes where one was asked for. Called by train-job.ts and by whoever stops a training.
 */

import { deleteJob, putJob } from "../../actor/background/job-records.js";
import type { Request } from "../../actor/request.js";
import type { JobRecord } from "../../protocol/placement.js";
import type { Client } from "../../session/statement-run.js";
import { together } from "../chat/chat-store.js";
import { endJob, followedView, hasJobs, jobOf, type Run, readJobRow } from "./job-store.js";
import { WEBHOOK } from "./webhook.js";

/** Of jobs that train (job-kinds.ts). */
export const TRAINING = "automl";

/** The topic of a training, for followers. */
export function topicOf(id: string): string {
  return `automl/${id}`;
}

/**
 * `decide` answers how it ends, and may write what belongs to that. Answers false when it had ended before: then nothing was
 * written.
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
  const ended = await together(
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
  if (ended.hasCallback) partition.jobs.start(webhook);
  const { progress } = partition;
  const message = { type: "automl.finished", ...followedView(jobOf(ended.row)) };
  // Nobody hears of what is not on disk.
  partition.durable().then(
    () => progress.end(tenant.number, topicOf(record.id), message),
    () => undefined,
  );
  return true;
}
