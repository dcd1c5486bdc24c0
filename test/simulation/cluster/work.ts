/** What clients have owners of partitions do in a simulated cluster. */
import type { Shard } from "../../../src/storage/shard.js";

export type Answer =
  /** `to`: the partition where the tenant is. */
  | { readonly kind: "moved"; readonly to?: number }
  | { readonly kind: "failed" }
  | { readonly kind: "done"; value: unknown };

/** A transaction on one partition, run by its owner. It commits nothing once it is ended. */
export type Work = (
  shard: Shard,
  isEnded: () => boolean,
  /** Resolves when a commit is acknowledged; rejects if it is undone. Asked before others may take its number. */
  durable: (sequence: number) => Promise<void>,
) => Promise<{ readonly seen: number; readonly value: unknown }>;
