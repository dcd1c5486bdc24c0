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
import { CommitClock } from "./commit-clock.js";
import { type Commit, type CommitLog, lastMicrosOf } from "./commit-log.js";
import type { Engine } from "./engine.js";
import { isRecordKey } from "./history-keys.js";
import { KeyLocks } from "./key-locks.js";
import { APPLIED_SEQUENCE_KEY, rangeClearedBy, withoutCleared } from "./keys.js";
import { textOperationsOf } from "./large-commit.js";
import { LARGE_COMMIT_SIZES, type LargeCommitSizes } from "./large-commit-sizes.js";
import { type LargeCommitMade, LargeCommits, type LargeCommitsHost } from "./large-commits.js";
import type { LayeredEngine } from "./layered-engine.js";
import { LogTrim } from "./log-trim.js";
import { OpenTransactions, snapshotNotKept } from "./open-transactions.js";
import type { Operation } from "./operation.js";
import { keyText } from "./ordered-map.js";
import type { OperationPart } from "./packed-operations.js";
import { appliedBy, encodeSequence, recoverEngine } from "./recovery.js";
import type { ReplayedLoad } from "./replayed-loads.js";
import { countSync, LOG_STAYS_USABLE, newCounters, UNSEEN_BYTES, VERSION_BYTES_MAX } from "./shard-defaults.js";
import type { BeginOptions, CommitWatcher, ShardMetrics, ShardOptions } from "./shard-options.js";
import { LoadPart } from "./sorted-run.js";
import { ShardTransaction } from "./transaction.js";
import type { Prepared, ToldUnseen, TransactionHost } from "./transaction-host.js";
import { UnsyncedKeys } from "./unsynced-keys.js";
import { RecentVersions } from "./versions.js";
import { largeCommitting } from "./watched-operations.js";
import type { Write } from "./write-set.js";

export class Shard implements TransactionHost<ShardTransaction> {
  readonly engine: Engine;
  readonly layers: LayeredEngine | null;
  readonly versions = new RecentVersions();
  readonly unsynced = new UnsyncedKeys();
  readonly locks = new KeyLocks();
  readonly log: CommitLog;
  readonly largeSizes: LargeCommitSizes;
  readonly unseenBytes: number;
  readonly options: ShardOptions;
  private readonly open = new OpenTransactions();
  private readonly counters = newCounters();
  /** Set: commits that need room are refused with it. */
  refusal: { readonly code: "disk_full" | "overloaded"; readonly message: string } | null = null;
  /** Told of all operations that the engine has taken, so that a cache of its entries can follow. Must not throw. */
  onApplied: ((operations: readonly Operation[]) => void) | null = null;
  /** Told of parts of loads in place of `onApplied`, if it is there: they need not be taken apart. */
  onAppliedLoad: ((part: LoadPart) => void) | null = null;
  /** Told of a large commit that the log has on disk, before the engine takes any of it; it has all earlier ones. */
  onLarge: ((commit: LargeCommitMade) => void) | null = null;
  /** Loads that the engine did not have when the shard was opened. */
  replayed: readonly ReplayedLoad[] = [];
  /** Null while nobody follows any changes. */
  watcher: CommitWatcher | null = null;
  committedSequence = 0;
  appliedSequence = 0;
  durableSequence = 0;
  private synced = 0;
  /** The newest commit in the log. */
  private appended = 0;
  private readonly large: LargeCommits<ShardTransaction>;
  /** Commits of this turn. */
  private turn: Commit[] = [];
  private prunedTo = 0;
  /** A commit that the engine has not applied orders that the past of a tenant is kept, or makes a branch. */
  private hasLayerRecord = false;
  private failure: DbError | null = null;
  private isClosed = false;
  private syncing: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;
  readonly trim: LogTrim;
  private readonly clock: CommitClock;

  /** Replays what the engine lacks from the log. The shard owns both, and closes them if it cannot be opened. */
  static async open(options: ShardOptions): Promise<Shard> {
    const shard = new Shard(options);
    try {
      shard.appliedSequence = appliedBy(options.engine);
      const { engine, log } = options;
      shard.replayed = await recoverEngine(engine, log, () => shard.clock.now(), shard.writeEngine.bind(shard));
      options.layers?.recovered(shard.appliedSequence);
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
    shard.clock.newest = options.log.lastMicros;
    return shard;
  }

  private constructor(options: ShardOptions) {
    this.options = options;
    this.engine = options.engine;
    this.layers = options.layers ?? null;
    this.log = options.log;
    this.largeSizes = options.largeSizes ?? LARGE_COMMIT_SIZES;
    this.unseenBytes = options.unseenBytes ?? UNSEEN_BYTES;
    this.large = new LargeCommits(this.hostOfLarge());
    this.trim = new LogTrim(this.log, this.engine);
    this.clock = new CommitClock(options.now);
  }

  private hostOfLarge(): LargeCommitsHost {
    const shard = this;
    return {
      engine: this.engine,
      layers: this.layers,
      versions: this.versions,
      sizes: this.largeSizes,
      get synced() {
        return shard.synced;
      },
      begins: (commit) => this.onLarge?.(commit),
      isNewTo: (sequence) => this.open.oldest !== null && this.open.oldest.since < sequence,
      writeSequence: (sequence) => this.writeEngine([], sequence),
      written: (operations) => this.noteWritten(operations),
      spared: (entries) => this.trim.written(-entries),
      applied: () => this.largeApplied(),
      fail: (error) => this.fail(error),
    };
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
    const readOnly = this.options.follows === true || (options?.readOnly ?? false);
    const transaction = new ShardTransaction(this, readOnly, options?.isolation ?? "serializable");
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
      if (this.large.isEmpty && this.options.applyWhen !== "durable") this.apply();
    } catch (error) {
      this.fail(error);
      return;
    }
    this.counters.flushes++;
    this.startSync();
    if (this.options.durability !== undefined && this.options.durability !== "fsync") this.durable(this.appended);
    this.endOldestBeyondMemory();
    this.trim.flushed(this.synced);
  }

  /** Flushes, waits until all is durable, and closes log and engine. Open transactions end with shutting_down. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.flush();
    this.isClosed = true;
    this.open.endAll(new DbError("shutting_down"));
    if (this.timer !== null) clearTimeout(this.timer);
    await this.syncing;
    // What was appended meanwhile; the engine gets it only then.
    while (this.options.applyWhen === "durable" && this.syncing !== null) await this.syncing;
    try {
      if (this.hasBacklog) {
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
    const micros = this.clock.next();
    const sequence = this.committedSequence + 1;
    const before = this.watcher?.committing(sequence, micros, writes);
    this.takeCommit(this.clock.followed({ sequence, micros, operations: writes }, before), writes);
    return sequence;
  }

  /**
   * Takes another node's next commit, which has no parts. Transactions end that may read what it removes for good.
   */
  follow(commit: Commit): void {
    this.checkUsable();
    if (commit.operations.some((operation) => rangeClearedBy(operation) !== null)) this.open.endAll(snapshotNotKept());
    this.clock.advance(lastMicrosOf(commit));
    const writes = commit.operations.map(({ key, value }) => ({ key, value, text: keyText(key) }));
    this.takeCommit(commit, writes);
  }

  private takeCommit(commit: Commit, writes: readonly (Operation & { readonly text: string })[]): void {
    const { sequence, micros } = commit;
    this.committedSequence = sequence;
    this.versions.add(sequence, writes, micros);
    this.unsynced.add(sequence, writes);
    if (this.layers !== null && writes.some(({ key }) => isRecordKey(key))) this.hasLayerRecord = true;
    this.turn.push(commit);
    this.counters.commits++;
  }

  /** For transactions only: a commit whose operations are in the log already; its maps can be kept as they are. */
  commitLarge(sources: LargeCommitMade["sources"], { parts, late, ahead }: Prepared, unseen: ToldUnseen | null) {
    this.checkUsable();
    // The engine takes commits in order: those before this one now.
    this.flush();
    this.checkUsable();
    const micros = this.clock.next();
    const sequence = this.committedSequence + 1;
    // A storage that no definition names is not watched.
    const before = unseen === null ? largeCommitting(this.watcher, { sequence, micros }, sources) : undefined;
    this.committedSequence = sequence;
    if (unseen !== null || this.large.isEmpty) {
      if (unseen === null) this.versions.addLarge({ sequence, sources }, ahead.knownKeys(late.values()));
      this.large.take({ sequence, micros, sources, parts }, unseen);
    } else this.versions.addEach(sequence, textOperationsOf(sources), sources, micros);
    this.unsynced.addAll(sequence);
    this.turn.push(this.clock.followed({ sequence, micros, operations: [...late.values()], parts }, before));
    this.counters.commits++;
    return sequence;
  }

  /** A large commit waits for the engine to take it: call `applySome` now and then. */
  get hasBacklog(): boolean {
    return !this.large.isEmpty;
  }

  /** False: `applySome` would do nothing now. */
  get canApplySome(): boolean {
    return this.large.canApplySome;
  }

  /** Resolves when `applySome` has something to do, or there is no backlog any more. */
  backlogReady(): Promise<void> {
    return this.large.ready();
  }

  largeCommitDone(): Promise<void> {
    return this.large.done();
  }

  takeLargeTurn(transaction: ShardTransaction): Promise<void> {
    return this.large.takeTurn(transaction);
  }

  /** Lets the engine take some operations of the large commit, once that is on disk. Never throws. */
  applySome(): void {
    this.large.applySome();
  }

  private largeApplied(): void {
    this.versions.largeApplied(this.appliedSequence);
    if (this.options.applyWhen === "durable") {
      this.applyDurable();
      this.prune();
      return;
    }
    // Commits of a turn that has not ended are not in the log yet; its end applies them.
    if (this.turn.length === 0 && this.versions.hasPending) this.apply();
    else this.prune();
  }

  hasOtherWriters(transaction: ShardTransaction): boolean {
    return this.open.hasWriterBeside(transaction);
  }

  conflicted(): void {
    this.counters.conflicts++;
  }

  refreshed(transaction: ShardTransaction, wasOpen = true): void {
    if (wasOpen) this.open.remove(transaction);
    this.open.add(transaction);
    this.prune();
  }

  ended(transaction: ShardTransaction): void {
    this.open.remove(transaction);
    this.large.leave(transaction);
    this.prune();
  }

  private checkUsable(): void {
    if (this.isClosed) throw new DbError("shutting_down");
    if (this.failure !== null) throw new DbError("partition_unavailable", this.failure.message);
  }

  /** The time of the newest change; every later one has a greater. */
  get lastMicros(): number {
    return this.clock.newest;
  }

  /** Later changes get greater times than that one. */
  advanceTime(micros: number): void {
    this.clock.advance(micros);
  }

  /** What the newest commit left under the key. */
  newestOf(key: Uint8Array): Uint8Array | undefined {
    const recent = this.versions.size === 0 ? undefined : this.versions.valueOf(keyText(key), this.committedSequence);
    return recent === undefined ? this.engine.get(key) : (recent ?? undefined);
  }

  /** The engine takes the turn's commits, and recent versions that no reader needs are dropped. */
  private apply(): void {
    const hasReaders = this.open.oldest !== null;
    this.applyUpTo(this.committedSequence, hasReaders);
    if (hasReaders) return void this.prune();
    this.versions.clear();
    this.prunedTo = this.appliedSequence;
  }

  /** The engine takes what has become durable, up to a large commit, which it takes in its own time. */
  private applyDurable(): void {
    const upTo = this.large.before(this.synced);
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
    if (sequence !== null) this.trim.applied(sequence);
  }

  private noteWritten(operations: OperationPart): void {
    if (!(operations instanceof LoadPart)) this.onApplied?.(operations);
    else if (this.onAppliedLoad !== null) this.onAppliedLoad(operations);
    else this.onApplied?.([...operations]);
    this.trim.written(operations.length);
  }

  /** False: there are more that nobody needs. */
  private prune(): boolean {
    if (this.versions.size === 0) return true;
    const floor = this.open.oldest?.floor ?? this.appliedSequence;
    if (floor > this.prunedTo && this.versions.prune(floor)) this.prunedTo = floor;
    return floor <= this.prunedTo;
  }

  private endOldestBeyondMemory(): void {
    const max = this.options.versionBytesMax ?? VERSION_BYTES_MAX;
    while (this.versions.bytes > max && this.open.oldest !== null) {
      if (!this.prune()) continue;
      this.open.oldest.abort(snapshotNotKept());
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
    this.large.undo(first, error);
    this.versions.undo(first);
    this.unsynced.undo(first);
    this.watcher?.undone(first);
    this.committedSequence = first - 1;
    this.open.endThoseOf(first, error);
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
    countSync(this.counters, start);
    this.synced = upTo;
    if (this.options.applyWhen === "durable" && !this.takesDurable()) return;
    this.large.wake();
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
    this.unsynced.synced(sequence);
    this.options.onDurable?.(sequence);
  }

  private fail(cause: unknown): void {
    if (this.failure !== null) return;
    const error = cause instanceof DbError ? cause : new DbError("internal_error", `The shard failed: ${cause}`);
    this.failure = error;
    this.turn = [];
    this.large.end(new DbError("partition_unavailable", error.message));
    this.open.endAll(new DbError("partition_unavailable", error.message));
    this.options.onFailed?.(error);
  }
}
