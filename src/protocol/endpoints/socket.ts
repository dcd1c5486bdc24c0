/**
 * The WebSocket: the routes that open one, and the messages that an actor answers (those of the gateway are in its own
 * room).
 */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { chatBody } from "./chat.js";
import { pulledModel } from "./models.js";
import { bound, followed, limits, MessageId, otherDatabase, Strict, sql, Timestamp, textOptions } from "./schemas.js";

/** As transaction.begin and POST /v1/transactions give it. */
const TransactionId = Type.String({ minLength: 1, maxLength: 128 });

export const socketEndpoints = [
  {
    name: "socket.ticket",
    method: "POST",
    path: "/v1/ws/ticket",
    summary:
      "A ticket that opens one WebSocket, or one stream of events; it is good for 60 seconds unless configured, and one use.",
    tag: "websocket",
    access: "member",
    home: "gateway",
    response: Type.Object({ token: Type.String(), expires_at: Timestamp, expiresAt: Timestamp }),
    flat: true,
  },
  {
    name: "socket.ticket.revoke",
    method: "DELETE",
    path: "/v1/ws/ticket",
    summary: "Takes back the caller's tickets that were not used. Those of a credential that is taken away go with it.",
    tag: "websocket",
    access: "member",
    home: "gateway",
    response: Type.Object({ revoked: Type.Integer() }),
  },
  {
    name: "socket.connect",
    method: "GET",
    path: "/ws",
    summary:
      "The WebSocket: /ws?token=<ticket>. Messages are JSON texts {type, id?, …}, or MessagePack: the subprotocol msgpack, and binary messages, are answered so. GET /v1/asyncapi.json describes them. A request without an upgrade gets 426.",
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
    keepsIntegers: true,
    method: "MESSAGE",
    path: "/ws",
    messages: ["sql.execute.stream", "query"],
    summary:
      "A statement of SQL or Cypher, whose rows are sent as they come: sql.columns, sql.rows …, sql.done; or error. Rows end at `max_rows` (1,000 unless said), which sql.done tells as `truncated`. In MessagePack rows come by columns.",
    tag: "websocket",
    access: "member",
    home: "tenant",
    body: Strict({
      type: Type.String(),
      id: Type.Optional(MessageId),
      sql,
      ...bound,
      ...limits,
      ...textOptions,
      ...otherDatabase,
      transaction: Type.Optional(TransactionId),
      credits: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1_000_000,
          description: "So many sql.rows may come until `credit` says that more may; absent: as many as there are.",
        }),
      ),
    }),
  },
  {
    name: "socket.transaction.begin",
    method: "MESSAGE",
    path: "/ws",
    messages: ["transaction.begin"],
    summary: "Begins a transaction, whose id statements and the two messages below name: transaction.",
    tag: "websocket",
    access: "member",
    home: "tenant",
    body: Strict({
      type: Type.String(),
      id: Type.Optional(MessageId),
      isolation_level: Type.Optional(Type.String({ maxLength: 32 })),
      read_only: Type.Optional(Type.Boolean()),
      timeout_secs: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
    }),
  },
  {
    name: "socket.transaction.commit",
    method: "MESSAGE",
    path: "/ws",
    messages: ["transaction.commit"],
    summary: "Commits it: transaction, with its status.",
    tag: "websocket",
    access: "member",
    home: "tenant",
    body: Strict({ type: Type.String(), id: Type.Optional(MessageId), transaction: TransactionId }),
  },
  {
    name: "socket.transaction.rollback",
    method: "MESSAGE",
    path: "/ws",
    messages: ["transaction.rollback"],
    summary: "Takes it back: transaction, with its status.",
    tag: "websocket",
    access: "member",
    home: "tenant",
    body: Strict({ type: Type.String(), id: Type.Optional(MessageId), transaction: TransactionId }),
  },
  {
    name: "changes.subscribe",
    method: "GET",
    path: "/v1/subscribe",
    summary:
      "The changes that `subscribe` on the WebSocket gives, as server-sent events. Last-Event-ID, or `sequence`, says from where on; `token` is a ticket for clients that send no header.",
    tag: "websocket",
    access: "member",
    home: "tenant",
    live: true,
    streamedReply: ["text/event-stream"],
    headers: ["last-event-id"],
    query: Strict({
      ...followed,
      sql: Type.Optional(sql),
      parameters: Type.Optional(Type.String({ description: "JSON: of the query." })),
      filter: Type.Optional(Type.String({ description: "JSON, as in a search of documents." })),
      sequence: Type.Optional(Type.String({ pattern: "^[0-9]{1,16}$" })),
      token: Type.Optional(Type.String({ maxLength: 128 })),
    }),
  },
  {
    name: "socket.subscribe",
    keepsIntegers: true,
    method: "MESSAGE",
    path: "/ws",
    messages: ["subscribe"],
    summary:
      "Changes of a collection, table or graph label as they are committed: subscribed, then change …; with `sequence` also those since then. With `sql` the answer of a query, and what changes in it: subscribed, result …, changes ….",
    tag: "websocket",
    access: "member",
    home: "tenant",
    live: true,
    body: Strict({
      type: Type.String(),
      id: Type.Optional(MessageId),
      ...followed,
      sql: Type.Optional(sql),
      ...bound,
      language: textOptions.language,
      filter: Type.Optional(Type.Unknown({ description: "As in a search of documents; over a table its columns." })),
      sequence: Type.Optional(
        Type.Integer({ minimum: 0, description: "Of the last change that was seen: what came after it follows." }),
      ),
    }),
  },
  {
    name: "socket.models.pull",
    method: "MESSAGE",
    path: "/ws",
    messages: ["model.pull"],
    summary:
      "A pull of a model, as POST /v1/ai/models/pull, and how it gets on: model.progress …, model.complete; or error.",
    tag: "websocket",
    access: "system",
    home: "tenant",
    body: Strict({
      type: Type.String(),
      id: Type.Optional(MessageId),
      ...pulledModel,
    }),
  },
  {
    name: "socket.chat",
    method: "MESSAGE",
    path: "/ws",
    messages: ["send_message"],
    summary:
      "A message to a chat, as POST /v1/ai/chat, its answer as it grows: message_chunk …, message_complete; or error.",
    tag: "websocket",
    access: "writer",
    home: "tenant",
    body: Strict({ type: Type.String(), id: Type.Optional(MessageId), ...chatBody }),
  },
] as const satisfies readonly EndpointSpec[];
