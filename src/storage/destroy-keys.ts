/** The end of a tenant's data key, when nothing of the tenant is left in a shard: called by whoever removes it. */
import { engineHasAll } from "./engine-has-all.js";
import { APPLIED_SEQUENCE_KEY } from "./keys.js";
import { encodeSequence } from "./recovery.js";
import type { Shard } from "./shard.js";
import { hasEntries } from "./tenant-entries.js";

/**
 * Destroys the tenant's key, if the shard is encrypted: no copy of what it encrypted can be read after that. The
 * removal was committed; resolves when it and the key's end are on the device. Nothing happens if the tenant is still
 * there, because the removal was undone.
 */
export async function destroyKeys(shard: Shard, tenant: number): Promise<void> {
  const { keys = null, log, engine } = shard.options;
  if (keys === null) return;
  await engineHasAll(shard, () => new Promise((resolve) => setImmediate(resolve)));
  await log.sync();
  if (hasEntries(shard, tenant)) return;
  // What the log has of the tenant counts for nothing then: neither must be needed to recover the other.
  engine.write([{ key: APPLIED_SEQUENCE_KEY, value: encodeSequence(shard.appliedSequence) }], true);
  keys.destroy(tenant);
}
