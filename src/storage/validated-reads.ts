/** What a transaction has read that is validated at its commit. Owned by it. */
import { ReadSet } from "./read-set.js";
import type { RecentVersions } from "./versions.js";

export class ValidatedReads {
  /** Of a serializable transaction: all that it reads. */
  private readonly all: ReadSet | null;
  /** Reads that are validated whatever the isolation, and the oldest snapshot that they were made on. */
  private guarded: ReadSet | null = null;
  private guardedFrom = 0;
  /** How many have asked for it. */
  private guarding = 0;
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

  /** Whether a commit after the snapshot wrote what was read. */
  isOverwritten(versions: RecentVersions, snapshot: number): boolean {
    return (
      this.all?.isOverwritten(versions, snapshot) === true ||
      this.guarded?.isOverwritten(versions, this.guardedFrom) === true
    );
  }
}
