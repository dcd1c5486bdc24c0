/**
 * A reply that is a stream of events (SSE), from the moment when the request has ended and its subscription goes on
 * alone. Made by exchange.ts for such routes; kept in live-replies.ts while it is open.
 */
import { ERRORS, type ErrorCode } from "../protocol/errors.js";
import type { Caller } from "./admission.js";
import type { LiveSubscriber } from "./live-channels.js";
import type { LiveReply } from "./live-replies.js";
import type { Services } from "./services.js";

/** What it does to the exchange. */
export interface EventSink {
  /** It counts as no request that runs any more. */
  uncount(): void;
  write(event: Uint8Array): void;
  /** Bytes that were written and have not left. */
  waiting(): number;
  end(event: Uint8Array): void;
}

const COMMENT = Buffer.from(": still here\n\n");

export class LiveEvents implements LiveSubscriber, LiveReply {
  isOpen = false;
  private sequence = 0;

  constructor(
    private readonly services: Services,
    readonly caller: Caller,
    private readonly sink: EventSink,
  ) {}

  began(): void {
    this.isOpen = true;
    this.sink.uncount();
    this.services.liveReplies.add(this);
  }

  published(messages: readonly Uint8Array[], sequence: number): void {
    if (this.sink.waiting() > this.services.config.changes.unreadBytesMax) {
      this.fail("subscription_dropped");
      return;
    }
    this.sequence = sequence;
    this.sink.write(messages.length === 1 ? messages[0]! : Buffer.concat(messages));
  }

  /** The actor has ended. */
  interrupted(): void {
    this.fail("subscription_interrupted");
  }

  private fail(code: ErrorCode): void {
    const details = this.sequence === 0 ? {} : { details: { sequence: this.sequence } };
    this.endWith(JSON.stringify({ type: "error", code, message: ERRORS[code].message, ...details }));
  }

  keepAlive(): void {
    if (this.sink.waiting() === 0) this.sink.write(COMMENT);
  }

  endWith(errorJson: string): void {
    this.sink.end(Buffer.from(`event: error\ndata: ${errorJson}\n\n`));
  }

  closed(): void {
    this.isOpen = false;
    this.services.liveReplies.remove(this);
  }
}
