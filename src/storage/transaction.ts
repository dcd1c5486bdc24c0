/**
 * Transactions on a shard: one snapshot, the writes of its own in memory, validation at commit (optimistic concurrency
 * control with backward validation; Kung and Robinson 1981). Made by Shard.begin, owned by whoever began it, and
 * listed by the shard as long as they are open.
 */
import { DbError, sqlError } from "../protocol/errors.js";
import { TRANSACTION_BYTES_MAX } from "../protocol/limits.js";
import { AppendedWrites } from "./appended-writes.js";
import type { CommitLog, CommitParts } from "./commit-log.js";
import type { Engine, Operation } from "./engine.js";
import { FrozenTransaction } from "./frozen-transaction.js";
import { MergedCorrections, MergedCursor, versionOverlays, writeOverlay } from "./merged-cursor.js";
import { createOrderedMap, keyText, type OrderedEntries, type OrderedMap } from "./ordered-map.js";
import { ReadSet } from "./read-set.js";
import type { Corrections, Cursor, KeyRange, NewerEntries, Transaction } from "./store.js";
import type { RecentVersions, WritesByKey } from "./versions.js";

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
  commit(writes: readonly Write[]): number;
  /** `parts` holds all of the writes but those in `late`. The maps are the host's from now on. */
  commitLarge(
    writes: WritesByKey<Write>,
    ordered: OrderedEntries<Write>,
    parts: CommitParts,
    late: readonly Write[],
  ): number;
  /** Resolves when the engine has taken the large commit before, if there is one. */
  largeCommitDone(): Promise<void>;
  conflicted(): void;
  /** The transaction moves to the end of the list of open ones. */
  refreshed(transaction: ShardTransaction): void;
  ended(transaction: ShardTransaction): void;
}

/** How preparing a large commit gives way; an ExecContext, a request. */
export interface CommitTurns {
  checkpoint(): void;
  shouldYield(): boolean;
  yieldTurn(): Promise<void>;
}

/** Sizes that tests make small. */
export interface LargeCommitSizes {
  /** Writes, or bytes of them, from which on a commit is large. */
  readonly operations: number;
  readonly bytes: number;
  /** What goes into the log, and later into the engine, at a time. */
  readonly stepOperations: number;
  readonly stepBytes: number;
}

export const LARGE_COMMIT_SIZES: LargeCommitSizes = {
  operations: 1024,
  bytes: 1024 * 1024,
  stepOperations: 256,
  stepBytes: 128 * 1024,
};

/** Other writes that are moved to the appended ones one by one. */
const SETTLED_MAX = 1000;
/** Bytes of parts between two syncs. */
const SYNC_BYTES = 1024 * 1024;

interface Undo {
  readonly text: string;
  readonly before: Write | undefined;
}

interface Savepoint {
  readonly id: number;
  readonly undoLength: number;
}

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
  readonly #host: TransactionHost;
  readonly #reads: ReadSet | null;
  /** Reads that are validated whatever the isolation (`guardReads`), and the oldest snapshot that they were made on. */
  #guarded: ReadSet | null = null;
  #guardedFrom = 0;
  #guarding = false;
  #isHeld = false;
  /** No commit up to here can conflict. */
  #validFrom: number;
  /** Why it is not open any more. */
  #end: Ending | null = null;
  #writes: Map<string, Write> | null = null;
  /** Writes beside those: of a load. */
  #appended: AppendedWrites | null = null;
  /** The writes in order; made by the first scan that may meet one. */
  #ordered: OrderedMap<Write> | null = null;
  #bytes = 0;
  /** What stands in the log already, and the writes since. */
  #prepared: {
    readonly parts: CommitParts;
    readonly late: Map<string, Write>;
  } | null = null;
  #undo: Undo[] = [];
  #savepoints: Savepoint[] = [];
  #nextSavepoint = 1;
  #cursors: Set<MergedCursor> | null = null;

  constructor(host: TransactionHost, readOnly: boolean, isolation: Isolation) {
    this.#host = host;
    this.readOnly = readOnly;
    this.isolation = isolation;
    this.snapshot = host.committedSequence;
    this.floor = host.appliedSequence;
    this.since = this.snapshot;
    this.#validFrom = this.snapshot;
    this.#reads = isolation === "serializable" && !readOnly ? new ReadSet() : null;
  }

  get dirty(): boolean {
    return (this.#writes !== null && this.#writes.size > 0) || this.#appended !== null;
  }

  get isOpen(): boolean {
    return this.#end === null;
  }

  /** Read committed: from now on sees everything that is committed. Cursors that are open keep what they see. */
  refresh(): void {
    this.#checkOpen();
    this.snapshot = this.#host.committedSequence;
    if (this.dirty || this.#isHeld || (this.#cursors !== null && this.#cursors.size > 0)) return;
    this.floor = this.#host.appliedSequence;
    this.since = this.snapshot;
    this.#validFrom = this.snapshot;
    this.#host.refreshed(this);
  }

  /** What `frozen` gave stays readable however often the transaction refreshes. */
  holdSnapshot(): void {
    this.#isHeld = true;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    this.#checkOpen();
    const found = this.#inMemory(key);
    return found === undefined ? this.#host.engine.get(key) : (found ?? undefined);
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    this.#checkOpen();
    const values = new Array<Uint8Array | undefined>(keys.length);
    const missing: number[] = [];
    for (let i = 0; i < keys.length; i++) {
      const found = this.#inMemory(keys[i]!);
      if (found === undefined) missing.push(i);
      else values[i] = found ?? undefined;
    }
    if (missing.length === keys.length) return this.#host.engine.getMany(keys);
    if (missing.length === 0) return values;
    const stored = this.#host.engine.getMany(missing.map((i) => keys[i]!));
    for (let j = 0; j < missing.length; j++) values[missing[j]!] = stored[j];
    return values;
  }

  scan(range: KeyRange): Cursor {
    return this.#scan(range, this.dirty ? this.#orderedWrites() : null, this.snapshot);
  }

  #scan(range: KeyRange, writes: OrderedMap<Write> | null, snapshot: number): Cursor {
    this.#checkOpen();
    const { engine, versions } = this.#host;
    const own = writes === null ? null : writeOverlay(writes, range);
    const recent = versionOverlays(versions, range, snapshot);
    const reads = this.#reads ?? this.#guardedNow();
    const read = reads === null ? null : reads.addRange(range);
    this.#cursors ??= new Set();
    const cursors = this.#cursors;
    const cursor = new MergedCursor(engine.cursor(range), [own, ...recent], range.reverse === true, read, (closed) => {
      cursors.delete(closed);
    });
    cursors.add(cursor);
    return cursor;
  }

  get seesEngine(): boolean {
    return !this.dirty && this.#engineIsCurrent(this.snapshot);
  }

  #engineIsCurrent(snapshot: number): boolean {
    const { committedSequence, appliedSequence } = this.#host;
    return snapshot === committedSequence && committedSequence === appliedSequence;
  }

  corrections(range: KeyRange, newer: NewerEntries): Corrections {
    return this.#corrections(range, newer, this.dirty ? this.#orderedWrites() : null, this.snapshot);
  }

  #corrections(range: KeyRange, newer: NewerEntries, writes: OrderedMap<Write> | null, snapshot: number): Corrections {
    this.#checkOpen();
    const { versions } = this.#host;
    const own = writes === null ? null : writeOverlay(writes, range);
    const recent = versionOverlays(versions, range, snapshot);
    const beneath = newer.entries.size > 0 ? writeOverlay(newer.entries, range) : null;
    const read = (this.#reads ?? this.#guardedNow())?.addRange(range);
    if (read !== undefined) {
      read.finished = true;
      read.closed = true;
    }
    return new MergedCorrections([own, ...recent, beneath]);
  }

  requireOpen(): void {
    this.#checkOpen();
  }

  frozen(): Transaction {
    this.#checkOpen();
    const writes = this.dirty ? this.#orderedWrites().clone() : null;
    const { snapshot } = this;
    return new FrozenTransaction(snapshot, {
      get: (key) => {
        this.#checkOpen();
        const text = keyText(key);
        const write = writes?.get(text);
        if (write !== undefined) return write.value ?? undefined;
        const found = this.#recent(key, text, snapshot);
        return found === undefined ? this.#host.engine.get(key) : (found ?? undefined);
      },
      scan: (range) => this.#scan(range, writes, snapshot),
      corrections: (range, newer) => this.#corrections(range, newer, writes, snapshot),
      seesEngine: () => writes === null && this.#engineIsCurrent(snapshot),
      requireOpen: () => this.#checkOpen(),
    });
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.#write(key, value);
  }

  append(key: Uint8Array, value: Uint8Array): void {
    this.#checkWritable();
    if (this.#savepoints.length > 0 || this.#ordered !== null || this.#prepared !== null) {
      this.#write(key, value);
      return;
    }
    this.#grow(key.length + value.length);
    this.#appended ??= new AppendedWrites(this.snapshot);
    this.#appended.append(key, value);
  }

  /** What was appended becomes writes like the others, for whoever needs them in order or wants to undo them. */
  #foldAppended(): void {
    if (this.#appended === null) return;
    const { operations } = this.#appended;
    this.#appended = null;
    for (const { key, value } of operations) {
      this.#bytes -= key.length + value!.length;
      this.#write(key, value);
    }
  }

  delete(key: Uint8Array): void {
    this.#write(key, null);
  }

  /**
   * From now on reads are validated at commit also below serializable: what a constraint rests on must not have been
   * changed by another transaction. Off again with false.
   */
  guardReads(on: boolean): void {
    this.#guarding = on && !this.readOnly;
  }

  #guardedNow(): ReadSet | null {
    if (!this.#guarding) return null;
    if (this.#guarded === null) {
      this.#guarded = new ReadSet();
      this.#guardedFrom = this.snapshot;
    }
    return this.#guarded;
  }

  savepoint(): number {
    this.#checkOpen();
    if (this.#prepared === null) this.#foldAppended();
    const id = this.#nextSavepoint++;
    this.#savepoints.push({ id, undoLength: this.#undo.length });
    return id;
  }

  rollbackTo(savepoint: number): void {
    this.#dropPrepared();
    const index = this.#savepointIndex(savepoint);
    this.#savepoints.length = index + 1;
    const { undoLength } = this.#savepoints[index]!;
    while (this.#undo.length > undoLength) {
      const { text, before } = this.#undo.pop()!;
      const dropped = this.#writes!.get(text)!;
      this.#bytes -= sizeOf(dropped);
      if (before === undefined) {
        this.#writes!.delete(text);
        this.#ordered?.delete(text);
      } else {
        this.#writes!.set(text, before);
        this.#ordered?.set(text, before);
      }
    }
  }

  release(savepoint: number): void {
    this.#savepoints.length = this.#savepointIndex(savepoint);
    if (this.#savepoints.length > 0) return;
    for (const { before } of this.#undo) if (before !== undefined) this.#bytes -= sizeOf(before);
    this.#undo = [];
  }

  /** Throws serialization_failure, after which the transaction has ended, when it must be run again. */
  commit(): number {
    this.#checkOpen();
    if (!this.dirty) {
      this.#finish(ENDED);
      return this.snapshot;
    }
    const host = this.#host;
    const conflict = host.committedSequence === this.#validFrom ? null : this.#conflict();
    if (conflict !== null) {
      host.conflicted();
      this.#finish(ENDED);
      throw conflict;
    }
    const sequence = this.#commitWrites();
    this.#finish(ENDED);
    return sequence;
  }

  #commitWrites(): number {
    const host = this.#host;
    const prepared = this.#prepared;
    this.#prepared = null;
    if (prepared === null) {
      this.#foldAppended();
      return host.commit([...this.#writes!.values()]);
    }
    const late = [...prepared.late.values()];
    const appended = this.#appended;
    if (appended === null) return host.commitLarge(this.#writes!, this.#ordered!, prepared.parts, late);
    for (const { key, value } of late) appended.put(key, value);
    return host.commitLarge(appended, appended, prepared.parts, late);
  }

  /** So much was written that `prepareCommit` should be waited for before `commit`. */
  get isLarge(): boolean {
    const size = (this.#writes?.size ?? 0) + (this.#appended?.size ?? 0);
    const { operations, bytes } = this.#host.largeSizes;
    return this.#prepared === null && (size >= operations || (size > 0 && this.#bytes >= bytes));
  }

  /**
   * Writes what there is into the log ahead of the commit, giving the loop its turns, so that `commit` itself takes no
   * time and other transactions commit meanwhile. Nothing else may be done with the transaction until it resolves;
   * then a few more writes may follow. Rejects when the transaction was ended meanwhile, or the disk is full.
   */
  async prepareCommit(turns: CommitTurns): Promise<void> {
    this.#checkOpen();
    if (!this.isLarge) return;
    const host = this.#host;
    await host.largeCommitDone();
    this.#checkOpen();
    this.#settleAppended();
    const appended = this.#appended;
    const ordered = this.#ordered ?? createOrderedMap<Write>();
    const isNew = this.#ordered === null && appended === null;
    const { stepOperations, stepBytes } = host.largeSizes;
    const parts = host.log.beginParts();
    this.#prepared = { parts, late: new Map() };
    let part: Write[] = [];
    let bytes = 0;
    let unsynced = 0;
    for (const write of (appended ?? this.#writes!).values()) {
      if (isNew) ordered.set(write.text, write);
      part.push(write);
      bytes += sizeOf(write);
      if (part.length < stepOperations && bytes < stepBytes) continue;
      host.log.appendPart(parts, part);
      unsynced += bytes;
      part = [];
      bytes = 0;
      if (unsynced >= SYNC_BYTES) {
        // Bit by bit, or the commit's own sync would hold up everybody's.
        await host.log.sync();
        unsynced = 0;
      }
      turns.checkpoint();
      if (turns.shouldYield()) await turns.yieldTurn();
      this.#checkOpen();
    }
    host.log.appendPart(parts, part);
    if (appended === null) this.#ordered = ordered;
  }

  /** Appended writes and others in one place: the few among the many. */
  #settleAppended(): void {
    if (this.#appended === null || this.#writes === null) return;
    if (this.#writes.size > SETTLED_MAX) {
      this.#foldAppended();
      return;
    }
    for (const { key, value } of this.#writes.values()) this.#appended.put(key, value);
    this.#writes = null;
  }

  #dropPrepared(): void {
    if (this.#prepared === null) return;
    this.#host.log.dropParts(this.#prepared.parts);
    this.#prepared = null;
  }

  rollback(): void {
    if (this.#end === null) this.#finish(ENDED);
  }

  /** Ended by the shard: every later call throws `reason`. */
  abort(reason: DbError): void {
    if (this.#end === null) this.#finish(reason);
  }

  #checkOpen(): void {
    if (this.#end !== null) throw new DbError(this.#end.code, this.#end.message, this.#end.details);
  }

  /** The value if memory knows it: null when the key is absent; undefined when the engine must be asked. */
  #inMemory(key: Uint8Array): Uint8Array | null | undefined {
    let text: string | null = null;
    if (this.#writes !== null) {
      text = keyText(key);
      const write = this.#writes.get(text);
      if (write !== undefined) return write.value;
    }
    const appended = this.#appended?.find(key);
    return appended === undefined ? this.#recent(key, text, this.snapshot) : appended.value;
  }

  /** The same without the transaction's own writes. */
  #recent(key: Uint8Array, text: string | null, snapshot: number): Uint8Array | null | undefined {
    (this.#reads ?? this.#guardedNow())?.addKey(key);
    const { versions } = this.#host;
    if (versions.size === 0) return undefined;
    return versions.valueOf(text ?? keyText(key), snapshot);
  }

  #checkWritable(): void {
    this.#checkOpen();
    if (this.readOnly) {
      throw sqlError("25006", "cannot write in a read-only transaction");
    }
  }

  /** Counts bytes of writes. Throws 54000 past TRANSACTION_BYTES_MAX. */
  #grow(bytes: number): void {
    if (this.#bytes + bytes > TRANSACTION_BYTES_MAX) {
      throw sqlError("54000", `the transaction's changes exceed ${TRANSACTION_BYTES_MAX} bytes`);
    }
    this.#bytes += bytes;
  }

  #write(key: Uint8Array, value: Uint8Array | null): void {
    this.#checkWritable();
    // A key that was appended is not new any more; once the log has it, the later write wins there.
    if (this.#prepared === null && this.#appended?.find(key) !== undefined) this.#foldAppended();
    const text = keyText(key);
    this.#writes ??= new Map();
    const before = this.#writes.get(text);
    const write = { text, key, value, snapshot: before === undefined ? this.snapshot : before.snapshot };
    const isUndoable = this.#savepoints.length > 0;
    this.#grow(sizeOf(write) - (before === undefined || isUndoable ? 0 : sizeOf(before)));
    if (isUndoable) this.#undo.push({ text, before });
    this.#writes.set(text, write);
    this.#ordered?.set(text, write);
    this.#prepared?.late.set(text, write);
  }

  #orderedWrites(): OrderedMap<Write> {
    this.#foldAppended();
    if (this.#ordered === null) {
      this.#ordered = createOrderedMap();
      for (const write of this.#writes!.values()) this.#ordered.set(write.text, write);
    }
    return this.#ordered;
  }

  #savepointIndex(savepoint: number): number {
    this.#checkOpen();
    const index = this.#savepoints.findIndex(({ id }) => id === savepoint);
    if (index === -1) throw sqlError("3B001", `savepoint "${savepoint}" does not exist`);
    return index;
  }

  #conflict(): DbError | null {
    const { versions } = this.#host;
    if (this.#isOverwritten()) return sqlError("40001", "could not serialize access due to concurrent update");
    const overwritten =
      this.#reads?.isOverwritten(versions, this.snapshot) || this.#guarded?.isOverwritten(versions, this.#guardedFrom);
    if (overwritten) {
      return sqlError("40001", "could not serialize access due to read/write dependencies among transactions");
    }
    return null;
  }

  /** Whether a later commit wrote what this transaction writes; looks through the shorter list of the two. */
  #isOverwritten(): boolean {
    return [this.#writes, this.#appended].some((writes) => writes !== null && this.#overlaps(writes));
  }

  #overlaps(writes: WritesByKey<Write>): boolean {
    const { versions } = this.#host;
    const changed = versions.changedSince(this.#validFrom, writes.size);
    if (changed === null) {
      for (const { text, snapshot } of writes.values()) if (versions.isChanged(text, snapshot)) return true;
      return false;
    }
    for (const { text, newest } of changed) {
      const write = writes.get(text);
      if (write !== undefined && newest.sequence > write.snapshot) return true;
    }
    return false;
  }

  #finish(reason: Ending): void {
    this.#end = reason;
    this.#dropPrepared();
    if (this.#cursors !== null) for (const cursor of [...this.#cursors]) cursor.close();
    this.#cursors = null;
    this.#writes = null;
    this.#appended = null;
    this.#ordered = null;
    this.#undo = [];
    this.#host.ended(this);
  }
}

function sizeOf(write: Operation): number {
  return write.key.length + (write.value === null ? 0 : write.value.length);
}
