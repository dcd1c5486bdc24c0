/**
 * A typed array that grows row by row without a long turn. Up to a size it is one array, which is copied when it is
 * full. Further rows come into blocks, which are put together when all have come: at once, or in steps between which
 * others have their turn. Used by column-buffer.ts, text-column.ts and join-table.ts.
 */

type Numbers = Int32Array | Uint32Array | Float64Array | Uint16Array | Uint8Array;

const CAPACITY_MIN = 64;
/** Rows up to which a full array is copied at once; also those of a block, and of a step. */
const BLOCK_ROWS = 65_536;

export class GrowingArray<A extends Numbers> {
  private length = 0;
  /** The first rows; all of them while there are no blocks. */
  private first: A;
  private held = 0;
  private readonly blocks: { readonly rows: A; used: number }[] = [];
  /** What the blocks are being put together in, and how many rows of it are there. */
  private whole: A | null = null;
  private copied = 0;

  /** `expected`: about how many rows will come; they have room from the beginning. */
  constructor(
    private readonly make: new (length: number) => A,
    private readonly expected = 0,
  ) {
    this.first = new make(expected);
  }

  /** Where the next `count` rows are to be written, from index 0 on. They count as being there. */
  room(count: number): A {
    if (this.whole !== null) throw new Error("rows come while others are put together");
    this.length += count;
    const last = this.blocks.at(-1);
    if (last === undefined) {
      const { held } = this;
      if (this.length > this.first.length && held >= BLOCK_ROWS) return this.begin(count);
      this.first = withRoom(this.first, this.length);
      this.held = this.length;
      return this.first.subarray(held) as A;
    }
    if (last.used + count > last.rows.length) return this.begin(count);
    last.used += count;
    return last.rows.subarray(last.used - count) as A;
  }

  private begin(count: number): A {
    const rows = new this.make(Math.max(count, BLOCK_ROWS));
    this.blocks.push({ rows, used: count });
    return rows;
  }

  /** Puts some rows together; true: all are. No rows may come between two steps. */
  settle(): boolean {
    if (this.blocks.length === 0) return true;
    if (this.whole === null) {
      // Some room for more, so that rows that come one by one are not put together again and again.
      this.whole = new this.make(this.length + (this.length >>> 1));
      this.copied = 0;
    }
    const { whole, copied } = this;
    if (copied < this.held) {
      const to = Math.min(this.held, copied + BLOCK_ROWS);
      whole.set(this.first.subarray(copied, to), copied);
      this.copied = to;
      return false;
    }
    const { rows, used } = this.blocks.shift()!;
    whole.set(rows.subarray(0, used), copied);
    this.copied += used;
    if (this.blocks.length > 0) return false;
    this.first = whole;
    this.held = this.length;
    this.whole = null;
    return true;
  }

  /** All rows. */
  all(): A {
    while (!this.settle());
    return this.first.subarray(0, this.length) as A;
  }

  /** Forgets the rows, but keeps room for as many as have been put together. */
  restart(): void {
    this.length = 0;
    this.held = 0;
    this.blocks.length = 0;
    this.whole = null;
  }

  /** The same rows, in an array of another kind. */
  as<B extends Numbers>(make: new (length: number) => B): GrowingArray<B> {
    const other = new GrowingArray(make, this.expected);
    const { first, held } = this;
    if (held > 0) other.room(held).set(first.subarray(0, held));
    for (const { rows, used } of this.blocks) other.room(used).set(rows.subarray(0, used));
    return other;
  }
}

function withRoom<A extends Numbers>(array: A, length: number): A {
  if (array.length >= length) return array;
  const grown = new (array.constructor as new (length: number) => A)(Math.max(CAPACITY_MIN, length, 2 * array.length));
  grown.set(array);
  return grown;
}
