/** One file of the commit log and how it is read; shared by the log that appends to it and by recovery. */
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { LogLacks } from "./commit-log.js";
import type { Disk } from "./disk.js";
import { type PartsReference, RECORD_KIND, type RecordHead } from "./log-record.js";
import type { Operation } from "./operation.js";
import type { RecordSeal } from "./sealed-record.js";
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

/**
 * The operations of a large commit in its parts, which are in some of the segments: read as they are taken, a part at a
 * time. Then the `late` ones, of its own record. Throws when the parts are not all there. `checkKept` throws if the
 * segment, which is about to be opened, was trimmed meanwhile.
 */
export function wholeOperations(
  disk: Disk,
  segments: readonly Segment[],
  reference: PartsReference,
  late: readonly Operation[],
  checkKept: (segment: Segment) => void,
  seal: RecordSeal | null,
): Iterable<Operation> {
  return {
    *[Symbol.iterator]() {
      let found = 0;
      for (const segment of segments) {
        if (segment.first < reference.firstSegment) continue;
        checkKept(segment);
        const reader = new SegmentReader(disk, segment);
        try {
          for (let head = reader.head(); head !== null; head = reader.head()) {
            if (!isPartOf(head, reference)) continue;
            found += head.count;
            yield* reader.record(head, seal).operations;
          }
        } finally {
          reader.close();
        }
      }
      if (found !== reference.operations) throw incomplete(reference, found);
      yield* late;
    },
  };
}

function incomplete({ operations }: PartsReference, found: number): DbError {
  const where = `earlier parts of the log have ${found} of a commit's ${operations} operations`;
  return new LogLacks("partition_damaged", `The commit log is damaged or was trimmed: ${where}. Restore a backup.`);
}

export function isPartOf({ kind, micros }: RecordHead, { id }: PartsReference): boolean {
  return kind === RECORD_KIND.part && micros === id;
}

/**
 * The segment's intact records in order, until `visit` answers false. What the reader gives is of use until it returns.
 * `chunkBytes`: as for SegmentReader.
 */
export function forEachRecord(
  disk: Disk,
  segment: Segment,
  visit: (head: RecordHead, reader: SegmentReader) => boolean | void,
  chunkBytes?: number,
): void {
  const reader = new SegmentReader(disk, segment, chunkBytes, true);
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
