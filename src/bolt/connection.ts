/**
 * One connection of Bolt: the handshake and the sign-in, then its client's messages to the actor and the answers back,
 * one request at a time. Made and owned by server.ts.
 */
import type { Duplex } from "node:stream";
import { atBranch, type Caller } from "../gateway/admission.js";
import type { Cancel } from "../gateway/clock.js";
import type { Services } from "../gateway/services.js";
import type { BoltKind } from "../gateway/wire-metrics.js";
import { atTime } from "../postgres/at-time.js";
import { closeWireSession, NOBODY, WireCall, type WireEndpoint } from "../postgres/wire-call.js";
import { asDbError, type RequestHost, WireRequest } from "../postgres/wire-request.js";
import { boltError, writeFailure } from "../protocol/bolt/failure-message.js";
import { countIn, endOf } from "../protocol/bolt/message-groups.js";
import { ASK, type BoltVersion, isSince, TELL } from "../protocol/bolt/message-tags.js";
import { ALL_NOTIFICATIONS, notificationFilter } from "../protocol/bolt/notification-filter.js";
import { malformed, type PackMap, PackReader } from "../protocol/bolt/pack-reader.js";
import { type PackValue, PackWriter } from "../protocol/bolt/pack-writer.js";
import { DbError } from "../protocol/errors.js";
import { ChunkQueue, tagOf } from "./chunk-queue.js";
import { agree, HANDSHAKE_BYTES, readChoice } from "./handshake.js";
import { signInBy } from "./sign-in.js";
import type { Speaker } from "./transport.js";

/** What a connection needs of the server that has it. */
export interface BoltHost {
  readonly services: Services;
  /** Where routing clients are told to connect to. */
  readonly address: string;
  /** A number for the connection's next session, by which the host knows the connection from then on. */
  renumbered(connection: BoltConnection): number;
  closed(connection: BoltConnection): void;
}

/** What a client must do within this time to be let in. */
const START_MS = 30_000;
/** With more unsent bytes the client counts as one that does not read. */
const UNSENT_BYTES = 256 * 1024;
/** Drivers give up a connection that was silent for so long while they wait. */
const SILENCE_SECONDS_MAX = 60;
const NOTHING = Buffer.alloc(0);
const EMPTY_CHUNK = Buffer.alloc(2);

/** Drivers and tools switch features on by it. */
const SERVER = "Neo4j/5.26.0";

type Phase = "handshake" | "choice" | "hello" | "logon" | "signing in" | "opening" | "ready" | "closed";

export class BoltConnection implements RequestHost<BoltKind> {
  private phase: Phase = "handshake";
  private readonly stream: Duplex;
  readonly address: string;
  private first: Buffer = NOTHING;
  private readonly queue = new ChunkQueue();
  private version: BoltVersion = { major: 4, minor: 4 };
  /** Moments are told in UTC. */
  private utc = true;
  private routing: string | null = null;
  private readonly request: WireRequest<BoltKind>;
  private startTimer: NodeJS.Timeout | null = null;
  /** The client must go, once what runs has ended. */
  private isLeaving: DbError | null = null;
  private hasSession = false;
  private notifications = ALL_NOTIFICATIONS;
  /** RESETs that have come; a session counts those that it has answered. */
  private resets = 0;
  private cancelExpiry: Cancel | null = null;
  private lastWriteMs = 0;
  /** Null until sign-in. */
  caller: Caller | null = null;
  /** Who has signed in, wherever the session is. */
  private signedIn: Caller | null = null;
  /** Messages that the actor has got. */
  private group: Buffer = NOTHING;
  /** Those of them that wait for a session in a branch to be opened, or in the tenant. */
  private rest: Buffer | null = null;

  constructor(
    private readonly host: BoltHost,
    { stream, address }: Speaker,
    /** Of its session; each sign-in has another one. */
    public session: number,
  ) {
    this.request = new WireRequest(this, "bolt", host.services.bolt, "open");
    this.stream = stream;
    this.address = address;
    stream.on("data", (bytes: Buffer) => this.received(bytes));
    stream.on("drain", () => this.request.drained());
    stream.on("error", () => this.gone());
    stream.on("close", () => this.gone());
    stream.on("end", () => this.close());
    this.awaitSignIn();
    stream.resume();
  }

  private awaitSignIn(): void {
    const late = (): void =>
      this.fatal(boltError("unauthorized", "Neo.ClientError.Security.Unauthorized", "The sign-in took too long."));
    this.startTimer = setTimeout(late, START_MS);
    this.startTimer.unref();
  }

  get services(): Services {
    return this.host.services;
  }

  get isClosed(): boolean {
    return this.phase === "closed";
  }

  // From the client

  private received(bytes: Buffer): void {
    if (this.phase === "closed") return;
    try {
      if (this.phase === "handshake" || this.phase === "choice") this.shakeHands(bytes);
      else this.take(bytes);
    } catch (error) {
      this.fatal(asDbError(error));
    }
  }

  private shakeHands(bytes: Buffer): void {
    this.first = this.first.length === 0 ? bytes : Buffer.concat([this.first, bytes]);
    if (this.phase === "handshake") this.readProposals();
    if (this.phase === "choice") this.readChosen();
  }

  private readProposals(): void {
    if (this.first.length < HANDSHAKE_BYTES) return;
    const agreement = agree(this.first.subarray(0, HANDSHAKE_BYTES));
    this.first = this.first.subarray(HANDSHAKE_BYTES);
    if (agreement.answer !== null) this.write(agreement.answer);
    if (agreement.kind === "none") this.close();
    else if (agreement.kind === "version") this.agreed(agreement.version);
    else this.phase = "choice";
  }

  private readChosen(): void {
    const choice = readChoice(this.first);
    if (choice === null) return;
    this.first = this.first.subarray(choice.length);
    if (choice.version === null) this.close();
    else this.agreed(choice.version);
  }

  private agreed(version: BoltVersion): void {
    this.version = version;
    this.phase = "hello";
    const rest = this.first;
    this.first = NOTHING;
    if (rest.length > 0) this.take(rest);
  }

  private take(bytes: Buffer): void {
    const arrived = bytes.length === 0 ? [] : this.queue.push(bytes);
    const resets = arrived.filter((message) => tagOf(message) === ASK.reset).length;
    this.resets += resets;
    if (resets > 0 && this.request.isUnderWay && this.hasSession) this.cancelUpTo(this.resets);
    this.work();
    if (this.queue.isFull) this.stream.pause();
  }

  /** What runs ends, and what came before the RESET is left aside. */
  private cancelUpTo(reset: number): void {
    const body = Buffer.alloc(4);
    body.writeUInt32LE(reset);
    try {
      new WireCall(this.services, this.caller!, "bolt", "cancel", this.session, NOBODY).begin(body);
    } catch {
      // The partition is gone, and the statement with it.
    }
  }

  private work(): void {
    if (this.request.isBusy || this.isLeaving !== null) return;
    switch (this.phase) {
      case "hello":
      case "logon":
        this.greet();
        break;
      case "ready":
        this.sendNext();
    }
    if (this.stream.isPaused() && !this.queue.isFull && this.phase !== "closed") this.stream.resume();
  }

  /** HELLO and LOGON. */
  private greet(): void {
    const message = this.queue.one();
    if (message === null) return;
    const reader = new PackReader(message);
    const { tag, fields } = reader.message();
    if (tag === ASK.goodbye) {
      this.close();
      return;
    }
    const expected = this.phase === "hello" ? ASK.hello : ASK.logon;
    if (tag !== expected || fields !== 1) throw malformed(`${this.phase.toUpperCase()} was expected`);
    const said = reader.value();
    reader.end();
    if (!(said instanceof Map)) throw malformed(`${this.phase.toUpperCase()} has no map`);
    if (this.phase === "hello") this.hello(said);
    else this.signIn(said, {});
  }

  private hello(said: PackMap): void {
    const { version } = this;
    const routing = said.get("routing");
    const address = routing instanceof Map ? routing.get("address") : null;
    this.routing = typeof address === "string" ? address : null;
    const patches = said.get("patch_bolt");
    const isPatched = Array.isArray(patches) && patches.includes("utc");
    this.utc = version.major >= 5 || isPatched;
    this.notifications = notificationFilter(said, ALL_NOTIFICATIONS);
    const facts = {
      server: SERVER,
      connection_id: `bolt-${this.session}`,
      hints: { "connection.recv_timeout_seconds": SILENCE_SECONDS_MAX, "telemetry.enabled": false },
      ...(version.major < 5 && isPatched ? { patch_bolt: ["utc"] } : {}),
    };
    if (!isSince(version, 5, 1)) {
      this.signIn(said, facts);
      return;
    }
    this.phase = "logon";
    this.succeed(facts);
    this.work();
  }

  private signIn(said: PackMap, facts: PackValue): void {
    this.phase = "signing in";
    signInBy(this.services, said, this.address).then(
      (caller) => this.admitted(caller, facts),
      (error: unknown) => this.fatal(asDbError(error)),
    );
  }

  private facts: PackValue = {};

  private admitted(caller: Caller, facts: PackValue): void {
    if (this.phase !== "signing in") return;
    this.phase = "opening";
    this.facts = facts;
    this.caller = caller;
    this.signedIn = caller;
    const { identity } = caller;
    this.endWhenExpired(identity.expiresAtMs);
    const { services } = this.host;
    if (identity.keyId !== null) services.admission.countUse(caller, services.clock.wall());
    this.openSession();
  }

  private openSession(): void {
    const { services, address } = this.host;
    const { version, utc, notifications } = this;
    const { advertisedAddress } = services.config.bolt;
    const here = advertisedAddress === "" ? (this.routing ?? address) : advertisedAddress;
    // The session ends when the partition gets another owner.
    const routes = services.elsewhere?.boltRoutes(this.caller!.partition) ?? { owner: here, nodes: [here] };
    this.request.ask("open", Buffer.from(JSON.stringify({ version, utc, routes, notifications })));
  }

  /** The API key's time is over then, for what is open with it, too. Null: it has no end. */
  private endWhenExpired(atMs: number | null): void {
    this.cancelExpiry?.();
    this.cancelExpiry = null;
    if (atMs === null) return;
    const expired = boltError(
      "unauthorized",
      "Neo.ClientError.Security.TokenExpired",
      "The API key has expired. Connect with another one.",
    );
    this.cancelExpiry = atTime(this.services.clock, atMs, () => this.end(expired));
  }

  /** Sends the messages that came, unless some are being worked on. */
  private sendNext(): void {
    const { next } = this.queue;
    if (next === null) return;
    if (tagOf(next) === ASK.goodbye) {
      this.close();
      return;
    }
    const { closing, config } = this.services;
    const most = config.limits.requestBytesPerPartitionMax;
    const group = this.queue.group(ASK.logoff, most)!;
    if (closing) this.fatal(new DbError("shutting_down"));
    else if (group.length > most) {
      // The partition would never take it.
      this.fatal(new DbError("payload_too_large", `The message takes more than ${most} bytes. Send it in parts.`));
    } else {
      this.group = group;
      this.request.ask("messages", group);
    }
  }

  readonly kindOf = kindOf;

  // From the actor

  piece(bytes: Buffer): boolean {
    return this.write(bytes);
  }

  done(bytes: Buffer, note: string): void {
    this.request.ended("answered");
    if (this.phase === "opening") this.opened();
    else if (bytes.length > 0) this.write(bytes);
    if (this.phase === "closed") return;
    if (note === "logged off") this.loggedOff();
    if (note === "closes") this.close();
    else if (note.startsWith(MOVES)) this.goTo(note);
    else if (this.isLeaving !== null) this.fatal(this.isLeaving);
    else if (this.rest !== null && this.phase === "ready") this.goOn(this.rest);
    else this.received(NOTHING);
  }

  private opened(): void {
    clearTimeout(this.startTimer!);
    this.phase = "ready";
    this.hasSession = true;
    if (this.rest !== null) return;
    this.queue.signedIn(this.services.config.server.bodyBytesMax);
    this.succeed(this.facts);
  }

  private loggedOff(): void {
    this.leaveSession(NOTHING);
    this.caller = null;
    this.signedIn = null;
    this.endWhenExpired(null);
    this.phase = "logon";
    this.awaitSignIn();
  }

  /** `rest`: messages for the next session besides those that wait. */
  private leaveSession(rest: Buffer): void {
    closeWireSession(this.services, this.caller!, "bolt", this.session);
    this.session = this.host.renumbered(this);
    this.hasSession = false;
    // The new session counts from its beginning.
    this.resets = countIn(rest, ASK.reset) + this.queue.count(ASK.reset);
  }

  /** The next transaction is in a branch, or in the tenant again: a session there goes on with the messages. */
  private goTo(note: string): void {
    const [left, branch] = note.slice(MOVES.length).split(" ") as [string, string];
    this.rest = lastIn(this.group, Number(left));
    this.leaveSession(this.rest);
    this.caller = atBranch(this.signedIn!, branch);
    this.phase = "opening";
    this.openSession();
  }

  private goOn(rest: Buffer): void {
    this.rest = null;
    this.group = rest;
    this.request.ask("messages", rest, true);
  }

  pushed(): void {}

  failed(error: DbError): void {
    this.request.ended("lost");
    this.fatal(error);
  }

  /** An empty chunk between messages, where the client waits and nothing else has come. */
  keepAlive(): void {
    const { clock } = this.services;
    if (this.request.isUnderWay && clock.now() - this.lastWriteMs > ALIVE_AFTER_MS) this.write(EMPTY_CHUNK);
  }

  // The end

  /** Ends when what runs has ended, with an error that says why. */
  end(error: DbError): void {
    if (!this.request.isUnderWay) this.fatal(error);
    else this.isLeaving = error;
  }

  fatal(error: DbError): void {
    if (this.phase === "closed") return;
    if (this.phase !== "handshake" && this.phase !== "choice") {
      const writer = new PackWriter();
      writeFailure(writer, error, this.version);
      this.write(writer.take());
    }
    this.close();
  }

  close(): void {
    if (this.phase === "closed") return;
    this.stream.end();
    this.gone();
  }

  /** The client has left. */
  private gone(): void {
    if (this.phase === "closed") return;
    const isOpening = this.phase === "opening";
    this.phase = "closed";
    if (this.startTimer !== null) clearTimeout(this.startTimer);
    this.cancelExpiry?.();
    this.request.cancel();
    // One that is being opened, too: the end comes after the beginning.
    if (this.hasSession || isOpening) closeWireSession(this.services, this.caller!, "bolt", this.session);
    this.host.closed(this);
    // A client that does not take the last words does not keep the socket.
    setTimeout(() => this.stream.destroy(), 1_000).unref();
  }

  // To the client

  private succeed(facts: PackValue): void {
    const writer = new PackWriter();
    writer.message(TELL.success, facts);
    this.write(writer.take());
  }

  /** The bytes are copied: an actor's are valid for a moment only. False: the client has much to read. */
  private write(bytes: Buffer): boolean {
    if (this.phase === "closed" || this.stream.destroyed) return true;
    this.lastWriteMs = this.services.clock.now();
    this.stream.write(Buffer.from(bytes));
    return this.stream.writableLength < UNSENT_BYTES;
  }
}

/** As bolt-session.ts says it. */
const MOVES = "moves ";
/** Silence after which a client that waits hears something. */
const ALIVE_AFTER_MS = 15_000;

/** The last `count` of them. */
function lastIn(messages: Buffer, count: number): Buffer {
  const starts: number[] = [];
  for (let at = 0; at < messages.length; at = endOf(messages, at)) starts.push(at);
  return messages.subarray(starts.at(-count));
}

/** `body`: messages, each after its length in four bytes. */
function kindOf(endpoint: WireEndpoint, body: Uint8Array): BoltKind {
  if (endpoint === "open") return "open";
  let kind: BoltKind = "other";
  for (let at = 0; at + 6 <= body.length; at = endOf(body, at)) {
    const tag = body[at + 5];
    if (tag === ASK.run) return "run";
    if (tag === ASK.pull || tag === ASK.discard) kind = "pull";
  }
  return kind;
}
