/**
 * Writes Bolt's messages: values in PackStream, cut into chunks, each with its length in two bytes, and an empty chunk
 * at the end of each message. The memory grows. Used by the gateway's side and by sessions.
 */

const FIRST_BYTES = 4 * 1024;
/** Memory above this is given back once it was taken. */
const KEEP_BYTES = 256 * 1024;
const CHUNK_BYTES_MAX = 0xffff;
const HEAD_BYTES = 2;
/** Texts up to this many characters are given three bytes each and not counted first. */
const SHORT_CHARACTERS = 1024;

/** What `value` can write. Numbers that are integers are written as such. */
export type PackValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | PackFloat
  | readonly PackValue[]
  | { readonly [key: string]: PackValue | undefined };

/** A float whatever its value is: numbers without a fraction are integers otherwise. */
export class PackFloat {
  constructor(readonly value: number) {}
}

export class PackWriter {
  private buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  private at = 0;
  /** Where the message begins that is being written, or was last. */
  private start = 0;
  private isWithin = false;

  /** Bytes of finished messages, and of the one that is being written. */
  get length(): number {
    return this.at;
  }

  /** A message: its tag and how many fields follow. */
  begin(tag: number, fields: number): void {
    this.start = this.at;
    this.isWithin = true;
    this.ensure(HEAD_BYTES);
    this.at += HEAD_BYTES;
    this.structure(tag, fields);
  }

  end(): void {
    const length = this.at - this.start - HEAD_BYTES;
    if (length > CHUNK_BYTES_MAX) this.cutIntoChunks(length);
    else this.buffer.writeUInt16BE(length, this.start);
    this.ensure(HEAD_BYTES);
    this.at = this.buffer.writeUInt16BE(0, this.at);
    this.isWithin = false;
  }

  /** A message that was begun and not ended is none. */
  abandon(): void {
    if (!this.isWithin) return;
    this.at = this.start;
    this.isWithin = false;
  }

  /** Moves all chunks but the first, the last one first, so that there is room for their lengths. */
  private cutIntoChunks(length: number): void {
    const chunks = Math.ceil(length / CHUNK_BYTES_MAX);
    this.ensure((chunks - 1) * HEAD_BYTES);
    const { buffer, start } = this;
    const first = start + HEAD_BYTES;
    for (let chunk = chunks - 1; chunk >= 0; chunk--) {
      const from = first + chunk * CHUNK_BYTES_MAX;
      const bytes = Math.min(CHUNK_BYTES_MAX, length - chunk * CHUNK_BYTES_MAX);
      const to = from + chunk * HEAD_BYTES;
      buffer.copyWithin(to, from, from + bytes);
      buffer.writeUInt16BE(bytes, to - HEAD_BYTES);
    }
    this.at += (chunks - 1) * HEAD_BYTES;
  }

  null(): void {
    this.byte(0xc0);
  }

  boolean(value: boolean): void {
    this.byte(value ? 0xc3 : 0xc2);
  }

  /** A bigint has to be within 64 bits. */
  integer(value: number | bigint): void {
    this.ensure(9);
    const { buffer } = this;
    if (value >= -0x10 && value <= 0x7f) {
      this.at = buffer.writeInt8(Number(value), this.at);
    } else if (value >= -0x80 && value < 0) {
      buffer[this.at] = 0xc8;
      this.at = buffer.writeInt8(Number(value), this.at + 1);
    } else if (value >= -0x8000 && value <= 0x7fff) {
      buffer[this.at] = 0xc9;
      this.at = buffer.writeInt16BE(Number(value), this.at + 1);
    } else if (value >= -0x80000000 && value <= 0x7fffffff) {
      buffer[this.at] = 0xca;
      this.at = buffer.writeInt32BE(Number(value), this.at + 1);
    } else {
      buffer[this.at] = 0xcb;
      this.at = buffer.writeBigInt64BE(BigInt(value), this.at + 1);
    }
  }

  float(value: number): void {
    this.ensure(9);
    this.buffer[this.at] = 0xc1;
    this.at = this.buffer.writeDoubleBE(value, this.at + 1);
  }

  string(value: string): void {
    if (value.length <= SHORT_CHARACTERS) {
      this.shortString(value);
      return;
    }
    const bytes = Buffer.byteLength(value);
    this.size(bytes, -1, 0xd0);
    this.ensure(bytes);
    this.at += this.buffer.write(value, this.at, "utf8");
  }

  /** Written where it would begin if its size took one byte, and moved where it does not. */
  private shortString(value: string): void {
    this.ensure(value.length * 3 + 5);
    const from = this.at + 1;
    const bytes = this.buffer.write(value, from, "utf8");
    if (bytes < 0x10) {
      this.buffer[this.at] = 0x80 | bytes;
      this.at = from + bytes;
      return;
    }
    const to = from + (bytes <= 0xff ? 1 : 2);
    this.buffer.copyWithin(to, from, from + bytes);
    this.size(bytes, -1, 0xd0);
    this.at = to + bytes;
  }

  bytes(value: Uint8Array): void {
    this.size(value.length, -1, 0xcc);
    this.ensure(value.length);
    this.buffer.set(value, this.at);
    this.at += value.length;
  }

  /** So many values follow. */
  list(length: number): void {
    this.size(length, 0x90, 0xd4);
  }

  /** So many pairs of a string and a value follow. */
  map(length: number): void {
    this.size(length, 0xa0, 0xd8);
  }

  /** So many values follow, 15 at most. */
  structure(tag: number, fields: number): void {
    this.ensure(2);
    this.buffer[this.at++] = 0xb0 | fields;
    this.buffer[this.at++] = tag;
  }

  value(value: PackValue): void {
    if (value === null) this.null();
    else if (typeof value === "boolean") this.boolean(value);
    else if (typeof value === "string") this.string(value);
    else if (typeof value === "bigint") this.integer(value);
    else if (typeof value === "number") {
      if (Number.isInteger(value)) this.integer(value);
      else this.float(value);
    } else if (value instanceof PackFloat) this.float(value.value);
    else if (value instanceof Uint8Array) this.bytes(value);
    else if (Array.isArray(value)) {
      this.list(value.length);
      for (const item of value) this.value(item);
    } else this.members(value as { readonly [key: string]: PackValue | undefined });
  }

  /** Members that are undefined are left out. */
  private members(object: { readonly [key: string]: PackValue | undefined }): void {
    const entries = Object.entries(object).filter(([, value]) => value !== undefined);
    this.map(entries.length);
    for (const [key, value] of entries) {
      this.string(key);
      this.value(value!);
    }
  }

  /** A whole message of one field. */
  message(tag: number, field: PackValue): void {
    this.begin(tag, 1);
    this.value(field);
    this.end();
  }

  /** Goes back to a length that it had: what came since is gone. */
  cut(length: number): void {
    this.at = length;
  }

  /** Finished messages of another writer. */
  finished(messages: Uint8Array): void {
    this.ensure(messages.length);
    this.buffer.set(messages, this.at);
    this.at += messages.length;
  }

  /** The messages since the last call. */
  take(): Buffer {
    const taken = Buffer.from(this.buffer.subarray(0, this.at));
    this.at = 0;
    if (this.buffer.length > KEEP_BYTES) this.buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
    return taken;
  }

  private byte(value: number): void {
    this.ensure(1);
    this.buffer[this.at++] = value;
  }

  /**
   * `tiny`: the marker of sizes below 16, which is in it; -1: there is none. `marker`: of sizes in a byte, two and
   * four.
   */
  private size(size: number, tiny: number, marker: number): void {
    this.ensure(5);
    const { buffer } = this;
    if (size < 0x10 && tiny >= 0) buffer[this.at++] = tiny | size;
    else if (size <= 0xff) {
      buffer[this.at++] = marker;
      buffer[this.at++] = size;
    } else if (size <= 0xffff) {
      buffer[this.at] = marker + 1;
      this.at = buffer.writeUInt16BE(size, this.at + 1);
    } else {
      buffer[this.at] = marker + 2;
      this.at = buffer.writeUInt32BE(size, this.at + 1);
    }
  }

  private ensure(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.at + bytes));
    this.buffer.copy(grown, 0, 0, this.at);
    this.buffer = grown;
  }
}
