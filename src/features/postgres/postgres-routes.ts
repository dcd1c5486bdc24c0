/** What the server of PostgreSQL's protocol asks of the actor that has the tenant. */
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { STREAMED } from "../../session/answer.js";
import { FEED } from "../feed/feed.js";
import { readStartUp } from "./start-up.js";
import { WIRE_SESSIONS, type WireSessions } from "./wire-sessions.js";

const NOTHING = new Uint8Array(0);

const sessionsOf = ({ partition }: Request): WireSessions => partition.part(WIRE_SESSIONS);

export const postgresHandlers = {
  "postgres.open": (request, { params, body }) => {
    const startUp = readStartUp(body, request.head.roles.includes("super_admin"));
    return sessionsOf(request).open(request, Number(params.session), startUp).opened();
  },
  "postgres.messages": (request, { params, body }) =>
    sessionsOf(request).get(request, Number(params.session)).serve(request, body),
  "postgres.cancel": (request, { params }) => {
    sessionsOf(request).find(request, Number(params.session))?.cancel();
    return { bytes: NOTHING };
  },
  "postgres.listen": (request, { params }) => {
    const wire = sessionsOf(request).get(request, Number(params.session));
    const output = request.partition.part(FEED).subscriptions.output!;
    const channel = output.newChannel();
    output.began(request.id);
    output.joined(request.id, channel);
    output.listen(request.id, { left: () => undefined });
    wire.takePushes((bytes) => output.publish(channel, 0, bytes));
    return STREAMED;
  },
  "postgres.close": async (request, { params }) => {
    const sessions = sessionsOf(request);
    const number = Number(params.session);
    const wire = sessions.find(request, number);
    sessions.remove(request, number);
    await wire?.close(request);
    return { bytes: NOTHING };
  },
} satisfies Handlers;
