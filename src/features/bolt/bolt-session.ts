/**
 * One session of Bolt: takes its client's messages in order and writes the answers. What it runs it gives to a Session
 * as HTTP's routes do. Owned by bolt-sessions.ts; one request at a time.
 */
import type { Request } from "../../actor/request.js";
import type { BoltRoutes } from "../../protocol/bolt/bolt-routes.js";
import { boltError, writeFailure } from "../../protocol/bolt/failure-message.js";
import { ASK, type BoltVersion, TELL } from "../../protocol/bolt/message-tags.js";
import type { NotificationFilter } from "../../protocol/bolt/notification-filter.js";
import { malformed, PackReader } from "../../protocol/bolt/pack-reader.js";
import { type PackValue, PackWriter } from "../../protocol/bolt/pack-writer.js";
import type { DbError } from "../../protocol/errors.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import { expectedError } from "../../session/overrun.js";
import { Session } from "../../session/session.js";
import { clientOptions } from "../../session/session-options.js";
import type { Transaction } from "../../storage/store.js";
import { WireClient } from "../postgres/wire-client.js";
import { bookmarkOf, checkBookmarks, type Position } from "./bookmarks.js";
import { databaseNamed, ElsewhereError, graphHere } from "./database-names.js";
import { LiveBoltSession, type OpenTransaction, type RoutingTable } from "./live-bolt-session.js";
import type { RowSink } from "./results.js";
import { databaseOf, refuseOtherUser, type TransactionOptions, transactionOptions } from "./run-options.js";
import { Statements } from "./statements.js";
import { VARIANTS } from "./value-reader.js";
import type { Dialect } from "./value-writer.js";

export interface OpenOptions {
  readonly version: BoltVersion;
  readonly utc: boolean;
  readonly routes: BoltRoutes;
  readonly notifications: NotificationFilter;
}

/** How long clients keep a routing table. */
const ROUTES_SECONDS = 300;
/** Answers of earlier messages wait no longer than that for the one that is worked on. */
const HELD_MS = 20;
/** What the session wants of the gateway. */
const NONE: OpenTransaction["parameters"] = new Map();

const CLOSES = "closes";
const LOGGED_OFF = "logged off";
/** Before how many messages are left, and the branch where a session is to be opened for them. */
const MOVES = "moves ";

type Fields = readonly unknown[];
type Step = void | Promise<void>;

const FIELD_COUNTS: Readonly<Record<number, number>> = {
  [ASK.reset]: 0,
  [ASK.goodbye]: 0,
  [ASK.run]: 3,
  [ASK.begin]: 1,
  [ASK.commit]: 0,
  [ASK.rollback]: 0,
  [ASK.discard]: 1,
  [ASK.pull]: 1,
  [ASK.telemetry]: 1,
  [ASK.route]: 3,
  [ASK.logoff]: 0,
};

/** What goes on with an open transaction. */
const CONTINUES: ReadonlySet<number> = new Set([ASK.run, ASK.pull, ASK.discard, ASK.commit]);

export class BoltSession implements RowSink {
  readonly session: Session;
  readonly client = new WireClient();
  readonly writer = new PackWriter();
  readonly dialect: Dialect;
  private readonly statements: Statements;
  /** BEGIN has come. */
  private isOpen = false;
  /** An error came: messages are left aside up to the next RESET. */
  private isFailed = false;
  /** RESETs that were answered, and the newest that the client has sent as far as it is known. */
  private resets = 0;
  private interruptedUpTo = 0;
  private note = "";
  /** What runs over several turns; resolves when it has ended, however it did. */
  private working: Promise<void> = Promise.resolve();
  /** When the open transaction ends by itself. */
  private transactionEndsMs = Number.POSITIVE_INFINITY;
  /** Rows of a statement by itself were not pulled in time: told to the client at its next message. */
  private isExpired = false;
  restsSinceMs = Date.now();
  readonly live: LiveBoltSession;
  private transactions = 0;
  open: OpenTransaction | null = null;
  private readonly restMsMax: number;
  /** Why it was ended from outside: told to the client at its next message. */
  ended: DbError | null = null;
  private readonly username: string;

  constructor(
    request: Request,
    number: number,
    readonly options: OpenOptions,
  ) {
    this.session = new Session(request.tenant, {
      ...clientOptions(request, "statements"),
      isolation: "read committed",
      waits: true,
    });
    this.dialect = { elementIds: options.version.major >= 5, utc: options.utc, vectors: options.version.major >= 6 };
    this.notifications = options.notifications;
    this.username = request.head.username;
    this.restMsMax = request.partition.config.transactions.maxSeconds * 1000;
    this.live = new LiveBoltSession(this, number, request.head);
    this.statements = new Statements(this);
    this.client.atYield = async () => {
      const waitsMs = Date.now() - this.client.begunMs;
      if (this.writer.length > 0 && waitsMs > HELD_MS) await this.send();
    };
  }

  /** Works on messages that came together. Never throws what a client did. */
  serve(request: Request, messages: readonly Buffer[]): Answer | Promise<Answer> {
    this.sweep(Date.now());
    this.client.serve(request);
    const done = this.serveFrom(messages);
    this.working = done.catch(() => undefined);
    return done.then(() => this.answer(request));
  }

  private async serveFrom(messages: readonly Buffer[]): Promise<void> {
    for (const [i, message] of messages.entries()) {
      await this.one(message, messages.length - i);
      if (this.note !== "") return;
      const { request } = this.client;
      if (request.shouldYield()) await request.yieldTurn();
    }
  }

  private async answer(request: Request): Promise<Answer> {
    this.client.serve(null);
    this.restsSinceMs = Date.now();
    const headers = this.note;
    this.note = "";
    const { sink } = request;
    if (sink === null) return { bytes: this.writer.take(), headers };
    await request.durable();
    const rest = this.writer.take();
    sink.end(rest, headers);
    return STREAMED;
  }

  /** Sends what was written so far. */
  readonly flush = async (): Promise<void> => {
    await this.send();
    // The client was waited for, perhaps; the work goes on in a turn of the tenant's.
    await this.client.yieldTurn();
  };

  private async send(): Promise<void> {
    const { request } = this.client;
    if (request.sink === null) await request.openReply("application/octet-stream", []);
    else await request.durable();
    if (this.writer.length > 0) await request.sink!.write(this.writer.take());
  }

  // Messages

  /** `left`: messages that came together with it and are still to be worked on, itself counted. */
  private async one(message: Buffer, left: number): Promise<void> {
    try {
      const reader = new PackReader(message, VARIANTS);
      const { tag, fields } = reader.message();
      if (FIELD_COUNTS[tag] === undefined) throw malformed(`there is no message with the tag ${tag.toString(16)}`);
      if (tag !== ASK.reset && tag !== ASK.goodbye && this.leavesAside) {
        this.writer.begin(TELL.ignored, 0);
        this.writer.end();
        return;
      }
      if (fields !== FIELD_COUNTS[tag]) throw malformed(`the message ${tag.toString(16)} has ${fields} fields`);
      const values = Array.from({ length: fields }, () => reader.value());
      reader.end();
      await this.handle(tag, values);
    } catch (error) {
      if (error instanceof ElsewhereError) this.note = `${MOVES}${left} ${error.branch}`;
      else this.failed(error);
    }
  }

  private get leavesAside(): boolean {
    return this.isFailed || this.resets < this.interruptedUpTo;
  }

  private handle(tag: number, fields: Fields): Step {
    if (this.ended !== null && tag !== ASK.goodbye) throw this.ended;
    if (this.isExpired && tag !== ASK.reset && tag !== ASK.goodbye) throw notPulled();
    if (this.open?.isTerminated === true && CONTINUES.has(tag)) throw terminatedByUser();
    switch (tag) {
      case ASK.run:
        return this.run(fields);
      case ASK.pull:
        return this.pull(fields[0], this);
      case ASK.discard:
        return this.pull(fields[0], null);
      case ASK.begin:
        return this.begin(fields[0]);
      case ASK.commit:
        return this.commit();
      case ASK.rollback:
        this.requireOpen("ROLLBACK");
        this.endTransaction();
        return this.succeed({});
      case ASK.reset:
        return this.reset();
      case ASK.route:
        return this.route(fields);
      case ASK.telemetry:
        return this.succeed({});
      case ASK.logoff:
        this.requireIdle("LOGOFF");
        this.note = LOGGED_OFF;
        return this.succeed({});
      default:
        this.note = CLOSES;
    }
  }

  succeed(facts: { readonly [key: string]: PackValue | undefined }): void {
    this.writer.message(TELL.success, facts);
  }

  private async run([text, parameters, extra]: Fields): Promise<void> {
    if (typeof text !== "string" || !(parameters instanceof Map)) throw malformed("RUN has a text, a map and a map");
    if (this.isOpen) this.requireTime();
    else this.requireIdle("RUN");
    const options = this.isOpen ? null : this.begins(extra);
    this.client.begin(this.timeoutMs());
    const graph = options === null ? this.graph : graphHere(this.client.request, options.database);
    if (options !== null) this.opens(graph, options);
    const queries = (this.open?.queries ?? 0) + 1;
    if (this.open !== null) Object.assign(this.open, { queries, queryMs: Date.now(), parameters });
    const notifications = options?.notifications ?? this.notifications;
    const began = { text, parameters, graph, database: this.databaseName(graph, options?.database), notifications };
    this.succeed(await this.statements.run(began, options));
  }

  private async pull(extra: unknown, sink: RowSink | null): Promise<void> {
    if (this.isOpen) this.requireTime();
    if (!this.statements.hasOpen) throw violation(`there are no rows to ${sink === null ? "discard" : "pull"}`);
    const said = extra instanceof Map ? extra : new Map();
    const [n, qid] = [said.get("n"), said.get("qid") ?? -1];
    if (!isInteger(n) || !(n > 0 || n === -1)) throw malformed('"n" has to be an integer, -1 or more than 0');
    if (!isInteger(qid)) throw malformed('"qid" has to be an integer');
    this.client.begin(this.timeoutMs());
    const facts = await this.statements.pull(qid, n === -1 ? Number.MAX_SAFE_INTEGER : n, sink);
    if (!this.statements.hasOpen) this.rests();
    this.succeed(facts);
  }

  /** All rows are pulled. */
  private rests(): void {
    if (!this.isOpen) this.open = null;
    else if (this.open !== null) this.open.parameters = NONE;
  }

  // Transactions

  /** The graph of the open transaction, and what the client calls it. */
  private graph = "";
  private asked = "";
  private notifications: NotificationFilter;

  private begin(extra: unknown): void {
    this.requireIdle("BEGIN");
    const options = this.begins(extra);
    this.graph = graphHere(this.client.request, options.database);
    this.asked = options.database;
    this.notifications = options.notifications;
    this.session.begin({ readOnly: options.reads });
    this.isOpen = true;
    this.opens(this.graph, options);
    this.succeed({ db: this.databaseName(this.graph) });
  }

  private begins(extra: unknown): TransactionOptions {
    const options = transactionOptions(extra, this.username, this.options.notifications);
    checkBookmarks(options.bookmarks, this.position);
    const { timeoutMs } = options;
    this.transactionEndsMs = timeoutMs === 0 ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs;
    return options;
  }

  private opens(graph: string, { metadata }: TransactionOptions): void {
    const count = ++this.transactions;
    const begun = { count, graph, metadata, startedMs: Date.now() };
    this.open = { ...begun, queries: 0, queryMs: null, parameters: NONE, isTerminated: false };
  }

  get hasResults(): boolean {
    return this.statements.hasOpen;
  }

  private async commit(): Promise<void> {
    this.requireOpen("COMMIT");
    this.requireTime();
    const { session, client } = this;
    client.begin(this.timeoutMs());
    this.statements.closeAll();
    try {
      await session.prepareCommit(client);
      if (this.open?.isTerminated === true) throw terminatedByUser();
      session.commit((tx) => client.request.commitPart(tx));
      this.committed();
      await client.request.linked();
    } finally {
      this.endTransaction();
    }
    this.succeed({ bookmark: this.bookmark });
  }

  /** Of a statement by itself. Whoever ended it from outside was told that nothing of it stays. */
  commitPart(tx: Transaction): void {
    if (this.open?.isTerminated === true) throw terminatedByUser();
    this.client.request.commitPart(tx);
  }

  /** Nobody can end it any more. */
  committed(): void {
    this.open = null;
  }

  private endTransaction(): void {
    this.statements.closeAll();
    if (this.session.inTransaction) this.session.rollback();
    this.isOpen = false;
    this.open = null;
    this.isExpired = false;
    this.transactionEndsMs = Number.POSITIVE_INFINITY;
  }

  private reset(): void {
    this.resets++;
    this.endTransaction();
    this.isFailed = false;
    if (this.leavesAside) {
      this.writer.begin(TELL.ignored, 0);
      this.writer.end();
    } else this.succeed({});
  }

  private requireOpen(what: string): void {
    if (!this.isOpen) throw violation(`${what} came, and no transaction is open`);
  }

  /** Of the open transaction. */
  private requireTime(): void {
    if (this.session.inTransaction && Date.now() < this.transactionEndsMs) return;
    throw outOfTime();
  }

  private requireIdle(what: string): void {
    if (this.isOpen) throw violation(`${what} came within a transaction`);
    if (this.statements.hasOpen) throw violation(`${what} came before all rows were pulled or discarded`);
  }

  /** Of a statement: what is left of its transaction, and what the configuration allows. */
  private timeoutMs(): number {
    const most = this.client.request.partition.config.query.timeoutSeconds * 1000;
    return Math.min(most, Math.max(1, this.transactionEndsMs - Date.now()));
  }

  private get position(): Position {
    const { number, shard } = this.client.request.partition;
    return { partition: number, sequence: shard.committedSequence };
  }

  get bookmark(): string {
    return bookmarkOf(this.position);
  }

  // Names

  /** As the client called it, if it did. */
  private databaseName(graph: string, asked = this.asked): string {
    return asked === "" ? graph : asked;
  }

  private route([, bookmarks, context]: Fields): void {
    this.requireIdle("ROUTE");
    if (context instanceof Map) refuseOtherUser(context, this.username);
    checkBookmarks(bookmarks, this.position);
    const database = databaseOf(context instanceof Map ? context.get("db") : context);
    this.succeed({ rt: { ...this.routingTable(database) } });
  }

  routingTable(database: string | null): RoutingTable {
    const { graph } = databaseNamed(this.client.request, database ?? "");
    const { owner, nodes } = this.options.routes;
    const servers = [
      { role: "WRITE", addresses: [owner] },
      { role: "READ", addresses: [owner] },
      { role: "ROUTE", addresses: nodes },
    ];
    return { ttl: ROUTES_SECONDS, db: this.databaseName(graph, database ?? ""), servers };
  }

  // Errors

  private failed(thrown: unknown): void {
    const isTerminated = this.open?.isTerminated === true;
    const error = this.client.told(isTerminated ? terminatedByUser() : expectedError(thrown));
    const isViolation = error.details?.bolt === VIOLATION;
    // Rows that were given stay; half a one does not.
    this.writer.abandon();
    writeFailure(this.writer, error, this.options.version);
    this.statements.closeAll();
    if (!this.isOpen && this.session.inTransaction) this.session.rollback();
    if (!this.isOpen) this.open = null;
    this.isFailed = true;
    if (isViolation || this.ended !== null) this.note = CLOSES;
  }

  // From outside

  /** The client's RESET of that number has come: what is before it is left aside. */
  interrupt(reset: number): void {
    if (reset <= this.resets) return;
    this.interruptedUpTo = Math.max(this.interruptedUpTo, reset);
    this.client.cancel(terminated("The transaction has been terminated, because the client has reset the connection."));
  }

  /** TERMINATE TRANSACTIONS: its locks are free at once; a statement that runs ends at its next checkpoint. */
  terminate(): void {
    this.open!.isTerminated = true;
    this.client.cancel(terminatedByUser());
    this.statements.closeAll();
    this.session.abandon(BY_USER);
  }

  /**
   * Ends a transaction whose time is over. Where the client was silent for too long, rows that it did not pull go, too.
   */
  sweep(nowMs: number): void {
    if (this.client.isAtWork) return;
    const { inTransaction } = this.session;
    const isLate = inTransaction && nowMs >= this.transactionEndsMs;
    const isForgotten = (inTransaction || this.statements.hasOpen) && nowMs - this.restsSinceMs >= this.restMsMax;
    if (!isLate && !isForgotten) return;
    this.isExpired = !this.isOpen;
    this.open = null;
    this.statements.closeAll();
    this.session.abandon("its time is over");
  }

  end(error: DbError): void {
    this.ended ??= error;
    this.client.cancel(error);
    this.open = null;
    this.statements.closeAll();
    this.session.abandon(error.message);
  }

  async close(request: Request): Promise<void> {
    this.client.cancel(terminated("The client has left."));
    await this.working;
    this.client.serve(request);
    this.endTransaction();
    await this.session.endTemporaries(request, (tx) => request.tenant.commit(tx));
    this.client.serve(null);
  }
}

const isInteger = (value: unknown): value is number => Number.isInteger(value);

const VIOLATION = "Neo.ClientError.Request.Invalid";

function violation(what: string): DbError {
  return boltError("invalid_request", VIOLATION, `The message is out of order: ${what}.`);
}

const TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut";

function outOfTime(): DbError {
  const message = "The transaction took longer than its timeout, or rested for too long, and was rolled back.";
  return boltError("request_timeout", TIMED_OUT, message);
}

function notPulled(): DbError {
  const message = "The rows were not pulled in time, and are gone. What the statement wrote stays.";
  return boltError("request_timeout", TIMED_OUT, message);
}

function terminated(message: string): DbError {
  return boltError("cancelled", "Neo.TransientError.Transaction.Terminated", message);
}

const BY_USER = "Explicitly terminated by the user";

function terminatedByUser(): DbError {
  const message = `The transaction has been terminated. Retry your operation in a new transaction, and you should see a successful result. ${BY_USER}.`;
  return boltError("transaction_aborted", "Neo.ClientError.Transaction.TransactionTerminated", message);
}
