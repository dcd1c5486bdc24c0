/**
 * Collects the pieces of a file that have arrived and are not read yet, in one buffer. However long a record is, each
 * byte is copied a constant number of times and is shown to the caller's check once. Each reader of lines or records
 * owns one.
 */

const LF = 10;
const NO_BYTES = Buffer.alloc(0);
/** Longer memory is given up when what is in it has been read. */
const KEPT_BYTES = 1024 * 1024;
/** Pieces are of about one length: so much more lets the next one in, too. */
const ROOM_SHARE = 0.25;

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
  /**
   * Memory for what comes in several pieces. It is used again: a buffer for each piece would be as much garbage as the
   * file is long, and memory beside V8's heap makes it collect, step by step, whenever another thread sends something.
   */
  private own = NO_BYTES;
  /** `bytes` is the beginning of it, not a piece as it came. */
  private isOwn = false;

  /**
   * Takes a piece, which must stay as it is until it has been read. What was read before is written over. Answers by
   * how much places in the bytes have moved towards the front.
   */
  push(piece: Uint8Array): number {
    const { bytes, position, own, isOwn } = this;
    const left = bytes.length - position;
    if (isOwn && left > 0 && bytes.length + piece.length <= own.length) {
      own.set(piece, bytes.length);
      this.bytes = own.subarray(0, bytes.length + piece.length);
      return 0;
    }
    if (left === 0) {
      this.bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      if (own.length > KEPT_BYTES) this.own = NO_BYTES;
    } else this.join(piece, left);
    this.isOwn = left > 0;
    this.checkedTo = Math.max(0, this.checkedTo - position);
    this.position = 0;
    return position;
  }

  private join(piece: Uint8Array, left: number): void {
    const { bytes, position, own, isOwn } = this;
    const needed = left + piece.length;
    // Within the memory no more is moved than was read.
    const fits = needed <= own.length && own.length <= KEPT_BYTES && (!isOwn || left <= position);
    // The end of a short record is copied beside the piece; a long one is given room to grow.
    if (!fits) this.own = Buffer.allocUnsafeSlow(Math.ceil(needed * (left < piece.length ? 1 + ROOM_SHARE : 2)));
    this.own.set(bytes.subarray(position), 0);
    this.own.set(piece, left);
    this.bytes = this.own.subarray(0, needed);
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
