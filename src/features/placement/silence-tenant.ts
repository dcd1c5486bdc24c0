/**
 * Ends what is at work for a tenant whose place says that nothing new may begin: before its content is replaced, or
 * removed. Called by restores.ts and shred-tenant.ts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Partition } from "../../actor/partition.js";
import { DbError } from "../../protocol/errors.js";
import { FEED } from "../feed/feed.js";
import { JOBS } from "../jobs/jobs.js";

/** How long requests of the tenant may take to end. */
const ENDING_MS = 10_000;
const POLL_MS = 2;

export interface Silencer {
  running(partition: Partition, tenant: number): readonly { end(error: DbError): void }[];
}

export interface SilenceReasons {
  /** For requests that run. */
  readonly request: DbError;
  /** For open transactions: what has happened to the tenant. */
  readonly transaction: string;
  /** For those who follow changes; absent: the tenant is elsewhere. */
  readonly follower?: string;
}

/** Resolves when that is on disk. Its jobs have been paused. Throws conflict when requests do not end in time. */
export async function silenceTenant(
  partition: Partition,
  tenant: number,
  host: Silencer,
  reasons: SilenceReasons,
): Promise<void> {
  const end = performance.now() + ENDING_MS;
  for (;;) {
    const running = host.running(partition, tenant);
    if (running.length === 0) break;
    for (const request of running) request.end(reasons.request);
    if (performance.now() > end) throw new DbError("conflict", "The tenant's requests did not end in time; try again.");
    await sleep(POLL_MS);
  }
  partition.transactionsOf(partition.tenant(tenant)).endAll(reasons.transaction);
  partition.part(FEED).subscriptions.tenantLeft(tenant, reasons.follower);
  partition.part(FEED).changes.left(tenant);
  partition.part(JOBS).progress.tenantLeft(tenant, reasons.follower);
  partition.sequences.release(tenant);
  partition.forget(tenant);
  await partition.durable();
}
