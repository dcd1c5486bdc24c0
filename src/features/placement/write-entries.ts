/** Writes a tenant's entries that come from another partition or a backup, in their order. For moves and restores. */

import type { Partition } from "../../actor/partition.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { rangeClearedBy } from "../../storage/keys.js";
import type { Operation } from "../../storage/operation.js";

/** Entries of one commit. */
const WRITTEN_AT_ONCE = 256;

/**
 * An order to remove a range ends its commit, and the engine takes it before anything else is written: the end of its
 * record, in the same commit or in one that reaches the engine together with it, would take its place, and what it
 * removes would stay.
 */
export async function writeEntries(
  partition: Partition,
  tenant: number,
  operations: readonly Operation[],
  /** Gives way, and throws where the work is to end. */
  pause: () => Promise<void>,
): Promise<void> {
  for (let at = 0; at < operations.length; ) {
    await pause();
    const tx = partition.shard.begin({ isolation: "read committed" });
    const end = Math.min(at + WRITTEN_AT_ONCE, operations.length);
    let isOrder = false;
    while (at < end && !isOrder) {
      const operation = operations[at++]!;
      if (operation.value === null) tx.delete(operation.key);
      else tx.put(operation.key, operation.value);
      isOrder = rangeClearedBy(operation) !== null;
    }
    tx.commit();
    partition.wroteSomething(tenant);
    if (isOrder) await engineHasAll(partition.shard, pause);
  }
}
