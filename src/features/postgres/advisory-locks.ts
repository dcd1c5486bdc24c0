/**
 * Locks that mean what their clients agree on (PostgreSQL 15's manual, chapter 13.3.5), of one tenant. A session may
 * take one more than once, and gives it back as often. Owned by wire-sessions.ts.
 */

/** A session, as far as locks know it. */
export interface LockOwner {
  /** The session's number; null: a request of HTTP. */
  readonly number: number | null;
  /** Locks that end with its transaction, by key; true: shared. */
  readonly transactionLocks: { readonly key: string; readonly shared: boolean }[];
}

interface Lock {
  exclusive: { readonly owner: LockOwner; count: number } | null;
  readonly shared: Map<LockOwner, number>;
}

/** A lock that an owner has, or waits for. */
export interface AdvisoryLock {
  readonly owner: LockOwner;
  readonly key: string;
  readonly shared: boolean;
  /** Null: it is held. */
  readonly waitsSinceMicros: number | null;
}

/** The owner's transaction has the lock from now on, until it ends or what is given is called. */
export function noteLock(owner: LockOwner, advisory: AdvisoryLocks, key: string, shared: boolean): () => void {
  const entry = { key, shared };
  const { transactionLocks } = owner;
  transactionLocks.push(entry);
  return () => {
    const at = transactionLocks.indexOf(entry);
    if (at < 0) return;
    transactionLocks.splice(at, 1);
    advisory.give(owner, key, shared);
  };
}

interface Waiting extends AdvisoryLock {
  readonly freed: () => void;
}

export class AdvisoryLocks {
  private readonly locks = new Map<string, Lock>();
  private readonly waiting = new Set<Waiting>();

  *all(): Iterable<AdvisoryLock> {
    for (const [key, { exclusive, shared }] of this.locks) {
      if (exclusive !== null) yield { owner: exclusive.owner, key, shared: false, waitsSinceMicros: null };
      for (const owner of shared.keys()) yield { owner, key, shared: true, waitsSinceMicros: null };
    }
    yield* this.waiting;
  }

  /** False: another session holds it. */
  take(owner: LockOwner, key: string, shared: boolean): boolean {
    const lock = this.locks.get(key) ?? { exclusive: null, shared: new Map<LockOwner, number>() };
    if (lock.exclusive !== null && lock.exclusive.owner !== owner) return false;
    if (!shared && [...lock.shared.keys()].some((other) => other !== owner)) return false;
    this.locks.set(key, lock);
    if (shared) lock.shared.set(owner, (lock.shared.get(owner) ?? 0) + 1);
    else if (lock.exclusive === null) lock.exclusive = { owner, count: 1 };
    else lock.exclusive.count++;
    return true;
  }

  /** Resolves when the owner has it; rejects with the signal's reason. */
  async wait(owner: LockOwner, key: string, shared: boolean, signal: AbortSignal): Promise<void> {
    const waitsSinceMicros = Date.now() * 1000;
    while (!this.take(owner, key, shared)) {
      await new Promise<void>((resolve, reject) => {
        const end = (act: () => void) => (): void => {
          this.waiting.delete(entry);
          signal.removeEventListener("abort", aborted);
          act();
        };
        const freed = end(resolve);
        const aborted = end(() => reject(signal.reason as Error));
        const entry = { owner, key, shared, waitsSinceMicros, freed };
        this.waiting.add(entry);
        if (signal.aborted) aborted();
        else signal.addEventListener("abort", aborted);
      });
    }
  }

  /** False: the owner does not hold it. */
  give(owner: LockOwner, key: string, shared: boolean): boolean {
    const lock = this.locks.get(key);
    if (lock === undefined) return false;
    if (shared) {
      const count = lock.shared.get(owner);
      if (count === undefined) return false;
      if (count > 1) lock.shared.set(owner, count - 1);
      else lock.shared.delete(owner);
    } else {
      if (lock.exclusive?.owner !== owner) return false;
      if (--lock.exclusive.count === 0) lock.exclusive = null;
    }
    this.freed(key, lock);
    return true;
  }

  /** How often the owner took it apart from its transaction. */
  private takenBySession(owner: LockOwner, key: string, shared: boolean): number {
    const lock = this.locks.get(key);
    const whole = shared ? lock?.shared.get(owner) : lock?.exclusive?.owner === owner ? lock.exclusive.count : 0;
    const ofTransaction = owner.transactionLocks.filter((each) => each.key === key && each.shared === shared);
    return (whole ?? 0) - ofTransaction.length;
  }

  /** Gives back what the session took once. False: it did not take the lock, whatever its transaction has. */
  giveOfSession(owner: LockOwner, key: string, shared: boolean): boolean {
    return this.takenBySession(owner, key, shared) > 0 && this.give(owner, key, shared);
  }

  /** Gives back all that the session took; its transaction keeps its own. */
  giveAllOfSession(owner: LockOwner): void {
    for (const key of [...this.locks.keys()]) {
      for (const shared of [false, true]) {
        for (let count = this.takenBySession(owner, key, shared); count > 0; count--) this.give(owner, key, shared);
      }
    }
  }

  /** The transaction has ended. */
  endTransaction(owner: LockOwner): void {
    for (const { key, shared } of owner.transactionLocks.splice(0)) this.give(owner, key, shared);
  }

  giveAll(owner: LockOwner): void {
    owner.transactionLocks.length = 0;
    for (const [key, lock] of [...this.locks]) {
      lock.shared.delete(owner);
      if (lock.exclusive?.owner === owner) lock.exclusive = null;
      this.freed(key, lock);
    }
  }

  private freed(key: string, lock: Lock): void {
    if (lock.exclusive === null && lock.shared.size === 0) this.locks.delete(key);
    for (const { freed } of [...this.waiting]) freed();
  }
}
