/**
 * A message while an actor works on it: the frame that was sent, and the answers that go to the client as messages.
 * The counterpart of an Exchange, without HTTP. Made by messages/to-actor.ts; its connection knows it until it ends.
 */
import { ERRORS } from "../../protocol/errors.js";
import { REPLY_MOVED, type ReplyFrame } from "../../protocol/frames.js";
import type { Identity } from "../../protocol/identity.js";
import { type LiveFormat, messagePrefix, prefixedMessage } from "../../protocol/live-message.js";
import type { Bucket } from "../../protocol/token-bucket.js";
import type { ActorLink, Loss, PendingReply } from "../actor-link.js";
import type { Deadlined, DeadlineQueue, EndedFor } from "../deadline-queue.js";
import { ExchangeTrace } from "../exchange-trace.js";
import type { LiveSubscriber } from "../live-channels.js";
import { REDIRECTS_MAX, redirect, release } from "../partition-load.js";
import { isOfOpenTransaction, type Repeatable } from "../repeatable.js";
import { logRequest } from "../request-log.js";
import type { Route } from "../route.js";
import type { SentFrames } from "../sent-frames.js";
import type { Client, MessageFormat, MessageHead, RunningRequest } from "./contract.js";

export type SendMessage = (request: MessageRequest, link: ActorLink, partition: number, body: Uint8Array) => number;

export class MessageRequest implements PendingReply, Deadlined, RunningRequest {
  previous: Deadlined | null = null;
  next: Deadlined | null = null;
  expiresAt = 0;
  queue: DeadlineQueue | null = null;
  private link: ActorLink;
  keptIn: SentFrames | null = null;
  suspicions = 0;
  private frameId = 0;
  /** Something of its answer is out. */
  private hasProgressed = false;
  private redirects = 0;
  /** Bytes in the socket's buffer because the client does not read. */
  private unread = 0;
  private ended = false;
  /** It counts as a request that runs; a subscription does not. */
  private counted = true;
  /** Of a subscription: what the client can come back with, 0 while nobody knows. */
  private sequence = 0;
  /** Messages of rows that the client can take; null: as many as there are. */
  private credits: number | null = null;
  /** What has no credit, and the end of the answer behind it. */
  private held: Uint8Array[] = [];
  private last: ReplyFrame | null = null;
  /** Until its spans are sent; of a subscription that is when it begins. */
  private trace: ExchangeTrace | null = null;
  private readonly traceId: string | undefined;
  readonly id: string;
  readonly format: MessageFormat;
  readonly live: LiveSubscriber = {
    began: () => this.becomeSubscription(),
    published: (messages, sequence) => this.published(messages, sequence),
  };

  constructor(
    private readonly connection: Client,
    private readonly route: Route,
    { id, format }: MessageHead,
    readonly requestId: string,
    private partition: number,
    /** Sends the frame and answers its id. */
    private readonly send: SendMessage,
    /** Bytes counted against the partition. */
    private readonly reserved: number,
    private readonly bucket: Bucket,
    private readonly startedAt: number,
  ) {
    this.id = id;
    this.format = format;
    const { traces } = connection.services;
    if (traces !== null) this.trace = ExchangeTrace.choose(traces, "");
    this.traceId = this.trace?.traceId;
    connection.services.open++;
    bucket.inFlight++;
    route.deadlines!.add(this, startedAt);
    this.link = connection.services.pool.linkOf(partition);
  }

  /** `body`: the message. */
  begin(body: Uint8Array): void {
    this.frameId = this.send(this, this.link, this.partition, body);
    // What is posted goes ahead of the frame, which waits for the end of the turn.
    if (this.trace !== null) this.link.post({ kind: "trace", id: this.frameId, context: this.trace.sent() });
  }

  /** The tenant is in another partition, and the message goes there. */
  private follow({ headers, body }: ReplyFrame): void {
    const { services, caller } = this.connection;
    const to = Number(headers);
    redirect(services, this.partition, to, this.reserved);
    this.partition = to;
    this.link = services.pool.linkOf(to);
    caller.partition = to;
    if (!services.pool.takes(to) || ++this.redirects > REDIRECTS_MAX) this.lost();
    else this.begin(body);
  }

  replied(frame: ReplyFrame): void {
    this.trace?.replied();
    if ((frame.flags & REPLY_MOVED) !== 0) {
      this.follow(frame);
      return;
    }
    if (this.held.length > 0) {
      this.last = { ...frame, body: Buffer.from(frame.body) };
      return;
    }
    if (frame.body.length > 0) this.say(frame.body);
    this.endNow(frame.status);
  }

  private say(body: Uint8Array): boolean {
    return this.connection.send(body, this.format === "msgpack");
  }

  /** The first piece is no rows, and says whether the client counts. */
  progressed({ headers, body }: ReplyFrame): void {
    this.hasProgressed = true;
    if (headers !== "") this.credits = creditsOf(headers);
    else if (this.credits !== null && body.length > 0) {
      if (this.credits === 0 || this.held.length > 0) {
        // The actor stops after a window's worth that nobody has taken.
        this.held.push(new Uint8Array(body));
        return;
      }
      this.credits--;
    }
    this.pass(body);
  }

  credit(messages: number): void {
    if (this.credits === null) return;
    this.credits += messages;
    while (this.credits > 0 && this.held.length > 0 && !this.ended) {
      this.credits--;
      this.pass(this.held.shift()!);
    }
    const last = this.last;
    if (last === null || this.held.length > 0) return;
    this.last = null;
    this.replied(last);
  }

  /** Tells the actor what the client took. It stops when a whole window has not been taken. */
  private pass(body: Uint8Array): void {
    if (body.length === 0) return;
    if (this.say(body)) {
      this.link.taken(this.frameId, body.length);
      return;
    }
    this.unread += body.length;
    this.connection.waits(this);
  }

  drained(): void {
    if (this.unread === 0) return;
    this.link.taken(this.frameId, this.unread);
    this.unread = 0;
  }

  get tenantId(): string {
    return this.connection.caller.identity.tenantId;
  }

  readonly ofDirectory = false;

  get repeatable(): Repeatable {
    if (this.hasProgressed || !this.counted || isOfOpenTransaction(this.route.endpoint!.name)) return "never";
    return "uncommitted";
  }

  lost(loss?: Loss): void {
    const { connection } = this;
    const code = this.counted ? (loss?.code ?? "partition_unavailable") : "subscription_interrupted";
    const message = this.counted ? loss?.message : undefined;
    const details = this.counted && loss !== undefined ? detailsOf(loss) : this.sequenceDetails();
    connection.fail(this.id, code, message ?? ERRORS[code].message, details, this.format);
    this.endNow(ERRORS[code].status);
  }

  /** From now on it ends when the client wants it to, and counts as none that runs. */
  private becomeSubscription(): void {
    this.uncount();
    this.endTrace(200);
    this.connection.subscribed(this);
  }

  private published(messages: readonly Uint8Array[], sequence: number): void {
    const { connection } = this;
    const { unreadBytesMax } = connection.services.config.changes;
    if (connection.unreadBytes > unreadBytesMax) {
      this.link.cancel(this.frameId);
      const { message } = ERRORS.subscription_dropped;
      connection.fail(this.id, "subscription_dropped", message, this.sequenceDetails(), this.format);
      this.endNow(ERRORS.subscription_dropped.status);
      return;
    }
    this.sequence = sequence;
    const { format } = this;
    const prefix = prefixOf(format, this.id);
    const whole = messages.map((message) => prefixedMessage(format, prefix, message));
    connection.sendAll(whole, format === "msgpack");
  }

  private sequenceDetails(): string {
    return this.sequence === 0 ? "" : `{"sequence":${this.sequence}}`;
  }

  expired(): void {
    this.link.cancel(this.frameId);
    this.connection.fail(this.id, "request_timeout", undefined, "", this.format);
    this.endNow(ERRORS.request_timeout.status);
  }

  get running(): Identity {
    return this.connection.caller.identity;
  }

  end(why: EndedFor): void {
    // The connection is closed, which ends it.
    if (why === "disowned") return;
    this.link.cancel(this.frameId);
    this.connection.fail(this.id, "shutting_down", undefined, "", this.format);
    this.endNow(ERRORS.shutting_down.status);
  }

  cancel(): void {
    this.link.cancel(this.frameId);
    this.endNow(ERRORS.cancelled.status);
  }

  private endNow(status: number): void {
    // Sending may find that the connection is gone, which has ended it.
    if (this.ended) return;
    this.ended = true;
    const { services, caller } = this.connection;
    const tookMs = services.clock.now() - this.startedAt;
    services.metrics.count(this.route.index, status, tookMs);
    logRequest(services, this.route, this.requestId, caller.identity.tenantId, status, tookMs, this.traceId);
    this.endTrace(status);
    this.connection.ended(this);
    this.uncount();
  }

  private endTrace(status: number): void {
    const trace = this.trace;
    if (trace === null) return;
    this.trace = null;
    const { services, caller } = this.connection;
    services.traces?.record(trace.end(this.route, this.requestId, caller.identity.tenantId, status));
  }

  private uncount(): void {
    if (!this.counted) return;
    this.counted = false;
    const { services } = this.connection;
    this.queue?.remove(this);
    this.bucket.inFlight--;
    release(services, this.partition, this.reserved);
    services.open--;
    if (services.open === 0) services.drained?.();
  }
}

function detailsOf({ details, retryAfterSeconds }: Loss): string {
  const all = retryAfterSeconds === 0 ? details : { ...details, retry_after_seconds: retryAfterSeconds };
  return all === undefined ? "" : JSON.stringify(all);
}

function creditsOf(headers: string): number | null {
  const found = /^credits: (\d+)$/m.exec(headers);
  return found === null ? null : Number(found[1]);
}

let lastId = "";
let lastFormat: LiveFormat = "json";
let lastPrefix = messagePrefix(lastFormat, lastId);

/** Many subscribers of a channel have named it alike. */
function prefixOf(format: LiveFormat, id: string): Buffer {
  if (id === lastId && format === lastFormat) return lastPrefix;
  lastId = id;
  lastFormat = format;
  lastPrefix = messagePrefix(format, id);
  return lastPrefix;
}
