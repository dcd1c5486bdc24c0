/**
 * The records of jobs on disk: one small record per job in the shard's own space, written in the transaction that
 * makes the job and removed in the one that ends it. The record says only who made the job, so that it goes on with
 * that user's rights after a restart. Everything else about the job is in the tenant's tables. Records move with their
 * tenant.
 */
import type { JobRecord } from "../../protocol/placement.js";
import { jobKey, jobPrefix, jobsOfTenantPrefix, prefixRange } from "../../storage/keys.js";
import type { Shard } from "../../storage/shard.js";
import type { Transaction } from "../../storage/store.js";

/** Of filesystem collections, whose jobs statements of SQL make and end, too. */
export const FILE_JOBS = "files";

export type JobName = Pick<JobRecord, "tenant" | "kind" | "id">;

/** In the transaction that makes the job. */
export function putJob(tx: Pick<Transaction, "put">, job: JobRecord): void {
  tx.put(jobKey(job.tenant, job.kind, job.id), Buffer.from(JSON.stringify(job)));
}

/** In the transaction that ends it. */
export function deleteJob(tx: Pick<Transaction, "delete">, { tenant, kind, id }: JobName): void {
  tx.delete(jobKey(tenant, kind, id));
}

export function loadJobs(shard: Shard, tenant?: number): JobRecord[] {
  const tx = shard.begin({ readOnly: true });
  const records = readJobs(tx, tenant === undefined ? jobPrefix() : jobsOfTenantPrefix(tenant));
  tx.rollback();
  return records;
}

/** Has the tenant's jobs be these: it comes with them, or has left. */
export function replaceJobs(tx: Transaction, tenant: number, jobs: readonly JobRecord[]): void {
  for (const job of readJobs(tx, jobsOfTenantPrefix(tenant))) deleteJob(tx, job);
  for (const job of jobs) putJob(tx, job);
}

function readJobs(tx: Transaction, prefix: Uint8Array): JobRecord[] {
  const records: JobRecord[] = [];
  const cursor = tx.scan(prefixRange(prefix));
  for (;;) {
    const { values } = cursor.next(1000);
    if (values.length === 0) break;
    for (const value of values) records.push(JSON.parse(Buffer.from(value).toString()) as JobRecord);
  }
  cursor.close();
  return records;
}
