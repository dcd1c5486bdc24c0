/** For tests and benches, which have no scheduler that would do it. */
import type { Shard } from "../../src/storage/shard.js";

/** The engine takes what it has not got of large commits. `between` runs after each step. */
export async function applyBacklog(shard: Shard, between?: () => void | Promise<void>): Promise<void> {
  while (shard.hasBacklog) {
    await shard.backlogReady();
    shard.applySome();
    await between?.();
  }
}
