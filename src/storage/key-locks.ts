/**
 * Keys that open transactions hold against each other. Only transactions at read committed whose clients expect to wait take
 * them: what they write or lock stays as it is until they end, and others that write the same wait or run their statement again.
 * All other transactions are validated when they commit, and respect the keys that are held. One table per shard.
 */
import { DbError } from "../protocol/errors.js";
import { isRowKey, ROW_PREFIX_BYTES, storageIdOf } from "./keys.js";

/** Of a key: what says which table's or index's it is. */
const PREFIX_CHARACTERS = ROW_PREFIX_BYTES;

/** Keys that one transaction may hold; what it writes beyond them is validated at its commit. */
const HELD_MAX = 100_000;

/** The statement met a key that another transaction holds, or that has changed since the statement began. */
export class KeyConflict extends DbError {
  /** `holder` null: nobody holds the key, it has changed. */
  constructor(readonly holder: KeyHolder | null) {
    super("serialization_failure", "could not serialize access due to concurrent update", { sqlstate: "40001" });
  }
}

/** What one open transaction holds. */
export class KeyHolder {
  private readonly held: string[] = [];
  /** Whose keys it holds, by their prefixes; true: it has written one. */
  private readonly prefixes = new Map<string, boolean>();
  private lastPrefix = "";
  private lastWrites = false;
  /** Tells transactions apart that hold keys. */
  readonly number: number;
  private waiting: (() => void)[] = [];
  private hasEnded = false;
  /** Whom its statement waits for. */
  waitsFor: KeyHolder | null = null;

  constructor(
    private readonly locks: KeyLocks,
    /** Whether a commit after that snapshot wrote the key. */
    private readonly isChanged: (text: string, snapshot: number) => boolean,
    /** Whoever runs the transaction. */
    readonly owner: object | null = null,
  ) {
    this.number = locks.nextNumber();
  }

  /** Throws KeyConflict. `snapshot`: what the statement reads. `writes`: it is more than held. */
  take(text: string, snapshot: number, writes = true): void {
    const holder = this.locks.holderOf(text);
    if (holder === this || this.hasEnded) return;
    if (holder !== undefined) throw new KeyConflict(holder);
    if (this.isChanged(text, snapshot)) throw new KeyConflict(null);
    if (this.held.length >= HELD_MAX) return;
    this.held.push(text);
    this.locks.hold(text, this);
    if (writes !== this.lastWrites || !text.startsWith(this.lastPrefix) || this.lastPrefix === "")
      this.note(text, writes);
  }

  private note(text: string, writes: boolean): void {
    this.lastPrefix = text.slice(0, PREFIX_CHARACTERS);
    this.lastWrites = writes;
    this.prefixes.set(this.lastPrefix, writes || this.prefixes.get(this.lastPrefix) === true);
    this.locks.open.add(this);
  }

  /** The tables of which it holds rows, by storage id; true: it has changed one. */
  *tables(): Iterable<readonly [storageId: number, writes: boolean]> {
    for (const [prefix, writes] of this.prefixes) {
      const key = Buffer.from(prefix, "latin1");
      if (isRowKey(key)) yield [storageIdOf(key), writes];
    }
  }

  isHeldByAnother(text: string): boolean {
    const holder = this.locks.holderOf(text);
    return holder !== undefined && holder !== this;
  }

  /** Whether it waits, perhaps through others, for `holder`. */
  waitsOn(holder: KeyHolder): boolean {
    for (let next: KeyHolder | null = this; next !== null; next = next.waitsFor) if (next === holder) return true;
    return false;
  }

  /** Calls back when everything is released. Returns what forgets the call. */
  whenReleased(call: () => void): () => void {
    if (this.hasEnded) call();
    else this.waiting.push(call);
    return () => {
      this.waiting = this.waiting.filter((other) => other !== call);
    };
  }

  /** The transaction has ended, or cannot commit any more. */
  release(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    for (const text of this.held) this.locks.free(text);
    this.locks.open.delete(this);
    this.held.length = 0;
    const { waiting } = this;
    this.waiting = [];
    for (const call of waiting) call();
  }
}

interface WrittenKeys {
  has(text: string): boolean;
}

export class KeyLocks {
  private readonly holders = new Map<string, KeyHolder>();
  /** Those that hold something. */
  readonly open = new Set<KeyHolder>();
  private lastNumber = 0;

  /** 32 bits, never 0. */
  nextNumber(): number {
    this.lastNumber = (this.lastNumber % 0xffffffff) + 1;
    return this.lastNumber;
  }

  get size(): number {
    return this.holders.size;
  }

  holderOf(text: string): KeyHolder | undefined {
    return this.holders.get(text);
  }

  hold(text: string, holder: KeyHolder): void {
    this.holders.set(text, holder);
  }

  free(text: string): void {
    this.holders.delete(text);
  }

  /** Who holds one of the keys, other than `own`; null: nobody. Looks through the shorter side. */
  holderAmong(
    writes: ReadonlyMap<string, unknown>,
    loads: readonly WrittenKeys[],
    own: KeyHolder | null,
  ): KeyHolder | null {
    const { holders } = this;
    if (holders.size === 0) return null;
    if (loads.length === 0 && writes.size < holders.size) {
      for (const text of writes.keys()) {
        const holder = holders.get(text);
        if (holder !== undefined && holder !== own) return holder;
      }
      return null;
    }
    for (const [text, holder] of holders) {
      if (holder !== own && (writes.has(text) || loads.some((keys) => keys.has(text)))) return holder;
    }
    return null;
  }
}
