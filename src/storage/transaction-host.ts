/** What a transaction asks of its shard. Shard implements it. */

import type { DbError } from "../protocol/errors.js";
import type { CommitLog } from "./commit-log.js";
import type { Engine } from "./engine.js";
import type { KeyLocks } from "./key-locks.js";
import type { LargeCommitSizes } from "./large-commit-sizes.js";
import type { LargeSource } from "./large-source.js";
import type { LayeredEngine } from "./layered-engine.js";
import type { PreparedCommit } from "./look-ahead.js";
import type { UnsyncedKeys } from "./unsynced-keys.js";
import type { RecentVersions } from "./versions.js";
import type { Write } from "./write-set.js";

/** Told that the engine has all of a commit that nobody else can look for (null), or why it never will. */
export type ToldUnseen = (failure: DbError | null) => void;

export type Prepared = PreparedCommit<Write>;

/** `T`: the transactions. */
export interface TransactionHost<T> {
  readonly engine: Engine;
  readonly versions: RecentVersions;
  readonly unsynced: UnsyncedKeys;
  readonly committedSequence: number;
  /** Newest sequence that the engine has applied. */
  readonly appliedSequence: number;
  readonly log: CommitLog;
  readonly largeSizes: LargeCommitSizes;
  readonly layers: Pick<LayeredEngine, "workOf"> | null;
  readonly locks: KeyLocks;
  commit(writes: readonly Write[]): number;
  /**
   * The maps are the host's from now on; where two sources have a key, the earlier one counts. `unseen`: nobody looks
   * for them before it is called, with whether the engine has all of them.
   */
  commitLarge(sources: readonly LargeSource[], prepared: Prepared, unseen: ToldUnseen | null): number;
  /** Resolves when the engine would take a large commit at once; for no other transaction until this one has ended. */
  takeLargeTurn(transaction: T): Promise<void>;
  conflicted(): void;
  /** Set: what needs room on the disk is refused with this error. */
  readonly refusal: { readonly code: "disk_full" | "overloaded"; readonly message: string } | null;
  /** Whether another open transaction may write. */
  hasOtherWriters(transaction: T): boolean;
  /** The transaction moves to the end of the list of open ones; `wasOpen` false: it had ended, and is open again. */
  refreshed(transaction: T, wasOpen?: boolean): void;
  ended(transaction: T): void;
}
