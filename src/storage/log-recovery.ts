/**
 * Finds the end of a commit log in files when it is opened (file-commit-log.ts). The first bytes that are not an
 * intact record end the log and are cut off, unless a later record proves that they had been synced (see
 * log-record.ts). In that case acknowledged commits are damaged, and the open fails.
 */
import { lastMicrosOf } from "./commit-log.js";
import type { Disk } from "./disk.js";
import {
  attestedAfter,
  isHeaderMissing,
  type LogRecord,
  RECORD_KIND,
  readPartsKey,
  readRecord,
  SEGMENT_HEADER_BYTES,
} from "./log-record.js";
import { damaged, follows, listSegments, loadSegment, partsIn, type Segment } from "./log-segment.js";

/** Where the log goes on. */
export interface LogEnd {
  /** Oldest first. */
  readonly segments: Segment[];
  last: number;
  durable: number;
  /** The last record is a mark for `last`. */
  isMarked: boolean;
  lastMicros: number;
  /** Open files of segments before the last one, written again and not synced yet. */
  readonly unsynced: number[];
}

/** Throws partition_damaged, naming segment and offset, when commits that had been durable are damaged. */
export function recoverLog(disk: Disk, directory: string): LogEnd {
  disk.makeDirectory(directory);
  const segments = listSegments(disk, directory);
  const log: LogEnd = { segments, last: 0, durable: 0, isMarked: false, lastMicros: 0, unsynced: [] };
  const from = firstUnsynced(disk, segments);
  for (let index = from; index < segments.length; index++) {
    const expected = index === from ? segments[index]!.first : log.last + 1;
    if (!scan(disk, log, index, expected)) break;
  }
  if (segments.length > 0) writeTailAgain(disk, log, from);
  return log;
}

/**
 * Rewrites and syncs any part of the log that may not have reached the disk. An earlier sync of it may have failed.
 * Then the system still shows the data as written but has given up writing it, and a later successful sync proves
 * nothing (fsync(2), EIO).
 */
function writeTailAgain(disk: Disk, { segments, durable, unsynced }: LogEnd, from: number): void {
  let isTail = false;
  for (const segment of segments.slice(from)) {
    const bytes = loadSegment(disk, segment);
    const start = isTail ? 0 : firstUnattested(segment, bytes, durable);
    if (start === bytes.length) continue;
    isTail = true;
    const file = disk.open(segment.path, false);
    // All but the last are closed once they are synced.
    if (segment !== segments.at(-1)) unsynced.push(file);
    for (let at = start; at < bytes.length; ) at += disk.write(file, bytes, at, at);
    if (segment === segments.at(-1)) disk.close(file);
  }
}

/** Where the bytes begin that may not have been synced; the header counts to the first record. */
function firstUnattested(segment: Segment, bytes: Buffer, durable: number): number {
  let offset = SEGMENT_HEADER_BYTES;
  while (offset < bytes.length) {
    const record = readRecord(bytes, offset, segment.salt!)!;
    // Parts have the sequence of the commit before theirs.
    const attested = durable - (record.kind === RECORD_KIND.part ? 1 : 0);
    if (record.sequence > attested) break;
    offset = record.end;
  }
  return offset === SEGMENT_HEADER_BYTES ? 0 : offset;
}

/** The first segment that may have bytes which were never synced: no segment after it attests that it was. */
function firstUnsynced(disk: Disk, segments: readonly Segment[]): number {
  let index = segments.length - 1;
  while (index > 0) {
    const segment = segments[index]!;
    const bytes = loadSegment(disk, segment);
    const record = segment.salt === null ? null : readRecord(bytes, SEGMENT_HEADER_BYTES, segment.salt);
    if (record !== null && record.durable >= segment.first - 1) break;
    index--;
  }
  return Math.max(index, 0);
}

/** Reads a segment, whose first sequence must be at least `expected`; false when the log ends inside or before it. */
function scan(disk: Disk, log: LogEnd, index: number, expected: number): boolean {
  const segment = log.segments[index]!;
  const bytes = loadSegment(disk, segment);
  let previous = expected - 1;
  if (segment.salt === null && !isHeaderMissing(bytes)) throw damaged(segment, 0);
  let offset = segment.salt === null ? 0 : SEGMENT_HEADER_BYTES;
  while (segment.salt !== null && offset < bytes.length) {
    const record = readRecord(bytes, offset, segment.salt);
    if (record === null || !follows(record, previous) || lacksParts(disk, log.segments, record, segment)) break;
    previous = record.sequence;
    log.last = record.sequence;
    log.durable = record.durable;
    log.isMarked = record.kind === RECORD_KIND.mark;
    if (record.kind !== RECORD_KIND.part) log.lastMicros = Math.max(log.lastMicros, lastMicrosOf(record));
    offset = record.end;
  }
  if (offset === bytes.length && offset > SEGMENT_HEADER_BYTES) return true;
  cut(disk, log, index, offset, previous + 1);
  return false;
}

/** Ends the log at `offset` of a segment, where the record `lost` should start. */
function cut(disk: Disk, log: LogEnd, index: number, offset: number, lost: number): void {
  const segment = log.segments[index]!;
  for (let later = index; later < log.segments.length; later++) {
    const bytes = loadSegment(disk, log.segments[later]!);
    const { salt } = log.segments[later]!;
    const start = later === index ? offset : SEGMENT_HEADER_BYTES;
    if (salt !== null && attestedAfter(bytes, start, salt) >= lost) throw damaged(segment, offset);
  }
  for (const later of log.segments.splice(index + 1)) disk.remove(later.path);
  if (offset <= SEGMENT_HEADER_BYTES) {
    disk.remove(segment.path);
    log.segments.pop();
    log.last = lost - 1;
    return;
  }
  const file = disk.open(segment.path, false);
  disk.truncate(file, offset);
  disk.close(file);
  segment.length = offset;
}

/**
 * True for the record of a large commit whose parts are not all there: parts have no numbers of their own, so that the
 * loss of a segment's last ones shows only here. Parts that were trimmed had been applied.
 */
function lacksParts(disk: Disk, segments: readonly Segment[], record: LogRecord, segment: Segment): boolean {
  if (record.kind !== RECORD_KIND.whole) return false;
  const reference = readPartsKey(record.operations[0]!.key);
  if (reference.firstSegment < segments[0]!.first) return false;
  return partsIn(disk, segments, reference, segment).length !== reference.operations;
}
