/**
 * Removes the rows that TRUNCATE, DROP and rewritten tables left behind (query/exec/table-data.ts, `retireTableData`),
 * a few entries at a time in the tenant's turns, once no open transaction can see them. Records in the shard list what
 * is to be removed, so the work goes on after a restart, with the tenant's first request. The actor calls it now and
 * then, together with renew-statistics.ts.
 */
import { DbError } from "../protocol/errors.js";
import type { RetiredRecords, Tenant } from "../session/tenant.js";
import { prefixEnd, prefixOfRetiredKey, prefixRange, retiredPrefix, SPACE, storageIdOf } from "../storage/keys.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Scheduler } from "./scheduler.js";

/** Entries of one commit. */
const REMOVED_AT_ONCE = 256;
/** Records that one look takes in: what is retired during the next one's wait must not outrun it. */
const RECORDS_AT_ONCE = 4096;

export async function removeRetired(
  tenant: Tenant,
  scheduler: Pick<Scheduler, "shouldYield" | "yieldTurn">,
  isStopped: () => boolean,
): Promise<void> {
  const { partition } = tenant;
  try {
    for (;;) {
      // What was found once is waited for, not the newest change: where definitions go on changing and some transaction is
      // always open, one of them is always older than that.
      tenant.retired ??= look(tenant);
      if (tenant.retired === null || partition.shard.oldestSnapshot < tenant.retired.changedAt) return;
      for (const record of tenant.retired.records) {
        const prefix = prefixOfRetiredKey(record);
        // Nobody reads them any more, and they need not follow the removal.
        if (prefix[4] === SPACE.rows) partition.segments.dropStorage(tenant.number, storageIdOf(prefix));
        if (!(await removeAll(tenant, record, prefix, scheduler, isStopped))) return;
      }
      tenant.retired = null;
    }
  } catch (error) {
    // A conflict, or a shard that has failed: it goes on the next time, or after the restart.
    if (!(error instanceof DbError)) throw error;
  }
}

/** Null: nothing is retired, or nothing was since there was nothing. */
function look(tenant: Tenant): RetiredRecords | null {
  const { changedAt } = tenant.catalog;
  if (tenant.retiredUpTo === changedAt) return null;
  const records = retiredRecords(tenant);
  if (records.length > 0) return { changedAt, records };
  tenant.retiredUpTo = changedAt;
  return null;
}

function retiredRecords({ number, partition }: Tenant): readonly Uint8Array[] {
  const tx = partition.shard.begin({ readOnly: true });
  const cursor = tx.scan(prefixRange(retiredPrefix(number)));
  const { keys } = cursor.next(RECORDS_AT_ONCE);
  cursor.close();
  tx.rollback();
  return keys.map((key) => Buffer.from(key));
}

/** All entries, and then the record. False: it was stopped before. */
async function removeAll(
  tenant: Tenant,
  record: Uint8Array,
  prefix: Uint8Array,
  scheduler: Pick<Scheduler, "shouldYield" | "yieldTurn">,
  isStopped: () => boolean,
): Promise<boolean> {
  const { shard } = tenant.partition;
  const turns = { usedMs: 0 };
  const lt = prefixEnd(prefix);
  let gte: Uint8Array = prefix;
  await scheduler.yieldTurn(tenant.number, turns);
  for (;;) {
    if (isStopped()) return false;
    const tx = shard.begin({ isolation: "read committed" });
    if (tx.get(record) === undefined) {
      // Removed before, or taken back: a restored backup may be older than the TRUNCATE, and have its rows in that place.
      tx.rollback();
      return true;
    }
    const last = removeSome(tx, gte, lt);
    if (last === null) tx.delete(record);
    // What follows a removed key; the engine need not pass those again.
    else gte = Buffer.concat([last, Buffer.of(0)]);
    tenant.commit(tx);
    if (last === null) return true;
    if (scheduler.shouldYield()) await scheduler.yieldTurn(tenant.number, turns);
  }
}

/** The last key removed; null: there was none. */
function removeSome(tx: ShardTransaction, gte: Uint8Array, lt: Uint8Array): Uint8Array | null {
  const cursor = tx.scan({ gte, lt, only: "keys" });
  const keys = cursor.next(REMOVED_AT_ONCE).keys.map((key) => Buffer.from(key));
  cursor.close();
  for (const key of keys) tx.delete(key);
  return keys.at(-1) ?? null;
}
