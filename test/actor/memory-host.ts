/** What an actor under test asks of its host: its shards are in memory, and it has no models. */
import type { Test } from "tap";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";
import type { ShardOptions } from "../../src/storage/shard-options.js";

export function memoryHost(t: Test) {
  return {
    deriveKey: async ({ length }: { readonly length: number }) => new Uint8Array(length),
    startInference: () => {
      throw new Error("no models here");
    },
    failed: (error: Error) => t.fail(error.message),
    log: () => undefined,
    setLogLevel: () => undefined,
    openShard: async (_directory: string, options: Omit<ShardOptions, "engine" | "log">) =>
      Shard.open({ ...options, engine: new MemoryEngine(), log: new MemoryCommitLog() }),
  };
}
