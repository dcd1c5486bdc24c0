/**
 * Removes the rows that TRUNCATE, DROP and rewritten tables left behind (query/exec/table-data.ts, `retireTableData`),
 * once no open transaction can see them. Records in the shard list what is to be removed, so the work goes on after a
 * restart, with the tenant's first request. A commit puts the order into the record, and the engine removes the range
 * when it takes that commit (`rangeClearedBy`), so it costs nothing however many rows there are, and happens again when
 * the log is replayed. When the engine has it, the record goes. The actor calls this now and then, together with
 * renew-statistics.ts.
 */
import { DbError } from "../protocol/errors.js";
import type { RetiredRecords, Tenant } from "../session/tenant.js";
import { CLEARED, prefixOfRetiredKey, prefixRange, retiredPrefix, SPACE, storageIdOf } from "../storage/keys.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Scheduler } from "./scheduler.js";

/** Records of one commit. */
const RECORDS_PER_COMMIT = 64;
/** Records that one look takes in: what is retired during the next one's wait must not outrun it. */
const RECORDS_AT_ONCE = 4096;

export async function removeRetired(
  tenant: Tenant,
  scheduler: Pick<Scheduler, "yieldTurn">,
  isStopped: () => boolean,
): Promise<void> {
  const { partition } = tenant;
  try {
    for (;;) {
      // What was found once is waited for, not the newest change: where definitions go on changing and some transaction
      // is always open, one of them is always older than that.
      tenant.retired ??= await look(tenant, scheduler);
      if (tenant.retired === null || partition.shard.oldestSnapshot < tenant.retired.changedAt) return;
      if (!(await orderAll(tenant, tenant.retired, scheduler, isStopped))) return;
      await scheduler.yieldTurn(tenant.number, { usedMs: 0 });
      // Otherwise the order and the end of its record might reach the engine as one.
      if (partition.shard.appliedSequence < (tenant.retired?.orderedAt ?? Number.POSITIVE_INFINITY)) return;
      if (!(await forgetAll(tenant, tenant.retired, scheduler, isStopped))) return;
      tenant.retired = null;
    }
  } catch (error) {
    // A conflict, or a shard that has failed: it goes on the next time, or after the restart.
    if (!(error instanceof DbError)) throw error;
  }
}

/** Null: nothing is retired, or nothing was since there was nothing. */
async function look(tenant: Tenant, scheduler: Pick<Scheduler, "yieldTurn">): Promise<RetiredRecords | null> {
  const { changedAt } = tenant.catalog;
  if (tenant.retiredUpTo === changedAt) return null;
  const { layers, appliedSequence } = tenant.partition.shard;
  // Who still reads it is asked of the engine, which has to know of the change.
  if (layers?.oldestOf(tenant.number) != null && appliedSequence < changedAt) return null;
  const since = layers?.oldestOf(tenant.number)?.sequence ?? 0;
  if (tenant.rememberedAt?.changedAt === changedAt && tenant.rememberedAt.since === since) return null;
  const found = retiredRecords(tenant);
  const records = await forgotten(tenant, found, scheduler);
  if (found.length > records.length && records.length === 0) {
    tenant.rememberedAt = { changedAt, since };
    return null;
  }
  if (records.length > 0) return { changedAt, records, orderedAt: null };
  tenant.retiredUpTo = changedAt;
  return null;
}

/** What somebody may still read as of an earlier moment stays. */
async function forgotten(
  { number, partition }: Tenant,
  found: readonly Uint8Array[],
  scheduler: Pick<Scheduler, "yieldTurn">,
): Promise<readonly Uint8Array[]> {
  const { layers } = partition.shard;
  if (layers?.oldestOf(number) == null) return found;
  const turns = { usedMs: 0 };
  const records: Uint8Array[] = [];
  for (const [i, record] of found.entries()) {
    if (i % RECORDS_PER_COMMIT === RECORDS_PER_COMMIT - 1) await scheduler.yieldTurn(number, turns);
    if (!layers.remembers(record)) records.push(record);
  }
  return records;
}

/** Without those of transactions that may still keep what they speak of. */
function retiredRecords(tenant: Tenant): readonly Uint8Array[] {
  const { number, partition } = tenant;
  const tx = partition.shard.begin({ readOnly: true });
  const cursor = tx.scan(prefixRange(retiredPrefix(number)));
  const { keys } = cursor.next(RECORDS_AT_ONCE);
  cursor.close();
  tx.rollback();
  const { unseen } = tenant;
  return keys.flatMap((key) => (unseen.has(storageIdOf(prefixOfRetiredKey(key))) ? [] : [Buffer.from(key)]));
}

/** False: it was stopped before. */
async function orderAll(
  tenant: Tenant,
  retired: RetiredRecords,
  scheduler: Pick<Scheduler, "yieldTurn">,
  isStopped: () => boolean,
): Promise<boolean> {
  if (retired.orderedAt !== null) return true;
  const { segments } = tenant.partition;
  const order = (tx: ShardTransaction, record: Uint8Array): void => {
    const prefix = prefixOfRetiredKey(record);
    // Nobody reads them any more, and they need not follow the removal.
    if (prefix[4] === SPACE.rows) segments.dropStorage(tenant.number, storageIdOf(prefix));
    tx.put(record, CLEARED);
  };
  const sequence = await eachRecord(tenant, retired, order, scheduler, isStopped);
  retired.orderedAt = sequence;
  return sequence !== null;
}

async function forgetAll(
  tenant: Tenant,
  retired: RetiredRecords,
  scheduler: Pick<Scheduler, "yieldTurn">,
  isStopped: () => boolean,
): Promise<boolean> {
  return (await eachRecord(tenant, retired, (tx, record) => tx.delete(record), scheduler, isStopped)) !== null;
}

/**
 * Those that are still there: one may have been removed before, or taken back, since a restored backup may be older
 * than the TRUNCATE, and have its rows in that place. Answers the last commit; null: it was stopped before.
 */
async function eachRecord(
  tenant: Tenant,
  { records }: RetiredRecords,
  write: (tx: ShardTransaction, record: Uint8Array) => void,
  scheduler: Pick<Scheduler, "yieldTurn">,
  isStopped: () => boolean,
): Promise<number | null> {
  const { shard } = tenant.partition;
  const turns = { usedMs: 0 };
  for (let from = 0; from < records.length; from += RECORDS_PER_COMMIT) {
    await scheduler.yieldTurn(tenant.number, turns);
    if (isStopped()) return null;
    const tx = shard.begin({ isolation: "read committed" });
    for (const record of records.slice(from, from + RECORDS_PER_COMMIT)) {
      if (tx.get(record) !== undefined) write(tx, record);
    }
    tenant.commit(tx);
  }
  return shard.committedSequence;
}
