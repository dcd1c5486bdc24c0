/**
 * Ranges that a transaction has read once to make something of, such as the entries of a new index. They do not count
 * as read. In place of that the transaction follows what others commit into them, up to its own commit. So an index can
 * be built while writers go on. Owned by the transaction.
 */
import { DbError, sqlError } from "../protocol/errors.js";
import type { CheckedTurns } from "../protocol/turns.js";
import type { Engine } from "./engine.js";
import { inSteps } from "./in-steps.js";
import { keyText } from "./ordered-map.js";
import type { KeyRange, RangeFollower } from "./store.js";
import type { RecentVersions } from "./versions.js";

/** The transaction and what it reads from. */
export interface FollowedHost {
  readonly versions: RecentVersions;
  readonly committedSequence: number;
  readonly engine: Pick<Engine, "get">;
}

export interface FollowingTransaction {
  /** It has written the key itself. Its commit fails if others have done so, too. */
  isOwn(text: string, key: Uint8Array): boolean;
  savepoint(): number;
  rollbackTo(savepoint: number): void;
  release(savepoint: number): void;
  undoes(undo: () => void): void;
}

interface Followed {
  readonly low: string;
  readonly high: string;
  readonly follower: RangeFollower;
  /** Followed up to this sequence. */
  sequence: number;
}

/** Keys that a commit may still have to follow: they take some tens of milliseconds. */
const COMMIT_KEYS_MAX = 1024;
/** Keys after which the next round leaves the rest to the commit. */
const FEW_KEYS = 64;
/** Rounds before the commit: each one is about what was committed during the one before. */
const ROUNDS_MAX = 16;
/** Keys between two looks at the clock. */
const STEP_KEYS = 32;

export class FollowedRanges {
  private ranges: Followed[] = [];

  constructor(
    private readonly host: FollowedHost,
    private readonly tx: FollowingTransaction,
  ) {}

  /** The newest commit that has been followed. */
  get newest(): number {
    return Math.max(0, ...this.ranges.map(({ sequence }) => sequence));
  }

  /** There is more to follow than a statement should do at once. */
  get isBehind(): boolean {
    return this.ranges.some((followed) => {
      if (followed.sequence === this.host.committedSequence) return false;
      return this.changesOf(followed, FEW_KEYS) === null;
    });
  }

  /** From what the snapshot `sequence` sees on. Answers how to stop. */
  add({ gte, lt }: Pick<KeyRange, "gte" | "lt">, sequence: number, follower: RangeFollower): () => void {
    const followed = { low: keyText(gte), high: keyText(lt), follower, sequence };
    this.ranges.push(followed);
    return () => {
      this.ranges = this.ranges.filter((other) => other !== followed);
    };
  }

  /** In turns, until there is little left. */
  async catchUp(turns: CheckedTurns): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      let keys = 0;
      for (const followed of this.ranges) {
        const changed = this.changesOf(followed, Number.POSITIVE_INFINITY)!;
        keys += changed.size;
        await inSteps(turns, this.follow(followed, changed));
      }
      if (keys <= FEW_KEYS) return;
    }
  }

  /** The rest, at once. Throws serialization_failure where that would take too long. */
  finish(): void {
    for (const followed of this.ranges) {
      if (followed.sequence === this.host.committedSequence) continue;
      const changed = this.changesOf(followed, COMMIT_KEYS_MAX);
      if (changed === null) throw sqlError("40001", "could not serialize access due to concurrent update");
      for (const _ of this.follow(followed, changed));
    }
  }

  /** False: that cannot be, and the commit will say why. */
  tryFinish(): boolean {
    try {
      this.finish();
      return true;
    } catch (error) {
      if (error instanceof DbError) return false;
      throw error;
    }
  }

  /** The keys that others have written since, by their text; null: they are more than so many. */
  private changesOf({ low, high, sequence }: Followed, max: number): ReadonlyMap<string, Uint8Array> | null {
    const changed = new Map<string, Uint8Array>();
    for (const { text, key } of this.host.versions.writtenAfter(low, high, sequence)) {
      changed.set(text, key);
      if (changed.size > max) return null;
    }
    return changed;
  }

  /** All of it or nothing; a rollback to a savepoint of before takes it back. */
  private *follow(followed: Followed, changed: ReadonlyMap<string, Uint8Array>): Generator<undefined, void> {
    const { tx } = this;
    const { sequence } = followed;
    const to = this.host.committedSequence;
    if (!followed.follower.isWanted()) {
      this.ranges = this.ranges.filter((other) => other !== followed);
      return;
    }
    if (changed.size > 0) {
      const savepoint = tx.savepoint();
      try {
        yield* this.change(followed, changed, to);
      } catch (error) {
        tx.rollbackTo(savepoint);
        throw error;
      } finally {
        tx.release(savepoint);
      }
      tx.undoes(() => {
        followed.sequence = sequence;
      });
    }
    followed.sequence = to;
  }

  private *change(
    { follower, sequence: from }: Followed,
    changed: ReadonlyMap<string, Uint8Array>,
    to: number,
  ): Generator<undefined, void> {
    const { host, tx } = this;
    const valueAt = (text: string, key: Uint8Array, sequence: number): Uint8Array | null => {
      const value = host.versions.valueOf(text, sequence);
      return value === undefined ? (host.engine.get(key) ?? null) : value;
    };
    const others = [...changed].filter(([text, key]) => !tx.isOwn(text, key));
    for (const [i, [text, key]] of others.entries()) {
      const before = valueAt(text, key, from);
      if (before !== null) follower.removed(key, before);
      if (i % STEP_KEYS === STEP_KEYS - 1) yield;
    }
    for (const [i, [text, key]] of others.entries()) {
      const now = valueAt(text, key, to);
      if (now !== null) follower.added(key, now);
      if (i % STEP_KEYS === STEP_KEYS - 1) yield;
    }
  }
}
