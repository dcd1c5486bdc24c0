/**
 * Ranges that a transaction has read once to make something of, such as the entries of a new index. They do not count as
 * read. In place of that the transaction follows what others commit into them, up to its own commit. So an index can be
 * built while writers go on. Owned by the transaction.
 */
import { sqlError } from "../protocol/errors.js";
import type { CheckedTurns } from "../protocol/turns.js";
import type { Engine } from "./engine.js";
import { inSteps } from "./in-steps.js";
import { keyText } from "./ordered-map.js";
import type { KeyRange, RangeFollower } from "./store.js";
import type { RecentVersions } from "./versions.js";

export interface FollowedHost {
  readonly versions: RecentVersions;
  readonly committedSequence: number;
  readonly engine: Pick<Engine, "get">;
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

  /** `isOwn`: the transaction has written the key itself. Its commit fails if others have done so, too. */
  constructor(
    private readonly host: FollowedHost,
    private readonly isOwn: (text: string, key: Uint8Array) => boolean,
  ) {}

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
        const changed = this.changesOf(followed, Number.POSITIVE_INFINITY);
        keys += changed.size;
        await inSteps(turns, this.follow(followed, changed));
      }
      if (keys <= FEW_KEYS) return;
    }
  }

  /** The rest, at once. Throws serialization_failure where that would take too long. */
  finish(keysMax = COMMIT_KEYS_MAX): void {
    for (const followed of this.ranges) {
      if (followed.sequence === this.host.committedSequence) continue;
      const changed = this.changesOf(followed, keysMax);
      for (const _ of this.follow(followed, changed));
    }
  }

  /** The keys that others have written since, by their text. */
  private changesOf({ low, high, sequence }: Followed, max: number): ReadonlyMap<string, Uint8Array> {
    const changed = new Map<string, Uint8Array>();
    for (const { text, key } of this.host.versions.writtenAfter(low, high, sequence)) {
      changed.set(text, key);
      if (changed.size > max) throw sqlError("40001", "could not serialize access due to concurrent update");
    }
    return changed;
  }

  private *follow(followed: Followed, changed: ReadonlyMap<string, Uint8Array>): Generator<undefined, void> {
    const { follower, sequence: from } = followed;
    const { host } = this;
    const to = host.committedSequence;
    followed.sequence = to;
    const valueAt = (text: string, key: Uint8Array, sequence: number): Uint8Array | null => {
      const value = host.versions.valueOf(text, sequence);
      return value === undefined ? (host.engine.get(key) ?? null) : value;
    };
    const others = [...changed].filter(([text, key]) => !this.isOwn(text, key));
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
