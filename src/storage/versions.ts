/**
 * The recent versions of keys, in memory: commits that the engine has not applied yet (they wait for the end of the
 * turn), and, while transactions are open, everything replaced after the oldest of their snapshots. A read at a
 * snapshot looks here first and then in the engine. Owned by the shard; empty whenever nothing is pending or open.
 *
 * A reader has a floor: the newest sequence that the engine had applied when it took its snapshot. Versions above the
 * lowest floor of all open readers stay, and each key that has such versions keeps the value it had before them.
 */
import type { Operation } from "./engine.js";
import { createOrderedMap, type OrderedMap } from "./ordered-map.js";

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

/** Memory of one version beside its bytes, roughly. */
const OVERHEAD_BYTES = 200;

export class RecentVersions {
  readonly #keys = new Map<string, VersionedKey>();
  /** The same keys in order; made when somebody needs order, kept until the map is empty again. */
  #ordered: OrderedMap<VersionedKey> | null = null;
  /** What is to be pruned, in commit order from `#oldest` on. */
  #history: { readonly sequence: number; readonly keys: readonly VersionedKey[] }[] = [];
  #oldest = 0;
  /** Keys written by commits that the engine has not applied. */
  #pending: VersionedKey[] = [];
  #bytes = 0;

  get size(): number {
    return this.#keys.size;
  }

  /** Approximate memory held. */
  get bytes(): number {
    return this.#bytes;
  }

  find(text: string): VersionedKey | undefined {
    return this.#keys.get(text);
  }

  ordered(): OrderedMap<VersionedKey> {
    if (this.#ordered === null) {
      this.#ordered = createOrderedMap();
      for (const entry of this.#keys.values()) this.#ordered.set(entry.text, entry);
    }
    return this.#ordered;
  }

  add(sequence: number, writes: Iterable<Operation & { readonly text: string }>): void {
    const keys: VersionedKey[] = [];
    for (const { text, key, value } of writes) {
      const entry = this.#keys.get(text);
      this.#bytes += OVERHEAD_BYTES + (value === null ? 0 : value.length);
      if (entry !== undefined) {
        entry.newest = { sequence, value, older: entry.newest };
        keys.push(entry);
        continue;
      }
      const created = { text, key, newest: { sequence, value, older: null }, base: undefined };
      this.#bytes += key.length;
      this.#keys.set(text, created);
      this.#ordered?.set(text, created);
      keys.push(created);
    }
    this.#history.push({ sequence, keys });
    for (const entry of keys) this.#pending.push(entry);
  }

  /** The newest value of each key that the engine has not applied; every key once. */
  pendingOperations(): Operation[] {
    const operations: Operation[] = [];
    for (const entry of new Set(this.#pending)) operations.push({ key: entry.key, value: entry.newest.value });
    return operations;
  }

  /** Before the engine applies the pending commits: keeps the values that they replace, for open readers. */
  keepReplaced(getMany: (keys: readonly Uint8Array[]) => (Uint8Array | undefined)[]): void {
    const entries = [...new Set(this.#pending)].filter((entry) => entry.base === undefined);
    const values = getMany(entries.map((entry) => entry.key));
    for (let i = 0; i < entries.length; i++) {
      entries[i]!.base = values[i] ?? null;
      this.#bytes += values[i]?.length ?? 0;
    }
  }

  /** The engine has applied all pending commits. */
  applied(): void {
    this.#pending = [];
  }

  /** Forgets the commits from `first` on, which the engine has not applied. */
  undo(first: number): void {
    while (this.#history.length > this.#oldest && this.#history.at(-1)!.sequence >= first) {
      for (const entry of this.#history.pop()!.keys) {
        this.#bytes -= OVERHEAD_BYTES + (entry.newest.value?.length ?? 0);
        if (entry.newest.older !== null) entry.newest = entry.newest.older;
        else this.#remove(entry);
      }
    }
    this.#pending = [];
  }

  /** All open readers have floors of at least `floor`, which the engine has applied: drops what none needs. */
  prune(floor: number): void {
    while (this.#oldest < this.#history.length && this.#history[this.#oldest]!.sequence <= floor) {
      for (const entry of this.#history[this.#oldest]!.keys) this.#pruneKey(entry, floor);
      this.#oldest++;
    }
    if (this.#oldest * 2 > this.#history.length) {
      this.#history = this.#history.slice(this.#oldest);
      this.#oldest = 0;
    }
    if (this.#keys.size === 0) this.#ordered = null;
  }

  /** Drops everything: nothing is pending and no reader is open. */
  clear(): void {
    if (this.#keys.size > 0) this.#keys.clear();
    this.#ordered = null;
    this.#history = [];
    this.#oldest = 0;
    this.#pending = [];
    this.#bytes = 0;
  }

  #pruneKey(entry: VersionedKey, floor: number): void {
    if (entry.newest.sequence <= floor) {
      if (this.#keys.get(entry.text) !== entry) return;
      for (let version: Version | null = entry.newest; version !== null; version = version.older) {
        this.#bytes -= OVERHEAD_BYTES + (version.value?.length ?? 0);
      }
      this.#remove(entry);
      return;
    }
    let version = entry.newest;
    while (version.older !== null && version.older.sequence > floor) version = version.older;
    const base = version.older;
    if (base === null) return;
    version.older = null;
    this.#bytes -= OVERHEAD_BYTES + (entry.base?.length ?? 0);
    entry.base = base.value;
    for (let dropped = base.older; dropped !== null; dropped = dropped.older) {
      this.#bytes -= OVERHEAD_BYTES + (dropped.value?.length ?? 0);
    }
  }

  #remove(entry: VersionedKey): void {
    this.#bytes -= entry.key.length + (entry.base?.length ?? 0);
    this.#keys.delete(entry.text);
    this.#ordered?.delete(entry.text);
  }
}

/** The key's value at a snapshot: null if it had none, undefined if the engine must be asked. */
export function valueAt(entry: VersionedKey, snapshot: number): Uint8Array | null | undefined {
  for (let version: Version | null = entry.newest; version !== null; version = version.older) {
    if (version.sequence <= snapshot) return version.value;
  }
  return entry.base;
}
