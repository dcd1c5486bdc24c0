/**
 * A message to a session and its answer. A session runs one exchange at a time, others wait in the order they came; so
 * each sees the answers before it. Message and answer are stored together, when the answer has ended. A failed
 * exchange leaves no trace and can be sent again. If the client disconnects, the answer so far is stored. Called by
 * the handlers of chats; the queues belong to the tenant, as long as it is in memory.
 */

import type { Request } from "../../actor/request.js";
import type { ChatMessage, ChatRequest, DoneReason, Provider } from "../../ai/providers/provider.js";
import { DbError } from "../../protocol/errors.js";
import { sentName } from "../../protocol/sent-name.js";
import type { Client } from "../../session/statement-run.js";
import type { Tenant } from "../../session/tenant.js";
import { writerOf } from "../generation/generate-texts.js";
import { ownTogether } from "../statements/run-together.js";
import {
  type ChatSession,
  type Citation,
  findSession,
  insertExchange,
  insertSession,
  messagesOf,
  newId,
  type StoredMessage,
} from "./chat-store.js";
import { windowOf } from "./context-window.js";
import { findPassages, passagesMessage, questionWithPassages, withCitations } from "./passages.js";
import { promptSpace, QUOTED_CHARACTERS_MAX, quotesPassages } from "./prompt-space.js";
import { QUOTING, quotePassages } from "./quote-passages.js";

export interface MessageBody {
  readonly session_id: string;
  /** The session is made with the message. */
  readonly begins?: boolean;
  readonly model?: string | null;
  readonly content?: string;
  readonly message?: string;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly max_tokens?: number;
  readonly stop?: readonly string[];
  readonly seed?: number;
}

export interface Exchange {
  readonly session: ChatSession;
  readonly message: StoredMessage;
  readonly reason: DoneReason | "cancelled";
  readonly provider: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly citations: readonly Citation[];
  /** Number of earlier messages that did not fit into the prompt. */
  readonly dropped: number;
}

export interface ExchangeEvents {
  /** The prompt is made; the answer's message will have this id. */
  began?(messageId: string): void;
  /** A piece of the answer; waited for. */
  text?(text: string): void | Promise<void>;
  /** Commits what was written, once the exchange is whole. */
  commit(tx: Parameters<Request["commitPart"]>[0], exchange: Exchange): void;
}

/** Exchanges of one session that wait. */
const WAITING_MAX = 16;
/** Messages of a session that are read for a prompt. */
const HISTORY_MAX = 400;
const TITLE_CHARACTERS = 60;

/** Stores the rest of a request that was cancelled. */
const UNCANCELLED: Client = {
  checkpoint: () => undefined,
  shouldYield: () => false,
  yieldTurn: () => Promise.resolve(),
};

const queues = new WeakMap<Tenant, Map<string, { waiting: number; last: Promise<void> }>>();

/** A message as a client sends it: of a session, or of one that begins with it. */
export function messageOf(body: Omit<MessageBody, "session_id" | "begins"> & { session_id?: string }): MessageBody {
  const { session_id: id } = body;
  return id === undefined ? { ...body, session_id: newId("chat"), begins: true } : { ...body, session_id: id };
}

/** Throws not_found, invalid_request and what providers throw. */
export async function exchange(request: Request, body: MessageBody, events: ExchangeEvents): Promise<Exchange> {
  const content = contentOf(body);
  // Before it waits.
  if (body.begins !== true) await findSession(request, body.session_id);
  return inTurn(request, body.session_id, () => run(request, body, content, events));
}

function contentOf(body: MessageBody): string {
  const { content, message } = body;
  if (content !== undefined && message !== undefined) {
    throw new DbError("invalid_request", 'Send "content" or "message", not both.', { field: "message" });
  }
  const text = content ?? message;
  if (text === undefined || text.trim() === "") {
    const field = sentName(body, ["content", "message"]);
    throw new DbError("invalid_request", `${field}: must be a text that is not empty`, { field });
  }
  return text;
}

async function inTurn<T>({ tenant, signal }: Request, id: string, work: () => Promise<T>): Promise<T> {
  let ofTenant = queues.get(tenant);
  if (ofTenant === undefined) {
    ofTenant = new Map();
    queues.set(tenant, ofTenant);
  }
  const queue = ofTenant.get(id) ?? { waiting: 0, last: Promise.resolve() };
  ofTenant.set(id, queue);
  if (queue.waiting > WAITING_MAX) {
    throw new DbError("overloaded", "Too many messages are waiting in this session; retry shortly.", {
      retry_after_seconds: 2,
    });
  }
  queue.waiting++;
  const before = queue.last;
  let leave = () => {};
  queue.last = new Promise((resolve) => {
    leave = resolve;
  });
  try {
    await Promise.race([before, aborted(signal())]);
    return await work();
  } finally {
    // Who gives up waiting lets the next one in only after those before.
    void before.then(leave);
    if (--queue.waiting === 0) ofTenant.delete(id);
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

async function run(request: Request, body: MessageBody, content: string, events: ExchangeEvents): Promise<Exchange> {
  await request.yieldTurn();
  const session = body.begins === true ? newSession(body) : await findSession(request, body.session_id);
  const { provider, model } = writerOf(request.tenant, request.modelUser, body.model ?? session.model);
  const sentAt = new Date().toISOString();
  const id = newId("msg");
  const asked: Asked = { body, content, session, provider, model, began: () => events.began?.(id) };
  const quotes = quotesOnly(request, asked);
  const { answer, citations, ...how } = quotes
    ? await quoted(request, asked, events)
    : await written(request, asked, events);
  const { text, reason, inputTokens, outputTokens } = answer;
  const message: StoredMessage = {
    id,
    role: "assistant",
    content: text,
    createdAt: new Date().toISOString(),
    finishReason: reason,
    inputTokens,
    outputTokens,
    citations: citations.length === 0 ? null : citations,
  };
  const question = { ...NO_USAGE, id: newId("msg"), role: "user" as const, content, createdAt: sentAt };
  const said = { provider: provider.name, inputTokens, outputTokens };
  const done: Exchange = { session, message, reason, ...said, citations, ...how };
  await ownTogether(
    request,
    reason === "cancelled" ? UNCANCELLED : request,
    async (write) => {
      if (body.begins === true) await insertSession(write, request.head.userId, session);
      await insertExchange(write, session, [question, message], answer, session.title || titleOf(content));
      return done;
    },
    events.commit,
  );
  if (answer.failure !== null) throw answer.failure;
  return done;
}

/** As it is before its first message is stored. */
function newSession({ session_id: id, model = null }: MessageBody): ChatSession {
  const now = new Date().toISOString();
  const nothing = { title: "", systemPrompt: "", collections: [], messageCount: 0 };
  return { id, model, ...nothing, createdAt: now, updatedAt: now };
}

/** A message, and who answers it. */
interface Asked {
  readonly body: MessageBody;
  readonly content: string;
  readonly session: ChatSession;
  readonly provider: Provider;
  readonly model: string | null;
  /** The answer begins. */
  readonly began: () => void;
}

interface Answered extends Pick<Exchange, "model" | "citations" | "dropped"> {
  readonly answer: Answer;
}

function quotesOnly(request: Request, { provider, session, model }: Asked): boolean {
  return session.collections.length > 0 && quotesPassages(request, provider, model);
}

async function quoted(request: Request, { content, session, began }: Asked, events: ExchangeEvents): Promise<Answered> {
  const passages = await findPassages(request, session.collections, content, QUOTED_CHARACTERS_MAX);
  const { text, citations } = await quotePassages(request, content, passages);
  began();
  await events.text?.(text);
  const answer: Answer = { text, reason: "stop", inputTokens: 0, outputTokens: 0, failure: null };
  return { answer, model: QUOTING, citations, dropped: 0 };
}

async function written(request: Request, asked: Asked, events: ExchangeEvents): Promise<Answered> {
  const { body, content, session, provider, model } = asked;
  const { promptTokens, passageCharacters } = promptSpace(request, provider, model, body.max_tokens);
  const passages = await findPassages(request, session.collections, content, passageCharacters);
  const system: ChatMessage[] = session.systemPrompt === "" ? [] : [{ role: "system", content: session.systemPrompt }];
  const isBundled = provider.name === "native";
  if (passages.length > 0 && !isBundled) system.push(passagesMessage(passages));
  const asks = isBundled ? questionWithPassages(passages, content) : content;
  const earlier = body.begins === true ? [] : await messagesOf(request, session.id, HISTORY_MAX);
  const history = earlier.map(({ role, content }) => ({ role, content }));
  const { messages, dropped } = windowOf(system, history, { role: "user", content: asks }, promptTokens);
  const chat: ChatRequest = { ...(model !== null && { model }), messages, ...optionsOf(body) };
  asked.began();
  const answer = await generate(request, provider, chat, events);
  return {
    answer,
    model: model ?? provider.model,
    citations: withCitations(passages, answer.text),
    dropped: dropped + Math.max(0, session.messageCount - HISTORY_MAX),
  };
}

const NO_USAGE = { finishReason: null, inputTokens: null, outputTokens: null, citations: null };

interface Answer {
  readonly text: string;
  readonly reason: DoneReason | "cancelled";
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Why it ended early. */
  readonly failure: unknown;
}

/** What a failure leaves is thrown away, unless the client has left: then it is the answer so far. */
async function generate(
  request: Request,
  provider: Provider,
  asked: ChatRequest,
  events: ExchangeEvents,
): Promise<Answer> {
  let text = "";
  let usage = { inputTokens: 0, outputTokens: 0 };
  let reason: DoneReason = "stop";
  try {
    for await (const event of provider.chat(asked, request.signal())) {
      if (event.kind === "text") {
        text += event.text;
        await events.text?.(event.text);
      } else if (event.kind === "usage") usage = { inputTokens: event.inputTokens, outputTokens: event.outputTokens };
      else if (event.kind === "done") reason = event.reason;
    }
    return { text, reason, ...usage, failure: null };
  } catch (error) {
    const hasLeft = error instanceof DbError && error.code === "cancelled" && request.cancelled;
    if (!hasLeft || text === "") throw error;
    return { text, reason: "cancelled", ...usage, failure: error };
  }
}

function optionsOf({ temperature, top_p: topP, max_tokens: maxTokens, stop, seed }: MessageBody): Partial<ChatRequest> {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(stop !== undefined && { stop }),
    ...(seed !== undefined && { seed }),
  };
}

/** The beginning of the first message, up to a word's end. */
function titleOf(content: string): string {
  const line = content.trim().replaceAll(/\s+/g, " ");
  if (line.length <= TITLE_CHARACTERS) return line;
  const head = line.slice(0, TITLE_CHARACTERS);
  const end = head.lastIndexOf(" ");
  return `${end > TITLE_CHARACTERS / 2 ? head.slice(0, end) : head}…`;
}
