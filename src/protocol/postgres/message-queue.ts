/**
 * What a client has sent and no actor has got yet: cut into messages, and handed on in groups that end where the client
 * waits for an answer. One per connection.
 */

import { MESSAGE_HEAD_BYTES, violation } from "./message-reader.js";
import { FRONT } from "./message-types.js";

/** A longer message is refused. PostgreSQL's own bound is 1 GiB. */
const MESSAGE_BYTES_MAX = 256 * 1024 * 1024;
/** A group is no longer than that unless it is one message. */
const GROUP_BYTES = 256 * 1024;
/** Of a sign-in. */
const SIGN_IN_BYTES_MAX = 64 * 1024;
/** For what comes later, at most. */
const ROOM_BYTES_MAX = 4 * 1024 * 1024;
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

/** Messages for which the client does not say that it waits are worked on when nothing has come for so long. */
const UNASKED_MS = 5;

const EMPTY = Buffer.alloc(0);

export interface MessageGroup {
  readonly bytes: Buffer;
  /** The client has said goodbye. */
  readonly ends: boolean;
}

export class MessageQueue {
  /**
   * What was joined and not taken yet is `bytes` from `start` to `end`; memory behind that is free where it is ours.
   */
  private bytes: Buffer = EMPTY;
  private start = 0;
  private end = 0;
  /** Pieces that came since, with which no message is whole. */
  private pieces: Buffer[] = [];
  private length = 0;
  /** Bytes from the start without which nothing more can be said. */
  private needed = 0;
  /** Bytes from the start that are whole messages, and those of them up to the last one that asks for an answer. */
  private whole = 0;
  private asked = 0;
  /** Since the beginning; for tests. */
  copiedBytes = 0;

  get isFull(): boolean {
    return this.length > WAITING_BYTES + this.needed;
  }

  push(piece: Buffer): void {
    this.pieces.push(piece);
    this.length += piece.length;
  }

  /**
   * The next message if it is whole, else null; for sign-in, where each is answered. Throws 08P01 for one that is too
   * long.
   */
  one(): { readonly type: number; readonly body: Buffer } | null {
    if (this.length < this.needed) return null;
    this.join();
    const end = this.endOf(0, SIGN_IN_BYTES_MAX);
    if (end === null) return null;
    const message = this.take(end);
    return { type: message[0]!, body: message.subarray(MESSAGE_HEAD_BYTES) };
  }

  /** Whether there are whole messages for which the client does not wait yet, as far as it has said. */
  get hasUnasked(): boolean {
    return this.whole > 0;
  }

  /**
   * Whole messages up to the last one that asks for an answer (`all`: up to the last one), or as many as make a group;
   * null: nothing is to be sent.
   */
  group(all = false): MessageGroup | null {
    if (this.length < this.needed && !all) return null;
    this.join();
    while (this.whole < GROUP_BYTES) {
      const end = this.endOf(this.whole, MESSAGE_BYTES_MAX);
      if (end === null) break;
      const type = this.bytes[this.start + this.whole]!;
      if (type === FRONT.terminate) {
        return this.asked > 0
          ? { bytes: this.take(this.asked), ends: false }
          : { bytes: this.take(this.whole), ends: true };
      }
      // A long one makes a group of its own.
      if (this.whole > 0 && end > GROUP_BYTES) return { bytes: this.take(this.whole), ends: false };
      this.whole = end;
      if (ASKS.has(type)) this.asked = end;
    }
    const length = all || this.whole >= GROUP_BYTES ? this.whole : this.asked;
    return length === 0 ? null : { bytes: this.take(length), ends: false };
  }

  /** All that has not been taken, whole messages or not. */
  rest(): Buffer {
    this.join();
    return this.take(this.length);
  }

  /** What is taken stays as it is: what comes later goes behind it. */
  private take(length: number): Buffer {
    const taken = this.bytes.subarray(this.start, this.start + length);
    this.start += length;
    this.length -= length;
    this.whole = Math.max(0, this.whole - length);
    this.asked = 0;
    this.needed = 0;
    return taken;
  }

  /** Memory that does not do grows by as much again, so each byte is copied a few times at most. */
  private join(): void {
    if (this.pieces.length === 0) return;
    const { pieces, length, start, end } = this;
    this.pieces = [];
    if (start === end && pieces.length === 1) {
      this.bytes = pieces[0]!;
      this.start = 0;
      this.end = length;
      return;
    }
    if (start + length > this.bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(length + Math.min(length, ROOM_BYTES_MAX));
      bytes.set(this.bytes.subarray(start, end));
      this.copiedBytes += end - start;
      this.bytes = bytes;
      this.start = 0;
      this.end = end - start;
    }
    for (const piece of pieces) {
      this.bytes.set(piece, this.end);
      this.end += piece.length;
      this.copiedBytes += piece.length;
    }
  }

  /** Where the message at `at` ends, counted from the start; null: it is not whole. */
  private endOf(at: number, bytesMax: number): number | null {
    const { bytes, start } = this;
    const there = this.end - start;
    if (there < at + MESSAGE_HEAD_BYTES) {
      this.needed = at + MESSAGE_HEAD_BYTES;
      return null;
    }
    const length = bytes.readInt32BE(start + at + 1);
    if (length < 4 || length > bytesMax) throw violation(`a message has the length ${length}`);
    const end = at + 1 + length;
    if (end <= there) return end;
    this.needed = end;
    return null;
  }
}

/**
 * The groups of a connection, one after the other. Messages that nothing follows for a while make one, too: a client
 * that pipelines may wait for an error before it sends Sync.
 */
export class MessageGroups {
  readonly queue = new MessageQueue();
  private timer: NodeJS.Timeout | undefined;

  /** `unasked`: there may be such a group, which `next(true)` gives. */
  constructor(private readonly unasked: () => void) {}

  /** Null: the client is waited for. Throws 08P01. */
  next(all: boolean): MessageGroup | null {
    this.stop();
    const group = this.queue.group(all);
    if (group === null && this.queue.hasUnasked) this.timer = setTimeout(this.unasked, UNASKED_MS).unref();
    return group;
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}
