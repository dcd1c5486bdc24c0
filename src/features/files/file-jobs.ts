/**
 * The job of each filesystem collection, and the running jobs of a partition, so that handlers can tell them of
 * changes.
 */

import type { Partition } from "../../actor/partition.js";
import type { FileTasks } from "../../ingest/file-tasks.js";
import { DbError } from "../../protocol/errors.js";
import type { JobKind } from "../jobs/job-kind.js";
import { FILE_JOBS, type JobName } from "../jobs/job-records.js";
import { FolderWork } from "./folder-work.js";

/** By partition, then by tenant and id. */
const works = new WeakMap<Partition, Map<string, FolderWork>>();

export const fileJobs: JobKind = {
  name: FILE_JOBS,
  // All of them run all the time; how many there may be is checked when one is made.
  bounds: () => ({ runningMax: Number.MAX_SAFE_INTEGER, waitingMax: 0 }),
  async run(job) {
    const { partition, record } = job;
    const tasks = fileTasksOf(partition);
    const running = works.get(partition) ?? new Map<string, FolderWork>();
    works.set(partition, running);
    const key = keyOf(record.tenant, record.id);
    const work = new FolderWork(job, tasks);
    running.set(key, work);
    try {
      await work.run();
    } finally {
      if (running.get(key) === work) running.delete(key);
    }
  },
};

export function jobName(tenant: number, id: string): JobName {
  return { tenant, kind: FILE_JOBS, id };
}

/** Null: it does not run now. */
export function workOf(partition: Partition, tenant: number, id: string): FolderWork | null {
  return works.get(partition)?.get(keyOf(tenant, id)) ?? null;
}

/** Throws not_supported where there are no task threads. */
export function fileTasksOf({ tasks }: Partition): FileTasks {
  const files = tasks?.files ?? null;
  if (files === null)
    throw new DbError("not_supported", "Files cannot be read here: the server has no threads for them.");
  return files;
}

function keyOf(tenant: number, id: string): string {
  return `${tenant}/${id}`;
}
