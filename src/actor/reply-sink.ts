/**
 * A streamed reply as its handler writes it. `write` returns a promise when the client has not taken
 * STREAM_WINDOW_BYTES of what was written; the handler waits, and with it the cursor that it reads from. Opened by
 * Request.openReply; the mailbox reports what was taken.
 */
import { DbError } from "../protocol/errors.js";
import { REPLY_BROKEN, REPLY_MORE, type ReplyWriter, STREAM_WINDOW_BYTES } from "../protocol/frames.js";

export class ReplySink {
  private headers: string;
  private untaken = 0;
  private wake: (() => void) | null = null;
  private cancelled = false;
  /**
   * How an error ends the stream; null: the connection is cut, so that the client sees that the answer is incomplete.
   */
  errorText: ((errorJson: string) => string | Uint8Array) | null = null;

  constructor(
    private readonly id: number,
    private readonly replies: ReplyWriter,
    headers: string,
    private readonly wrote: () => void,
    /** Of the bytes that may be written; null: any number. */
    private readonly budget: { takeBytes(count: number): void } | null = null,
  ) {
    this.headers = headers;
  }

  /** Something has left: the status is out. */
  get started(): boolean {
    return this.headers === "";
  }

  /** A piece, best some 64 KiB; it is copied at once. Rejects when the client has gone. Throws budget_exhausted. */
  write(piece: Uint8Array): void | Promise<void> {
    this.budget?.takeBytes(piece.length);
    this.untaken += piece.length;
    this.send(REPLY_MORE, piece);
    if (this.untaken >= STREAM_WINDOW_BYTES) return this.room();
  }

  /** `note`: for the gateway, which gets it with the end. */
  end(last: Uint8Array = NOTHING, note = ""): void {
    if (this.headers !== "") this.send(REPLY_MORE, NOTHING);
    this.headers = note;
    this.send(0, last);
  }

  /** The reply cannot be finished. */
  fail(errorJson: string): void {
    if (this.errorText === null) this.send(REPLY_BROKEN, NOTHING);
    else {
      const text = this.errorText(errorJson);
      this.send(0, typeof text === "string" ? Buffer.from(text) : text);
    }
  }

  taken(bytes: number): void {
    this.untaken -= bytes;
    if (this.untaken <= STREAM_WINDOW_BYTES / 2) this.wake?.();
  }

  cancel(): void {
    this.cancelled = true;
    this.wake?.();
  }

  private send(flags: number, piece: Uint8Array): void {
    this.replies.bytes(this.id, 200, flags, this.headers, piece);
    this.headers = "";
    this.wrote();
  }

  private async room(): Promise<void> {
    if (!this.cancelled) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
    this.wake = null;
    if (this.cancelled) throw new DbError("cancelled");
  }
}

const NOTHING = new Uint8Array(0);
