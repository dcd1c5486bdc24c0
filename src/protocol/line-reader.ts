/** Lines out of bytes as they arrive, for files with a value per line. One per file; imports drive it. */
import { sqlError } from "./errors.js";

const LF = 10;
const CR = 13;
const NO_BYTES = Buffer.alloc(0);

export class LineReader {
  private bytes: Buffer = NO_BYTES;
  private position = 0;
  private nextLine = 1;
  /** The line that `next` has found, without its end, and its number from 1 on. */
  text = "";
  line = 0;

  constructor(
    /** A longer line is refused. */
    private readonly lineBytesMax: number,
  ) {}

  /** What has arrived and was not read, and the line on which it begins. */
  get unread(): { readonly bytes: Uint8Array; readonly line: number } {
    return { bytes: this.bytes.subarray(this.position), line: this.nextLine };
  }

  push(piece: Uint8Array): void {
    const left = this.bytes.length - this.position;
    if (left > this.lineBytesMax) {
      throw sqlError("54000", `a line is longer than ${this.lineBytesMax} bytes`, { line: this.nextLine });
    }
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    this.bytes = left === 0 ? bytes : Buffer.concat([this.bytes.subarray(this.position), bytes]);
    this.position = 0;
  }

  /** Finds the next line that is not empty; false when its end has not arrived, or there is none. */
  next(isEnd: boolean): boolean {
    const { bytes } = this;
    while (this.position < bytes.length) {
      const start = this.position;
      let end = bytes.indexOf(LF, start);
      if (end === -1) {
        if (!isEnd) return false;
        end = bytes.length;
      }
      this.position = Math.min(end + 1, bytes.length);
      this.line = this.nextLine++;
      const last = end > start && bytes[end - 1] === CR ? end - 1 : end;
      if (last === start) continue;
      this.text = bytes.toString("utf8", start, last);
      return true;
    }
    return false;
  }
}
