/**
 * Reads the records of a segment of the commit log one after the other, a few MiB of the file at a time: a segment may
 * be as large as the largest commit. Used when the log is opened, replayed and searched for a time.
 */
import type { Disk } from "./disk.js";
import type { FramedPart } from "./framed-part.js";
import {
  claimedBytes,
  claimOf,
  forEachPut,
  framesOf,
  type LogRecord,
  type PartsReference,
  partsReferenceOf,
  RECORD_LEAST_BYTES,
  type RecordHead,
  readHead,
  recordOf,
  SEGMENT_HEADER_BYTES,
  segmentSalt,
} from "./log-record.js";

import type { RecordSeal } from "./sealed-record.js";

const CHUNK_BYTES = 4 * 1024 * 1024;

export interface SegmentFile {
  readonly path: string;
  /** Seed of its records' checksums; null while the header has not been read, and where there is none. */
  salt: number | null;
  length: number;
}

export class SegmentReader {
  private readonly file: number;
  /** At least a header. */
  private readonly chunkBytes: number;
  /**
   * Bytes of the segment from `start` on. Records that were given out are views of it, so it is not written again
   * unless the reader was told so.
   */
  private bytes: Buffer;
  private start = 0;
  /** Written again and again; records longer than it have buffers of their own. */
  private readonly chunk: Buffer | undefined;
  /** Where the last record began, and where the next one does, in the segment. */
  private begin: number;
  private at = SEGMENT_HEADER_BYTES;

  /**
   * Sets the segment's salt. `chunkBytes`: of the file that is read at a time. `forgets`: a record is of no use once
   * the next one was asked for. So one buffer is enough, and V8 does not collect garbage because of many.
   */
  constructor(
    private readonly disk: Disk,
    private readonly segment: SegmentFile,
    chunkBytes = CHUNK_BYTES,
    forgets = false,
  ) {
    this.chunkBytes = Math.max(chunkBytes, SEGMENT_HEADER_BYTES);
    this.begin = this.at;
    const first = Math.min(segment.length, this.chunkBytes);
    this.chunk = forgets ? Buffer.allocUnsafeSlow(first) : undefined;
    this.file = disk.open(segment.path, false);
    try {
      this.bytes = disk.read(this.file, 0, first, this.chunk);
      segment.salt = segmentSalt(this.bytes);
    } catch (error) {
      disk.close(this.file);
      throw error;
    }
  }

  /** Where the next record begins; the segment's length at its end. */
  get offset(): number {
    return this.at;
  }

  /** The next record without its operations; null where there is no further one that is whole and intact. */
  head(): RecordHead | null {
    const { salt } = this.segment;
    if (salt === null || !this.load()) return null;
    const head = readHead(this.bytes, this.at - this.start, salt);
    if (head === null) return null;
    this.begin = this.at;
    this.at = this.start + head.end;
    return { ...head, end: this.at };
  }

  /** The record that `head` has just given, whole. `seal`: opens what is encrypted. */
  record(head: RecordHead, seal: Pick<RecordSeal, "opener"> | null): LogRecord {
    const { salt } = this.segment;
    const open = seal === null ? null : seal.opener(salt!, this.begin);
    return recordOf(this.bytes, this.begin - this.start, head, open);
  }

  /** The frames of that record, a part of a large commit that is not encrypted. `head`: the answer of `head`. */
  frames(head: RecordHead): FramedPart {
    return framesOf(this.bytes, this.begin - this.start, { ...head, end: head.end - this.start });
  }

  /** Visits the rows of the record that `head` has just given, in the bytes that it passes on. */
  puts(visit: (bytes: Buffer, key: number, value: number, end: number) => void): void {
    const { bytes } = this;
    forEachPut(bytes, this.begin - this.start, (key, value, end) => visit(bytes, key, value, end));
  }

  /** Of a large commit's record, which `head` has just given. */
  parts(): PartsReference {
    return partsReferenceOf(this.bytes, this.begin - this.start);
  }

  /** Sees to it that the next record's bytes are there; false: the segment ends before. */
  private load(): boolean {
    if (this.at >= this.segment.length) return false;
    const local = this.at - this.start;
    const claimed = claimedBytes(this.bytes, local);
    if (claimed !== null && local + claimed <= this.bytes.length) return true;
    const left = this.segment.length - this.at;
    this.fill(Math.min(left, this.chunkBytes));
    const whole = claimedBytes(this.bytes, 0);
    if (whole === null || whole <= this.bytes.length || whole > left) return true;
    // What is damaged may claim any length.
    if (this.bytes.length < RECORD_LEAST_BYTES || claimOf(this.bytes, 0, left) !== null) this.fill(whole);
    return true;
  }

  private fill(length: number): void {
    this.bytes = this.disk.read(this.file, this.at, length, this.chunk);
    this.start = this.at;
  }

  close(): void {
    this.disk.close(this.file);
  }
}
