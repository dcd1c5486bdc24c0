/**
 * The WebSocket: the routes that open one, and the messages that an actor answers (those of the gateway are in its own
 * room).
 */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { chatBody } from "./chat.js";
import { pulledModel } from "./models.js";
import {
  bound,
  boundText,
  followed,
  limits,
  MessageId,
  otherDatabase,
  Strict,
  sql,
  Timestamp,
  textOptions,
} from "./schemas.js";

/** Of NOTIFY. */
const channel = Type.String({
  minLength: 1,
  description:
    "The channel's name, at most 63 bytes. Write it in lower case unless NOTIFY names it in quotation marks.",
});

/** As transaction.begin and POST /v1/transactions give it. */
const TransactionId = Type.String({ minLength: 1, maxLength: 128 });

export const socketEndpoints = [
  {
    name: "socket.ticket",
    door: "none",
    method: "POST",
    path: "/v1/ws/ticket",
    summary:
      "Get a ticket that opens one WebSocket or one event stream. It can be used once, within 60 seconds unless configured otherwise.",
    tag: "websocket",
    access: "member",
    home: "gateway",
    response: Type.Object({ token: Type.String(), expires_at: Timestamp, expiresAt: Timestamp }),
    flat: true,
  },
  {
    name: "socket.ticket.revoke",
    door: "none",
    method: "DELETE",
    path: "/v1/ws/ticket",
    summary: "Revoke the caller's unused tickets. Revoking a credential also revokes its tickets.",
    tag: "websocket",
    access: "member",
    home: "gateway",
    response: Type.Object({ revoked: Type.Integer() }),
  },
  {
    name: "socket.connect",
    door: "none",
    method: "GET",
    path: "/ws",
    summary:
      "The WebSocket: /ws?token=<ticket>. Messages are JSON texts {type, id?, …}, or MessagePack for the subprotocol msgpack and for binary messages. GET /v1/asyncapi.json describes them. A request without an upgrade gets 426.",
    tag: "websocket",
    access: "public",
    home: "gateway",
    status: 101,
  },
  {
    name: "socket.connect.bearer",
    door: "none",
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
    door: "statements",
    keepsIntegers: true,
    method: "MESSAGE",
    path: "/ws",
    messages: ["sql.execute.stream", "query"],
    summary:
      "Run a statement of SQL or Cypher and stream its rows: sql.columns, sql.rows …, sql.done; or error. All rows are sent unless `max_rows` says fewer; then sql.done has `truncated`. In MessagePack, rows come as columns.",
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
          description:
            "The number of sql.rows messages that may be sent before more `credit` arrives. Absent: no limit.",
        }),
      ),
    }),
  },
  {
    name: "socket.transaction.begin",
    door: "statements",
    method: "MESSAGE",
    path: "/ws",
    messages: ["transaction.begin"],
    summary: "Begin a transaction. Statements and the two messages below name its id. Answer: transaction.",
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
    door: "statements",
    method: "MESSAGE",
    path: "/ws",
    messages: ["transaction.commit"],
    summary: "Commit a transaction. Answer: transaction, with its status.",
    tag: "websocket",
    access: "member",
    home: "tenant",
    body: Strict({ type: Type.String(), id: Type.Optional(MessageId), transaction: TransactionId }),
  },
  {
    name: "socket.transaction.rollback",
    door: "statements",
    ends: true,
    method: "MESSAGE",
    path: "/ws",
    messages: ["transaction.rollback"],
    summary: "Roll back a transaction. Answer: transaction, with its status.",
    tag: "websocket",
    access: "member",
    home: "tenant",
    body: Strict({ type: Type.String(), id: Type.Optional(MessageId), transaction: TransactionId }),
  },
  {
    name: "changes.subscribe",
    door: "parts",
    method: "GET",
    path: "/v1/subscribe",
    summary:
      "The changes of `subscribe` on the WebSocket, as server-sent events. Last-Event-ID or `sequence` sets the start. `token` is a ticket for clients that cannot send a header.",
    tag: "websocket",
    access: "member",
    home: "tenant",
    live: true,
    streamedReply: ["text/event-stream"],
    headers: ["last-event-id"],
    query: Strict({
      ...followed,
      sql: Type.Optional(sql),
      ...boundText,
      language: textOptions.language,
      filter: Type.Optional(Type.String({ description: "A filter as JSON, as in a document search." })),
      sequence: Type.Optional(Type.String({ pattern: "^[0-9]{1,16}$" })),
      token: Type.Optional(Type.String({ maxLength: 128 })),
    }),
  },
  {
    name: "changes.listen",
    door: "none",
    method: "GET",
    path: "/v1/listen",
    summary:
      "What `listen` on the WebSocket gives, as server-sent events: subscribed, then notification …. `token` is a ticket for clients that cannot send a header.",
    tag: "websocket",
    access: "member",
    home: "tenant",
    live: true,
    streamedReply: ["text/event-stream"],
    query: Strict({ channel, token: Type.Optional(Type.String({ maxLength: 128 })) }),
  },
  {
    name: "socket.subscribe",
    door: "parts",
    keepsIntegers: true,
    method: "MESSAGE",
    path: "/ws",
    messages: ["subscribe"],
    summary:
      "Subscribe to committed changes of a collection, table or graph label: subscribed, then change …. With `sequence`, also those since then. With `sql`, the answer of a query and its changes: subscribed, result …, changes ….",
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
      filter: Type.Optional(
        Type.Unknown({ description: "A filter as in a document search. For a table, over its columns." }),
      ),
      sequence: Type.Optional(
        Type.Integer({ minimum: 0, description: "Sequence of the last change seen. Later changes follow." }),
      ),
    }),
  },
  {
    name: "socket.listen",
    door: "none",
    method: "MESSAGE",
    path: "/ws",
    messages: ["listen"],
    summary:
      "Hear what is notified on a channel from now on, by NOTIFY and pg_notify in SQL: subscribed, then notification ….",
    tag: "websocket",
    access: "member",
    home: "tenant",
    live: true,
    body: Strict({
      type: Type.String(),
      id: Type.Optional(MessageId),
      channel,
    }),
  },
  {
    name: "socket.models.pull",
    door: "none",
    method: "MESSAGE",
    path: "/ws",
    messages: ["model.pull"],
    summary: "Pull a model as POST /v1/ai/models/pull does, with progress: model.progress …, model.complete; or error.",
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
    door: "statements",
    method: "MESSAGE",
    path: "/ws",
    messages: ["send_message"],
    summary:
      "Send a message to a chat as POST /v1/ai/chat does, with a streamed answer: message_chunk …, message_complete; or error.",
    tag: "websocket",
    access: "writer",
    home: "tenant",
    body: Strict({ type: Type.String(), id: Type.Optional(MessageId), ...chatBody }),
  },
] as const satisfies readonly EndpointSpec[];
