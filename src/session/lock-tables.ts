/** LOCK TABLE, and statements that meet tables which others hold by it. Holding keys: storage/key-locks.ts. */
import { storageOf } from "../catalog/table.js";
import { sqlError } from "../protocol/errors.js";
import type { Plan } from "../query/plan/plan.js";
import { modifyingNodes } from "../query/plan/walk.js";
import type { BoundLock } from "../sql/bind/bound-statement.js";
import { KeyConflict, type KeyLocks } from "../storage/key-locks.js";
import { rowPrefix } from "../storage/keys.js";
import { keyText } from "../storage/ordered-map.js";
import type { ShardTransaction } from "../storage/transaction.js";

/**
 * Throws KeyConflict for what has to be waited for, 55P03 for it under NOWAIT. Transactions that hold no keys are
 * validated when they commit, and hold no tables either.
 */
export function lockTables({ tables, mode, nowait }: BoundLock, tenant: number, { keys }: ShardTransaction): void {
  for (const { storage, name } of tables) {
    try {
      keys?.takeTable(rowPrefix(tenant, storage), mode);
    } catch (error) {
      if (!nowait || !(error instanceof KeyConflict)) throw error;
      throw sqlError("55P03", `could not obtain lock on relation "${name}"`);
    }
  }
}

/** Throws KeyConflict where others hold, as a whole, a table that the statement is to change. */
export function requireUnlocked(plan: Plan, tenant: number, { keys }: ShardTransaction, { tables }: KeyLocks): void {
  for (const node of modifyingNodes(plan)) {
    if (!("table" in node)) continue;
    const against = tables.against(keyText(rowPrefix(tenant, storageOf(node.table))), "row exclusive", keys);
    if (against.length > 0) throw new KeyConflict(against);
  }
}
