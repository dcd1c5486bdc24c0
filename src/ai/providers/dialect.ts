/**
 * A provider's wire format, by its own client library. <name>-dialect.ts exports one and needs no line elsewhere:
 * scripts/discover.mjs finds it, and its name is then one that the configuration and the routes accept. Called by
 * remote-provider.ts.
 */
import type { ChatEvent, ChatRequest, ToolCall } from "./provider.js";

/** What a dialect needs of one attempt. */
export interface Attempt {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey: string | null;
  readonly maxTokens: number;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** The library's errors pass; an answer that ends before it is whole throws BrokenAnswer. */
export type Speak = (request: ChatRequest, attempt: Attempt) => AsyncIterable<ChatEvent>;

export interface Dialect {
  /** Where the settings name none. */
  readonly baseUrl: string;
  /** Where the settings name none. */
  readonly model: string;
  /** It runs on the user's own machines: it needs no key, and its usual address is this machine. */
  readonly runsLocally: boolean;
  readonly speak: Speak;
}

/** The answer ended before its end, or cannot be read. */
export class BrokenAnswer extends Error {
  override readonly name = "BrokenAnswer";
}

/** Arguments of a tool call, which models send as a text of JSON. */
export function readArguments(text: string): Pick<ToolCall, "arguments" | "problem" | "sent"> {
  if (text.trim() === "") return { arguments: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { arguments: value as Record<string, unknown> };
    }
    return { arguments: {}, problem: "the arguments are no JSON object", sent: text };
  } catch (error) {
    return { arguments: {}, problem: `the arguments are not valid JSON: ${(error as Error).message}`, sent: text };
  }
}

/**
 * How a text is sampled, as OpenAI's interface and Ollama's name it. What was not asked for is left to the provider.
 */
export function samplingOf(request: ChatRequest) {
  const { temperature, topP, stop, seed, frequencyPenalty, presencePenalty } = request;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(stop !== undefined && stop.length > 0 && { stop: [...stop] }),
    ...(seed !== undefined && { seed }),
    ...(frequencyPenalty !== undefined && { frequency_penalty: frequencyPenalty }),
    ...(presencePenalty !== undefined && { presence_penalty: presencePenalty }),
  };
}
