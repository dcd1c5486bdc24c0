/**
 * Removes what a partition has of a tenant that was deleted: what is at work for it ends, then go its branches, its
 * past, its entries, files that were made of them, and last its data key. Each step may be done again, so that a crash
 * at any moment costs nothing but time. Called by placement.ts.
 */
import type { Partition } from "../../actor/partition.js";
import type { Scheduler } from "../../actor/scheduler.js";
import { DbError } from "../../protocol/errors.js";
import type { TenantMemory } from "../../protocol/placement.js";
import { destroyKeys } from "../../storage/destroy-keys.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { deleteHistory, historyOf } from "../../storage/history-records.js";
import { endBranches } from "../branches/branch-life.js";
import { JOBS } from "../jobs/jobs.js";
import { removeTenant } from "./remove-tenant.js";
import { type Silencer, silenceTenant } from "./silence-tenant.js";

export interface ShredHost extends Silencer {
  readonly scheduler: Pick<Scheduler, "yieldTurn">;
  takeAnswers(tenant: number): TenantMemory["answers"];
}

export function tenantDeleted(): DbError {
  return new DbError("tenant_not_found", "The tenant was deleted.");
}

/** Answers whether nothing is left; false when it was stopped before. */
export async function shredTenant(
  partition: Partition,
  tenant: number,
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
  await endBranches(partition, tenant, () => true, turn);
  await forgetAllPast(partition, tenant, turn);
  if (!(await removeTenant(partition, tenant, host.scheduler, isStopped))) return false;
  partition.forget(tenant);
  await Promise.all([partition.derived.removeFiles(tenant), partition.columns?.removeFiles(tenant)]);
  await destroyKeys(partition.shard, tenant);
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
