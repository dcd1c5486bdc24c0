/** Chats: sessions, their messages, and answers, as a whole or streamed. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { CHAT_CHARACTERS_MAX, CHAT_COLLECTIONS_MAX, CHAT_TITLE_CHARACTERS_MAX, LIST_PAGE_MAX } from "../limits.js";
import { CollectionName, Nullable, otherDatabase, PageQuery, Strict, Timestamp } from "./schemas.js";

const ChatSession = Type.Object({
  session_id: Type.String(),
  id: Type.String(),
  title: Type.String({ description: "Taken from the first message unless it was sent." }),
  model: Nullable(Type.String()),
  system_prompt: Type.String(),
  collections: Type.Array(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
  message_count: Type.Integer(),
});

const Citation = Type.Object({
  number: Type.Integer({ description: "The passage's number in the prompt. The answer cites it as [number]." }),
  collection: Type.String(),
  id: Type.String(),
  score: Nullable(Type.Number()),
  file: Type.Optional(Type.String({ description: "For a passage of a file: its path in the folder." })),
  title: Type.Optional(Type.String()),
  heading: Type.Optional(Type.String()),
  page: Type.Optional(Type.Integer()),
  text: Type.String(),
  cited: Type.Boolean({ description: "True if the answer cites its number." }),
  start: Type.Optional(
    Type.Integer({ description: "Start of the quoted sentence in `text`, in UTF-16 code units; it ends at `end`." }),
  ),
  end: Type.Optional(Type.Integer()),
});

const Message = Type.Object({
  id: Type.String(),
  role: Type.Enum(["user", "assistant"]),
  content: Type.String(),
  created_at: Timestamp,
  finish_reason: Type.Optional(
    Type.String({ description: "stop, length, refused, or cancelled (the client disconnected)." }),
  ),
  citations: Type.Optional(Type.Array(Citation)),
});

const SessionId = Type.Object({ id: Type.String({ minLength: 1, maxLength: 100 }) });

const content = Type.Optional(
  Type.String({ maxLength: CHAT_CHARACTERS_MAX, description: "The message. `message` is another name for it." }),
);

/** Of a message that wants an answer. */
export const chatBody = {
  session_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: "The chat's id. Without it, the message begins a chat." }),
  ),
  content,
  message: content,
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  top_p: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  stop: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 4 })),
  seed: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  model: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: 200,
        description: "The model for this message, instead of the chat's model.",
      }),
    ),
  ),
  ...otherDatabase,
};

const ChatAnswer = Type.Object({
  message: Message,
  content: Type.String(),
  session_id: Type.String(),
  usage: Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer(), total_tokens: Type.Integer() }),
  finish_reason: Type.String(),
  provider: Type.String(),
  model: Type.String(),
  citations: Type.Optional(Type.Array(Citation)),
  messages_dropped: Type.Optional(
    Type.Integer({ description: "Number of earlier messages that did not fit into the prompt." }),
  ),
});

export const chatEndpoints = [
  {
    name: "chat.sessions.create",
    door: "statements",
    method: "POST",
    path: "/v1/ai/sessions",
    summary: "Begin a chat. With collections, their passages are put into each prompt and cited in the answers.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    body: Strict({
      title: Type.Optional(Type.String({ maxLength: CHAT_TITLE_CHARACTERS_MAX })),
      model: Type.Optional(
        Nullable(
          Type.String({
            minLength: 1,
            maxLength: 200,
            description: '"native" is the bundled model. Default: the configured provider, else the bundled model.',
          }),
        ),
      ),
      system_prompt: Type.Optional(Nullable(Type.String({ maxLength: CHAT_CHARACTERS_MAX }))),
      collections: Type.Optional(Type.Array(CollectionName, { maxItems: CHAT_COLLECTIONS_MAX })),
      ...otherDatabase,
    }),
    bodyOptional: true,
    example: { body: { title: "Questions about articles", collections: ["article"] } },
    response: ChatSession,
    status: 201,
    flat: true,
  },
  {
    name: "chat.sessions.list",
    door: "statements",
    method: "GET",
    path: "/v1/ai/sessions",
    summary: "The caller's chats, most recently used first.",
    tag: "ai",
    access: "member",
    home: "tenant",
    pages: { items: "sessions", total: "total", most: LIST_PAGE_MAX },
    query: Type.Object(PageQuery),
    response: Type.Object({ sessions: Type.Array(ChatSession), total: Type.Integer() }),
    flat: true,
  },
  {
    name: "chat.sessions.get",
    door: "statements",
    method: "GET",
    path: "/v1/ai/sessions/{id}",
    summary: "One chat.",
    tag: "ai",
    access: "member",
    home: "tenant",
    params: SessionId,
    response: ChatSession,
    flat: true,
  },
  {
    name: "chat.sessions.delete",
    door: "statements",
    method: "DELETE",
    path: "/v1/ai/sessions/{id}",
    summary: "Removes a chat with its messages.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    params: SessionId,
    status: 204,
  },
  {
    name: "chat.sessions.messages",
    door: "statements",
    method: "GET",
    path: "/v1/ai/sessions/{id}/messages",
    summary: "A chat's messages, oldest first.",
    tag: "ai",
    access: "member",
    home: "tenant",
    params: SessionId,
    pages: { items: "messages", total: "total", most: LIST_PAGE_MAX },
    query: Type.Object(PageQuery),
    response: Type.Object({ messages: Type.Array(Message), total: Type.Integer() }),
  },
  {
    name: "chat.send",
    door: "statements",
    method: "POST",
    path: "/v1/ai/chat",
    summary:
      "Send a message to a chat, or begin a chat with it, and get the whole answer. Both are stored when the answer is complete.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    body: Strict(chatBody),
    example: { body: { message: "Which article is about boats?", max_tokens: 32 } },
    response: ChatAnswer,
  },
  {
    name: "chat.stream",
    door: "statements",
    method: "POST",
    path: "/v1/ai/chat/stream",
    summary:
      "The same with a streamed answer: frames `data: {type, delta}`, a last frame with done, content and usage, then `data: [DONE]`. If the client disconnects, the answer stops.",
    tag: "ai",
    access: "writer",
    home: "tenant",
    body: Strict(chatBody),
    streamedReply: ["text/event-stream"],
    example: { body: { message: "Which article is about boats?", max_tokens: 32 } },
  },
] as const satisfies readonly EndpointSpec[];
