/**
 * One request while the actor works on it: its frame, its tenant, its deadline and whether it was cancelled. Made by
 * the mailbox, read by handlers; a statement's operators reach it through `checkpoint`, `shouldYield` and `yieldTurn`.
 */

import type { ModelUser } from "../ai/model-budget.js";
import type { BodySource } from "../bodies/body-source.js";
import { AwaitedLinks } from "../derived/await-links.js";
import type { ActorMarks } from "../protocol/actor-marks.js";
import type { Endpoint } from "../protocol/endpoint.js";
import { DbError } from "../protocol/errors.js";
import {
  REQUEST_READ_ONLY,
  REQUEST_WANTS_MSGPACK,
  type ReplyTaker,
  type RequestFrame,
  type RequestHead,
} from "../protocol/frames.js";
import { administers } from "../protocol/identity.js";
import { boundsOf, leadOf } from "../protocol/lead.js";
import type { ProgressHearer } from "../query/exec/context.js";
import { Capability } from "../query/expr/capability.js";
import type { Answer } from "../session/answer.js";
import type { AuditedCaller } from "../session/audited-caller.js";
import { provideCapability } from "../session/capabilities.js";
import type { InteractiveTransactions } from "../session/interactive-transactions.js";
import type { Client } from "../session/statement-run.js";
import type { Tenant } from "../session/tenant.js";
import type { Trace } from "../session/trace.js";
import type { Transaction } from "../storage/store.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { RequestBudget } from "./key-budgets.js";
import type { Partition } from "./partition.js";
import type { ReplySink } from "./reply-sink.js";
import { RequestStop } from "./request-stop.js";
import type { Scheduler, Work } from "./scheduler.js";

/** Requests that come to the actor's thread itself, by a socket that it has. */
export interface OwnRequests {
  /** Takes a request as if it had come from the gateway. */
  accept(frame: RequestFrame): void;
  /** The same from the loop's call of who reads the socket, not from within a request: it may run at once. */
  acceptRead(frame: RequestFrame): void;
  /** By their ids: who takes their replies. */
  readonly takers: Map<number, ReplyTaker>;
}

/** The way of streams out of the actor. */
export interface RequestChannel {
  /** Null: there are none. */
  readonly own: OwnRequests | null;
  /** Of the actor. */
  readonly marks: ActorMarks;
  /** This many further bytes of the request's body were processed. */
  taken(id: number, bytes: number): void;
  /** Resolves when the tenant's commits are on disk. */
  durable(request: Request): Promise<void>;
  /** A lead or a budget has refused what it asks. */
  refused(request: Request, error: DbError): void;
  /** `headers`: the first line is the Content-Type. */
  open(request: Request, headers: string): ReplySink;
}

/** The source of a request: its frame, or a substitute if no client sent it. */
export type RequestOrigin = Pick<RequestFrame, "id" | "requestId" | "flags" | "deadlineMs" | "head">;

/** What a request has in common with itself as a member's (`asMember`), whichever of them is changed. */
const SHARED = ["committed", "deadlineMs", "ending", "hasActed", "keepAnswer", "links", "wrote"] as const;

const NO_WARNINGS: readonly string[] = Object.freeze([]);

export class Request {
  readonly id: number;
  readonly requestId: string;
  readonly wantsMsgpack: boolean;
  /** The credential may not write. */
  readonly readOnly: boolean;
  cancelled = false;
  /** Why it shall end although its client waits for it. */
  ending: DbError | null = null;
  /** The streamed reply, once it has been opened. */
  sink: ReplySink | null = null;
  /** Something was committed without the request's answer. */
  wrote = false;
  /** It committed something, with its answer or without. */
  committed = false;
  /** Milliseconds since the epoch; a request may shorten it by `timeout_secs`. */
  deadlineMs: number;
  /** Set by handlers that tell their client how far it is. */
  progress: ProgressHearer | null = null;
  /** Puts the answer beside the write that it answers; set while an Idempotency-Key waits for its first answer. */
  keepAnswer: ((tx: Transaction, answer: Answer) => void) | null = null;
  private stopping: RequestStop | null = null;
  /** What it has committed into indexes that are long at work with it. */
  private links: AwaitedLinks | null = null;
  /** The one that it is at, or was last; "": it has begun none. */
  private statement = "";
  private language: AuditedCaller["language"] = "sql";

  /** Null: it is not traced. */
  trace: Trace | null = null;

  /** Who signs in, for the audit trail. */
  auditedName: string | null = null;

  /** For `meta` of its answer: fields that it sent and that mean nothing here. */
  warnings: readonly string[] = NO_WARNINGS;

  /** Of the API key; null: it has none. */
  budget: RequestBudget | null = null;

  /** What it reads may be stale: how old it was when the request began, in milliseconds. */
  staleMs: number | null = null;
  /** Has the partition's owner answer it instead; null: this is the owner. */
  elsewhere: (() => void) | null = null;

  /** An agent has worked on its behalf. */
  hasActed = false;

  constructor(
    private readonly frame: RequestOrigin,
    readonly endpoint: Endpoint,
    readonly partition: Partition,
    readonly tenant: Tenant,
    private readonly scheduler: Scheduler,
    /** What the scheduler knows it by. */
    readonly work: Work,
    private readonly channel: RequestChannel,
    /** The streamed body; null where the endpoint takes none. */
    readonly body: BodySource | null,
    /** An agent works with it, on behalf of another request (`forAgent`). */
    readonly ofAgent = false,
    /** Whose turns it takes: those of the tenant that `tenant` may be a branch of. */
    readonly account = tenant.number,
  ) {
    this.id = frame.id;
    this.requestId = frame.requestId;
    this.wantsMsgpack = (frame.flags & REQUEST_WANTS_MSGPACK) !== 0 && endpoint.jsonRpc === undefined;
    this.readOnly = (frame.flags & REQUEST_READ_ONLY) !== 0;
    this.deadlineMs = frame.deadlineMs;
  }

  /**
   * A request for an agent that works on behalf of this one, in its turns and with its rights or those of `head`, or as
   * the server with the flags 0. It runs no agents itself. Its maker ends it when this one ends.
   */
  forAgent(deadlineMs: number, flags = this.frame.flags, head = this.head): Request {
    const { id, requestId } = this;
    const { endpoint, partition, tenant, scheduler, work, channel } = this;
    const origin = { id, requestId, flags, head, deadlineMs: Math.min(this.deadlineMs, deadlineMs) };
    const own = new Request(origin, endpoint, partition, tenant, scheduler, work, channel, null, true, this.account);
    own.progress = this.progress;
    own.statement = this.statement;
    own.trace = this.trace;
    own.budget = this.budget;
    return own;
  }

  /** For functions that run with a member's rights although an administrator called them. */
  asMember(): Request {
    const roles = this.head.roles.filter((role) => !administers({ roles: [role] }));
    const own: PropertyDescriptorMap = { head: { value: { ...this.head, roles } } };
    for (const name of SHARED) {
      own[name] = { get: () => this[name], set: (value) => Object.assign(this, { [name]: value }) };
    }
    return Object.create(this, own) as Request;
  }

  /** The client has gone, or the deadline has passed. */
  cancel(): void {
    this.cancelled = true;
    this.body?.cancel();
    this.sink?.cancel();
    this.stopping?.look();
  }

  /** The actor cannot let it go on: it ends with this error. */
  end(error: DbError): void {
    this.ending ??= error;
    this.body?.cancel();
    this.sink?.cancel();
    this.stopping?.look();
  }

  /**
   * The error as its client is told it: of a lead, with what the lead allows. What a lead or a budget refuses is for
   * the audit trail.
   */
  told<T>(error: T): T | DbError {
    if (!(error instanceof DbError)) return error;
    const { lead } = this.head;
    const isByLead = lead !== undefined && (error.status === 403 || error.status === 429);
    const isRefused = isByLead || error.code === "budget_exhausted";
    if (isRefused && this.endpoint.isAudited !== true) this.channel.refused(this, error);
    if (!isByLead || error.status !== 403 || error.details?.hint !== undefined) return error;
    const hint = boundsOf(leadOf(lead));
    return hint === null ? error : new DbError(error.code, error.message, { ...error.details, hint });
  }

  /** Resolves when everything that the tenant has committed is on disk. */
  durable(): Promise<void> {
    return this.channel.durable(this);
  }

  /**
   * Begins a streamed reply, once everything that the tenant has committed is on disk. The handler ends it, and then
   * answers STREAMED. `headers` are "name: value" lines.
   */
  async openReply(contentType: string, headers: readonly string[]): Promise<ReplySink> {
    await this.durable();
    this.checkpoint();
    this.sink = this.channel.open(this, [contentType, ...headers].join("\n"));
    return this.sink;
  }

  /** The tenant's open transactions. */
  get transactions(): InteractiveTransactions {
    return this.partition.transactionsOf(this.tenant);
  }

  get own(): OwnRequests | null {
    return this.channel.own;
  }

  /** For whom models work. */
  get modelUser(): ModelUser {
    return { tenant: this.head.tenantId, budget: this.budget };
  }

  get head(): RequestHead {
    return this.frame.head;
  }

  /** Shortens the deadline to that many seconds from now. */
  limitTime(seconds: number | undefined): void {
    if (seconds !== undefined) this.deadlineMs = Math.min(this.deadlineMs, Date.now() + seconds * 1000);
  }

  readonly checkpoint = (): void => {
    if (this.cancelled) throw new DbError("cancelled");
    if (this.ending !== null) throw this.ending;
    if (Date.now() > this.deadlineMs) {
      throw new DbError("request_timeout", "canceling statement due to statement timeout", { sqlstate: "57014" });
    }
  };

  /** Made when something first waits for what can be stopped; fires when `checkpoint` would throw, with its error. */
  readonly signal = (): AbortSignal => {
    this.stopping ??= new RequestStop(() => this.checkpoint());
    this.stopping.watch(this.deadlineMs);
    return this.stopping.signal;
  };

  /** The request has ended: nobody watches its deadline any more. */
  ended(): void {
    this.stopping?.close();
  }

  readonly shouldYield = (): boolean => {
    this.mark();
    return this.scheduler.shouldYield();
  };

  readonly yieldTurn = async (): Promise<void> => {
    const { marks } = this.channel;
    const operator = marks.operatorNow;
    await this.scheduler.yieldTurn(this.account, this.work);
    this.mark();
    marks.operatorNow = operator;
    this.checkpoint();
  };

  /** It is at work from here on. */
  private mark(): void {
    this.channel.marks.atWork(this.id, this.account, this.statement);
  }

  readonly atStatement = (text: string): void => {
    this.statement = text;
    this.language = "sql";
    this.mark();
    this.channel.marks.statement(text);
  };

  /** For work without a client: its name while it runs no statement. */
  named(name: string): void {
    this.statement = name;
  }

  readonly inCypher = (): void => {
    this.language = "cypher";
    this.channel.marks.statementIsCypher();
  };

  audited(): AuditedCaller {
    const { head, partition, account, endpoint, requestId, statement, language } = this;
    return {
      // Of a copy nothing can be recorded: its owner answers then.
      tenant: this.elsewhere === null ? partition.tenant(account) : this.tenant,
      tenantName: head.tenantId,
      username: head.username,
      keyId: head.keyId === "" ? null : head.keyId,
      address: head.remoteAddress === "" ? null : head.remoteAddress,
      door: endpoint.name,
      requestId,
      statement,
      language,
    };
  }

  /** Its answer was committed behind what it had committed. */
  answerKept(): void {
    this.channel.marks.answerKept(this.id);
  }

  /**
   * Commits, with the answer beside the writes when the request has an Idempotency-Key. The reply waits at the gate
   * until the commit is on disk.
   */
  commit(tx: Transaction, answer: Answer): void {
    const keeps = this.keepAnswer !== null && tx.dirty;
    this.committed ||= tx.dirty;
    if (keeps) this.keepAnswer!(tx, answer);
    // With its answer beside it, a commit can be asked for again.
    else if (tx.dirty) this.channel.marks.committed(this.id, !this.wrote);
    this.noteLinks(tx);
    this.tenant.commit(tx);
    if (keeps) this.keepAnswer = null;
  }

  /**
   * Works on another tenant of the partition, such as a branch of its own. Its answer waits for what was committed
   * there, too.
   */
  async inTenant<T>(tenant: Tenant, work: (placed: Request) => Promise<T>): Promise<T> {
    const deadlineMs = {
      get: () => this.deadlineMs,
      set: (ms: number) => {
        this.deadlineMs = ms;
      },
    };
    const placed = Object.create(this, { tenant: { value: tenant }, deadlineMs }) as Request;
    try {
      return await work(placed);
    } finally {
      this.wrote ||= placed.wrote;
      this.committed ||= placed.committed;
      this.links = placed.links;
      this.keepAnswer = placed.keepAnswer;
      if (placed.committed) this.tenant.sawEverything();
    }
  }

  private noteLinks(tx: Transaction): void {
    const { own } = tx as ShardTransaction;
    if (own == null || own.isEmpty) return;
    const indexes = this.partition.derived.withLongWork(this.tenant.number);
    if (indexes.length === 0) return;
    this.links ??= new AwaitedLinks();
    this.links.note(indexes, own);
  }

  /**
   * Before its client hears that it has committed: resolves when of the vectors that are to be linked few wait. Null:
   * so it is.
   */
  linked(): Promise<void> | null {
    const { links } = this;
    this.links = null;
    return links?.done(() => this.cancelled || this.ending !== null || this.partition.isEnding) ?? null;
  }

  /** Commits one of several transactions of the request. */
  commitPart(tx: Transaction): void {
    const { dirty } = tx;
    this.committed ||= dirty;
    if (dirty) this.channel.marks.committed(this.id, false);
    this.noteLinks(tx);
    this.tenant.commit(tx);
    this.wrote ||= dirty;
  }
}

/** The request whose statement runs, for functions of features. */
export const CALLER = new Capability<Request>("This function needs a client's request.", true);

provideCapability(CALLER, ({ client }) => callerOf(client));

/** Null: the statement runs for no request. */
export function callerOf(client: Client): Request | null {
  const origin = client.origin ?? client;
  return origin instanceof Request ? origin : null;
}
