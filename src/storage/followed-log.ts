/**
 * The commit log of a shard that takes another node's commits, as whoever reads them there sees it: what is appended
 * goes into the shard, which has it in its log and lets its readers see it.
 */

import { DbError } from "../protocol/errors.js";
import type { Commit, CommitLog } from "./commit-log.js";
import type { Shard } from "./shard.js";

/** What a copy that follows another node's log needs of its own. */
export type CopyLog = Pick<
  CommitLog,
  "lastSequence" | "append" | "beginParts" | "appendPart" | "dropParts" | "sync" | "close" | "bytesAppended"
>;

/** The next commit is a large one. The shard cannot take it while it is read: it has to be opened anew for that. */
export class LargeCommitAhead extends DbError {
  constructor() {
    super("overloaded", "The copy takes a large commit; retry.");
  }
}

export class FollowedLog implements CopyLog {
  constructor(
    private readonly shard: Shard,
    private readonly events: {
      /** The shard has taken them. */
      took(commits: readonly Commit[]): void;
      /** Resolves when all that was taken is on disk. */
      durable(): Promise<void>;
      close(): Promise<void>;
    },
  ) {}

  get lastSequence(): number {
    return this.shard.committedSequence;
  }

  /** The engine has all of it, so there is nothing that it must be brought up to. */
  get bytesAppended(): number {
    return 0;
  }

  append(commits: readonly Commit[]): void {
    const { shard } = this;
    for (const commit of commits) shard.follow(commit);
    const last = shard.committedSequence;
    shard.flush();
    if (shard.failed !== null) throw shard.failed;
    if (shard.committedSequence < last) throw new DbError("disk_full");
    this.events.took(commits);
  }

  beginParts(): never {
    throw new LargeCommitAhead();
  }

  appendPart(): never {
    throw new LargeCommitAhead();
  }

  /** There are none. */
  dropParts(): void {}

  sync(): Promise<void> {
    return this.events.durable();
  }

  close(): Promise<void> {
    return this.events.close();
  }
}
