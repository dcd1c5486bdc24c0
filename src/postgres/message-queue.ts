/**
 * What a client has sent and no actor has got yet: cut into messages, and handed on in groups that end where the client waits
 * for an answer. One per connection.
 */

import { MESSAGE_HEAD_BYTES, violation } from "../protocol/postgres/message-reader.js";
import { FRONT } from "../protocol/postgres/message-types.js";

/** A longer message is refused. PostgreSQL's own bound is 1 GiB. */
const MESSAGE_BYTES_MAX = 256 * 1024 * 1024;
/** A group is no longer than that unless it is one message. */
const GROUP_BYTES = 256 * 1024;
/** With more than that waiting, the client is not read. */
const WAITING_BYTES = 1024 * 1024;

/** After these the client may wait for an answer. */
const ASKS: ReadonlySet<number> = new Set([
  FRONT.query,
  FRONT.sync,
  FRONT.flush,
  FRONT.copyData,
  FRONT.copyDone,
  FRONT.copyFail,
  FRONT.functionCall,
]);

export class MessageQueue {
  private bytes: Buffer = Buffer.alloc(0);
  /** Pieces that came since, of which no message is whole. */
  private pieces: Buffer[] = [];
  private length = 0;
  /** Bytes that the message at the beginning needs; 0: not known. */
  private needed = 0;

  get isFull(): boolean {
    return this.length > WAITING_BYTES + this.needed;
  }

  get isEmpty(): boolean {
    return this.length === 0;
  }

  push(piece: Buffer): void {
    this.pieces.push(piece);
    this.length += piece.length;
  }

  /**
   * The next message if it is whole, else null; for sign-in, where each is answered. Throws 08P01 for one that is too long.
   */
  one(): { readonly type: number; readonly body: Buffer } | null {
    this.join();
    const end = this.endOf(0, 64 * 1024);
    if (end === null) return null;
    const type = this.bytes[0]!;
    const body = this.bytes.subarray(MESSAGE_HEAD_BYTES, end);
    this.cut(end);
    return { type, body };
  }

  /** Whole messages up to one that asks for an answer, or as many as make a group; null: nothing is to be sent. */
  group(): { readonly bytes: Buffer; readonly ends: boolean } | null {
    if (this.length < this.needed) return null;
    this.join();
    const { bytes } = this;
    let at = 0;
    let asks = false;
    for (;;) {
      const type = bytes[at];
      const end = this.endOf(at, MESSAGE_BYTES_MAX);
      if (end === null || (at > 0 && end > GROUP_BYTES)) {
        if (end === null) this.needed = at === 0 ? this.needed : 0;
        break;
      }
      if (type === FRONT.terminate) return at > 0 && asks ? this.take(at, false) : this.take(at, true);
      asks = ASKS.has(type!);
      at = end;
      if (at >= GROUP_BYTES) break;
    }
    if (at === 0 || (!asks && at < GROUP_BYTES)) return null;
    return this.take(at, false);
  }

  private take(length: number, ends: boolean): { readonly bytes: Buffer; readonly ends: boolean } {
    const taken = this.bytes.subarray(0, length);
    this.cut(length);
    return { bytes: taken, ends };
  }

  private join(): void {
    if (this.pieces.length === 0) return;
    this.bytes =
      this.bytes.length === 0 && this.pieces.length === 1
        ? this.pieces[0]!
        : Buffer.concat([this.bytes, ...this.pieces]);
    this.pieces = [];
  }

  private cut(length: number): void {
    this.bytes = this.bytes.subarray(length);
    this.length -= length;
    this.needed = 0;
  }

  private endOf(at: number, bytesMax: number): number | null {
    const { bytes } = this;
    if (bytes.length < at + MESSAGE_HEAD_BYTES) return null;
    const length = bytes.readInt32BE(at + 1);
    if (length < 4 || length > bytesMax) throw violation(`a message has the length ${length}`);
    const end = at + 1 + length;
    if (end <= bytes.length) return end;
    if (at === 0) this.needed = end;
    return null;
  }
}
