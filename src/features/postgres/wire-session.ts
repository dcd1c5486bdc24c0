/**
 * One session of PostgreSQL's protocol: takes its client's messages in order and writes the answers (chapter 55 of
 * PostgreSQL 15's manual). What it runs it gives to a Session as HTTP's routes do. Owned by wire-sessions.ts; one
 * request at a time.
 */
import { requireSubscribing } from "../../actor/key-lead.js";
import type { Request } from "../../actor/request.js";
import { type DbError, sqlError } from "../../protocol/errors.js";
import { fieldsOfNotice, warning } from "../../protocol/notice.js";
import { writeError, writeNotice } from "../../protocol/postgres/error-message.js";
import { type MessageFields, messagesOf, violation, type WireMessage } from "../../protocol/postgres/message-reader.js";
import { BACK, BRINGS_READY, FRONT, STATUS } from "../../protocol/postgres/message-types.js";
import { MessageWriter } from "../../protocol/postgres/message-writer.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import { expectedError } from "../../session/overrun.js";
import { Session } from "../../session/session.js";
import { clientOptions } from "../../session/session-options.js";
import type { CopyStatement } from "../../sql/parse/copy.js";
import type { SessionCommand } from "../../sql/parse/session-command.js";
import type { LockOwner } from "./advisory-locks.js";
import { Channels } from "./channels.js";
import { asSent } from "./client-error.js";
import { type CopyIn, copyInFor } from "./copy-in.js";
import { copyOut } from "./copy-out.js";
import { callFunction } from "./function-call.js";
import { LiveWireSession } from "./live-wire-session.js";
import { type Listener, messagesToOneself, type Notification, noteNotification, type Told } from "./notifications.js";
import { bindMessage, executeMessage, Portals, parseMessage } from "./portals.js";
import { ReadyAnswers } from "./ready-answers.js";
import { SeenCommits } from "./seen-commits.js";
import { type SharedBySessions, sessionActions } from "./session-actions.js";
import { type SpecialStatement, specialOf } from "./special-statement.js";
import { type SentStatement, statementsIn } from "./split-statements.js";
import { ReportedSettings, type StartUp } from "./start-up.js";
import { StatementRuns } from "./statement-runs.js";
import { WireClient } from "./wire-client.js";
import type { Ran, WireHost } from "./wire-host.js";

type Step = void | Promise<void>;

/** A channel to the gateway by which the client hears at any time. */
export interface Push {
  messages(bytes: Uint8Array): void;
  /** The connection ends, with what runs on it. */
  end(error: DbError): void;
}

export class WireSession implements WireHost, Listener, LockOwner {
  readonly session: Session;
  readonly client = new WireClient();
  readonly writer = new MessageWriter();
  private readonly answers = new ReadyAnswers(this.writer, async (bytes) => {
    await this.openReply();
    await this.client.request.sink!.write(bytes);
  });
  readonly portals: Portals;
  readonly runs: StatementRuns;
  readonly seen: SeenCommits;
  /** The transaction was begun by the protocol, and ends with the query or at the next Sync. */
  private isImplicit = false;
  /** An error came: messages are left aside up to the next Sync. */
  private isSkipping = false;
  private copying: CopyIn | null = null;
  /** What runs over several turns; resolves when it has ended, however it did. */
  private working: Promise<void> = Promise.resolve();
  private readonly reported: ReportedSettings;
  private readonly listening = new Channels();
  readonly channels = this.listening.names;
  readonly transactionLocks: LockOwner["transactionLocks"] = [];
  /** What the open transaction, or the statement that is one, has notified. */
  private notified: Notification[] = [];
  /** What its client hears of that, before it is told that the server is ready. */
  private heard: readonly Uint8Array[] = [];
  /** Null: the gateway has not asked for it yet. */
  private pushes: Push | null = null;
  readonly live: LiveWireSession;
  /** When the last messages were answered; milliseconds since the epoch. */
  idleSinceMs = Date.now();
  /** Why it was ended from outside. */
  ended: DbError | null = null;

  constructor(
    request: Request,
    readonly number: number,
    startUp: StartUp,
    private readonly shared: SharedBySessions,
  ) {
    this.session = new Session(request.tenant, {
      ...clientOptions(request, "statements"),
      isolation: "read committed",
      waits: true,
    });
    this.session.settings.isSuperuser = startUp.isSuperuser;
    for (const [name, value] of startUp.settings) this.session.protocol.setAtStart(name, value);
    this.reported = new ReportedSettings(this.session.settings, startUp);
    this.live = new LiveWireSession(this, request.head);
    this.runs = new StatementRuns(this);
    this.seen = new SeenCommits(this.session, { tenant: request.tenant, partition: request.partition });
    this.portals = new Portals(this);
    const notify = (sent: Notification) => noteNotification(this.notified, sent);
    this.client.actions = sessionActions(this, shared, notify, this.client);
  }

  /** The answer to the start: ParameterStatus messages and ReadyForQuery. */
  opened(): Answer {
    this.reported.write(this.writer);
    for (const reason of this.session.names.refusedAtStart)
      writeNotice(this.writer, fieldsOfNotice(warning(reason, "01000")));
    this.ready();
    return { bytes: this.writer.take() };
  }

  /** Works on messages that came together. Never throws what a client did. */
  serve(request: Request, bytes: Buffer): Answer | Promise<Answer> {
    this.client.serve(request);
    this.answers.clear();
    this.seen.begin();
    const messages = messagesOf(bytes);
    const done = this.serveFrom(messages, 0);
    if (!(done instanceof Promise)) return this.answer(request);
    this.working = done.catch(() => undefined);
    return done.then(() => this.answer(request));
  }

  private serveFrom(messages: readonly WireMessage[], from: number): Step {
    for (let i = from; i < messages.length; i++) {
      const step = this.one(messages, i);
      if (step instanceof Promise) return this.answers.beside(step).then(() => this.serveFrom(messages, i + 1));
      const { request } = this.client;
      if (i + 1 < messages.length && request.shouldYield()) {
        return request.yieldTurn().then(() => this.serveFrom(messages, i + 1));
      }
    }
  }

  private answer(request: Request): Answer | Promise<Answer> {
    if (this.answers.sending !== null) return this.answers.sending.then(() => this.answer(request));
    this.client.serve(null);
    this.idleSinceMs = Date.now();
    // It has ended itself; the gateway tells of removed users.
    const { sink } = request;
    if (this.ended?.details?.sqlstate === "57P01" && sink === null) throw this.ended;
    const seen = this.seen.newest();
    if (sink === null) {
      const bytes = this.writer.take();
      return seen === null ? { bytes } : { bytes, seen };
    }
    return this.finishSink(request);
  }

  private async finishSink(request: Request): Promise<Answer> {
    await request.durable();
    const rest = this.writer.take();
    if (rest.length > 0) await request.sink!.write(rest);
    request.sink!.end();
    return STREAMED;
  }

  /** Sends what was written so far. */
  readonly flush = async (): Promise<void> => {
    const { request } = this.client;
    this.answers.clear();
    await this.answers.sending;
    await this.openReply();
    if (this.writer.length > 0) await this.writer.lend((bytes) => request.sink!.write(bytes));
    // The client was waited for, perhaps; the work goes on in a turn of the tenant's.
    await this.client.yieldTurn();
  };

  private async openReply(): Promise<void> {
    const { request } = this.client;
    if (request.sink === null) await request.openReply("application/octet-stream", []);
    else await request.durable();
  }

  private one(messages: readonly WireMessage[], i: number): Step {
    const { type, fields } = messages[i]!;
    if (this.isSkipping && type !== FRONT.sync && type !== FRONT.query) return;
    // Sent before the client saw that its statement is a COPY; another one follows the rows.
    if (this.copying !== null && (type === FRONT.sync || type === FRONT.flush)) return;
    try {
      const step = this.handle(type, fields, messages, i);
      return step instanceof Promise ? step.catch((error: unknown) => this.failed(error, type)) : step;
    } catch (error) {
      return this.failed(error, type);
    }
  }

  private handle(type: number, fields: MessageFields, messages: readonly WireMessage[], i: number): Step {
    switch (type) {
      case FRONT.query:
        return this.query(fields);
      case FRONT.parse:
        return parseMessage(this, fields);
      case FRONT.bind:
        return bindMessage(this, fields);
      case FRONT.describe:
        return this.portals.describe(fields.byte(), fields.cstring());
      case FRONT.execute:
        this.beginUnlessAlone(messages, i);
        return executeMessage(this, fields);
      case FRONT.close:
        this.portals.close(fields.byte(), fields.cstring());
        this.writer.empty(BACK.closeComplete);
        return;
      case FRONT.flush:
        this.answers.mark();
        return;
      case FRONT.sync:
        return this.sync();
      case FRONT.copyData:
        return this.copying?.data(fields.rest());
      case FRONT.copyDone:
        return this.copyDone();
      case FRONT.copyFail:
        return this.copyFail(fields.cstring());
      case FRONT.functionCall:
        return callFunction(this, fields).then(() => this.endQuery());
      default:
        throw violation(`there is no message of type ${JSON.stringify(String.fromCharCode(type))}`);
    }
  }

  // The simple protocol

  private query(fields: MessageFields): Step {
    // A query ends whatever pipeline came before.
    this.isSkipping = false;
    this.portals.forget("");
    const text = fields.cstring();
    this.runs.sent = text;
    const statements = statementsIn(text);
    const first = statements.next().value;
    if (first === undefined) {
      this.writer.empty(BACK.emptyQueryResponse);
      return this.endQuery();
    }
    const second = statements.next().value;
    if (second !== undefined) return this.several([first, second], statements).then(() => this.endQuery());
    this.runs.shift = first.start;
    const ran = this.simple(first.sql);
    return ran instanceof Promise ? ran.then(() => this.endQuery()) : this.endQuery();
  }

  /** They are one transaction, unless they say otherwise. */
  private async several(...texts: readonly Iterable<SentStatement>[]): Promise<void> {
    for (const statements of texts) {
      for (const { sql, start } of statements) {
        this.runs.shift = start;
        this.beginImplicit();
        await this.simple(sql);
        const { request } = this.client;
        if (request.shouldYield()) await request.yieldTurn();
      }
    }
  }

  private simple(sql: string): Step {
    const special = specialOf(sql);
    if (special !== null) return this.special(special, true);
    return this.ran(this.runs.run({ sql, params: [] }, { formats: [], describes: true }));
  }

  private endQuery(): Step {
    if (this.copying !== null) return;
    const ending = this.endImplicit();
    return ending instanceof Promise ? ending.then(() => this.readyWithSettings()) : this.readyWithSettings();
  }

  /** What the end of a statement means for the protocol's own transaction. */
  ran(run: Ran | Promise<Ran>): Step {
    if (run instanceof Promise) return run.then((done) => this.settle(done));
    this.settle(run);
  }

  private settle({ command, isPlain }: Ran): void {
    this.seen.ran(command, isPlain);
    if (command !== undefined) this.noteCommand(command);
    if (!this.session.inTransaction) this.transactionEnded(command !== "ROLLBACK");
    if (!this.isImplicit) return;
    if (command === "BEGIN") this.isImplicit = false;
    else if (!this.session.inTransaction) {
      this.isImplicit = false;
      this.runs.warn("there is no transaction in progress", "25P01");
    }
  }

  private noteCommand(command: string): void {
    if (command !== "DISCARD ALL") return;
    this.listening.clear();
    this.shared.advisory.giveAll(this);
  }

  /** Its locks go; what it has notified is told once it is on disk, or forgotten. */
  private transactionEnded(hasCommitted: boolean): void {
    this.shared.advisory.endTransaction(this);
    this.listening.transactionEnded(hasCommitted);
    const notified = this.notified;
    if (notified.length === 0) return;
    this.notified = [];
    if (!hasCommitted) return;
    this.heard = [...this.heard, ...messagesToOneself(this, this.number, notified)];
    const told = (): void => this.shared.notifications.tell(this.number, notified, this);
    this.client.request.durable().then(told, () => undefined);
  }

  special(special: SpecialStatement, isSimple: boolean): Step {
    this.client.atStatement(special.sql);
    return special.kind === "copy" ? this.copy(special.copy, isSimple) : this.command(special.command);
  }

  /** LISTEN and its like, which the engine does not know. */
  private command(command: SessionCommand): Step {
    const { session } = this;
    this.seen.isUnknown();
    if (session.status === "failed" && session.inTransaction) {
      throw sqlError("25P02", "current transaction is aborted, commands ignored until end of transaction block");
    }
    switch (command.kind) {
      case "notify":
        this.client.undoes = (undo) => session.protocol.undoes(undo);
        this.client.actions!.notify(command.channel, command.payload);
        break;
      default:
        if (command.kind === "listen") requireSubscribing(this.client.request);
        this.listening.note(command);
        this.shared.notifications.add(this);
    }
    if (!session.inTransaction) this.transactionEnded(true);
    this.runs.complete(command.kind.toUpperCase());
  }

  told({ message }: Told): void {
    this.pushes?.messages(message);
  }

  takePushes(push: Push): void {
    this.pushes = push;
  }

  // Transactions of the protocol

  get isInImplicit(): boolean {
    return this.isImplicit;
  }

  beginImplicit(): void {
    if (this.session.inTransaction) return;
    this.session.begin({});
    this.isImplicit = true;
  }

  /** An Execute that is the only one before its Sync is a transaction by itself; several are one. */
  private beginUnlessAlone(messages: readonly WireMessage[], i: number): void {
    if (this.session.inTransaction) return;
    for (let j = i + 1; j < messages.length; j++) {
      const { type } = messages[j]!;
      if (type === FRONT.sync) return;
      if (type === FRONT.execute || type === FRONT.query) break;
    }
    this.beginImplicit();
  }

  private endImplicit(): Step {
    if (!this.isImplicit) return;
    this.isImplicit = false;
    if (!this.session.inTransaction) return;
    this.portals.forgetAll();
    if (this.session.status === "failed") {
      this.session.rollback();
      this.transactionEnded(false);
      return;
    }
    const done = (): void => this.transactionEnded(true);
    const committed = this.runs.commit();
    return committed instanceof Promise ? committed.then(done) : done();
  }

  private sync(): Step {
    this.isSkipping = false;
    const done = (): void => {
      if (!this.session.inTransaction) this.portals.forgetAll();
      this.readyWithSettings();
    };
    const ending = this.endImplicit();
    return ending instanceof Promise ? ending.then(done) : done();
  }

  private readyWithSettings(): void {
    this.runs.sent = "";
    this.reported.write(this.writer);
    this.ready();
  }

  ready(): void {
    const { session, writer } = this;
    for (const message of this.heard) writer.bytes(message);
    this.heard = [];
    writer.begin(BACK.readyForQuery);
    writer.byte(STATUS[session.inTransaction && !this.isImplicit ? session.status : "idle"]);
    writer.end();
    this.answers.mark();
  }

  // Errors

  /** The error as a message; what the protocol does after one. */
  private failed(thrown: unknown, type: number): void {
    const error = this.client.told(expectedError(thrown));
    this.seen.isUnknown();
    // The simple protocol goes on at once, also after a COPY whose rows are still on their way.
    const isSimple = BRINGS_READY.has(type) || this.copying?.isSimple === true;
    this.endCopy();
    const { runs } = this;
    runs.tellAll(this.session.protocol.takeNotices());
    writeError(this.writer, asSent(error, runs.sent, runs.shift), "ERROR", runs.shift);
    runs.shift = 0;
    runs.sent = "";
    if (this.isImplicit && this.session.inTransaction) this.session.rollback();
    this.isImplicit = false;
    if (!this.session.inTransaction) this.transactionEnded(false);
    // Some errors do not come of a statement that runs: of its parsing, of parameters, of rows that are copied.
    else this.session.protocol.fail(error);
    if (isSimple) this.readyWithSettings();
    else this.isSkipping = true;
  }

  // COPY

  private copy(copy: CopyStatement, isSimple: boolean): Step {
    this.seen.isUnknown();
    if (copy.direction === "out") return copyOut(this, copy);
    return copyInFor(this, copy, isSimple).then((copying) => {
      this.copying = copying;
    });
  }

  private async copyDone(): Promise<void> {
    const copying = this.copying;
    if (copying === null) return;
    const count = await copying.done();
    this.copying = null;
    this.runs.complete(`COPY ${count}`);
    if (copying.isSimple) await this.endQuery();
  }

  private copyFail(reason: string): void {
    if (this.copying === null) return;
    throw sqlError("57014", `COPY from stdin failed: ${reason}`);
  }

  private endCopy(): void {
    this.copying?.abandon();
    this.copying = null;
  }

  // The end

  /** Rolls back what is open and drops the session's temporary relations. */
  async close(request: Request): Promise<void> {
    this.client.cancel(sqlError("57P01", "the client has left"));
    this.endCopy();
    await this.working;
    this.client.serve(request);
    if (this.session.inTransaction) this.session.rollback();
    this.leave();
    await this.session.endTemporaries(request, (tx) => request.tenant.commit(tx));
    this.client.serve(null);
  }

  /** Another session, or the client by another connection, wants the statement to be cancelled. */
  cancel(): true {
    this.client.cancel(sqlError("57014", "canceling statement due to user request"));
    return true;
  }

  terminate(): true {
    this.end(sqlError("57P01", "terminating connection due to administrator command"));
    return true;
  }

  /** From outside: the transaction ends, and the client hears why. */
  end(error: DbError): void {
    this.ended ??= error;
    this.client.cancel(error);
    this.endCopy();
    this.session.abandon(error.message);
    this.leave();
    this.pushes?.end(this.ended);
  }

  /** Nothing of it stays with what sessions share. */
  private leave(): void {
    this.notified = [];
    this.listening.clear();
    this.shared.notifications.remove(this);
    this.shared.advisory.giveAll(this);
  }
}
