/**
 * A transaction's own writes in memory, the loads beneath them, and the savepoints that it may go back to. Made and
 * owned by a ShardTransaction when it first writes or sets a savepoint.
 */
import { sqlError } from "../protocol/errors.js";
import { LOAD_BYTES_MAX, TRANSACTION_BYTES_MAX } from "../protocol/limits.js";
import { growthOf, growthOfRuns } from "./growth.js";
import { type LargeCommitSizes, sizesFor } from "./large-commit-sizes.js";
import { anyPrefixOf, type LargeSource } from "./large-source.js";
import { findInLoads, Load } from "./load.js";
import type { PreparedCommit } from "./look-ahead.js";
import { type Operation, sizeOf } from "./operation.js";
import { createOrderedMap, type OrderedMap } from "./ordered-map.js";
import type { HeldBytes, RunBytes } from "./stored-run.js";
import type { RecentVersions } from "./versions.js";

export interface Write extends Operation {
  readonly text: string;
  /** What the transaction saw when it first wrote the key. */
  readonly snapshot: number;
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
  readonly files: number;
}

export class WriteSet {
  private readonly changes = new Map<string, Write>();
  /** Writes beneath those, oldest first. The array that somebody has stays as it is. */
  private attached: readonly Load[] = [];
  /** The writes in order; made by the first scan that may meet one. */
  private ordered: OrderedMap<Write> | null = null;
  private bytes = 0;
  private undo: Undo[] = [];
  private savepoints: Savepoint[] = [];
  private nextSavepoint = 1;
  /** Where loads are, or were to be, that are not in memory. */
  private files: RunBytes[] = [];
  private readonly held: HeldBytes = { spilledBytes: 0 };
  /** Of what was rolled back: a cursor that is open may read them, or somebody may until the end. */
  private leftForCursors: RunBytes[] = [];
  private readonly leftToEnd: RunBytes[] = [];
  /** A large commit has the loads from now on. */
  isKept = false;
  /** How to take back what was done outside of storage, with how many savepoints were set then. Oldest first. */
  private readonly outside: { readonly undo: () => void; depth: number }[] = [];

  /** Single writes. */
  get writes(): ReadonlyMap<string, Write> {
    return this.changes;
  }

  get isEmpty(): boolean {
    return this.changes.size === 0 && this.attached.length === 0;
  }

  get loads(): readonly Load[] {
    return this.attached;
  }

  /** The commit is made in parts; one of rows in a file has more than memory tells. */
  isLarge(sizes: LargeCommitSizes, layers: Parameters<typeof sizesFor>[2]): boolean {
    if (this.attached.some(({ isStored }) => isStored)) return true;
    const { operations, bytes } = sizesFor(anyPrefixOf([this.changes, ...this.attached]), sizes, layers);
    let size = this.changes.size;
    for (const load of this.attached) size += load.size;
    return size >= operations || (size > 0 && this.bytes >= bytes);
  }

  /** How many rows and index entries it adds, less those that it removes. */
  get growth(): number {
    let growth = growthOf(this.changes.values());
    for (const load of this.attached) growth += growthOfRuns(load.runs);
    return growth;
  }

  /** Bytes of all keys and values; of what was rolled back, too, while a savepoint stands. */
  get size(): number {
    let size = this.bytes;
    for (const load of this.attached) size += load.writtenBytes - load.bytes;
    return size;
  }

  /**
   * The value that was written last, null for a deletion; undefined: the key was not written. `text`: the key's text.
   */
  valueOf(key: Uint8Array, text: string): Uint8Array | null | undefined {
    const write = this.changes.get(text);
    if (write !== undefined) return write.value;
    return this.attached.length === 0 ? undefined : findInLoads(this.attached, key)?.value;
  }

  /** `snapshot`: the transaction's. Throws 54000 past TRANSACTION_BYTES_MAX. */
  write(key: Uint8Array, text: string, value: Uint8Array | null, snapshot: number): Write {
    const before = this.changes.get(text);
    const write = { text, key, value, snapshot: before?.snapshot ?? this.snapshotOfLoaded(key) ?? snapshot };
    const isUndoable = this.savepoints.length > 0;
    this.grow(sizeOf(write) - (before === undefined || isUndoable ? 0 : sizeOf(before)));
    if (isUndoable) this.undo.push({ text, before });
    this.changes.set(text, write);
    this.ordered?.set(text, write);
    return write;
  }

  /** Null: writes go the usual way. */
  beginLoad(snapshot: number): Load | null {
    if (this.attached.length >= LOADS_MAX || this.changes.size > WRITES_BESIDE_MAX) return null;
    return new Load(snapshot, LOAD_BYTES_MAX - this.bytes);
  }

  /**
   * Single writes come before loads: `write` is called for those whose key the load has, too, since they were made
   * before it.
   */
  attach(load: Load, write: (key: Uint8Array, value: Uint8Array | null) => void): void {
    if (!load.isSorted) throw new Error("a load is attached before it was sorted");
    for (const { key } of [...this.changes.values()]) {
      const later = load.find(key);
      if (later !== undefined) write(key, later.value);
    }
    this.bytes += load.bytes;
    this.attached = [...this.attached, load];
  }

  /** Whether a later commit than `validFrom` wrote what is written here. `prepared`: has looked for some of that. */
  isOverwritten(versions: RecentVersions, validFrom: number, prepared: PreparedCommit | null): boolean {
    const all = [this.changes, ...this.attached];
    if (prepared === null) return all.some((writes) => versions.isOverwritten(writes, validFrom));
    const { ahead, late } = prepared;
    if (ahead.isOverwritten || versions.isOverwritten(late, validFrom)) return true;
    return all.some((writes) => versions.isOverwritten(writes, ahead.keysTo, ahead.largeTo));
  }

  /** To be closed in the end, or by the readers of a large commit if a load of it is there (`Load.release`). */
  holdFile<F extends RunBytes>(open: (held: HeldBytes) => F): F {
    const file = open(this.held);
    this.files.push(file);
    return file;
  }

  /** The transaction has ended. */
  closeFiles(): void {
    for (const file of [...this.files, ...this.leftForCursors, ...this.leftToEnd]) {
      if (!(this.isKept && this.attached.some((load) => load.isIn(file)))) file.close();
    }
  }

  /** Those that were held after the first `kept` ones; no load is there any more. */
  private leaveFiles(kept: number, gone: readonly Load[], hasCursors: boolean): void {
    for (const file of this.files.slice(kept)) {
      const isFrozen = gone.some((load) => load.isFrozen && load.isIn(file));
      (isFrozen ? this.leftToEnd : this.leftForCursors).push(file);
    }
    this.files = this.files.slice(0, kept);
    if (hasCursors) return;
    for (const file of this.leftForCursors) file.close();
    this.leftForCursors = [];
  }

  /** Single writes in order; null: there are none. */
  inOrder(): OrderedMap<Write> | null {
    return this.ordered === null && this.changes.size === 0 ? null : this.ordering();
  }

  private ordering(): OrderedMap<Write> {
    if (this.ordered === null) for (const _ of this.orderingWrites());
    return this.ordered!;
  }

  /** Single writes; when the last was taken, they are in order. */
  *orderingWrites(): IterableIterator<Write> {
    const ordered = this.ordered ?? createOrderedMap<Write>();
    const isNew = this.ordered === null;
    for (const write of this.changes.values()) {
      if (isNew) ordered.set(write.text, write);
      yield write;
    }
    this.ordered = ordered;
  }

  /** All operations of a small commit, the newest of each key. */
  operations(): readonly Write[] {
    if (this.attached.length === 0) return [...this.changes.values()];
    const newest = new Map<string, Write>();
    for (const load of this.attached) for (const write of load.values()) newest.set(write.text, write);
    for (const write of this.changes.values()) newest.set(write.text, write);
    return [...newest.values()];
  }

  /** The same for a large commit: what counts first comes first. */
  sources(): readonly LargeSource[] {
    const loads = this.attached.map((load) => ({ writes: load, ordered: load })).reverse();
    return [{ writes: this.changes, ordered: this.ordering() }, ...loads];
  }

  savepoint(): number {
    const id = this.nextSavepoint++;
    this.savepoints.push({ id, loads: this.attached.length, undoLength: this.undo.length, files: this.files.length });
    return id;
  }

  /**
   * What was done outside of storage is taken back so where the transaction is rolled back to a savepoint of before.
   */
  undoes(undo: () => void): void {
    this.outside.push({ undo, depth: this.savepoints.length });
  }

  /** `hasCursors`: some are open. */
  rollbackTo(savepoint: number, hasCursors: boolean): void {
    const index = this.savepointIndex(savepoint);
    this.savepoints.length = index + 1;
    while ((this.outside.at(-1)?.depth ?? 0) > index) this.outside.pop()!.undo();
    const { undoLength, loads, files } = this.savepoints[index]!;
    const gone = this.attached.slice(loads);
    for (const { bytes } of gone) this.bytes -= bytes;
    this.leaveFiles(files, gone, hasCursors);
    this.attached = this.attached.slice(0, loads);
    while (this.undo.length > undoLength) {
      const { text, before } = this.undo.pop()!;
      this.bytes -= sizeOf(this.changes.get(text)!);
      if (before === undefined) {
        this.changes.delete(text);
        this.ordered?.delete(text);
      } else {
        this.changes.set(text, before);
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

  private savepointIndex(savepoint: number): number {
    const index = this.savepoints.findIndex(({ id }) => id === savepoint);
    if (index === -1) throw sqlError("3B001", `savepoint "${savepoint}" does not exist`);
    return index;
  }

  /** What the transaction saw when it first wrote the key. */
  private snapshotOfLoaded(key: Uint8Array): number | undefined {
    for (const load of this.attached) if (load.find(key) !== undefined) return load.snapshot;
    return undefined;
  }

  private grow(bytes: number): void {
    if (this.bytes + bytes > TRANSACTION_BYTES_MAX) {
      throw sqlError("54000", `the transaction's changes exceed ${TRANSACTION_BYTES_MAX} bytes`);
    }
    this.bytes += bytes;
  }
}
