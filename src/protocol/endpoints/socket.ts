/** The WebSocket: how one gets in, and the messages that an actor answers (those of the gateway are in its own room). */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { bound, limits, Strict, sql, Timestamp } from "./schemas.js";

/** How a client names a request, to know its answers again and to cancel it. */
const MessageId = Type.Union([Type.String({ maxLength: 128 }), Type.Integer()]);

export const socketEndpoints = [
  {
    name: "socket.ticket",
    method: "POST",
    path: "/v1/ws/ticket",
    summary: "A ticket that opens one WebSocket; it is short-lived and good for one use.",
    tag: "websocket",
    access: "member",
    home: "gateway",
    response: Type.Object({ token: Type.String(), expires_at: Timestamp, expiresAt: Timestamp }),
    flat: true,
  },
  {
    name: "socket.connect",
    method: "GET",
    path: "/ws",
    summary:
      "The WebSocket: /ws?token=<ticket>. Messages are JSON texts {type, id?, …}: sql.execute.stream, cancel, ping. A request without an upgrade gets 426.",
    tag: "websocket",
    access: "public",
    home: "gateway",
    status: 101,
  },
  {
    name: "socket.connect.bearer",
    method: "GET",
    path: "/v1/ws",
    summary: "The same WebSocket for clients that can send an Authorization header with the upgrade.",
    tag: "websocket",
    access: "public",
    home: "gateway",
    status: 101,
  },
  {
    name: "socket.query",
    method: "MESSAGE",
    path: "/ws",
    messages: ["sql.execute.stream", "query"],
    summary: "A statement, whose rows are sent as they come: sql.columns, sql.rows …, sql.complete; or error.",
    tag: "websocket",
    access: "member",
    home: "tenant",
    body: Strict({
      type: Type.String(),
      id: Type.Optional(MessageId),
      sql,
      ...bound,
      ...limits,
    }),
  },
] as const satisfies readonly EndpointSpec[];
