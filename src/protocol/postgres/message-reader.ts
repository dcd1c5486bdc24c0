/** Reads messages of PostgreSQL's protocol 3.0. Errors have SQLSTATE 08P01, a violation of the protocol. */
import { sqlError } from "../errors.js";

/** The fields of one message. Throws 08P01 where it ends too early. */
export class MessageFields {
  private at = 0;

  constructor(private readonly bytes: Buffer) {}

  get left(): number {
    return this.bytes.length - this.at;
  }

  byte(): number {
    return this.bytes[this.take(1)]!;
  }

  int16(): number {
    return this.bytes.readInt16BE(this.take(2));
  }

  uint16(): number {
    return this.bytes.readUInt16BE(this.take(2));
  }

  int32(): number {
    return this.bytes.readInt32BE(this.take(4));
  }

  uint32(): number {
    return this.bytes.readUInt32BE(this.take(4));
  }

  int64(): bigint {
    return this.bytes.readBigInt64BE(this.take(8));
  }

  float32(): number {
    return this.bytes.readFloatBE(this.take(4));
  }

  float64(): number {
    return this.bytes.readDoubleBE(this.take(8));
  }

  /** Text up to a zero byte. */
  cstring(): string {
    const end = this.bytes.indexOf(0, this.at);
    if (end < 0) throw violation("a text has no zero byte at its end");
    const text = this.bytes.toString("utf8", this.at, end);
    this.at = end + 1;
    return text;
  }

  /** A view of so many bytes. */
  view(length: number): Buffer {
    const from = this.take(length);
    return this.bytes.subarray(from, from + length);
  }

  rest(): Buffer {
    return this.view(this.left);
  }

  /** Throws 08P01 unless everything was read. */
  end(): void {
    if (this.left > 0) throw violation("the message is longer than its fields");
  }

  private take(length: number): number {
    if (length < 0 || this.left < length) throw violation("the message ends too early");
    const from = this.at;
    this.at += length;
    return from;
  }
}

/** Names and values up to an empty name, as a start-up message has them. */
export function* namesAndValues(fields: MessageFields): Iterable<readonly [name: string, value: string]> {
  for (let name = fields.cstring(); name !== ""; name = fields.cstring()) yield [name, fields.cstring()];
}

export interface WireMessage {
  /** Its letter. */
  readonly type: number;
  readonly body: Buffer;
}

/** Of a message: its type and its length. */
export const MESSAGE_HEAD_BYTES = 5;

/** The whole messages of some bytes, in order. Throws 08P01 for a length that is none, and where one is cut off. */
export function messagesOf(bytes: Buffer): readonly WireMessage[] {
  const messages: WireMessage[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (bytes.length - at < MESSAGE_HEAD_BYTES) throw violation("a message is cut off");
    const end = at + 1 + bytes.readInt32BE(at + 1);
    if (end < at + MESSAGE_HEAD_BYTES || end > bytes.length) throw violation("a message is cut off");
    messages.push({ type: bytes[at]!, body: bytes.subarray(at + MESSAGE_HEAD_BYTES, end) });
    at = end;
  }
  return messages;
}

export function violation(what: string): Error {
  return sqlError("08P01", `invalid message: ${what}`);
}
