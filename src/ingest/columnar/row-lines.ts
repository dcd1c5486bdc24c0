/** Pieces of rows as lines of JSON out of one part of a file, and the part that a thread has read last. */
import type { RowPiece, RowPlace } from "./contract.js";

/** Bytes of a piece, roughly; a turn of an actor reads one. */
const PIECE_CHARACTERS = 32 * 1024;

/** Rows `first` and on of a part of a file, a writer of JSON for each column. */
export interface ReadRows {
  readonly first: number;
  readonly rows: number;
  readonly columns: readonly ((row: number) => string)[];
}

/** The lines from the given row of the part on. `next`: where to go on when these rows are all written. */
export function linesOf(
  { first, rows, columns }: ReadRows,
  row: number,
  rowsMax: number,
  part: number,
  next: RowPlace | null,
): RowPiece {
  let text = "";
  let at = row - first;
  const end = Math.min(rows, at + rowsMax);
  for (; at < end && text.length < PIECE_CHARACTERS; at++) {
    text += "[";
    for (let c = 0; c < columns.length; c++) text += c === 0 ? columns[c]!(at) : `,${columns[c]!(at)}`;
    text += "]\n";
  }
  const isDone = at >= rows;
  return {
    lines: new Uint8Array(Buffer.from(text)),
    rows: at - (row - first),
    next: isDone ? next : { part, row: first + at },
  };
}

/** Keeps one thing for the thread: what it was asked for last. */
export class Latest<T> {
  private key = "";
  private value: T | null = null;

  async get(key: string, make: () => Promise<T> | T): Promise<T> {
    if (this.key === key && this.value !== null) return this.value;
    this.value = null;
    const value = await make();
    this.key = key;
    this.value = value;
    return value;
  }
}
