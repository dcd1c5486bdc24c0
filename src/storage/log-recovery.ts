/**
 * Finds the end of a commit log in files when it is opened (file-commit-log.ts). The first bytes that are not an
 * intact record end the log and are cut off, unless a later record proves that they had been synced (see
 * log-record.ts). In that case acknowledged commits are damaged, and the open fails.
 */
import { lastMicros } from "./commit-log.js";
import type { Disk } from "./disk.js";
import { isHeaderMissing, RECORD_KIND, type RecordHead, SEGMENT_HEADER_BYTES } from "./log-record.js";
import { isAttestedAfter, loadHeader } from "./log-search.js";
import { damaged, follows, forEachRecord, listSegments, type Segment } from "./log-segment.js";
import { SegmentReader } from "./segment-reader.js";

/** Bytes that are read, or written again, in a step: a millisecond or two. */
const STEP_BYTES = 1024 * 1024;

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

export interface RecoveryOptions {
  readonly directory: string;
  /** The newest commit that the engine has. Absent: not known. */
  readonly applied?: number;
  readonly warn?: ((message: string) => void) | undefined;
}

/** In steps. Throws partition_damaged, naming segment and offset, when commits that had been durable are damaged. */
export function* recoverLog(
  disk: Disk,
  { directory, applied = 0, warn }: RecoveryOptions,
): Generator<undefined, LogEnd> {
  disk.makeDirectory(directory);
  const segments = listSegments(disk, directory);
  const log: LogEnd = { segments, last: 0, durable: 0, isMarked: false, lastMicros: 0, unsynced: [] };
  let from = yield* firstUnsynced(disk, segments);
  const parts = new PartCounts(disk);
  for (let index = from; index < segments.length; index++) {
    if (index > from && isBehindTrimmed(disk, segments[index]!, log.last, applied)) {
      warn?.(`Segments of the commit log before ${segments[index]!.path} are left from a trim, and are removed.`);
      for (const { path } of segments.splice(0, index)) disk.remove(path);
      from = 0;
      index = 0;
    }
    const expected = index === from ? segments[index]!.first : log.last + 1;
    if (!(yield* scan(disk, log, index, expected, parts))) break;
  }
  if (segments.length > 0) yield* writeTailAgain(disk, log, from);
  return log;
}

/**
 * Rewrites and syncs any part of the log that may not have reached the disk. An earlier sync of it may have failed.
 * Then the system still shows the data as written but has given up writing it, and a later successful sync proves
 * nothing (fsync(2), EIO).
 */
function* writeTailAgain(disk: Disk, { segments, durable, unsynced }: LogEnd, from: number): Generator<undefined> {
  let isTail = false;
  for (const segment of segments.slice(from)) {
    const start = isTail ? 0 : firstUnattested(disk, segment, durable);
    if (start === segment.length) continue;
    isTail = true;
    const file = disk.open(segment.path, false);
    // All but the last are closed once they are synced.
    if (segment !== segments.at(-1)) unsynced.push(file);
    for (let at = start; at < segment.length; ) {
      const bytes = disk.read(file, at, Math.min(STEP_BYTES, segment.length - at));
      for (let written = 0; written < bytes.length; ) written += disk.write(file, bytes, written, at + written);
      at += bytes.length;
      yield;
    }
    if (segment === segments.at(-1)) disk.close(file);
  }
}

/** Where the bytes begin that may not have been synced; the header counts to the first record. */
function firstUnattested(disk: Disk, segment: Segment, durable: number): number {
  let offset = SEGMENT_HEADER_BYTES;
  forEachRecord(disk, segment, ({ kind, sequence, end }) => {
    // Parts have the sequence of the commit before theirs.
    if (sequence > durable - (kind === RECORD_KIND.part ? 1 : 0)) return false;
    offset = end;
  });
  return offset === SEGMENT_HEADER_BYTES ? 0 : offset;
}

/** The first segment that may have bytes which were never synced: no record after it attests that it was. */
function* firstUnsynced(disk: Disk, segments: readonly Segment[]): Generator<undefined, number> {
  let index = segments.length - 1;
  for (; index > 0 && !attestsEarlier(disk, segments[index]!); index--) yield;
  return Math.max(index, 0);
}

/**
 * Whether a record of the segment says that all earlier segments are synced. The first records cannot say so: they are
 * written before the segment before theirs is synced.
 */
function attestsEarlier(disk: Disk, segment: Segment): boolean {
  let isAttested = false;
  forEachRecord(disk, segment, ({ durable }) => {
    isAttested = durable >= segment.first - 1;
    return !isAttested;
  });
  return isAttested;
}

/**
 * Whether segments before this one are gone although the log goes on with it, and the engine has all that they had.
 * Those that are still there are then not needed, and do not end the log.
 */
function isBehindTrimmed(disk: Disk, segment: Segment, last: number, applied: number): boolean {
  const { first } = segment;
  if (first <= last + 1 || first > applied + 1) return false;
  let isWhole = false;
  forEachRecord(disk, segment, (head) => {
    isWhole = head.kind !== RECORD_KIND.gap && follows(head, first - 1);
    return false;
  });
  return isWhole;
}

/** Reads a segment, whose first sequence must be at least `expected`; false when the log ends inside or before it. */
function* scan(
  disk: Disk,
  log: LogEnd,
  index: number,
  expected: number,
  parts: PartCounts,
): Generator<undefined, boolean> {
  const segment = log.segments[index]!;
  const reader = new SegmentReader(disk, segment, undefined, true);
  let previous = expected - 1;
  let offset = segment.salt === null ? 0 : SEGMENT_HEADER_BYTES;
  let pausedAt = offset;
  const note = parts.begin(segment);
  try {
    for (let head = reader.head(); head !== null; head = reader.head()) {
      note(head);
      if (!follows(head, previous) || lacksParts(log.segments, head, reader, segment, parts)) break;
      previous = head.sequence;
      log.last = head.sequence;
      log.durable = head.durable;
      log.isMarked = head.kind === RECORD_KIND.mark;
      if (head.kind !== RECORD_KIND.part)
        log.lastMicros = Math.max(log.lastMicros, lastMicros(head.micros, head.beforeCount));
      offset = head.end;
      if (offset - pausedAt < STEP_BYTES) continue;
      pausedAt = offset;
      yield;
    }
  } finally {
    reader.close();
  }
  if (segment.salt === null && !isHeaderMissing(loadHeader(disk, segment))) throw damaged(segment, 0);
  if (offset === segment.length && offset > SEGMENT_HEADER_BYTES) return true;
  cut(disk, log, index, offset, previous + 1);
  return false;
}

/** Ends the log at `offset` of a segment, where the record `lost` should start. */
function cut(disk: Disk, log: LogEnd, index: number, offset: number, lost: number): void {
  const segment = log.segments[index]!;
  for (const later of log.segments.slice(index)) {
    loadHeader(disk, later);
    const start = later === segment ? offset : SEGMENT_HEADER_BYTES;
    if (isAttestedAfter(disk, later, start, lost)) throw damaged(segment, offset);
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

/** Operations in the parts of large commits, by the commit's number; a segment is read once for all of its commits. */
class PartCounts {
  private readonly counts = new Map<Segment, Map<number, number>>();

  constructor(private readonly disk: Disk) {}

  of(segment: Segment): ReadonlyMap<number, number> {
    const known = this.counts.get(segment);
    if (known !== undefined) return known;
    forEachRecord(this.disk, segment, this.begin(segment));
    return this.counts.get(segment)!;
  }

  /** Tell the answer of each record of the segment, which is read from its beginning. */
  begin(segment: Segment): (head: RecordHead) => void {
    const counts = new Map<number, number>();
    this.counts.set(segment, counts);
    return ({ kind, micros, count }) => {
      if (kind === RECORD_KIND.part) counts.set(micros, (counts.get(micros) ?? 0) + count);
    };
  }
}

/**
 * True for the record of a large commit whose parts are not all there: parts have no numbers of their own, so that the
 * loss of a segment's last ones shows only here. Parts that were trimmed had been applied.
 */
function lacksParts(
  segments: readonly Segment[],
  head: RecordHead,
  reader: SegmentReader,
  last: Segment,
  parts: PartCounts,
): boolean {
  if (head.kind !== RECORD_KIND.whole) return false;
  const reference = reader.parts();
  if (reference.firstSegment < segments[0]!.first) return false;
  let found = 0;
  for (const segment of segments) {
    if (segment.first < reference.firstSegment || segment.first > last.first) continue;
    found += parts.of(segment).get(reference.id) ?? 0;
  }
  return found !== reference.operations;
}
