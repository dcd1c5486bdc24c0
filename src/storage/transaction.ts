/**
 * Transactions on a shard: a snapshot, own writes in memory, validation at commit (optimistic concurrency control with
 * backward validation; Kung and Robinson 1981). Made by Shard.begin, owned by its beginner; the shard lists open ones.
 */

import { DbError, sqlError } from "../protocol/errors.js";
import type { LockStrength } from "../protocol/lock-strength.js";
import { type CheckedTurns, unlessStopped } from "../protocol/turns.js";
import { boundOf } from "./cursor-bound.js";
import { FollowedRanges } from "./followed-ranges.js";
import { FrozenTransaction } from "./frozen-transaction.js";
import { KeyHolder } from "./key-locks.js";
import { prefixRange } from "./keys.js";
import { writeAhead } from "./large-commit.js";
import type { Load } from "./load.js";
import { LookAhead, type PreparedCommit } from "./look-ahead.js";
import type { MergedCursor } from "./merged-cursor.js";
import { keyText } from "./ordered-map.js";
import { RunsAhead } from "./runs-ahead.js";
import { correctionsOf, openCursor, type SnapshotView, valuesOf, writtenIn } from "./snapshot-view.js";
import type { CommitGuard, Corrections, Cursor, KeyRange, NewerEntries, RangeFollower, Transaction } from "./store.js";
import type { BytesShare, HeldBytes, RunFile, RunLog } from "./stored-run.js";
import type { ToldUnseen, TransactionHost } from "./transaction-host.js";
import { conflictOf, ValidatedReads } from "./validated-reads.js";
import { type Write, WriteSet } from "./write-set.js";

/**
 * serializable: nothing that was read or written may have changed. snapshot and repeatable read: nothing that was
 * written. The other two: the same, but each statement reads a snapshot of its own (`refresh`).
 */
export type Isolation = "serializable" | "snapshot" | "repeatable read" | "read committed" | "read uncommitted";

const NO_LOADS: readonly Load[] = [];
type Ending = Pick<DbError, "code" | "message" | "details">;

const ENDED: Ending = { code: "transaction_aborted", message: "The transaction has ended.", details: undefined };

export class ShardTransaction implements Transaction {
  snapshot: number;
  /** The engine's sequence at the snapshot; recent versions above it must stay in memory. */
  floor: number;
  /** The oldest snapshot that it reads. */
  since: number;
  /** The newest commit that it has read which was not on disk then, or one that is newer. */
  newestSeen = 0;
  /** Neighbours in the shard's list of open transactions. */
  older: ShardTransaction | null = null;
  newer: ShardTransaction | null = null;
  private reads: ValidatedReads;
  /** In them others' changes are followed until the commit; null: there are none. */
  followed: FollowedRanges | null = null;
  private isHeld = false;
  /** No commit up to here can conflict. */
  validFrom: number;
  /** Why it is not open any more. */
  private end: Ending | null = null;
  /** What it wrote; null: nothing so far. Read by branch-room.ts. */
  own: WriteSet | null = null;
  /** What is in the log already, and the writes since. */
  private prepared: PreparedCommit<Write> | null = null;
  /** What it writes into the log before; null: nothing. */
  private ahead: RunsAhead | null = null;
  /** What it holds against others; null: it takes nothing, and is validated at its commit. */
  private holder: KeyHolder | null = null;
  /** Whom to tell how it ended; null: nobody. */
  private endings: ((hasCommitted: boolean) => void)[] | null = null;
  private hasCommitted = false;
  /** Of a commit of rows that nobody else can look for (commit-unseen.ts); null: all can. */
  unseen: ToldUnseen | null = null;
  private cursors: Set<MergedCursor> | null = null;

  constructor(
    private readonly host: TransactionHost<ShardTransaction>,
    public readOnly: boolean,
    public isolation: Isolation,
  ) {
    this.snapshot = host.committedSequence;
    this.floor = host.appliedSequence;
    this.since = this.snapshot;
    this.validFrom = this.snapshot;
    this.reads = new ValidatedReads(isolation === "serializable" && !readOnly);
  }

  get dirty(): boolean {
    return this.own !== null && !this.own.isEmpty;
  }

  private get writeSet(): WriteSet {
    this.own ??= new WriteSet();
    return this.own;
  }

  get writtenBytes(): number {
    return this.own?.size ?? 0;
  }

  get isOpen(): boolean {
    return this.end === null;
  }

  /** Read committed: from now on sees everything that is committed. Cursors that are open keep what they see. */
  refresh(): void {
    this.requireOpen();
    if (this.followed?.tryFinish() === false) return;
    this.snapshot = this.host.committedSequence;
    if (this.dirty || this.isHeld || this.reads.isGuarded || (this.cursors !== null && this.cursors.size > 0)) return;
    this.floor = this.host.appliedSequence;
    this.since = this.snapshot;
    this.validFrom = this.snapshot;
    this.host.refreshed(this);
  }

  /** Once it has ended: another one takes its place, for all who hold it. */
  reopen({ readOnly, isolation }: Pick<ShardTransaction, "readOnly" | "isolation">): void {
    this.readOnly = readOnly;
    this.isolation = isolation;
    this.reads = new ValidatedReads(isolation === "serializable" && !readOnly);
    this.isHeld = false;
    this.holder = null;
    this.unseen = null;
    this.hasCommitted = false;
    this.end = null;
    this.snapshot = this.host.committedSequence;
    this.floor = this.host.appliedSequence;
    this.since = this.snapshot;
    this.validFrom = this.snapshot;
    this.host.refreshed(this, false);
  }

  /** What `frozen` gave stays readable however often the transaction refreshes. */
  holdSnapshot(): void {
    this.isHeld = true;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.requireOpen();
    const found = this.inMemory(key);
    return found === undefined ? this.host.engine.get(key) : (found ?? undefined);
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    this.requireOpen();
    return valuesOf(this.host.engine, keys, (key) => this.inMemory(key));
  }

  scan(range: KeyRange): Cursor {
    return this.scanRange(range, this.view());
  }

  greatestKey(prefix: Uint8Array): Uint8Array | null {
    const range: KeyRange = { ...prefixRange(prefix, true), only: "keys" };
    const greatest = boundOf(this.scanRange(range, this.view(), false));
    return greatest === null ? null : Buffer.from(greatest);
  }

  private scanRange(range: KeyRange, view: SnapshotView, isRead = true): Cursor {
    this.requireOpen();
    this.newestSeen = this.host.committedSequence;
    const reads = isRead && !this.reads.isUnread ? this.reads.noted(this.snapshot) : null;
    this.cursors ??= new Set();
    const { cursors } = this;
    const cursor = openCursor(this.host, view, range, reads?.addRange(range) ?? null, (closed) => {
      cursors.delete(closed);
    });
    cursors.add(cursor);
    return cursor;
  }

  get seesEngine(): boolean {
    return !this.dirty && this.engineIsCurrent(this.snapshot);
  }

  private engineIsCurrent(snapshot: number): boolean {
    const { committedSequence, appliedSequence } = this.host;
    return snapshot === committedSequence && committedSequence === appliedSequence;
  }

  corrections(range: KeyRange, newer: NewerEntries): Corrections {
    return this.correctionsIn(range, newer, this.view());
  }

  correctionsUnread(range: KeyRange, newer: NewerEntries): Corrections {
    return this.correctionsIn(range, newer, this.view(), false);
  }

  noteRead(range: KeyRange, isRead = true): boolean {
    this.newestSeen = this.host.committedSequence;
    const read = isRead ? this.reads.noted(this.snapshot)?.addRange(range) : undefined;
    if (read === undefined) return false;
    read.finished = true;
    read.closed = true;
    return true;
  }

  private correctionsIn(range: KeyRange, newer: NewerEntries, view: SnapshotView, isRead = true): Corrections {
    this.requireOpen();
    const corrections = correctionsOf(this.host.versions, view, range, newer);
    this.noteRead(range, isRead);
    return corrections;
  }

  /** What it sees now. */
  private view(): SnapshotView {
    return { writes: this.own?.inOrder() ?? null, loads: this.own?.loads ?? NO_LOADS, snapshot: this.snapshot };
  }

  isAloneIn({ gte, lt }: KeyRange): boolean {
    this.requireOpen();
    const { host, snapshot } = this;
    if (host.hasOtherWriters(this)) return false;
    return host.committedSequence === snapshot || !host.versions.isRangeChanged(keyText(gte), keyText(lt), snapshot);
  }

  frozen(isRead = true): Transaction {
    this.requireOpen();
    const { writes: own, loads, snapshot } = this.view();
    for (const load of loads) load.isFrozen = true;
    const writes = own?.clone() ?? null;
    const view = { writes, loads, snapshot };
    return new FrozenTransaction(snapshot, {
      get: (key) => {
        this.requireOpen();
        const text = keyText(key);
        const written = writtenIn(view, key, text);
        if (written !== undefined) return written ?? undefined;
        const recent = () => this.recent(key, text, snapshot);
        const found = isRead ? recent() : this.unread(recent);
        return found === undefined ? this.host.engine.get(key) : (found ?? undefined);
      },
      scan: (range) => this.scanRange(range, view, isRead),
      corrections: (range, newer, isNoted) => this.correctionsIn(range, newer, view, isRead && isNoted),
      noteRead: (range) => this.noteRead(range, isRead),
      seesEngine: () => writes === null && loads.length === 0 && this.engineIsCurrent(snapshot),
      requireOpen: () => this.requireOpen(),
    });
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.write(key, value);
  }

  delete(key: Uint8Array): void {
    this.write(key, null);
  }

  beginLoad(): Load | null {
    this.checkWritable();
    return this.prepared === null ? this.writeSet.beginLoad(this.snapshot) : null;
  }

  get storesLoads(): boolean {
    return this.host.log.takesAnySize;
  }

  holdFile<F extends RunFile>(open: (held: HeldBytes) => F): F {
    this.checkWritable();
    return this.writeSet.holdFile(open);
  }

  logAhead(prefix: Uint8Array, shareOf: (held: HeldBytes) => BytesShare): RunLog | null {
    this.checkWritable();
    this.ahead ??= new RunsAhead(this.host, () => this.requireOpen());
    return this.prepared === null ? this.ahead.begin(prefix, this.writeSet, shareOf) : null;
  }

  attach(load: Load): void {
    this.checkWritable();
    this.writeSet.attach(load, (key, value) => this.write(key, value));
  }

  guardReads(on: boolean): void {
    if (!this.readOnly) this.reads.guard(on);
  }

  guardBy(guard: CommitGuard): void {
    this.reads.guardBy(guard, this.dirty ? this.own : null);
  }

  follow(range: Pick<KeyRange, "gte" | "lt">, follower: RangeFollower): void {
    this.holdSnapshot();
    this.followed ??= new FollowedRanges(this.host, this);
    this.undoes(this.followed.add(range, this.snapshot, follower));
  }

  noteFound(key: Uint8Array): boolean {
    // If all reads are validated, so is the one that found it.
    return (this.isolation === "serializable" ? this.own?.valueOf(key, keyText(key)) : this.inMemory(key)) !== null;
  }

  isOwn(text: string, key: Uint8Array): boolean {
    return this.own?.valueOf(key, text) !== undefined;
  }

  unread<T>(read: () => T): T {
    return this.reads.unread(read);
  }

  expectFound<T>(read: () => T): T {
    return this.reads.expectFound(read);
  }

  savepoint(): number {
    this.requireOpen();
    return this.writeSet.savepoint();
  }

  rollbackTo(savepoint: number): void {
    this.dropPrepared();
    this.requireOpen();
    this.reads.endGuards();
    this.writeSet.rollbackTo(savepoint, this.cursors !== null && this.cursors.size > 0);
  }

  release(savepoint: number): void {
    this.requireOpen();
    this.writeSet.release(savepoint);
  }

  /** Throws serialization_failure, after which the transaction has ended, when it must be run again. */
  commit(): number {
    this.requireOpen();
    const { host, snapshot } = this;
    if (!this.dirty) return this.succeeded(snapshot);
    try {
      this.followed?.finish();
    } catch (error) {
      this.finish(ENDED);
      throw error;
    }
    const { writes, loads } = this.writeSet;
    const conflict =
      (host.committedSequence === this.validFrom ? null : conflictOf(this.reads, this, host, this.prepared)) ??
      host.locks.conflictOver(writes, loads, this.holder);
    if (conflict !== null) {
      host.conflicted();
      this.finish(ENDED);
      throw conflict;
    }
    this.refuseGrowth();
    return this.succeeded(this.commitWrites());
  }

  private succeeded(sequence: number): number {
    this.hasCommitted = true;
    this.finish(ENDED);
    return sequence;
  }

  /** Throws where the commit needs room. */
  private refuseGrowth(): void {
    const { refusal } = this.host;
    if (refusal === null || this.own === null || this.own.growth <= 0) return;
    this.finish(ENDED);
    throw new DbError(refusal.code, refusal.message);
  }

  private commitWrites(): number {
    const { host, prepared, writeSet } = this;
    this.prepared = null;
    if (prepared === null && this.unseen === null) return host.commit(writeSet.operations());
    const sequence = host.commitLarge(writeSet.sources(), prepared!, this.unseen);
    writeSet.isKept = true;
    return sequence;
  }

  /** The commit is large: `prepareCommit` should be awaited before `commit`. */
  get isLarge(): boolean {
    if (this.prepared !== null) return false;
    return this.unseen !== null || this.own?.isLarge(this.host.largeSizes, this.host.layers) === true;
  }

  /**
   * Writes the operations into the log ahead of the commit, in turns. So `commit` itself takes no time, and others can
   * commit in between. Nothing else may be done with the transaction until it resolves; then a few more writes may
   * follow. Rejects if it has been ended or the disk is full.
   */
  async prepareCommit(turns: CheckedTurns): Promise<void> {
    this.requireOpen();
    if (!this.isLarge) return;
    await this.followed?.catchUp(turns);
    const { host, writeSet } = this;
    this.refuseGrowth();
    const parts = this.ahead?.take(writeSet.loads) ?? host.log.beginParts();
    const ahead = new LookAhead(writeSet, host, this.validFrom, this.unseen !== null);
    this.prepared = { parts, late: new Map(), ahead };
    await writeAhead(host.log, parts, writeSet, host.largeSizes, turns, () => this.requireOpen());
    await ahead.goOn(turns, () => this.requireOpen());
    // The engine takes one large commit at a time; the one before may be with it still.
    await unlessStopped(host.takeLargeTurn(this), turns);
    ahead.restart();
    await ahead.goOn(turns, () => this.requireOpen());
    // What was committed while the parts were written.
    await this.followed?.catchUp(turns);
  }

  private dropPrepared(): void {
    this.ahead?.drop();
    if (this.prepared === null) return;
    this.host.log.dropParts(this.prepared.parts);
    this.prepared = null;
  }

  rollback(): void {
    if (this.end === null) this.finish(ENDED);
  }

  /** Ended by the shard: every later call throws `reason`. */
  abort(reason: DbError): void {
    if (this.end === null) this.finish(reason);
  }

  requireOpen(): void {
    if (this.end !== null) throw new DbError(this.end.code, this.end.message, this.end.details);
  }

  /** The value if memory knows it: null when the key is absent; undefined when the engine must be asked. */
  private inMemory(key: Uint8Array): Uint8Array | null | undefined {
    let text: string | null = null;
    if (this.own !== null) {
      text = keyText(key);
      const written = this.own.valueOf(key, text);
      if (written !== undefined) return written;
    }
    return this.recent(key, text, this.snapshot);
  }

  /** The same without the transaction's own writes. */
  private recent(key: Uint8Array, text: string | null, snapshot: number): Uint8Array | null | undefined {
    if (!this.reads.isUnread) this.reads.addKey(key, this.snapshot);
    const { versions, unsynced } = this.host;
    if (versions.size === 0 && unsynced.isEmpty) return undefined;
    const known = text ?? keyText(key);
    this.newestSeen = Math.max(this.newestSeen, unsynced.seenAt(known));
    return versions.size === 0 ? undefined : versions.valueOf(known, snapshot);
  }

  private checkWritable(): void {
    this.requireOpen();
    if (this.readOnly) throw sqlError("25006", "cannot write in a read-only transaction");
  }

  /** From now on what it writes is held against others (key-locks.ts). `owner`: whoever runs it. */
  takeKeys(owner: object): void {
    const { locks, versions } = this.host;
    if (this.readOnly) return;
    this.holder ??= new KeyHolder(locks, (text, snapshot) => versions.isChanged(text, snapshot), owner);
  }

  /** Calls back once when it has ended, whoever ended it. */
  whenEnded(call: (hasCommitted: boolean) => void): void {
    this.requireOpen();
    this.endings ??= [];
    this.endings.push(call);
  }

  /** Takes back what was done, at a rollback to a savepoint; when the transaction ends, `whenEnded` sees to it. */
  undoes(undo: () => void): void {
    this.requireOpen();
    this.writeSet.undoes(undo);
  }

  /** Null: it holds nothing. */
  get keys(): KeyHolder | null {
    return this.holder;
  }

  lockKey(key: Uint8Array, strength: LockStrength, skips: boolean): boolean {
    const { holder } = this;
    if (holder === null) return this.reads.guardKey(key, this.snapshot);
    const text = keyText(key);
    if (skips && holder.isHeldByAnother(text, strength)) return false;
    if (this.own?.writes.has(text) !== true) holder.take(text, this.snapshot, strength);
    return true;
  }

  private write(key: Uint8Array, value: Uint8Array | null): void {
    this.checkWritable();
    const text = keyText(key);
    const { writeSet } = this;
    if (this.holder !== null && !writeSet.writes.has(text)) this.holder.take(text, this.snapshot);
    const write = writeSet.write(key, text, value, this.snapshot);
    this.prepared?.late.set(text, write);
  }

  private finish(reason: Ending): void {
    this.end = reason;
    this.dropPrepared();
    if (this.cursors !== null) for (const cursor of [...this.cursors]) cursor.close();
    this.cursors = null;
    this.own?.closeFiles();
    this.own = null;
    this.followed = null;
    this.holder?.release();
    this.host.ended(this);
    const endings = this.endings ?? [];
    this.endings = null;
    for (const call of endings) call(this.hasCommitted);
  }
}
