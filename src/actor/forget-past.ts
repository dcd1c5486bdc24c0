/**
 * Forgets a tenant's past where its window has passed (storage/layered-engine.ts), counts branches, and shortens their
 * chains. The actor calls all of it now and then.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Tenant } from "../session/tenant.js";
import { historyOf, putHorizon } from "../storage/history-records.js";
import type { CommitStamp } from "../storage/operation.js";
import type { Shard } from "../storage/shard.js";
import type { Scheduler } from "./scheduler.js";

/** Between two looks whether the engine has a commit. */
const LOOK_MS = 5;
/** Entries of one step. */
const FORGOTTEN_AT_ONCE = 256;
/** Each is looked up in two chains. */
const FLATTENED_AT_ONCE = 64;
/** The window is longer by up to this part of it: the past is walked through so many times in a window. */
const WINDOW_STEPS = 16;

export async function forgetPast(
  tenant: Tenant,
  shard: Shard,
  scheduler: Pick<Scheduler, "yieldTurn">,
  isStopped: () => boolean,
): Promise<void> {
  const { layers } = shard;
  const before = layers === null ? null : beginOfWindow(tenant.number, shard);
  if (layers === null || before === null || !(await moveHorizon(tenant, shard, before, isStopped))) return;
  const work = { usedMs: 0 };
  let from: Uint8Array | null = null;
  do {
    await scheduler.yieldTurn(tenant.number, work);
    if (isStopped()) return;
    from = layers.forget(tenant.number, from, FORGOTTEN_AT_ONCE);
  } while (from !== null);
}

/** Commits that nothing before is read any more. True: there is something to forget. */
async function moveHorizon(
  tenant: Tenant,
  shard: Shard,
  before: CommitStamp,
  isStopped: () => boolean,
): Promise<boolean> {
  const to = shard.layers!.horizonFor(tenant.number, before);
  if (to === null) return false;
  const tx = shard.begin();
  putHorizon(tx, tenant.number, to);
  tenant.commit(tx);
  const { committedSequence } = shard;
  while (shard.appliedSequence < committedSequence) {
    await sleep(LOOK_MS);
    if (isStopped() || shard.failed !== null) return false;
  }
  return true;
}

/**
 * Counts anew what branches hold where that is not known (storage/branch-bytes.ts), and makes their long chains shorter
 * (storage/flat-branches.ts).
 */
export async function tendBranches(
  { number }: Tenant,
  { layers }: Shard,
  scheduler: Pick<Scheduler, "yieldTurn">,
  isStopped: () => boolean,
): Promise<void> {
  if (layers === null) return;
  const work = { usedMs: 0 };
  while (layers.countSome(FORGOTTEN_AT_ONCE) || layers.flat.some(FLATTENED_AT_ONCE)) {
    await scheduler.yieldTurn(number, work);
    if (isStopped()) return;
  }
}

/** The commit that the window begins with; null: nothing is older, or not by much. */
function beginOfWindow(tenant: number, shard: Shard): CommitStamp | null {
  const oldest = shard.layers!.oldestOf(tenant);
  if (oldest === null) return null;
  const windowMicros = windowOf(tenant, shard);
  const begin = Date.now() * 1000 - windowMicros;
  if (begin - oldest.micros < windowMicros / WINDOW_STEPS) return null;
  return shard.layers!.commitAt(tenant, begin);
}

/** A past that is kept for branches alone has no window: nothing but their beginnings holds it. */
function windowOf(tenant: number, shard: Shard): number {
  const tx = shard.begin({ readOnly: true });
  const record = historyOf(tx, tenant);
  tx.rollback();
  if (record === null) return 0;
  return record.windowSeconds === null ? Number.POSITIVE_INFINITY : record.windowSeconds * 1e6;
}
