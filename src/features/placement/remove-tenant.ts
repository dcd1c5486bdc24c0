/** Removes what a partition holds of a tenant that is elsewhere, in turns of that tenant. Called by placement.ts. */

import type { Partition } from "../../actor/partition.js";
import type { Scheduler } from "../../actor/scheduler.js";
import { prefixRange, tenantPrefix } from "../../storage/keys.js";

/** Entries of one commit. */
const REMOVED_AT_ONCE = 256;

/** Answers whether nothing is left; false when it was stopped before. */
export async function removeTenant(
  partition: Partition,
  tenant: number,
  scheduler: Pick<Scheduler, "yieldTurn">,
  isStopped: () => boolean,
): Promise<boolean> {
  const { shard } = partition;
  const work = { usedMs: 0 };
  const range = prefixRange(tenantPrefix(tenant));
  for (;;) {
    await scheduler.yieldTurn(tenant, work);
    if (isStopped()) return false;
    const tx = shard.begin({ isolation: "read committed" });
    const cursor = tx.scan(range);
    const { keys } = cursor.next(REMOVED_AT_ONCE);
    cursor.close();
    for (const key of keys) tx.delete(key);
    if (keys.length > 0) partition.wroteSomething(tenant);
    tx.commit();
    if (keys.length < REMOVED_AT_ONCE) return true;
  }
}
