/** Lines out of bytes as they arrive, for files with a value per line. One per file; imports drive it. */
import { sqlError } from "../protocol/errors.js";
import { PieceBuffer } from "./piece-buffer.js";

const LF = 10;
const CR = 13;
const NO_BYTES = Buffer.alloc(0);

export class LineReader {
  readonly pieces = new PieceBuffer();
  /** How far the line that has not ended was looked through. */
  private searchedTo = 0;
  private nextLine = 1;
  /** UTF-8 bytes of the line that `next` has found, without its end, and its number from 1 on. */
  bytes: Buffer = NO_BYTES;
  line = 0;

  constructor(
    /** A longer line is refused. */
    private readonly lineBytesMax: number,
  ) {}

  /** Number of the line on which begins what was not read. */
  get unreadLine(): number {
    return this.nextLine;
  }

  push(piece: Uint8Array): void {
    if (this.pieces.left > this.lineBytesMax) {
      throw sqlError("54000", `a line is longer than ${this.lineBytesMax} bytes`, {
        line: this.nextLine,
        hint: "Split the value over several rows, or load it by statements.",
      });
    }
    this.searchedTo -= this.pieces.push(piece);
  }

  /** The line's text. */
  get text(): string {
    return this.bytes.toString("utf8");
  }

  /** Finds the next line that is not empty; false when its end has not arrived, or there is none. */
  next(isEnd: boolean): boolean {
    const { pieces } = this;
    const { bytes } = pieces;
    while (pieces.position < bytes.length) {
      const start = pieces.position;
      let end = bytes.indexOf(LF, Math.max(start, this.searchedTo));
      this.searchedTo = bytes.length;
      if (end === -1) {
        if (!isEnd) return false;
        end = bytes.length;
      }
      pieces.position = Math.min(end + 1, bytes.length);
      this.searchedTo = pieces.position;
      this.line = this.nextLine++;
      const last = end > start && bytes[end - 1] === CR ? end - 1 : end;
      if (last === start) continue;
      this.bytes = bytes.subarray(start, last);
      return true;
    }
    return false;
  }
}
