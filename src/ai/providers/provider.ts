/**
 * The contract of a provider of texts: a service over the network, or the bundled model. A caller that wants a text,
 * tool calls or a stream of both asks `TenantProviders` (session/tenant-providers.ts) for one. Holds no state.
 *
 *   for await (const event of provider.chat(request, signal)) …   text | tool_call …, usage, done
 */

/** A call of a tool, as a model asked for it. */
export interface ToolCall {
  /** The model's name for this call; the answer repeats it. */
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What is wrong with the arguments that the model sent: they were no JSON object; `arguments` is empty then. */
  readonly problem?: string;
  /** What it sent, where there is a problem. */
  readonly sent?: string;
}

/** A picture beside a message: of a form that all providers read. */
export interface ChatImage {
  readonly mediaType: "image/png" | "image/jpeg" | "image/webp" | "image/gif";
  readonly base64: string;
}

export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  /** Of a user; the model must be one that sees. */
  readonly images?: readonly ChatImage[];
  /** Of an assistant. */
  readonly toolCalls?: readonly ToolCall[];
  /** Of a tool: which call this answers. */
  readonly toolCallId?: string;
}

/** What a model may call. */
export interface ToolSpec {
  /** Letters, digits, _ and -. */
  readonly name: string;
  readonly description: string;
  /** JSON schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ChatRequest {
  /** The provider's own default when absent. */
  readonly model?: string;
  /** System messages stand first. */
  readonly messages: readonly ChatMessage[];
  readonly temperature?: number;
  readonly topP?: number;
  /** Of the answer. */
  readonly maxTokens?: number;
  /** The text ends before the first of these. */
  readonly stop?: readonly string[];
  /** Equal requests with equal seeds give equal texts, as far as the provider keeps that. */
  readonly seed?: number;
  readonly tools?: readonly ToolSpec[];
  /** Whether the model shall call a tool, and which. It decides by itself when this is absent. */
  readonly toolChoice?: ToolChoice;
  /** False: one call at a time. */
  readonly parallelToolCalls?: boolean;
  /** `json`: the text is one JSON value. */
  readonly format?: "json";
  /** The JSON value that `format` asks for is as this schema says, as far as the provider keeps that. */
  readonly schema?: JsonSchemaFormat;
  /** How much it thinks before it answers. Left out for providers whose interface lacks it, as are the three below. */
  readonly reasoningEffort?: string;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  /** By the model's own token. */
  readonly logitBias?: Readonly<Record<string, number>>;
}

export type ToolChoice = "none" | "required" | { readonly name: string };

export interface JsonSchemaFormat {
  /** Letters, digits, _ and -. */
  readonly name: string;
  readonly description?: string;
  readonly schema: Readonly<Record<string, unknown>>;
  /** The provider shall refuse a schema that it cannot keep. */
  readonly strict?: boolean;
}

export type DoneReason = "stop" | "length" | "tool_calls" | "refused";

export type ChatEvent =
  | { readonly kind: "text"; readonly text: string }
  | ({ readonly kind: "tool_call" } & ToolCall)
  | { readonly kind: "usage"; readonly inputTokens: number; readonly outputTokens: number }
  /** The last event of every answer that is whole. */
  | { readonly kind: "done"; readonly reason: DoneReason };

export interface Provider {
  /** "native", "openai", "anthropic" or "ollama". */
  readonly name: string;
  /** The model that is asked when a request names none. */
  readonly model: string;
  readonly supportsTools: boolean;
  /**
   * Asks the model. Events come as they are made; who leaves early, or fires the signal, ends the work. Throws DbError:
   * `provider_unavailable` (cannot be reached, too slow, at its limit; retried before), `provider_error` (it refused or
   * broke off), `overloaded` (too many wait here), the signal's reason.
   */
  chat(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent>;
}

/** A whole answer. */
export interface ChatReply {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly reason: DoneReason;
}

/** The events of an answer, put together; errors as `chat`. */
export async function wholeReply(events: AsyncIterable<ChatEvent>): Promise<ChatReply> {
  let text = "";
  const toolCalls: ToolCall[] = [];
  let usage = { inputTokens: 0, outputTokens: 0 };
  let reason: DoneReason = "stop";
  for await (const event of events) {
    switch (event.kind) {
      case "text":
        text += event.text;
        break;
      case "tool_call": {
        const { kind: _kind, ...call } = event;
        toolCalls.push(call);
        break;
      }
      case "usage":
        usage = { inputTokens: event.inputTokens, outputTokens: event.outputTokens };
        break;
      case "done":
        reason = event.reason;
        break;
    }
  }
  return { text, toolCalls, ...usage, reason };
}
