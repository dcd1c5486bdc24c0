/** One file of the commit log and how it is read; shared by the log that appends to it and by recovery. */
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import type { Disk } from "./disk.js";
import { type PartsReference, RECORD_KIND, type RecordHead, segmentSalt } from "./log-record.js";
import type { Operation } from "./operation.js";
import { type SegmentFile, SegmentReader } from "./segment-reader.js";

const SUFFIX = ".log";

export interface Segment extends SegmentFile {
  readonly first: number;
  /** Time of its first commit; null while nobody has looked. */
  micros: number | null;
}

export function segmentPath(directory: string, first: number): string {
  return join(directory, `${String(first).padStart(20, "0")}${SUFFIX}`);
}

/** Those of the directory, oldest first. */
export function listSegments(disk: Disk, directory: string): Segment[] {
  const names = disk.list(directory).filter((name) => /^\d{20}\.log$/.test(name));
  return names.sort().map((name) => {
    const path = join(directory, name);
    const first = Number(name.slice(0, -SUFFIX.length));
    return { first, path, micros: null, salt: null, length: sizeOf(disk, path) };
  });
}

function sizeOf(disk: Disk, path: string): number {
  const file = disk.open(path, false);
  try {
    return disk.size(file);
  } finally {
    disk.close(file);
  }
}

/** All bytes of the segment, for a search for what is left of a damaged one; sets its salt. */
export function loadSegment(disk: Disk, segment: Segment): Buffer {
  const file = disk.open(segment.path, false);
  try {
    const bytes = disk.read(file, 0, segment.length);
    segment.salt = segmentSalt(bytes);
    return bytes;
  } finally {
    disk.close(file);
  }
}

/** What is there of a large commit's parts, up to the segment `last`. */
export function partsIn(
  disk: Disk,
  segments: readonly Segment[],
  reference: PartsReference,
  last: Segment,
): Operation[] {
  const operations: Operation[] = [];
  for (const segment of segments) {
    if (segment.first < reference.firstSegment || segment.first > last.first) continue;
    forEachRecord(disk, segment, (head, reader) => {
      if (!isPartOf(head, reference)) return;
      for (const operation of reader.record(head).operations) operations.push(operation);
    });
  }
  return operations;
}

export function isPartOf({ kind, micros }: RecordHead, { id }: PartsReference): boolean {
  return kind === RECORD_KIND.part && micros === id;
}

/** The segment's intact records in order, until `visit` answers false. `chunkBytes`: as for SegmentReader. */
export function forEachRecord(
  disk: Disk,
  segment: Segment,
  visit: (head: RecordHead, reader: SegmentReader) => boolean | void,
  chunkBytes?: number,
): void {
  const reader = new SegmentReader(disk, segment, chunkBytes);
  try {
    for (let head = reader.head(); head !== null; head = reader.head()) if (visit(head, reader) === false) return;
  } finally {
    reader.close();
  }
}

/** Whether the record may come after `previous`. */
export function follows(record: RecordHead, previous: number): boolean {
  if (record.kind === RECORD_KIND.gap) return record.sequence > previous;
  const repeats = record.kind === RECORD_KIND.mark || record.kind === RECORD_KIND.part;
  return record.sequence === (repeats ? previous : previous + 1);
}

export function damaged(segment: Segment, offset: number): DbError {
  const where = `The commit log is damaged: segment ${segment.path}, offset ${offset}.`;
  return new DbError("partition_damaged", `${where} Committed data after it would be lost; restore a backup.`);
}
