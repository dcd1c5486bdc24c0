/**
 * Messages of WebSockets. Each is a request of its own, with the turn, the deadline and the gate of any other; what it
 * answers is one or more messages. One entry per kind, in the order of protocol/endpoints/socket.ts.
 */

import type { Handler } from "../../actor/handler.js";
import { type Answer, errorBody, messageErrorJson, packedMessage, STREAMED } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import type { EndpointName } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { streamAnswer } from "../chat/chat-routes.js";
import { messageFrames } from "../chat/chat-stream.js";
import { messageOf } from "../chat/exchange.js";
import { CHANGE_FORMS } from "../feed/change-form.js";
import type { Way } from "../feed/contract.js";
import type { QueryRequest } from "../feed/query-subscriptions.js";
import type { FollowOptions } from "../feed/subscriptions.js";
import { pullWithProgress } from "../models/model-routes.js";
import { messageRows } from "./message-rows.js";
import { executeStreamed } from "./query-routes.js";
import {
  beginTransaction,
  commitTransaction,
  executeInTransaction,
  rollbackTransaction,
} from "./transaction-routes.js";

/** Accept, Content-Type and Content-Encoding come before what an endpoint reads beside. */
const MEDIA_HEADERS = 3;

/** What is no sequence of ours is none: a browser sends whatever the last event of that address had. */
function lastEventId(header: string | undefined): string | undefined {
  return header !== undefined && /^[0-9]{1,16}$/.test(header) ? header : undefined;
}

function jsonOf(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DbError("invalid_request", `The query parameter "${field}" is not JSON.`, { field });
  }
}

/** A message of the format that the client reads. */
function written({ wantsMsgpack }: Request, json: string): Uint8Array {
  return wantsMsgpack ? packedMessage(json) : Buffer.from(json);
}

/** An answer as one message. */
async function said(request: Request, type: string, { plain }: Answer): Promise<Answer> {
  const sink = await request.openReply("application/json", []);
  const fields = JSON.stringify(plain).slice(1).replace('"id":', '"transaction":');
  sink.end(written(request, `{"type":"${type}","id":${request.head.params[0]!},${fields}`));
  return STREAMED;
}

async function subscribe(request: Request, body: FollowOptions & Partial<QueryRequest>, way: Way): Promise<Answer> {
  const { sql } = body;
  const { subscriptions } = request.partition;
  if (sql === undefined) {
    refuse(body, ["parameters", "params", "language"], 'goes with "sql" only');
    await subscriptions.follow(request, body, way);
  } else {
    refuse(body, ["collection", "table", "label", "relationship", "graph", "filter"], 'does not go with "sql"');
    refuse(body, ["sequence"], 'does not go with "sql": a query answers anew');
    await subscriptions.followQuery(request, { ...body, sql }, way);
  }
  return STREAMED;
}

function refuse(body: object, fields: readonly string[], why: string): void {
  const field = fields.find((name) => (body as Readonly<Record<string, unknown>>)[name] !== undefined);
  if (field !== undefined) throw new DbError("invalid_request", `The field "${field}" ${why}.`, { field });
}

export const socketHandlers = {
  // The gateway puts the request's id where other endpoints have their first path variable.
  "socket.query": (request, { body }) => {
    const format = messageRows(request.head.params[0]!, request.wantsMsgpack);
    const headers = body.credits === undefined ? [] : [`credits: ${body.credits}`];
    if (body.transaction === undefined) return executeStreamed(request, body, format, headers);
    return executeInTransaction(request, body.transaction, body, format, headers);
  },
  "socket.transaction.begin": (request, input) => said(request, "transaction", beginTransaction(request, input)),
  "socket.transaction.commit": async (request, { body }) =>
    said(request, "transaction", await commitTransaction(request, body.transaction)),
  "socket.transaction.rollback": async (request, { body }) =>
    said(request, "transaction", await rollbackTransaction(request, body.transaction)),
  "socket.subscribe": async (request, { body }) => {
    const id = request.head.params[0]!;
    return subscribe(request, body, {
      form: CHANGE_FORMS[request.wantsMsgpack ? "msgpack" : "json"],
      id,
      errorMessage: (error) => written(request, messageErrorJson(error, id, request.requestId)),
      errorText: (errorJson) => written(request, errorJson),
    });
  },
  "changes.subscribe": async (request, { query }) => {
    const { sequence, filter, parameters, token: _ticket, ...target } = query;
    const event = (json: string): string => `event: error\ndata: {"type":"error",${json.slice(1)}\n\n`;
    const from = sequence ?? lastEventId(request.head.media[MEDIA_HEADERS]);
    const options = {
      ...target,
      ...(filter !== undefined && { filter: jsonOf(filter, "filter") }),
      ...(parameters !== undefined && { parameters: jsonOf(parameters, "parameters") as readonly unknown[] }),
      // The answer of a query comes anew.
      ...(from !== undefined && query.sql === undefined && { sequence: Number(from) }),
    };
    return subscribe(request, options, {
      form: CHANGE_FORMS.sse,
      id: "null",
      errorMessage: (error) => Buffer.from(event(JSON.stringify(errorBody(error)))),
      errorText: (errorJson) => event(JSON.stringify(JSON.parse(errorJson).error)),
    });
  },
  "socket.models.pull": pullWithProgress,
  "socket.chat": (request, { body }) => {
    const { type: _type, id: _id, ...sent } = body;
    const message = messageOf(sent);
    return streamAnswer(
      request,
      message,
      messageFrames(request.head.params[0]!, message.session_id, request.wantsMsgpack),
    );
  },
} satisfies Partial<Record<EndpointName, Handler>>;
