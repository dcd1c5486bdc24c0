/**
 * All WebSockets: how many there are, in all and of each tenant, and what concerns all of them: the shared look at slow
 * readers, callers that changed, the shutdown. Made by gateway.ts, which also gives it to uWebSockets.js; owns the set.
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
import { ping } from "./messages/ping.js";
import { toActor } from "./messages/to-actor.js";
import type { Tickets } from "./tickets.js";
import { upgrade } from "./upgrade.js";

export class Sockets implements ConnectionSet {
  readonly handlers: ReadonlyMap<string, HandleMessage>;
  /** Connections whose clients have not read everything that was sent. */
  readonly blocked = new Set<Blocked>();
  readonly #open = new Set<Member>();
  readonly #perTenant = new Map<string, number>();

  constructor(
    readonly services: Services,
    readonly tickets: Tickets,
    routes: readonly Route[],
  ) {
    const handlers = new Map<string, HandleMessage>();
    for (const route of routes) {
      for (const type of route.endpoint?.messages ?? []) handlers.set(type, toActor(route));
    }
    this.handlers = handlers.set("cancel", cancel).set("ping", ping);
  }

  get size(): number {
    return this.#open.size;
  }

  /** Registers the routes of WebSockets; requests to them without an upgrade fall through to others. */
  register(app: TemplatedApp): void {
    const { websocket, limits } = this.services.config;
    const { messageBytesMax, idleTimeout, requestsRunningMax } = websocket;
    for (const path of ["/ws", "/v1/ws", "/v2/ws"]) {
      app.ws<SocketUser>(path, {
        maxPayloadLength: messageBytesMax,
        idleTimeout: idleTimeout - (idleTimeout % 4),
        sendPingsAutomatically: true,
        // Streams stop at a window each; whoever leaves more than that unread sends without reading at all.
        maxBackpressure: requestsRunningMax * STREAM_WINDOW_BYTES + limits.replyBytesPerConnectionMax,
        closeOnBackpressureLimit: true,
        upgrade: (res, req, context) => upgrade(this, res, req, context),
        open: (ws) => ws.getUserData().user.opened(ws),
        message: (ws, message, isBinary) => this.#message(ws.getUserData().user, message, isBinary),
        drain: (ws) => ws.getUserData().user.drained(),
        close: (ws) => ws.getUserData().user.closed(),
      });
    }
  }

  /** Closes what its client has not read for too long. Called now and then. */
  closeSlowReaders(now: number): void {
    const timeoutMs = this.services.config.websocket.readTimeout * 1000;
    for (const connection of this.blocked) {
      if (now - connection.blockedSince > timeoutMs) {
        connection.end(CLOSE.notReading, "The client does not read what it is sent.");
      }
    }
  }

  /** The callers for whom `gone` holds have changed: a new connection finds out what they may now. */
  forget(gone: (caller: Caller) => boolean): void {
    this.tickets.forget(gone);
    for (const connection of [...this.#open]) {
      if (gone(connection.caller)) connection.end(CLOSE.policy, "The credential was changed; connect again.");
    }
  }

  /** Lets requests that run end and closes every connection after them. */
  close(): void {
    for (const connection of [...this.#open]) connection.endWhenIdle();
  }

  add(connection: Member): void {
    this.#open.add(connection);
    const { tenantId } = connection.caller.identity;
    const ofTenant = (this.#perTenant.get(tenantId) ?? 0) + 1;
    this.#perTenant.set(tenantId, ofTenant);
    const { connectionsMax, connectionsPerTenantMax } = this.services.config.websocket;
    if (this.#open.size > connectionsMax) connection.end(CLOSE.tryAgainLater, "Too many connections are open.");
    else if (ofTenant > connectionsPerTenantMax) {
      connection.end(CLOSE.tryAgainLater, "Too many connections of this tenant are open.");
    }
  }

  remove(connection: Member): void {
    this.#open.delete(connection);
    this.blocked.delete(connection);
    const { tenantId } = connection.caller.identity;
    const ofTenant = this.#perTenant.get(tenantId)! - 1;
    if (ofTenant === 0) this.#perTenant.delete(tenantId);
    else this.#perTenant.set(tenantId, ofTenant);
  }

  #message(socket: SocketEnd, message: ArrayBuffer, isBinary: boolean): void {
    try {
      socket.message(Buffer.from(message), isBinary);
    } catch (error) {
      // It must not leave uWebSockets.js's callback, which would end the process without a word.
      this.services.logger.error({ err: error }, "a message of a WebSocket failed");
    }
  }
}
