/**
 * An answer as it grows: as server-sent events (every frame begins with `data:`), or as messages on a WebSocket. Made
 * by the handlers of chats, one per answer; frame-stream.ts writes the reply.
 */
import { packedMessage } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import type { Exchange } from "./exchange.js";
import { type Frame, type FrameForm, FrameStream } from "./frame-stream.js";

/** The forms of the messages. */
export interface ChatFrames extends FrameForm {
  delta(messageId: string, text: string): Frame;
  end(exchange: Exchange, warnings: readonly string[]): readonly Frame[];
}

export class ChatStream {
  private readonly stream: FrameStream;
  private messageId = "";

  constructor(
    private readonly request: Request,
    private readonly frames: ChatFrames,
  ) {
    this.stream = new FrameStream(request, frames);
  }

  began(messageId: string): void {
    this.messageId = messageId;
  }

  /** Rejects when the client has gone. */
  text(text: string): Promise<void> {
    return this.stream.write(this.frames.delta(this.messageId, text));
  }

  async end(exchange: Exchange): Promise<void> {
    // The answer is not said to be whole before it is on disk.
    await this.request.durable();
    for (const frame of this.frames.end(exchange, this.request.warnings)) await this.stream.write(frame);
    await this.stream.end();
  }

  close(): void {
    this.stream.close();
  }
}

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const DONE = "data: [DONE]\n\n";

export function eventFrames(sessionId: string): ChatFrames {
  return {
    contentType: "text/event-stream; charset=utf-8",
    heartbeat: ": heartbeat\n\n",
    delta: (message_id, delta) => data({ type: "delta", delta, message_id, session_id: sessionId }),
    end: (exchange, warnings) => [
      data({ type: "done", done: true, delta: "", ...shownExchange(exchange), ...noted(warnings) }),
      DONE,
    ],
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
    end: (exchange, warnings) => {
      const { message: stored, content, ...rest } = shownExchange(exchange);
      const ids = { message_id: stored.id, session_id: sessionId };
      const fields = { ...ids, full_message: content, message: stored, ...rest, ...noted(warnings) };
      return [message("message_complete", fields)];
    },
    error: written,
  };
}

const noted = (warnings: readonly string[]) => (warnings.length === 0 ? {} : { warnings });

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
