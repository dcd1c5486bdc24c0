/**
 * The recent versions of keys, in memory: commits that the engine has not applied yet (they wait for the end of the
 * turn), and, while transactions are open, everything replaced after the oldest of their snapshots. A read at a
 * snapshot looks here first and then in the engine. Owned by the shard; empty whenever nothing is pending or open.
 *
 * A reader has a floor: the newest sequence that the engine had applied when it took its snapshot. Versions above the
 * lowest floor of all open readers stay, and each key that has such versions keeps the value it had before them.
 */

import {
  isOverwrittenBy,
  type LargeCommit,
  type LargeSource,
  type OwnWrites,
  releaseSources,
  type TextOperation,
  touches,
  writeOf,
} from "./large-source.js";
import type { Operation } from "./operation.js";
import { createOrderedMap, keyText, type OrderedMap, STOP_WALK } from "./ordered-map.js";

interface Version {
  readonly sequence: number;
  /** Null: deleted. */
  readonly value: Uint8Array | null;
  older: Version | null;
}

export interface VersionedKey {
  readonly text: string;
  readonly key: Uint8Array;
  newest: Version;
  /** Value before the oldest version, null if there was none; undefined while the engine still has it. */
  base: Uint8Array | null | undefined;
}

interface Commit {
  readonly sequence: number;
  readonly micros: number;
  /** Keys that have a version of this commit. */
  readonly keys: VersionedKey[];
  readonly large: LargeCommit | null;
  /** Of a large one: the engine has all of it. */
  isInEngine?: boolean;
}

/** Memory of one version beside its bytes, roughly. */
const OVERHEAD_BYTES = 200;

/**
 * Keys whose versions are dropped at a time: where order is kept, some take ten microseconds each. While there are
 * more, as many as were added meanwhile are dropped beside them, so they do not pile up.
 */
const PRUNED_KEYS = 256;

/** Keys from which on their order is kept. */
const ORDERED_KEYS = 2048;

const NO_LARGE_COMMITS: readonly LargeCommit[] = [];

export class RecentVersions {
  private readonly keys = new Map<string, VersionedKey>();
  /** The same keys in order; made when somebody needs order, kept until the map is empty again. */
  private orderedKeys: OrderedMap<VersionedKey> | null = null;
  /** What is to be pruned, in commit order from `oldest` on. */
  private history: Commit[] = [];
  private oldest = 0;
  /** Of the keys of `oldest`, those that have been pruned. */
  private prunedKeys = 0;
  /** Versions made since the last call of `prune`, which left something. */
  private added = 0;
  private isBehind = false;
  /** Commits that the engine has not applied; large ones are the shard's affair. */
  private pending: Commit[] = [];
  /** Oldest first. */
  private large: Commit[] = [];
  private bytesHeld = 0;

  /** 0: there are no recent versions. */
  get size(): number {
    return this.keys.size + this.large.length;
  }

  get hasPending(): boolean {
    return this.pending.length > 0;
  }

  /**
   * The large commits that a snapshot sees and the engine does not have, newest first. Keys that also have versions are
   * found among those; so are all keys that a later commit has changed.
   */
  largeCommits(snapshot: number): readonly LargeCommit[] {
    if (this.large.length === 0) return NO_LARGE_COMMITS;
    return this.large
      .flatMap(({ sequence, large, isInEngine }) => (sequence <= snapshot && isInEngine !== true ? [large!] : []))
      .reverse();
  }

  /** The engine has all of the large commits up to `sequence`: who begins to read a range finds them there. */
  largeApplied(sequence: number): void {
    for (const commit of this.large) if (commit.sequence <= sequence) commit.isInEngine = true;
  }

  /** Approximate memory held. */
  get bytes(): number {
    return this.bytesHeld;
  }

  /** The key's value at a snapshot: null if it had none, undefined if the engine must be asked. */
  valueOf(text: string, snapshot: number): Uint8Array | null | undefined {
    const entry = this.keys.get(text);
    if (entry !== undefined) return valueAt(entry, snapshot);
    for (let i = this.large.length - 1; i >= 0; i--) {
      const { sequence, large } = this.large[i]!;
      const write = sequence <= snapshot ? writeOf(large!, text) : undefined;
      if (write !== undefined) return write.value;
    }
    return undefined;
  }

  /** Whether a commit after `snapshot` wrote the key. */
  isChanged(text: string, snapshot: number): boolean {
    const entry = this.keys.get(text);
    if (entry !== undefined) return entry.newest.sequence > snapshot;
    return this.large.some(
      ({ sequence, large }) => sequence > snapshot && large!.sources.some(({ writes }) => writes.has(text)),
    );
  }

  /** Whether a commit after `snapshot` wrote a key with low ≤ key < high. */
  isRangeChanged(low: string, high: string, snapshot: number): boolean {
    const visit = (_text: string, entry: VersionedKey) => (entry.newest.sequence > snapshot ? STOP_WALK : undefined);
    // A walk answers with a number when nothing stopped it.
    if (this.keys.size > 0 && typeof this.ordered().forRange(low, high, false, visit) !== "number") return true;
    return this.largeAfter(snapshot).some((large) => touches(large, low, high));
  }

  /**
   * The keys that commits after `snapshot` wrote; null when there are more than `max`, or a large one is among them.
   */
  changedSince(snapshot: number, max: number): readonly VersionedKey[] | null {
    return this.largeAfter(snapshot).length > 0 ? null : this.fewKeysAfter(snapshot, max);
  }

  /** The keys with low ≤ key < high that commits after `snapshot` wrote; a key may come several times. */
  *writtenAfter(low: string, high: string, snapshot: number): IterableIterator<Pick<VersionedKey, "text" | "key">> {
    for (let i = this.history.length - 1; i >= this.oldest && this.history[i]!.sequence > snapshot; i--) {
      const { keys, large } = this.history[i]!;
      for (const entry of keys) if (entry.text >= low && entry.text < high) yield entry;
      for (const { ordered } of large?.sources ?? []) {
        for (const [text, write] of ordered.clone().entries(low)) {
          if (text >= high) break;
          yield write;
        }
      }
    }
  }

  allKeys(): Iterable<VersionedKey> {
    return this.keys.values();
  }

  /** The keys that commits after `sequence` wrote, those of large ones where they had versions; some several times. */
  keysAfter(sequence: number): readonly VersionedKey[] {
    return this.fewKeysAfter(sequence, Number.POSITIVE_INFINITY)!;
  }

  private fewKeysAfter(sequence: number, max: number): readonly VersionedKey[] | null {
    const keys: VersionedKey[] = [];
    for (let i = this.history.length - 1; i >= this.oldest && this.history[i]!.sequence > sequence; i--) {
      const commit = this.history[i]!;
      if (keys.length + commit.keys.length > max) return null;
      for (const entry of commit.keys) keys.push(entry);
    }
    return keys;
  }

  /** What the key has, if it has versions. */
  entryOf(text: string): VersionedKey | undefined {
    return this.keys.get(text);
  }

  largeAfter(after: number): readonly LargeCommit[] {
    return this.large.flatMap(({ sequence, large }) => (sequence > after ? [large!] : []));
  }

  /**
   * Whether a commit wrote one of the keys after its transaction had first written it; no commit up to `validFrom` did,
   * and no large one up to `largeFrom`. Looks through the shorter list of the two.
   */
  isOverwritten(writes: OwnWrites, validFrom: number, largeFrom = validFrom): boolean {
    const changed = this.fewKeysAfter(validFrom, writes.isStored ? Number.POSITIVE_INFINITY : writes.size);
    if (changed === null) {
      for (const { text, snapshot } of writes.values()) {
        const entry = this.keys.get(text);
        if (entry !== undefined && entry.newest.sequence > snapshot) return true;
      }
    } else {
      for (const { text, newest } of changed) {
        const write = writes.get(text);
        if (write !== undefined && newest.sequence > write.snapshot) return true;
      }
    }
    return this.largeAfter(largeFrom).some((commit) => isOverwrittenBy(commit, writes));
  }

  ordered(): OrderedMap<VersionedKey> {
    if (this.orderedKeys === null) {
      this.orderedKeys = createOrderedMap();
      for (const entry of this.keys.values()) this.orderedKeys.set(entry.text, entry);
    }
    return this.orderedKeys;
  }

  /** `micros`: when the commit was. */
  add(sequence: number, writes: Iterable<TextOperation>, micros = 0): void {
    const keys: VersionedKey[] = [];
    for (const { text, key, value } of writes) {
      const entry = this.keys.get(text) ?? this.ofLarge(text, key);
      this.bytesHeld += OVERHEAD_BYTES + (value === null ? 0 : value.length);
      if (entry !== undefined) {
        entry.newest = { sequence, value, older: entry.newest };
        this.added++;
        keys.push(entry);
      } else keys.push(this.create(text, key, { sequence, value, older: null }));
    }
    const commit = { sequence, micros, keys, large: null };
    this.history.push(commit);
    this.pending.push(commit);
  }

  /** The same of all writes of a large commit. */
  addEach(sequence: number, writes: Iterable<TextOperation>, sources: readonly LargeSource[], micros: number): void {
    this.add(sequence, writes, micros);
    releaseSources(sources);
  }

  private create(text: string, key: Uint8Array, newest: Version): VersionedKey {
    const created = { text, key, newest, base: undefined };
    this.bytesHeld += key.length;
    this.added++;
    this.keys.set(text, created);
    this.orderedKeys?.set(text, created);
    return created;
  }

  /**
   * The engine takes its operations later, a part at a time (`keepReplacedBy`); until then it has to stay here.
   * @param known of the keys that have versions, only these can be among its own; null: all can.
   */
  addLarge(large: LargeCommit, known: Iterable<VersionedKey> | null = null): void {
    const commit: Commit = { sequence: large.sequence, micros: 0, keys: [], large };
    let size = 0;
    for (const { writes } of large.sources) size += writes.isStored ? Number.POSITIVE_INFINITY : writes.size;
    if (known !== null || this.keys.size < size) {
      for (const entry of known ?? this.keys.values()) {
        // It may have been dropped since it was found.
        if (known !== null && this.keys.get(entry.text) !== entry) continue;
        const write = writeOf(large, entry.text);
        if (write !== undefined) this.push(entry, commit, write.value);
      }
    } else {
      // The version that is made last counts.
      for (const { writes } of [...large.sources].reverse()) {
        for (const { text, value } of writes.values()) {
          const entry = this.keys.get(text);
          if (entry !== undefined) this.push(entry, commit, value);
        }
      }
    }
    this.history.push(commit);
    this.large.push(commit);
  }

  private push(entry: VersionedKey, commit: Commit, value: Uint8Array | null): void {
    entry.newest = { sequence: commit.sequence, value, older: entry.newest };
    commit.keys.push(entry);
    this.added++;
    this.bytesHeld += OVERHEAD_BYTES + (value?.length ?? 0);
  }

  /** Versions for a key of large commits that has none; undefined when it is in none of them. */
  private ofLarge(text: string, key: Uint8Array): VersionedKey | undefined {
    let entry: VersionedKey | undefined;
    for (const commit of this.large) {
      const write = writeOf(commit.large!, text);
      if (write === undefined) continue;
      const { sequence } = commit;
      if (entry !== undefined) this.push(entry, commit, write.value);
      else {
        entry = this.create(text, key, { sequence, value: write.value, older: null });
        commit.keys.push(entry);
        this.bytesHeld += OVERHEAD_BYTES + (write.value?.length ?? 0);
      }
    }
    return entry;
  }

  /** The newest value that commits up to `upTo` gave each key, where the engine has not applied it; every key once. */
  pendingOperations(upTo: number): Operation[] {
    const operations: Operation[] = [];
    for (const entry of this.pendingKeys(upTo)) {
      let version = entry.newest;
      // A pending commit gave the key a version, so there is one.
      while (version.sequence > upTo) version = version.older!;
      operations.push({ key: entry.key, value: version.value, text: entry.text });
    }
    return operations;
  }

  /**
   * All values that commits up to `upTo` gave keys, in the order of the commits, where the engine has not applied them.
   */
  pendingVersions(upTo: number): Operation[] {
    const operations: Operation[] = [];
    for (const { sequence, micros, keys } of this.pending) {
      if (sequence > upTo) break;
      const commit = { sequence, micros };
      for (const { text, key, newest } of keys) {
        let version = newest;
        while (version.sequence > sequence) version = version.older!;
        operations.push({ key, value: version.value, text, commit });
      }
    }
    return operations;
  }

  private pendingKeys(upTo: number): ReadonlySet<VersionedKey> {
    const keys = new Set<VersionedKey>();
    for (const commit of this.pending) {
      if (commit.sequence > upTo) break;
      for (const entry of commit.keys) keys.add(entry);
    }
    return keys;
  }

  /**
   * Before the engine applies the pending commits up to `upTo`: keeps the values that they replace, for open readers.
   */
  keepReplaced(getMany: (keys: readonly Uint8Array[]) => (Uint8Array | undefined)[], upTo: number): void {
    this.keepBases([...this.pendingKeys(upTo)], getMany);
  }

  /** The same before the engine takes some operations of a large commit. */
  keepReplacedBy(
    operations: readonly Operation[],
    getMany: (keys: readonly Uint8Array[]) => (Uint8Array | undefined)[],
  ): void {
    // Made later, of very many keys, it would take longer than a turn.
    if (this.orderedKeys === null && this.keys.size >= ORDERED_KEYS) this.ordered();
    this.keepBases(
      operations.map(({ key }) => {
        const text = keyText(key);
        return this.keys.get(text) ?? this.ofLarge(text, key)!;
      }),
      getMany,
    );
  }

  private keepBases(
    keys: readonly VersionedKey[],
    getMany: (keys: readonly Uint8Array[]) => (Uint8Array | undefined)[],
  ): void {
    const entries = keys.filter((entry) => entry.base === undefined);
    const values = getMany(entries.map((entry) => entry.key));
    for (let i = 0; i < entries.length; i++) {
      entries[i]!.base = values[i] ?? null;
      this.bytesHeld += values[i]?.length ?? 0;
    }
  }

  /** The engine has applied the pending commits up to `upTo`. */
  applied(upTo: number): void {
    const rest = this.pending.findIndex(({ sequence }) => sequence > upTo);
    this.pending = rest === -1 ? [] : this.pending.slice(rest);
  }

  /** Forgets the commits from `first` on, which the engine has not applied. */
  undo(first: number): void {
    while (this.history.length > this.oldest && this.history.at(-1)!.sequence >= first) {
      const commit = this.history.pop()!;
      if (commit.large !== null) this.drop(commit);
      for (const entry of commit.keys) {
        this.bytesHeld -= OVERHEAD_BYTES + (entry.newest.value?.length ?? 0);
        if (entry.newest.older !== null) entry.newest = entry.newest.older;
        else this.remove(entry);
      }
    }
    this.pending = this.pending.filter(({ sequence }) => sequence < first);
  }

  /**
   * All open readers have floors of at least `floor`, which the engine has applied: drops what none needs. False: not
   * all of it, so that it does not take longer than a turn. What is left says the same as the engine.
   */
  prune(floor: number): boolean {
    if (this.pending.length === 0 && (this.history.at(-1)?.sequence ?? 0) <= floor) {
      // One by one, the keys of a large commit would take longer than a turn.
      this.clear();
      return true;
    }
    let rest = PRUNED_KEYS + (this.isBehind ? this.added : 0);
    this.added = 0;
    for (let commit = this.oldestUpTo(floor); commit !== null; commit = this.oldestUpTo(floor)) {
      const { keys } = commit;
      for (; this.prunedKeys < keys.length && rest > 0; rest--) this.pruneKey(keys[this.prunedKeys++]!, floor);
      if (this.prunedKeys < keys.length) break;
      if (commit.large !== null) this.drop(commit);
      this.oldest++;
      this.prunedKeys = 0;
    }
    this.isBehind = this.oldestUpTo(floor) !== null;
    if (this.oldest * 2 > this.history.length) {
      this.history = this.history.slice(this.oldest);
      this.oldest = 0;
    }
    if (this.keys.size === 0) this.orderedKeys = null;
    return !this.isBehind;
  }

  /** What is to be pruned first; null: nothing. */
  private oldestUpTo(floor: number): Commit | null {
    const commit = this.history[this.oldest];
    return commit !== undefined && commit.sequence <= floor ? commit : null;
  }

  /** Drops everything: nothing is pending and no reader is open. */
  clear(): void {
    if (this.keys.size > 0) this.keys.clear();
    this.orderedKeys = null;
    this.history = [];
    this.oldest = 0;
    this.prunedKeys = 0;
    this.isBehind = false;
    this.pending = [];
    for (const { large } of this.large) releaseSources(large!.sources);
    this.large = [];
    this.bytesHeld = 0;
  }

  private drop(commit: Commit): void {
    this.large = this.large.filter((other) => other !== commit);
    releaseSources(commit.large!.sources);
  }

  private pruneKey(entry: VersionedKey, floor: number): void {
    if (entry.newest.sequence <= floor) {
      if (this.keys.get(entry.text) !== entry) return;
      for (let version: Version | null = entry.newest; version !== null; version = version.older) {
        this.bytesHeld -= OVERHEAD_BYTES + (version.value?.length ?? 0);
      }
      this.remove(entry);
      return;
    }
    let version = entry.newest;
    while (version.older !== null && version.older.sequence > floor) version = version.older;
    const base = version.older;
    if (base === null) return;
    version.older = null;
    this.bytesHeld -= OVERHEAD_BYTES + (entry.base?.length ?? 0);
    entry.base = base.value;
    for (let dropped = base.older; dropped !== null; dropped = dropped.older) {
      this.bytesHeld -= OVERHEAD_BYTES + (dropped.value?.length ?? 0);
    }
  }

  private remove(entry: VersionedKey): void {
    this.bytesHeld -= entry.key.length + (entry.base?.length ?? 0);
    this.keys.delete(entry.text);
    this.orderedKeys?.delete(entry.text);
  }
}

/** The key's value at a snapshot: null if it had none, undefined if the engine must be asked. */
export function valueAt(entry: VersionedKey, snapshot: number): Uint8Array | null | undefined {
  for (let version: Version | null = entry.newest; version !== null; version = version.older) {
    if (version.sequence <= snapshot) return version.value;
  }
  return entry.base;
}
