/**
 * CSV read from bytes as they arrive: RFC 4180, with any delimiter and quote, lines that end in LF or CRLF, and line
 * breaks within quotes. Fields are told as places in the bytes, so that whoever knows their types can read them
 * without a string in between. One per file; imports drive it.
 */
import { sqlError } from "./errors.js";

export const FIELD_PLAIN = 0;
export const FIELD_QUOTED = 1;
/** Quoted, with doubled quotes inside. */
export const FIELD_ESCAPED = 2;

const LF = 10;
const CR = 13;
const NO_BYTES = new Uint8Array(0);

export class CsvReader {
  /** The bytes that `starts` and `ends` count in. */
  bytes: Uint8Array = NO_BYTES;
  /** Of the record that `next` has found: its fields' places, and FIELD_… of each. */
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  readonly kinds: number[] = [];
  count = 0;
  /** Line on which that record begins, from 1 on. */
  line = 0;
  private position = 0;
  private nextLine = 1;
  private readonly delimiter: number;
  private readonly quote: number;

  constructor(
    delimiter: string,
    quote: string,
    /** A longer record is refused. */
    private readonly recordBytesMax: number,
  ) {
    this.delimiter = delimiter.charCodeAt(0);
    this.quote = quote.charCodeAt(0);
  }

  /** Takes further bytes, which must stay as they are until the records in them have been read. */
  push(piece: Uint8Array): void {
    const left = this.bytes.length - this.position;
    if (left === 0) {
      this.bytes = piece;
    } else {
      if (left > this.recordBytesMax) {
        throw sqlError("54000", `a record is longer than ${this.recordBytesMax} bytes`, { line: this.nextLine });
      }
      const joined = Buffer.allocUnsafeSlow(left + piece.length);
      joined.set(this.bytes.subarray(this.position));
      joined.set(piece, left);
      this.bytes = joined;
    }
    this.position = 0;
  }

  /**
   * Finds the next record; false when its end has not arrived, or there is none. With `isEnd` the last record need not
   * end in a line break. Throws 22P04 for quotes that do not fit.
   */
  next(isEnd: boolean): boolean {
    const { bytes, delimiter, quote, starts, ends, kinds } = this;
    const { length } = bytes;
    let at = this.position;
    if (at >= length) return false;
    let lines = 0;
    let field = 0;
    for (;;) {
      // At the start of a field.
      if (at < length && bytes[at] === quote) {
        const start = ++at;
        let kind = FIELD_QUOTED;
        for (;;) {
          while (at < length && bytes[at] !== quote) {
            if (bytes[at] === LF) lines++;
            at++;
          }
          if (at + 1 < length && bytes[at + 1] === quote) {
            kind = FIELD_ESCAPED;
            at += 2;
            continue;
          }
          break;
        }
        if (at >= length) {
          if (!isEnd) return false;
          throw sqlError("22P04", "unterminated CSV quoted field", { line: this.nextLine });
        }
        // Whether the quote is doubled, or a CR has its LF, the next piece tells.
        if (!isEnd && at + 2 >= length) return false;
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
      while (at < length) {
        const byte = bytes[at]!;
        if (byte === delimiter || byte === LF) break;
        at++;
      }
      if (at >= length && !isEnd) return false;
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
    this.position = Math.min(at, length);
    return true;
  }

  /** What has arrived and was not read, and the line on which it begins. */
  get unread(): { readonly bytes: Uint8Array; readonly line: number } {
    return { bytes: this.bytes.subarray(this.position), line: this.nextLine };
  }

  /** A field's bytes; copied where doubled quotes must go. */
  field(index: number): Uint8Array {
    const bytes = this.bytes.subarray(this.starts[index]!, this.ends[index]!);
    if (this.kinds[index] !== FIELD_ESCAPED) return bytes;
    const out = Buffer.allocUnsafe(bytes.length);
    let length = 0;
    for (let i = 0; i < bytes.length; i++) {
      out[length++] = bytes[i]!;
      if (bytes[i] === this.quote) i++;
    }
    return out.subarray(0, length);
  }

  text(index: number): string {
    const bytes = this.field(index);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  }
}
