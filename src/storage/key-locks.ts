/**
 * Keys that open transactions hold against each other. Only transactions at read committed whose clients expect to wait take
 * them: what they write or lock stays as it is until they end, and others that write the same wait or run their statement again.
 * All other transactions are validated when they commit, and respect the keys that are held. One table per shard.
 */
import { DbError } from "../protocol/errors.js";

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
  private waiting: (() => void)[] = [];
  private hasEnded = false;
  /** Whom its statement waits for. */
  waitsFor: KeyHolder | null = null;

  constructor(
    private readonly locks: KeyLocks,
    /** Whether a commit after that snapshot wrote the key. */
    private readonly isChanged: (text: string, snapshot: number) => boolean,
  ) {}

  /** Throws KeyConflict. `snapshot`: what the statement reads. */
  take(text: string, snapshot: number): void {
    const holder = this.locks.holderOf(text);
    if (holder === this || this.hasEnded) return;
    if (holder !== undefined) throw new KeyConflict(holder);
    if (this.isChanged(text, snapshot)) throw new KeyConflict(null);
    if (this.held.length >= HELD_MAX) return;
    this.held.push(text);
    this.locks.hold(text, this);
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
