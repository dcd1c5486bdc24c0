/** When a tenant's commits were, as the engine keeps it. Owned by layered-engine.ts. */
import type { Engine } from "./engine.js";
import { stampKey, stampOf } from "./history-keys.js";
import type { CommitStamp } from "./operation.js";
import { firstOf } from "./replaced-entries.js";

/** No commit has a later time. */
const LATEST = Number.MAX_SAFE_INTEGER - 1;

/**
 * The last of a tenant's commits from that time on of which `isBefore` is true, as it is of all before that one. Null:
 * there is none.
 *
 * Looks forward from one time after another. Backwards, RocksDB steps over each entry below that was removed with its
 * range, outside the range that is read, too: after a branch is gone, that may be all that it had deleted.
 */
export function lastStamp(
  engine: Engine,
  tenant: number,
  from: number,
  isBefore: (stamp: CommitStamp) => boolean,
): CommitStamp | null {
  const end = stampKey(tenant, LATEST);
  let found: CommitStamp | null = null;
  for (let [low, high] = [from, LATEST - 1]; low <= high; ) {
    // The first look tells whether there is any.
    const middle = found === null ? low : low + Math.floor((high - low) / 2);
    const { keys, values } = firstOf(engine, { gte: stampKey(tenant, middle), lt: end }, 1);
    const stamp = keys.length === 0 ? null : stampOf(keys[0]!, values[0]!);
    if (stamp !== null && isBefore(stamp)) {
      found = stamp;
      low = stamp.micros + 1;
    } else if (found === null) return null;
    else high = middle - 1;
  }
  return found;
}
