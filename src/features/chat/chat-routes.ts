/** /v1/ai/sessions and /v1/ai/chat: chats with a language model, whole answers and such that grow. */

import { rightsOfCaller } from "../../actor/caller-rights.js";
import type { Handlers } from "../../actor/handler.js";
import type { Request } from "../../actor/request.js";
import { usualPageOf } from "../../bodies/paging.js";
import type { Input, InputOf } from "../../bodies/validate.js";
import { permissionDenied } from "../../catalog/rights.js";
import type { ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import { writerOf } from "../generation/generate-texts.js";
import { ownTogether } from "../statements/run-together.js";
import { withDefinitions } from "../statements/with-definitions.js";
import {
  type ChatSession,
  deleteSession,
  findSession,
  hasSessions,
  insertSession,
  listSessions,
  newId,
  noSession,
  pageOfMessages,
  type StoredMessage,
} from "./chat-store.js";
import { type ChatFrames, ChatStream, eventFrames, messageFrames, shownExchange } from "./chat-stream.js";
import { exchange, type MessageBody, messageOf } from "./exchange.js";
import { refuseKept } from "./frame-stream.js";

export const chatHandlers = {
  "chat.sessions.create": createSession,
  "chat.sessions.list": async (request, { query }) => {
    const { limit, offset } = usualPageOf(query);
    const { sessions, total } = await listSessions(request, limit, offset);
    return { plain: { sessions: sessions.map(shownSession), total } };
  },
  "chat.sessions.get": async (request, { params }) => ({
    plain: shownSession(await findSession(request, params.id!)),
  }),
  "chat.sessions.delete": removeSession,
  "chat.sessions.messages": listMessages,
  "chat.send": sendMessage,
  "chat.stream": (request, { body }) => {
    const message = messageOf(body);
    return streamAnswer(request, message, eventFrames(message.session_id));
  },
  "socket.chat": (request, { body }) => {
    const { type: _type, id: _id, ...sent } = body;
    const message = messageOf(sent);
    return streamAnswer(
      request,
      message,
      messageFrames(request.head.params[0]!, message.session_id, request.wantsMsgpack),
    );
  },
} satisfies Handlers;

function shownSession({
  id,
  title,
  model,
  systemPrompt,
  collections,
  createdAt,
  updatedAt,
  messageCount,
}: ChatSession) {
  return {
    session_id: id,
    id,
    title,
    model,
    system_prompt: systemPrompt,
    collections,
    created_at: createdAt,
    updated_at: updatedAt,
    message_count: messageCount,
  };
}

function shownMessage({ id, role, content, createdAt, finishReason, citations }: StoredMessage) {
  return {
    id,
    role,
    content,
    created_at: createdAt,
    ...(finishReason !== null && { finish_reason: finishReason }),
    ...(citations !== null && { citations }),
  };
}

async function createSession(
  request: Request,
  { body }: InputOf<"chat.sessions.create">,
): Promise<Answer<ResponseOf<"chat.sessions.create">>> {
  const { title = "", model = null, system_prompt: systemPrompt, collections = [] } = body ?? {};
  if (model !== null) writerOf(request.tenant, request.modelUser, model);
  withDefinitions(request, (catalog) => {
    const rights = rightsOfCaller(request.head)(catalog);
    for (const name of collections as readonly string[]) {
      const table = catalog.table(null, name);
      if (table === null) {
        throw new DbError("not_found", `The collection "${name}" does not exist.`, { field: "collections" });
      }
      if (!rights.mayName(table)) throw permissionDenied("table", name);
    }
  });
  const now = new Date().toISOString();
  const id = newId("chat");
  const times = { createdAt: now, updatedAt: now };
  const session: ChatSession = {
    id,
    title,
    model,
    systemPrompt: systemPrompt ?? "",
    collections,
    messageCount: 0,
    ...times,
  };
  const answer: Answer<ResponseOf<"chat.sessions.create">> = { plain: shownSession(session) };
  await ownTogether(
    request,
    request,
    (run) => insertSession(run, request.head.userId, session),
    (tx) => request.commit(tx, answer),
  );
  return answer;
}

async function removeSession(request: Request, { params }: Input): Promise<Answer> {
  if (!hasSessions(request)) throw noSession(params.id!);
  await ownTogether(
    request,
    request,
    (run) => deleteSession(run, request.head.userId, params.id!),
    (tx) => request.commit(tx, {}),
  );
  return {};
}

async function listMessages(
  request: Request,
  { params, query }: InputOf<"chat.sessions.messages">,
): Promise<Answer<ResponseOf<"chat.sessions.messages">>> {
  const { messageCount } = await findSession(request, params.id!);
  const { limit, offset } = usualPageOf(query);
  const messages = await pageOfMessages(request, params.id!, limit, offset);
  return { plain: { messages: messages.map(shownMessage), total: messageCount } };
}

async function sendMessage(request: Request, { body }: InputOf<"chat.send">): Promise<Answer<ResponseOf<"chat.send">>> {
  let answer: Answer<ResponseOf<"chat.send">> = {};
  await exchange(request, messageOf(body), {
    commit: (tx, done) => {
      answer = { plain: shownExchange(done) };
      request.commit(tx, answer);
    },
  });
  return answer;
}

/** A message's answer as it grows, in those frames. */
export async function streamAnswer(request: Request, body: MessageBody, frames: ChatFrames): Promise<Answer> {
  refuseKept(request);
  const stream = new ChatStream(request, frames);
  try {
    const done = await exchange(request, body, {
      began: (messageId) => stream.began(messageId),
      text: (text) => stream.text(text),
      commit: (tx) => request.commitPart(tx),
    });
    await stream.end(done);
    return STREAMED;
  } finally {
    stream.close();
  }
}
