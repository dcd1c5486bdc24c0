/**
 * Chat completions of OpenAI, which many servers speak (vLLM, llama.cpp, LiteLLM, Azure, …), by OpenAI's own library.
 * Called by remote-provider.ts; the library is loaded by the first request.
 */
import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type { ReasoningEffort } from "openai/resources/shared";
import { type Attempt, BrokenAnswer, type Dialect, readArguments, samplingOf } from "./dialect.js";
import type { ChatEvent, ChatMessage, ChatRequest, DoneReason } from "./provider.js";

const USUAL_URL = "https://api.openai.com/v1";

export const OPENAI: Dialect = { baseUrl: USUAL_URL, model: "gpt-5-mini", runsLocally: false, speak };

interface CallInPieces {
  id: string;
  name: string;
  json: string;
}

async function* speak(request: ChatRequest, attempt: Attempt): AsyncGenerator<ChatEvent> {
  const { OpenAI } = await import("openai");
  const client = new OpenAI({
    apiKey: attempt.apiKey ?? "none",
    baseURL: attempt.baseUrl,
    fetch: attempt.fetch,
    organization: null,
    project: null,
    maxRetries: 0,
    logLevel: "off",
  });
  const stream = await client.chat.completions.create(bodyOf(request, attempt), { signal: attempt.signal });
  const calls = new Map<number, CallInPieces>();
  let ending: string | null = null;
  for await (const { choices, usage } of stream) {
    const [choice] = choices ?? [];
    const text = choice?.delta?.content;
    if (typeof text === "string" && text !== "") yield { kind: "text", text };
    for (const piece of choice?.delta?.tool_calls ?? []) {
      const index = piece.index ?? calls.size;
      const call = calls.get(index) ?? { id: "", name: "", json: "" };
      calls.set(index, call);
      call.id ||= piece.id ?? "";
      call.name += piece.function?.name ?? "";
      call.json += piece.function?.arguments ?? "";
    }
    ending = choice?.finish_reason ?? ending;
    if (usage) yield { kind: "usage", inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
  }
  if (ending === null) throw new BrokenAnswer("the stream ended without a finish_reason");
  for (const [index, { id, name, json }] of calls) {
    yield { kind: "tool_call", id: id || `call_${index}`, name, ...readArguments(json) };
  }
  yield { kind: "done", reason: calls.size > 0 ? "tool_calls" : reasonOf(ending) };
}

function bodyOf(request: ChatRequest, { model, maxTokens, baseUrl }: Attempt): ChatCompletionCreateParamsStreaming {
  const { messages, tools = [], parallelToolCalls, logitBias, reasoningEffort } = request;
  const format = formatOf(request);
  return {
    model: request.model ?? model,
    messages: messages.map(messageOf),
    stream: true,
    stream_options: { include_usage: true },
    // OpenAI's newer models refuse the older name, other servers do not know the newer.
    ...(baseUrl === USUAL_URL ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }),
    ...samplingOf(request),
    ...(logitBias !== undefined && { logit_bias: logitBias }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort as ReasoningEffort }),
    ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: "function" as const, function: { ...tool } })) }),
    ...(tools.length > 0 && choiceOf(request)),
    ...(tools.length > 0 && parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    ...(format !== null && { response_format: format }),
  };
}

function choiceOf({ toolChoice }: ChatRequest): Pick<ChatCompletionCreateParamsStreaming, "tool_choice"> {
  if (toolChoice === undefined || typeof toolChoice === "string")
    return toolChoice === undefined ? {} : { tool_choice: toolChoice };
  return { tool_choice: { type: "function", function: { name: toolChoice.name } } };
}

function formatOf({
  format,
  schema: wanted,
}: ChatRequest): ChatCompletionCreateParamsStreaming["response_format"] | null {
  if (wanted === undefined) return format === "json" ? { type: "json_object" } : null;
  const { name, description, schema, strict } = wanted;
  const more = { ...(description !== undefined && { description }), ...(strict !== undefined && { strict }) };
  return { type: "json_schema", json_schema: { name, schema: { ...schema }, ...more } };
}

function messageOf(message: ChatMessage): ChatCompletionMessageParam {
  const { role, content, images = [], toolCalls = [], toolCallId = "" } = message;
  if (role === "user" && images.length > 0) {
    const pictures = images.map(({ mediaType, base64 }) => ({
      type: "image_url" as const,
      image_url: { url: `data:${mediaType};base64,${base64}` },
    }));
    return { role, content: [{ type: "text", text: content }, ...pictures] };
  }
  if (role === "tool") return { role, content, tool_call_id: toolCallId };
  if (role !== "assistant" || toolCalls.length === 0) return { role, content };
  const calls = toolCalls.map(({ id, name, arguments: args }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { role, content, tool_calls: calls };
}

function reasonOf(ending: string): DoneReason {
  if (ending === "length") return "length";
  return ending === "content_filter" ? "refused" : "stop";
}
