/** The open transactions of a shard, oldest snapshot first: a linked list through the transactions themselves. */
import { DbError } from "../protocol/errors.js";
import type { ShardTransaction } from "./transaction.js";

export class OpenTransactions {
  oldest: ShardTransaction | null = null;
  private newest: ShardTransaction | null = null;
  count = 0;

  add(transaction: ShardTransaction): void {
    transaction.older = this.newest;
    transaction.newer = null;
    if (this.newest === null) this.oldest = transaction;
    else this.newest.newer = transaction;
    this.newest = transaction;
    this.count++;
  }

  remove(transaction: ShardTransaction): void {
    const { older, newer } = transaction;
    if (older === null) this.oldest = newer;
    else older.newer = newer;
    if (newer === null) this.newest = older;
    else newer.older = older;
    transaction.older = null;
    transaction.newer = null;
    this.count--;
  }

  /** A copy, oldest first: the callers end transactions while they walk. */
  list(): ShardTransaction[] {
    const all: ShardTransaction[] = [];
    for (let each = this.oldest; each !== null; each = each.newer) all.push(each);
    return all;
  }

  endAll(error: DbError): void {
    for (const transaction of this.list()) transaction.abort(error);
  }

  /** Those that have read a commit from `first` on, which never came to be. */
  endThoseOf(first: number, error: DbError): void {
    for (const transaction of this.list()) {
      if (Math.max(transaction.snapshot, transaction.followed?.newest ?? 0) >= first) transaction.abort(error);
    }
  }

  hasWriterBeside(transaction: ShardTransaction): boolean {
    for (let each = this.oldest; each !== null; each = each.newer) {
      if (each !== transaction && !each.readOnly) return true;
    }
    return false;
  }
}

/** Why a transaction is ended whose snapshot takes too much memory. */
export function snapshotNotKept(): DbError {
  const why =
    "The transaction was stopped: too much was changed while it was open, and its snapshot could not be kept.";
  return new DbError("transaction_aborted", why, { sqlstate: "72000" });
}
