/** The plain HTTP side of WebSockets: /v1/ws/ticket, and GET /ws without an upgrade. Made by gateway.ts. */
import type { Clock } from "../clock.js";
import { JSON_TYPE } from "../reply.js";
import type { Serve, ServeCaller } from "../route.js";
import type { Tickets } from "./tickets.js";

export function issueTicket(tickets: Tickets, clock: Clock, lifetimeSeconds: number): ServeCaller {
  return (exchange, caller) => {
    const token = tickets.issue(caller, clock.now());
    if (token === null) {
      exchange.fail("overloaded", "Too many unused tickets exist.");
      return;
    }
    const expires = new Date(clock.wall() + lifetimeSeconds * 1000).toISOString();
    const data = { token, expires_at: expires, expiresAt: expires };
    const meta = { request_id: exchange.requestId, timestamp: new Date(clock.wall()).toISOString() };
    exchange.answer(200, JSON_TYPE, "Cache-Control: no-store", JSON.stringify({ data, meta, ...data }));
  };
}

export function revokeTickets(tickets: Tickets, clock: Clock): ServeCaller {
  return (exchange, caller) => {
    const data = { revoked: tickets.revoke(caller, clock.now()) };
    const meta = { request_id: exchange.requestId, timestamp: new Date(clock.wall()).toISOString() };
    exchange.answer(200, JSON_TYPE, "Cache-Control: no-store", JSON.stringify({ data, meta }));
  };
}

export const upgradeRequired: Serve = (exchange) => {
  exchange.fail("upgrade_required", undefined, undefined, "Upgrade: websocket");
};
