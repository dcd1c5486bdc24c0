/**
 * Finds out who sends a request and whether they may: reads the credential, has admission.ts judge one that is not
 * known, takes a token of the rate limit, and notes refusals for the audit trail. Made by exchange.ts for a request to
 * an endpoint.
 */
import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import { ERRORS, type ErrorCode, type ErrorDetails } from "../protocol/errors.js";
import type { Bucket } from "../protocol/token-bucket.js";
import type { Applicant, Caller } from "./admission.js";
import { hostAllowed, originAllowed } from "./cors.js";
import { remoteAddress } from "./remote-address.js";
import type { Route } from "./route.js";
import type { Services } from "./services.js";
import { whyRefused } from "./why-refused.js";

const CHALLENGE = 'WWW-Authenticate: Bearer realm="tessera"';

/** The request that is checked. */
export interface CheckedRequest {
  readonly services: Services;
  readonly route: Route;
  readonly res: HttpResponse;
  readonly requestId: string;
  /** On the steady clock. */
  readonly startedAt: number;
  /** It was refused, or its client is gone. */
  readonly answered: boolean;
  fail(code: ErrorCode, message?: string, details?: ErrorDetails, headers?: string): void;
  /** Begins with the body, while the directory is asked for the caller. */
  receive(): void;
  /** The caller may do this. */
  passed(): void;
}

/** Of what a token's issuer has to do. */
export function isIssuersFault(code: ErrorCode): boolean {
  return code === "issuer_unavailable" || code === "issuer_misconfigured";
}

export class CallerCheck implements Applicant {
  /** Null: not known yet, or nobody has signed in. */
  caller: Caller | null = null;
  /** "": not needed so far. */
  remoteAddress = "";
  /** Whole tokens left, and whole seconds until the bucket is full; -1 when no limit applies. */
  rateRemaining = -1;
  rateResetSeconds = 0;
  private authorization = "";
  /** The address's, which has paid for asking an issuer. */
  private paid: Bucket | null = null;
  /** It counts the request as one that runs. */
  private bucket: Bucket | null = null;

  constructor(private readonly request: CheckedRequest) {}

  /** Runs while `req` is valid. */
  begin(req: HttpRequest): void {
    const endpoint = this.request.route.endpoint!;
    // What programs talk to, pages of other sites may not.
    if (endpoint.jsonRpc !== undefined && !this.pageMayAsk(req)) return;
    if (endpoint.access === "public") this.beginPublic();
    else this.beginAuthenticated(req);
  }

  private pageMayAsk(req: HttpRequest): boolean {
    const { request } = this;
    const { config, cors } = request.services;
    const host = req.getHeader("host");
    if (!originAllowed(req.getHeader("origin"), host, config.server.host, cors)) {
      request.fail("forbidden", "Pages of this origin may not connect; see [server.cors].");
      return false;
    }
    if (hostAllowed(host, config.server)) return true;
    request.fail("forbidden", "The request's Host header is not a name of this server. server.names lists its names.");
    return false;
  }

  private beginPublic(): void {
    const { request } = this;
    this.remoteAddress = remoteAddress(request.res);
    const now = request.startedAt;
    if (this.spend(request.services.limiter.ofAddress(this.remoteAddress, now), now)) request.passed();
  }

  private beginAuthenticated(req: HttpRequest): void {
    const { route, res, services } = this.request;
    if (route.endpoint!.isAudited) this.remoteAddress = remoteAddress(res);
    const authorization = req.getHeader("authorization");
    const ticket = route.endpoint!.live ? (req.getQuery("token") ?? "") : "";
    if (authorization === "" && ticket !== "") {
      this.presentTicket(ticket);
      return;
    }
    if (authorization === "") {
      this.refuseAnonymous(req.getHeader("x-api-key") !== "");
      return;
    }
    const caller = services.admission.known(authorization, services.clock.wall());
    if (caller !== null) this.admitted(caller);
    else this.judge(authorization);
  }

  /** Pages cannot send a header with an EventSource. */
  private presentTicket(ticket: string): void {
    const { tickets, clock } = this.request.services;
    const caller = tickets.redeem(ticket, clock.now());
    if (caller !== null) this.admitted(caller);
    else
      this.request.fail(
        "unauthorized",
        "The ticket is unknown, used or expired. Get a new one from POST /v1/ws/ticket.",
      );
  }

  private refuseAnonymous(hasApiKeyHeader: boolean): void {
    const hint = "Send the key as Authorization: Bearer <key>; the X-API-Key header is no longer accepted.";
    const code = this.codeOf("missing_authorization");
    if (hasApiKeyHeader) this.request.fail(code, hint, { hint }, CHALLENGE);
    else this.request.fail(code, ERRORS.missing_authorization.message, undefined, CHALLENGE);
  }

  /** Failed attempts are counted by address, and an address that had too many must wait before it may try again. */
  private judge(authorization: string): void {
    const { request } = this;
    const { services, startedAt } = request;
    this.remoteAddress = remoteAddress(request.res);
    const bucket = services.limiter.ofAddress(this.remoteAddress, startedAt);
    bucket.refill(startedAt);
    if (bucket.limited && bucket.tokens < 1) {
      this.block(bucket);
      return;
    }
    this.authorization = authorization;
    services.admission.judge(authorization, this);
    if (this.caller === null && !request.answered) request.receive();
  }

  private block(bucket: Bucket): void {
    this.noteRefusal("auth.blocked", "rate_limited");
    const wait = `Retry-After: ${bucket.retryAfterSeconds}`;
    this.request.fail("rate_limited", "Too many failed attempts from this address.", undefined, wait);
  }

  /** Called by Admission. Asking takes long, so an address pays before, and gets it back when it is let in. */
  mayAskIssuer(): boolean {
    const { services, startedAt } = this.request;
    const bucket = services.limiter.ofAddress(this.remoteAddress, startedAt);
    if (bucket.take(startedAt)) {
      this.paid = bucket;
      return true;
    }
    this.block(bucket);
    return false;
  }

  private giveBack(): void {
    this.paid?.giveBack();
    this.paid = null;
  }

  /** Called by Admission, or directly for a known caller. */
  admitted(caller: Caller): void {
    this.giveBack();
    const { request } = this;
    if (request.answered) return;
    this.caller = caller;
    const { services } = request;
    const { access, name } = request.route.endpoint!;
    if (!this.spend(services.admission.bucketOf(caller), request.startedAt)) return;
    if (caller.identity.keyId !== null) services.admission.countUse(caller, services.clock.wall());
    const refusal = whyRefused(access, caller);
    if (refusal === null) {
      request.passed();
      return;
    }
    if (access !== "writer") this.noteRefusal(name, "forbidden");
    request.fail("forbidden", refusal);
  }

  /** Takes a token, and a place among the tenant's running requests. */
  private spend(bucket: Bucket, now: number): boolean {
    const { request } = this;
    const taken = bucket.take(now);
    if (bucket.limited) {
      this.rateRemaining = bucket.remaining;
      this.rateResetSeconds = bucket.secondsToFull;
    }
    if (!taken) {
      request.fail("rate_limited", undefined, undefined, `Retry-After: ${bucket.retryAfterSeconds}`);
      return false;
    }
    if (bucket.inFlight >= request.services.config.limits.requestsPerTenantMax) {
      request.fail("rate_limited", "Too many requests are running at the same time.", undefined, "Retry-After: 1");
      return false;
    }
    bucket.inFlight++;
    this.bucket = bucket;
    return true;
  }

  /** The request runs no more. */
  release(): void {
    if (this.bucket !== null) this.bucket.inFlight--;
    this.bucket = null;
  }

  /** Called by Admission. */
  refused(code: ErrorCode, message: string): void {
    const { request } = this;
    const { status } = ERRORS[code];
    const isTheirs = status === 401 || status === 403;
    // Whose issuer does not answer has had the server wait for it.
    if (!isTheirs && !isIssuersFault(code)) this.giveBack();
    if (request.answered) return;
    if (!isTheirs) {
      request.fail(code, message);
      return;
    }
    const now = request.services.clock.now();
    if (this.paid === null) request.services.limiter.ofAddress(this.remoteAddress, now).take(now);
    this.noteRefusal("auth.refused", code);
    if (status === 403) {
      request.fail(code, message);
      return;
    }
    const sent = this.authorization.toLowerCase();
    const why = sent.startsWith("bearer ") || sent.startsWith("apikey ") ? `, error="invalid_token"` : "";
    request.fail(this.codeOf(code), message, undefined, CHALLENGE + why);
  }

  private noteRefusal(action: string, code: ErrorCode): void {
    const { services, res, requestId } = this.request;
    const address = this.remoteAddress || remoteAddress(res);
    services.refusals.note(action, code, this.caller, address, requestId);
  }

  /** As the endpoint calls it. */
  private codeOf(code: ErrorCode): ErrorCode {
    return this.request.route.endpoint!.codes?.[code] ?? code;
  }
}
