/**
 * Puts a client's messages together from their chunks, and keeps those that no actor has got yet. One per connection.
 */
import { malformed } from "../protocol/bolt/pack-reader.js";

/** A longer message is refused before the sign-in. */
const FIRST_MESSAGE_BYTES_MAX = 64 * 1024;
/** Before the sign-in no more messages wait: drivers send HELLO, LOGON and perhaps a first statement at once. */
const FIRST_MESSAGES_MAX = 32;
/** What a chunk or a message takes besides its bytes. */
const OVERHEAD_BYTES = 100;
/** With more than that waiting, the client is not read. */
const WAITING_BYTES = 1024 * 1024;
const HEAD_BYTES = 2;

export class ChunkQueue {
  /** Bytes of which no chunk is whole yet. */
  private pieces: Buffer[] = [];
  private pieceBytes = 0;
  /** Chunks of the message that is not whole. */
  private chunks: Buffer[] = [];
  private chunkBytes = 0;
  /** Those before `read` were taken. */
  private messages: Buffer[] = [];
  private read = 0;
  /** Of those that wait, with what they take besides. */
  private messageBytes = 0;
  private bytesMax = FIRST_MESSAGE_BYTES_MAX;
  private messagesMax = FIRST_MESSAGES_MAX;

  /** The client is known: it may send long messages, and as many as there is room for. */
  signedIn(bytesMax: number): void {
    this.bytesMax = bytesMax;
    this.messagesMax = Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.messageBytes > WAITING_BYTES;
  }

  /** The message that `one` would give. */
  get next(): Buffer | null {
    return this.messages[this.read] ?? null;
  }

  /** Answers with the messages that have become whole. Throws what `malformed` gives for one that is too long. */
  push(piece: Buffer): readonly Buffer[] {
    this.pieces.push(piece);
    this.pieceBytes += piece.length;
    const before = this.messages.length;
    if (this.pieceBytes >= this.neededBytes) this.cut();
    return this.messages.slice(before);
  }

  /** Bytes without which there is no whole chunk. */
  private neededBytes = HEAD_BYTES;

  private cut(): void {
    const bytes = this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces);
    let at = 0;
    this.neededBytes = HEAD_BYTES;
    while (at + HEAD_BYTES <= bytes.length) {
      const length = bytes.readUInt16BE(at);
      const end = at + HEAD_BYTES + length;
      if (end > bytes.length) {
        this.neededBytes = HEAD_BYTES + length;
        break;
      }
      if (length === 0) this.finish();
      else this.take(bytes.subarray(at + HEAD_BYTES, end));
      at = end;
    }
    this.pieces = at === bytes.length ? [] : [bytes.subarray(at)];
    this.pieceBytes = bytes.length - at;
  }

  private take(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.chunkBytes += chunk.length;
    if (this.chunkBytes > this.bytesMax)
      throw malformed(`it is longer than ${this.bytesMax} bytes. Send less at a time`);
    // A buffer for each byte would take a hundred times the message.
    if (this.chunkBytes + this.chunks.length * OVERHEAD_BYTES > 2 * this.bytesMax) {
      throw malformed(`its ${this.chunks.length} chunks are too short. Send longer ones`);
    }
  }

  /** An empty chunk outside a message keeps the connection alive. */
  private finish(): void {
    if (this.chunks.length === 0) return;
    const message = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    this.messages.push(message);
    this.messageBytes += message.length + OVERHEAD_BYTES;
    if (this.messages.length - this.read > this.messagesMax) {
      throw malformed(`more than ${this.messagesMax} messages came before the sign-in. Wait for its answer`);
    }
    this.chunks = [];
    this.chunkBytes = 0;
  }

  /** The next message; null: there is none. */
  one(): Buffer | null {
    const message = this.next;
    if (message === null) return null;
    this.messageBytes -= message.length + OVERHEAD_BYTES;
    this.read++;
    if (this.read === this.messages.length) {
      this.messages = [];
      this.read = 0;
    }
    return message;
  }

  /**
   * The next messages, up to the first with that tag, which is among them, or as many as take so many bytes, and one at
   * least; each after its length in four bytes.
   */
  group(last: number, bytesMax = Number.POSITIVE_INFINITY): Buffer | null {
    const parts: Buffer[] = [];
    let bytes = 0;
    for (let message = this.next; message !== null; message = this.next) {
      bytes += 4 + message.length;
      if (parts.length > 0 && bytes > bytesMax) break;
      this.one();
      const length = Buffer.allocUnsafe(4);
      length.writeUInt32LE(message.length);
      parts.push(length, message);
      if (tagOf(message) === last) break;
    }
    return parts.length === 0 ? null : Buffer.concat(parts);
  }

  /** How many messages with that tag wait. */
  count(tag: number): number {
    let count = 0;
    for (let i = this.read; i < this.messages.length; i++) if (tagOf(this.messages[i]!) === tag) count++;
    return count;
  }
}

export function tagOf(message: Buffer): number {
  return message[1] ?? -1;
}
