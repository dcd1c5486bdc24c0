/**
 * A transaction as it was at one moment: it reads the same snapshot and the writes that had been made by then. Made by
 * `ShardTransaction.frozen` for statements whose parts must not see each other's changes.
 */
import type { Corrections, Cursor, KeyRange, NewerEntries, Transaction } from "./store.js";

/** How the transaction that it belongs to reads for it. */
export interface FrozenReads {
  get(key: Uint8Array): Uint8Array | undefined;
  scan(range: KeyRange): Cursor;
  corrections(range: KeyRange, newer: NewerEntries, isRead: boolean): Corrections;
  noteRead(range: KeyRange): boolean;
  seesEngine(): boolean;
  requireOpen(): void;
}

export class FrozenTransaction implements Transaction {
  readonly readOnly = true;
  readonly dirty = false;

  constructor(
    readonly snapshot: number,
    private readonly reads: FrozenReads,
  ) {}

  get(key: Uint8Array): Uint8Array | undefined {
    return this.reads.get(key);
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    return keys.map((key) => this.reads.get(key));
  }

  scan(range: KeyRange): Cursor {
    return this.reads.scan(range);
  }

  get seesEngine(): boolean {
    return this.reads.seesEngine();
  }

  corrections(range: KeyRange, newer: NewerEntries): Corrections {
    return this.reads.corrections(range, newer, true);
  }

  correctionsUnread(range: KeyRange, newer: NewerEntries): Corrections {
    return this.reads.corrections(range, newer, false);
  }

  noteRead(range: KeyRange): boolean {
    return this.reads.noteRead(range);
  }

  /** Only writers ask. */
  isAloneIn(): never {
    throw readsOnly();
  }

  /** Cursors lock by their transaction itself. */
  lockKey(): never {
    throw readsOnly();
  }

  requireOpen(): void {
    this.reads.requireOpen();
  }

  frozen(): Transaction {
    return this;
  }

  put(): never {
    throw readsOnly();
  }

  beginLoad(): never {
    throw readsOnly();
  }

  attach(): never {
    throw readsOnly();
  }

  readonly storesLoads = false;

  holdFile(): never {
    throw readsOnly();
  }

  logAhead(): never {
    throw readsOnly();
  }

  /** Only writers ask. */
  greatestKey(): never {
    throw readsOnly();
  }

  delete(): never {
    throw readsOnly();
  }

  follow(): never {
    throw readsOnly();
  }

  /** Guarding is of the transaction that it belongs to. */
  guardReads(): void {}

  guardBy(): void {}

  /** Only writers ask. */
  noteFound(): never {
    throw readsOnly();
  }

  /** What counts as read is for the transaction that it belongs to, which may be told nothing too much. */
  unread<T>(read: () => T): T {
    return read();
  }

  expectFound<T>(read: () => T): T {
    return read();
  }

  savepoint(): never {
    throw readsOnly();
  }

  rollbackTo(): never {
    throw readsOnly();
  }

  release(): never {
    throw readsOnly();
  }

  commit(): never {
    throw readsOnly();
  }

  rollback(): never {
    throw readsOnly();
  }
}

function readsOnly(): Error {
  return new Error("a frozen transaction only reads");
}
