/** Ollama's chat, by Ollama's own library. Called by remote-provider.ts; the library is loaded by the first request. */
import type { Message, ChatRequest as OllamaRequest, Tool } from "ollama/browser";
import { type Attempt, BrokenAnswer, type Dialect, readArguments, samplingOf } from "./dialect.js";
import type { ChatEvent, ChatMessage, ChatRequest } from "./provider.js";

export const OLLAMA: Dialect = { baseUrl: "http://127.0.0.1:11434", model: "llama3.2", runsLocally: true, speak };

async function* speak(request: ChatRequest, attempt: Attempt): AsyncGenerator<ChatEvent> {
  // The other entry of the package also reads files and takes its address from the environment.
  const { Ollama } = await import("ollama/browser");
  const { apiKey, baseUrl: host, fetch } = attempt;
  const headers = apiKey === null ? {} : { headers: { Authorization: `Bearer ${apiKey}` } };
  const client = new Ollama({ host, fetch, ...headers });
  const stream = await client.chat({ ...bodyOf(request, attempt), stream: true });
  let calls = 0;
  let ended = false;
  for await (const { message, done, done_reason, prompt_eval_count, eval_count } of stream) {
    if (message?.content) yield { kind: "text", text: message.content };
    for (const call of message?.tool_calls ?? []) {
      const { name, arguments: given } = call.function;
      const read = readArguments(typeof given === "string" ? given : JSON.stringify(given ?? {}));
      yield { kind: "tool_call", id: `call_${calls++}`, name, ...read };
    }
    if (!done) continue;
    ended = true;
    yield { kind: "usage", inputTokens: prompt_eval_count ?? 0, outputTokens: eval_count ?? 0 };
    const reason = calls > 0 ? "tool_calls" : done_reason === "length" ? "length" : "stop";
    yield { kind: "done", reason };
  }
  if (!ended) throw new BrokenAnswer("the stream ended without done");
}

function bodyOf(request: ChatRequest, { model, maxTokens }: Attempt): OllamaRequest {
  const { messages, tools, toolChoice, format, schema } = request;
  // This interface has no choice of tools beside having none.
  const offered = toolChoice === "none" ? [] : (tools ?? []);
  return {
    model: request.model ?? model,
    messages: messages.map((message) => messageOf(message, messages)),
    options: {
      num_predict: maxTokens,
      ...samplingOf(request),
    },
    ...(offered.length > 0 && {
      tools: offered.map((tool) => ({ type: "function", function: { ...tool } }) as Tool),
    }),
    ...(format === "json" && { format: schema?.schema ?? "json" }),
  };
}

/** An answer of a tool names the tool, not the call. */
function messageOf(message: ChatMessage, all: readonly ChatMessage[]): Message {
  const { role, content, images = [], toolCalls = [], toolCallId } = message;
  if (images.length > 0) return { role, content, images: images.map(({ base64 }) => base64) };
  if (role === "tool") {
    const call = all.flatMap((message) => message.toolCalls ?? []).findLast(({ id }) => id === toolCallId);
    return { role, content, ...(call !== undefined && { tool_name: call.name }) };
  }
  if (toolCalls.length === 0) return { role, content };
  const calls = toolCalls.map(({ name, arguments: args }) => ({ function: { name, arguments: { ...args } } }));
  return { role, content, tool_calls: calls };
}
