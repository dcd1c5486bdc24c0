/**
 * A reply that grows frame by frame, opened by the first frame, or by a sign of life when that takes long. What fails
 * before is an error like any other. Made by those who stream answers of models, one per answer.
 */
import type { ReplySink } from "../../actor/reply-sink.js";
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";

export type Frame = string | Uint8Array;

export interface FrameForm {
  readonly contentType: string;
  /** A sign of life between frames; nothing else happens. Null: there is none. */
  readonly heartbeat: string | null;
  /** How an error ends a reply that has begun. */
  error(errorJson: string): Frame;
}

const HEARTBEAT_MS = 10_000;

export class FrameStream {
  private sink: Promise<ReplySink> | null = null;
  private beats: NodeJS.Timeout | null = null;
  private saidMs = performance.now();

  constructor(
    private readonly request: Request,
    private readonly form: FrameForm,
  ) {
    const { heartbeat } = form;
    if (heartbeat === null) return;
    this.beats = setInterval(() => {
      if (performance.now() - this.saidMs < HEARTBEAT_MS) return;
      // The code that waits for the answer notices a client that has disconnected.
      this.write(heartbeat).catch(() => undefined);
    }, HEARTBEAT_MS / 2).unref();
  }

  /** Rejects when the client has gone. */
  async write(frame: Frame): Promise<void> {
    this.saidMs = performance.now();
    await (await this.opened()).write(typeof frame === "string" ? Buffer.from(frame) : frame);
  }

  /** The reply is whole. */
  async end(): Promise<void> {
    (await this.opened()).end();
  }

  /** Must be called, however the answer ended. */
  close(): void {
    if (this.beats !== null) clearInterval(this.beats);
  }

  private opened(): Promise<ReplySink> {
    this.sink ??= this.open();
    return this.sink;
  }

  private async open(): Promise<ReplySink> {
    const { contentType } = this.form;
    const sink = await this.request.openReply(contentType, [
      "Cache-Control: no-cache, no-transform",
      "X-Accel-Buffering: no",
    ]);
    sink.errorText = (errorJson) => this.form.error(errorJson);
    return sink;
  }
}

/** Of a request with an Idempotency-Key the answer would have to be kept. */
export function refuseKept(request: Request): void {
  if (request.keepAnswer === null) return;
  throw new DbError(
    "invalid_request",
    "A streamed answer is not kept for repetition. Send it without an Idempotency-Key.",
  );
}
