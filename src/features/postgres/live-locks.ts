/**
 * The locks of one tenant's sessions, for pg_locks: transactions and the rows that they hold, transactions that are
 * waited for, advisory locks.
 */
import type { Settings } from "../../session/settings.js";
import type { LiveLock } from "../../sql/bind/system/system-view.js";
import type { KeyHolder, KeyLocks } from "../../storage/key-locks.js";
import type { AdvisoryLocks } from "./advisory-locks.js";
import type { WireSession } from "./wire-session.js";

/** `keys`: of the partition, where other tenants are, too. */
export function* locksOf(
  sessions: readonly WireSession[],
  keys: KeyLocks,
  advisory: AdvisoryLocks,
  asker: Settings,
): Iterable<LiveLock> {
  for (const { number: pid, client, session } of sessions) {
    const held = { pid, waitsSinceMicros: null };
    if (client.isAtWork || session.inTransaction) yield { ...held, kind: "virtual" };
    if (session.settings === asker) yield { ...held, kind: "reads locks" };
  }
  for (const holder of keys.open) {
    const owner = sessions.find(({ session }) => session.protocol.owns(holder));
    if (owner !== undefined) yield* heldBy(holder, owner.number);
  }
  for (const { number, client } of sessions) {
    const { waitsFor, waitsSinceMicros } = client;
    if (waitsFor === null) continue;
    yield { pid: number, waitsSinceMicros, kind: "transaction", transaction: waitsFor.number };
  }
  for (const { owner, key, shared, waitsSinceMicros } of advisory.all()) {
    yield { pid: owner.number, waitsSinceMicros, kind: "advisory", key, shared };
  }
}

function* heldBy(holder: KeyHolder, pid: number): Iterable<LiveLock> {
  const held = { pid, waitsSinceMicros: null };
  yield { ...held, kind: "transaction", transaction: holder.number };
  for (const [storageId, writes] of holder.tables()) yield { ...held, kind: "rows", storageId, writes };
  for (const [storageId, mode] of holder.wholeTables()) yield { ...held, kind: "table", storageId, mode };
}
