/**
 * A digest of a tenant's whole content: SHA-256 over its entries in the order of their keys, each as two lengths (u32
 * LE), the key without the tenant's number, and the value. Equal content has equal digests in any partition and under
 * any number. Answers kept by Idempotency-Key do not count as content.
 */
import { createHash } from "node:crypto";
import { isBackedUp, keyInTenant } from "../../storage/backup-entries.js";
import { prefixRange, tenantPrefix } from "../../storage/keys.js";
import { type Cursor, NO_ENTRIES, readSome, type Transaction } from "../../storage/store.js";

const READ_AT_ONCE = 256;

export interface TenantDigest {
  readonly entries: number;
  readonly sha256: string;
}

/** As the transaction sees it; `turn` gives way between some hundred entries. */
export function tenantDigest(
  tx: Pick<Transaction, "scan">,
  tenant: number,
  turn: () => Promise<void>,
): Promise<TenantDigest> {
  return openDigest(tx, tenant)(turn);
}

/**
 * The same of what the engine holds now, to be read later: rows of tables that were dropped before are content, too,
 * but a transaction does not keep them (actor/remove-retired.ts). What was opened is closed with the transaction.
 */
export function openDigest(
  tx: Pick<Transaction, "scan">,
  tenant: number,
): (turn: () => Promise<void>) => Promise<TenantDigest> {
  const cursor = tx.scan(prefixRange(tenantPrefix(tenant)));
  return (turn) => read(cursor, turn);
}

async function read(cursor: Cursor, turn: () => Promise<void>): Promise<TenantDigest> {
  const hash = createHash("sha256");
  const lengths = Buffer.alloc(8);
  let entries = 0;
  try {
    for (;;) {
      const found = readSome(cursor, READ_AT_ONCE);
      if (found?.keys.length === 0) break;
      const { keys, values } = found ?? NO_ENTRIES;
      for (const [i, key] of keys.entries()) {
        if (!isBackedUp(key)) continue;
        const inner = keyInTenant(key);
        const value = values[i]!;
        lengths.writeUInt32LE(inner.length, 0);
        lengths.writeUInt32LE(value.length, 4);
        hash.update(lengths).update(inner).update(value);
        entries++;
      }
      await turn();
    }
  } finally {
    cursor.close();
  }
  return { entries, sha256: hash.digest("hex") };
}
