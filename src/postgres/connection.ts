/**
 * One connection of PostgreSQL's protocol: the start (encryption, sign-in), then its client's messages to the actor and
 * the answers back, one request at a time. Made and owned by server.ts.
 */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { atBranch, type Caller } from "../gateway/admission.js";
import type { Cancel } from "../gateway/clock.js";
import type { StatementCancel } from "../gateway/partition-routes.js";
import type { Services } from "../gateway/services.js";
import { branchWanted, nameIn } from "../protocol/database-name.js";
import { DbError, sqlError } from "../protocol/errors.js";
import { writeError } from "../protocol/postgres/error-message.js";
import { kindOfMessages, type PostgresKind } from "../protocol/postgres/message-kinds.js";
import { MessageGroups } from "../protocol/postgres/message-queue.js";
import { violation } from "../protocol/postgres/message-reader.js";
import { AUTHENTICATION, BACK, FRONT } from "../protocol/postgres/message-types.js";
import { MessageWriter } from "../protocol/postgres/message-writer.js";
import { UNSENT_BYTES, UnaskedMessages } from "../protocol/postgres/unasked-messages.js";
import { atTime } from "./at-time.js";
import type { Encryption } from "./encryption.js";
import { type FirstPacket, NoStart, readFirstPacket } from "./first-packet.js";
import { Lending } from "./lending.js";
import type { SignInClient } from "./scram.js";
import { signIn } from "./sign-in.js";
import { closeWireSession, type Heard, NOBODY, WireCall, type WireEndpoint } from "./wire-call.js";
import { asDbError, type RequestHost, WireRequest } from "./wire-request.js";

/** What a connection needs of the server that has it. */
export interface ConnectionHost {
  readonly services: Services;
  /** Null: connections are not encrypted. */
  readonly encryption: Encryption | null;
  /** A client that knows the secret wants the statement of that connection to be cancelled. */
  cancel(wanted: StatementCancel): void;
  closed(connection: Connection): void;
}

/** What a client must do within this time to be let in. */
const START_MS = 30_000;

type Start = Extract<FirstPacket, { kind: "start" }>;

export class Connection implements RequestHost<PostgresKind> {
  private phase: "start" | "sign-in" | "opening" | "ready" | "closed" = "start";
  private socket: Socket;
  private first: Buffer = Buffer.alloc(0);
  private readonly groups = new MessageGroups(() => this.sendUnasked());
  private start: Start | null = null;
  /** Hash of the certificate that encrypts the connection; null: there is none. */
  private certificate: Buffer | null = null;
  /** Takes the client's next message of the sign-in; null: none is waited for. */
  private takeAnswer: ((body: Buffer) => void) | null = null;
  private readonly request: WireRequest<PostgresKind>;
  private readonly startTimer: NodeJS.Timeout;
  /** The client has said goodbye, or must go, once what runs has ended. */
  private isLeaving: DbError | "terminate" | null = null;
  private hasSession = false;
  private listening: WireCall | null = null;
  private readonly lending: Lending;
  private readonly unasked = new UnaskedMessages(
    () => this.request.isUnderWay,
    (bytes) => this.write(bytes),
  );
  private cancelExpiry: Cancel | null = null;
  /** Null until sign-in. */
  caller: Caller | null = null;

  constructor(
    private readonly host: ConnectionHost,
    socket: Socket,
    /** What the protocol calls the process id. */
    readonly session: number,
    readonly secret: number,
  ) {
    this.request = new WireRequest(this, "postgres", host.services.wire, "open");
    this.lending = new Lending(host.services, this);
    this.socket = socket;
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    this.listen(socket);
    this.startTimer = setTimeout(
      () => this.fatal(sqlError("57P05", "the start of the connection took too long")),
      START_MS,
    );
    this.startTimer.unref();
  }

  private listen(socket: Socket): void {
    socket.on("data", (bytes: Buffer) => this.received(bytes));
    socket.on("drain", () => this.request.drained());
    socket.on("error", () => this.gone());
    socket.on("close", () => this.gone());
  }

  get services(): Services {
    return this.host.services;
  }

  get isClosed(): boolean {
    return this.phase === "closed";
  }

  // From the client

  private received(bytes: Buffer): void {
    try {
      if (this.phase === "start") {
        this.first = Buffer.concat([this.first, bytes]);
        this.begin();
      } else {
        this.groups.queue.push(bytes);
        this.work();
      }
    } catch (error) {
      if (error instanceof NoStart) this.close();
      else this.fatal(asDbError(error));
    }
  }

  private begin(): void {
    for (let found = readFirstPacket(this.first); found !== null; found = readFirstPacket(this.first)) {
      const { packet, length } = found;
      this.first = this.first.subarray(length);
      switch (packet.kind) {
        case "gss":
          this.socket.write("N");
          break;
        case "ssl":
          if (this.encrypt()) return;
          break;
        case "cancel":
          this.host.cancel(packet);
          this.close();
          return;
        case "start":
          this.started(packet);
          return;
      }
    }
  }

  /** True where the connection goes on encrypted. */
  private encrypt(): boolean {
    const { encryption } = this.host;
    if (encryption === null || this.socket instanceof TLSSocket) {
      this.socket.write("N");
      return false;
    }
    // Bytes that came with the request were not encrypted: somebody in between may have put them there.
    if (this.first.length > 0) throw violation("data came before encryption was agreed on");
    const { socket } = this;
    socket.removeAllListeners("data").removeAllListeners("drain");
    socket.write("S");
    this.socket = new TLSSocket(socket, { isServer: true, secureContext: encryption.secureContext });
    this.certificate = encryption.certificate;
    this.listen(this.socket);
    return true;
  }

  private started(packet: Start): void {
    this.start = packet;
    if (packet.minor > 0 || packet.unknownOptions.length > 0) this.negotiate(packet.unknownOptions);
    this.phase = "sign-in";
    this.groups.queue.push(this.first);
    const { address, certificate } = this;
    signIn(this.services, { user: nameIn(packet.user), address, certificate }, this.signInClient).then(
      (caller) => this.admitted(caller),
      (error: unknown) => this.refused(asDbError(error)),
    );
  }

  /** The client wants more than protocol 3.0: it hears what there is, and goes on with that or leaves. */
  private negotiate(unknownOptions: readonly string[]): void {
    this.say((writer) => {
      writer.begin(BACK.negotiateProtocolVersion);
      writer.int32(3 << 16);
      writer.int32(unknownOptions.length);
      for (const name of unknownOptions) writer.cstring(name);
      writer.end();
    });
  }

  private work(): void {
    if (this.phase === "sign-in") this.readAnswer();
    else if (this.phase === "ready") this.sendNext();
    if (this.groups.queue.isFull) this.socket.pause();
  }

  private readonly signInClient: SignInClient = {
    ask: (kind, body = NOTHING) => this.say((writer) => writeAuthentication(writer, kind, body)),
    answer: () =>
      new Promise((resolve) => {
        this.takeAnswer = resolve;
        this.received(NOTHING);
      }),
  };

  private readAnswer(): void {
    const take = this.takeAnswer;
    const message = take === null ? null : this.groups.queue.one();
    if (message === null) return;
    if (message.type !== FRONT.password) throw violation("a message of the sign-in was expected");
    this.takeAnswer = null;
    take!(message.body);
  }

  private refused(error: DbError): void {
    const { user } = this.start!;
    const isWrong = error.code === "invalid_credentials" || error.details?.sqlstate === "28P01";
    if (isWrong) {
      this.fatal(sqlError("28P01", `password authentication failed for user "${user}"`, { hint: error.message }));
    } else this.fatal(error.code === "forbidden" ? sqlError("28000", error.message) : error);
  }

  private admitted(caller: Caller): void {
    if (this.phase !== "sign-in") return;
    this.phase = "opening";
    const { user, database, parameters } = this.start!;
    const { identity } = caller;
    const branch = branchWanted(user, database, identity.tenantId);
    if (branch === null) {
      this.fatal(noDatabase(database, identity.tenantId));
      return;
    }
    this.caller = atBranch(caller, branch);
    this.endWhenExpired(identity.expiresAtMs);
    if (identity.keyId !== null) this.services.admission.countUse(caller, this.services.clock.wall());
    this.request.ask("open", parameters);
  }

  /** The API key's time is over then, for what is open with it, too. Null: it has no end. */
  private endWhenExpired(atMs: number | null): void {
    if (atMs === null) return;
    const { clock } = this.services;
    this.cancelExpiry = atTime(clock, atMs, () =>
      this.end(sqlError("57P01", "terminating connection: the API key has expired")),
    );
  }

  /** Sends the next group of messages, unless one is being worked on. */
  private sendNext(all = false): void {
    this.groups.stop();
    if (this.request.isBusy || this.isLeaving !== null || this.phase !== "ready" || this.lending.isLent) return;
    const group = this.groups.next(all);
    if (group === null) return;
    if (this.socket.isPaused() && !this.groups.queue.isFull) this.socket.resume();
    if (group.ends) {
      this.leave();
      return;
    }
    const { services } = this.host;
    if (services.closing) this.fatal(goingAway());
    else this.request.ask("messages", group.bytes);
  }

  private sendUnasked(): void {
    try {
      this.sendNext(true);
    } catch (error) {
      this.fatal(asDbError(error));
    }
  }

  kindOf(endpoint: WireEndpoint, body: Uint8Array): PostgresKind {
    return endpoint === "open" ? "open" : kindOfMessages(body);
  }

  // From the actor

  get address(): string {
    return (this.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  }

  piece(bytes: Buffer): boolean {
    return this.write(bytes);
  }

  done(bytes: Buffer): void {
    this.request.ended("answered");
    if (this.phase === "opening") this.opened(bytes);
    else if (bytes.length > 0) this.write(bytes);
    this.unasked.send();
    if (this.phase === "closed") return;
    if (this.isLeaving === null && this.lend()) return;
    this.listenToOthers();
    if (this.isLeaving instanceof DbError) this.fatal(this.isLeaving);
    else if (this.isLeaving !== null) this.leave();
    else this.received(NOTHING);
  }

  /** The actor's thread has the socket from now on, where it can (lending.ts). */
  private lend(): boolean {
    const { socket, caller, listening, lending, session } = this;
    if (listening !== null || !lending.mayBe(socket, caller!)) return false;
    const read = this.groups.queue.rest();
    if (lending.begin(socket, caller!, session, read)) return true;
    this.groups.queue.push(read);
    return false;
  }

  /** The actor has given the socket back. */
  returned(read: Buffer): void {
    this.groups.queue.push(read);
    this.done(NOTHING);
  }

  private opened(bytes: Buffer): void {
    clearTimeout(this.startTimer);
    this.phase = "ready";
    this.hasSession = true;
    this.say((writer) => {
      writeAuthentication(writer, AUTHENTICATION.ok, NOTHING);
      writer.begin(BACK.backendKeyData);
      writer.uint32(this.session);
      writer.int32(this.secret);
      writer.end();
      writer.bytes(bytes);
    });
  }

  failed(error: DbError): void {
    this.request.ended("lost");
    const isMissing = this.phase === "opening" && error.code === "not_found";
    const why = isMissing ? noDatabase(this.start!.database, this.caller!.identity.tenantId) : error;
    // The first error that says why: one that has it end since may be why there is no answer.
    this.fatal(this.isLeaving instanceof DbError ? this.isLeaving : why);
  }

  /**
   * What others notify comes by a request of its own, and that the session was ended from outside. A partition that has
   * too much to do takes it after a later answer.
   */
  private listenToOthers(): void {
    if (this.listening !== null || this.isLeaving !== null) return;
    const heard: Heard = {
      ...NOBODY,
      pushed: (messages) => this.pushed(messages),
      failed: (error) => this.end(error),
    };
    this.listening = new WireCall(this.services, this.caller!, "postgres", "listen", this.session, heard);
    try {
      if (!this.listening.begin(NOTHING)) this.listening = null;
    } catch (error) {
      // It has not begun, so the end of the connection does not end it.
      this.listening = null;
      this.end(asDbError(error));
    }
  }

  pushed(messages: readonly Uint8Array[]): void {
    this.unasked.add(messages);
  }

  // The end

  /** The client wants its statement to be cancelled. */
  cancelStatement(): void {
    const isAtWork = this.request.isUnderWay || this.lending.isLent;
    if (!isAtWork || !this.hasSession || this.caller === null) return;
    new WireCall(this.services, this.caller, "postgres", "cancel", this.session, NOBODY).begin(NOTHING);
  }

  /** Ends when what runs has ended, with the first error that says why. */
  end(error: DbError): void {
    const { isLent } = this.lending;
    if (!this.request.isUnderWay && !isLent) this.fatal(error);
    else if (!(this.isLeaving instanceof DbError)) this.isLeaving = error;
    if (isLent) this.lending.recall(this.caller!, this.session);
  }

  private leave(): void {
    if (!this.request.isUnderWay) this.close();
    else this.isLeaving = "terminate";
  }

  fatal(error: DbError): void {
    if (this.phase === "closed") return;
    this.say((writer) => writeError(writer, error, "FATAL"));
    this.close();
  }

  close(): void {
    if (this.phase === "closed") return;
    this.socket.end();
    this.gone();
  }

  /** The client has left. */
  private gone(): void {
    if (this.phase === "closed") return;
    const isOpening = this.phase === "opening" && this.caller !== null;
    this.phase = "closed";
    clearTimeout(this.startTimer);
    this.groups.stop();
    this.cancelExpiry?.();
    this.request.cancel();
    this.listening?.cancel();
    this.lending.cancel();
    // One that is being opened, too: the end comes after the beginning.
    if (this.hasSession || isOpening) closeWireSession(this.services, this.caller!, "postgres", this.session);
    this.host.closed(this);
    // A client that does not take the last words does not keep the socket.
    setTimeout(() => this.socket.destroy(), 1_000).unref();
  }

  // To the client

  private say(write: (writer: MessageWriter) => void): void {
    const writer = new MessageWriter();
    write(writer);
    this.write(writer.take());
  }

  /** The bytes are copied: an actor's are valid for a moment only. False: the client has much to read. */
  private write(bytes: Uint8Array): boolean {
    if (this.phase === "closed" || this.socket.destroyed) return true;
    this.socket.write(Buffer.from(bytes));
    return this.socket.writableLength < UNSENT_BYTES;
  }
}

const NOTHING = Buffer.alloc(0);

export function goingAway(): DbError {
  return sqlError("57P01", "terminating connection due to administrator command");
}

function writeAuthentication(writer: MessageWriter, kind: number, body: Uint8Array): void {
  writer.begin(BACK.authentication);
  writer.int32(kind);
  writer.bytes(body);
  writer.end();
}

function noDatabase(name: string, tenantId: string): DbError {
  return sqlError("3D000", `database "${name}" does not exist`, {
    hint: `The user's databases are the tenant "${tenantId}", for which postgres, template1 and tessera stand, too, and its branches, which CREATE DATABASE makes.`,
  });
}
