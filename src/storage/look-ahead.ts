/**
 * What a large commit has in common with others' commits, found in turns before it is made: rows in a file are too many
 * to be looked up within the commit's own turn. That then looks only for what was committed since. Made by
 * `prepareCommit` of a transaction, and owned by it.
 */
import type { CheckedTurns } from "../protocol/turns.js";
import { batchesOf, inSteps } from "./in-steps.js";
import type { KeyLocks } from "./key-locks.js";
import type { LargeCommit } from "./large-source.js";
import { Load } from "./load.js";
import type { CommitParts } from "./operation.js";
import type { SortedRun } from "./sorted-run.js";
import type { RecentVersions, VersionedKey } from "./versions.js";

/** Keys that are sorted at a time, so that a file is read from its beginning to its end. */
const KEYS_AT_ONCE = 2048;
/** Keys looked up between two looks at the clock. */
const KEYS_PER_LOOK = 16;
/** Keys of two runs that are compared between two looks. */
const COMPARED_PER_LOOK = 32;
/** So many keys of one run before the next one of the other, and the rest is searched for it. */
const PASSED_MAX = 64;
/** So few new keys are left to the commit; others may commit faster than they are looked up. */
const KEYS_LEFT = 64;
const ROUNDS_MAX = 8;

/** Where others commit: the shard. */
interface Committed {
  readonly committedSequence: number;
  readonly versions: RecentVersions;
  readonly locks: KeyLocks;
}

interface OwnWrite {
  readonly text: string;
  readonly snapshot: number;
}

/** What the transaction has written (write-set.ts). */
interface Own {
  /** Single writes. */
  readonly writes: ReadonlyMap<string, OwnWrite>;
  readonly loads: readonly Load[];
}

/** A large commit of which the log has most. `W`: a single write. */
export interface PreparedCommit<W extends OwnWrite = OwnWrite> {
  /** All of the writes but those in `late`. */
  readonly parts: CommitParts;
  readonly late: Map<string, W>;
  readonly ahead: LookAhead;
}

export class LookAhead {
  /** No commit up to here is in the way of it: single ones and large ones. */
  keysTo: number;
  largeTo: number;
  /** Another commit is in the way. */
  isOverwritten = false;
  /** Keys that have recent versions and that it writes, too; null: not looked for. */
  readonly hits: Set<VersionedKey> | null;
  private isBegun = false;

  /** `validFrom`: no commit up to there can be in the way. `isUnseen`: no other commit can, and nobody asks. */
  constructor(
    private readonly own: Own,
    private readonly host: Committed,
    validFrom: number,
    private readonly isUnseen: boolean,
  ) {
    this.keysTo = validFrom;
    this.largeTo = validFrom;
    this.hits = !isUnseen && own.loads.some(({ isStored }) => isStored) ? new Set() : null;
  }

  /** Looks at what was committed up to now. `checkOpen` throws if the transaction has been ended. */
  async goOn(turns: CheckedTurns, checkOpen: () => void): Promise<void> {
    checkOpen();
    if (!this.isUnseen) await inSteps(turns, checked(this.rounds(), checkOpen));
  }

  /**
   * All keys are looked up again: a large commit that is with the engine gives its keys versions of earlier sequences.
   */
  restart(): void {
    this.isBegun = false;
  }

  /** Keys that have versions, among them all that it writes; null: not known. `late`: written since. */
  knownKeys(late: Iterable<OwnWrite>): Iterable<VersionedKey> | null {
    const { hits, host } = this;
    const { versions } = host;
    if (hits === null) return null;
    const known = new Set([...hits, ...versions.keysAfter(this.keysTo)]);
    for (const { text } of late) {
      const entry = versions.entryOf(text);
      if (entry !== undefined) known.add(entry);
    }
    return known;
  }

  private *rounds(): Generator<undefined, void> {
    const { versions } = this.host;
    for (let round = 0; round < ROUNDS_MAX && !this.isOverwritten; round++) {
      const upTo = this.host.committedSequence;
      const large = versions.largeAfter(this.largeTo);
      if (this.hits !== null) {
        const keys = this.isBegun ? versions.keysAfter(this.keysTo) : versions.allKeys();
        this.isBegun = true;
        yield* this.lookUp(keys, this.hits);
        this.keysTo = upTo;
      }
      if (this.hits !== null) yield* this.noteHeld();
      for (const commit of large) if (yield* this.meets(commit)) this.isOverwritten = true;
      this.largeTo = upTo;
      const left = this.hits === null ? 0 : versions.keysAfter(upTo).length;
      if (left <= KEYS_LEFT && versions.largeAfter(upTo).length === 0) return;
    }
  }

  private *lookUp(keys: Iterable<VersionedKey>, hits: Set<VersionedKey>): Generator<undefined, void> {
    const { writes, loads } = this.own;
    for (const some of batchesOf(keys, KEYS_AT_ONCE)) {
      some.sort((a, b) => (a.text < b.text ? -1 : 1));
      yield;
      for (const [i, entry] of some.entries()) {
        if (i % KEYS_PER_LOOK === 0) yield;
        const { text } = entry;
        for (const write of [writes.get(text), ...loads.map((load) => load.kept(text))]) {
          if (write === undefined) continue;
          hits.add(entry);
          if (entry.newest.sequence > write.snapshot) this.isOverwritten = true;
        }
      }
    }
  }

  /** Keys that others hold are compared with its own when it commits. */
  private *noteHeld(): Generator<undefined, void> {
    for (const some of batchesOf(this.host.locks.keys(), KEYS_AT_ONCE)) {
      some.sort();
      for (const [i, text] of some.entries()) {
        if (i % KEYS_PER_LOOK === 0) yield;
        for (const load of this.own.loads) load.noteKey(text);
      }
    }
  }

  /** Whether a large commit of others, after what was seen, has a key that is written here. */
  private *meets({ sequence, sources }: LargeCommit): Generator<undefined, boolean> {
    const { writes: singles, loads } = this.own;
    for (const { writes } of sources) {
      if (yield* meetsSingles(writes, singles.values(), (write) => sequence > write.snapshot)) return true;
      for (const load of loads) {
        if (sequence <= load.snapshot) continue;
        if (!(writes instanceof Load)) {
          if (yield* meetsSingles(load, writes.values(), () => true)) return true;
        } else if (yield* haveOneInCommon(load, writes)) return true;
      }
    }
    return false;
  }
}

function* checked(steps: Iterator<undefined, void>, checkOpen: () => void): Generator<undefined, void> {
  for (;;) {
    checkOpen();
    if (steps.next().done === true) return;
    yield;
  }
}

function* meetsSingles<W extends Pick<OwnWrite, "text">>(
  keys: { has(text: string): boolean },
  singles: Iterable<W>,
  counts: (write: W) => boolean,
): Generator<undefined, boolean> {
  for (const some of batchesOf(singles, KEYS_AT_ONCE)) {
    const texts = some.filter(counts).map(({ text }) => text);
    texts.sort();
    for (const [i, text] of texts.entries()) {
      if (i % KEYS_PER_LOOK === 0) yield;
      if (keys.has(text)) return true;
    }
  }
  return false;
}

function* haveOneInCommon(one: Load, other: Load): Generator<undefined, boolean> {
  for (const run of one.runs) {
    for (const otherRun of other.runs) {
      const length = Math.min(run.prefix.length, otherRun.prefix.length);
      const order = Buffer.compare(run.prefix.subarray(0, length), otherRun.prefix.subarray(0, length));
      if (order === 0 && (yield* haveKeyInCommon(run, otherRun))) return true;
    }
  }
  return false;
}

/** Whether two sorted runs have a key in common; in steps (in-steps.ts). */
export function* haveKeyInCommon(a: SortedRun, b: SortedRun): Generator<undefined, boolean> {
  if (a.size === 0 || b.size === 0) return false;
  const pair = { a, b, i: 0, j: 0, passed: 0 };
  for (;;) {
    const found = compareSome(pair);
    if (found !== null) return found;
    yield;
  }
}

/** Null: neither has ended. A function of its own: V8 makes slower code of loops that a generator pauses in. */
function compareSome(pair: { a: SortedRun; b: SortedRun; i: number; j: number; passed: number }): boolean | null {
  const { a, b } = pair;
  for (let compared = 0; compared < COMPARED_PER_LOOK; compared++) {
    if (pair.i >= a.size || pair.j >= b.size) return false;
    const key = a.keyOf(a.numberAt(pair.i));
    const otherKey = b.keyOf(b.numberAt(pair.j));
    const order = Buffer.compare(key, otherKey);
    if (order === 0) return true;
    // Counted up while `a` is behind, down while `b` is.
    if (order < 0) pair.passed = Math.max(pair.passed, 0) + 1;
    else pair.passed = Math.min(pair.passed, 0) - 1;
    if (pair.passed > PASSED_MAX) pair.i = a.lowerBound(otherKey);
    else if (pair.passed < -PASSED_MAX) pair.j = b.lowerBound(key);
    else if (order < 0) pair.i++;
    else pair.j++;
    if (Math.abs(pair.passed) > PASSED_MAX) pair.passed = 0;
  }
  return null;
}
