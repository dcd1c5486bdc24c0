/**
 * Which commits the answer to messages has seen. Inside a transaction that goes on, it is what the transaction has
 * read: then the answer need not wait until others' commits are on disk. One per session.
 */
import type { Request } from "../../actor/request.js";
import type { Session } from "../../session/session.js";
import type { ShardTransaction } from "../../storage/transaction.js";

export class SeenCommits {
  /** All that these messages have done was done in it; null: they have done something else, too. */
  private transaction: ShardTransaction | null = null;
  private lastCommit = 0;
  private hasDone = false;

  constructor(
    private readonly session: Session,
    /** Of the same tenant. */
    private readonly request: Pick<Request, "tenant" | "partition">,
  ) {}

  /** Messages have come. */
  begin(): void {
    this.transaction = this.session.protocol.transaction;
    this.lastCommit = this.request.tenant.lastCommit;
    this.hasDone = false;
  }

  /** A statement has run. */
  ran(command: string | undefined, isPlain: boolean): void {
    if (command === "BEGIN" && !this.hasDone) this.transaction = this.session.protocol.transaction;
    else if (!isPlain) this.transaction = null;
    this.hasDone = true;
  }

  /** Something was done of which nobody tells what it has seen. */
  isUnknown(): void {
    this.transaction = null;
    this.hasDone = true;
  }

  /** Null: it may have seen everything. */
  newest(): number | null {
    const { transaction, session } = this;
    const { tenant, partition } = this.request;
    if (transaction === null || !transaction.isOpen || transaction !== session.protocol.transaction) return null;
    // What commits by itself, such as the position of a sequence, has been seen.
    if (tenant.lastCommit !== this.lastCommit) return null;
    return Math.max(transaction.newestSeen, partition.shard.unsynced.newestForAll);
  }
}
