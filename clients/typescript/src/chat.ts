/** Chats with a language model, whole answers and growing ones. */
import { ConnectionError, errorOf } from "./errors.js";
import { eventsOf } from "./lines.js";
import type { CallOptions, WriteOptions } from "./options.js";
import { newKey, pathPart, type Transport } from "./transport.js";

/** A message to a chat; without `session` it begins one. */
export interface ChatMessage {
  readonly session?: string;
  readonly content: string;
  readonly model?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
}

/** An answer. */
export interface ChatAnswer {
  readonly content: string;
  readonly session_id: string;
  readonly finish_reason: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number };
  /** The passages that it rests on. */
  readonly citations?: readonly Citation[];
}

/** A passage of a collection. */
export interface Citation {
  readonly number: number;
  readonly collection: string;
  readonly id: string;
  readonly text: string;
  readonly cited: boolean;
}

/** A piece of a growing answer, and at last the whole. */
export type ChatEvent =
  | { readonly type: "delta"; readonly text: string }
  | { readonly type: "done"; readonly answer: ChatAnswer };

export class Chat {
  /** @internal */
  constructor(private readonly transport: Transport) {}

  /** Begins a chat over collections, or without; gives its id. */
  async begin(
    chat: { readonly title?: string; readonly collections?: readonly string[]; readonly systemPrompt?: string } = {},
    { signal, idempotencyKey = newKey() }: WriteOptions = {},
  ): Promise<string> {
    const { systemPrompt, ...rest } = chat;
    const body = { ...rest, ...(systemPrompt !== undefined && { system_prompt: systemPrompt }) };
    const sent = { body, signal, idempotencyKey };
    return (await this.transport.ask<{ session_id: string }>("POST", "/v1/ai/sessions", sent)).session_id;
  }

  /** Removes a chat with its messages. */
  async delete(session: string, { signal }: CallOptions = {}): Promise<void> {
    await this.transport.ask("DELETE", `/v1/ai/sessions/${pathPart(session)}`, { signal });
  }

  /** Sends a message; gives the whole answer. */
  send(message: ChatMessage, { signal, idempotencyKey = newKey() }: WriteOptions = {}): Promise<ChatAnswer> {
    return this.transport.ask("POST", "/v1/ai/chat", { body: bodyOf(message), signal, idempotencyKey });
  }

  /** Sends a message; gives its answer as it grows. Leaving the loop stops the answer. */
  async *stream(message: ChatMessage, { signal }: CallOptions = {}): AsyncGenerator<ChatEvent, void> {
    const sent = { body: bodyOf(message), signal, accept: "text/event-stream" };
    const response = await this.transport.open("POST", "/v1/ai/chat/stream", sent);
    for await (const { data } of eventsOf(response)) {
      if (data === "[DONE]") return;
      const { type, delta, error, ...answer } = JSON.parse(data);
      if (type === "error") throw errorOf(error.message, { ...error, status: 200 });
      if (type === "delta") yield { type, text: delta };
      else if (type === "done") yield { type, answer };
    }
    throw new ConnectionError("The connection ended within the answer.");
  }
}

function bodyOf({ session, maxTokens, ...rest }: ChatMessage): object {
  return {
    ...rest,
    ...(session !== undefined && { session_id: session }),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
  };
}
