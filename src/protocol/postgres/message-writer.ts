/**
 * Writes messages of PostgreSQL's protocol 3.0 (PostgreSQL 15's manual, chapter 55.7) into memory that grows: a type
 * byte, the length in four bytes, big endian, and the fields. Used by the gateway's side and by sessions.
 */

const FIRST_BYTES = 4 * 1024;
/** Memory above this is given back once it was taken. */
const KEEP_BYTES = 256 * 1024;
/** Texts up to this many characters are given three bytes each and not counted first. */
const SHORT_CHARACTERS = 1024;
/** Up to here a loop beats the call into native code. */
const LOOP_CHARACTERS = 32;
const LOOP_BYTES = 64;
/** Digits that a number is cut into: each part is a whole number of 32 bits. */
const PART = 1_000_000_000;
const PART_DIGITS = 9;
const TWO_TO_32 = 2 ** 32;
const [ZERO, MINUS, POINT, BACKSLASH] = [0x30, 0x2d, 0x2e, 0x5c];

/** By byte: what follows a backslash in its place; 0: it stands for itself. Bytes of longer characters do. */
export type Escapes = Uint8Array;

export class MessageWriter {
  private buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  private at = 0;
  /** Where the length of the message that is being written stands. */
  private lengthAt = 0;
  /** Bytes that `takeFirst` has taken since the last `lend`. */
  private taken = 0;

  /** Bytes of finished messages, and of the one that is being written. */
  get length(): number {
    return this.at;
  }

  /** For `cut`, also after `takeFirst`. */
  get position(): number {
    return this.taken + this.at;
  }

  /** `type`: the message's letter. */
  begin(type: number): void {
    this.ensure(5);
    this.buffer[this.at] = type;
    this.lengthAt = this.at + 1;
    this.at += 5;
  }

  end(): void {
    this.setInt32(this.lengthAt, this.at - this.lengthAt);
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
    this.buffer[this.at++] = value >>> 8;
    this.buffer[this.at++] = value;
  }

  uint16(value: number): void {
    this.ensure(2);
    this.at = this.buffer.writeUInt16BE(value, this.at);
  }

  int32(value: number): void {
    this.ensure(4);
    this.setInt32(this.at, value);
    this.at += 4;
  }

  uint32(value: number): void {
    this.ensure(4);
    this.at = this.buffer.writeUInt32BE(value, this.at);
  }

  int64(value: number | bigint): void {
    this.ensure(8);
    if (typeof value === "number" && Number.isSafeInteger(value)) {
      const high = Math.floor(value / TWO_TO_32);
      this.setInt32(this.at, high);
      this.setInt32(this.at + 4, value - high * TWO_TO_32);
      this.at += 8;
    } else this.at = this.buffer.writeBigInt64BE(BigInt(value), this.at);
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
    const { length } = value;
    this.ensure(length <= SHORT_CHARACTERS ? length * 3 : Buffer.byteLength(value));
    if (length > LOOP_CHARACTERS || !this.loopAscii(value)) this.at += this.buffer.write(value, this.at, "utf8");
  }

  /** ASCII of few characters: numbers, dates. */
  ascii(value: string): void {
    this.ensure(value.length);
    if (value.length > LOOP_CHARACTERS || !this.loopAscii(value))
      this.at += this.buffer.write(value, this.at, "latin1");
  }

  /** Text that is UTF-8 already. */
  utf8(data: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.ensure(length);
    const { buffer, at } = this;
    if (length <= LOOP_BYTES) for (let i = 0; i < length; i++) buffer[at + i] = data[start + i]!;
    else buffer.set(data.subarray(start, end), at);
    this.at += length;
  }

  /** The same, escaped. */
  escapedUtf8(data: Uint8Array, start: number, end: number, escapes: Escapes): void {
    this.ensure((end - start) * 2);
    const { buffer } = this;
    let { at } = this;
    for (let i = start; i < end; i++) {
      const byte = data[i]!;
      const escaped = escapes[byte]!;
      if (escaped === 0) buffer[at++] = byte;
      else {
        buffer[at++] = BACKSLASH;
        buffer[at++] = escaped;
      }
    }
    this.at = at;
  }

  /** Text as UTF-8, escaped. */
  escapedText(value: string, escapes: Escapes): void {
    const { length } = value;
    this.ensure(length * 2);
    const { buffer } = this;
    let { at } = this;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) {
        const bytes = Buffer.from(value);
        this.escapedUtf8(bytes, 0, bytes.length, escapes);
        return;
      }
      const escaped = escapes[code]!;
      if (escaped !== 0) buffer[at++] = BACKSLASH;
      buffer[at++] = escaped === 0 ? code : escaped;
    }
    this.at = at;
  }

  /** A whole number in decimal digits. */
  integer(value: number | bigint): void {
    if (typeof value === "bigint" || !Number.isSafeInteger(value)) {
      this.ascii(String(value));
      return;
    }
    this.ensure(PART_DIGITS * 2);
    if (value < 0) this.buffer[this.at++] = MINUS;
    const magnitude = Math.abs(value);
    if (magnitude < PART) this.digits(magnitude, digitsOf(magnitude));
    else {
      const high = Math.floor(magnitude / PART);
      this.digits(high, digitsOf(high));
      this.digits(magnitude - high * PART, PART_DIGITS);
    }
  }

  /** A safe integer × 10^−scale, with all digits after the point; the scale is 15 at most. */
  decimal(unscaled: number, scale: number): void {
    const magnitude = Math.abs(unscaled);
    const power = 10 ** scale;
    const fraction = magnitude % power;
    if (unscaled < 0) this.byte(MINUS);
    this.integer((magnitude - fraction) / power);
    if (scale === 0) return;
    this.ensure(1 + PART_DIGITS * 2);
    this.buffer[this.at++] = POINT;
    const low = Math.min(scale, PART_DIGITS);
    const high = Math.floor(fraction / 10 ** low);
    if (scale > low) this.digits(high, scale - low);
    this.digits(fraction - high * 10 ** low, low);
  }

  /** The last `count` digits of a whole number below 2^31. */
  private digits(value: number, count: number): void {
    const { buffer, at } = this;
    let left = value;
    for (let i = at + count - 1; i >= at; i--) {
      const rest = (left / 10) | 0;
      buffer[i] = ZERO + left - rest * 10;
      left = rest;
    }
    this.at += count;
  }

  /** False where a character is none of ASCII's; nothing is written then. There is room. */
  private loopAscii(value: string): boolean {
    const { buffer, at } = this;
    const { length } = value;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return false;
      buffer[at + i] = code;
    }
    this.at += length;
    return true;
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
    this.setInt32(from - 4, this.at - from);
  }

  /** Text with its length in bytes before it. */
  sizedText(value: string): void {
    const from = this.beginSized();
    this.text(value);
    this.endSized(from);
  }

  /** ASCII of few characters, the same way: numbers, dates. */
  sizedAscii(value: string): void {
    this.int32(value.length);
    this.ascii(value);
  }

  /** Goes back to a position that it had: what came since is gone. */
  cut(position: number): void {
    this.at = position - this.taken;
  }

  /** So many bytes from the front; what is written behind them stays. */
  takeFirst(length: number): Buffer {
    const first = Buffer.from(this.buffer.subarray(0, length));
    this.buffer.copyWithin(0, length, this.at);
    this.at -= length;
    this.lengthAt -= length;
    this.taken += length;
    return first;
  }

  /** The messages since the last call. */
  take(): Buffer {
    return this.lend((bytes) => Buffer.from(bytes));
  }

  /** The same without a copy of them: the bytes are valid until the call ends. */
  lend<T>(use: (bytes: Buffer) => T): T {
    const { buffer, at } = this;
    this.at = 0;
    this.taken = 0;
    if (buffer.length > KEEP_BYTES) this.buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
    return use(buffer.subarray(0, at));
  }

  private setInt32(at: number, value: number): void {
    const { buffer } = this;
    buffer[at] = value >>> 24;
    buffer[at + 1] = value >>> 16;
    buffer[at + 2] = value >>> 8;
    buffer[at + 3] = value;
  }

  private ensure(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.at + bytes));
    this.buffer.copy(grown, 0, 0, this.at);
    this.buffer = grown;
  }
}

function digitsOf(value: number): number {
  let digits = 1;
  for (let bound = 10; value >= bound; bound *= 10) digits++;
  return digits;
}
