/** What the server of PostgreSQL's protocol asks of the actor that has the tenant. */
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { STREAMED } from "../../session/answer.js";
import { FEED } from "../feed/feed.js";
import { WAY_OF_EVENTS, wayOfMessages } from "../feed/ways.js";
import { listen } from "./listen.js";
import { readStartUp } from "./start-up.js";
import { WIRE_SESSIONS, type WireSessions } from "./wire-sessions.js";

const NOTHING = new Uint8Array(0);

const sessionsOf = ({ partition }: Request): WireSessions => partition.part(WIRE_SESSIONS);

/** The session's number and what follows it. */
function read(body: Buffer): { readonly number: number; readonly rest: Buffer } {
  return { number: body.readUInt32LE(0), rest: body.subarray(4) };
}

export const postgresHandlers = {
  "postgres.open": (request, { body }) => {
    const { number, rest } = read(body);
    const startUp = readStartUp(rest, request.head.roles.includes("super_admin"));
    return sessionsOf(request).open(request, number, startUp).opened();
  },
  "postgres.messages": (request, { body }) => {
    const { number, rest } = read(body);
    return sessionsOf(request).get(request, number).serve(request, rest);
  },
  "postgres.cancel": (request, { body }) => {
    sessionsOf(request).find(request, read(body).number)?.cancel();
    return { bytes: NOTHING };
  },
  "postgres.listen": (request, { body }) => {
    sessionsOf(request).listen(request, read(body).number, request.partition.part(FEED).subscriptions.output!);
    return STREAMED;
  },
  "postgres.lend": (request, { body }) => {
    const { number, rest } = read(body);
    const { output } = request.partition.part(FEED).subscriptions;
    sessionsOf(request).lend(request, number, rest.readUInt32LE(0), rest.subarray(4), output!);
    return STREAMED;
  },
  "postgres.recall": (request, { body }) => {
    sessionsOf(request).recall(request, read(body).number);
    return { bytes: NOTHING };
  },
  "socket.listen": (request, { body }) => listen(request, body.channel, wayOfMessages(request)),
  "changes.listen": (request, { query }) => listen(request, query.channel, WAY_OF_EVENTS),
  "postgres.close": async (request, { body }) => {
    const sessions = sessionsOf(request);
    const number = read(body).number;
    const wire = sessions.find(request, number);
    sessions.remove(request, number);
    await wire?.close(request);
    return { bytes: NOTHING };
  },
} satisfies Handlers;
