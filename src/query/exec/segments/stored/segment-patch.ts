/**
 * What has changed in one segment of a file, packed for the thread that makes another segment of both: so the thread
 * need not read all of the segment's records from the engine. Made by pack-patches.ts, read by patched-segment.ts.
 */

/** From a key (inclusive) to another (exclusive); without the table's prefix, latin-1. */
export interface KeySpan {
  readonly from: string;
  readonly to: string;
}

/** Of which a build makes segments. */
export interface JobSpan extends KeySpan {
  /** The span is that of a segment, of which the new one is made; absent: it is made of records. */
  readonly patch?: SegmentPatch;
}

export interface SegmentPatch {
  /** The file, what the file system calls it, and the segment's place in it. */
  readonly path: string;
  readonly fileId: number;
  readonly number: number;
  /** Ids of the columns in which the records may differ from the segment's rows; null: not known. */
  readonly changed: readonly number[] | null;
  /** Bytes of each key and of its record, or `REMOVED`; in order of the keys. In shared memory. */
  readonly lengths: Uint32Array<SharedArrayBuffer>;
  /** Whole keys and records, end to end. In shared memory. */
  readonly bytes: Uint8Array<SharedArrayBuffer>;
}

/** In place of a record's length: the row is gone. */
export const REMOVED = 2 ** 32 - 1;
