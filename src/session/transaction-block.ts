/**
 * The transaction that a session's client has begun: its storage transaction, its savepoints, whether it has failed.
 * Owned by the session, which runs statements in it and commits it.
 */
import { sqlError } from "../protocol/errors.js";
import type { Isolation, ShardTransaction } from "../storage/transaction.js";
import type { SessionNames } from "./session-names.js";
import type { SettingsMark } from "./settings.js";
import type { Tenant } from "./tenant.js";
import type { ConstraintState, TransactionConstraints } from "./transaction-constraints.js";
import type { GivenModes, TransactionModes } from "./transaction-modes.js";

interface Savepoint {
  readonly name: string;
  readonly handle: number;
  readonly constraints: ConstraintState | null;
  readonly settings: SettingsMark;
  readonly readOnly: boolean;
}

export class TransactionBlock {
  /** Of the transaction or of the statement that is one; microseconds since the epoch. */
  startedMicros = 0;
  /** The error that a statement of the open transaction ended in; only a rollback is accepted after it. */
  failure: string | null = null;
  /** Made when a statement first needs them. */
  constraints: TransactionConstraints | null = null;
  private transaction: ShardTransaction | null = null;
  private savepoints: Savepoint[] = [];

  constructor(
    private readonly tenant: Tenant,
    private readonly names: SessionNames,
    /** The credential may not write. */
    private readonly readOnlyCredential: boolean,
    /** At read committed, statements wait for other transactions that have changed the same rows. */
    private readonly waits: boolean,
  ) {}

  get modes(): TransactionModes {
    return this.names.settings.modes;
  }

  get isOpen(): boolean {
    return this.transaction !== null;
  }

  get savepointNames(): readonly string[] {
    return this.savepoints.map(({ name }) => name);
  }

  begin(given: GivenModes): void {
    this.modes.begin(given);
    this.startedMicros = nowMicros();
    this.transaction = this.start(false);
    this.savepoints = [];
    this.failure = null;
    this.constraints?.reset();
    this.names.settings.mark();
  }

  /** A storage transaction in the modes of now; `reads`: it surely writes nothing. */
  start(reads: boolean): ShardTransaction {
    return this.holding(this.tenant.partition.shard.begin(this.kind(reads)));
  }

  private kind(reads: boolean): { readonly readOnly: boolean; readonly isolation: Isolation } {
    const { isolation, readOnly } = this.modes;
    // A transaction that only reads may still write to temporary tables.
    return { readOnly: reads || this.readOnlyCredential || (readOnly && !this.names.hasTemporaries), isolation };
  }

  private holding(tx: ShardTransaction): ShardTransaction {
    if (this.waits && tx.isolation.startsWith("read ")) tx.takeKeys(this);
    return tx;
  }

  /** A transaction of a statement that is alone has ended: the statement goes on in another one. */
  startAgain(tx: ShardTransaction): void {
    tx.reopen(this.kind(false));
    this.holding(tx);
    this.startedMicros = nowMicros();
  }

  /** The open transaction. Throws 25P01 when there is none. */
  open(): ShardTransaction {
    if (this.transaction === null) throw sqlError("25P01", "there is no transaction in progress");
    return this.transaction;
  }

  /** Its client is told what the transaction has not read by itself. */
  sawEverything(): void {
    if (this.transaction !== null) this.transaction.newestSeen = this.tenant.partition.shard.committedSequence;
  }

  isStill(tx: ShardTransaction): boolean {
    return this.transaction === tx;
  }

  /**
   * The transaction for the next statement. Until a query runs in it, it sees what is committed by now (PostgreSQL: the
   * first query takes the snapshot, not BEGIN), and is begun again if its modes have changed.
   */
  forStatement(): ShardTransaction {
    const tx = this.open();
    const { isolation, readOnly, hasQueried } = this.modes;
    const narrowed = tx.readOnly && !readOnly && !this.readOnlyCredential;
    if (tx.isolation === isolation && !narrowed) {
      if (!hasQueried && !tx.dirty) tx.refresh();
      return tx;
    }
    // Modes that need this cannot change in a savepoint or after a query, so nothing is lost.
    tx.rollback();
    this.transaction = this.start(false);
    return this.transaction;
  }

  savepoint(name: string): void {
    this.requireHealthy();
    const { settings } = this.names;
    this.savepoints.push({
      name,
      handle: this.forStatement().savepoint(),
      constraints: this.constraints?.current() ?? null,
      settings: settings.current(),
      readOnly: this.modes.readOnly,
    });
    this.modes.depth++;
  }

  /** Also makes a failed transaction usable again. */
  rollbackTo(name: string): void {
    const index = this.find(name);
    const savepoint = this.savepoints[index]!;
    this.open().rollbackTo(savepoint.handle);
    this.constraints?.restore(savepoint.constraints);
    this.names.settings.restore(savepoint.settings);
    this.modes.readOnly = savepoint.readOnly;
    this.keep(index + 1);
    this.failure = null;
  }

  release(name: string): void {
    this.requireHealthy();
    const index = this.find(name);
    const savepoint = this.savepoints[index]!;
    this.open().release(savepoint.handle);
    this.modes.readOnly = savepoint.readOnly;
    this.keep(index);
  }

  /** A statement ended in an error. What can only be rolled back holds nothing against others any more. */
  fail(error: Error): void {
    this.failure ??= error.message;
    if (this.savepoints.length === 0) this.transaction?.keys?.release();
  }

  /** Throws 25P02 after a failed statement. */
  requireHealthy(): void {
    if (this.failure === null) return;
    throw sqlError("25P02", "current transaction is aborted, commands ignored until end of transaction block", {
      hint: `A statement failed (${this.failure}). Roll back, or roll back to a savepoint.`,
    });
  }

  /** The session is outside a transaction again; `undo`: what was SET in it is taken back. */
  close(undo: boolean): void {
    this.transaction = null;
    this.failure = null;
    this.savepoints = [];
    this.names.settings.settle(undo);
    this.modes.end();
  }

  private keep(savepoints: number): void {
    this.savepoints.length = savepoints;
    this.modes.depth = savepoints;
  }

  private find(name: string): number {
    const index = this.savepoints.findLastIndex((savepoint) => savepoint.name === name);
    if (index < 0) throw sqlError("3B001", `savepoint "${name}" does not exist`);
    return index;
  }
}

let lastMicros = 0;

/** Microseconds since the epoch, later at every call: what is made at different times can be told apart. */
export function nowMicros(): number {
  lastMicros = Math.max(lastMicros + 1, Date.now() * 1000);
  return lastMicros;
}
