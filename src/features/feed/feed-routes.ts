/** Subscriptions to changes: messages on a WebSocket, and server-sent events. */

import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { jsonOfQuery, parametersOfQuery } from "../../bodies/query-json.js";
import { DbError } from "../../protocol/errors.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import type { Way } from "./contract.js";
import { FEED } from "./feed.js";
import type { QueryRequest } from "./query-subscriptions.js";
import type { FollowOptions } from "./subscriptions.js";
import { WAY_OF_EVENTS, wayOfMessages } from "./ways.js";

/** Accept, Content-Type and Content-Encoding come before what an endpoint reads beside. */
const MEDIA_HEADERS = 3;

/**
 * Anything that is not our sequence counts as none: a browser sends the last event id of that address, whatever it was.
 */
function lastEventId(header: string | undefined): string | undefined {
  return header !== undefined && /^[0-9]{1,16}$/.test(header) ? header : undefined;
}

async function subscribe(request: Request, body: FollowOptions & Partial<QueryRequest>, way: Way): Promise<Answer> {
  const { sql } = body;
  const { subscriptions } = request.partition.part(FEED);
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

export const feedHandlers = {
  "socket.subscribe": (request, { body }) => subscribe(request, body, wayOfMessages(request)),
  "changes.subscribe": async (request, { query }) => {
    const { sequence, filter, parameters, token: _ticket, ...target } = query;
    const from = sequence ?? lastEventId(request.head.media[MEDIA_HEADERS]);
    const options = {
      ...target,
      ...(filter !== undefined && { filter: jsonOfQuery(filter, "filter") }),
      ...(parameters !== undefined && { parameters: parametersOfQuery(parameters) }),
      // The query's answer is sent again.
      ...(from !== undefined && query.sql === undefined && { sequence: Number(from) }),
    };
    return subscribe(request, options, WAY_OF_EVENTS);
  },
} satisfies Handlers;
