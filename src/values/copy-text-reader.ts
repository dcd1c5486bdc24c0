/**
 * Reads rows of COPY's text format from bytes as they arrive (PostgreSQL 15's manual on COPY, File Formats): fields
 * between delimiters, one row a line, special characters behind backslashes. A line of `\.` ends the rows. It gives
 * fields as CsvReader does. One per COPY.
 */
import { sqlError } from "../protocol/errors.js";
import { FIELD_ESCAPED, FIELD_PLAIN, type RecordReader } from "./csv-reader.js";
import { PieceBuffer } from "./piece-buffer.js";

const LF = 10;
const CR = 13;
const BACKSLASH = 92;
const DOT = 46;
const FIELDS_MAX = 4096;

export class CopyTextReader implements RecordReader {
  readonly pieces = new PieceBuffer();
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly kinds: number[] = [];
  count = 0;
  line = 0;
  private nextLine = 1;
  private hasEnded = false;
  private readonly delimiter: number;
  private readonly nullText: Buffer;

  constructor(
    delimiter: string,
    nullText: string,
    /** A longer row is refused. */
    private readonly recordBytesMax: number,
  ) {
    this.delimiter = delimiter.charCodeAt(0);
    this.nullText = Buffer.from(nullText);
  }

  get bytes(): Buffer {
    return this.pieces.bytes;
  }

  get unreadLine(): number {
    return this.nextLine;
  }

  push(piece: Uint8Array): void {
    if (this.pieces.left > this.recordBytesMax) {
      throw sqlError("54000", `a row is longer than ${this.recordBytesMax} bytes`, { line: this.nextLine });
    }
    this.pieces.push(piece);
  }

  /** Finds the next row; false when its end has not arrived, or there is none. Throws 22P04. */
  next(isEnd: boolean): boolean {
    const { pieces, delimiter, starts, ends, kinds } = this;
    const { bytes, position } = pieces;
    const { length } = bytes;
    if (this.hasEnded || position >= length) return false;
    let at = position;
    let field = 0;
    let start = at;
    let isEscaped = false;
    for (;;) {
      const byte = at < length ? bytes[at]! : LF;
      if (at >= length && !isEnd) return false;
      if (byte === BACKSLASH) {
        if (at + 1 >= length && !isEnd) return false;
        isEscaped = true;
        at += 2;
        continue;
      }
      if (byte !== delimiter && byte !== LF) {
        at++;
        continue;
      }
      if (field > FIELDS_MAX)
        throw sqlError("22P04", `a row has more than ${FIELDS_MAX} fields`, { line: this.nextLine });
      let end = Math.min(at, length);
      if (byte === LF && end > start && bytes[end - 1] === CR) end--;
      starts[field] = start;
      ends[field] = end;
      kinds[field] = isEscaped && !this.isNull(start, end) ? FIELD_ESCAPED : FIELD_PLAIN;
      field++;
      at++;
      start = at;
      isEscaped = false;
      if (byte === LF) break;
    }
    pieces.position = Math.min(at, length);
    this.line = this.nextLine++;
    this.count = field;
    if (field === 1 && this.isEndMark(starts[0]!, ends[0]!)) {
      this.hasEnded = true;
      return false;
    }
    return true;
  }

  /** The null text is compared as it was sent, with its backslashes. */
  private isNull(start: number, end: number): boolean {
    return this.nullText.equals(this.bytes.subarray(start, end));
  }

  private isEndMark(start: number, end: number): boolean {
    return end - start === 2 && this.bytes[start] === BACKSLASH && this.bytes[start + 1] === DOT;
  }

  field(index: number): Uint8Array {
    const bytes = this.bytes.subarray(this.starts[index]!, this.ends[index]!);
    return this.kinds[index] === FIELD_ESCAPED ? unescaped(bytes) : bytes;
  }

  text(index: number): string {
    const bytes = this.field(index);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  }
}

const LETTERS = new Map([..."bfnrtv"].map((letter, i) => [letter.charCodeAt(0), [8, 12, 10, 13, 9, 11][i]!]));

function unescaped(bytes: Buffer): Uint8Array {
  const out = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== BACKSLASH || at + 1 === bytes.length) {
      out[length++] = bytes[at]!;
      continue;
    }
    const next = bytes[++at]!;
    const number = /^(?:[0-7]{1,3}|x[0-9a-fA-F]{1,2})/.exec(bytes.toString("latin1", at, at + 3))?.[0];
    if (number === undefined) {
      out[length++] = LETTERS.get(next) ?? next;
      continue;
    }
    const isHex = number.startsWith("x");
    out[length++] = Number.parseInt(isHex ? number.slice(1) : number, isHex ? 16 : 8) & 255;
    at += number.length - 1;
  }
  return out.subarray(0, length);
}
