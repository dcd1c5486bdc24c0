/**
 * Word of progress on the way to an answer: as server-sent events (Streamable HTTP), or as messages on a socket. The stream
 * is opened by the first word; where there is none the answer is a plain one. Made by handlers/mcp.ts for clients that
 * accept such streams.
 */
import type { Answer } from "../../actor/reply.js";
import { STREAMED } from "../../actor/reply.js";
import type { ReplySink } from "../../actor/reply-sink.js";
import type { Request } from "../../actor/request.js";
import { notificationText } from "./json-rpc.js";

export class ProgressStream {
  private sink: Promise<ReplySink> | null = null;

  /** `frame`: how a message is written. */
  constructor(
    private readonly request: Request,
    private readonly frame: (message: string) => Buffer,
  ) {}

  /** Whoever is slow to read gets the words later, not others. */
  progress(token: string | number, progress: number, total: number | null, message: string): void {
    this.sink ??= this.request.openReply("text/event-stream", ["Cache-Control: no-cache, no-transform"]);
    const params = { progressToken: token, progress, ...(total !== null && { total }), message };
    this.sink = this.sink.then(async (sink) => {
      await sink.write(this.frame(notificationText("notifications/progress", params)));
      return sink;
    });
    // Whoever finishes hears of a client that has gone.
    this.sink.catch(() => undefined);
  }

  /** The answer as the last message; null: no stream was opened. */
  async finish(text: string): Promise<Answer | null> {
    if (this.sink === null) return null;
    const sink = await this.sink;
    await this.request.durable();
    await sink.write(this.frame(text));
    sink.end();
    return STREAMED;
  }
}

export function eventFrame(message: string): Buffer {
  return Buffer.from(`event: message\ndata: ${message}\n\n`);
}

export function socketFrame(message: string): Buffer {
  return Buffer.from(message);
}
