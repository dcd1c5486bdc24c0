/** What a shard is given, what it tells, and what it counts. */
import type { DbError } from "../protocol/errors.js";
import type { CommitLog } from "./commit-log.js";
import type { Engine } from "./engine.js";
import type { LargeCommitSizes } from "./large-commit-sizes.js";
import type { LayeredEngine } from "./layered-engine.js";
import type { Operation } from "./operation.js";
import type { TenantKeys } from "./tenant-keys.js";
import type { Isolation } from "./transaction.js";

export interface ShardOptions {
  readonly engine: Engine;
  /** The same, or what stands behind it: keeps the past and the branches. Absent: there is no such thing. */
  readonly layers?: LayeredEngine;
  readonly log: CommitLog;
  /** Encrypt what log and engine store; null, or absent: nothing does. */
  readonly keys?: TenantKeys | null;
  /** When commits count as durable: after an fsync (the default), or at once with an fsync every so often. */
  readonly durability?: "fsync" | { readonly intervalMs: number };
  /**
   * When the engine takes commits: at the end of their turn (the default), or not before they are durable, so that it
   * never holds what the log may turn out not to have.
   */
  readonly applyWhen?: "appended" | "durable";
  /** It takes commits that others have made, and makes none: all transactions only read. */
  readonly follows?: boolean;
  /** Memory for recent versions; past it the oldest transactions are ended. */
  readonly versionBytesMax?: number;
  readonly largeSizes?: LargeCommitSizes;
  /**
   * Of rows that nobody can see yet: so many are committed at a time, ahead of the statement that writes them
   * (`commitUnseen`).
   */
  readonly unseenBytes?: number;
  /** Wall clock, microseconds since the epoch. */
  readonly now?: () => number;
  /** Commits are about to be given to the log; it and the engine have them. */
  readonly onFlush?: (() => void) | undefined;
  readonly onFlushed?: (() => void) | undefined;
  /** Everything up to `sequence` is durable. */
  readonly onDurable?: (sequence: number) => void;
  /**
   * The log has no room, or takes nothing at the moment: the commits from `first` to `last` are undone, and the shard
   * goes on without them. Replies that have seen any of them must fail too. The next commits get the same sequences.
   */
  readonly onFlushFailed?: (first: number, last: number, error: DbError) => void;
  /** The shard has failed; whether commits after `durableSequence` survive is unknown until it is opened again. */
  readonly onFailed?: (error: DbError) => void;
}

export interface BeginOptions {
  readonly readOnly?: boolean;
  readonly isolation?: Isolation;
}

/** The follower of the changes of some keys. */
export interface CommitWatcher {
  /**
   * A commit is being made; `micros` is its time. Answers what those keys hold before it, which goes into the log with
   * it. What it writes cannot be read yet, and may still be undone.
   */
  committing(sequence: number, micros: number, writes: Iterable<Operation>): readonly Operation[] | undefined;
  /** Whether keys that begin with the prefix, which is longer than a table's, may be of interest; `micros` as there. */
  watches(prefix: Uint8Array, micros: number): boolean;
  /** The commits from `first` on never came to be. */
  undone(first: number): void;
}

/** Counters since open. */
export interface ShardMetrics {
  commits: number;
  conflicts: number;
  flushes: number;
  syncs: number;
  syncMicros: number;
  /** The longest sync. */
  syncMicrosMax: number;
  /** Commits of the largest group that went to the log in one write. */
  groupMax: number;
  /** Transactions ended because their snapshots needed too much memory. */
  abortedForMemory: number;
  readonly logBytes: number;
  readonly openTransactions: number;
  readonly versionBytes: number;
}
