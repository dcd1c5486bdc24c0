/**
 * The open transactions of one tenant that clients drive by id over several requests. Each has a deadline; one that
 * passes it is rolled back, and further requests for it get a clear error. Statements of one transaction run one at a
 * time.
 */
import { randomBytes } from "node:crypto";
import { DbError, sqlError } from "../protocol/errors.js";
import { type IdentityChange, isAbout } from "../protocol/identity.js";
import { type Asker, mayUse, type Owner } from "./owner.js";
import { Session, type SessionOptions } from "./session.js";
import type { Tenant } from "./tenant.js";

/** Ended transactions whose ids are remembered, so that a late request learns why. */
const ENDED_REMEMBERED_MAX = 1000;

/** Who began it. */
export interface TransactionOwner extends Owner {
  readonly tenantId: string;
}

export interface InteractiveTransaction {
  readonly id: string;
  readonly session: Session;
  readonly owner: TransactionOwner;
  readonly createdMs: number;
  readonly expiresMs: number;
  /** The end of the last statement that was sent; the next one waits for it. */
  tail: Promise<unknown> | null;
}

interface Ended {
  readonly owner: Owner;
  readonly reason: string;
  /** The same work may succeed in a new transaction. */
  readonly retry: boolean;
}

export class InteractiveTransactions {
  private readonly open = new Map<string, InteractiveTransaction>();
  private readonly ended = new Map<string, Ended>();

  constructor(private readonly tenant: Tenant) {}

  get size(): number {
    return this.open.size;
  }

  /** `timeoutSeconds` undefined: the configured one. Throws too_many_transactions at the tenant's bound. */
  begin(
    options: SessionOptions,
    readOnly: boolean,
    timeoutSeconds: number | undefined,
    { userId, keyId, tenantId }: TransactionOwner,
  ): InteractiveTransaction {
    const limits = this.tenant.partition.config.transactions;
    if (this.open.size >= limits.perTenantMax) {
      throw new DbError(
        "too_many_transactions",
        `${limits.perTenantMax} transactions are open, which is the limit for a tenant. Commit or roll back some.`,
      );
    }
    if (timeoutSeconds !== undefined && timeoutSeconds > limits.maxSeconds) {
      throw new DbError("invalid_request", `The field "timeout_secs" must be at most ${limits.maxSeconds}.`, {
        field: "timeout_secs",
      });
    }
    const session = new Session(this.tenant, options);
    session.begin({ readOnly });
    const createdMs = Date.now();
    const transaction: InteractiveTransaction = {
      id: `tx_${randomBytes(16).toString("hex")}`,
      session,
      owner: { userId, keyId, tenantId },
      createdMs,
      expiresMs: createdMs + (timeoutSeconds ?? limits.timeoutSeconds) * 1000,
      tail: null,
    };
    this.open.set(transaction.id, transaction);
    return transaction;
  }

  /** To other callers, an owner's transaction does not exist. */
  get(id: string, asker: Asker): InteractiveTransaction {
    const transaction = this.open.get(id);
    if (transaction !== undefined && mayUse(asker, transaction.owner)) {
      if (Date.now() <= transaction.expiresMs) return transaction;
      this.expire(transaction);
    }
    const ended = this.ended.get(id);
    if (ended === undefined || !mayUse(asker, ended.owner)) {
      throw new DbError("transaction_not_found", `The transaction "${id}" does not exist.`, {
        hint: "Begin one with POST /v1/transactions.",
      });
    }
    const { reason, retry } = ended;
    if (retry) throw sqlError("40001", `The transaction "${id}" no longer exists: ${reason}; retry it.`);
    throw new DbError("transaction_not_found", `The transaction "${id}" no longer exists: ${reason}.`, {
      hint: "Begin a new one with POST /v1/transactions.",
    });
  }

  /** Runs `work` after everything that was sent to the transaction before; at once when nothing is running. */
  inOrder<T>(transaction: InteractiveTransaction, work: () => T | Promise<T>): T | Promise<T> {
    const started = transaction.tail === null ? work() : transaction.tail.then(work, work);
    if (!(started instanceof Promise)) return started;
    const tail = started
      .catch(() => undefined)
      .then(() => {
        if (transaction.tail === tail) transaction.tail = null;
      });
    transaction.tail = tail;
    return started;
  }

  /** Forgets a transaction that was committed or rolled back. */
  finish(transaction: InteractiveTransaction, reason: string, retry = false): void {
    this.open.delete(transaction.id);
    this.ended.set(transaction.id, { owner: transaction.owner, reason, retry });
    if (this.ended.size > ENDED_REMEMBERED_MAX) this.ended.delete(this.ended.keys().next().value!);
  }

  sweep(nowMs: number): void {
    for (const transaction of this.open.values()) if (nowMs > transaction.expiresMs) this.expire(transaction);
  }

  /** `retry`: requests that name one of them are asked to repeat their work in a new transaction. */
  endAll(reason: string, retry = false): void {
    for (const transaction of this.open.values()) {
      transaction.session.abandon(reason);
      this.finish(transaction, reason, retry);
    }
  }

  /** Those of the user, key or tenant. */
  endOf(change: IdentityChange, reason: string): void {
    for (const transaction of [...this.open.values()]) {
      if (!isAbout(change, transaction.owner)) continue;
      transaction.session.abandon(reason);
      this.finish(transaction, reason);
    }
  }

  /** The record of an ended transaction. */
  listEnded(): readonly (readonly [string, Ended])[] {
    return [...this.ended];
  }

  /** Remembers ended ones of the same tenant elsewhere. */
  restoreEnded(ended: readonly (readonly [string, Ended])[]): void {
    for (const [id, how] of ended) this.ended.set(id, how);
  }

  private expire(transaction: InteractiveTransaction): void {
    const seconds = Math.round((transaction.expiresMs - transaction.createdMs) / 1000);
    const reason = `it ran past its deadline of ${seconds} s and was rolled back`;
    transaction.session.abandon(reason);
    this.finish(transaction, reason);
  }
}
