/**
 * All WebSockets: their number, in all and per tenant, and what concerns all of them: the common check for slow
 * readers, callers that changed, the shutdown. Made by gateway.ts, which also gives it to uWebSockets.js; owns the
 * set.
 */
import type { TemplatedApp } from "uWebSockets.js";
import { STREAM_WINDOW_BYTES } from "../../protocol/frames.js";
import type { Caller } from "../admission.js";
import type { Route } from "../route.js";
import type { Services } from "../services.js";
import {
  type Blocked,
  CLOSE,
  type ConnectionSet,
  type HandleMessage,
  type Member,
  type SocketEnd,
  type SocketUser,
} from "./contract.js";
import { cancel } from "./messages/cancel.js";
import { credit } from "./messages/credit.js";
import { ping } from "./messages/ping.js";
import { toActor } from "./messages/to-actor.js";
import { unsubscribe } from "./messages/unsubscribe.js";
import { type TokenKind, upgrade } from "./upgrade.js";

/**
 * What is read of a message that is too long before the connection is cut without a word; at least as much as of a
 * body.
 */
const OVERLONG_RATIO_MAX = 4;

export class Sockets implements ConnectionSet {
  readonly handlers: ReadonlyMap<string, HandleMessage>;
  /** What is done with a message on /mcp. */
  readonly mcp: HandleMessage;
  /** What a connection to the progress of a filesystem collection begins with. */
  readonly followFiles: HandleMessage;
  /** Connections whose clients have not read everything that was sent. */
  readonly blocked = new Set<Blocked>();
  private readonly open = new Set<Member>();
  private readonly perTenant = new Map<string, number>();

  constructor(
    readonly services: Services,
    routes: readonly Route[],
  ) {
    const handlers = new Map<string, HandleMessage>();
    this.mcp = toActor(routes.find(({ endpoint }) => endpoint?.name === "mcp.message")!);
    for (const route of routes) {
      for (const type of route.endpoint?.messages ?? []) handlers.set(type, toActor(route));
    }
    this.followFiles = handlers.get("files.follow")!;
    this.handlers = handlers
      .set("cancel", cancel)
      .set("credit", credit)
      .set("unsubscribe", unsubscribe)
      .set("ping", ping);
  }

  get size(): number {
    return this.open.size;
  }

  /** Bytes in the sockets of clients that do not read. */
  get unreadBytes(): number {
    let sum = 0;
    for (const { unreadBytes } of this.blocked) sum += unreadBytes;
    return sum;
  }

  /** Registers the routes of WebSockets; requests to them without an upgrade fall through to others. */
  register(app: TemplatedApp): void {
    for (const path of ["/ws", "/v1/ws", "/v2/ws"]) this.registerPath(app, path, "ticket");
    this.registerPath(app, "/mcp", "bearer");
    for (const version of ["", "/v1", "/v2"]) {
      this.registerPath(app, `${version}/ws/filesystem-collections/:id/progress`, "progress");
    }
  }

  private registerPath(app: TemplatedApp, path: string, token: TokenKind): void {
    const { websocket, limits, server } = this.services.config;
    const { messageBytesMax, idleTimeout, requestsRunningMax } = websocket;
    app.ws<SocketUser>(path, {
      // Beyond its bound a message is told so; far beyond it the connection is just cut.
      maxPayloadLength: Math.max(messageBytesMax * OVERLONG_RATIO_MAX, server.bodyBytesMax),
      idleTimeout: idleTimeout - (idleTimeout % 4),
      sendPingsAutomatically: true,
      // Streams stop at a window each; whoever leaves more than that unread sends without reading at all.
      maxBackpressure: requestsRunningMax * STREAM_WINDOW_BYTES + limits.replyBytesPerConnectionMax,
      closeOnBackpressureLimit: true,
      upgrade: (res, req, context) => upgrade(this, token, res, req, context),
      open: (ws) => ws.getUserData().user.opened(ws),
      message: (ws, message, isBinary) => this.message(ws.getUserData().user, message, isBinary),
      drain: (ws) => ws.getUserData().user.drained(),
      close: (ws) => {
        // The filter that counts connections is not told of those that were upgraded.
        this.services.connections--;
        ws.getUserData().user.closed();
      },
    });
  }

  /** Closes what its client has not read for too long. Called now and then. */
  closeSlowReaders(now: number): void {
    const timeoutMs = this.services.config.websocket.readTimeout * 1000;
    for (const connection of this.blocked) {
      if (now - connection.blockedSince > timeoutMs) {
        connection.end(CLOSE.notReading, "The client does not read its messages.");
      }
    }
  }

  /** The callers for whom `gone` holds have changed: a new connection finds out what they may now. */
  forget(gone: (caller: Caller) => boolean): void {
    this.services.tickets.forget(gone);
    for (const connection of [...this.open]) {
      if (gone(connection.caller)) connection.end(CLOSE.policy, "The credential was changed; connect again.");
    }
  }

  /** Lets requests that run end and closes every connection after them. */
  close(): void {
    for (const connection of [...this.open]) connection.endWhenIdle();
  }

  add(connection: Member): void {
    this.open.add(connection);
    const { tenantId } = connection.caller.identity;
    const ofTenant = (this.perTenant.get(tenantId) ?? 0) + 1;
    this.perTenant.set(tenantId, ofTenant);
    const { connectionsMax, connectionsPerTenantMax } = this.services.config.websocket;
    if (this.open.size > connectionsMax) connection.end(CLOSE.tryAgainLater, "Too many connections are open.");
    else if (ofTenant > connectionsPerTenantMax) {
      connection.end(CLOSE.tryAgainLater, "Too many connections of this tenant are open.");
    }
  }

  remove(connection: Member): void {
    this.open.delete(connection);
    this.blocked.delete(connection);
    const { tenantId } = connection.caller.identity;
    const ofTenant = this.perTenant.get(tenantId)! - 1;
    if (ofTenant === 0) this.perTenant.delete(tenantId);
    else this.perTenant.set(tenantId, ofTenant);
  }

  private message(socket: SocketEnd, message: ArrayBuffer, isBinary: boolean): void {
    const { messageBytesMax } = this.services.config.websocket;
    try {
      if (message.byteLength > messageBytesMax) {
        socket.end(CLOSE.tooLong, `A message has at most ${messageBytesMax} bytes.`);
        return;
      }
      socket.message(Buffer.from(message), isBinary);
    } catch (error) {
      // It must not leave uWebSockets.js's callback, which would end the process without a word.
      this.services.logger.error({ err: error }, "a message of a WebSocket failed");
    }
  }
}
