/**
 * Answers of a pipeline that are whole while a later statement of it still runs. After a moment they go to the client:
 * it may wait for them, or want to cancel what runs once it has them. Owned by wire-session.ts.
 */
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";

/** Answers of statements that run at once go together. */
const SOON_MS = 2;

export class ReadyAnswers {
  /** How many bytes of the writer belong to them. */
  private length = 0;
  /** Until they are sent; what is sent later waits. Null: nothing is on its way. */
  sending: Promise<void> | null = null;

  constructor(
    private readonly writer: MessageWriter,
    private readonly send: (bytes: Buffer) => Promise<void>,
  ) {}

  /** All that is written is whole. */
  mark(): void {
    this.length = this.writer.length;
  }

  /** All that is written is sent otherwise. */
  clear(): void {
    this.length = 0;
  }

  /** Sends them if the work of a later statement takes longer. */
  async beside(work: Promise<void>): Promise<void> {
    if (this.length === 0) return work;
    const timer = setTimeout(() => this.sendNow(), SOON_MS);
    try {
      await work;
    } finally {
      clearTimeout(timer);
    }
  }

  private sendNow(): void {
    if (this.length === 0) return;
    const bytes = this.writer.takeFirst(this.length);
    this.length = 0;
    // Where it fails, what is sent later fails, too, and says so.
    const sent = this.send(bytes).catch(() => undefined);
    this.sending = sent.then(() => {
      this.sending = null;
    });
  }
}
