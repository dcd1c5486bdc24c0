/**
 * Keys that open transactions hold against each other. Only transactions at read committed whose clients expect to wait
 * take them: what they write or lock stays as it is until they end, and others that write the same wait or run their
 * statement again. All other transactions are validated when they commit, and respect the keys that are held. One table
 * per shard.
 */
import { DbError } from "../protocol/errors.js";
import { isAsStrong, LOCK_STRENGTHS, type LockStrength, type TableLockMode } from "../protocol/lock-strength.js";
import { ROW_PREFIX_BYTES } from "../values/row-place.js";
import { isRowKey, storageIdOf } from "./keys.js";
import { keyText } from "./ordered-map.js";
import { excludes, TableLocks } from "./table-locks.js";

/** Of a key: what says which table's or index's it is. */
const PREFIX_CHARACTERS = ROW_PREFIX_BYTES;

/** Keys that one transaction may hold; what it writes beyond them is validated at its commit. */
const HELD_MAX = 100_000;

/** PostgreSQL's table of conflicting row locks (chapter 13.3.2 of its manual). */
const CONFLICTS: Readonly<Record<LockStrength, readonly LockStrength[]>> = {
  "key share": ["update"],
  share: ["no key update", "update"],
  "no key update": ["share", "no key update", "update"],
  update: LOCK_STRENGTHS,
};

/** The statement met a key that other transactions hold, or that has changed since the statement began. */
export class KeyConflict extends DbError {
  /** `holders` empty: nobody holds the key, it has changed. */
  constructor(readonly holders: readonly KeyHolder[]) {
    super("serialization_failure", "could not serialize access due to concurrent update", { sqlstate: "40001" });
  }

  /** One of those to wait for; after it the statement meets the others. */
  get holder(): KeyHolder | null {
    return this.holders[0] ?? null;
  }
}

/** What one open transaction holds. */
export class KeyHolder {
  /** Written, or locked FOR UPDATE. */
  private readonly held: string[] = [];
  /** Locked so that others may hold them, too. */
  private readonly shared: string[] = [];
  /** Whose keys it holds, by their prefixes; true: it has written one. */
  private readonly prefixes = new Map<string, boolean>();
  private lastPrefix = "";
  private lastWrites = false;
  /** Tells transactions apart that hold keys. */
  readonly number: number;
  private waiting: (() => void)[] = [];
  private hasEnded = false;
  /** Whom its statement waits for: all of them have to end. */
  waitsFor: readonly KeyHolder[] = [];

  constructor(
    private readonly locks: KeyLocks,
    /** Whether a commit after that snapshot wrote the key. */
    private readonly isChanged: (text: string, snapshot: number) => boolean,
    /** Whoever runs the transaction. */
    readonly owner: object | null = null,
  ) {
    this.number = locks.nextNumber();
  }

  /** Throws KeyConflict. `snapshot`: what the statement reads. `how`: as what it is held. */
  take(text: string, snapshot: number, how: LockStrength | "write" = "write"): void {
    const { locks } = this;
    const strength = how === "write" ? "update" : how;
    if (this.hasEnded || locks.holderOf(text) === this) return;
    if (locks.tables.size > 0) this.requireTable(text, how === "write" ? "row exclusive" : "row share");
    const against = locks.holdersAgainst(text, strength, this);
    if (against.length > 0) throw new KeyConflict(against);
    const own = locks.sharedBy(text, this);
    if (own !== undefined && isAsStrong(own, strength)) return;
    if (this.isChanged(text, snapshot)) throw new KeyConflict([]);
    if (this.held.length + this.shared.length >= HELD_MAX) return;
    if (strength === "update") {
      this.held.push(text);
      locks.hold(text, this);
    } else {
      if (own === undefined) this.shared.push(text);
      locks.share(text, this, strength);
    }
    const writes = how === "write";
    if (writes !== this.lastWrites || !text.startsWith(this.lastPrefix) || this.lastPrefix === "")
      this.note(text, writes);
  }

  /** Throws KeyConflict where others hold the key's table against it. */
  private requireTable(text: string, mode: TableLockMode): void {
    const against = this.locks.tables.against(text.slice(0, PREFIX_CHARACTERS), mode, this);
    if (against.length > 0) throw new KeyConflict(against);
  }

  /** As LOCK TABLE. Throws KeyConflict where others hold the table, or its rows, against it. */
  takeTable(rowPrefix: Uint8Array, mode: TableLockMode): void {
    if (this.hasEnded) return;
    const text = keyText(rowPrefix);
    this.requireTable(text, mode);
    const against = [...this.locks.open].filter((other) => other !== this && other.changesAgainst(text, mode));
    if (against.length > 0) throw new KeyConflict(against);
    this.locks.tables.hold(text, this, mode);
    this.locks.open.add(this);
  }

  private changesAgainst(prefix: string, mode: TableLockMode): boolean {
    const writes = this.prefixes.get(prefix);
    return writes !== undefined && excludes(mode, writes ? "row exclusive" : "row share");
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

  /** Those that it holds as a whole. */
  *wholeTables(): Iterable<readonly [storageId: number, mode: TableLockMode]> {
    for (const [prefix, mode] of this.locks.tables.of(this)) yield [storageIdOf(Buffer.from(prefix, "latin1")), mode];
  }

  isHeldByAnother(text: string, strength: LockStrength = "update"): boolean {
    return this.locks.holdersAgainst(text, strength, this).length > 0;
  }

  /** Whether it waits, perhaps through others, for `holder`. */
  waitsOn(holder: KeyHolder): boolean {
    const seen = new Set<KeyHolder>([this]);
    for (const next of seen) {
      if (next === holder) return true;
      for (const other of next.waitsFor) seen.add(other);
    }
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
    for (const text of this.shared) this.locks.endShare(text, this);
    this.locks.tables.release(this);
    this.locks.open.delete(this);
    this.held.length = 0;
    this.shared.length = 0;
    const { waiting } = this;
    this.waiting = [];
    for (const call of waiting) call();
  }
}

interface WrittenKeys {
  has(text: string): boolean;
}

export class KeyLocks {
  /** Of keys that were written or locked FOR UPDATE. */
  private readonly holders = new Map<string, KeyHolder>();
  private readonly sharers = new Map<string, Map<KeyHolder, LockStrength>>();
  readonly tables = new TableLocks<KeyHolder>();
  /** Those that hold something. */
  readonly open = new Set<KeyHolder>();
  private lastNumber = 0;

  /** 32 bits, never 0. */
  nextNumber(): number {
    this.lastNumber = (this.lastNumber % 0xffffffff) + 1;
    return this.lastNumber;
  }

  get size(): number {
    return this.holders.size + this.sharers.size + this.tables.size;
  }

  /** All keys that somebody holds, some twice. */
  *keys(): IterableIterator<string> {
    yield* this.holders.keys();
    yield* this.sharers.keys();
  }

  holderOf(text: string): KeyHolder | undefined {
    return this.holders.get(text);
  }

  /** Those other than `own` that hold the key in a way that does not go with `strength`. */
  holdersAgainst(text: string, strength: LockStrength, own: KeyHolder | null): readonly KeyHolder[] {
    const holder = this.holders.get(text);
    const sharers = this.sharers.get(text);
    if (sharers === undefined) return holder === undefined || holder === own ? NOBODY : [holder];
    const against = holder === undefined || holder === own ? [] : [holder];
    for (const [sharer, held] of sharers) {
      if (sharer !== own && sharer !== holder && CONFLICTS[strength].includes(held)) against.push(sharer);
    }
    return against;
  }

  sharedBy(text: string, holder: KeyHolder): LockStrength | undefined {
    return this.sharers.get(text)?.get(holder);
  }

  share(text: string, holder: KeyHolder, strength: LockStrength): void {
    const sharers = this.sharers.get(text);
    if (sharers === undefined) this.sharers.set(text, new Map([[holder, strength]]));
    else sharers.set(holder, strength);
  }

  endShare(text: string, holder: KeyHolder): void {
    const sharers = this.sharers.get(text);
    sharers?.delete(holder);
    if (sharers?.size === 0) this.sharers.delete(text);
  }

  hold(text: string, holder: KeyHolder): void {
    this.holders.set(text, holder);
  }

  free(text: string): void {
    this.holders.delete(text);
  }

  /** Of a commit that writes these; null: nobody else holds one of the keys. */
  conflictOver(...keys: Parameters<KeyLocks["holdersAmong"]>): KeyConflict | null {
    const holders = this.size === 0 ? NOBODY : this.holdersAmong(...keys);
    return holders.length === 0 ? null : new KeyConflict(holders);
  }

  /** Those, other than `own`, that hold one of the keys; empty: nobody does. Looks through the shorter side. */
  holdersAmong(
    writes: ReadonlyMap<string, unknown>,
    loads: readonly WrittenKeys[],
    own: KeyHolder | null,
  ): readonly KeyHolder[] {
    if (this.size === 0) return NOBODY;
    if (this.tables.size > 0) {
      for (const text of writes.keys()) {
        const against = this.tables.against(text.slice(0, PREFIX_CHARACTERS), "row exclusive", own);
        if (against.length > 0) return against;
      }
    }
    if (loads.length === 0 && writes.size < this.size) {
      for (const text of writes.keys()) {
        const against = this.holdersAgainst(text, "update", own);
        if (against.length > 0) return against;
      }
      return NOBODY;
    }
    for (const keys of [this.holders.keys(), this.sharers.keys()]) {
      for (const text of keys) {
        if (!writes.has(text) && !loads.some((loaded) => loaded.has(text))) continue;
        const against = this.holdersAgainst(text, "update", own);
        if (against.length > 0) return against;
      }
    }
    return NOBODY;
  }
}

const NOBODY: readonly KeyHolder[] = [];
