/** When a tenant's commits were, as the engine keeps it. Owned by layered-engine.ts. */
import type { Engine } from "./engine.js";
import { stampKey, stampOf } from "./history-keys.js";
import type { CommitStamp } from "./operation.js";
import { firstOf } from "./replaced-entries.js";

/** No commit has a later time. */
const LATEST = Number.MAX_SAFE_INTEGER - 1;

/** Stamps that are read at a time: each time costs as much as some dozens of them. */
const STAMPS_AT_ONCE = 16;

export class CommitStamps {
  /** By tenant, the one that was looked up last: the next is often near. */
  private readonly found = new Map<number, CommitStamp>();

  constructor(private readonly engine: Engine) {}

  /** As `lastStamp`, of those since that one; undefined: there are none. */
  last(tenant: number, since: CommitStamp | undefined, isBefore: (stamp: CommitStamp) => boolean): CommitStamp | null {
    if (since === undefined) return null;
    const near = this.found.get(tenant);
    const isNear = near !== undefined && near.micros >= since.micros && isBefore(near);
    const found = lastStamp(this.engine, tenant, isNear ? near.micros : since.micros, isBefore);
    if (found !== null) this.found.set(tenant, found);
    return found;
  }
}

/**
 * The last of a tenant's commits from that time on of which `isBefore` is true, as it is of all before that one. Null:
 * there is none.
 *
 * Looks forward from one time after another, first from `from` in steps that double. Backwards, RocksDB steps over each
 * entry below that was removed with its range, outside the range that is read, too: after a branch is gone, that may be
 * all that it had deleted.
 */
function lastStamp(
  engine: Engine,
  tenant: number,
  from: number,
  isBefore: (stamp: CommitStamp) => boolean,
): CommitStamp | null {
  const end = stampKey(tenant, LATEST);
  let found: CommitStamp | null = null;
  let step = 1;
  for (let [at, low, high] = [from, from, LATEST - 1]; low <= high; ) {
    const { keys, values } = firstOf(engine, { gte: stampKey(tenant, at), lt: end }, STAMPS_AT_ONCE);
    const stamps = keys.map((key, i) => stampOf(key, values[i]!));
    const after = stamps.findIndex((stamp) => !isBefore(stamp));
    if (after === 0 || stamps.length === 0) {
      // The first look tells whether there is any.
      if (found === null) return null;
      high = at - 1;
    } else {
      found = stamps.at(after === -1 ? -1 : after - 1)!;
      if (after > 0 || stamps.length < STAMPS_AT_ONCE) return found;
      step = Math.max(2 * step, found.micros - at);
      low = found.micros + 1;
    }
    at = high === LATEST - 1 ? Math.min(low + step, high) : low + Math.floor((high - low) / 2);
  }
  return found;
}
