/** The end of branches: by their tenant's wish, or when their time is over. */
import type { Partition } from "../../actor/partition.js";
import { DbError } from "../../protocol/errors.js";
import { branchKey } from "../../storage/history-keys.js";
import { CLEARED, retiredKey, tenantPrefix } from "../../storage/keys.js";

/** Commits the end; what was the branch's own goes in one step. Throws conflict while others are forked from it. */
export function endBranch(partition: Partition, number: number): void {
  const layers = partition.shard.layers!;
  const { name, root } = layers.branchOf(number)!;
  const others = layers.branchesOf(number).map((each) => `"${layers.branchOf(each)!.name}"`);
  if (others.length > 0) {
    const names = others.slice(0, 10).join(", ");
    throw new DbError("conflict", `The branch "${name}" has branches: ${names}. Delete those first.`);
  }
  const tx = partition.shard.begin({ isolation: "read committed" });
  tx.put(retiredKey(root, tenantPrefix(number)), CLEARED);
  tx.delete(branchKey(number));
  partition.tenant(root).commit(tx);
  partition.transactionsOf(partition.tenant(number)).endAll(`the branch "${name}" was deleted`);
  partition.forget(number);
}

/** Those whose time is over; one that others were forked from waits for them. */
export function endExpired(partition: Partition, nowMs: number): void {
  const { layers } = partition.shard;
  if (layers === null || partition.shard.failed !== null || partition.shard.refusal !== null) return;
  for (const number of layers.expired(nowMs)) endBranch(partition, number);
}
