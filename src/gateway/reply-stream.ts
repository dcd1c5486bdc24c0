/**
 * A reply that comes from the actor in pieces. The actor is told of every piece that the socket has taken. While the
 * client does not read, the actor is told nothing and stops after STREAM_WINDOW_BYTES. Made by a request (exchange.ts)
 * when the first piece arrives; owned by it.
 */
import type { HttpResponse } from "uWebSockets.js";
import type { ActorLink } from "./actor-link.js";
import type { BodyEncoder } from "./compression.js";
import { endReply, type Outgoing } from "./reply.js";

export class ReplyStream {
  /** Bytes given to the socket that have not left the process. */
  private waiters = 0;
  private isClosed = false;
  /** Pieces that are being encoded. */
  private encoding = 0;

  constructor(
    private readonly res: HttpResponse,
    private readonly link: ActorLink,
    private readonly id: number,
    /** Null: pieces leave as they are. */
    private readonly encoder: BodyEncoder | null,
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
    if (this.encoder === null) {
      if (this.res.write(piece)) this.handedOver();
      return;
    }
    this.encoding++;
    this.encoder.write(piece, (bytes) => {
      this.encoding--;
      if (this.isClosed) return;
      this.res.cork(() => {
        if (this.res.write(bytes)) this.handedOver();
      });
    });
  }

  /** The last piece; `ended` is called once it is handed over. */
  end(out: Outgoing, piece: Uint8Array, ended: () => void): void {
    const finish = (last: Uint8Array): void => {
      if (this.isClosed) return;
      this.isClosed = true;
      endReply(out, last);
      ended();
    };
    if (this.encoder === null) finish(piece);
    else this.encoder.end(piece, finish);
  }

  /** The client has left. */
  close(): void {
    this.isClosed = true;
    this.encoder?.close();
  }

  /** Bytes that were written and have not left. */
  get waiting(): number {
    return this.waiters;
  }

  private handedOver(): void {
    // What is being encoded has not left.
    if (this.waiters === 0 || this.encoding > 0) return;
    this.link.taken(this.id, this.waiters);
    this.waiters = 0;
  }
}
