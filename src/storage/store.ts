/**
 * Storage as the rest of the actor sees it: ordered bytes under transactions. `shard.ts` and `transaction.ts`
 * implement it; every model's records go through it, so one transaction spans all of them.
 */

import type { LockStrength } from "../protocol/lock-strength.js";
import type { Load } from "./load.js";
import type { OrderedEntries } from "./ordered-map.js";
import type { BytesShare, HeldBytes, RunFile, RunLog } from "./stored-run.js";

/** Keys from `gte` (inclusive) to `lt` (exclusive), in byte order; `reverse` walks from the end. */
export interface KeyRange {
  readonly gte: Uint8Array;
  readonly lt: Uint8Array;
  readonly reverse?: boolean;
  /** The half of the entries that is looked at; the other may be empty then, and for "count" both. Absent: both. */
  readonly only?: "keys" | "values" | "count";
  /** It is read as a whole and hardly again: what is read takes no place in a cache of blocks. */
  readonly isOnce?: boolean;
}

/** Parallel arrays; `length` rows. Valid until the cursor's next call. */
export interface Entries {
  readonly keys: readonly Uint8Array[];
  readonly values: readonly Uint8Array[];
}

export const NO_ENTRIES: Entries = { keys: [], values: [] };

export interface Cursor {
  /** Up to `max` further entries, in order; an empty answer means the end. Synchronous. */
  next(max: number): Entries;
  /**
   * As `next`, but null when it has worked for about a millisecond and has nothing to show yet: the caller gives way
   * and asks again. Absent: `next` takes no longer than its entries. Asked by `readSome`.
   */
  step?(max: number): Entries | null;
  /**
   * After `step` had nothing yet: everything that it has left comes after this key in its order. Null: it does not
   * know.
   */
  readonly at?: Uint8Array | null;
  /** Goes on at that key, which lies ahead in its order and its range. False, or absent: it cannot. */
  seek?(key: Uint8Array): boolean;
  close(): void;
}

/** Of a range that has nothing. */
export const EMPTY_CURSOR: Cursor = { next: () => NO_ENTRIES, close: () => undefined };

/** Up to `max` further entries, or none yet (null); an empty answer means the end. For loops that give way. */
export function readSome(cursor: Cursor, max: number): Entries | null {
  return cursor.step === undefined ? cursor.next(max) : cursor.step(max);
}

/**
 * What a transaction sees differently from a cache of the engine's entries: the correction that comes next, in key
 * order. Valid until the transaction ends, whatever is written meanwhile.
 */
export interface Corrections {
  /** The key as latin-1 text (ordered-map.ts); null at the end. */
  readonly text: string | null;
  readonly key: Uint8Array;
  /** Null: the transaction sees no such entry. */
  readonly value: Uint8Array | null;
  advance(): void;
}

/** Entries that are newer than a cache of the engine's, by key as latin-1 text. */
export interface NewerEntries {
  readonly entries: OrderedEntries<{ readonly key: Uint8Array; readonly value: Uint8Array | null }> & {
    readonly size: number;
    /** The same without what the loads have, and what concerns none of the columns, as far as that can be told. */
    beside?(loads: readonly Load[], columns: readonly number[] | undefined): NewerEntries["entries"];
    /** As several sources, of which the earlier ones count for more; absent: it is one. */
    overlays?(range: KeyRange): readonly Corrections[];
  };
  /** Of rows: the columns that are read, by their ids. Changes of others need not be told. Absent: all. */
  readonly columns?: readonly number[];
}

/** What is made of a range. Of several changes all values are taken out before the first one is put in. */
export interface RangeFollower {
  /** False: what was made is gone by now, in the same transaction. */
  isWanted(): boolean;
  /** The key does not have this value any more. */
  removed(key: Uint8Array, value: Uint8Array): void;
  /** The key has this value now. Throws if that must not be. */
  added(key: Uint8Array, value: Uint8Array): void;
}

/**
 * One snapshot plus the transaction's own writes. Everything is synchronous: reads come from memory or RocksDB on
 * the calling thread. Serializable: `commit` refuses (serialization_failure) when something this transaction read
 * (keys and ranges) or wrote was changed by a commit after its snapshot.
 */
export interface Transaction {
  readonly readOnly: boolean;
  /** True when something is buffered that commit would write. */
  readonly dirty: boolean;
  /** Sequence of the newest commit that this transaction sees. */
  readonly snapshot: number;
  get(key: Uint8Array): Uint8Array | undefined;
  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[];
  /** Sees the transaction's own writes as of the call; writes made while it is open are not seen by it. */
  scan(range: KeyRange): Cursor;
  /** True when a scan that starts now reads exactly what the engine holds, so that a cache may keep it. */
  readonly seesEngine: boolean;
  /** The entries in the range that it sees beyond a cache of the engine's entries. The whole range counts as read. */
  corrections(range: KeyRange, newer: NewerEntries): Corrections;
  /** The same without counting as a read: the caller reports by `noteRead` what it reads. */
  correctionsUnread(range: KeyRange, newer: NewerEntries): Corrections;
  /** The range counts as read. False: the transaction does not count what it reads, and need not be told. */
  noteRead(range: KeyRange): boolean;
  /**
   * Nobody else can change the range before this turn ends: no other transaction that may write is open, and nothing
   * in the range was changed after the snapshot.
   */
  isAloneIn(range: KeyRange): boolean;
  /**
   * Keeps the key as it is until the transaction ends, where transactions wait for each other (key-locks.ts). Throws
   * KeyConflict when another one holds it or it has changed; false when another one does and the row is to be skipped.
   * Elsewhere the transaction fails at its commit if the key has changed.
   */
  lockKey(key: Uint8Array, strength: LockStrength, skips: boolean): boolean;
  /** Throws when the transaction has ended, as every read does. */
  requireOpen(): void;
  /**
   * A read-only face of the transaction that sees its writes up to now and none that follow; it ends with it. What is
   * read through it counts as read unless `isRead` is false.
   */
  frozen(isRead?: boolean): Transaction;
  /** Throws read_only_transaction, or query_error (54000) past the transaction's size bound. Keeps both arguments. */
  put(key: Uint8Array, value: Uint8Array): void;
  /**
   * To collect many writes and `attach` them as a whole, sorted; nobody sees them before. Null when the transaction has
   * too much else in it: then they go the usual way.
   */
  beginLoad(): Load | null;
  attach(load: Load): void;
  /** Loads may be in files (`Load.takeStored`), and then have any size. */
  readonly storesLoads: boolean;
  /**
   * Where loads of the transaction will be. Closed when it ends or is rolled back to before, or, if a load in it is
   * committed, needed no more. `open`: makes the file, whose bytes count in `held`.
   */
  holdFile<F extends RunFile>(open: (held: HeldBytes) => F): F;
  /**
   * Takes sorted runs of new rows with the prefix into the log before the commit, and is held as such a file. Null: it
   * cannot be. `shareOf`: counts its bytes.
   */
  logAhead(prefix: Uint8Array, shareOf: (held: HeldBytes) => BytesShare): RunLog | null;
  /** No key that begins with the prefix is greater; null: none does. Does not count as read. */
  greatestKey(prefix: Uint8Array): Uint8Array | null;
  delete(key: Uint8Array): void;
  /**
   * With true, what is read from now on is validated at commit whatever the isolation, because a constraint depends on
   * it; off again with false. It nests.
   */
  guardReads(on: boolean): void;
  /** What it does from now on rests on that, also at the commit. */
  guardBy(guard: CommitGuard): void;
  /** Reads again what was found in its snapshot. False: the transaction has deleted it since. */
  noteFound(key: Uint8Array): boolean;
  /**
   * What was made of the range as the transaction sees it now stays true: `follower` is told what others commit into
   * it, at the latest at the commit. The range need not count as read.
   */
  follow(range: Pick<KeyRange, "gte" | "lt">, follower: RangeFollower): void;
  /** Runs `read`, whose reads are not validated at commit: the caller sees to it by other means. */
  unread<T>(read: () => T): T;
  /**
   * Runs `read`. The keys that it reads must be there at the commit, whatever the isolation; what they hold may change.
   * The caller fails for a key that is not there.
   */
  expectFound<T>(read: () => T): T;
  /** Savepoints nest; rolling back to one drops the later ones and keeps it. */
  savepoint(): number;
  rollbackTo(savepoint: number): void;
  release(savepoint: number): void;
  /** The commit's sequence, or `snapshot` when nothing was written. Visible at once, durable after Shard.flush. */
  commit(): number;
  rollback(): void;
}

/** Tables and sequences that a transaction has to do with, as its keys name them. */
export interface TouchedPlaces {
  readonly storageIds: ReadonlySet<number>;
  readonly sequenceIds: ReadonlySet<number>;
}

/** What a transaction rests on beside rows. */
export interface CommitGuard {
  /**
   * Whether it does not hold any more, where others have committed. `newest` reads what is committed now. `touched`:
   * what was written, and what was read if that is validated (`isSerializable`); null: too much to tell.
   */
  isBroken(newest: () => Transaction, touched: () => TouchedPlaces | null, isSerializable: boolean): boolean;
  /** Whether what was touched so far would not hold by `next`, on which later statements rest. */
  isBrokenBy(next: CommitGuard, touched: () => TouchedPlaces | null, isSerializable: boolean): boolean;
}
