/**
 * The commit log in files: `log/` of a shard directory holds segments named by the first sequence in them. Appending
 * is one write into the page cache on the calling thread; `sync` waits for the device in libuv's pool. Owned by one
 * shard.
 *
 * Opening finds the end of the log first (log-recovery.ts).
 */
import { randomInt } from "node:crypto";
import { DbError } from "../protocol/errors.js";
import {
  type Commit,
  type CommitLog,
  type LogEntry,
  LogLacks,
  lastMicrosOf,
  type PartPlace,
  type PartsFiles,
} from "./commit-log.js";
import { type Disk, fileDisk } from "./disk.js";
import { inRounds } from "./in-steps.js";
import {
  type Loggable,
  type LogRecord,
  PARTS_IDS,
  type PartsReference,
  partsKey,
  RECORD_KIND,
  RECORD_LEAST_BYTES,
  type RecordHead,
  recordBytes,
  segmentHeader,
  segmentSalt,
  writeRecord,
} from "./log-record.js";
import { type LogEnd, recoverLog } from "./log-recovery.js";
import {
  damaged,
  follows,
  forEachRecord,
  framedParts,
  type Segment,
  segmentPath,
  wholeOperations,
} from "./log-segment.js";
import type { CommitParts, Operation } from "./operation.js";
import type { RecordSeal } from "./sealed-record.js";
import { SegmentReader } from "./segment-reader.js";
import type { LoadPart } from "./sorted-run.js";

export interface FileCommitLogOptions {
  readonly directory: string;
  readonly disk?: Disk;
  /** A segment that has grown past this is followed by a new one. */
  readonly segmentBytes?: number;
  /** `trim` keeps at least this much, and always the newest segment. */
  readonly retentionBytes?: number;
  /** Nothing is appended or trimmed: every attempt is told disk_full. */
  readonly isReadOnly?: boolean;
  /** Encrypts what commits have in them; null, or absent: nothing does. */
  readonly seal?: RecordSeal | null;
  /** The newest commit that the engine has: older segments than needed may be missing. Absent: not known. */
  readonly applied?: number;
  readonly warn?: ((message: string) => void) | undefined;
}

const SEGMENT_BYTES = 16 * 1024 * 1024;
const RETENTION_BYTES = 64 * 1024 * 1024;
/** The first record of a segment is rarely longer. */
const FIRST_RECORD_BYTES = 64 * 1024;
/** The append buffer is kept between turns up to this size. */
const SCRATCH_BYTES = 1024 * 1024;

export class FileCommitLog implements CommitLog {
  private readonly directory: string;
  private readonly disk: Disk;
  private readonly segmentBytes: number;
  private readonly retentionBytes: number;
  private readonly isReadOnly: boolean;
  private readonly seal: RecordSeal | null;
  /** Oldest first; the last one is appended to, through `file`. */
  private readonly segments: Segment[];
  private file: number | null = null;
  /** Full segments with bytes that are not synced yet. */
  private unsynced: number[];
  private directoryChanged = false;
  /** Something was written since the last sync started. */
  private dirty = false;
  private last: number;
  private durable: number;
  /** The last record is a mark for `last`. */
  private marked: boolean;
  private failure: DbError | null = null;
  private running: Promise<void> | null = null;
  private following: Promise<void> | null = null;
  /** Files of segments that have been trimmed, the oldest first. */
  private readonly trimmed: string[] = [];
  private removing: Promise<void> = Promise.resolve();
  private isRemovalFailing = false;
  private scratch = Buffer.allocUnsafeSlow(64 * 1024);
  /** Where parts begin (the `first` of a segment) that recovery may need, and the sequence of their commit, if any. */
  private readonly parts = new Map<number, { readonly firstSegment: number; sequence: number }>();
  bytesAppended = 0;
  lastMicros: number;
  keeps: CommitLog["keeps"] = null;
  readonly takesAnySize = true;

  /** Throws partition_damaged, naming segment and offset, when commits that had been durable are damaged. */
  static async open(options: FileCommitLogOptions): Promise<FileCommitLog> {
    const log = new FileCommitLog(options, await inRounds(recoverLog(options.disk ?? fileDisk, options)));
    await log.sync();
    return log;
  }

  private constructor(
    private readonly options: FileCommitLogOptions,
    found: LogEnd,
  ) {
    this.directory = options.directory;
    this.disk = options.disk ?? fileDisk;
    this.segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.retentionBytes = options.retentionBytes ?? RETENTION_BYTES;
    this.isReadOnly = options.isReadOnly === true;
    this.seal = options.seal ?? null;
    this.segments = found.segments;
    this.unsynced = found.unsynced;
    this.last = found.last;
    this.durable = found.durable;
    this.marked = found.isMarked;
    this.lastMicros = found.lastMicros;
    const current = this.segments.at(-1);
    if (current === undefined) return;
    this.file = this.disk.open(current.path, false);
    // The previous process may have died before its last sync.
    this.directoryChanged = true;
    this.dirty = true;
  }

  get firstSequence(): number {
    return this.segments[0]?.first ?? this.last + 1;
  }

  get lastSequence(): number {
    return this.last;
  }

  append(commits: readonly Commit[]): void {
    if (commits.length === 0) return;
    this.write(RECORD_KIND.commit, commits);
    for (const { parts, sequence } of commits) if (parts !== undefined) this.parts.get(parts.id)!.sequence = sequence;
  }

  beginParts(): CommitParts {
    return { id: randomInt(1, PARTS_IDS), operations: 0 };
  }

  get partsDisk(): Disk | null {
    return this.seal === null ? this.disk : null;
  }

  appendPart(parts: CommitParts, operations: readonly Operation[] | LoadPart): PartPlace | null {
    const record = { sequence: this.last, micros: parts.id, operations };
    this.write(RECORD_KIND.part, [record]);
    const { path, length } = this.segments.at(-1)!;
    if (!this.parts.has(parts.id)) {
      this.parts.set(parts.id, { firstSegment: this.segments.at(-1)!.first, sequence: Number.POSITIVE_INFINITY });
    }
    parts.operations += operations.length;
    const position = length - recordBytes(record) + RECORD_LEAST_BYTES;
    return this.seal === null ? { path, position } : null;
  }

  filesOf(parts: CommitParts): PartsFiles | null {
    const known = this.parts.get(parts.id);
    if (known === undefined) return null;
    const files = this.segments.filter(({ first }) => first >= known.firstSegment);
    return { ...parts, files: files.map(({ path, length }) => ({ path, length })) };
  }

  dropParts(parts: CommitParts): void {
    this.parts.delete(parts.id);
  }

  appendGap(sequence: number, micros: number): void {
    this.write(RECORD_KIND.gap, [{ sequence, micros, operations: [] }]);
  }

  sync(): Promise<void> {
    if (this.failure !== null) return Promise.reject(this.failure);
    if (this.running === null) return this.start();
    // What was appended since the running one began waits for the next, together with all other callers.
    this.following ??= this.running.then(() => {
      this.following = null;
      // Somebody may have started it already, right when the one before ended.
      return this.running ?? this.start();
    });
    return this.following;
  }

  *replay(fromSequence: number): Iterable<LogEntry> {
    const end = this.last;
    if (fromSequence > end) return;
    const start = this.segments.findLastIndex((segment) => segment.first <= fromSequence);
    let previous = -1;
    for (const segment of this.segments.slice(Math.max(start, 0))) {
      if (segment.first > end) return;
      this.checkKept(segment);
      const reader = new SegmentReader(this.disk, segment);
      try {
        if (segment.salt === null) throw damaged(segment, 0);
        while (reader.offset < segment.length) {
          const { offset } = reader;
          const head = reader.head();
          if (head === null || !follows(head, previous === -1 ? segment.first - 1 : previous)) {
            throw damaged(segment, offset);
          }
          previous = head.sequence;
          if (previous > end) return;
          const isEntry = head.kind !== RECORD_KIND.mark && head.kind !== RECORD_KIND.part;
          if (previous < fromSequence || !isEntry) continue;
          const record = reader.record(head, this.seal);
          yield head.kind === RECORD_KIND.whole ? this.assemble(reader.parts(), record, segment) : record;
        }
      } finally {
        reader.close();
      }
    }
  }

  /** The operations of a large commit, whose record is in the segment `last`. */
  private assemble(reference: PartsReference, record: LogRecord, last: Segment): LogEntry {
    const segments = this.segments.slice(0, this.segments.indexOf(last) + 1);
    this.parts.set(reference.id, { firstSegment: reference.firstSegment, sequence: record.sequence });
    const late = record.operations.slice(1);
    const { disk, seal } = this;
    const place = { disk, segments, reference, checkKept: (one: Segment) => this.checkKept(one) };
    const operations = wholeOperations(place, late, seal);
    const { sequence, micros, before } = record;
    const parts = { id: reference.id, operations: reference.operations };
    const entry = { sequence, micros, operations, parts, gap: false, ...(before !== undefined && { before }) };
    return seal === null ? { ...entry, framed: { parts: framedParts(place), late } } : entry;
  }

  private checkKept(segment: Segment): void {
    if (this.segments.includes(segment)) return;
    throw new LogLacks("internal_error", "The change log was trimmed in the meantime.");
  }

  sequenceBefore(micros: number): number {
    for (let i = this.segments.length - 1; i > 0; i--) {
      const segment = this.segments[i]!;
      if (this.microsOf(segment) <= micros) return segment.first;
    }
    return this.firstSequence;
  }

  /** Of the first commit in the segment, or, while it has none, of the newest. */
  private microsOf(segment: Segment): number {
    if (segment.micros !== null) return segment.micros;
    const look = ({ kind, micros }: RecordHead): boolean => {
      if (kind !== RECORD_KIND.part) segment.micros = micros;
      return segment.micros === null;
    };
    forEachRecord(this.disk, segment, look, FIRST_RECORD_BYTES);
    if (segment.micros !== null) return segment.micros;
    return this.lastMicros;
  }

  trim(sequence: number): void {
    if (this.isReadOnly) return;
    this.takeOut(sequence);
    if (this.trimmed.length > 0) this.removing = this.removing.then(() => this.removeTrimmed());
  }

  private takeOut(sequence: number): void {
    let neededFrom = Number.POSITIVE_INFINITY;
    for (const [id, parts] of this.parts) {
      if (parts.sequence <= sequence) this.parts.delete(id);
      else neededFrom = Math.min(neededFrom, parts.firstSegment);
    }
    let kept = 0;
    for (const segment of this.segments) kept += segment.length;
    while (this.segments.length > 1 && this.segments[1]!.first <= sequence + 1) {
      const oldest = this.segments[0]!;
      kept -= oldest.length;
      // Everything in the oldest segment is older than the next one's first commit.
      const { keeps } = this;
      const isKept = keeps !== null && kept < keeps.bytesMax && this.microsOf(this.segments[1]!) > keeps.afterMicros;
      if (isKept) return;
      if (kept < this.retentionBytes || this.unsynced.length > 0 || oldest.first >= neededFrom) return;
      this.segments.shift();
      this.trimmed.push(oldest.path);
    }
  }

  /**
   * One after the other, and none behind one that stays: neither a crash nor an error leaves a gap between segments.
   * The next trim tries again. What has stayed until the log is opened again is part of it then.
   */
  private async removeTrimmed(): Promise<void> {
    for (let path = this.trimmed[0]; path !== undefined; path = this.trimmed[0]) {
      try {
        await this.disk.removeLater(path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
          this.warnOfRemoval(path, error);
          return;
        }
      }
      this.trimmed.shift();
      this.isRemovalFailing = false;
    }
  }

  private warnOfRemoval(path: string, error: unknown): void {
    if (this.isRemovalFailing) return;
    this.isRemovalFailing = true;
    const why = error instanceof Error ? error.message : String(error);
    this.options.warn?.(`The old segment ${path} of the commit log stays until it can be removed: ${why}.`);
  }

  async close(): Promise<void> {
    try {
      await this.removing;
      if (this.failure === null) {
        await this.sync();
        this.mark();
        await this.sync();
      }
    } finally {
      await this.running?.catch(() => {});
      this.failure ??= new DbError("shutting_down", "The commit log is closed.");
      for (const file of this.unsynced) this.disk.close(file);
      if (this.file !== null) this.disk.close(this.file);
      this.unsynced = [];
      this.file = null;
    }
  }

  /** Records that all of the log is durable, so that later damage can be told from a torn tail. */
  private mark(): void {
    if (this.marked || this.segments.length === 0) return;
    try {
      this.write(RECORD_KIND.mark, [{ sequence: this.last, micros: Date.now() * 1000, operations: [] }]);
    } catch (error) {
      if (!(error instanceof DbError && error.code === "disk_full")) throw error;
    }
  }

  private write(kind: LogRecord["kind"], commits: readonly Loggable[]): void {
    if (this.failure !== null) throw this.failure;
    if (this.isReadOnly) throw new DbError("disk_full");
    let segment = this.segments.at(-1);
    // A segment without commits, only parts of some to come, has the name that the next one would get.
    const mayEnd = kind !== RECORD_KIND.mark && segment !== undefined && segment.first <= this.last;
    if (segment === undefined || (segment.length >= this.segmentBytes && mayEnd)) {
      segment = this.startSegment(kind === RECORD_KIND.part ? this.last + 1 : commits[0]!.sequence);
    }
    const records = commits.map((commit) => (commit.parts === undefined ? commit : this.wholeOf(commit)));
    let length = 0;
    for (const record of records) length += recordBytes(record);
    const bytes = this.buffer(length);
    // Parts of a commit to come may stand unsynced in earlier segments, although all commits there are durable.
    const durable = this.unsynced.length > 0 ? Math.min(this.durable, Math.max(segment.first - 2, 0)) : this.durable;
    const salt = segment.salt!;
    let end = 0;
    const starts: number[] = [];
    for (const record of records) {
      const own = record.parts === undefined ? kind : RECORD_KIND.whole;
      starts.push(end);
      end = writeRecord(bytes, end, { salt, kind: own, durable }, record);
    }
    const plain = bytes.subarray(0, end);
    const written = this.seal === null ? plain : this.seal.sealed(plain, starts, salt, segment.length);
    this.writeBytes(segment, written);
    this.last = commits.at(-1)!.sequence;
    if (kind !== RECORD_KIND.part) {
      segment.micros ??= commits[0]!.micros;
      this.lastMicros = Math.max(this.lastMicros, lastMicrosOf(commits.at(-1)!));
    }
    this.marked = kind === RECORD_KIND.mark;
    this.dirty = true;
    this.bytesAppended += written.length;
  }

  private wholeOf(commit: Loggable): Loggable {
    const { id, operations } = commit.parts!;
    const key = partsKey({ id, operations, firstSegment: this.parts.get(id)!.firstSegment });
    return { ...commit, operations: [{ key, value: null }, ...commit.operations] };
  }

  private buffer(length: number): Buffer {
    if (length <= this.scratch.length) return this.scratch;
    if (length > SCRATCH_BYTES) return Buffer.allocUnsafeSlow(length);
    this.scratch = Buffer.allocUnsafeSlow(Math.max(length, this.scratch.length * 2));
    return this.scratch;
  }

  /** Writes at the end of the segment; after a failure the file is as before. */
  private writeBytes(segment: Segment, bytes: Buffer): void {
    try {
      let offset = 0;
      while (offset < bytes.length) {
        offset += this.disk.write(this.file!, bytes, offset, segment.length + offset);
      }
    } catch (error) {
      throw this.undo(error, () => this.disk.truncate(this.file!, segment.length));
    }
    segment.length += bytes.length;
  }

  private startSegment(first: number): Segment {
    const path = segmentPath(this.directory, first);
    const header = segmentHeader();
    const segment: Segment = { first, path, micros: null, salt: segmentSalt(header), length: 0 };
    const before = this.file;
    try {
      this.file = this.disk.open(path, true);
    } catch (error) {
      throw this.undo(error, () => {});
    }
    try {
      this.writeBytes(segment, header);
    } catch (error) {
      this.disk.close(this.file);
      this.file = before;
      throw this.undo(error, () => this.disk.remove(path));
    }
    if (before !== null) this.unsynced.push(before);
    this.directoryChanged = true;
    this.segments.push(segment);
    return segment;
  }

  /** The error to throw for a failed write, after `restore` has put the file back; a failing restore is final. */
  private undo(error: unknown, restore: () => void): DbError {
    if (error instanceof DbError) {
      if (error.code === "disk_full") restore();
      return error;
    }
    try {
      restore();
    } catch (second) {
      this.failure = unusable("The commit log cannot be repaired after a failed write", second);
      return this.failure;
    }
    if (isDiskFull(error)) return new DbError("disk_full");
    this.failure = unusable("Writing the commit log failed", error);
    return this.failure;
  }

  private start(): Promise<void> {
    if (!this.dirty) return Promise.resolve();
    this.dirty = false;
    this.running = this.syncFiles().then(
      () => {
        this.running = null;
      },
      (error: unknown) => {
        this.running = null;
        // After a failed fsync the kernel may have dropped the pages: nothing about them can be promised any more.
        this.failure ??= unusable("Syncing the commit log failed", error);
        throw this.failure;
      },
    );
    return this.running;
  }

  private async syncFiles(): Promise<void> {
    if (this.failure !== null) throw this.failure;
    const upTo = this.last;
    const current = this.file;
    if (current === null) return;
    for (const file of this.unsynced.splice(0)) {
      await this.disk.sync(file);
      this.disk.close(file);
    }
    if (this.directoryChanged) {
      this.directoryChanged = false;
      await this.disk.syncDirectory(this.directory);
    }
    await this.disk.sync(current);
    this.durable = upTo;
  }
}

function unusable(what: string, cause: unknown): DbError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DbError("partition_unavailable", `${what}: ${reason}. The shard must be reopened.`);
}

function isDiskFull(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOSPC" || code === "EDQUOT";
}
