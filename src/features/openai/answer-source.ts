/**
 * Who answers under a model's name: a chat model, a collection (an answer from its passages), or an agent. The names
 * are those of model-list.ts. Called by the routes of completions and responses; holds no state.
 */
import type { Request } from "../../actor/request.js";
import type { ChatEvent, ChatMessage, ChatRequest, Provider } from "../../ai/providers/provider.js";
import { DbError } from "../../protocol/errors.js";
import { findAgent, type NamedAgent, runNamedAgent } from "../agent/named-agents.js";
import type { Citation } from "../chat/chat-store.js";
import { findPassages, passagesMessage, questionWithPassages, withCitations } from "../chat/passages.js";
import { promptSpace, QUOTED_CHARACTERS_MAX, quotesPassages } from "../chat/prompt-space.js";
import { quotePassages } from "../chat/quote-passages.js";
import { writerOf } from "../generation/generate-texts.js";
import { AGENT, COLLECTION, collectionNamed } from "./model-list.js";

/** A request for an answer, whichever route it came by. */
export interface Asked {
  readonly model: string;
  /** System messages first. Not empty. */
  readonly messages: readonly ChatMessage[];
  readonly options: Omit<ChatRequest, "model" | "messages">;
  /** The field with the messages, for errors. */
  readonly field: "messages" | "input";
}

/** What an answer consists of. The passages that it rests on come once, before `done`. */
export type AnswerEvent = ChatEvent | { readonly kind: "citations"; readonly citations: readonly Citation[] };

/** Finds out who answers, and checks that it can, before anything of the answer is there. Throws model_not_found. */
export async function answerOf(request: Request, asked: Asked): Promise<AsyncIterable<AnswerEvent>> {
  const { model } = asked;
  if (model.startsWith(COLLECTION)) return fromCollection(request, asked, collectionNamed(request, model));
  if (model.startsWith(AGENT)) return fromAgent(request, asked, await agentNamed(request, model));
  const { provider, model: named } = chatModelOf(request, model);
  checkAbilities(asked, provider);
  return provider.chat(chatOf(asked, named, asked.messages), request.signal());
}

/** An installed model before one of that name at the provider. */
function chatModelOf({ tenant, partition, modelUser }: Request, name: string): ReturnType<typeof writerOf> {
  if (partition.models.kindOf(name) === "generation") {
    return { provider: partition.providers.native(modelUser, name), model: null };
  }
  return writerOf(tenant, modelUser, name);
}

function chatOf({ options }: Asked, model: string | null, messages: readonly ChatMessage[]): ChatRequest {
  return { ...(model !== null && { model }), messages, ...options };
}

/** Refuses what the model would not do, instead of leaving it out. */
function checkAbilities({ model, messages, options, field }: Asked, provider: Provider): void {
  const { tools = [], toolChoice, format } = options;
  const isNative = provider.name === "native";
  if (tools.length > 0 && toolChoice !== "none" && !provider.supportsTools) {
    throw unable(`The model "${model}" cannot call tools.`, "tools");
  }
  if (format !== undefined && isNative) {
    throw unable(`The model "${model}" cannot be held to JSON.`, field === "input" ? "text.format" : "response_format");
  }
  if (isNative && messages.some(({ images = [] }) => images.length > 0)) {
    throw unable(`The model "${model}" cannot see images.`, field);
  }
}

function unable(message: string, field: string): DbError {
  const hint = "Choose a provider whose models can: PUT /v1/ai/provider, or [query.ai_service].";
  return new DbError("invalid_request", message, { field, hint });
}

// Collections

async function fromCollection(request: Request, asked: Asked, collection: string): Promise<AsyncIterable<AnswerEvent>> {
  const { provider, model } = writerOf(request.tenant, request.modelUser, null);
  const question = lastOfUser(asked);
  if (quotesPassages(request, provider, model)) {
    // It calls no tools and writes no JSON either.
    checkAbilities(asked, provider);
    return quoted(request, question, collection);
  }
  checkAbilities(asked, provider);
  return written(request, asked, { provider, model, question, collection });
}

async function* quoted(request: Request, question: string, collection: string): AsyncGenerator<AnswerEvent> {
  const passages = await findPassages(request, [collection], question, QUOTED_CHARACTERS_MAX);
  const { text, citations } = await quotePassages(request, question, passages);
  yield { kind: "text", text };
  yield { kind: "citations", citations };
  yield { kind: "usage", inputTokens: 0, outputTokens: 0 };
  yield { kind: "done", reason: "stop" };
}

interface Retrieval {
  readonly provider: Provider;
  readonly model: string | null;
  readonly question: string;
  readonly collection: string;
}

async function* written(request: Request, asked: Asked, retrieval: Retrieval): AsyncGenerator<AnswerEvent> {
  const { provider, model, question, collection } = retrieval;
  const { passageCharacters } = promptSpace(request, provider, model, asked.options.maxTokens);
  const passages = await findPassages(request, [collection], question, passageCharacters);
  const messages = provider.name === "native" ? inQuestion(asked, passages) : inSystem(asked, passages);
  let text = "";
  for await (const event of provider.chat(chatOf(asked, model, messages), request.signal())) {
    if (event.kind === "text") text += event.text;
    if (event.kind === "done") yield { kind: "citations", citations: withCitations(passages, text) };
    yield event;
  }
}

function inSystem({ messages }: Asked, passages: readonly Citation[]): readonly ChatMessage[] {
  if (passages.length === 0) return messages;
  const system = messages.filter(({ role }) => role === "system");
  return [...system, passagesMessage(passages), ...messages.slice(system.length)];
}

function inQuestion({ messages }: Asked, passages: readonly Citation[]): readonly ChatMessage[] {
  const at = messages.findLastIndex(({ role }) => role === "user");
  return messages.map((message, i) =>
    i === at ? { ...message, content: questionWithPassages(passages, message.content) } : message,
  );
}

// Agents

async function agentNamed(request: Request, model: string): Promise<NamedAgent> {
  const name = model.slice(AGENT.length);
  const agent = await findAgent(request, name);
  if (agent !== null) return agent;
  throw new DbError("model_not_found", `There is no agent "${name}".`, {
    hint: "GET /v1/models lists the models. CREATE AGENT in SQL makes an agent.",
  });
}

function fromAgent(request: Request, asked: Asked, agent: NamedAgent): AsyncIterable<AnswerEvent> {
  const { options, field } = asked;
  if ((options.tools ?? []).length > 0 && options.toolChoice !== "none") {
    throw new DbError("invalid_request", `The agent "${agent.name}" has tools of its own. Send no "tools".`, {
      field: "tools",
    });
  }
  if (options.format !== undefined) {
    const format = field === "input" ? "text.format" : "response_format";
    throw new DbError("invalid_request", `The agent "${agent.name}" answers in text.`, { field: format });
  }
  return ranAgent(request, agent, asked);
}

async function* ranAgent(request: Request, agent: NamedAgent, asked: Asked): AsyncGenerator<AnswerEvent> {
  const { temperature, maxTokens } = asked.options;
  const system = asked.messages.filter(({ role }) => role === "system").map(({ content }) => content);
  const instructed = { ...agent, instructions: [agent.instructions, ...system].join("\n\n").trim() };
  const { text, inputTokens, outputTokens } = await runNamedAgent(request, instructed, taskOf(asked), {
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  });
  yield { kind: "text", text };
  yield { kind: "usage", inputTokens, outputTokens };
  yield { kind: "done", reason: "stop" };
}

/** The last message is the task. Earlier ones stand before it, since a run has no other place for them. */
function taskOf(asked: Asked): string {
  const task = lastOfUser(asked);
  const spoken = asked.messages.filter(({ role, content }) => role !== "system" && content !== "");
  const earlier = spoken.slice(
    0,
    spoken.findLastIndex(({ role }) => role === "user"),
  );
  if (earlier.length === 0) return task;
  const said = earlier.map(({ role, content }) => `${role}: ${content}`).join("\n");
  return `The conversation so far:\n${said}\n\nThe task now:\n${task}`;
}

function lastOfUser({ messages, model, field }: Asked): string {
  const content = messages.findLast(({ role }) => role === "user")?.content ?? "";
  if (content.trim() !== "") return content;
  throw new DbError("invalid_request", `The model "${model}" needs a message of the user with a text.`, { field });
}
