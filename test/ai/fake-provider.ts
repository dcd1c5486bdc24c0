/** A server on loopback that speaks the wire formats of language models' providers, as a test scripts it. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of three formats.
  readonly body: any;
  /** Resolves when the connection of the request closes before its answer is whole. */
  readonly gone: Promise<void>;
}

/** What is sent: texts as they are, numbers as waits in milliseconds. */
export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: readonly (string | number)[];
  /** The connection is cut instead of ended. */
  readonly cut?: boolean;
}

export type Script = (asked: Asked, number: number) => Reply | Promise<Reply>;

export class FakeProvider {
  readonly asked: Asked[] = [];
  underWay = 0;
  mostUnderWay = 0;

  private constructor(
    private readonly server: Server,
    public script: Script,
  ) {}

  static async start(script: Script): Promise<FakeProvider> {
    const server = createServer();
    const fake = new FakeProvider(server, script);
    server.on("request", (request, response) => {
      let text = "";
      request.on("data", (piece) => {
        text += piece;
      });
      request.on("end", () => {
        const gone = new Promise<void>((resolve) => {
          response.on("close", () => {
            if (!response.writableFinished) resolve();
          });
        });
        const { url = "", headers } = request;
        void fake.answer({ path: url, headers, body: text === "" ? null : JSON.parse(text), gone }, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Settings of a server that uses it. */
  settings(model: string): Record<string, string> {
    return {
      TESSERA_QUERY_AI_SERVICE_PROVIDER: "openai",
      TESSERA_QUERY_AI_SERVICE_BASE_URL: `${this.url}/v1`,
      TESSERA_QUERY_AI_SERVICE_MODEL: model,
    };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(asked: Asked, response: ServerResponse): Promise<void> {
    this.asked.push(asked);
    this.underWay++;
    this.mostUnderWay = Math.max(this.mostUnderWay, this.underWay);
    try {
      const { status = 200, headers = {}, pieces, cut = false } = await this.script(asked, this.asked.length);
      response.writeHead(status, { "content-type": "text/event-stream", ...headers });
      response.flushHeaders();
      for (const piece of pieces) {
        if (response.destroyed) return;
        if (typeof piece === "number") await untilGone(response, piece);
        else response.write(piece);
      }
      if (cut) {
        // What was written leaves first.
        await new Promise((resolve) => setTimeout(resolve, 20));
        response.socket?.destroy();
      } else response.end();
    } finally {
      this.underWay--;
    }
  }
}

/** Waits so many milliseconds, or until the client is gone. */
async function untilGone(response: ServerResponse, ms: number): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  await sleep(ms, undefined, { signal: gone.signal }).catch(() => {});
}

/** What an answer holds, whatever the format: texts, and calls of tools whose arguments come in pieces. */
export type Part = string | { readonly call: string; readonly id?: string; readonly json: readonly string[] };

export type Format = (parts: readonly Part[], end?: string) => string[];

const sse = (data: unknown, event?: string) =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;

export const openaiPieces: Format = (parts, end = "stop") => {
  const chunk = (delta: object, finish: string | null = null) =>
    sse({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] });
  const pieces = [chunk({ role: "assistant", content: "" })];
  let index = 0;
  for (const part of parts) {
    if (typeof part === "string") pieces.push(chunk({ content: part }));
    else {
      const head = {
        index,
        id: part.id ?? `call_${index}`,
        type: "function",
        function: { name: part.call, arguments: "" },
      };
      pieces.push(chunk({ tool_calls: [head] }));
      for (const json of part.json) pieces.push(chunk({ tool_calls: [{ index, function: { arguments: json } }] }));
      index++;
    }
  }
  pieces.push(chunk({}, index > 0 ? "tool_calls" : end));
  pieces.push(sse({ id: "c", choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } }));
  pieces.push("data: [DONE]\n\n");
  return pieces;
};

export const anthropicPieces: Format = (parts, end = "end_turn") => {
  const pieces = [
    sse(
      { type: "message_start", message: { id: "m", role: "assistant", content: [], usage: { input_tokens: 11 } } },
      "message_start",
    ),
    sse({ type: "ping" }, "ping"),
  ];
  parts.forEach((part, index) => {
    const block =
      typeof part === "string"
        ? { type: "text", text: "" }
        : { type: "tool_use", id: part.id ?? `toolu_${index}`, name: part.call, input: {} };
    pieces.push(sse({ type: "content_block_start", index, content_block: block }, "content_block_start"));
    const deltas =
      typeof part === "string"
        ? [{ type: "text_delta", text: part }]
        : part.json.map((json) => ({ type: "input_json_delta", partial_json: json }));
    for (const delta of deltas) pieces.push(sse({ type: "content_block_delta", index, delta }, "content_block_delta"));
    pieces.push(sse({ type: "content_block_stop", index }, "content_block_stop"));
  });
  const called = parts.some((part) => typeof part !== "string");
  const ending = { stop_reason: called ? "tool_use" : end, stop_sequence: null };
  pieces.push(sse({ type: "message_delta", delta: ending, usage: { output_tokens: 7 } }, "message_delta"));
  pieces.push(sse({ type: "message_stop" }, "message_stop"));
  return pieces;
};

export const ollamaPieces: Format = (parts, end = "stop") => {
  const line = (value: object) => `${JSON.stringify({ model: "m", created_at: "2026-01-01T00:00:00Z", ...value })}\n`;
  const pieces = parts.map((part) => {
    if (typeof part === "string") return line({ message: { role: "assistant", content: part }, done: false });
    const call = { function: { name: part.call, arguments: JSON.parse(part.json.join("") || "{}") } };
    return line({ message: { role: "assistant", content: "", tool_calls: [call] }, done: false });
  });
  const message = { role: "assistant", content: "" };
  pieces.push(line({ message, done: true, done_reason: end, prompt_eval_count: 11, eval_count: 7 }));
  return pieces;
};
