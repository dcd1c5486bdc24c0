/**
 * Reads a large JSON text in pieces of some 32 KiB, with turns in between, so that other requests do not wait for it.
 * A scan of the bytes finds where members and elements end; JSON.parse reads as many of them as make a piece. A text
 * that is longer than a piece is read in parts, too. Each byte is looked at a constant number of times however deeply
 * it is nested. Called by bodies/parse-body.ts for large bodies, and for long lines of imports.
 */

import { JSON_DEPTH_MAX, OBJECT_MEMBERS_MAX } from "../protocol/limits.js";
import type { Turns } from "../protocol/turns.js";
import { setMember } from "./json-text.js";

const QUOTE = 34;
const COMMA = 44;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const LETTER_U = 117;
const CLOSE_LIST = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

const PIECE_BYTES = 32 * 1024;

/** What is wrong with the text, and where; the caller makes an error for the client of it. */
export class JsonFault extends Error {
  constructor(
    readonly kind: "syntax" | "depth" | "members",
    /** Byte at which a tolerant parser should begin to look for the fault. */
    readonly offset: number,
    message: string,
    /** The replacement for the text before that byte. */
    readonly opens = "",
  ) {
    super(message);
  }
}

export interface ReadJsonOptions {
  /** Reads a piece, which is a list or an object. Throws SyntaxError. */
  readonly parse: (text: string) => unknown;
  /**
   * Reads elements of the list that is the body's member of that name, commas between them; undefined: `parse` shall.
   */
  readonly parseElements?: (member: string, elements: Buffer) => readonly unknown[] | undefined;
  /** Bytes that are parsed at once, unless a name is longer. */
  readonly pieceBytes?: number;
  /** The text is our own: neither levels nor members are limited. */
  readonly isOurs?: boolean;
}

/** A list or object that is larger than a piece. */
interface Large {
  readonly isObject: boolean;
  readonly value: unknown[] | Record<string, unknown>;
  /** Members or elements that it has by now. */
  count: number;
  /** Its name in the body; null: it is no member of the body itself. */
  readonly name: string | null;
  /** Where begins what was not parsed of it. */
  unparsed: number;
  /** An element that was large has ended there: a comma or the end must follow. */
  needsComma: boolean;
}

/** Throws JsonFault where the text has more levels inside each other. One quick pass over the bytes. */
export function checkDepth(bytes: Uint8Array): void {
  if (bytes.length <= JSON_DEPTH_MAX) return;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++depth > JSON_DEPTH_MAX) throw tooDeep(at);
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--;
  }
}

/** The place of the closing quote of the text that begins at `at`; without one, the end of the bytes. */
function endOfString(bytes: Uint8Array, at: number): number {
  for (let end = at + 1; end < bytes.length; end++) {
    const byte = bytes[end];
    if (byte === BACKSLASH) end++;
    else if (byte === QUOTE) return end;
  }
  return bytes.length;
}

const tooDeep = (at: number) => new JsonFault("depth", at, `is nested deeper than ${JSON_DEPTH_MAX} levels`);

/** The value of the text, whose first byte that is no blank opens a list or an object. Throws JsonFault. */
export async function readJsonInPieces(bytes: Buffer, turns: Turns, options: ReadJsonOptions): Promise<unknown> {
  return new PieceReader(bytes, turns, options).read();
}

/** Bytes that are looked through between two looks at the clock. */
const SCANNED_PER_LOOK = 4 * PIECE_BYTES;

class PieceReader {
  /** Those of the open lists and objects that are values already: the outer ones. */
  private readonly large: Large[] = [];
  /** By depth: where the open list or object begins, and its current element with its name. */
  private readonly starts: number[] = [];
  private readonly elements: number[] = [];
  private depth = 0;
  private at = 0;
  private inString = false;
  /** The opening quote of the text that is being scanned, or was last. */
  private textAt = 0;
  /** What was read of it, where it is long, and where begins what was not; null: it is read with what is around it. */
  private text: { readonly parts: string[]; from: number } | null = null;
  /** It is a name, which nothing can be read before. */
  private isName = false;
  private result: unknown = undefined;
  private readonly pieceBytes: number;

  constructor(
    private readonly bytes: Buffer,
    private readonly turns: Turns,
    private readonly options: ReadJsonOptions,
  ) {
    this.pieceBytes = options.pieceBytes ?? PIECE_BYTES;
  }

  async read(): Promise<unknown> {
    const { bytes, turns } = this;
    this.skipBlanks();
    const first = bytes[this.at];
    if (first !== OPEN_LIST && first !== OPEN_OBJECT) throw syntax(this.at);
    this.open();
    this.result = this.enlarge(null);
    while (this.depth > 0) {
      if (this.scan()) this.keep();
      if (turns.shouldYield()) await turns.yieldTurn();
    }
    this.skipBlanks();
    if (this.at < bytes.length) throw syntax(this.at);
    return this.result;
  }

  private skipBlanks(): void {
    while (isBlank(this.bytes[this.at])) this.at++;
  }

  private open(): void {
    const { depth, at } = this;
    if (depth >= JSON_DEPTH_MAX && this.options.isOurs !== true) throw tooDeep(at);
    this.starts[depth] = at;
    this.elements[depth] = at + 1;
    this.depth = depth + 1;
    this.at = at + 1;
  }

  /** Looks through the next bytes. True: there is a piece to be parsed. */
  private scan(): boolean {
    const { bytes, large } = this;
    const until = Math.min(bytes.length, this.at + SCANNED_PER_LOOK);
    while (this.at < until) {
      if (this.inString) {
        const partEnd = (this.text?.from ?? this.textAt) + this.pieceBytes;
        this.passString(this.isName ? until : Math.min(until, Math.max(partEnd, this.at + 1)));
        if (this.inString) {
          if (this.isName || this.at >= until) continue;
          this.keepText();
          return false;
        }
        if (this.text !== null) this.endText();
        continue;
      }
      const { at } = this;
      const byte = bytes[at]!;
      if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.open();
      else if (byte === COMMA) {
        this.elements[this.depth - 1] = at + 1;
        this.at = at + 1;
        const inner = large.at(-1)!;
        if (inner.needsComma && this.depth === large.length) this.passComma(inner, at);
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        this.at = at + 1;
        if (this.depth === large.length) this.end(byte === CLOSE_OBJECT, at);
        this.depth--;
        if (this.depth === 0) return false;
      } else {
        if (byte === QUOTE) {
          this.inString = true;
          this.isName = false;
          this.textAt = at;
        }
        this.at = at + 1;
        continue;
      }
      if (at - large.at(-1)!.unparsed >= this.pieceBytes) return true;
    }
    if (this.at >= bytes.length) throw syntaxIn(large.at(-1)!);
    return false;
  }

  /** Goes on in a text, up to its end or `until`. */
  private passString(until: number): void {
    const { bytes } = this;
    let { at } = this;
    for (; at < until; at++) {
      const byte = bytes[at];
      if (byte === BACKSLASH) at += bytes[at + 1] === LETTER_U ? 5 : 1;
      else if (byte === QUOTE) {
        this.inString = false;
        at++;
        break;
      }
    }
    this.at = at;
  }

  /** Reads what was scanned of a long text; what is around it is a value from now on. */
  private keepText(): void {
    const { bytes } = this;
    if (this.text === null) {
      this.keep();
      const inner = this.large.at(-1)!;
      if (inner.needsComma) throw syntaxIn(inner);
      this.isName = inner.isObject && this.isBlankFrom(inner.unparsed, this.textAt);
      if (this.isName) return;
      this.text = { parts: [], from: this.textAt + 1 };
    }
    let end = this.at;
    // Not within a character, which has up to three bytes behind its first. More of them are no character of UTF-8.
    while (end > this.at - 3 && (bytes[end]! & 0xc0) === 0x80) end--;
    this.readText(this.text, end);
  }

  private readText(text: { readonly parts: string[]; from: number }, to: number): void {
    if (to <= text.from) return;
    const [part] = this.parsed(`["${this.bytes.toString("utf8", text.from, to)}"]`, this.large.at(-1)!) as string[];
    text.parts.push(part!);
    text.from = to;
  }

  /** Behind the closing quote of a long text. */
  private endText(): void {
    const inner = this.large.at(-1)!;
    const text = this.text!;
    this.text = null;
    this.readText(text, this.at - 1);
    this.put(inner, text.parts.join(""), this.textAt);
    inner.unparsed = this.at;
    inner.needsComma = true;
  }

  /** The comma behind an element that was large. */
  private passComma(inner: Large, comma: number): void {
    if (!this.isBlankFrom(inner.unparsed, comma)) throw syntaxIn(inner);
    inner.needsComma = false;
    inner.unparsed = comma + 1;
  }

  /** Parses the elements that have ended of everything that is open, the innermost of which are values from now on. */
  private keep(): void {
    for (;;) {
      const level = this.large.length - 1;
      const inner = this.large[level]!;
      const element = this.elements[level]!;
      // What ends with a comma has an element before it.
      if (element - 1 > inner.unparsed) {
        if (inner.needsComma || !this.parsePiece(inner, element - 1)) throw syntaxIn(inner);
        inner.unparsed = element;
      } else if (element > inner.unparsed) throw syntaxIn(inner);
      if (level === this.depth - 1) return;
      this.enlarge(inner);
    }
  }

  /** Makes a value of the outermost list or object that is none yet, inside `around`. */
  private enlarge(around: Large | null): unknown {
    const level = this.large.length;
    const start = this.starts[level]!;
    const isObject = this.bytes[start] === OPEN_OBJECT;
    const value = isObject ? {} : [];
    const name = around === null ? null : this.put(around, value, start);
    const member = level === 1 ? name : null;
    this.large.push({ isObject, value, count: 0, name: member, unparsed: start + 1, needsComma: false });
    return value;
  }

  /** Puts the value that begins there into what is around it; answers its name. */
  private put(around: Large, value: unknown, start: number): string | null {
    const before = this.bytes.toString("utf8", around.unparsed, start).trim();
    this.count(around, 1, start);
    if (!around.isObject) {
      if (before !== "" || around.needsComma) throw syntaxIn(around);
      (around.value as unknown[]).push(value);
      return null;
    }
    const name = before.endsWith(":") && !around.needsComma ? this.parsed(before.slice(0, -1), around) : null;
    if (typeof name !== "string") throw syntaxIn(around);
    setMember(around.value as Record<string, unknown>, name, value);
    return name;
  }

  /** The end of a large list or object. */
  private end(isObject: boolean, at: number): void {
    const inner = this.large.pop()!;
    if (inner.isObject !== isObject) throw syntax(at);
    if (inner.needsComma) {
      if (!this.isBlankFrom(inner.unparsed, at)) throw syntaxIn(inner);
    } else if (!this.parsePiece(inner, at) && inner.count > 0) throw syntax(at);
    const around = this.large.at(-1);
    if (around === undefined) return;
    around.unparsed = at + 1;
    around.needsComma = true;
  }

  /** Parses the elements up to `to`; false: there are none. */
  private parsePiece(into: Large, to: number): boolean {
    const from = into.unparsed;
    if (!into.isObject) {
      const { name } = into;
      const special = name === null ? undefined : this.options.parseElements?.(name, this.bytes.subarray(from, to));
      const items = special ?? (this.parsed(`[${this.bytes.toString("utf8", from, to)}]`, into) as unknown[]);
      this.count(into, items.length, from);
      const list = into.value as unknown[];
      for (let i = 0; i < items.length; i++) list.push(items[i]);
      return items.length > 0;
    }
    const piece = this.parsed(`{${this.bytes.toString("utf8", from, to)}}`, into) as Record<string, unknown>;
    const names = Object.keys(piece);
    this.count(into, names.length, from);
    for (const name of names) setMember(into.value as Record<string, unknown>, name, piece[name]);
    return names.length > 0;
  }

  private count(into: Large, count: number, offset: number): void {
    into.count += count;
    if (!into.isObject || into.count <= OBJECT_MEMBERS_MAX || this.options.isOurs === true) return;
    throw new JsonFault("members", offset, `has an object of more than ${OBJECT_MEMBERS_MAX} members`);
  }

  private parsed(text: string, inside: Large): unknown {
    try {
      return this.options.parse(text);
    } catch (error) {
      if (error instanceof SyntaxError) throw syntaxIn(inside);
      throw error;
    }
  }

  private isBlankFrom(from: number, to: number): boolean {
    let at = from;
    while (at < to && isBlank(this.bytes[at])) at++;
    return at >= to;
  }
}

const syntax = (offset: number, opens = "") => new JsonFault("syntax", offset, "is not valid JSON", opens);

/** Somewhere in what was not parsed of it. */
const syntaxIn = ({ isObject, unparsed, needsComma }: Large) =>
  syntax(unparsed, needsComma ? (isObject ? '{"":0' : "[0") : isObject ? "{" : "[");

function isBlank(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9;
}
