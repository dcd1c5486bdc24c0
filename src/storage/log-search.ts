/**
 * Searches what is behind the end of a commit log for records that prove it had been synced (log-recovery.ts). A few
 * MiB of the file are read at a time: a segment may be as large as the largest commit.
 */
import { crc32 } from "./crc32.js";
import type { Disk } from "./disk.js";
import {
  CHECKSUM_BYTES,
  claimOf,
  RECORD_LEAST_BYTES,
  type RecordClaim,
  SEGMENT_HEADER_BYTES,
  segmentSalt,
} from "./log-record.js";
import type { SegmentFile } from "./segment-reader.js";

const WINDOW_BYTES = 4 * 1024 * 1024;
const ZEROS = Buffer.alloc(WINDOW_BYTES);

/** The bytes of the segment's header, so many as there are; sets its salt. */
export function loadHeader(disk: Disk, segment: SegmentFile): Buffer {
  const file = disk.open(segment.path, false);
  try {
    const bytes = disk.read(file, 0, Math.min(segment.length, SEGMENT_HEADER_BYTES));
    segment.salt = segmentSalt(bytes);
    return bytes;
  } finally {
    disk.close(file);
  }
}

/**
 * Whether an intact record of the segment from `offset` on says that commit `sequence` had been synced. Looks at every
 * offset, because the damage before it may have hidden where records begin. The segment's salt must be known.
 */
export function isAttestedAfter(disk: Disk, segment: SegmentFile, offset: number, sequence: number): boolean {
  if (segment.salt === null) return false;
  const file = disk.open(segment.path, false);
  try {
    return new Search(disk, file, segment.length, segment.salt).finds(offset, sequence);
  } finally {
    disk.close(file);
  }
}

class Search {
  constructor(
    private readonly disk: Disk,
    private readonly file: number,
    private readonly length: number,
    private readonly salt: number,
  ) {}

  finds(offset: number, sequence: number): boolean {
    for (let start = offset; start + RECORD_LEAST_BYTES <= this.length; ) {
      const bytes = this.disk.read(this.file, start, Math.min(WINDOW_BYTES, this.length - start));
      if (bytes.length < RECORD_LEAST_BYTES) return false;
      const found = this.inWindow(bytes, start, sequence);
      if (found === null) return true;
      start = found;
    }
    return false;
  }

  /** Where the search goes on behind these bytes of the file; null: the record is among them. */
  private inWindow(bytes: Buffer, start: number, sequence: number): number | null {
    const last = bytes.length - RECORD_LEAST_BYTES;
    // What never reached the disk is often a hole.
    if (bytes.equals(ZEROS.subarray(0, bytes.length))) return start + last + 1;
    for (let at = 0; at <= last; ) {
      const claim = claimOf(bytes, at, this.length - start);
      if (claim === null || !this.isIntact(bytes, start, at, claim)) {
        at++;
        continue;
      }
      if (claim.durable >= sequence) return null;
      at = claim.end;
      if (at > last) return start + at;
    }
    return start + last + 1;
  }

  private isIntact(bytes: Buffer, start: number, at: number, { end, checksum }: RecordClaim): boolean {
    let sum = crc32(bytes.subarray(at + CHECKSUM_BYTES, end), this.salt);
    for (let from = bytes.length; from < end; from += WINDOW_BYTES) {
      const more = this.disk.read(this.file, start + from, Math.min(WINDOW_BYTES, end - from));
      sum = crc32(more, sum);
    }
    return sum === checksum;
  }
}
