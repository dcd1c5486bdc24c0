/**
 * Isolation, access and deferrability of a session's transaction, with PostgreSQL's rules of when they may change
 * (src/backend/commands/variable.c). Owned by the session's settings, which show and set them by name. The session's
 * transaction block reports when a transaction begins, has run a query, and ends.
 */
import { sqlError } from "../protocol/errors.js";
import type { IsolationLevel } from "../sql/parse/ast.js";

export interface Modes {
  readonly isolation: IsolationLevel;
  readonly readOnly: boolean;
  /** Has no effect: a transaction that only reads never fails and never waits here. */
  readonly deferrable: boolean;
}

/** What a statement says of them; null: nothing. */
export type GivenModes = { readonly [mode in keyof Modes]: Modes[mode] | null };

export const NO_MODES: GivenModes = { isolation: null, readOnly: null, deferrable: null };

export class TransactionModes implements Modes {
  isolation: IsolationLevel;
  readOnly = false;
  deferrable = false;
  /** default_transaction_…: of statements alone, and of transactions that say nothing else. */
  private standard: Modes;
  private inTransaction = false;
  /** The transaction has run a statement that reads. */
  private queried = false;
  /** How many savepoints are open. */
  depth = 0;

  constructor(readonly initial: IsolationLevel) {
    this.isolation = initial;
    this.standard = { isolation: initial, readOnly: false, deferrable: false };
  }

  get defaults(): Modes {
    return this.standard;
  }

  set defaults(modes: Modes) {
    this.standard = modes;
    if (!this.inTransaction) this.take(modes);
  }

  begin(given: GivenModes): void {
    this.inTransaction = true;
    this.queried = false;
    this.depth = 0;
    this.take(given);
  }

  end(): void {
    this.inTransaction = false;
    this.take(this.standard);
  }

  get hasQueried(): boolean {
    return this.queried;
  }

  /** A statement that reads is about to run. */
  query(): void {
    this.queried = true;
  }

  /** Throws 25001 for what cannot change any more. */
  change(given: GivenModes): void {
    if (given.isolation !== null && given.isolation !== this.isolation) {
      if (this.queried) throw tooLate("SET TRANSACTION ISOLATION LEVEL must be called before any query");
      if (this.depth > 0) throw tooLate("SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction");
      this.isolation = given.isolation;
    }
    if (given.readOnly !== null) {
      if (!given.readOnly && this.readOnly) {
        if (this.depth > 0) throw tooLate("cannot set transaction read-write mode inside a read-only transaction");
        if (this.queried) throw tooLate("transaction read-write mode must be set before any query");
      }
      this.readOnly = given.readOnly;
    }
    if (given.deferrable !== null) {
      const what = "SET TRANSACTION [NOT] DEFERRABLE";
      if (this.depth > 0) throw tooLate(`${what} cannot be called within a subtransaction`);
      if (this.queried) throw tooLate(`${what} must be called before any query`);
      this.deferrable = given.deferrable;
    }
  }

  /** Outside a transaction nothing is left to change: the statement is one of its own. */
  changeIfOpen(given: GivenModes): void {
    if (this.inTransaction) this.change(given);
  }

  private take(given: GivenModes): void {
    this.isolation = given.isolation ?? this.standard.isolation;
    this.readOnly = given.readOnly ?? this.standard.readOnly;
    this.deferrable = given.deferrable ?? this.standard.deferrable;
  }
}

function tooLate(message: string): Error {
  return sqlError("25001", message);
}
