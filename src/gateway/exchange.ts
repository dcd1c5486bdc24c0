/**
 * One request and its reply. The life of a request in the gateway:
 *
 *  1. `begin` reads the headers it needs, while uWebSockets.js still holds them.
 *  2. caller-check.ts finds the caller, checks what they may do, and takes a token of their tenant's rate limit.
 *  3. body-receiver.ts receives the body. A body that comes in one piece is copied from the socket's buffer into the
 *     frame at once.
 *  4. `dispatch` queues the frame for the partition's actor (actor-call.ts); nothing is parsed here.
 *     If the endpoint streams its body, the frame goes without it, and the pieces follow as the actor takes them.
 *  5. The actor's reply, finished to the byte, is written (reply.ts) and the exchange is counted and logged. A long
 *     reply comes in pieces as the client reads (reply-stream.ts).
 *
 * It may end early instead: refused (`fail`), past its deadline (`expired`), the client gone (`aborted`), or its actor
 * crashed (`lost`). Made by router.ts for every request; owns itself.
 */
import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { ERRORS, type ErrorCode, type ErrorDetails } from "../protocol/errors.js";
import {
  REPLY_BROKEN,
  REPLY_MOVED,
  REPLY_MSGPACK,
  REPLY_TAKEN,
  REQUEST_IDEMPOTENT,
  REQUEST_READ_ONLY,
  REQUEST_STREAMED,
  REQUEST_WANTS_MSGPACK,
  type ReplyFrame,
} from "../protocol/frames.js";
import type { Identity } from "../protocol/identity.js";
import { openAiErrorHeaders, openAiErrorJson } from "../protocol/openai-error.js";
import { ActorCall } from "./actor-call.js";
import type { Loss, PendingReply } from "./actor-link.js";
import type { Caller } from "./admission.js";
import { BodyReceiver, type ReceivingRequest } from "./body-receiver.js";
import { CallerCheck, type CheckedRequest } from "./caller-check.js";
import { chosenEncoding, type EncodedOutgoing, type Encoding } from "./compression.js";
import type { Deadlined, DeadlineQueue, EndedFor } from "./deadline-queue.js";
import { ExchangeTrace } from "./exchange-trace.js";
import type { LiveSubscriber } from "./live-channels.js";
import { LiveEvents } from "./live-events.js";
import { acceptedFormat, answersOnly } from "./media-type.js";
import { BODY_LEFT_BEHIND } from "./partition-load.js";
import { type Repeatable, repeatableBy } from "./repeatable.js";
import { beginReply, endReply, errorBody, JSON_TYPE, MSGPACK_TYPE, retryAfter } from "./reply.js";
import { ReplyStream } from "./reply-stream.js";
import { formatFlag, headOf, homeOf, movedTo, placeFlags } from "./request-frame.js";
import { type RequestHeaders, readHeaders } from "./request-headers.js";
import { logRequest } from "./request-log.js";
import type { LocalExchange, Route } from "./route.js";
import type { SentFrames } from "./sent-frames.js";
import type { Services } from "./services.js";

/** A body declared larger than this many times the bound is not drained: the connection is closed instead. */
const DRAINED_RATIO_MAX = 4;
const DISOWNED = "The user or API key was disabled or removed while the request ran, so the request was stopped.";
const NOT_WAITED_FOR = "The server shut down before the request ended. Its changes may have been written.";

export class Exchange
  implements PendingReply, EncodedOutgoing, Deadlined, CheckedRequest, ReceivingRequest, LocalExchange
{
  previous: Deadlined | null = null;
  next: Deadlined | null = null;
  expiresAt = 0;
  queue: DeadlineQueue | null = null;

  keptIn: SentFrames | null = null;
  suspicions = 0;

  requestId = "";
  corsHeaders = "";
  noStore = false;
  closeAfter = false;
  clientCloses = false;
  encoding: Encoding | null = null;
  isGone = false;

  private check: CallerCheck | null = null;
  private flags = 0;
  private headers: RequestHeaders | null = null;
  private body: BodyReceiver | null = null;
  private replyStream: ReplyStream | null = null;
  /** The reply has begun, or the client is gone: nothing more may be written. */
  private hasAnswered = false;
  private abortable = false;
  private status = 0;
  private counted = true;
  /** Null: it has not been dispatched. */
  private call: ActorCall | null = null;
  private tenantNumber = 0;
  private trace: ExchangeTrace | null = null;
  /** A stream of events that lasts as long as its client stays. */
  private events: LiveEvents | null = null;

  constructor(
    readonly services: Services,
    readonly route: Route,
    readonly res: HttpResponse,
    readonly headOnly: boolean,
    /** On the steady clock. */
    readonly startedAt: number,
  ) {
    services.open++;
  }

  get rateRemaining(): number {
    return this.check === null ? -1 : this.check.rateRemaining;
  }

  get rateResetSeconds(): number {
    return this.check === null ? 0 : this.check.rateResetSeconds;
  }

  get query(): string {
    return this.headers?.query ?? "";
  }

  get traceparent(): string {
    return this.trace === null ? "" : this.trace.traceparent;
  }

  private get caller(): Caller | null {
    return this.check === null ? null : this.check.caller;
  }

  get isBodyComing(): boolean {
    return !this.services.closing && !(this.body?.isOver ?? (this.headers?.contentLength ?? 0) === 0);
  }

  get answered(): boolean {
    return this.hasAnswered;
  }

  /** Runs while `req` is valid. */
  begin(req: HttpRequest): void {
    try {
      this.beginReply(req);
    } catch (error) {
      this.broken(error);
    }
  }

  /** Step 1 and, for those who are known, 2. */
  private beginReply(req: HttpRequest): void {
    const { services, route } = this;
    this.requestId = services.requestIds.of(req.getHeader("x-request-id"));
    if (services.traces !== null) this.trace = ExchangeTrace.choose(services.traces, req.getHeader("traceparent"));
    this.clientCloses = req.getHeader("connection").toLowerCase() === "close";
    const accept = req.getHeader("accept");
    const format = route.endpoint?.form === undefined ? acceptedFormat(accept) : "json";
    if (format === "msgpack") this.flags |= REQUEST_WANTS_MSGPACK;
    if (services.cors !== null) this.corsHeaders = services.cors.replyHeaders(req.getHeader("origin"));
    if (services.closing) {
      this.closeAfter = true;
      this.fail("shutting_down");
      return;
    }
    if (route.serve !== null) {
      route.serve(this, req);
      return;
    }
    const endpoint = route.endpoint!;
    this.noStore = endpoint.home === "directory";
    // Answers with secrets are not: their length would tell of them.
    if (services.compresses && !this.noStore) this.encoding = chosenEncoding(req.getHeader("accept-encoding"));
    const { bodyBytesMax } = services.config.server;
    const streams = endpoint.live === true || endpoint.streamedReply?.some((type) => accept.includes(type)) === true;
    const acceptable = format !== null || streams || answersOnly(endpoint, accept);
    const headers = readHeaders(req, route, acceptable, streams, bodyBytesMax);
    this.headers = headers;
    this.flags |= placeFlags(headers);
    // After any answer the rest of the body is read and dropped, unless that would take too long.
    if (endpoint.streamedBody === undefined) {
      this.closeAfter = headers.contentLength > bodyBytesMax * DRAINED_RATIO_MAX;
    } else this.body = new BodyReceiver(this, headers, true);
    this.check = new CallerCheck(this);
    this.check.begin(req);
  }

  /** For routes that answer later without an actor: the client may leave before. */
  waitForAnswer(): void {
    if (this.abortable) return;
    this.abortable = true;
    this.res.onAborted(() => this.aborted());
  }

  /** The caller is known before any of the body is looked at, unless the directory had to be asked. */
  passed(): void {
    const { problem } = this.headers!;
    const hasWaited = this.abortable;
    if (problem !== null) this.fail(problem.code, problem.message);
    else if (this.route.serveCaller !== null) this.route.serveCaller(this, this.caller!);
    else if (hasWaited) this.body!.resume();
    else if (this.body !== null) {
      this.receive();
      this.dispatch(null);
    } else if (this.route.hasBody) this.receive();
    else this.dispatch(null);
  }

  // The body

  receive(): void {
    this.waitForAnswer();
    this.startDeadline();
    this.body ??= new BodyReceiver(this, this.headers!, false);
    this.body.begin(this.route.hasBody);
  }

  /** The answer may begin before the end of a streamed body. */
  get wantsBody(): boolean {
    return !this.hasAnswered || this.replyStream !== null;
  }

  get isAdmitted(): boolean {
    return this.caller !== null || this.route.endpoint!.access === "public";
  }

  refuseBody(code: ErrorCode, message: string): void {
    this.closeAfter = true;
    this.fail(code, message);
  }

  /** It must not leave uWebSockets.js's callback, which would end the process without a word. */
  broken(error: unknown): void {
    this.services.logger.error({ err: error, request_id: this.requestId }, "request failed");
    if (!this.hasAnswered) this.fail("internal_error");
  }

  // To the actor and back

  dispatch(body: Uint8Array | null): void {
    const { services, route, caller } = this;
    const endpoint = route.endpoint!;
    if (body !== null) {
      const format = formatFlag(this.headers!.contentType, endpoint);
      if (format < 0) {
        this.fail("unsupported_media_type");
        return;
      }
      this.flags |= format;
    }
    const { partition: home, of } = homeOf(endpoint, caller);
    this.tenantNumber = of;
    const stream = this.body === null ? null : this.body.stream;
    // What streams its body cannot wait for a thread.
    if (!(stream === null ? services.pool.takes(home) : services.pool.serves(home))) {
      this.unavailable(home);
      return;
    }
    const call = new ActorCall(services, this);
    if (!call.reserve(home, body, stream !== null)) {
      this.fail("overloaded", undefined, undefined, "Retry-After: 1");
      return;
    }
    this.call = call;
    if (stream !== null) this.flags |= REQUEST_STREAMED;
    if (caller?.readOnly) this.flags |= REQUEST_READ_ONLY;
    this.waitForAnswer();
    this.startDeadline();
    this.send(call, body);
    stream?.start(call.link!, call.frameId);
  }

  private send(call: ActorCall, body: Uint8Array | null): void {
    const { caller, requestId, flags, tenantNumber: tenant } = this;
    const { code, isAudited } = this.route.endpoint!;
    const deadlineMs = this.services.clock.wall() + this.expiresAt - this.startedAt;
    const head = headOf(caller, this.headers!, this.check!.remoteAddress, isAudited);
    call.send({ code, flags, tenant, deadlineMs, requestId, head }, body);
    // What is posted goes ahead of the frame, which waits for the end of the turn.
    if (this.trace !== null) call.link!.post({ kind: "trace", id: call.frameId, context: this.trace.sent() });
  }

  private startDeadline(): void {
    if (this.queue === null) this.route.deadlines!.add(this, this.startedAt);
  }

  private unavailable(partition: number): void {
    const { pool } = this.services;
    if (pool.stateOf(partition) === "damaged") this.fail("partition_damaged");
    else this.fail("partition_unavailable", undefined, undefined, `Retry-After: ${pool.retryAfterSeconds(partition)}`);
  }

  /** The tenant is in another partition, and the request goes there: its body has come back. */
  private follow(frame: ReplyFrame): void {
    const call = this.call!;
    const { to, tooOld, of } = movedTo(frame);
    if (of !== null) this.tenantNumber = of;
    if (this.route.endpoint!.home === "tenant") this.caller!.partition = to;
    if (this.body?.stream) this.lost(BODY_LEFT_BEHIND);
    else if (tooOld !== null && this.services.pool.linkOf(to).holds) this.fail("copy_too_old", tooOld);
    else if (call.moveTo(to)) this.send(call, frame.body.length === 0 ? null : frame.body);
    else this.unavailable(to);
  }

  /** The actor's reply, finished to the byte. */
  replied(frame: ReplyFrame): void {
    this.trace?.replied();
    if ((frame.flags & REPLY_MOVED) !== 0) {
      this.follow(frame);
      return;
    }
    if (this.replyStream !== null) {
      this.endStream(frame);
      return;
    }
    this.call!.link = null;
    const type = (frame.flags & REPLY_MSGPACK) === 0 ? JSON_TYPE : MSGPACK_TYPE;
    this.answer(frame.status, type, frame.headers, frame.body);
  }

  /** Of a stream of events: it stops counting as a request that runs. */
  get live(): LiveSubscriber | undefined {
    if (this.route.endpoint?.live !== true) return undefined;
    this.events ??= new LiveEvents(this.services, this.caller!, {
      // Releases what it holds as a running request.
      uncount: () => {
        this.stopRunning();
        this.leave();
      },
      write: (event) => this.res.cork(() => this.replyStream?.write(event)),
      waiting: () => this.replyStream?.waiting ?? 0,
      end: (event) => this.endEvents(event),
    });
    return this.events;
  }

  private endEvents(event: Uint8Array): void {
    if (this.replyStream === null) return;
    this.call!.cancel();
    endReply(this, event);
    this.endReply();
  }

  /** A piece of the reply, or word that pieces of the body were taken. */
  progressed(frame: ReplyFrame): void {
    if ((frame.flags & REPLY_TAKEN) !== 0) {
      this.body?.stream?.taken(frame.body.readUInt32LE(0));
      return;
    }
    if (this.replyStream !== null) {
      const stream = this.replyStream;
      this.res.cork(() => stream.write(frame.body));
      return;
    }
    this.hasAnswered = true;
    this.status = frame.status;
    const { headers, encoder } = this.services.compression.ofStream(this, frame.headers);
    const stream = new ReplyStream(this.res, this.call!.link!, this.call!.frameId, encoder);
    this.replyStream = stream;
    beginReply(this, frame.status, headers, () => {
      if (!this.headOnly) stream.write(frame.body);
    });
    if (this.headOnly) this.endReply();
  }

  private endStream(frame: ReplyFrame): void {
    this.call!.link = null;
    if ((frame.flags & REPLY_BROKEN) !== 0) {
      this.res.close();
      return;
    }
    // Once the reply has ended the socket is no longer ours to resume.
    this.body?.stream?.release();
    this.replyStream!.end(this, frame.body, () => this.endReply());
  }

  /** A streamed reply is complete. */
  private endReply(): void {
    this.release();
    this.replyStream = null;
    this.finished();
  }

  get tenantId(): string | null {
    return this.caller?.identity.tenantId ?? null;
  }

  get ofDirectory(): boolean {
    return this.route.endpoint!.home === "directory";
  }

  get repeatable(): Repeatable {
    if (this.body?.stream || this.replyStream !== null) return "never";
    return repeatableBy(this.route.endpoint!, (this.flags & REQUEST_IDEMPOTENT) !== 0);
  }

  lost(loss?: Loss): void {
    this.call!.link = null;
    // Half a reply is out already.
    if (this.events?.isOpen) this.events.interrupted();
    else if (this.replyStream !== null) this.res.close();
    else if (loss === undefined) this.unavailable(this.call!.partition);
    else {
      const { code, message, details, retryAfterSeconds } = loss;
      this.fail(code, message, details, retryAfter(code, retryAfterSeconds));
    }
  }

  end(why: EndedFor): void {
    if (this.hasAnswered && this.replyStream === null) return;
    if (this.replyStream !== null) this.res.close();
    else if (why === "disowned") this.fail("unauthorized", DISOWNED);
    else this.fail("shutting_down", NOT_WAITED_FOR);
  }

  /** What the directory does ends by itself, and may be what disabled who asked. */
  get running(): Identity | null {
    return this.ofDirectory || this.caller === null ? null : this.caller.identity;
  }

  expired(): void {
    if (this.replyStream !== null) {
      this.res.close();
      return;
    }
    // A body that is still coming in is not waited for.
    this.closeAfter = this.call === null || this.call.link === null || this.body?.isComplete === false;
    this.fail("request_timeout");
  }

  private aborted(): void {
    this.status ||= ERRORS.cancelled.status;
    this.isGone = true;
    this.replyStream?.close();
    if (!this.hasAnswered || this.replyStream !== null) {
      this.hasAnswered = true;
      this.replyStream = null;
      // The socket is no longer ours to resume.
      this.body?.stream?.lost();
      if (this.body?.stream) this.body = null;
      this.release();
    }
    this.finished();
  }

  // The reply

  /** Answers with an error of the table; `headers` are "name: value" lines. */
  fail(code: ErrorCode, message: string = ERRORS[code].message, details?: ErrorDetails, headers?: string): void {
    const { status } = ERRORS[code];
    const told = headers ?? retryAfter(code, 1);
    if (this.route.endpoint?.form === "openai") {
      this.answer(status, JSON_TYPE, openAiErrorHeaders(code, told), openAiErrorJson(code, message, details));
      return;
    }
    const msgpack = (this.flags & REQUEST_WANTS_MSGPACK) !== 0;
    const body = errorBody(code, message, details, this.requestId, this.services.clock.wall(), msgpack);
    this.answer(status, msgpack ? MSGPACK_TYPE : JSON_TYPE, told, body);
  }

  /** Writes the one reply. */
  answer(status: number, type: string, headers: string, body: Uint8Array | string): void {
    this.hasAnswered = true;
    this.status = status;
    const stream = this.body === null ? null : this.body.stream;
    if (stream !== null && !stream.ended) {
      const left = this.headers!.contentLength - stream.received;
      if (left > this.services.config.server.bodyBytesMax * DRAINED_RATIO_MAX) this.closeAfter = true;
    }
    this.release();
    if (this.services.closing) this.closeAfter = true;
    if (this.services.compression.write(this, status, type, headers, body)) this.finished();
    else this.waitForAnswer();
  }

  private stopRunning(): void {
    this.queue?.remove(this);
    this.check?.release();
    this.call?.release();
  }

  /** It is not waited for any more when the server closes. */
  private leave(): void {
    if (!this.counted) return;
    this.counted = false;
    if (--this.services.open === 0) this.services.drained?.();
  }

  /** Gives back everything that was held while the request ran. */
  private release(): void {
    this.events?.closed();
    this.stopRunning();
    this.body?.release();
    this.call?.cancel();
  }

  /** The last byte is out, or nobody reads any more. */
  finished(): void {
    const { services } = this;
    const tookMs = services.clock.now() - this.startedAt;
    const tenant = this.caller?.identity.tenantId;
    services.metrics.count(this.route.index, this.status, tookMs);
    logRequest(services, this.route, this.requestId, tenant, this.status, tookMs, this.trace?.traceId);
    if (this.trace !== null && services.traces !== null) {
      services.traces.record(this.trace.end(this.route, this.requestId, tenant, this.status));
    }
    this.leave();
  }
}
