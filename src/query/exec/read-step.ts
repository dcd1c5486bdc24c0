/**
 * How many records to read together by their keys. Their lengths are known afterwards only, so the number grows while
 * they are short, and shrinks after they were long.
 */
const ROWS_AT_FIRST = 8;
const ROWS_MAX = 256;
const GROWTH = 4;
/** Of the records of one read. */
const BYTES_WANTED = 1024 ** 2;

export class ReadStep {
  /** Few at first, in case that no more are wanted; at most what a turn has time for. */
  rows = ROWS_AT_FIRST;

  /** So many were read, of so many bytes together. */
  note(rows: number, bytes: number): void {
    if (bytes <= BYTES_WANTED) this.rows = Math.min(this.rows * GROWTH, ROWS_MAX);
    else this.rows = Math.max(1, Math.floor((rows * BYTES_WANTED) / bytes));
  }
}
