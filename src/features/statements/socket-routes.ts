/** WebSocket messages that run statements and transactions. */

import type { Handlers } from "../../actor/handler.js";
import { messageBytes } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import { messageRows } from "./message-rows.js";
import { executeStreamed } from "./run-body.js";
import {
  beginTransaction,
  commitTransaction,
  executeInTransaction,
  rollbackTransaction,
} from "./transaction-routes.js";

/** An answer as one message. */
async function said(request: Request, type: string, { plain }: Answer): Promise<Answer> {
  const sink = await request.openReply("application/json", []);
  const { warnings } = request;
  const told = warnings.length === 0 ? plain : { ...(plain as object), warnings };
  const fields = JSON.stringify(told).slice(1).replace('"id":', '"transaction":');
  sink.end(messageBytes(request, `{"type":"${type}","id":${request.head.params[0]!},${fields}`));
  return STREAMED;
}

export const socketHandlers = {
  // The gateway puts the request's id where other endpoints have their first path variable.
  "socket.query": (request, { body: sent }) => {
    // It is a stream: it has all rows, as slowly as its client reads them.
    const body = { ...sent, max_rows: sent.max_rows ?? Number.MAX_SAFE_INTEGER };
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
} satisfies Handlers;
