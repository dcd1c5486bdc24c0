/**
 * A reply that comes from the actor in pieces. The actor is told of every piece that the socket has taken. While the
 * client does not read, the actor is told nothing and stops after STREAM_WINDOW_BYTES. Made by a request (exchange.ts)
 * when the first piece arrives; owned by it.
 */
import type { HttpResponse } from "uWebSockets.js";
import type { ActorLink } from "./actor-link.js";

export class ReplyStream {
  /** Bytes given to the socket that have not left the process. */
  private waiters = 0;

  constructor(
    private readonly res: HttpResponse,
    private readonly link: ActorLink,
    private readonly id: number,
  ) {
    res.onWritable(() => {
      this.handedOver();
      return true;
    });
  }

  /** Writes a piece; call it within a cork. */
  write(piece: Uint8Array): void {
    if (piece.length === 0) return;
    this.waiters += piece.length;
    if (this.res.write(piece)) this.handedOver();
  }

  /** Bytes that were written and have not left. */
  get waiting(): number {
    return this.waiters;
  }

  private handedOver(): void {
    if (this.waiters === 0) return;
    this.link.taken(this.id, this.waiters);
    this.waiters = 0;
  }
}
