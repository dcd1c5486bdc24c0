/** What a shard goes by where its options say nothing else, and its counters (shard-options.ts). */
import type { ShardMetrics } from "./shard-options.js";

export const VERSION_BYTES_MAX = 256 * 1024 * 1024;
export const UNSEEN_BYTES = 128 * 1024 * 1024;
/** What the log refuses an append with when it is as it was before and takes later ones. */
export const LOG_STAYS_USABLE: ReadonlySet<string> = new Set(["disk_full", "overloaded", "log_unavailable"]);

export type ShardCounters = Omit<ShardMetrics, "logBytes" | "openTransactions" | "versionBytes">;

export function newCounters(): ShardCounters {
  return {
    commits: 0,
    conflicts: 0,
    flushes: 0,
    syncs: 0,
    syncMicros: 0,
    syncMicrosMax: 0,
    groupMax: 0,
    abortedForMemory: 0,
  };
}

/** One that began at that time of the process. */
export function countSync(counters: ShardCounters, began: bigint): void {
  counters.syncs++;
  const micros = Number((process.hrtime.bigint() - began) / 1000n);
  counters.syncMicros += micros;
  counters.syncMicrosMax = Math.max(counters.syncMicrosMax, micros);
}
