/**
 * Transactions on a shard: one snapshot, the transaction's own writes in memory, validation at commit (optimistic
 * concurrency control with backward validation; Kung and Robinson 1981). Made by Shard.begin, owned by whoever began
 * it, and listed by the shard while they are open.
 */

import { DbError, sqlError } from "../protocol/errors.js";
import { LOAD_BYTES_MAX, TRANSACTION_BYTES_MAX } from "../protocol/limits.js";
import type { LockStrength } from "../protocol/lock-strength.js";
import type { CheckedTurns } from "../protocol/turns.js";
import type { CommitLog, CommitParts } from "./commit-log.js";
import type { Engine } from "./engine.js";
import { FollowedRanges } from "./followed-ranges.js";
import { FrozenTransaction } from "./frozen-transaction.js";
import { growthOf } from "./growth.js";
import { KeyConflict, KeyHolder, type KeyLocks } from "./key-locks.js";
import { prefixRange } from "./keys.js";
import { type LargeCommitSizes, partsOf, writeParts } from "./large-commit.js";
import { findInLoads, Load } from "./load.js";
import { MergedCorrections, MergedCursor, versionOverlays, writeOverlay } from "./merged-cursor.js";
import { type Operation, sizeOf } from "./operation.js";
import { createOrderedMap, keyText, type OrderedMap } from "./ordered-map.js";
import type { OperationPart } from "./packed-operations.js";
import { ReadSet } from "./read-set.js";
import type { Corrections, Cursor, KeyRange, NewerEntries, RangeFollower, Transaction } from "./store.js";
import type { LargeSource, RecentVersions, WritesByKey } from "./versions.js";

/**
 * serializable: nothing that was read or written may have changed. snapshot and repeatable read: nothing that was
 * written. The other two: the same, but each statement reads a snapshot of its own (`refresh`).
 */
export type Isolation = "serializable" | "snapshot" | "repeatable read" | "read committed" | "read uncommitted";

export interface Write extends Operation {
  readonly text: string;
  /** What the transaction saw when it first wrote the key. */
  readonly snapshot: number;
}

/** The shard, as its transactions see it. */
export interface TransactionHost {
  readonly engine: Engine;
  readonly versions: RecentVersions;
  readonly committedSequence: number;
  /** Newest sequence that the engine has applied. */
  readonly appliedSequence: number;
  readonly log: CommitLog;
  readonly largeSizes: LargeCommitSizes;
  readonly locks: KeyLocks;
  commit(writes: readonly Write[]): number;
  /**
   * `parts` holds all of the writes but those in `late`. The maps are the host's from now on; where two sources have a
   * key, the earlier one counts.
   */
  commitLarge(sources: readonly LargeSource[], parts: CommitParts, late: readonly Write[]): number;
  /** Resolves when the engine has taken the large commit before, if there is one. */
  largeCommitDone(): Promise<void>;
  conflicted(): void;
  /** Set: what needs room on the disk is refused with this error. */
  readonly refusal: { readonly code: "disk_full" | "overloaded"; readonly message: string } | null;
  /** Whether another open transaction may write. */
  hasOtherWriters(transaction: ShardTransaction): boolean;
  /** The transaction moves to the end of the list of open ones. */
  refreshed(transaction: ShardTransaction): void;
  ended(transaction: ShardTransaction): void;
}

/** Loads of a transaction; further ones go the usual way, since every read looks into each. */
const LOADS_MAX = 16;
/** Single writes beside which a load may still be attached. */
const WRITES_BESIDE_MAX = 1000;
interface Undo {
  readonly text: string;
  readonly before: Write | undefined;
}

interface Savepoint {
  readonly id: number;
  readonly loads: number;
  readonly undoLength: number;
}

const NO_WRITES: ReadonlyMap<string, Write> = new Map();

type Ending = Pick<DbError, "code" | "message" | "details">;

const ENDED: Ending = { code: "transaction_aborted", message: "The transaction has ended.", details: undefined };

export class ShardTransaction implements Transaction {
  readonly readOnly: boolean;
  readonly isolation: Isolation;
  snapshot: number;
  /** The engine's sequence at the snapshot; recent versions above it must stay in memory. */
  floor: number;
  /** The oldest snapshot that it reads. */
  since: number;
  /** Neighbours in the shard's list of open transactions. */
  older: ShardTransaction | null = null;
  newer: ShardTransaction | null = null;
  private readonly host: TransactionHost;
  private readonly reads: ReadSet | null;
  /** Reads that are validated whatever the isolation (`guardReads`), and the oldest snapshot that they were made on. */
  private guarded: ReadSet | null = null;
  private guardedFrom = 0;
  /** How many have asked for it. */
  private guarding = 0;
  /** What others change in them is followed until the commit; null: there are none. */
  private followed: FollowedRanges | null = null;
  /** What is read now does not count as read. */
  private isUnread = false;
  private isHeld = false;
  /** No commit up to here can conflict. */
  private validFrom: number;
  /** Why it is not open any more. */
  private end: Ending | null = null;
  private writes: Map<string, Write> | null = null;
  /** Writes beneath those, oldest first. */
  private loads: Load[] = [];
  /** The writes in order; made by the first scan that may meet one. */
  private ordered: OrderedMap<Write> | null = null;
  private bytes = 0;
  /** The part that is in the log already, and the writes since. */
  private prepared: {
    readonly parts: CommitParts;
    readonly late: Map<string, Write>;
  } | null = null;
  private undo: Undo[] = [];
  private savepoints: Savepoint[] = [];
  private nextSavepoint = 1;
  /** What it holds against others; null: it takes nothing, and is validated at its commit. */
  private holder: KeyHolder | null = null;
  /** Whom to tell how it ended; null: nobody. */
  private endings: ((hasCommitted: boolean) => void)[] | null = null;
  private hasCommitted = false;
  /** How to take back what was done outside of storage, with how many savepoints were set then. Oldest first. */
  private outside: { readonly undo: () => void; depth: number }[] = [];
  private cursors: Set<MergedCursor> | null = null;

  constructor(host: TransactionHost, readOnly: boolean, isolation: Isolation) {
    this.host = host;
    this.readOnly = readOnly;
    this.isolation = isolation;
    this.snapshot = host.committedSequence;
    this.floor = host.appliedSequence;
    this.since = this.snapshot;
    this.validFrom = this.snapshot;
    this.reads = isolation === "serializable" && !readOnly ? new ReadSet() : null;
  }

  get dirty(): boolean {
    return (this.writes !== null && this.writes.size > 0) || this.loads.length > 0;
  }

  get isOpen(): boolean {
    return this.end === null;
  }

  /** Read committed: from now on sees everything that is committed. Cursors that are open keep what they see. */
  refresh(): void {
    this.checkOpen();
    this.followed?.finish(Number.POSITIVE_INFINITY);
    this.snapshot = this.host.committedSequence;
    if (this.dirty || this.isHeld || (this.cursors !== null && this.cursors.size > 0)) return;
    this.floor = this.host.appliedSequence;
    this.since = this.snapshot;
    this.validFrom = this.snapshot;
    this.host.refreshed(this);
  }

  /** What `frozen` gave stays readable however often the transaction refreshes. */
  holdSnapshot(): void {
    this.isHeld = true;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.checkOpen();
    const found = this.inMemory(key);
    return found === undefined ? this.host.engine.get(key) : (found ?? undefined);
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    this.checkOpen();
    const values = new Array<Uint8Array | undefined>(keys.length);
    const missing: number[] = [];
    for (let i = 0; i < keys.length; i++) {
      const found = this.inMemory(keys[i]!);
      if (found === undefined) missing.push(i);
      else values[i] = found ?? undefined;
    }
    if (missing.length === keys.length) return this.host.engine.getMany(keys);
    if (missing.length === 0) return values;
    const stored = this.host.engine.getMany(missing.map((i) => keys[i]!));
    for (let j = 0; j < missing.length; j++) values[missing[j]!] = stored[j];
    return values;
  }

  scan(range: KeyRange): Cursor {
    return this.scanRange(range, this.orderedWrites(), this.loads, this.snapshot);
  }

  greatestKey(prefix: Uint8Array): Uint8Array | null {
    const range: KeyRange = { ...prefixRange(prefix, true), only: "keys" };
    const cursor = this.scanRange(range, this.orderedWrites(), this.loads, this.snapshot, false);
    const { keys } = cursor.next(1);
    cursor.close();
    return keys.length === 0 ? null : Buffer.from(keys[0]!);
  }

  private scanRange(
    range: KeyRange,
    writes: OrderedMap<Write> | null,
    loads: readonly Load[],
    snapshot: number,
    isRead = true,
  ): Cursor {
    this.checkOpen();
    const { engine, versions } = this.host;
    const own = ownOverlays(writes, loads, range);
    const recent = versionOverlays(versions, range, snapshot);
    const reads = isRead && !this.isUnread ? (this.reads ?? this.guardedNow()) : null;
    const read = reads === null ? null : reads.addRange(range);
    this.cursors ??= new Set();
    const cursors = this.cursors;
    const overlays = [...own, ...recent].filter((overlay) => overlay !== null);
    // Merging goes by keys, and so does what is validated.
    const needsKeys = overlays.length > 0 || read !== null;
    const cursor = new MergedCursor(
      engine.cursor(needsKeys ? { ...range, only: withKeys(range.only) } : range),
      overlays,
      range.reverse === true,
      read,
      (closed) => {
        cursors.delete(closed);
      },
    );
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
    return this.correctionsIn(range, newer, this.orderedWrites(), this.loads, this.snapshot);
  }

  correctionsUnread(range: KeyRange, newer: NewerEntries): Corrections {
    return this.correctionsIn(range, newer, this.orderedWrites(), this.loads, this.snapshot, false);
  }

  noteRead(range: KeyRange): boolean {
    const read = (this.reads ?? this.guardedNow())?.addRange(range);
    if (read === undefined) return false;
    read.finished = true;
    read.closed = true;
    return true;
  }

  private correctionsIn(
    range: KeyRange,
    newer: NewerEntries,
    writes: OrderedMap<Write> | null,
    loads: readonly Load[],
    snapshot: number,
    isRead = true,
  ): Corrections {
    this.checkOpen();
    const { versions } = this.host;
    const own = ownOverlays(writes, loads, range);
    const recent = versionOverlays(versions, range, snapshot);
    const beneath = newer.entries.size > 0 ? writeOverlay(newer.entries, range) : null;
    if (isRead) this.noteRead(range);
    return new MergedCorrections([...own, ...recent, beneath]);
  }

  isAloneIn({ gte, lt }: KeyRange): boolean {
    this.checkOpen();
    const { host } = this;
    if (host.hasOtherWriters(this)) return false;
    return (
      host.committedSequence === this.snapshot ||
      !host.versions.isRangeChanged(keyText(gte), keyText(lt), this.snapshot)
    );
  }

  requireOpen(): void {
    this.checkOpen();
  }

  frozen(isRead = true): Transaction {
    this.checkOpen();
    const writes = this.orderedWrites()?.clone() ?? null;
    const loads = [...this.loads];
    const { snapshot } = this;
    return new FrozenTransaction(snapshot, {
      get: (key) => {
        this.checkOpen();
        const text = keyText(key);
        const write = writes?.get(text);
        if (write !== undefined) return write.value ?? undefined;
        const loaded = findInLoads(loads, key);
        if (loaded !== undefined) return loaded.value ?? undefined;
        const recent = () => this.recent(key, text, snapshot);
        const found = isRead ? recent() : this.unread(recent);
        return found === undefined ? this.host.engine.get(key) : (found ?? undefined);
      },
      scan: (range) => this.scanRange(range, writes, loads, snapshot, isRead),
      corrections: (range, newer, isNoted) =>
        this.correctionsIn(range, newer, writes, loads, snapshot, isRead && isNoted),
      noteRead: (range) => isRead && this.noteRead(range),
      seesEngine: () => writes === null && loads.length === 0 && this.engineIsCurrent(snapshot),
      requireOpen: () => this.checkOpen(),
    });
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.write(key, value);
  }

  beginLoad(): Load | null {
    this.checkWritable();
    const isCrowded = this.loads.length >= LOADS_MAX || (this.writes?.size ?? 0) > WRITES_BESIDE_MAX;
    if (this.prepared !== null || isCrowded) return null;
    return new Load(this.snapshot, LOAD_BYTES_MAX - this.bytes);
  }

  attach(load: Load): void {
    this.checkWritable();
    if (!load.isSorted) throw new Error("a load is attached before it was sorted");
    // Single writes come before loads; those to the same keys were made before this one.
    for (const { key } of [...(this.writes?.values() ?? [])]) {
      const later = load.find(key);
      if (later !== undefined) this.write(key, later.value);
    }
    this.bytes += load.bytes;
    // The arrays that frozen views have stay as they are.
    this.loads = [...this.loads, load];
  }

  delete(key: Uint8Array): void {
    this.write(key, null);
  }

  /**
   * From now on reads are validated at commit at any isolation level: another transaction must not have changed what a
   * constraint depends on. Switched off with false.
   */
  guardReads(on: boolean): void {
    if (!this.readOnly) this.guarding += on ? 1 : -1;
  }

  follow(range: Pick<KeyRange, "gte" | "lt">, follower: RangeFollower): void {
    const { host } = this;
    this.holdSnapshot();
    this.followed ??= new FollowedRanges({
      versions: host.versions,
      get committedSequence() {
        return host.committedSequence;
      },
      stored: (key) => host.engine.get(key),
      isOwn: (text, key) => this.writes?.has(text) === true || findInLoads(this.loads, key) !== undefined,
    });
    this.undoes(this.followed.add(range, this.snapshot, follower));
  }

  unread<T>(read: () => T): T {
    const before = this.isUnread;
    this.isUnread = true;
    try {
      return read();
    } finally {
      this.isUnread = before;
    }
  }

  private guardedNow(): ReadSet | null {
    if (this.guarding === 0) return null;
    if (this.guarded === null) {
      this.guarded = new ReadSet();
      this.guardedFrom = this.snapshot;
    }
    return this.guarded;
  }

  savepoint(): number {
    this.checkOpen();
    const id = this.nextSavepoint++;
    this.savepoints.push({ id, loads: this.loads.length, undoLength: this.undo.length });
    return id;
  }

  rollbackTo(savepoint: number): void {
    this.dropPrepared();
    const index = this.savepointIndex(savepoint);
    this.savepoints.length = index + 1;
    this.guarding = 0;
    while ((this.outside.at(-1)?.depth ?? 0) > index) this.outside.pop()!.undo();
    const { undoLength, loads } = this.savepoints[index]!;
    for (const { bytes } of this.loads.slice(loads)) this.bytes -= bytes;
    this.loads = this.loads.slice(0, loads);
    while (this.undo.length > undoLength) {
      const { text, before } = this.undo.pop()!;
      const dropped = this.writes!.get(text)!;
      this.bytes -= sizeOf(dropped);
      if (before === undefined) {
        this.writes!.delete(text);
        this.ordered?.delete(text);
      } else {
        this.writes!.set(text, before);
        this.ordered?.set(text, before);
      }
    }
  }

  release(savepoint: number): void {
    this.savepoints.length = this.savepointIndex(savepoint);
    for (const entry of this.outside) entry.depth = Math.min(entry.depth, this.savepoints.length);
    if (this.savepoints.length > 0) return;
    for (const { before } of this.undo) if (before !== undefined) this.bytes -= sizeOf(before);
    this.undo = [];
  }

  /** Throws serialization_failure, after which the transaction has ended, when it must be run again. */
  commit(): number {
    this.checkOpen();
    if (!this.dirty) {
      this.hasCommitted = true;
      this.finish(ENDED);
      return this.snapshot;
    }
    const host = this.host;
    this.followOrEnd();
    const conflict = (host.committedSequence === this.validFrom ? null : this.conflict()) ?? this.heldByAnother();
    if (conflict !== null) {
      host.conflicted();
      this.finish(ENDED);
      throw conflict;
    }
    if (host.refusal !== null) this.refuseGrowth(host.refusal);
    const sequence = this.commitWrites();
    this.hasCommitted = true;
    this.finish(ENDED);
    return sequence;
  }

  private followOrEnd(): void {
    try {
      this.followed?.finish();
    } catch (error) {
      this.finish(ENDED);
      throw error;
    }
  }

  /** Another transaction holds what this one has written. */
  private heldByAnother(): KeyConflict | null {
    const { locks } = this.host;
    if (locks.size === 0) return null;
    const holders = locks.holdersAmong(this.writes ?? NO_WRITES, this.loads, this.holder);
    return holders.length === 0 ? null : new KeyConflict(holders);
  }

  /** Throws where the commit needs room. */
  private refuseGrowth({ code, message }: NonNullable<TransactionHost["refusal"]>): void {
    let growth = growthOf(this.writes?.values() ?? []);
    for (const load of this.loads) growth += growthOf(load.values());
    if (growth <= 0) return;
    this.finish(ENDED);
    throw new DbError(code, message);
  }

  private commitWrites(): number {
    const host = this.host;
    const prepared = this.prepared;
    this.prepared = null;
    if (prepared === null) {
      const loaded = this.loads.flatMap((load) => [...load.values()]);
      if (loaded.length === 0) return host.commit([...this.writes!.values()]);
      const writes = new Map<string, Write>();
      for (const write of loaded) writes.set(write.text, write);
      for (const write of this.writes?.values() ?? []) writes.set(write.text, write);
      return host.commit([...writes.values()]);
    }
    const own = { writes: this.writes!, ordered: this.ordered! };
    const loads = this.loads.map((load) => ({ writes: load, ordered: load })).reverse();
    return host.commitLarge([own, ...loads], prepared.parts, [...prepared.late.values()]);
  }

  /** The commit is large: `prepareCommit` should be awaited before `commit`. */
  get isLarge(): boolean {
    let size = this.writes?.size ?? 0;
    for (const load of this.loads) size += load.size;
    const { operations, bytes } = this.host.largeSizes;
    return this.prepared === null && (size >= operations || (size > 0 && this.bytes >= bytes));
  }

  /**
   * Writes the transaction's operations into the log ahead of the commit, giving the loop its turns. So `commit` itself
   * takes no time, and other transactions can commit in between. Nothing else may be done with the transaction until it
   * resolves; then a few more writes may follow. Rejects if the transaction has been ended or the disk is full.
   */
  async prepareCommit(turns: CheckedTurns): Promise<void> {
    this.checkOpen();
    if (!this.isLarge) return;
    await this.followed?.catchUp(turns);
    const host = this.host;
    if (host.refusal !== null) this.refuseGrowth(host.refusal);
    await host.largeCommitDone();
    this.checkOpen();
    this.writes ??= new Map();
    const isNew = this.ordered === null;
    const ordered = this.ordered ?? createOrderedMap<Write>();
    const parts = host.log.beginParts();
    this.prepared = { parts, late: new Map() };
    // What comes later in the log counts.
    const sizes = host.largeSizes;
    const write = (writes: Iterable<OperationPart>): Promise<void> =>
      writeParts(host.log, parts, writes, turns, () => this.checkOpen());
    for (const load of this.loads) await write(load.parts(sizes.stepOperations, sizes.stepBytes));
    await write(partsOf(isNew ? filling(ordered, this.writes.values()) : this.writes.values(), sizes));
    this.ordered = ordered;
    // What was committed while the parts were written.
    await this.followed?.catchUp(turns);
  }

  private dropPrepared(): void {
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

  private checkOpen(): void {
    if (this.end !== null) throw new DbError(this.end.code, this.end.message, this.end.details);
  }

  /** The value if memory knows it: null when the key is absent; undefined when the engine must be asked. */
  private inMemory(key: Uint8Array): Uint8Array | null | undefined {
    let text: string | null = null;
    if (this.writes !== null) {
      text = keyText(key);
      const write = this.writes.get(text);
      if (write !== undefined) return write.value;
    }
    const loaded = this.loads.length === 0 ? undefined : findInLoads(this.loads, key);
    return loaded === undefined ? this.recent(key, text, this.snapshot) : loaded.value;
  }

  /** The same without the transaction's own writes. */
  private recent(key: Uint8Array, text: string | null, snapshot: number): Uint8Array | null | undefined {
    if (!this.isUnread) (this.reads ?? this.guardedNow())?.addKey(key);
    const { versions } = this.host;
    if (versions.size === 0) return undefined;
    return versions.valueOf(text ?? keyText(key), snapshot);
  }

  private checkWritable(): void {
    this.checkOpen();
    if (this.readOnly) {
      throw sqlError("25006", "cannot write in a read-only transaction");
    }
  }

  /** Counts bytes of writes. Throws 54000 past TRANSACTION_BYTES_MAX. */
  private grow(bytes: number): void {
    if (this.bytes + bytes > TRANSACTION_BYTES_MAX) {
      throw sqlError("54000", `the transaction's changes exceed ${TRANSACTION_BYTES_MAX} bytes`);
    }
    this.bytes += bytes;
  }

  /** From now on what it writes is held against others (key-locks.ts). `owner`: whoever runs it. */
  takeKeys(owner: object): void {
    const { locks, versions } = this.host;
    if (this.readOnly) return;
    this.holder ??= new KeyHolder(locks, (text, snapshot) => versions.isChanged(text, snapshot), owner);
  }

  /** Calls back once when it has ended, whoever ended it. */
  whenEnded(call: (hasCommitted: boolean) => void): void {
    this.checkOpen();
    this.endings ??= [];
    this.endings.push(call);
  }

  /** What was done is taken back so where the transaction is rolled back to a savepoint; when it ends, `whenEnded` is to see to it. */
  undoes(undo: () => void): void {
    this.checkOpen();
    this.outside.push({ undo, depth: this.savepoints.length });
  }

  /** Null: it holds nothing. */
  get keys(): KeyHolder | null {
    return this.holder;
  }

  lockKey(key: Uint8Array, strength: LockStrength, skips: boolean): boolean {
    const { holder } = this;
    if (holder === null) return true;
    const text = keyText(key);
    if (skips && holder.isHeldByAnother(text, strength)) return false;
    if (this.writes?.has(text) !== true) holder.take(text, this.snapshot, strength);
    return true;
  }

  private write(key: Uint8Array, value: Uint8Array | null): void {
    this.checkWritable();
    const text = keyText(key);
    this.writes ??= new Map();
    if (this.holder !== null && !this.writes.has(text)) this.holder.take(text, this.snapshot);
    const before = this.writes.get(text);
    const snapshot = before?.snapshot ?? this.snapshotOfLoaded(key);
    const write = { text, key, value, snapshot };
    const isUndoable = this.savepoints.length > 0;
    this.grow(sizeOf(write) - (before === undefined || isUndoable ? 0 : sizeOf(before)));
    if (isUndoable) this.undo.push({ text, before });
    this.writes.set(text, write);
    this.ordered?.set(text, write);
    this.prepared?.late.set(text, write);
  }

  /** What the transaction saw when it first wrote the key. */
  private snapshotOfLoaded(key: Uint8Array): number {
    for (const load of this.loads) if (load.find(key) !== undefined) return load.snapshot;
    return this.snapshot;
  }

  /** Null: there are none. */
  private orderedWrites(): OrderedMap<Write> | null {
    if (this.writes === null || (this.ordered === null && this.writes.size === 0)) return null;
    if (this.ordered === null) {
      this.ordered = createOrderedMap();
      for (const write of this.writes.values()) this.ordered.set(write.text, write);
    }
    return this.ordered;
  }

  private savepointIndex(savepoint: number): number {
    this.checkOpen();
    const index = this.savepoints.findIndex(({ id }) => id === savepoint);
    if (index === -1) throw sqlError("3B001", `savepoint "${savepoint}" does not exist`);
    return index;
  }

  private conflict(): DbError | null {
    const { versions } = this.host;
    if (this.isOverwritten()) return sqlError("40001", "could not serialize access due to concurrent update");
    const overwritten =
      this.reads?.isOverwritten(versions, this.snapshot) || this.guarded?.isOverwritten(versions, this.guardedFrom);
    if (overwritten) {
      return sqlError("40001", "could not serialize access due to read/write dependencies among transactions");
    }
    return null;
  }

  /** Whether a later commit wrote what this transaction writes. */
  private isOverwritten(): boolean {
    const { versions } = this.host;
    const isOverwritten = (writes: WritesByKey<Write> | null): boolean =>
      writes !== null && versions.isOverwritten(writes, this.validFrom);
    return [this.writes, ...this.loads].some(isOverwritten);
  }

  private finish(reason: Ending): void {
    this.end = reason;
    this.dropPrepared();
    if (this.cursors !== null) for (const cursor of [...this.cursors]) cursor.close();
    this.cursors = null;
    this.writes = null;
    this.loads = [];
    this.followed = null;
    this.ordered = null;
    this.undo = [];
    this.outside = [];
    this.holder?.release();
    this.host.ended(this);
    const { endings } = this;
    if (endings === null) return;
    this.endings = null;
    for (const call of endings) call(this.hasCommitted);
  }
}

function withKeys(only: KeyRange["only"]): KeyRange["only"] {
  return only === "count" || only === "keys" ? "keys" : undefined;
}

/** What counts first, first. */
function ownOverlays(writes: OrderedMap<Write> | null, loads: readonly Load[], range: KeyRange) {
  const overlays = writes === null ? [] : [writeOverlay(writes, range)];
  for (let i = loads.length - 1; i >= 0; i--) overlays.push(writeOverlay(loads[i]!, range));
  return overlays;
}

function* filling(ordered: OrderedMap<Write>, writes: Iterable<Write>): IterableIterator<Write> {
  for (const write of writes) {
    ordered.set(write.text, write);
    yield write;
  }
}
