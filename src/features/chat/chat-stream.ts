/**
 * An answer as it grows: as server-sent events (every frame begins with `data:`), or as messages on a WebSocket. The reply
 * is opened by the first piece, or by a sign of life when that takes long; what fails before is an error like any other.
 * Made by the handlers of chats, one per answer.
 */
import { packedMessage } from "../../actor/reply.js";
import type { ReplySink } from "../../actor/reply-sink.js";
import type { Request } from "../../actor/request.js";
import type { Exchange } from "./exchange.js";

type Frame = string | Uint8Array;

/** The forms of what is sent. */
export interface ChatFrames {
  readonly contentType: string;
  /** Kept apart from answers: nothing happens, but the connection is alive. Null: there is none. */
  readonly heartbeat: string | null;
  delta(messageId: string, text: string): Frame;
  end(exchange: Exchange): readonly Frame[];
  error(errorJson: string): Frame;
}

const HEARTBEAT_MS = 10_000;

export class ChatStream {
  private sink: Promise<ReplySink> | null = null;
  private messageId = "";
  private beats: NodeJS.Timeout | null = null;
  private saidMs = performance.now();

  constructor(
    private readonly request: Request,
    private readonly frames: ChatFrames,
  ) {
    const { heartbeat } = frames;
    if (heartbeat === null) return;
    this.beats = setInterval(() => {
      if (performance.now() - this.saidMs < HEARTBEAT_MS) return;
      // A client that has gone is noticed by whoever waits for the answer.
      this.write(heartbeat).catch(() => undefined);
    }, HEARTBEAT_MS / 2).unref();
  }

  began(messageId: string): void {
    this.messageId = messageId;
  }

  /** Rejects when the client has gone. */
  text(text: string): Promise<void> {
    return this.write(this.frames.delta(this.messageId, text));
  }

  async end(exchange: Exchange): Promise<void> {
    // The answer is not said to be whole before it is on disk.
    await this.request.durable();
    for (const frame of this.frames.end(exchange)) await this.write(frame);
    (await this.opened()).end();
  }

  close(): void {
    if (this.beats !== null) clearInterval(this.beats);
  }

  private async write(frame: Frame): Promise<void> {
    this.saidMs = performance.now();
    await (await this.opened()).write(typeof frame === "string" ? Buffer.from(frame) : frame);
  }

  private opened(): Promise<ReplySink> {
    this.sink ??= this.open();
    return this.sink;
  }

  private async open(): Promise<ReplySink> {
    const { contentType, error } = this.frames;
    const sink = await this.request.openReply(contentType, [
      "Cache-Control: no-cache, no-transform",
      "X-Accel-Buffering: no",
    ]);
    sink.errorText = (errorJson) => error(errorJson);
    return sink;
  }
}

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const DONE = "data: [DONE]\n\n";

export function eventFrames(sessionId: string): ChatFrames {
  return {
    contentType: "text/event-stream; charset=utf-8",
    heartbeat: ": heartbeat\n\n",
    delta: (message_id, delta) => data({ type: "delta", delta, message_id, session_id: sessionId }),
    end: (exchange) => [data({ type: "done", done: true, delta: "", ...shownExchange(exchange) }), DONE],
    error: (errorJson) => `${data({ type: "error", done: true, ...JSON.parse(errorJson) })}${DONE}`,
  };
}

/** `id` is JSON: the client's name for its message. `packed`: it wants MessagePack. */
export function messageFrames(id: string, sessionId: string, packed: boolean): ChatFrames {
  const written = (json: string) => (packed ? packedMessage(json) : Buffer.from(json));
  const message = (type: string, fields: object) =>
    written(`{"type":"${type}","id":${id},${JSON.stringify(fields).slice(1)}`);
  return {
    contentType: "application/json",
    heartbeat: null,
    delta: (message_id, chunk) => message("message_chunk", { message_id, session_id: sessionId, chunk }),
    end: (exchange) => {
      const { message: stored, content, ...rest } = shownExchange(exchange);
      const ids = { message_id: stored.id, session_id: sessionId };
      return [message("message_complete", { ...ids, full_message: content, message: stored, ...rest })];
    },
    error: written,
  };
}

/** An exchange as clients read it. */
export function shownExchange(exchange: Exchange) {
  const { message, reason, provider, model, inputTokens, outputTokens, citations, dropped, session } = exchange;
  const { id, role, content, createdAt } = message;
  return {
    message: { id, role, content, created_at: createdAt },
    content,
    session_id: session.id,
    usage: { input_tokens: inputTokens, output_tokens: outputTokens, total_tokens: inputTokens + outputTokens },
    finish_reason: reason,
    provider,
    model,
    ...(citations.length > 0 && { citations }),
    ...(dropped > 0 && { messages_dropped: dropped }),
  };
}
