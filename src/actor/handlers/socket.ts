/**
 * Messages of WebSockets. Each is a request of its own, with the turn, the deadline and the gate of any other; what it
 * answers is one or more messages. One entry per kind, in the order of protocol/endpoints/socket.ts.
 */
import type { EndpointName } from "../../protocol/endpoints.js";
import { messageRows } from "../message-rows.js";
import type { Handler } from "./handler.js";
import { executeStreamed } from "./query.js";

export const socketHandlers = {
  // The gateway puts the request's id where other endpoints have their first path variable.
  "socket.query": (request, { body }) => executeStreamed(request, body, messageRows(request.head.params[0]!)),
} satisfies Partial<Record<EndpointName, Handler>>;
