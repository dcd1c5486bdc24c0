/** Waits for a shard's engine, for whoever has to read there what was committed. */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Shard } from "./shard.js";

/** How often `pause` is asked while the engine takes a large commit. */
const LOOK_MS = 20;

/**
 * Resolves when the engine has every commit that was made before the call. `pause` gives way, and throws where the
 * caller is to end. Throws what the shard has failed with.
 */
export async function engineHasAll(shard: Shard, pause: () => Promise<void>): Promise<void> {
  const { committedSequence } = shard;
  for (;;) {
    shard.flush();
    if (shard.failed !== null) throw shard.failed;
    if (shard.appliedSequence >= committedSequence) return;
    if (shard.hasBacklog) await Promise.race([shard.largeCommitDone(), sleep(LOOK_MS)]);
    await pause();
  }
}

/** Lets the engine take all that it has not got of large commits, for who is about to close the shard. */
export async function finishBacklog(shard: Shard): Promise<void> {
  shard.flush();
  while (shard.hasBacklog) {
    await shard.backlogReady();
    shard.applySome();
    await nextTurn();
  }
}
