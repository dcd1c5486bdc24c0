/**
 * A shard: the single writer's view of one partition's data. An actor owns it, begins transactions on it, and calls
 * `flush` at the end of each turn of its loop.
 *
 *   begin ─▶ transaction ─▶ commit (memory, visible to later transactions)
 *   flush ─▶ commit log: one write ─▶ engine: one batch ─▶ fsync in the background ─▶ onDurable(sequence)
 *
 * A reply may leave the actor once onDurable has reached every commit that it has seen (its transaction's snapshot or
 * own commit). A large commit goes into the log in parts before it is made (`prepareCommit` of its transaction), and
 * from there into the engine in parts (`applySome`), while all readers see the whole of it in memory. The commit log
 * is ahead of the engine at all times, and is replayed into it at open. A power cut may take commits from the log that
 * the engine already had. Nobody was told of them, and a gap entry in the log marks the place.
 */

import { DbError } from "../protocol/errors.js";
import { type Commit, type CommitLog, type CommitParts, lastMicrosOf } from "./commit-log.js";
import type { Engine } from "./engine.js";
import { isRecordKey } from "./history-keys.js";
import { KeyLocks } from "./key-locks.js";
import { APPLIED_SEQUENCE_KEY, withoutCleared } from "./keys.js";
import { LARGE_COMMIT_SIZES, type LargeCommitSizes, mergedOperationsOf, textOperationsOf } from "./large-commit.js";
import { type LargeHost, LargeInEngine } from "./large-in-engine.js";
import type { LayeredEngine } from "./layered-engine.js";
import { LoadPart } from "./load-run.js";
import { OpenTransactions } from "./open-transactions.js";
import type { CommitStamp, Operation } from "./operation.js";
import { keyText } from "./ordered-map.js";
import type { OperationPart } from "./packed-operations.js";
import { appliedBy, encodeSequence, recoverEngine } from "./recovery.js";
import { type Isolation, ShardTransaction } from "./transaction.js";
import type { TransactionHost } from "./transaction-host.js";
import { type LargeSource, RecentVersions } from "./versions.js";
import type { Write } from "./write-set.js";

export interface ShardOptions {
  readonly engine: Engine;
  /** The same, or what stands behind it: keeps the past and the branches. Absent: there is no such thing. */
  readonly layers?: LayeredEngine;
  readonly log: CommitLog;
  /** When commits count as durable: after an fsync (the default), or at once with an fsync every so often. */
  readonly durability?: "fsync" | { readonly intervalMs: number };
  /**
   * When the engine takes commits: at the end of their turn (the default), or not before they are durable, so that it never
   * holds what the log may turn out not to have.
   */
  readonly applyWhen?: "appended" | "durable";
  /** Memory for recent versions; past it the oldest transactions are ended. */
  readonly versionBytesMax?: number;
  readonly largeSizes?: LargeCommitSizes;
  /** Wall clock, microseconds since the epoch. */
  readonly now?: () => number;
  /** Commits are about to be given to the log; it and the engine have them. */
  readonly onFlush?: (() => void) | undefined;
  readonly onFlushed?: (() => void) | undefined;
  /** Everything up to `sequence` is durable. */
  readonly onDurable?: (sequence: number) => void;
  /**
   * The log has no room, or takes nothing at the moment: the commits from `first` to `last` are undone, and the shard goes on
   * without them. Replies that have seen any of them must fail too. The next commits get the same sequences.
   */
  readonly onFlushFailed?: (first: number, last: number, error: DbError) => void;
  /** The shard has failed; whether commits after `durableSequence` survive is unknown until it is opened again. */
  readonly onFailed?: (error: DbError) => void;
}

export interface LargeCommitMade extends CommitStamp {
  /** Where two have a key, the earlier one counts. */
  readonly sources: readonly LargeSource[];
  readonly parts: CommitParts;
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

const VERSION_BYTES_MAX = 256 * 1024 * 1024;
/** The log is looked through for segments to drop each time it has grown by this much. */
const TRIM_EVERY_BYTES = 4 * 1024 * 1024;
/** What the log refuses an append with when it is as it was before and takes later ones. */
const LOG_STAYS_USABLE: ReadonlySet<string> = new Set(["disk_full", "overloaded", "log_unavailable"]);
/** Operations between two points at which it is noted how far the engine was. */
const CHECKPOINT_OPERATIONS = 1024;

export class Shard implements TransactionHost<ShardTransaction> {
  readonly engine: Engine;
  readonly layers: LayeredEngine | null;
  readonly versions = new RecentVersions();
  readonly locks = new KeyLocks();
  readonly log: CommitLog;
  readonly largeSizes: LargeCommitSizes;
  private readonly options: ShardOptions;
  private readonly open = new OpenTransactions();
  private readonly counters = {
    commits: 0,
    conflicts: 0,
    flushes: 0,
    syncs: 0,
    syncMicros: 0,
    syncMicrosMax: 0,
    groupMax: 0,
    abortedForMemory: 0,
  };
  /** Set: commits that need room are refused with it. */
  refusal: { readonly code: "disk_full" | "overloaded"; readonly message: string } | null = null;
  /** Told of all operations that the engine has taken, so that a cache of its entries can follow. Must not throw. */
  onApplied: ((operations: readonly Operation[]) => void) | null = null;
  /** Told of parts of loads in place of `onApplied`, if it is there: they need not be taken apart. */
  onAppliedLoad: ((part: LoadPart) => void) | null = null;
  /** Told of a large commit that the log has on disk, before the engine takes any of it. It has all earlier ones then. */
  onLarge: ((commit: LargeCommitMade) => void) | null = null;
  /** Null while nobody follows any changes. */
  watcher: CommitWatcher | null = null;
  committedSequence = 0;
  appliedSequence = 0;
  durableSequence = 0;
  private synced = 0;
  /** The newest commit in the log. */
  private appended = 0;
  /** The large commit that the engine is taking. */
  private large: LargeInEngine | null = null;
  private readonly largeWaiters: (() => void)[] = [];
  /** Transactions that wait for their turn to make a large commit, and the one that has it. */
  private readonly largeTurns: (() => void)[] = [];
  private readonly turnWaiters = new Set<ShardTransaction>();
  private turnHolder: ShardTransaction | null = null;
  private readonly syncWaiters: (() => void)[] = [];
  /** Commits of this turn. */
  private turn: Commit[] = [];
  private prunedTo = 0;
  private newestMicros = 0;
  /** A commit that the engine has not applied orders that the past of a tenant is kept, or makes a branch. */
  private hasLayerRecord = false;
  private failure: DbError | null = null;
  private isClosed = false;
  private syncing: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;
  /** Operations given to the engine since open, and where it stood after some of them, oldest first. */
  private operations = 0;
  private checkpoints: { readonly sequence: number; readonly operations: number }[] = [];
  private trimAt = TRIM_EVERY_BYTES;

  /** Replays what the engine lacks from the log. The shard owns both, and closes them if it cannot be opened. */
  static async open(options: ShardOptions): Promise<Shard> {
    const shard = new Shard(options);
    try {
      shard.appliedSequence = appliedBy(options.engine);
      recoverEngine(
        options.engine,
        options.log,
        () => shard.now(),
        (operations, sequence) => shard.writeEngine(operations, sequence),
      );
      options.layers?.recovered();
      await options.log.sync();
    } catch (error) {
      await Promise.allSettled([options.log.close(), options.engine.close()]);
      throw error;
    }
    const sequence = shard.appliedSequence;
    shard.committedSequence = sequence;
    shard.durableSequence = sequence;
    shard.synced = sequence;
    shard.appended = sequence;
    shard.prunedTo = sequence;
    shard.newestMicros = options.log.lastMicros;
    return shard;
  }

  private constructor(options: ShardOptions) {
    this.options = options;
    this.engine = options.engine;
    this.layers = options.layers ?? null;
    this.log = options.log;
    this.largeSizes = options.largeSizes ?? LARGE_COMMIT_SIZES;
  }

  /** Why the shard cannot be used any more; it must be opened again. */
  get failed(): DbError | null {
    return this.failure;
  }

  get metrics(): ShardMetrics {
    return {
      ...this.counters,
      logBytes: this.log.bytesAppended,
      openTransactions: this.open.count,
      versionBytes: this.versions.bytes,
    };
  }

  /** Serializable unless said otherwise. Throws partition_unavailable when the shard has failed. */
  begin(options?: BeginOptions): ShardTransaction {
    this.checkUsable();
    const transaction = new ShardTransaction(this, options?.readOnly ?? false, options?.isolation ?? "serializable");
    this.open.add(transaction);
    return transaction;
  }

  /** Ends the turn: hands its commits to the log and the engine and starts making them durable. Never throws. */
  flush(): void {
    if (this.turn.length === 0 || this.failure !== null) return;
    this.options.onFlush?.();
    this.flushTurn();
    // What did not get into the log whole may be there in part.
    if (this.failure === null) this.options.onFlushed?.();
  }

  private flushTurn(): void {
    const commits = this.turn;
    this.turn = [];
    this.counters.groupMax = Math.max(this.counters.groupMax, commits.length);
    try {
      this.log.append(commits);
    } catch (error) {
      this.appendFailed(commits, error);
      return;
    }
    this.appended = this.committedSequence;
    try {
      // Later commits wait until the engine has all of a large commit.
      if (this.large === null && this.options.applyWhen !== "durable") this.apply();
    } catch (error) {
      this.fail(error);
      return;
    }
    this.counters.flushes++;
    this.startSync();
    if (this.options.durability !== undefined && this.options.durability !== "fsync") {
      this.durable(this.appended);
    }
    this.endOldestBeyondMemory();
    if (this.log.bytesAppended >= this.trimAt) this.trim();
  }

  /** Flushes, waits until all is durable, and closes log and engine. Open transactions end with shutting_down. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.flush();
    this.isClosed = true;
    for (const transaction of this.open.list()) transaction.abort(new DbError("shutting_down"));
    if (this.timer !== null) clearTimeout(this.timer);
    await this.syncing;
    // What was appended meanwhile; the engine gets it only then.
    while (this.options.applyWhen === "durable" && this.syncing !== null) await this.syncing;
    try {
      if (this.large !== null) {
        await this.log.sync();
        this.synced = this.appended;
        while (this.hasBacklog) {
          this.applySome();
          await this.backlogReady();
        }
      }
      await this.log.close();
      if (this.failure === null && this.durableSequence < this.appliedSequence) this.durable(this.appliedSequence);
    } catch (error) {
      this.fail(error);
    } finally {
      await this.engine.close();
    }
  }

  /** The oldest snapshot that an open transaction reads; the newest commit when none is open. */
  get oldestSnapshot(): number {
    return this.open.oldest?.since ?? this.committedSequence;
  }

  /** For transactions only: the sequence of the new commit. */
  commit(writes: readonly Write[]): number {
    this.checkUsable();
    const micros = this.nextMicros();
    const before = this.watcher?.committing(this.committedSequence + 1, micros, writes);
    const sequence = ++this.committedSequence;
    this.versions.add(sequence, writes, micros);
    if (this.layers !== null && writes.some(({ key }) => isRecordKey(key))) this.hasLayerRecord = true;
    if (before === undefined) this.turn.push({ sequence, micros, operations: writes });
    else this.turn.push(this.followed({ sequence, micros, operations: writes, before }));
    this.counters.commits++;
    return sequence;
  }

  /** For transactions only: a commit whose operations are in the log already, and whose maps can be kept as they are. */
  commitLarge(sources: readonly LargeSource[], parts: CommitParts, late: readonly Write[]): number {
    this.checkUsable();
    // The engine takes commits in order: those before this one now.
    this.flush();
    this.checkUsable();
    const micros = this.nextMicros();
    const before = this.watcher?.committing(this.committedSequence + 1, micros, mergedOperationsOf(sources));
    const sequence = ++this.committedSequence;
    if (this.large === null) {
      this.versions.addLarge({ sequence, sources });
      const host = this.largeHostOf({ sequence, micros, sources, parts });
      this.large = new LargeInEngine(sequence, sources, this.largeSizes, host);
    } else this.versions.add(sequence, textOperationsOf(sources), micros);
    const commit = { sequence, micros, operations: late, parts };
    this.turn.push(before === undefined ? commit : this.followed({ ...commit, before }));
    this.counters.commits++;
    return sequence;
  }

  /** A large commit waits for the engine to take it: call `applySome` now and then. */
  get hasBacklog(): boolean {
    return this.large !== null;
  }

  /** False: `applySome` would do nothing now. */
  get canApplySome(): boolean {
    return this.large !== null && this.large.sequence <= this.synced && !this.large.isUnderWay;
  }

  /** Resolves when `applySome` has something to do, or there is no backlog any more. */
  async backlogReady(): Promise<void> {
    while (this.large !== null && !this.canApplySome) {
      await new Promise<void>((resolve) => this.syncWaiters.push(resolve));
    }
  }

  async largeCommitDone(): Promise<void> {
    while (this.large !== null) await new Promise<void>((resolve) => this.largeWaiters.push(resolve));
  }

  async takeLargeTurn(transaction: ShardTransaction): Promise<void> {
    this.turnWaiters.add(transaction);
    while (this.large !== null || this.turnHolder !== null) {
      await new Promise<void>((resolve) => this.largeTurns.push(resolve));
    }
    if (this.turnWaiters.delete(transaction)) this.turnHolder = transaction;
    // It has ended meanwhile.
    else this.nextLargeTurn();
  }

  private nextLargeTurn(): void {
    if (this.large === null && this.turnHolder === null) this.largeTurns.shift()?.();
  }

  /**
   * Lets the engine take some operations of the large commit, but only when the commit is on disk: after a power cut
   * the engine may keep any part of what it took, and then the log must have the rest. Never throws.
   */
  applySome(): void {
    const large = this.large;
    if (large === null || large.sequence > this.synced) return;
    large.takeSome();
  }

  private largeHostOf(commit: LargeCommitMade): LargeHost {
    const { engine } = this;
    return {
      engine,
      begins: () => this.onLarge?.(commit),
      isNewTo: (sequence) => this.open.oldest !== null && this.open.oldest.since < sequence,
      keepReplaced: (operations) => this.versions.keepReplacedBy([...operations], (keys) => engine.getMany(keys)),
      write: (operations) => {
        engine.write(this.layers?.keepsHistory ? stamped(operations, commit) : [...operations]);
        this.noteWritten(operations);
      },
      writeSequence: (sequence) => this.writeEngine([], sequence),
      written: (operations) => this.noteWritten(operations),
      wake: () => {
        for (const resolve of this.syncWaiters.splice(0)) resolve();
      },
      done: () => this.largeApplied(),
      fail: (error) => this.fail(error),
    };
  }

  private largeApplied(): void {
    this.endLarge();
    if (this.options.applyWhen === "durable") {
      this.applyDurable();
      this.prune();
      return;
    }
    // Commits of a turn that has not ended are not in the log yet; its end applies them.
    if (this.turn.length === 0 && this.versions.hasPending) this.apply();
    else this.prune();
  }

  private endLarge(): void {
    this.large?.giveUp();
    this.large = null;
    for (const resolve of [...this.largeWaiters.splice(0), ...this.syncWaiters.splice(0)]) resolve();
    this.nextLargeTurn();
  }

  hasOtherWriters(transaction: ShardTransaction): boolean {
    for (let each = this.open.oldest; each !== null; each = each.newer) {
      if (each !== transaction && !each.readOnly) return true;
    }
    return false;
  }

  conflicted(): void {
    this.counters.conflicts++;
  }

  refreshed(transaction: ShardTransaction): void {
    this.open.remove(transaction);
    this.open.add(transaction);
    this.prune();
  }

  ended(transaction: ShardTransaction): void {
    this.open.remove(transaction);
    if (this.turnWaiters.size > 0) this.turnWaiters.delete(transaction);
    if (this.turnHolder === transaction) {
      this.turnHolder = null;
      this.nextLargeTurn();
    }
    this.prune();
  }

  private checkUsable(): void {
    if (this.isClosed) throw new DbError("shutting_down");
    if (this.failure !== null) throw new DbError("partition_unavailable", this.failure.message);
  }

  private followed(commit: Commit): Commit {
    this.newestMicros = lastMicrosOf(commit);
    return commit;
  }

  /** The time of the newest change; every later one has a greater. */
  get lastMicros(): number {
    return this.newestMicros;
  }

  /** Later changes get greater times than that one. */
  advanceTime(micros: number): void {
    this.newestMicros = Math.max(this.newestMicros, micros);
  }

  private nextMicros(): number {
    this.newestMicros = Math.max(this.now(), this.newestMicros + 1);
    return this.newestMicros;
  }

  /** What the newest commit left under the key. */
  newestOf(key: Uint8Array): Uint8Array | undefined {
    const recent = this.versions.size === 0 ? undefined : this.versions.valueOf(keyText(key), this.committedSequence);
    return recent === undefined ? this.engine.get(key) : (recent ?? undefined);
  }

  private now(): number {
    return this.options.now === undefined ? Date.now() * 1000 : this.options.now();
  }

  /** The engine takes the turn's commits, and recent versions that no reader needs are dropped. */
  private apply(): void {
    const hasReaders = this.open.oldest !== null;
    this.applyUpTo(this.committedSequence, hasReaders);
    if (hasReaders) {
      this.prune();
    } else {
      this.versions.clear();
      this.prunedTo = this.appliedSequence;
    }
  }

  /** The engine takes what has become durable, up to a large commit, which it takes in its own time. */
  private applyDurable(): void {
    const upTo = this.large === null ? this.synced : Math.min(this.synced, this.large.sequence - 1);
    if (upTo <= this.appliedSequence) return;
    this.applyUpTo(upTo, this.open.oldest !== null);
    this.prune();
  }

  private applyUpTo(sequence: number, hasReaders: boolean): void {
    if (hasReaders) this.versions.keepReplaced((keys) => this.engine.getMany(keys), sequence);
    const wantsCommits = this.hasLayerRecord || this.layers?.keepsHistory === true;
    const operations = wantsCommits
      ? this.versions.pendingVersions(sequence)
      : this.versions.pendingOperations(sequence);
    if (sequence === this.committedSequence) this.hasLayerRecord = false;
    this.writeEngine(operations, sequence);
    this.versions.applied(sequence);
  }

  /** `sequence` null: a part of a commit. */
  private writeEngine(operations: Operation[], sequence: number | null): void {
    const kept = withoutCleared(operations, (range) => this.engine.clear(range));
    if (sequence !== null) kept.push({ key: APPLIED_SEQUENCE_KEY, value: encodeSequence(sequence) });
    this.engine.write(kept);
    if (sequence !== null) this.appliedSequence = sequence;
    this.noteWritten(kept);
    if (sequence === null) return;
    if (this.operations - (this.checkpoints.at(-1)?.operations ?? 0) >= CHECKPOINT_OPERATIONS) {
      this.checkpoints.push({ sequence, operations: this.operations });
    }
  }

  private noteWritten(operations: OperationPart): void {
    if (!(operations instanceof LoadPart)) this.onApplied?.(operations);
    else if (this.onAppliedLoad !== null) this.onAppliedLoad(operations);
    else this.onApplied?.([...operations]);
    this.operations += operations.length;
  }

  private prune(): void {
    if (this.versions.size === 0) return;
    const floor = this.open.oldest === null ? this.appliedSequence : this.open.oldest.floor;
    if (floor <= this.prunedTo) return;
    this.prunedTo = floor;
    this.versions.prune(floor);
  }

  private endOldestBeyondMemory(): void {
    const max = this.options.versionBytesMax ?? VERSION_BYTES_MAX;
    while (this.versions.bytes > max && this.open.oldest !== null) {
      const why =
        "The transaction was stopped: too much was changed while it was open, and its snapshot could not be kept.";
      this.open.oldest.abort(new DbError("transaction_aborted", why, { sqlstate: "72000" }));
      this.counters.abortedForMemory++;
    }
  }

  private appendFailed(commits: readonly Commit[], error: unknown): void {
    if (!(error instanceof DbError && LOG_STAYS_USABLE.has(error.code))) {
      this.fail(error);
      return;
    }
    const first = commits[0]!.sequence;
    const last = this.committedSequence;
    for (const { parts } of commits) if (parts !== undefined) this.log.dropParts(parts);
    if (this.large !== null && this.large.sequence >= first) this.endLarge();
    this.versions.undo(first);
    this.watcher?.undone(first);
    this.committedSequence = first - 1;
    for (const transaction of this.open.list()) {
      // It has read what never came to be.
      if (Math.max(transaction.snapshot, transaction.followed?.newest ?? 0) >= first) transaction.abort(error);
    }
    this.options.onFlushFailed?.(first, last, error);
  }

  private startSync(): void {
    const { durability } = this.options;
    if (this.syncing !== null || this.timer !== null || this.failure !== null) return;
    if (durability === undefined || durability === "fsync" || this.isClosed) {
      this.syncing = this.sync();
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = null;
      this.syncing = this.sync();
    }, durability.intervalMs).unref();
  }

  private async sync(): Promise<void> {
    const upTo = this.appended;
    const start = process.hrtime.bigint();
    try {
      await this.log.sync();
    } catch (error) {
      this.syncing = null;
      this.fail(error);
      return;
    }
    this.syncing = null;
    this.counters.syncs++;
    const micros = Number((process.hrtime.bigint() - start) / 1000n);
    this.counters.syncMicros += micros;
    this.counters.syncMicrosMax = Math.max(this.counters.syncMicrosMax, micros);
    this.synced = upTo;
    if (this.options.applyWhen === "durable" && !this.takesDurable()) return;
    for (const resolve of this.syncWaiters.splice(0)) resolve();
    if (this.appended > upTo) this.startSync();
    this.durable(upTo);
  }

  /** Whether the engine could take it; else the shard has failed. */
  private takesDurable(): boolean {
    try {
      this.applyDurable();
    } catch (error) {
      this.fail(error);
    }
    return this.failure === null;
  }

  private durable(sequence: number): void {
    if (sequence <= this.durableSequence) return;
    this.durableSequence = sequence;
    this.options.onDurable?.(sequence);
  }

  private fail(cause: unknown): void {
    if (this.failure !== null) return;
    const error = cause instanceof DbError ? cause : new DbError("internal_error", `The shard failed: ${cause}`);
    this.failure = error;
    this.turn = [];
    this.endLarge();
    for (const transaction of this.open.list()) {
      transaction.abort(new DbError("partition_unavailable", error.message));
    }
    this.options.onFailed?.(error);
  }

  /** Drops log segments whose commits the engine has written to its files. */
  private trim(): void {
    this.trimAt = this.log.bytesAppended + TRIM_EVERY_BYTES;
    const persisted = this.operations - this.engine.entriesInMemory();
    let sequence = 0;
    while (this.checkpoints.length > 0 && this.checkpoints[0]!.operations <= persisted) {
      sequence = this.checkpoints.shift()!.sequence;
    }
    // Unsynced segments cannot be dropped, even if the engine was quicker.
    if (sequence > 0) this.log.trim(Math.min(sequence, this.synced));
  }
}

/** With the commit that they are of. */
function stamped(operations: Iterable<Operation>, { sequence, micros }: CommitStamp): Operation[] {
  const commit = { sequence, micros };
  return Array.from(operations, ({ key, value }) => ({ key, value, commit }));
}
