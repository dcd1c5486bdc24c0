/**
 * The large commits of a shard. The engine takes one at a time: this holds it, and those who wait until the engine has
 * it, until there is something to do for it, or for their turn to make the next one. Owned by the shard.
 */
import type { DbError } from "../protocol/errors.js";
import type { Engine } from "./engine.js";
import { type LargeCommitSizes, sizesFor } from "./large-commit-sizes.js";
import { LargeInEngine } from "./large-in-engine.js";
import { anyPrefixOf, type LargeSource } from "./large-source.js";
import type { LayeredEngine } from "./layered-engine.js";
import type { CommitParts, CommitStamp, Operation } from "./operation.js";
import { keyText } from "./ordered-map.js";
import type { OperationPart } from "./packed-operations.js";
import type { ToldUnseen } from "./transaction-host.js";
import type { RecentVersions } from "./versions.js";

export interface LargeCommitMade extends CommitStamp {
  /** Where two have a key, the earlier one counts. */
  readonly sources: readonly LargeSource[];
  readonly parts: CommitParts;
}

/** The shard, as it is needed here. */
export interface LargeCommitsHost {
  readonly engine: Engine;
  readonly layers: LayeredEngine | null;
  readonly versions: RecentVersions;
  readonly sizes: LargeCommitSizes;
  /** The newest commit that the log has on disk. */
  readonly synced: number;
  /** The log has all of the commit on disk, and the engine none of it. */
  begins(commit: LargeCommitMade): void;
  /** Whether a snapshot from before that commit is open. */
  isNewTo(sequence: number): boolean;
  /** The engine has all of that commit. */
  writeSequence(sequence: number): void;
  /** The engine has taken the operations. */
  written(operations: OperationPart): void;
  /** The engine has so many entries fewer than operations that it was given. */
  spared(entries: number): void;
  /** The engine has all of it. */
  applied(): void;
  fail(error: unknown): void;
}

/** `T`: the transactions. */
export class LargeCommits<T> {
  /** The one that the engine is taking. */
  private taken: LargeInEngine | null = null;
  /** Told how its way into the engine ended; null: nobody is. */
  private toldEnd: ToldUnseen | null = null;
  private readonly doneWaiters: (() => void)[] = [];
  private readonly readyWaiters: (() => void)[] = [];
  /** Transactions that wait for their turn to make a large commit, and the one that has it. */
  private readonly turns: (() => void)[] = [];
  private readonly turnWaiters = new Set<T>();
  private turnHolder: T | null = null;

  constructor(private readonly host: LargeCommitsHost) {}

  /** The engine is taking none. */
  get isEmpty(): boolean {
    return this.taken === null;
  }

  /** The newest commit that the engine may have all of, if the log has those up to `sequence`. */
  before(sequence: number): number {
    return this.taken === null ? sequence : Math.min(sequence, this.taken.sequence - 1);
  }

  /** Commits from `sequence` on are undone, because of `error`. */
  undo(sequence: number, error: DbError): void {
    if (this.taken !== null && this.taken.sequence >= sequence) this.end(error);
  }

  /**
   * The engine takes this one next; it takes no other. `unseen`: no snapshot looks for it, and who made it hears of the
   * end.
   */
  take(commit: LargeCommitMade, unseen: ToldUnseen | null): void {
    const { host } = this;
    if (this.taken !== null) throw new Error("the engine is taking another large commit");
    this.toldEnd = unseen;
    const { engine, layers, versions } = host;
    const { sequence, micros, sources } = commit;
    const stamp = { sequence, micros, mayRepeat: sources.filter(({ writes }) => writes.size > 0).length > 1 };
    const sizes = sizesFor(anyPrefixOf(sources.map(({ writes }) => writes)), host.sizes, layers);
    this.taken = new LargeInEngine(commit.sequence, commit.sources, sizes, {
      engine,
      begins: () => host.begins(commit),
      isNewTo: (sequence) => unseen === null && host.isNewTo(sequence),
      keepReplaced: (operations) => versions.keepReplacedBy([...operations], (keys) => engine.getMany(keys)),
      write: (operations) => {
        engine.write(layers?.keepsHistory ? stamped(operations, stamp) : [...operations]);
        host.written(operations);
      },
      writeSequence: (sequence) => host.writeSequence(sequence),
      written: (operations) => host.written(operations),
      spared: (entries) => host.spared(entries),
      wake: () => this.wake(),
      done: () => {
        this.end(null);
        host.applied();
      },
      fail: (error) => host.fail(error),
    });
  }

  /** False: `applySome` would do nothing now. */
  get canApplySome(): boolean {
    return this.taken !== null && this.taken.sequence <= this.host.synced && !this.taken.isUnderWay;
  }

  /**
   * Lets the engine take some operations, but only when the commit is on disk: after a power cut the engine may keep
   * any part of what it took, and then the log must have the rest. Never throws.
   */
  applySome(): void {
    if (this.taken !== null && this.taken.sequence <= this.host.synced) this.taken.takeSome();
  }

  /** Resolves when `applySome` has something to do, or there is no large commit any more. */
  async ready(): Promise<void> {
    while (this.taken !== null && !this.canApplySome) {
      await new Promise<void>((resolve) => this.readyWaiters.push(resolve));
    }
  }

  /** The log has more on disk, or the engine's other thread has answered. */
  wake(): void {
    if (this.readyWaiters.length > 0) callAll(this.readyWaiters.splice(0));
  }

  async done(): Promise<void> {
    while (this.taken !== null) await new Promise<void>((resolve) => this.doneWaiters.push(resolve));
  }

  /** The engine has all of it (null), or it is given up because of `failure`. */
  end(failure: DbError | null): void {
    this.taken?.giveUp();
    this.taken = null;
    this.toldEnd?.(failure);
    this.toldEnd = null;
    callAll([...this.doneWaiters.splice(0), ...this.readyWaiters.splice(0)]);
    this.nextTurn();
  }

  /** Resolves when the engine would take a large commit at once; for no other transaction until this one has ended. */
  async takeTurn(transaction: T): Promise<void> {
    this.turnWaiters.add(transaction);
    while (this.taken !== null || this.turnHolder !== null) {
      await new Promise<void>((resolve) => this.turns.push(resolve));
    }
    if (this.turnWaiters.delete(transaction)) this.turnHolder = transaction;
    // It has ended meanwhile.
    else this.nextTurn();
  }

  /** That transaction has ended. */
  leave(transaction: T): void {
    if (this.turnWaiters.size > 0) this.turnWaiters.delete(transaction);
    if (this.turnHolder !== transaction) return;
    this.turnHolder = null;
    this.nextTurn();
  }

  private nextTurn(): void {
    if (this.taken === null && this.turnHolder === null) this.turns.shift()?.();
  }
}

function callAll(waiters: readonly (() => void)[]): void {
  for (const resolve of waiters) resolve();
}

/** With the commit that they are of. */
function stamped(operations: Iterable<Operation>, commit: CommitStamp): Operation[] {
  return Array.from(operations, ({ key, value, text }) => ({ key, value, commit, text: text ?? keyText(key) }));
}
