/**
 * Removes what a partition has of a tenant that was deleted: what is at work for it ends, then go its branches, its
 * past, its entries, files that were made of them, its data key, and last its own backups. Each step may be done again,
 * so that a crash at any moment costs nothing but time. Called by placement.ts.
 */
import type { Partition } from "../../actor/partition.js";
import { DbError } from "../../protocol/errors.js";
import { destroyKeys } from "../../storage/destroy-keys.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { deleteHistory, historyOf } from "../../storage/history-records.js";
import { endBranches } from "../branches/branch-life.js";
import { JOBS } from "../jobs/jobs.js";
import { removeTenant } from "./remove-tenant.js";
import { silenceTenant } from "./silence-tenant.js";
import type { ExportHost } from "./tenant-export.js";

export interface ShredHost extends ExportHost {
  /** The tenant's own backups go. */
  forgetBackups(tenantId: string, turn: () => Promise<void>): Promise<void>;
}

export function tenantDeleted(): DbError {
  return new DbError("tenant_not_found", "The tenant was deleted.");
}

/** Answers whether nothing is left; false when it was stopped before. */
export async function shredTenant(
  partition: Partition,
  { tenant, tenantId }: { readonly tenant: number; readonly tenantId: string },
  host: ShredHost,
  isStopped: () => boolean,
): Promise<boolean> {
  const work = { usedMs: 0 };
  const turn = async (): Promise<void> => {
    await host.scheduler.yieldTurn(tenant, work);
    if (isStopped()) throw new DbError("shutting_down");
  };
  const { queue } = partition.part(JOBS);
  await queue.pause(tenant);
  // Else they would be saved when the tenant is forgotten.
  partition.derived.keepOnly(tenant, new Map());
  const follower = "The tenant was deleted.";
  const reasons = { request: tenantDeleted(), transaction: "the tenant was deleted", follower };
  await silenceTenant(partition, tenant, host, reasons);
  host.takeAnswers(tenant);
  queue.left(tenant);
  // A fork may be committed that the engine does not know yet.
  await engineHasAll(partition.shard, turn);
  await endBranches(partition, tenant, () => true, turn);
  await forgetAllPast(partition, tenant, turn);
  if (!(await removeTenant(partition, tenant, host.scheduler, isStopped))) return false;
  partition.forget(tenant);
  await Promise.all([partition.derived.removeFiles(tenant), partition.columns?.removeFiles(tenant)]);
  await destroyKeys(partition.shard, tenant);
  await host.forgetBackups(tenantId, turn);
  return true;
}

/** The engine keeps a past only for a record, and for branches. Without both it has gone when this resolves. */
async function forgetAllPast(partition: Partition, tenant: number, turn: () => Promise<void>): Promise<void> {
  const tx = partition.shard.begin({ isolation: "read committed" });
  if (historyOf(tx, tenant) === null) tx.rollback();
  else {
    deleteHistory(tx, tenant);
    tx.commit();
    partition.wroteSomething(tenant);
  }
  await engineHasAll(partition.shard, turn);
}
