/**
 * Functions about sessions, such as advisory locks and pg_notify, called by a request over HTTP or a WebSocket. Such a
 * request has no session, so their effects end with its transaction: then locks are released and notifications are
 * sent.
 */
import { callerOf, type Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import type { AskingStatement } from "../../session/capabilities.js";
import { refusedToReader } from "../../session/reader.js";
import { type LockOwner, noteLock } from "./advisory-locks.js";
import { type Notification, noteNotification } from "./notifications.js";
import { endsSessionsOf } from "./session-actions.js";
import { checkNotification, type SessionActions } from "./session-functions.js";
import { WIRE_SESSIONS, type WireSessions } from "./wire-sessions.js";

/** What one transaction has of the tenant's sessions. */
interface Work extends LockOwner {
  readonly notified: Notification[];
}

const works = new WeakMap<object, Work>();

/** Null: the statement runs for no request. */
export function requestActions(statement: AskingStatement): SessionActions | null {
  const request = callerOf(statement.client);
  return request === null ? null : new RequestActions(request, statement);
}

class RequestActions implements SessionActions {
  readonly channels: ReadonlySet<string> = new Set();

  constructor(
    private readonly request: Request,
    private readonly statement: AskingStatement,
  ) {}

  get number(): number {
    throw noSession("A request has no session and so no number.");
  }

  notify(channel: string, payload: string): void {
    checkNotification(channel, payload);
    if (this.request.readOnly) throw refusedToReader("NOTIFY");
    this.statement.undoes(noteNotification(this.work().notified, { channel, payload }));
  }

  cancel(session: number): boolean {
    return this.sessions.sharedFor(this.request).cancel(session, endsSessionsOf(this.statement));
  }

  terminate(session: number): boolean {
    return this.sessions.sharedFor(this.request).terminate(session, endsSessionsOf(this.statement));
  }

  tryLock(key: string, shared: boolean, inTransaction: boolean): boolean {
    const work = this.workThatLocks(inTransaction);
    const isTaken = this.advisory.take(work, key, shared);
    if (isTaken) this.statement.undoes(noteLock(work, this.advisory, key, shared));
    return isTaken;
  }

  async lock(key: string, shared: boolean, inTransaction: boolean, signal: AbortSignal): Promise<void> {
    const work = this.workThatLocks(inTransaction);
    await this.advisory.wait(work, key, shared, signal);
    this.statement.undoes(noteLock(work, this.advisory, key, shared));
  }

  unlock(): boolean {
    throw noSession("A lock of a transaction is given back when that ends.");
  }

  unlockAll(): void {
    throw noSession("A lock of a transaction is given back when that ends.");
  }

  private get sessions(): WireSessions {
    return this.request.partition.part(WIRE_SESSIONS);
  }

  private get advisory() {
    return this.sessions.commonOf(this.request.tenant).advisory;
  }

  private workThatLocks(inTransaction: boolean): Work {
    if (inTransaction) return this.work();
    throw noSession("Take a lock of the transaction: pg_advisory_xact_lock or pg_try_advisory_xact_lock.");
  }

  private work(): Work {
    const { statement, request } = this;
    const known = works.get(statement.transaction);
    if (known !== undefined) return known;
    const work: Work = { number: null, transactionLocks: [], notified: [] };
    works.set(statement.transaction, work);
    const { partition, tenant } = request;
    const { advisory, notifications } = this.sessions.commonOf(tenant);
    statement.whenTransactionEnds((hasCommitted) => {
      advisory.endTransaction(work);
      if (!hasCommitted || work.notified.length === 0) return;
      const told = (): void => notifications.tell(null, work.notified);
      partition.durable().then(told, () => undefined);
    });
    return work;
  }
}

function noSession(hint: string): DbError {
  return new DbError(
    "not_supported",
    "This function is about a session. Connect by PostgreSQL's protocol to have one.",
    {
      hint,
    },
  );
}
