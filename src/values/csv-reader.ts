/**
 * Reads CSV from bytes as they arrive: RFC 4180, with any delimiter and quote, lines that end in LF or CRLF, and line
 * breaks within quotes. Fields are given as positions in the bytes, so a caller that knows their types can read them
 * without making a string. One per file; imports use it.
 */
import { sqlError } from "../protocol/errors.js";
import { PieceBuffer } from "./piece-buffer.js";
import type { Value } from "./values.js";

export const FIELD_PLAIN = 0;
export const FIELD_QUOTED = 1;
/** Quoted, with escaped quotes inside. */
export const FIELD_ESCAPED = 2;
/** Not a text: `value` answers it. */
export const FIELD_VALUE = 3;

const LF = 10;
const CR = 13;

/** Fields of a record beyond which it is refused: more than any table has columns. */
const FIELDS_MAX = 4096;

/** What finds rows in a file and gives their fields as places in its bytes. */
export interface RecordReader {
  readonly pieces: PieceBuffer;
  readonly bytes: Buffer;
  /** Of the row that `next` has found: its fields' places in `bytes`, and FIELD_… of each. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly kinds: readonly number[];
  readonly count: number;
  /** Line on which that row begins, from 1 on. */
  readonly line: number;
  readonly unreadLine: number;
  push(piece: Uint8Array): void;
  next(isEnd: boolean): boolean;
  field(index: number): Uint8Array;
  text(index: number): string;
  /** Of readers that find such fields. */
  value?(index: number): Value;
  /** A numeric of 15 digits at most, as if it had no point, and how many are after it; undefined: it is another one. */
  scaled?(index: number): number | undefined;
  readonly scale?: number;
}

export class CsvReader implements RecordReader {
  readonly pieces = new PieceBuffer();
  /** Of the record that `next` has found: its fields' places in `bytes`, and FIELD_… of each. */
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly kinds: number[] = [];
  count = 0;
  /** Line on which that record begins, from 1 on. */
  line = 0;
  private nextLine = 1;
  private readonly delimiter: number;
  private readonly quote: number;
  /** Stands before a quote within quotes; often the quote itself. */
  private readonly escape: number;
  /**
   * Of a record whose end has not arrived: the fields that have, where the one after them begins, how far that was
   * looked through, what is known of it by then, and the line breaks that were seen.
   */
  private fieldsFound = 0;
  private fieldStart = 0;
  private searchedTo = 0;
  private kindSoFar = FIELD_QUOTED;
  private linesFound = 0;

  constructor(
    delimiter: string,
    quote: string,
    /** A longer record is refused. */
    private readonly recordBytesMax: number,
    escapedBy = quote,
  ) {
    this.delimiter = delimiter.charCodeAt(0);
    this.quote = quote.charCodeAt(0);
    this.escape = escapedBy.charCodeAt(0);
  }

  /** The bytes that `starts` and `ends` count in. */
  get bytes(): Buffer {
    return this.pieces.bytes;
  }

  /** Number of the line on which begins what was not read. */
  get unreadLine(): number {
    return this.nextLine;
  }

  /** Takes further bytes, which must stay as they are until the records in them have been read. */
  push(piece: Uint8Array): void {
    if (this.pieces.left > this.recordBytesMax) {
      throw sqlError("54000", `a record is longer than ${this.recordBytesMax} bytes`, {
        line: this.nextLine,
        hint: "Look for an unclosed quote, or load long values by statements.",
      });
    }
    const moved = this.pieces.push(piece);
    if (moved === 0) return;
    this.fieldStart -= moved;
    this.searchedTo -= moved;
    for (let i = 0; i < this.fieldsFound; i++) {
      this.starts[i]! -= moved;
      this.ends[i]! -= moved;
    }
  }

  /**
   * Finds the next record; false when its end has not arrived, or there is none: then the next call goes on where this
   * one has stopped. With `isEnd` the last record need not end in a line break. Throws 22P04 for quotes that do not
   * fit.
   */
  next(isEnd: boolean): boolean {
    const { pieces, delimiter, quote, starts, ends, kinds } = this;
    const escapedBy = this.escape;
    const { bytes } = pieces;
    const { length } = bytes;
    if (pieces.position >= length) return false;
    let field = this.fieldsFound;
    let at = this.fieldStart;
    let lines = this.linesFound;
    for (;;) {
      // At the start of a field.
      if (field > FIELDS_MAX) {
        throw sqlError("22P04", `a record has more than ${FIELDS_MAX} fields`, { line: this.nextLine });
      }
      const goOnAt = Math.max(this.searchedTo, at);
      if (at < length && bytes[at] === quote) {
        const start = at + 1;
        let kind = goOnAt > at ? this.kindSoFar : FIELD_QUOTED;
        at = Math.max(start, goOnAt);
        for (;;) {
          while (at < length && bytes[at] !== quote && bytes[at] !== escapedBy) {
            if (bytes[at] === LF) lines++;
            at++;
          }
          if (at + 1 < length && escapedBy !== quote && bytes[at] === escapedBy) {
            // Before anything else it is a character like others.
            const isBefore = bytes[at + 1] === quote || bytes[at + 1] === escapedBy;
            if (isBefore) kind = FIELD_ESCAPED;
            at += isBefore ? 2 : 1;
            continue;
          }
          if (escapedBy === quote && at + 1 < length && bytes[at + 1] === quote) {
            kind = FIELD_ESCAPED;
            at += 2;
            continue;
          }
          break;
        }
        if (isEnd && bytes[at] !== quote)
          throw sqlError("22P04", "unterminated CSV quoted field", { line: this.nextLine });
        // Whether the quote is doubled, or a CR has its LF, the next piece tells.
        if (!isEnd && at + 2 >= length) {
          this.kindSoFar = kind;
          return this.wait(field, start - 1, at, lines);
        }
        starts[field] = start;
        ends[field] = at++;
        kinds[field] = kind;
        field++;
        if (at < length && bytes[at] === CR && (at + 1 === length || bytes[at + 1] === LF)) at++;
        if (at >= length) break;
        const byte = bytes[at++];
        if (byte === delimiter) continue;
        if (byte === LF) {
          lines++;
          break;
        }
        throw sqlError("22P04", "text after the closing quote of a CSV field", { line: this.nextLine + lines });
      }
      const start = at;
      at = goOnAt;
      while (at < length) {
        const byte = bytes[at]!;
        if (byte === delimiter || byte === LF) break;
        at++;
      }
      if (at >= length && !isEnd) return this.wait(field, start, at, lines);
      starts[field] = start;
      kinds[field] = FIELD_PLAIN;
      if (at < length && bytes[at] === delimiter) {
        ends[field++] = at++;
        continue;
      }
      ends[field++] = at > start && bytes[at - 1] === CR ? at - 1 : at;
      if (at < length) lines++;
      at++;
      break;
    }
    this.count = field;
    this.line = this.nextLine;
    this.nextLine += lines;
    pieces.position = Math.min(at, length);
    this.fieldsFound = 0;
    this.linesFound = 0;
    this.fieldStart = pieces.position;
    this.searchedTo = pieces.position;
    return true;
  }

  /** The record's end has not arrived. */
  private wait(field: number, fieldStart: number, searchedTo: number, lines: number): false {
    this.fieldsFound = field;
    this.fieldStart = fieldStart;
    this.searchedTo = searchedTo;
    this.linesFound = lines;
    return false;
  }

  /** A field's bytes; copied where escapes must go. */
  field(index: number): Uint8Array {
    const bytes = this.bytes.subarray(this.starts[index]!, this.ends[index]!);
    if (this.kinds[index] !== FIELD_ESCAPED) return bytes;
    const out = Buffer.allocUnsafe(bytes.length);
    let length = 0;
    for (let i = 0; i < bytes.length; i++) {
      const isEscape = bytes[i] === this.escape && (bytes[i + 1] === this.quote || bytes[i + 1] === this.escape);
      if (isEscape) i++;
      out[length++] = bytes[i]!;
    }
    return out.subarray(0, length);
  }

  text(index: number): string {
    const bytes = this.field(index);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  }
}
