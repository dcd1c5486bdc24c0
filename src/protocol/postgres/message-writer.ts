/**
 * Writes messages of PostgreSQL's protocol 3.0 (PostgreSQL 15's manual, chapter 55.7) into memory that grows: a type
 * byte, the length in four bytes, big endian, and the fields. Used by the gateway's side and by sessions.
 */

const FIRST_BYTES = 4 * 1024;
/** Memory above this is given back once it was taken. */
const KEEP_BYTES = 256 * 1024;
/** Texts up to this many characters are given three bytes each and not counted first. */
const SHORT_CHARACTERS = 1024;

export class MessageWriter {
  private buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  private at = 0;
  /** Where the length of the message that is being written stands. */
  private lengthAt = 0;

  /** Bytes of finished messages, and of the one that is being written. */
  get length(): number {
    return this.at;
  }

  /** `type`: the message's letter. */
  begin(type: number): void {
    this.ensure(5);
    this.buffer[this.at] = type;
    this.lengthAt = this.at + 1;
    this.at += 5;
  }

  end(): void {
    this.buffer.writeInt32BE(this.at - this.lengthAt, this.lengthAt);
  }

  /** A message without fields. */
  empty(type: number): void {
    this.begin(type);
    this.end();
  }

  byte(value: number): void {
    this.ensure(1);
    this.buffer[this.at++] = value;
  }

  int16(value: number): void {
    this.ensure(2);
    this.at = this.buffer.writeInt16BE(value, this.at);
  }

  uint16(value: number): void {
    this.ensure(2);
    this.at = this.buffer.writeUInt16BE(value, this.at);
  }

  int32(value: number): void {
    this.ensure(4);
    this.at = this.buffer.writeInt32BE(value, this.at);
  }

  uint32(value: number): void {
    this.ensure(4);
    this.at = this.buffer.writeUInt32BE(value, this.at);
  }

  int64(value: bigint): void {
    this.ensure(8);
    this.at = this.buffer.writeBigInt64BE(value, this.at);
  }

  float32(value: number): void {
    this.ensure(4);
    this.at = this.buffer.writeFloatBE(value, this.at);
  }

  float64(value: number): void {
    this.ensure(8);
    this.at = this.buffer.writeDoubleBE(value, this.at);
  }

  bytes(value: Uint8Array): void {
    this.ensure(value.length);
    this.buffer.set(value, this.at);
    this.at += value.length;
  }

  /** Text as UTF-8. */
  text(value: string): void {
    this.ensure(value.length <= SHORT_CHARACTERS ? value.length * 3 : Buffer.byteLength(value));
    this.at += this.buffer.write(value, this.at, "utf8");
  }

  /** Text that ends in a zero byte; one inside ends it early. */
  cstring(value: string): void {
    const zero = value.indexOf("\0");
    this.text(zero < 0 ? value : value.slice(0, zero));
    this.byte(0);
  }

  /** Leaves room for a length of four bytes; `endSized` fills it in. */
  beginSized(): number {
    this.ensure(4);
    this.at += 4;
    return this.at;
  }

  /** `from`: what `beginSized` gave. */
  endSized(from: number): void {
    this.buffer.writeInt32BE(this.at - from, from - 4);
  }

  /** Text with its length in bytes before it. */
  sizedText(value: string): void {
    const from = this.beginSized();
    this.text(value);
    this.endSized(from);
  }

  /** ASCII of few characters, the same way: numbers, dates. */
  sizedAscii(value: string): void {
    const { length } = value;
    this.ensure(4 + length);
    this.at = this.buffer.writeInt32BE(length, this.at);
    this.at += this.buffer.write(value, this.at, "latin1");
  }

  /** Goes back to a length that it had: what came since is gone. */
  cut(length: number): void {
    this.at = length;
  }

  /** The messages since the last call. */
  take(): Buffer {
    const taken = Buffer.from(this.buffer.subarray(0, this.at));
    this.at = 0;
    if (this.buffer.length > KEEP_BYTES) this.buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
    return taken;
  }

  private ensure(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.at + bytes));
    this.buffer.copy(grown, 0, 0, this.at);
    this.buffer = grown;
  }
}
