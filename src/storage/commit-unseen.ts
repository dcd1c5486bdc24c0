/** Commits of rows under a storage id that no definition names yet (session/unseen-rows.ts). */
import type { CheckedTurns } from "../protocol/turns.js";
import type { ShardTransaction } from "./transaction.js";

/** To be done first, as `prepareCommit`; the commit is large, however few rows it has. */
export function prepareUnseen(transaction: ShardTransaction, turns: CheckedTurns): Promise<void> {
  transaction.unseen = () => undefined;
  return transaction.prepareCommit(turns);
}

/**
 * Snapshots pass over them. From when this resolves on, all who know the storage see all of them. Rejects with the
 * cause if the log did not take the commit after all.
 */
export function commitUnseen(transaction: ShardTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.unseen = (failure) => {
      if (failure === null) resolve();
      else reject(failure);
    };
    try {
      transaction.commit();
    } catch (error) {
      reject(error as Error);
    }
  });
}
