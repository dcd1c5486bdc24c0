/**
 * Collects the pieces of a file that have arrived and are not read yet, in one buffer. However long a record is, each
 * byte is copied a constant number of times and is shown to the caller's check once. Each reader of lines or records
 * owns one.
 */

const LF = 10;
const NO_BYTES = Buffer.alloc(0);

/** Bytes that nobody has checked yet. */
export interface FreshBytes {
  readonly bytes: Buffer;
  /** Number of the line on which they begin, from 1 on; `first` is that of the first byte that was not read. */
  lineFrom(first: number): number;
}

export class PieceBuffer {
  bytes: Buffer = NO_BYTES;
  /** Where what was not read begins. */
  position = 0;
  private checkedTo = 0;
  /** The buffer of its own that `bytes` is the beginning of; null: `bytes` is a piece as it came. */
  private own: Buffer | null = null;

  /**
   * Takes a piece, which must stay as it is until it has been read. Answers by how much places in the bytes have moved
   * towards the front.
   */
  push(piece: Uint8Array): number {
    const { bytes, position, own } = this;
    const left = bytes.length - position;
    if (left === 0) {
      this.bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      this.own = null;
    } else if (own !== null && bytes.length + piece.length <= own.length) {
      own.set(piece, bytes.length);
      this.bytes = own.subarray(0, bytes.length + piece.length);
      return 0;
    } else {
      const needed = left + piece.length;
      // The end of a short record is copied beside the piece; a long one is given room to grow.
      const joined = Buffer.allocUnsafeSlow(left < piece.length ? needed : needed * 2);
      joined.set(bytes.subarray(position));
      joined.set(piece, left);
      this.own = joined;
      this.bytes = joined.subarray(0, needed);
    }
    this.checkedTo = Math.max(0, this.checkedTo - position);
    this.position = 0;
    return position;
  }

  /** Bytes that were not read. */
  get left(): number {
    return this.bytes.length - this.position;
  }

  get fresh(): FreshBytes {
    const { bytes, position } = this;
    const from = Math.max(this.checkedTo, position);
    return {
      bytes: bytes.subarray(from),
      lineFrom: (first) => first + countLines(bytes.subarray(position, from)),
    };
  }

  /** The number of fresh bytes that were checked. */
  checked(count: number): void {
    this.checkedTo = Math.max(this.checkedTo, this.position) + count;
  }
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) lines++;
  return lines;
}
