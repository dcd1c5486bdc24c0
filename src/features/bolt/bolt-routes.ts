/** What the server of Bolt asks of the actor that has the tenant. */
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import type { OpenOptions } from "./bolt-session.js";
import { BOLT_SESSIONS, type BoltSessions } from "./bolt-sessions.js";

const NOTHING = new Uint8Array(0);

const sessionsOf = ({ partition }: Request): BoltSessions => partition.part(BOLT_SESSIONS);

/** The session's number and what follows it. */
function read(body: Buffer): { readonly number: number; readonly rest: Buffer } {
  return { number: body.readUInt32LE(0), rest: body.subarray(4) };
}

function messagesIn(bytes: Buffer): readonly Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const from = at + 4;
    at = from + bytes.readUInt32LE(at);
    messages.push(bytes.subarray(from, at));
  }
  return messages;
}

export const boltHandlers = {
  "bolt.open": (request, { body }) => {
    const { number, rest } = read(body);
    sessionsOf(request).open(request, number, JSON.parse(rest.toString()) as OpenOptions);
    return { bytes: NOTHING };
  },
  "bolt.messages": (request, { body }) => {
    const { number, rest } = read(body);
    return sessionsOf(request).get(request, number).serve(request, messagesIn(rest));
  },
  "bolt.cancel": (request, { body }) => {
    const { number, rest } = read(body);
    sessionsOf(request).find(request, number)?.interrupt(rest.readUInt32LE(0));
    return { bytes: NOTHING };
  },
  "bolt.close": async (request, { body }) => {
    const sessions = sessionsOf(request);
    const { number } = read(body);
    const bolt = sessions.find(request, number);
    if (bolt === null) return { bytes: NOTHING };
    sessions.remove(request, number);
    await bolt.close(request);
    return { bytes: NOTHING };
  },
} satisfies Handlers;
