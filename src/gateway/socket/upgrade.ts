/**
 * Turns an HTTP request into a WebSocket (RFC 6455, section 4.2). It checks whether the page may connect, and finds
 * the caller by ticket or Authorization header. A bad credential is answered with close code 1008 after the upgrade,
 * because browsers do not show a page the status of a failed upgrade. Called by uWebSockets.js through sockets.ts;
 * stateless.
 */
import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocket } from "uWebSockets.js";
import { BRANCH_NAME } from "../../protocol/endpoints/branches.js";
import { ERRORS, type ErrorCode } from "../../protocol/errors.js";
import type { Bucket } from "../../protocol/token-bucket.js";
import { type Applicant, atBranch, type Caller } from "../admission.js";
import { isIssuersFault } from "../caller-check.js";
import { hostAllowed, originAllowed } from "../cors.js";
import { remoteAddress } from "../remote-address.js";
import { errorBody, JSON_TYPE } from "../reply.js";
import { BAD_BRANCH } from "../request-headers.js";
import type { Services } from "../services.js";
import { Connection } from "./connection.js";
import { CLOSE, type ConnectionSet, type SocketEnd, type SocketUser } from "./contract.js";
import { McpConnection } from "./mcp-connection.js";
import { ProgressConnection } from "./progress-connection.js";

/** The subprotocol that clients of MCP offer. */
const MCP_PROTOCOL = "mcp";
/** That of clients that want MessagePack. */
const MSGPACK_PROTOCOL = "msgpack";

/**
 * What `?token=` holds: a ticket, or the credential itself, which clients of MCP know no other way to send. The
 * latter's connections speak MCP. `progress` is a ticket, too, for what one filesystem collection has to tell.
 */
export type TokenKind = "ticket" | "bearer" | "progress";

export function upgrade(
  sockets: ConnectionSet,
  token: TokenKind,
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
): void {
  const { services } = sockets;
  const refuse = (code: ErrorCode, message?: string): void => refuseUpgrade(services, res, code, message);
  const now = services.clock.now();
  const failures = services.limiter.ofAddress(remoteAddress(res), now);
  failures.refill(now);
  if (services.closing) refuse("shutting_down");
  else if (!pageMayConnect(services, req)) {
    refuse("forbidden", "Pages of this origin may not connect; see [server.cors].");
  } else if (failures.limited && failures.tokens < 1) {
    refuse("rate_limited", "Too many failed attempts from this address.");
  } else identify(sockets, token, res, req, context, failures);
}

/** By ticket, or by header where there is one. */
function identify(
  sockets: ConnectionSet,
  token: TokenKind,
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
  failures: Bucket,
): void {
  const { admission, clock } = sockets.services;
  const authorization =
    req.getHeader("authorization") || (token === "bearer" ? `Bearer ${req.getQuery("token") ?? ""}` : "");
  const applicant = new Upgrade(sockets, token, res, req, context, failures, authorization !== "");
  if (authorization === "") {
    applicant.present(req.getQuery("token") ?? "");
    return;
  }
  const caller = admission.known(authorization, clock.wall());
  if (caller !== null) applicant.admitted(caller);
  else {
    applicant.waitForJudgement();
    admission.judge(authorization, applicant);
  }
}

function pageMayConnect({ config, cors }: Services, req: HttpRequest): boolean {
  const [origin, host] = [req.getHeader("origin"), req.getHeader("host")];
  return originAllowed(origin, host, config.server.host, cors) && (origin === "" || hostAllowed(host, config.server));
}

function refuseUpgrade(
  services: Services,
  res: HttpResponse,
  code: ErrorCode,
  message: string = ERRORS[code].message,
): void {
  const body = errorBody(code, message, undefined, services.requestIds.of(""), services.clock.wall(), false);
  res.cork(() => {
    res.writeStatus(String(ERRORS[code].status)).writeHeader("Content-Type", JSON_TYPE).end(body, true);
  });
}

/** An upgrade whose caller is perhaps still being asked for. */
class Upgrade implements Applicant {
  private readonly key: string;
  private readonly protocol: string;
  /** Of the path's variable, where it has one. */
  private readonly collectionId: string;
  /** Of the tenant, which the connection is about; "": the tenant itself. */
  private readonly branch: string;
  private gone = false;
  /** The address has, for asking an issuer. */
  private paid = false;

  constructor(
    private readonly sockets: ConnectionSet,
    private readonly token: TokenKind,
    private readonly res: HttpResponse,
    req: HttpRequest,
    private readonly context: us_socket_context_t,
    private readonly failures: Bucket,
    /** A ticket was paid for when it was issued. */
    private readonly spends: boolean,
  ) {
    this.collectionId = token === "progress" ? decoded(req.getParameter(0) ?? "") : "";
    // Pages in a browser can send no header.
    this.branch = req.getHeader("x-tessera-branch") || (req.getQuery("branch") ?? "");
    this.key = req.getHeader("sec-websocket-key");
    const offered = req.getHeader("sec-websocket-protocol").split(",");
    const known = token === "bearer" ? MCP_PROTOCOL : MSGPACK_PROTOCOL;
    this.protocol = offered.some((name) => name.trim() === known) ? known : "";
  }

  waitForJudgement(): void {
    this.res.onAborted(() => {
      this.gone = true;
    });
  }

  present(token: string): void {
    const { services } = this.sockets;
    const caller = services.tickets.redeem(token, services.clock.now());
    if (caller !== null) this.admitted(caller);
    else this.refused("unauthorized", "The ticket is unknown, used or expired. Get a new one from POST /v1/ws/ticket.");
  }

  mayAskIssuer(): boolean {
    const { services } = this.sockets;
    this.paid = this.failures.take(services.clock.now());
    if (!this.paid) refuseUpgrade(services, this.res, "rate_limited", "Too many failed attempts from this address.");
    return this.paid;
  }

  private giveBack(): void {
    if (this.paid) this.failures.giveBack();
    this.paid = false;
  }

  admitted(admitted: Caller): void {
    this.giveBack();
    if (this.gone) return;
    const { services } = this.sockets;
    const caller = atBranch(admitted, this.branch);
    if (this.spends && !services.admission.bucketOf(admitted).take(services.clock.now())) {
      refuseUpgrade(services, this.res, "rate_limited");
    } else if (this.branch !== "" && !BRANCH_NAME.test(this.branch)) {
      refuseUpgrade(services, this.res, BAD_BRANCH.code, BAD_BRANCH.message);
    } else if (this.token === "ticket") {
      const format = this.protocol === MSGPACK_PROTOCOL ? "msgpack" : "json";
      this.upgrade(new Connection(this.sockets, caller, format));
    } else if (this.token === "progress") {
      const format = this.protocol === MSGPACK_PROTOCOL ? "msgpack" : "json";
      this.upgrade(new ProgressConnection(this.sockets, caller, format, this.sockets.followFiles, this.collectionId));
    } else this.upgrade(new McpConnection(this.sockets, caller, this.sockets.mcp));
  }

  refused(code: ErrorCode, message: string): void {
    const { status } = ERRORS[code];
    const isTheirs = status === 401 || status === 403;
    if (!isTheirs && !isIssuersFault(code)) this.giveBack();
    if (this.gone) return;
    const { services } = this.sockets;
    if (isTheirs) {
      if (!this.paid) this.failures.take(services.clock.now());
      services.refusals.note("auth.refused", code, null, remoteAddress(this.res), services.requestIds.of(""));
    }
    this.upgrade(new Refusal(isTheirs ? CLOSE.policy : CLOSE.tryAgainLater, message));
  }

  private upgrade(user: SocketEnd): void {
    // No extension is offered back.
    this.res.cork(() => this.res.upgrade<SocketUser>({ user }, this.key, this.protocol, "", this.context));
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A WebSocket that is only opened to say why it is closed. */
class Refusal implements SocketEnd {
  constructor(
    private readonly code: number,
    private readonly reason: string,
  ) {}

  opened(ws: WebSocket<SocketUser>): void {
    ws.end(this.code, this.reason);
  }

  message(): void {}

  drained(): void {}

  closed(): void {}

  end(): void {}
}
