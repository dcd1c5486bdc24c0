/**
 * Reads JSON bodies whose bulk is vectors: the numbers of the members "vector" and "values" go from the bytes into single
 * precision, several times as fast as by way of a list of doubles. Called by validate.ts for endpoints that say so.
 * Whatever is not plain is left to JSON.parse, which also tells what is wrong with it.
 */
import { VECTOR_DIMENSIONS_MAX } from "../protocol/limits.js";
import { readNumberList } from "./number-list.js";

const QUOTE = 34;
const PLUS = 43;
const COMMA = 44;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Whole numbers below can take another digit and are still exact. */
const MANTISSA_MAX = 2 ** 53 / 10 - 1;
/** Powers of ten that a double holds exactly: a mantissa divided by one of them is rounded once. */
const POWERS = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);

const scratch = new Float32Array(VECTOR_DIMENSIONS_MAX);

/** Thrown inside, caught below. */
const NOT_PLAIN = new Error("not plain");

/** The body, with vectors as Float32Arrays; undefined: it is not plain, perhaps not even JSON. */
export function parseVectorJson(bytes: Uint8Array): unknown {
  try {
    return new VectorJson(bytes).body();
  } catch {
    return undefined;
  }
}

/** Elements of "vectors", with commas between them, of a body that is read in pieces; undefined: they are not plain. */
export function parseVectorElements(elements: Buffer): readonly unknown[] | undefined {
  const body = parseVectorJson(Buffer.concat([VECTORS_OPEN, elements, VECTORS_CLOSE])) as
    | { readonly vectors: unknown[] }
    | undefined;
  return body?.vectors;
}

const VECTORS_OPEN = Buffer.from('{"vectors":[');
const VECTORS_CLOSE = Buffer.from("]}");

class VectorJson {
  private at = 0;
  private readonly buffer: Buffer;

  constructor(private readonly bytes: Uint8Array) {
    this.buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  body(): object {
    const body = this.object();
    if (this.next() !== undefined) throw NOT_PLAIN;
    return body;
  }

  /** The byte after blanks. */
  private next(): number | undefined {
    const { bytes } = this;
    for (;;) {
      const byte = bytes[this.at];
      if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) return byte;
      this.at++;
    }
  }

  private take(byte: number): void {
    if (this.next() !== byte) throw NOT_PLAIN;
    this.at++;
  }

  /** Takes a comma, or the end. */
  private isLast(end: number): boolean {
    const byte = this.next();
    if (byte !== COMMA && byte !== end) throw NOT_PLAIN;
    this.at++;
    return byte === end;
  }

  private object(): object {
    this.take(OPEN_OBJECT);
    const object: Record<string, unknown> = {};
    if (this.next() === CLOSE_OBJECT) {
      this.at++;
      return object;
    }
    do {
      const name = this.name();
      this.take(COLON);
      object[name] = this.member(name);
    } while (!this.isLast(CLOSE_OBJECT));
    return object;
  }

  private name(): string {
    if (this.next() !== QUOTE) throw NOT_PLAIN;
    const begin = this.at + 1;
    const end = this.bytes.indexOf(QUOTE, begin);
    const name = this.buffer.toString("latin1", begin, end);
    // Also what JSON.parse sets otherwise than an assignment does.
    if (end < 0 || !/^\w+$/.test(name) || name === "__proto__") throw NOT_PLAIN;
    this.at = end + 1;
    return name;
  }

  private member(name: string): unknown {
    const isList = this.next() === OPEN_LIST;
    if (isList && (name === "vector" || name === "values")) return this.vector();
    if (isList && name === "vectors") return this.items();
    const begin = this.at;
    this.skip();
    return JSON.parse(this.buffer.toString("utf8", begin, this.at));
  }

  private items(): object[] {
    this.at++;
    const items: object[] = [];
    if (this.next() === CLOSE_LIST) {
      this.at++;
      return items;
    }
    do items.push(this.object());
    while (!this.isLast(CLOSE_LIST));
    return items;
  }

  /** Passes a value. What is wrong inside it JSON.parse finds. */
  private skip(): void {
    const { bytes } = this;
    let depth = 0;
    for (; this.at < bytes.length; this.at++) {
      const byte = bytes[this.at]!;
      if (byte === QUOTE) this.skipString();
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        if (depth === 0) return;
        depth--;
      } else if (byte === COMMA && depth === 0) return;
    }
    throw NOT_PLAIN;
  }

  /** Ends at the closing quote. */
  private skipString(): void {
    const { bytes } = this;
    for (this.at++; this.at < bytes.length; this.at++) {
      const byte = bytes[this.at];
      if (byte === BACKSLASH) this.at++;
      else if (byte === QUOTE) return;
    }
    throw NOT_PLAIN;
  }

  private vector(): Float32Array {
    this.at++;
    const end = this.bytes.indexOf(CLOSE_LIST, this.at) + 1;
    if (end === 0) throw NOT_PLAIN;
    const plain = readNumberList(this.bytes, this.at, end);
    if (plain !== null) {
      this.at = end;
      return plain;
    }
    return this.unusualVector();
  }

  /** Number by number: with many digits or large exponents, or with what is no number. */
  private unusualVector(): Float32Array {
    let length = 0;
    if (this.next() === CLOSE_LIST) {
      this.at++;
      return new Float32Array(0);
    }
    do {
      if (length === VECTOR_DIMENSIONS_MAX) throw NOT_PLAIN;
      this.next();
      scratch[length++] = this.number();
    } while (!this.isLast(CLOSE_LIST));
    return scratch.slice(0, length);
  }

  /** A number as JSON writes it, as good as the nearest double where that is rounded to single precision. */
  private number(): number {
    const { bytes } = this;
    const begin = this.at;
    let at = begin;
    const isNegative = bytes[at] === MINUS;
    if (isNegative) at++;
    const first = at;
    let mantissa = 0;
    // Of the mantissa's digits, those behind the point, less those that it has no room for.
    let fraction = 0;
    let isCut = false;
    let digit = bytes[at]! - ZERO;
    for (; digit >= 0 && digit <= 9; digit = bytes[++at]! - ZERO) {
      if (mantissa < MANTISSA_MAX) mantissa = 10 * mantissa + digit;
      else {
        isCut = true;
        fraction--;
      }
    }
    if (at === first || (bytes[first] === ZERO && at > first + 1)) throw NOT_PLAIN;
    if (bytes[at] === POINT) {
      const point = at;
      digit = bytes[++at]! - ZERO;
      for (; digit >= 0 && digit <= 9; digit = bytes[++at]! - ZERO) {
        if (mantissa < MANTISSA_MAX) {
          mantissa = 10 * mantissa + digit;
          fraction++;
        } else isCut = true;
      }
      if (at === point + 1) throw NOT_PLAIN;
    }
    const byte = bytes[at];
    const hasExponent = byte === 101 || byte === 69;
    if (hasExponent) at = this.exponentEnd(at);
    this.at = at;
    if (!hasExponent && fraction >= 0 && fraction < POWERS.length) {
      const power = POWERS[fraction]!;
      const value = mantissa / power;
      // Digits left out may matter to single precision only if the next mantissa makes another number of it.
      if (!isCut || Math.fround(value) === Math.fround((mantissa + 1) / power)) return isNegative ? -value : value;
    }
    return Number(this.buffer.toString("latin1", begin, at));
  }

  private exponentEnd(letter: number): number {
    const { bytes } = this;
    let at = letter + 1;
    if (bytes[at] === PLUS || bytes[at] === MINUS) at++;
    const first = at;
    while (bytes[at]! >= ZERO && bytes[at]! <= ZERO + 9) at++;
    if (at === first) throw NOT_PLAIN;
    return at;
  }
}
