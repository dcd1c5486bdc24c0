/** What a transaction has read, and else rests on, that is validated at its commit. Owned by it. */
import { type DbError, sqlError } from "../protocol/errors.js";
import { committedView } from "./committed-view.js";
import type { PreparedCommit } from "./look-ahead.js";
import { keyText } from "./ordered-map.js";
import { ReadSet } from "./read-set.js";
import type { CommitGuard } from "./store.js";
import { touchedPlaces } from "./touched-places.js";
import type { TransactionHost } from "./transaction-host.js";
import type { RecentVersions } from "./versions.js";
import type { WriteSet } from "./write-set.js";

/** More than these are validated as read: nobody may have changed them. */
const EXPECTED_MAX = 16_384;
const NEWEST = Number.MAX_SAFE_INTEGER;

class ExpectedKeys {
  private readonly texts = new Set<string>();

  /** `from`: the first snapshot at which one was found. */
  constructor(private readonly from: number) {}

  /** False: they are too many. */
  add(text: string): boolean {
    if (this.texts.size < EXPECTED_MAX) this.texts.add(text);
    return this.texts.has(text);
  }

  isAnyGone(versions: RecentVersions): boolean {
    if (versions.size === 0) return false;
    for (const text of this.texts) {
      if (versions.isChanged(text, this.from) && versions.valueOf(text, NEWEST) === null) return true;
    }
    return false;
  }
}

export class ValidatedReads {
  /** Of a serializable transaction: all that it reads. */
  private readonly all: ReadSet | null;
  /** Reads that are validated whatever the isolation, and the oldest snapshot that they were made on. */
  private guarded: ReadSet | null = null;
  private guardedFrom = 0;
  /** Keys that must be there, from which snapshot on. */
  private expected: ExpectedKeys | null = null;
  private isExpecting = false;
  /** How many have asked for it. */
  private guarding = 0;
  private commitGuard: CommitGuard | null = null;
  /** What is read now does not count as read. */
  isUnread = false;

  constructor(isSerializable: boolean) {
    this.all = isSerializable ? new ReadSet() : null;
  }

  guard(on: boolean): void {
    this.guarding = Math.max(0, this.guarding + (on ? 1 : -1));
  }

  /** Whoever has asked for it was taken back. */
  endGuards(): void {
    this.guarding = 0;
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

  expectFound<T>(read: () => T): T {
    const before = this.isExpecting;
    this.isExpecting = true;
    try {
      return read();
    } finally {
      this.isExpecting = before;
    }
  }

  addKey(key: Uint8Array, snapshot: number): void {
    if (!this.isExpecting) {
      this.noted(snapshot)?.addKey(key);
      return;
    }
    this.expected ??= new ExpectedKeys(snapshot);
    if (!this.expected.add(keyText(key))) this.guardKey(key, snapshot);
  }

  /** Where to note what is read at the snapshot; null: it is not validated. */
  noted(snapshot: number): ReadSet | null {
    if (this.all !== null) return this.all;
    if (this.guarding === 0) return null;
    if (this.guarded === null) {
      this.guarded = new ReadSet();
      this.guardedFrom = snapshot;
    }
    return this.guarded;
  }

  /** Something read so far is validated at any isolation. */
  get isGuarded(): boolean {
    return this.guarded !== null || this.expected !== null;
  }

  /** A row that was locked, where transactions do not wait for each other: it must stay as it is. */
  guardKey(key: Uint8Array, snapshot: number): true {
    this.guard(true);
    this.noted(snapshot)?.addKey(key);
    this.guard(false);
    return true;
  }

  /** `own`: what was written by now; null: nothing. A guard that what was written does not fit is not taken. */
  guardBy(guard: CommitGuard, own: WriteSet | null): void {
    const { all, commitGuard: before } = this;
    if (guard === before) return;
    if (own !== null && before?.isBrokenBy(guard, () => touchedPlaces(own, all), all !== null) === true) return;
    this.commitGuard = guard;
  }

  isBroken<T>(own: WriteSet, host: TransactionHost<T>): boolean {
    const { all, commitGuard } = this;
    const touched = () => touchedPlaces(own, all);
    return commitGuard?.isBroken(() => committedView(host), touched, all !== null) === true;
  }

  /** Whether a commit after the snapshot wrote what was read. */
  isOverwritten(versions: RecentVersions, snapshot: number): boolean {
    return (
      this.all?.isOverwritten(versions, snapshot) === true ||
      this.guarded?.isOverwritten(versions, this.guardedFrom) === true ||
      this.expected?.isAnyGone(versions) === true
    );
  }
}

interface Validated {
  readonly own: WriteSet | null;
  readonly snapshot: number;
  readonly validFrom: number;
}

/** What others have committed since that the transaction cannot be committed after; null: nothing. */
export function conflictOf<T>(
  reads: ValidatedReads,
  { own, snapshot, validFrom }: Validated,
  host: TransactionHost<T>,
  prepared: PreparedCommit | null,
): DbError | null {
  if (own?.isOverwritten(host.versions, validFrom, prepared))
    return sqlError("40001", "could not serialize access due to concurrent update");
  if (reads.isOverwritten(host.versions, snapshot))
    return sqlError("40001", "could not serialize access due to read/write dependencies among transactions");
  if (own !== null && reads.isBroken(own, host))
    return sqlError("40001", "could not serialize access: definitions that it uses were changed meanwhile");
  return null;
}
