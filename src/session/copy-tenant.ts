/**
 * A tenant as a copy of its partition has it, on a node that does not own it: for reads that may be stale. Statements
 * on it read, and keep nothing in memory of what they read but definitions and plans.
 */
import { DbError } from "../protocol/errors.js";
import type { ReadableShard } from "../storage/past-shard.js";
import type { Shard } from "../storage/shard.js";
import { readingHost } from "./as-of.js";
import { Tenant, type TenantHost } from "./tenant.js";

/** `of`: its partition's copy. */
export function copyTenant(of: TenantHost, number: number): Tenant {
  return new Tenant(readingHost(of, readingShard(of.shard as Shard), "in a read that may be stale"), number);
}

/** All transactions on it only read. */
function readingShard(shard: Shard): ReadableShard {
  return {
    begin: (options) => shard.begin({ isolation: options?.isolation ?? "snapshot", readOnly: true }),
    /** Never what the engine has: nobody may keep what is read here as what there is now. */
    appliedSequence: -1,
    get committedSequence() {
      return shard.committedSequence;
    },
    locks: shard.locks,
    get oldestSnapshot() {
      return shard.oldestSnapshot;
    },
    get layers() {
      return shard.layers;
    },
    get lastMicros() {
      return shard.lastMicros;
    },
    unseenBytes: shard.unseenBytes,
  };
}

/** Why a read that may be stale ends, where its copy is closed. */
export function copyCloses(): DbError {
  return new DbError("partition_unavailable", "The node's copy of the partition is closed; retry.");
}
