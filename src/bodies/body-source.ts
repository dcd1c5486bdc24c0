/**
 * A streamed body as its handler reads it: pieces in order, waited for if they have not arrived. Asking for the next
 * piece tells the gateway that the one before is done, so at most STREAM_WINDOW_BYTES are held here. Made by the
 * request; the mailbox adds pieces.
 */
import { DbError } from "../protocol/errors.js";

export class BodySource {
  private readonly pieces: Uint8Array[] = [];
  private ended = false;
  private cancelled = false;
  /** Bytes of the piece that the reader has. */
  private held = 0;
  private wake: (() => void) | null = null;
  /** Bytes that were handed out. */
  bytes = 0;

  constructor(private readonly taken: (bytes: number) => void) {}

  arrived(piece: Uint8Array, isLast: boolean): void {
    if (piece.length > 0) this.pieces.push(piece);
    if (isLast) this.ended = true;
    this.wake?.();
  }

  /** The rest will not come, or is not wanted: `next` throws from now on. */
  cancel(): void {
    this.cancelled = true;
    this.wake?.();
  }

  /** The next piece, null at the end. The piece is the caller's. */
  next(): Uint8Array | null | Promise<Uint8Array | null> {
    if (this.held > 0) this.taken(this.held);
    this.held = 0;
    if (this.cancelled) throw new DbError("cancelled");
    const piece = this.pieces.shift();
    if (piece !== undefined) {
      this.held = piece.length;
      this.bytes += piece.length;
      return piece;
    }
    if (this.ended) return null;
    return new Promise<void>((resolve) => {
      this.wake = resolve;
    }).then(() => {
      this.wake = null;
      return this.next();
    });
  }
}
