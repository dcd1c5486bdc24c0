/** One file of the commit log and how it is read; shared by the log that appends to it and by recovery. */
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { LogLacks } from "./commit-log.js";
import type { Disk } from "./disk.js";
import type { FramedPart } from "./framed-part.js";
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

/** Where the parts of a large commit are read. */
export interface PartsPlace {
  readonly disk: Disk;
  /** They are in some of these. */
  readonly segments: readonly Segment[];
  readonly reference: PartsReference;
  /** Throws if the segment, which is about to be opened, was trimmed meanwhile. */
  readonly checkKept: (segment: Segment) => void;
}

/** Each of them when it is taken; `read`: what of it. Throws when the parts are not all there. */
function* partsAt<T>(
  { disk, segments, reference, checkKept }: PartsPlace,
  forgets: boolean,
  read: (reader: SegmentReader, head: RecordHead) => T,
): IterableIterator<T> {
  let found = 0;
  for (const segment of segments) {
    if (segment.first < reference.firstSegment) continue;
    checkKept(segment);
    const reader = new SegmentReader(disk, segment, undefined, forgets);
    try {
      for (let head = reader.head(); head !== null; head = reader.head()) {
        if (!isPartOf(head, reference)) continue;
        found += head.count;
        yield read(reader, head);
      }
    } finally {
      reader.close();
    }
  }
  if (found !== reference.operations) throw incomplete(reference, found);
}

/** Of a log that is not encrypted: what its bytes are, each part of use until the next is asked for. */
export function framedParts(place: PartsPlace): Iterable<FramedPart> {
  return { [Symbol.iterator]: () => partsAt(place, true, (reader, head) => reader.frames(head)) };
}

/** The operations of a large commit: those in its parts, then the `late` ones, of its own record. */
export function wholeOperations(
  place: PartsPlace,
  late: readonly Operation[],
  seal: RecordSeal | null,
): Iterable<Operation> {
  return {
    *[Symbol.iterator]() {
      for (const operations of partsAt(place, false, (reader, head) => reader.record(head, seal).operations)) {
        yield* operations;
      }
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
