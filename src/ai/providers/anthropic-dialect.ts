/**
 * Anthropic's messages, by Anthropic's own library. Called by remote-provider.ts; the library is loaded by the first
 * request.
 */
import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  MessageParam,
} from "@anthropic-ai/sdk/resources/messages";
import { type Attempt, BrokenAnswer, type Dialect, readArguments } from "./dialect.js";
import type { ChatEvent, ChatMessage, ChatRequest, DoneReason } from "./provider.js";

export const ANTHROPIC: Dialect = {
  baseUrl: "https://api.anthropic.com",
  model: "claude-haiku-4-5",
  runsLocally: false,
  speak,
};

interface CallInPieces {
  readonly id: string;
  readonly name: string;
  json: string;
}

async function* speak(request: ChatRequest, attempt: Attempt): AsyncGenerator<ChatEvent> {
  const { Anthropic } = await import("@anthropic-ai/sdk");
  const client = new Anthropic({
    apiKey: attempt.apiKey ?? "none",
    authToken: null,
    baseURL: attempt.baseUrl,
    fetch: attempt.fetch,
    maxRetries: 0,
    logLevel: "off",
  });
  const stream = await client.messages.create(bodyOf(request, attempt), { signal: attempt.signal });
  const calls = new Map<number, CallInPieces>();
  let [inputTokens, outputTokens] = [0, 0];
  let reason: string | null = null;
  let ended = false;
  for await (const event of stream) {
    if (event.type === "message_start") inputTokens = event.message.usage.input_tokens;
    else if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
      const { id, name, input } = event.content_block;
      // In pieces it comes later; whole only from servers that do not stream it.
      const whole = input !== null && typeof input === "object" && Object.keys(input).length > 0;
      calls.set(event.index, { id, name, json: whole ? JSON.stringify(input) : "" });
    } else if (event.type === "content_block_delta" && event.delta.type === "text_delta") {
      if (event.delta.text !== "") yield { kind: "text", text: event.delta.text };
    } else if (event.type === "content_block_delta" && event.delta.type === "input_json_delta") {
      const call = calls.get(event.index);
      if (call !== undefined) call.json += event.delta.partial_json;
    } else if (event.type === "message_delta") {
      outputTokens = event.usage.output_tokens;
      reason = event.delta.stop_reason;
    } else if (event.type === "message_stop") ended = true;
  }
  if (!ended) throw new BrokenAnswer("the stream ended without message_stop");
  for (const { id, name, json } of calls.values()) yield { kind: "tool_call", id, name, ...readArguments(json) };
  yield { kind: "usage", inputTokens, outputTokens };
  yield { kind: "done", reason: calls.size > 0 ? "tool_calls" : reasonOf(reason) };
}

const JSON_ONLY = "Answer with one JSON value and nothing else.";

/** There is no seed in this interface; it is left out. */
function bodyOf(request: ChatRequest, { model, maxTokens }: Attempt): MessageCreateParamsStreaming {
  const { messages, temperature, topP, stop, tools, format, schema } = request;
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => content);
  if (format === "json") system.push(JSON_ONLY);
  if (schema !== undefined) system.push(`It is valid by this JSON Schema: ${JSON.stringify(schema.schema)}`);
  return {
    model: request.model ?? model,
    max_tokens: maxTokens,
    stream: true,
    messages: turnsOf(messages.filter(({ role }) => role !== "system")),
    ...(system.length > 0 && { system: system.join("\n\n") }),
    ...(temperature !== undefined && { temperature: Math.min(1, temperature) }),
    ...(topP !== undefined && { top_p: topP }),
    ...(stop !== undefined && stop.length > 0 && { stop_sequences: [...stop] }),
    ...(tools !== undefined &&
      tools.length > 0 && {
        tools: tools.map(({ name, description, parameters }) => ({
          name,
          description,
          input_schema: { type: "object" as const, ...parameters },
        })),
        ...choiceOf(request),
      }),
  };
}

function choiceOf({ toolChoice, parallelToolCalls }: ChatRequest): Pick<MessageCreateParamsStreaming, "tool_choice"> {
  if (toolChoice === "none") return { tool_choice: { type: "none" } };
  if (toolChoice === undefined && parallelToolCalls === undefined) return {};
  const one = parallelToolCalls === undefined ? {} : { disable_parallel_tool_use: !parallelToolCalls };
  if (typeof toolChoice === "object") return { tool_choice: { type: "tool", name: toolChoice.name, ...one } };
  return { tool_choice: { type: toolChoice === "required" ? "any" : "auto", ...one } };
}

/** User and assistant in turns, as the interface wants it: neighbours of one role become one message. */
function turnsOf(messages: readonly ChatMessage[]): MessageParam[] {
  const turns: { role: "user" | "assistant"; content: ContentBlockParam[] }[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const blocks = blocksOf(message);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) turns.push({ role, content: blocks });
  }
  return turns;
}

function blocksOf({ role, content, images = [], toolCalls = [], toolCallId = "" }: ChatMessage): ContentBlockParam[] {
  if (role === "tool") return [{ type: "tool_result", tool_use_id: toolCallId, content }];
  const text: ContentBlockParam[] = content.trim() === "" ? [] : [{ type: "text", text: content }];
  return [
    ...images.map(({ mediaType, base64: data }) => ({
      type: "image" as const,
      source: { type: "base64" as const, media_type: mediaType, data },
    })),
    ...text,
    ...toolCalls.map(({ id, name, arguments: input }) => ({ type: "tool_use" as const, id, name, input })),
  ];
}

function reasonOf(reason: string | null): DoneReason {
  if (reason === "max_tokens" || reason === "model_context_window_exceeded") return "length";
  return reason === "refusal" ? "refused" : "stop";
}
