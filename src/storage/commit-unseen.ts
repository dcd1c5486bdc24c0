/** Commits of rows under a storage id that no definition names yet (session/unseen-rows.ts). */
import { DbError } from "../protocol/errors.js";
import type { ShardTransaction } from "./transaction.js";

/**
 * Snapshots pass over them. From when this resolves on, all who know the storage see all of them. The transaction must
 * be large, and prepared. Rejects if the log did not take the commit after all.
 */
export function commitUnseen(transaction: ShardTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.unseen = (isApplied) => {
      if (isApplied) resolve();
      else reject(new DbError("transaction_aborted", "Rows of the statement could not be written; run it again."));
    };
    try {
      transaction.commit();
    } catch (error) {
      reject(error as Error);
    }
  });
}
