/**
 * Ends a reply while its request's body is still coming, and the connection is to be closed after it. A socket that is
 * closed while data arrives answers with a reset, and that takes the reply away from a client that has not read it yet.
 * So the reply is sent, but left open until the client stops sending; what it sends is dropped. Called by reply.ts.
 */
import type { HttpResponse } from "uWebSockets.js";

/** How long a client may be silent, and how long, and how much, it may go on sending. */
const SILENT_MS_MAX = 2_000;
const SENDING_MS_MAX = 30_000;
const SENT_BYTES_MAX = 1024 * 1024 * 1024;

/** Status and headers have been handed over. Nothing else is done with the response afterwards. */
export function endLingering(res: HttpResponse, body: Uint8Array | string): void {
  res.writeHeader("Connection", "close");
  res.write(body);
  new Lingering(res);
}

class Lingering {
  private readonly untilMs = performance.now() + SENDING_MS_MAX;
  private readonly silence = setTimeout(() => this.end(), SILENT_MS_MAX);
  private bytes = 0;
  /** The response may not be touched any more. */
  private isOver = false;

  constructor(private readonly res: HttpResponse) {
    res.onAborted(() => this.stop());
    // This may run in the handler of data, which must not be replaced before it returns.
    setImmediate(() => {
      if (!this.isOver) res.onData((chunk, isLast) => this.arrived(chunk.byteLength, isLast));
    });
  }

  private arrived(bytes: number, isLast: boolean): void {
    if (this.isOver) return;
    this.bytes += bytes;
    if (isLast) this.end();
    else if (this.bytes > SENT_BYTES_MAX || performance.now() > this.untilMs) this.res.close();
    else this.silence.refresh();
  }

  /** The client has been told to close. To end and close here would repeat that header within the body. */
  private end(): void {
    if (this.isOver) return;
    this.stop();
    this.res.cork(() => this.res.end());
  }

  private stop(): void {
    this.isOver = true;
    clearTimeout(this.silence);
  }
}
