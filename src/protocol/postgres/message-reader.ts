/** Reads messages of PostgreSQL's protocol 3.0. Errors have SQLSTATE 08P01, a violation of the protocol. */
import { isUtf8 } from "node:buffer";
import { sqlError } from "../errors.js";

/** Up to here a loop beats calls into native code. */
const SHORT_BYTES = 32;

/** The fields of one message. Throws 08P01 where it ends too early, 22021 for a text that is none. */
export class MessageFields {
  /** The fields are the bytes from `at` to `to`. */
  constructor(
    private readonly bytes: Buffer,
    private at = 0,
    private readonly to = bytes.length,
  ) {}

  get left(): number {
    return this.to - this.at;
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
    const { bytes, at } = this;
    let end = at;
    while (end < this.to && bytes[end] !== 0 && end - at < SHORT_BYTES) end++;
    if (bytes[end] !== 0) end = bytes.indexOf(0, end);
    if (end < 0 || end >= this.to) throw violation("a text has no zero byte at its end");
    this.at = end + 1;
    return textBetween(bytes, at, end);
  }

  /** A text of so many bytes. */
  text(length: number): string {
    const from = this.take(length);
    return textBetween(this.bytes, from, this.at);
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

/** The bytes as text. Throws 22021. */
export function textIn(bytes: Buffer): string {
  return textBetween(bytes, 0, bytes.length);
}

/** Most texts are short ASCII: names, numbers. Neither a view of them nor three looks at them are needed then. */
function textBetween(bytes: Buffer, from: number, to: number): string {
  if (from === to) return "";
  if (to - from <= SHORT_BYTES && isAscii(bytes, from, to)) return bytes.toString("latin1", from, to);
  checkTextBetween(bytes, from, to);
  return bytes.toString("utf8", from, to);
}

/** Without zero bytes. */
function isAscii(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (((bytes[i]! - 1) & 0xff) >= 0x7f) return false;
  return true;
}

/** Throws 22021 unless the bytes between these places are UTF-8 without zero bytes. */
export function checkTextBetween(bytes: Buffer, from: number, to: number): void {
  if (to - from > SHORT_BYTES || !isAscii(bytes, from, to)) checkText(bytes.subarray(from, to));
}

/** Throws 22021 unless the bytes are UTF-8 without zero bytes. */
export function checkText(bytes: Buffer): void {
  const hasZero = bytes.includes(0);
  if (!hasZero && isUtf8(bytes)) return;
  throw sqlError("22021", `invalid byte sequence for encoding "UTF8"${hasZero ? ": 0x00" : ""}`);
}

/** Names and values up to an empty name, as a start-up message has them. */
export function* namesAndValues(fields: MessageFields): Iterable<readonly [name: string, value: string]> {
  for (let name = fields.cstring(); name !== ""; name = fields.cstring()) yield [name, fields.cstring()];
}

export interface WireMessage {
  /** Its letter. */
  readonly type: number;
  readonly fields: MessageFields;
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
    messages.push({ type: bytes[at]!, fields: new MessageFields(bytes, at + MESSAGE_HEAD_BYTES, end) });
    at = end;
  }
  return messages;
}

export function violation(what: string): Error {
  return sqlError("08P01", `invalid message: ${what}`);
}
