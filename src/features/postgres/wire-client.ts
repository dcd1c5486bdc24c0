/**
 * On whose behalf a session's statements run: the request that brought the messages, which is another one each time,
 * with what the session adds: its client may cancel the statement alone, and SET statement_timeout bounds it. One per
 * session.
 */
import type { Request } from "../../actor/request.js";
import { type DbError, sqlError } from "../../protocol/errors.js";
import type { AskingStatement } from "../../session/capabilities.js";
import type { Client } from "../../session/statement-run.js";
import type { Tenant } from "../../session/tenant.js";
import type { Trace } from "../../session/trace.js";
import type { KeyHolder } from "../../storage/key-locks.js";
import type { Transaction } from "../../storage/store.js";
import { type EndsSessionsOf, endsSessionsOf } from "./session-actions.js";
import type { SessionActions } from "./session-functions.js";

export class WireClient implements Client {
  /** Of the session, for functions. */
  actions: SessionActions | null = null;
  /** Told how to take back what a function has done, should its transaction be rolled back to a savepoint. */
  undoes: (undo: () => void) => void = () => undefined;
  /** Whose sessions its role may end. */
  ends: EndsSessionsOf = () => false;
  /** Asked where the statement has given way: what was written until then may leave. */
  atYield: (() => Promise<void>) | null = null;
  /** The statement that runs, or ran last, and when it began. */
  statement = "";
  begunMs = 0;
  /** Whose transaction the statement waits for, and since when. */
  waitsFor: KeyHolder | null = null;
  waitsSinceMicros = 0;
  private current: Request | null = null;
  /** Of the statement that runs; milliseconds since the epoch. */
  private deadlineMs = Number.POSITIVE_INFINITY;
  private cancelled: Error | null = null;
  private stopping: AbortController | null = null;
  private timer: NodeJS.Timeout | undefined;

  get request(): Request {
    if (this.current === null) throw new Error("no request of the session runs");
    return this.current;
  }

  /** For the functions that the statement calls. */
  actionsFor(statement: AskingStatement): SessionActions | null {
    this.undoes = (undo) => statement.undoes(undo);
    this.ends = endsSessionsOf(statement);
    return this.actions;
  }

  commitPart(tx: Transaction): void {
    this.request.commitPart(tx);
  }

  get isAtWork(): boolean {
    return this.current !== null;
  }

  /** What is done from here on is done for this request. */
  serve(request: Request | null): void {
    this.current = request;
  }

  /** A statement begins, which may take so long; 0: as long as it needs. */
  begin(timeoutMs: number): void {
    this.begunMs = Date.now();
    this.deadlineMs = timeoutMs === 0 ? Number.POSITIVE_INFINITY : this.begunMs + timeoutMs;
    this.cancelled = null;
    this.stopping = null;
    clearTimeout(this.timer);
  }

  /** The statement that runs ends with the error at its next checkpoint. */
  cancel(error: Error): void {
    if (this.current === null) return;
    this.cancelled = error;
    this.stopping?.abort(error);
  }

  get requestId(): string {
    return this.request.requestId;
  }

  get origin(): Request {
    return this.request;
  }

  /** Its client is told this error, which is returned. */
  told(error: DbError): DbError {
    return this.current === null ? error : this.current.told(error);
  }

  get trace(): Trace | null {
    return this.request.trace;
  }

  get tenant(): Tenant {
    return this.request.tenant;
  }

  get hasActed(): boolean {
    return this.request.hasActed;
  }

  readonly atStatement = (text: string): void => {
    this.statement = text;
    this.request.atStatement(text);
  };

  readonly waiting = (holder: KeyHolder | null): void => {
    this.waitsFor = holder;
    this.waitsSinceMicros = Date.now() * 1000;
  };

  readonly inCypher = (): void => this.request.inCypher();

  readonly checkpoint = (): void => {
    if (this.cancelled !== null) throw this.cancelled;
    if (Date.now() > this.deadlineMs) throw timedOut();
    this.request.checkpoint();
  };

  readonly shouldYield = (): boolean => this.request.shouldYield();

  readonly yieldTurn = async (): Promise<void> => {
    await this.request.yieldTurn();
    if (this.atYield !== null) await this.atYield();
    this.checkpoint();
  };

  readonly signal = (): AbortSignal => {
    const stopping = this.stopping ?? new AbortController();
    if (this.stopping === null) {
      this.stopping = stopping;
      const left = Math.max(0, this.deadlineMs - Date.now());
      if (left < 0x7fffffff) this.timer = setTimeout(() => stopping.abort(timedOut()), left).unref();
      if (this.cancelled !== null) stopping.abort(this.cancelled);
    }
    return AbortSignal.any([this.request.signal(), stopping.signal]);
  };
}

const timedOut = () => sqlError("57014", "canceling statement due to statement timeout");
