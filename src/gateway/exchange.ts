/**
 * One request and its reply. The life of a request in the gateway:
 *
 *  1. `begin` reads the headers it needs, while uWebSockets.js still holds them.
 *  2. The caller is looked up or, the first time, verified (admission.ts); then what they may do is checked, and whether their
 *     tenant has budget left (rate-limiter.ts).
 *  3. The body is received. A body that comes in one piece is copied from the socket's buffer into the frame at once.
 *  4. `dispatch` queues the frame for the partition's actor (actor-link.ts); nothing is parsed here.
 *     If the endpoint streams its body, the frame goes without it, and the pieces follow as the actor takes them
 *     (body-stream.ts).
 *  5. The actor's reply, finished to the byte, is written (reply.ts) and the exchange is counted and logged. A long reply
 *     comes in pieces as the client reads (reply-stream.ts).
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
  STREAM_WINDOW_BYTES,
} from "../protocol/frames.js";
import type { Identity } from "../protocol/identity.js";
import { type ActorLink, isOfOpenTransaction, type Loss, type PendingReply, type Repeatable } from "./actor-link.js";
import { DIRECTORY_PARTITION } from "./actor-pool.js";
import type { Applicant, Caller } from "./admission.js";
import { BodyCollector } from "./body-collector.js";
import { BodyStream } from "./body-stream.js";
import { hostAllowed, originAllowed } from "./cors.js";
import type { Deadlined, DeadlineQueue, EndedFor } from "./deadline-queue.js";
import { ExchangeTrace } from "./exchange-trace.js";
import type { LiveSubscriber } from "./live-channels.js";
import { LiveEvents } from "./live-events.js";
import { acceptedFormat, answersOnly } from "./media-type.js";
import { REDIRECTS_MAX, redirect, release, reserve } from "./partition-load.js";
import type { Bucket } from "./rate-limiter.js";
import { remoteAddress } from "./remote-address.js";
import {
  beginReply,
  endReply,
  errorBody,
  JSON_TYPE,
  MSGPACK_TYPE,
  type Outgoing,
  retryAfter,
  writeReply,
} from "./reply.js";
import { ReplyStream } from "./reply-stream.js";
import { formatFlag, headOf } from "./request-frame.js";
import { type RequestHeaders, readHeaders, tooLarge } from "./request-headers.js";
import { logRequest } from "./request-log.js";
import type { LocalExchange, Route } from "./route.js";
import type { SentFrames } from "./sent-frames.js";
import type { Services } from "./services.js";
import { whyRefused } from "./why-refused.js";

/** A body declared larger than this many times the bound is not drained: the connection is closed instead. */
const DRAINED_RATIO_MAX = 4;
const DISOWNED = "The user or API key was disabled or removed while the request ran; it was ended.";
const NOT_WAITED_FOR =
  "The server is shutting down and waits no longer for the request. What it was to write may have been written.";
const CHALLENGE = 'WWW-Authenticate: Bearer realm="tessera"';

export class Exchange implements PendingReply, Outgoing, Deadlined, Applicant, LocalExchange {
  previous: Deadlined | null = null;
  next: Deadlined | null = null;
  expiresAt = 0;
  queue: DeadlineQueue | null = null;

  keptIn: SentFrames | null = null;
  suspicions = 0;

  requestId = "";
  rateRemaining = -1;
  rateResetSeconds = 0;
  corsHeaders = "";
  noStore = false;
  closeAfter = false;
  clientCloses = false;

  private caller: Caller | null = null;
  private flags = 0;
  private headers: RequestHeaders | null = null;
  private remoteAddress = "";
  private authorization = "";
  private collector: BodyCollector | null = null;
  private bodyStream: BodyStream | null = null;
  private replyStream: ReplyStream | null = null;
  private bodyArrived = false;
  /** The reply has begun, or the client is gone: nothing more may be written. */
  private hasAnswered = false;
  private abortable = false;
  private status = 0;
  private counted = true;
  private partition = -1;
  /** Bytes counted against the partition. */
  private reserved = 0;
  private bucket: Bucket | null = null;
  private link: ActorLink | null = null;
  private frameId = 0;
  private redirects = 0;
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

  get query(): string {
    return this.headers?.query ?? "";
  }

  get traceparent(): string {
    return this.trace === null ? "" : this.trace.traceparent;
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
    const format = acceptedFormat(accept);
    if (format === "msgpack") this.flags |= REQUEST_WANTS_MSGPACK;
    if (services.cors !== null) this.readOrigin(req);
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
    if (endpoint.jsonRpc !== undefined && !this.pageMayAsk(req)) return;
    this.noStore = endpoint.home === "directory";
    const { bodyBytesMax } = services.config.server;
    const streams = endpoint.live === true || endpoint.streamedReply?.some((type) => accept.includes(type)) === true;
    const acceptable = format !== null || streams || answersOnly(endpoint, accept);
    const headers = readHeaders(req, route, acceptable, streams, bodyBytesMax);
    this.headers = headers;
    if (headers.idempotencyKey !== "") this.flags |= REQUEST_IDEMPOTENT;
    // After any answer the rest of the body is read and dropped, unless that would take too long.
    if (endpoint.streamedBody === undefined) {
      this.closeAfter = headers.contentLength > bodyBytesMax * DRAINED_RATIO_MAX;
    } else this.bodyStream = new BodyStream(this.res);
    if (endpoint.access === "public") this.beginPublic();
    else this.beginAuthenticated(req);
  }

  /** For routes that answer later without an actor: the client may leave before. */
  waitForAnswer(): void {
    if (this.abortable) return;
    this.abortable = true;
    this.res.onAborted(() => this.aborted());
  }

  private readOrigin(req: HttpRequest): void {
    const origin = req.getHeader("origin");
    if (origin === "") return;
    const allowed = this.services.cors!.allowOrigin(origin);
    if (allowed !== null) this.corsHeaders = this.services.cors!.replyHeaders(allowed);
  }

  /** What programs talk to, pages of other sites may not. */
  private pageMayAsk(req: HttpRequest): boolean {
    const { config, cors } = this.services;
    const host = req.getHeader("host");
    if (!originAllowed(req.getHeader("origin"), host, config.server.host, cors)) {
      this.fail("forbidden", "Pages of this origin may not connect; see [server.cors].");
      return false;
    }
    if (hostAllowed(host, config.server)) return true;
    this.fail("forbidden", "The request names a host that this server does not go by; server.names lists its names.");
    return false;
  }

  // The caller

  private beginPublic(): void {
    this.remoteAddress = remoteAddress(this.res);
    const { services } = this;
    const now = this.startedAt;
    if (this.spend(services.limiter.ofAddress(this.remoteAddress, now), now)) this.proceed();
  }

  private beginAuthenticated(req: HttpRequest): void {
    if (this.route.endpoint!.isAudited) this.remoteAddress = remoteAddress(this.res);
    const authorization = req.getHeader("authorization");
    const ticket = this.route.endpoint!.live ? (req.getQuery("token") ?? "") : "";
    if (authorization === "" && ticket !== "") {
      this.presentTicket(ticket);
      return;
    }
    if (authorization === "") {
      this.refuseAnonymous(req.getHeader("x-api-key") !== "");
      return;
    }
    const caller = this.services.admission.known(authorization, this.services.clock.wall());
    if (caller !== null) this.admitted(caller);
    else this.judge(authorization);
  }

  /** Pages cannot send a header with an EventSource. */
  private presentTicket(ticket: string): void {
    const { tickets, clock } = this.services;
    const caller = tickets.redeem(ticket, clock.now());
    if (caller !== null) this.admitted(caller);
    else this.fail("unauthorized", "The ticket is unknown, used or too old: get one from POST /v1/ws/ticket.");
  }

  private refuseAnonymous(hasApiKeyHeader: boolean): void {
    const hint = "Send the key as Authorization: Bearer <key>; the X-API-Key header is not accepted any more.";
    const code = this.codeOf("missing_authorization");
    if (hasApiKeyHeader) this.fail(code, hint, { hint }, CHALLENGE);
    else this.fail(code, ERRORS.missing_authorization.message, undefined, CHALLENGE);
  }

  /** Failed attempts are counted by address, and an address that had too many must wait before it may try again. */
  private judge(authorization: string): void {
    this.remoteAddress = remoteAddress(this.res);
    const bucket = this.services.limiter.ofAddress(this.remoteAddress, this.startedAt);
    bucket.refill(this.startedAt);
    if (bucket.limited && bucket.tokens < 1) {
      this.noteRefusal("auth.blocked", "rate_limited");
      this.fail(
        "rate_limited",
        "Too many failed attempts from this address.",
        undefined,
        `Retry-After: ${bucket.retryAfterSeconds}`,
      );
      return;
    }
    this.authorization = authorization;
    this.services.admission.judge(authorization, this);
    // The directory is asked; the body is received at the same time.
    if (this.caller === null && !this.hasAnswered) this.receive();
  }

  /** Called by Admission, or directly for a known caller. */
  admitted(caller: Caller): void {
    if (this.hasAnswered) return;
    const waited = this.abortable;
    this.caller = caller;
    const { access } = this.route.endpoint!;
    const { services } = this;
    if (!this.spend(services.admission.bucketOf(caller), this.startedAt)) return;
    if (caller.identity.keyId !== null) services.admission.countUse(caller, services.clock.wall());
    if (caller.readOnly) this.flags |= REQUEST_READ_ONLY;
    const refusal = whyRefused(access, caller);
    if (refusal !== null) {
      if (access !== "writer") this.noteRefusal(this.route.endpoint!.name, "forbidden");
      this.fail("forbidden", refusal);
      return;
    }
    if (waited) this.resume();
    else this.proceed();
  }

  /** Called by Admission. */
  refused(code: ErrorCode, message: string): void {
    if (this.hasAnswered) return;
    if (ERRORS[code].status !== 401) {
      this.fail(code, message);
      return;
    }
    const now = this.services.clock.now();
    this.services.limiter.ofAddress(this.remoteAddress, now).take(now);
    this.noteRefusal("auth.refused", code);
    const sent = this.authorization.toLowerCase();
    const why = sent.startsWith("bearer ") || sent.startsWith("apikey ") ? `, error="invalid_token"` : "";
    this.fail(this.codeOf(code), message, undefined, CHALLENGE + why);
  }

  private noteRefusal(action: string, code: ErrorCode): void {
    const address = this.remoteAddress || remoteAddress(this.res);
    this.services.refusals.note(action, code, this.caller, address, this.requestId);
  }

  /** As the endpoint calls it. */
  private codeOf(code: ErrorCode): ErrorCode {
    return this.route.endpoint?.codes?.[code] ?? code;
  }

  /** Takes a token, and a place among the tenant's running requests. */
  private spend(bucket: Bucket, now: number): boolean {
    const taken = bucket.take(now);
    if (bucket.limited) {
      this.rateRemaining = bucket.remaining;
      this.rateResetSeconds = bucket.secondsToFull;
    }
    if (!taken) {
      this.fail("rate_limited", undefined, undefined, `Retry-After: ${bucket.retryAfterSeconds}`);
      return false;
    }
    if (bucket.inFlight >= this.services.config.limits.requestsPerTenantMax) {
      this.fail("rate_limited", "Too many requests are running at the same time.", undefined, "Retry-After: 1");
      return false;
    }
    bucket.inFlight++;
    this.bucket = bucket;
    return true;
  }

  // The body

  /** The caller is known before any of the body is looked at. */
  private proceed(): void {
    const { problem } = this.headers!;
    if (problem !== null) this.fail(problem.code, problem.message);
    else if (this.route.serveCaller !== null) this.route.serveCaller(this, this.caller!);
    else if (this.bodyStream !== null) {
      this.receive();
      this.dispatch(null);
    } else if (this.route.hasBody) this.receive();
    else this.dispatch(null);
  }

  /** The caller became known while or after the body arrived. */
  private resume(): void {
    const { problem } = this.headers!;
    if (problem !== null) this.fail(problem.code, problem.message);
    else if (this.route.serveCaller !== null) this.route.serveCaller(this, this.caller!);
    else if (this.bodyStream !== null) this.dispatch(null);
    else if (this.bodyArrived) this.dispatch(this.collector === null ? null : this.collector.body);
  }

  private receive(): void {
    this.waitForAnswer();
    this.startDeadline();
    if (this.route.hasBody) this.res.onData(this.onData);
    else this.bodyArrived = true;
  }

  private readonly onData = (chunk: ArrayBuffer, isLast: boolean): void => {
    try {
      this.arrived(new Uint8Array(chunk), isLast);
    } catch (error) {
      this.broken(error);
    }
  };

  /** A fault of ours. It must not leave uWebSockets.js's callback, which would end the process without a word. */
  private broken(error: unknown): void {
    this.services.logger.error({ err: error, request_id: this.requestId }, "request failed");
    if (!this.hasAnswered) this.fail("internal_error");
  }

  private arrived(chunk: Uint8Array, isLast: boolean): void {
    // The answer may begin before the end of a streamed body.
    if (this.hasAnswered && this.replyStream === null) return;
    if (this.bodyStream !== null) {
      this.bodyStream.arrived(chunk, isLast);
      return;
    }
    const admitted = this.caller !== null || this.route.endpoint!.access === "public";
    if (isLast && admitted && this.collector === null) {
      if (chunk.length > this.services.config.server.bodyBytesMax) this.tooLarge();
      else this.dispatch(chunk.length === 0 ? null : chunk);
      return;
    }
    this.bodyArrived = isLast;
    if (this.collect(chunk) && isLast && admitted) this.dispatch(this.collector!.body);
  }

  /** Keeps a piece of the body; false when the request has been refused because of it. */
  private collect(chunk: Uint8Array): boolean {
    // The body of a request that is going to be refused anyway is not kept.
    const { problem, contentLength } = this.headers!;
    if (problem !== null || chunk.length === 0) return true;
    const { services } = this;
    this.collector ??= new BodyCollector(contentLength, services.config.server.bodyBytesMax);
    if (!this.collector.add(chunk)) {
      this.tooLarge();
      return false;
    }
    services.collectedBytes += chunk.length;
    if (services.collectedBytes <= services.config.limits.requestBytesPerPartitionMax) return true;
    this.closeAfter = true;
    this.fail("overloaded", "Too many bodies are being received; retry shortly.");
    return false;
  }

  private tooLarge(): void {
    this.closeAfter = true;
    const { code, message } = tooLarge(this.services.config.server.bodyBytesMax);
    this.fail(code, message);
  }

  // To the actor and back

  private dispatch(body: Uint8Array | null): void {
    const { services, route } = this;
    const caller = this.caller;
    if (body !== null) {
      const format = formatFlag(this.headers!.contentType, route.endpoint!);
      if (format < 0) {
        this.fail("unsupported_media_type");
        return;
      }
      this.flags |= format;
    }
    const endpoint = route.endpoint!;
    const home = endpoint.home === "directory" ? DIRECTORY_PARTITION : caller!.partition;
    const link = services.pool.linkOf(home);
    // What streams its body cannot wait for a thread.
    if (!(this.bodyStream === null ? services.pool.takes(home) : services.pool.serves(home))) {
      this.unavailable(home);
      return;
    }
    const streamed = this.bodyStream === null ? 0 : STREAM_WINDOW_BYTES;
    if (streamed > 0) this.flags |= REQUEST_STREAMED;
    if (!this.reserve(home, body === null ? streamed : body.length)) {
      this.fail("overloaded", undefined, undefined, "Retry-After: 1");
      return;
    }
    this.waitForAnswer();
    this.startDeadline();
    this.send(link, home, body);
    this.bodyStream?.start(link, this.frameId);
  }

  private send(link: ActorLink, partition: number, body: Uint8Array | null): void {
    const { clock } = this.services;
    const caller = this.caller;
    this.link = link;
    const deadlineMs = clock.wall() + this.expiresAt - this.startedAt;
    const tenant = caller === null ? 0 : caller.identity.tenantNumber;
    const { code, isAudited } = this.route.endpoint!;
    const head = headOf(caller, this.headers!, this.remoteAddress, isAudited);
    this.frameId = link.send(this, code, this.flags, partition, tenant, deadlineMs, this.requestId, head, body);
    // What is posted goes ahead of the frame, which waits for the end of the turn.
    if (this.trace !== null) link.post({ kind: "trace", id: this.frameId, context: this.trace.sent() });
  }

  private startDeadline(): void {
    if (this.queue === null) this.route.deadlines!.add(this, this.startedAt);
  }

  /** Counts the request and its body against the partition's bounds; false when one of them is reached. */
  private reserve(partition: number, bytes: number): boolean {
    if (!reserve(this.services, partition, bytes)) return false;
    this.partition = partition;
    this.reserved = bytes;
    return true;
  }

  private unavailable(partition: number): void {
    if (this.services.pool.stateOf(partition) === "damaged") {
      this.fail("partition_damaged");
      return;
    }
    const seconds = this.services.pool.retryAfterSeconds(partition);
    this.fail("partition_unavailable", undefined, undefined, `Retry-After: ${seconds}`);
  }

  /** The tenant is in another partition, and the request goes there: its body has come back. */
  private follow(frame: ReplyFrame): void {
    const { services } = this;
    const caller = this.caller!;
    const to = Number(frame.headers);
    redirect(services, this.partition, to, this.reserved);
    this.partition = to;
    caller.partition = to;
    this.link = null;
    const link = services.pool.linkOf(to);
    if (!services.pool.takes(to) || ++this.redirects > REDIRECTS_MAX) this.unavailable(to);
    else this.send(link, to, frame.body.length === 0 ? null : frame.body);
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
    this.link = null;
    const type = (frame.flags & REPLY_MSGPACK) === 0 ? JSON_TYPE : MSGPACK_TYPE;
    this.answer(frame.status, type, frame.headers, frame.body);
  }

  /** Of a stream of events: it stops counting as a request that runs. */
  get live(): LiveSubscriber | undefined {
    if (this.route.endpoint?.live !== true) return undefined;
    this.events ??= new LiveEvents(this.services, this.caller!, {
      uncount: () => this.uncount(),
      write: (event) => this.res.cork(() => this.replyStream?.write(event)),
      waiting: () => this.replyStream?.waiting ?? 0,
      end: (event) => this.endEvents(event),
    });
    return this.events;
  }

  private endEvents(event: Uint8Array): void {
    if (this.replyStream === null) return;
    this.link?.cancel(this.frameId);
    this.link = null;
    endReply(this, event);
    this.endReply();
  }

  /** A piece of the reply, or word that pieces of the body were taken. */
  progressed(frame: ReplyFrame): void {
    if ((frame.flags & REPLY_TAKEN) !== 0) {
      this.bodyStream?.taken(frame.body.readUInt32LE(0));
      return;
    }
    if (this.replyStream !== null) {
      const stream = this.replyStream;
      this.res.cork(() => stream.write(frame.body));
      return;
    }
    this.hasAnswered = true;
    this.status = frame.status;
    const stream = new ReplyStream(this.res, this.link!, this.frameId);
    this.replyStream = stream;
    beginReply(this, frame.status, frame.headers, () => {
      if (!this.headOnly) stream.write(frame.body);
    });
    if (this.headOnly) this.endReply();
  }

  private endStream(frame: ReplyFrame): void {
    this.link = null;
    if ((frame.flags & REPLY_BROKEN) !== 0) {
      this.res.close();
      return;
    }
    // Once the reply has ended the socket is no longer ours to resume.
    this.bodyStream?.release();
    endReply(this, frame.body);
    this.endReply();
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
    const { name, home, keeps } = this.route.endpoint!;
    if (this.bodyStream !== null || this.replyStream !== null) return "never";
    if (isOfOpenTransaction(name)) return "never";
    if (this.route.method === "GET" || name === "auth.login") return "always";
    // What the directory does and the answer that is kept of it are written together.
    const isKept = home === "directory" && keeps !== "memory" && (this.flags & REQUEST_IDEMPOTENT) !== 0;
    return isKept ? "always" : "uncommitted";
  }

  lost(loss?: Loss): void {
    this.link = null;
    // Half a reply is out already.
    if (this.events?.isOpen) this.events.interrupted();
    else if (this.replyStream !== null) this.res.close();
    else if (loss === undefined) this.unavailable(this.partition);
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
    this.closeAfter = this.link === null || this.bodyStream?.ended === false;
    this.fail("request_timeout");
  }

  private aborted(): void {
    this.status ||= ERRORS.cancelled.status;
    if (!this.hasAnswered || this.replyStream !== null) {
      this.hasAnswered = true;
      this.replyStream = null;
      this.bodyStream = null;
      this.release();
    }
    this.finished();
  }

  // The reply

  /** Answers with an error of the table; `headers` are "name: value" lines. */
  fail(code: ErrorCode, message?: string, details?: ErrorDetails, headers?: string): void {
    const entry = ERRORS[code];
    const msgpack = (this.flags & REQUEST_WANTS_MSGPACK) !== 0;
    const body = errorBody(
      code,
      message ?? entry.message,
      details,
      this.requestId,
      this.services.clock.wall(),
      msgpack,
    );
    this.answer(entry.status, msgpack ? MSGPACK_TYPE : JSON_TYPE, headers ?? retryAfter(code, 1), body);
  }

  /** Writes the one reply. */
  answer(status: number, type: string, headers: string, body: Uint8Array | string): void {
    this.hasAnswered = true;
    this.status = status;
    if (this.bodyStream !== null && !this.bodyStream.ended) {
      const left = this.headers!.contentLength - this.bodyStream.received;
      if (left > this.services.config.server.bodyBytesMax * DRAINED_RATIO_MAX) this.closeAfter = true;
    }
    this.release();
    if (this.services.closing) this.closeAfter = true;
    if (writeReply(this, status, type, headers, body)) this.finished();
    else this.waitForAnswer();
  }

  sent(): void {
    this.finished();
  }

  /** Releases what it holds as a running request. */
  private uncount(): void {
    this.queue?.remove(this);
    if (this.bucket !== null) this.bucket.inFlight--;
    this.bucket = null;
    if (this.partition >= 0) release(this.services, this.partition, this.reserved);
    this.partition = -1;
    this.leave();
  }

  /** It is not waited for any more when the server closes. */
  private leave(): void {
    if (!this.counted) return;
    this.counted = false;
    const { services } = this;
    services.open--;
    if (services.open === 0) services.drained?.();
  }

  /** Gives back everything that was held while the request ran. */
  private release(): void {
    this.events?.closed();
    this.queue?.remove(this);
    if (this.bucket !== null) this.bucket.inFlight--;
    this.bucket = null;
    this.bodyStream?.release();
    if (this.collector !== null) this.services.collectedBytes -= this.collector.length;
    this.collector = null;
    if (this.partition >= 0) release(this.services, this.partition, this.reserved);
    this.link?.cancel(this.frameId);
    this.link = null;
  }

  /** The last byte is out, or nobody reads any more. */
  private finished(): void {
    const { services } = this;
    const tookMs = services.clock.now() - this.startedAt;
    services.metrics.count(this.route.index, this.status, tookMs);
    const tenant = this.caller?.identity.tenantId;
    logRequest(services, this.route, this.requestId, tenant, this.status, tookMs, this.trace?.traceId);
    if (this.trace !== null && services.traces !== null) {
      services.traces.record(this.trace.end(this.route, this.requestId, tenant, this.status));
    }
    this.leave();
  }
}
