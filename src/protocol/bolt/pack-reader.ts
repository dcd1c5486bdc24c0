/**
 * Reads values in PackStream out of one message. What a structure, a float and bytes are made of is for the reader's
 * user, so that sessions get the engine's values at once. Everything is checked: lengths against what is there, depth,
 * texts.
 */
import { DbError } from "../errors.js";

/** A map of the client's: options of a message, parameters of a statement. */
export type PackMap = ReadonlyMap<string, unknown>;

/** Throws for what it does not take. */
export interface Hydrate {
  float(value: number): unknown;
  bytes(value: Buffer): unknown;
  structure(tag: number, fields: readonly unknown[]): unknown;
}

/** For messages without values of statements. */
export const PLAIN: Hydrate = {
  float: (value) => value,
  bytes: (value) => value,
  structure: () => {
    throw malformed("a structure does not belong there");
  },
};

/** Lists, maps and structures inside each other. */
const DEPTH_MAX = 1000;
/** Of one message. */
const VALUES_MAX = 5_000_000;
/** A list, map or structure takes as much memory as so many plain values, even an empty one. */
const COMPOUND_VALUES = 10;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Shorter texts are decoded by the buffer and checked by looking for the sign that stands for what is no UTF-8. */
const SHORT_BYTES = 64;

/** What the client sent is no message of Bolt. The connection ends. */
export function malformed(what: string): DbError {
  return new DbError("invalid_request", `The message is malformed: ${what}.`, { bolt: INVALID });
}

const INVALID = "Neo.ClientError.Request.Invalid";

export class PackReader {
  private at = 0;
  private depth = 0;
  private values = 0;

  constructor(
    private readonly bytes: Buffer,
    private readonly hydrate: Hydrate = PLAIN,
  ) {}

  /** The message's tag and the number of its fields. */
  message(): { readonly tag: number; readonly fields: number } {
    const marker = this.byte();
    if (marker >> 4 !== 0xb) throw malformed("it does not begin with a structure");
    return { tag: this.byte(), fields: marker & 0xf };
  }

  /** Nothing may follow. */
  end(): void {
    if (this.at !== this.bytes.length) throw malformed(`${this.bytes.length - this.at} bytes follow its last field`);
  }

  value(): unknown {
    this.count(1);
    const marker = this.byte();
    if (marker < 0x80) return marker;
    if (marker >= 0xf0) return marker - 0x100;
    const low = marker & 0xf;
    switch (marker >> 4) {
      case 0x8:
        return this.text(low);
      case 0x9:
        return this.list(low);
      case 0xa:
        return this.map(low);
      case 0xb:
        return this.structure(low);
      default:
        return this.marked(marker);
    }
  }

  private marked(marker: number): unknown {
    switch (marker) {
      case 0xc0:
        return null;
      case 0xc1:
        return this.hydrate.float(this.bytes.readDoubleBE(this.skip(8)));
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc8:
        return this.bytes.readInt8(this.skip(1));
      case 0xc9:
        return this.bytes.readInt16BE(this.skip(2));
      case 0xca:
        return this.bytes.readInt32BE(this.skip(4));
      case 0xcb:
        return smallest(this.bytes.readBigInt64BE(this.skip(8)));
      case 0xcc:
      case 0xcd:
      case 0xce:
        return this.hydrate.bytes(this.slice(this.size(marker - 0xcc)));
      case 0xd0:
      case 0xd1:
      case 0xd2:
        return this.text(this.size(marker - 0xd0));
      case 0xd4:
      case 0xd5:
      case 0xd6:
        return this.list(this.size(marker - 0xd4));
      case 0xd8:
      case 0xd9:
      case 0xda:
        return this.map(this.size(marker - 0xd8));
      default:
        throw malformed(`there is no value with the marker ${marker.toString(16)}`);
    }
  }

  /** In one, two or four bytes. */
  private size(kind: number): number {
    if (kind === 0) return this.byte();
    return kind === 1 ? this.bytes.readUInt16BE(this.skip(2)) : this.bytes.readUInt32BE(this.skip(4));
  }

  private text(length: number): string {
    const bytes = this.slice(length);
    if (length <= SHORT_BYTES) {
      const text = bytes.toString("utf8");
      if (!text.includes("\ufffd")) return text;
    }
    try {
      return utf8.decode(bytes);
    } catch {
      throw malformed("a string is not UTF-8");
    }
  }

  private list(length: number): unknown[] {
    // Each item takes a byte at least.
    this.requireBytes(length);
    this.enter();
    const items: unknown[] = [];
    for (let i = 0; i < length; i++) items.push(this.value());
    this.depth--;
    return items;
  }

  private map(length: number): PackMap {
    this.requireBytes(length * 2);
    this.enter();
    const map = new Map<string, unknown>();
    for (let i = 0; i < length; i++) {
      const key = this.value();
      if (typeof key !== "string") throw malformed("a map has a key that is no string");
      if (map.has(key)) throw malformed(`a map has the key ${JSON.stringify(key)} twice`);
      map.set(key, this.value());
    }
    this.depth--;
    return map;
  }

  private structure(fields: number): unknown {
    const tag = this.byte();
    this.enter();
    const values: unknown[] = [];
    for (let i = 0; i < fields; i++) values.push(this.value());
    this.depth--;
    return this.hydrate.structure(tag, values);
  }

  private count(values: number): void {
    this.values += values;
    if (this.values > VALUES_MAX) {
      throw new DbError(
        "payload_too_large",
        `The message has more than ${VALUES_MAX} values, where a list or a map counts as ${COMPOUND_VALUES}. Send it in parts.`,
      );
    }
  }

  private enter(): void {
    this.count(COMPOUND_VALUES);
    if (++this.depth > DEPTH_MAX) throw malformed(`values are nested more than ${DEPTH_MAX} levels deep`);
  }

  private byte(): number {
    return this.bytes[this.skip(1)]!;
  }

  private slice(length: number): Buffer {
    const from = this.skip(length);
    return this.bytes.subarray(from, from + length);
  }

  /** Where these bytes begin. */
  private skip(length: number): number {
    const from = this.at;
    this.requireBytes(length);
    this.at = from + length;
    return from;
  }

  private requireBytes(length: number): void {
    if (this.at + length > this.bytes.length) throw malformed("it ends within a value");
  }
}

/** A number where that is exact. */
function smallest(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
