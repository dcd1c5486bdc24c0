/** The server's tools, resources and prompts, as the Model Context Protocol has them: JSON-RPC over HTTP. */
import { ConnectionError, errorOf } from "./errors.js";
import { eventsOf } from "./lines.js";
import type { CallOptions } from "./options.js";
import { newKey, type Transport } from "./transport.js";

/** A tool that a model can call. `inputSchema` is the JSON schema of its arguments. */
export interface McpTool {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** A piece of a tool's answer. */
export type McpContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  | { readonly type: "resource" | "resource_link"; readonly [name: string]: unknown };

/** What a tool answers. `isError`: it failed, and the content says why. */
export interface McpToolResult<S = Readonly<Record<string, unknown>>> {
  readonly content: readonly McpContent[];
  readonly structuredContent?: S;
  readonly isError?: boolean;
}

/** Something to read. */
export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** What a resource holds: text, or base64 in `blob`. */
export interface McpResourceContent {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
}

/** A prompt that the server keeps. */
export interface McpPrompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
}

/** A message of a prompt. */
export interface McpPromptMessage {
  readonly role: "user" | "assistant";
  readonly content: McpContent;
}

/** How far a call is. */
export interface McpProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Of a tool's call. */
export interface McpCallOptions extends CallOptions {
  /** Hears how far the call is. */
  readonly onProgress?: (progress: McpProgress) => void;
}

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly method?: string;
  readonly params?: unknown;
}

const PATH = "/v1/mcp";
const NOT_FOUND = -32_002;

/** `db.mcp`. */
export class Mcp {
  private lastId = 0;

  /** @internal */
  constructor(private readonly transport: Transport) {}

  /** The tools that the caller may use. */
  tools(options: CallOptions = {}): Promise<McpTool[]> {
    return this.pages("tools/list", "tools", options);
  }

  /**
   * Calls a tool. A tool that fails gives a result with `isError`; a call that cannot be made throws. `S`: the type of
   * `structuredContent`.
   */
  async call<S = Readonly<Record<string, unknown>>>(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    { signal, onProgress }: McpCallOptions = {},
  ): Promise<McpToolResult<S>> {
    const params = { name, arguments: args };
    if (onProgress === undefined) return this.ask("tools/call", params, { signal });
    const _meta = { progressToken: newKey() };
    return this.askAndHear("tools/call", { ...params, _meta }, onProgress, { signal });
  }

  /** What can be read. */
  resources(options: CallOptions = {}): Promise<McpResource[]> {
    return this.pages("resources/list", "resources", options);
  }

  /** Reads a resource. */
  async read(uri: string, options: CallOptions = {}): Promise<readonly McpResourceContent[]> {
    const read = await this.ask<{ contents: McpResourceContent[] }>("resources/read", { uri }, options);
    return read.contents;
  }

  /** The prompts that the server keeps. */
  prompts(options: CallOptions = {}): Promise<McpPrompt[]> {
    return this.pages("prompts/list", "prompts", options);
  }

  /** A prompt with its arguments filled in. */
  async prompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: CallOptions = {},
  ): Promise<readonly McpPromptMessage[]> {
    const params = { name, arguments: args };
    return (await this.ask<{ messages: McpPromptMessage[] }>("prompts/get", params, options)).messages;
  }

  private async pages<T>(method: string, member: string, options: CallOptions): Promise<T[]> {
    const all: T[] = [];
    let cursor: string | undefined;
    do {
      const params = cursor === undefined ? {} : { cursor };
      const page = await this.ask<Readonly<Record<string, unknown>>>(method, params, options);
      all.push(...(page[member] as T[]));
      cursor = page.nextCursor as string | undefined;
    } while (cursor !== undefined);
    return all;
  }

  private async ask<T>(method: string, params: object, { signal }: CallOptions): Promise<T> {
    const body = this.message(method, params);
    return resultOf<T>(await this.transport.ask<Answer>("POST", PATH, { body, signal, idempotencyKey: newKey() }));
  }

  /** The same with notifications before the answer. */
  private async askAndHear<T>(
    method: string,
    params: object,
    hear: (progress: McpProgress) => void,
    { signal }: CallOptions,
  ): Promise<T> {
    const accept = "application/json, text/event-stream";
    const response = await this.transport.open("POST", PATH, { body: this.message(method, params), signal, accept });
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
      return resultOf<T>((await response.json()) as Answer);
    }
    for await (const { data } of eventsOf(response)) {
      const message = JSON.parse(data) as Answer;
      if (message.method === "notifications/progress") hear(message.params as McpProgress);
      else if (message.method === undefined) return resultOf<T>(message);
    }
    throw new ConnectionError("The connection ended within the answer.");
  }

  private message(method: string, params: object): object {
    return { jsonrpc: "2.0", id: ++this.lastId, method, params };
  }
}

function resultOf<T>({ result, error }: Answer): T {
  if (error === undefined) return result as T;
  const { code, message, data } = error;
  const status = code === NOT_FOUND ? 404 : 400;
  throw errorOf(message, { code: "mcp_error", status, details: { mcp_code: code, data } });
}
