/**
 * The commit log in files: `log/` of a shard directory holds segments named by the first sequence in them. Appending
 * is one write into the page cache on the calling thread; `sync` waits for the device in libuv's pool. Owned by one
 * shard.
 *
 * Opening finds the end of the log. Bytes that are no intact record end it, and are cut off, as long as nothing
 * attests that they had been synced (see log-record.ts); otherwise acknowledged commits are damaged and open refuses.
 */
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { DbError } from "../protocol/errors.js";
import { type Commit, type CommitLog, type CommitParts, type LogEntry, lastMicrosOf } from "./commit-log.js";
import { type Disk, fileDisk } from "./disk.js";
import {
  attestedAfter,
  isHeaderMissing,
  type LogRecord,
  PARTS_IDS,
  type PartsReference,
  partsKey,
  RECORD_KIND,
  readPartsKey,
  readRecord,
  recordBytes,
  SEGMENT_HEADER_BYTES,
  segmentHeader,
  segmentSalt,
  writeRecord,
} from "./log-record.js";
import type { Operation } from "./operation.js";

export interface FileCommitLogOptions {
  readonly directory: string;
  readonly disk?: Disk;
  /** A segment that has grown past this is followed by a new one. */
  readonly segmentBytes?: number;
  /** `trim` keeps at least this much, and always the newest segment. */
  readonly retentionBytes?: number;
}

interface Segment {
  readonly first: number;
  readonly path: string;
  /** Time of its first commit; null while nobody has looked. */
  micros: number | null;
  /** Seed of its records' checksums; null while the header has not been read. */
  salt: number | null;
  length: number;
}

const SEGMENT_BYTES = 16 * 1024 * 1024;
const RETENTION_BYTES = 64 * 1024 * 1024;
/** The append buffer is kept between turns up to this size. */
const SCRATCH_BYTES = 1024 * 1024;

const SUFFIX = ".log";

export class FileCommitLog implements CommitLog {
  readonly #directory: string;
  readonly #disk: Disk;
  readonly #segmentBytes: number;
  readonly #retentionBytes: number;
  /** Oldest first; the last one is appended to, through `#file`. */
  readonly #segments: Segment[] = [];
  #file: number | null = null;
  /** Full segments with bytes that are not synced yet. */
  #unsynced: number[] = [];
  #directoryChanged = false;
  /** Something was written since the last sync started. */
  #dirty = false;
  #last = 0;
  #durable = 0;
  /** The last record is a mark for `#last`. */
  #marked = false;
  #failure: DbError | null = null;
  #running: Promise<void> | null = null;
  #following: Promise<void> | null = null;
  #scratch = Buffer.allocUnsafeSlow(64 * 1024);
  /** Where parts begin (the `first` of a segment) that recovery may need, and the sequence of their commit, if any. */
  readonly #parts = new Map<number, { readonly firstSegment: number; sequence: number }>();
  bytesAppended = 0;
  lastMicros = 0;
  keeps: CommitLog["keeps"] = null;

  /** Throws partition_damaged, naming segment and offset, when commits that had been durable are damaged. */
  static async open(options: FileCommitLogOptions): Promise<FileCommitLog> {
    const log = new FileCommitLog(options);
    log.#recover();
    await log.sync();
    return log;
  }

  private constructor(options: FileCommitLogOptions) {
    this.#directory = options.directory;
    this.#disk = options.disk ?? fileDisk;
    this.#segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.#retentionBytes = options.retentionBytes ?? RETENTION_BYTES;
  }

  get firstSequence(): number {
    return this.#segments[0]?.first ?? this.#last + 1;
  }

  get lastSequence(): number {
    return this.#last;
  }

  append(commits: readonly Commit[]): void {
    if (commits.length === 0) return;
    this.#write(RECORD_KIND.commit, commits);
    for (const { parts, sequence } of commits) if (parts !== undefined) this.#parts.get(parts.id)!.sequence = sequence;
  }

  beginParts(): CommitParts {
    return { id: randomInt(1, PARTS_IDS), operations: 0 };
  }

  appendPart(parts: CommitParts, operations: readonly Operation[]): void {
    this.#write(RECORD_KIND.part, [{ sequence: this.#last, micros: parts.id, operations }]);
    if (!this.#parts.has(parts.id)) {
      this.#parts.set(parts.id, { firstSegment: this.#segments.at(-1)!.first, sequence: Number.POSITIVE_INFINITY });
    }
    parts.operations += operations.length;
  }

  dropParts(parts: CommitParts): void {
    this.#parts.delete(parts.id);
  }

  appendGap(sequence: number, micros: number): void {
    this.#write(RECORD_KIND.gap, [{ sequence, micros, operations: [] }]);
  }

  sync(): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    if (this.#running === null) return this.#start();
    // What was appended since the running one began waits for the next, together with all other callers.
    this.#following ??= this.#running.then(() => {
      this.#following = null;
      // Somebody may have started it already, right when the one before ended.
      return this.#running ?? this.#start();
    });
    return this.#following;
  }

  *replay(fromSequence: number): Iterable<LogEntry> {
    const start = this.#segments.findLastIndex((segment) => segment.first <= fromSequence);
    const end = this.#last;
    let previous = -1;
    for (const segment of this.#segments.slice(Math.max(start, 0))) {
      if (segment.first > end) return;
      if (!this.#segments.includes(segment))
        throw new DbError("internal_error", "The change log was trimmed meanwhile.");
      const bytes = this.#load(segment);
      if (segment.salt === null) throw damaged(segment, 0);
      let offset = SEGMENT_HEADER_BYTES;
      while (offset < bytes.length) {
        const record = readRecord(bytes, offset, segment.salt);
        if (record === null || !follows(record, previous === -1 ? segment.first - 1 : previous)) {
          throw damaged(segment, offset);
        }
        previous = record.sequence;
        if (previous > end) return;
        offset = record.end;
        const isEntry = record.kind !== RECORD_KIND.mark && record.kind !== RECORD_KIND.part;
        if (previous < fromSequence || !isEntry) continue;
        yield record.kind === RECORD_KIND.whole ? this.#assemble(record, segment) : record;
      }
    }
  }

  /** The operations of a large commit, whose record is in the segment `last`. */
  #assemble(record: LogRecord, last: Segment): LogEntry {
    const reference = readPartsKey(record.operations[0]!.key);
    const operations = this.#partsOf(reference, last);
    if (operations.length !== reference.operations) throw incomplete(record, reference);
    this.#parts.set(reference.id, { firstSegment: reference.firstSegment, sequence: record.sequence });
    for (const operation of record.operations.slice(1)) operations.push(operation);
    const { sequence, micros, before } = record;
    return { sequence, micros, operations, gap: false, ...(before !== undefined && { before }) };
  }

  /** What is there of a large commit's parts, up to the segment `last`. */
  #partsOf({ id, firstSegment }: PartsReference, last: Segment): Operation[] {
    const operations: Operation[] = [];
    for (const segment of this.#segments) {
      if (segment.first < firstSegment || segment.first > last.first) continue;
      const bytes = this.#load(segment);
      let offset = SEGMENT_HEADER_BYTES;
      while (segment.salt !== null && offset < bytes.length) {
        const part = readRecord(bytes, offset, segment.salt);
        if (part === null) break;
        offset = part.end;
        if (part.kind !== RECORD_KIND.part || part.micros !== id) continue;
        for (const operation of part.operations) operations.push(operation);
      }
    }
    return operations;
  }

  /**
   * True for the record of a large commit whose parts are not all there: parts have no numbers of their own, so that the
   * loss of a segment's last ones shows only here. Parts that were trimmed had been applied.
   */
  #lacksParts(record: LogRecord, segment: Segment): boolean {
    if (record.kind !== RECORD_KIND.whole) return false;
    const reference = readPartsKey(record.operations[0]!.key);
    if (reference.firstSegment < this.#segments[0]!.first) return false;
    return this.#partsOf(reference, segment).length !== reference.operations;
  }

  sequenceBefore(micros: number): number {
    for (let i = this.#segments.length - 1; i > 0; i--) {
      const segment = this.#segments[i]!;
      if (this.#microsOf(segment) <= micros) return segment.first;
    }
    return this.firstSequence;
  }

  /** Of the first commit in the segment, or, while it has none, of the newest. */
  #microsOf(segment: Segment): number {
    if (segment.micros !== null) return segment.micros;
    const bytes = this.#load(segment);
    let offset = SEGMENT_HEADER_BYTES;
    while (segment.salt !== null && offset < bytes.length) {
      const record = readRecord(bytes, offset, segment.salt);
      if (record === null) break;
      offset = record.end;
      if (record.kind === RECORD_KIND.part) continue;
      segment.micros = record.micros;
      return record.micros;
    }
    return this.lastMicros;
  }

  trim(sequence: number): void {
    let neededFrom = Number.POSITIVE_INFINITY;
    for (const [id, parts] of this.#parts) {
      if (parts.sequence <= sequence) this.#parts.delete(id);
      else neededFrom = Math.min(neededFrom, parts.firstSegment);
    }
    let kept = 0;
    for (const segment of this.#segments) kept += segment.length;
    while (this.#segments.length > 1 && this.#segments[1]!.first <= sequence + 1) {
      const oldest = this.#segments[0]!;
      kept -= oldest.length;
      // What is in the oldest segment is older than the next one's first commit.
      const { keeps } = this;
      const isKept = keeps !== null && kept < keeps.bytesMax && this.#microsOf(this.#segments[1]!) > keeps.afterMicros;
      if (isKept) return;
      if (kept < this.#retentionBytes || this.#unsynced.length > 0 || oldest.first >= neededFrom) return;
      this.#disk.remove(oldest.path);
      this.#segments.shift();
    }
  }

  async close(): Promise<void> {
    try {
      if (this.#failure === null) {
        await this.sync();
        this.#mark();
        await this.sync();
      }
    } finally {
      await this.#running?.catch(() => {});
      this.#failure ??= new DbError("shutting_down", "The commit log is closed.");
      for (const file of this.#unsynced) this.#disk.close(file);
      if (this.#file !== null) this.#disk.close(this.#file);
      this.#unsynced = [];
      this.#file = null;
    }
  }

  /** Attests that all of the log is durable, so that damage is told from a torn tail whatever happens to the file. */
  #mark(): void {
    if (this.#marked || this.#segments.length === 0) return;
    try {
      this.#write(RECORD_KIND.mark, [{ sequence: this.#last, micros: Date.now() * 1000, operations: [] }]);
    } catch (error) {
      if (!(error instanceof DbError && error.code === "disk_full")) throw error;
    }
  }

  #write(kind: LogRecord["kind"], commits: readonly Commit[]): void {
    if (this.#failure !== null) throw this.#failure;
    let segment = this.#segments.at(-1);
    // A segment without commits, only parts of some to come, has the name that the next one would get.
    const mayEnd = kind !== RECORD_KIND.mark && segment !== undefined && segment.first <= this.#last;
    if (segment === undefined || (segment.length >= this.#segmentBytes && mayEnd)) {
      segment = this.#startSegment(kind === RECORD_KIND.part ? this.#last + 1 : commits[0]!.sequence);
    }
    const records = commits.map((commit) => (commit.parts === undefined ? commit : this.#wholeOf(commit)));
    let length = 0;
    for (const record of records) length += recordBytes(record);
    const bytes = this.#buffer(length);
    // Parts of a commit to come may stand unsynced in earlier segments, although all commits there are durable.
    const durable = this.#unsynced.length > 0 ? Math.min(this.#durable, Math.max(segment.first - 2, 0)) : this.#durable;
    let end = 0;
    for (const record of records) {
      const own = record.parts === undefined ? kind : RECORD_KIND.whole;
      end = writeRecord(bytes, end, { salt: segment.salt!, kind: own, durable }, record);
    }
    this.#writeBytes(segment, bytes.subarray(0, end));
    this.#last = commits.at(-1)!.sequence;
    if (kind !== RECORD_KIND.part) {
      segment.micros ??= commits[0]!.micros;
      this.lastMicros = Math.max(this.lastMicros, lastMicrosOf(commits.at(-1)!));
    }
    this.#marked = kind === RECORD_KIND.mark;
    this.#dirty = true;
    this.bytesAppended += end;
  }

  #wholeOf(commit: Commit): Commit {
    const { id, operations } = commit.parts!;
    const key = partsKey({ id, operations, firstSegment: this.#parts.get(id)!.firstSegment });
    return { ...commit, operations: [{ key, value: null }, ...commit.operations] };
  }

  #buffer(length: number): Buffer {
    if (length <= this.#scratch.length) return this.#scratch;
    if (length > SCRATCH_BYTES) return Buffer.allocUnsafeSlow(length);
    this.#scratch = Buffer.allocUnsafeSlow(Math.max(length, this.#scratch.length * 2));
    return this.#scratch;
  }

  /** Writes at the end of the segment; after a failure the file is as before. */
  #writeBytes(segment: Segment, bytes: Buffer): void {
    try {
      let offset = 0;
      while (offset < bytes.length) {
        offset += this.#disk.write(this.#file!, bytes, offset, segment.length + offset);
      }
    } catch (error) {
      throw this.#undo(error, () => this.#disk.truncate(this.#file!, segment.length));
    }
    segment.length += bytes.length;
  }

  #startSegment(first: number): Segment {
    const path = join(this.#directory, `${String(first).padStart(20, "0")}${SUFFIX}`);
    const header = segmentHeader();
    const segment: Segment = { first, path, micros: null, salt: segmentSalt(header), length: 0 };
    const before = this.#file;
    try {
      this.#file = this.#disk.open(path, true);
    } catch (error) {
      throw this.#undo(error, () => {});
    }
    try {
      this.#writeBytes(segment, header);
    } catch (error) {
      this.#disk.close(this.#file);
      this.#file = before;
      throw this.#undo(error, () => this.#disk.remove(path));
    }
    if (before !== null) this.#unsynced.push(before);
    this.#directoryChanged = true;
    this.#segments.push(segment);
    return segment;
  }

  /** The error to throw for a failed write, after `restore` has put the file back; a failing restore is final. */
  #undo(error: unknown, restore: () => void): DbError {
    if (error instanceof DbError) {
      if (error.code === "disk_full") restore();
      return error;
    }
    try {
      restore();
    } catch (second) {
      this.#failure = unusable("The commit log cannot be repaired after a failed write", second);
      return this.#failure;
    }
    if (isDiskFull(error)) return new DbError("disk_full");
    this.#failure = unusable("Writing the commit log failed", error);
    return this.#failure;
  }

  #start(): Promise<void> {
    if (!this.#dirty) return Promise.resolve();
    this.#dirty = false;
    this.#running = this.#syncFiles().then(
      () => {
        this.#running = null;
      },
      (error: unknown) => {
        this.#running = null;
        // After a failed fsync the kernel may have dropped the pages: nothing about them can be promised any more.
        this.#failure ??= unusable("Syncing the commit log failed", error);
        throw this.#failure;
      },
    );
    return this.#running;
  }

  async #syncFiles(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    const upTo = this.#last;
    const current = this.#file;
    if (current === null) return;
    for (const file of this.#unsynced.splice(0)) {
      await this.#disk.sync(file);
      this.#disk.close(file);
    }
    if (this.#directoryChanged) {
      this.#directoryChanged = false;
      await this.#disk.syncDirectory(this.#directory);
    }
    await this.#disk.sync(current);
    this.#durable = upTo;
  }

  #recover(): void {
    this.#disk.makeDirectory(this.#directory);
    const names = this.#disk.list(this.#directory).filter((name) => /^\d{20}\.log$/.test(name));
    for (const name of names.sort()) {
      const path = join(this.#directory, name);
      const first = Number(name.slice(0, -SUFFIX.length));
      this.#segments.push({ first, path, micros: null, salt: null, length: this.#sizeOf(path) });
    }
    const from = this.#firstUnsynced();
    for (let index = from; index < this.#segments.length; index++) {
      const expected = index === from ? this.#segments[index]!.first : this.#last + 1;
      if (!this.#scan(index, expected)) break;
    }
    const current = this.#segments.at(-1);
    if (current !== undefined) {
      this.#writeTailAgain(from);
      this.#file = this.#disk.open(current.path, false);
      // The previous process may have died before its last sync.
      this.#directoryChanged = true;
      this.#dirty = true;
    }
  }

  /**
   * Writes again, and has synced, what nothing attests to be on the device. A sync of it may have failed: then the system
   * shows it as it was written but has given up writing it, and a sync that succeeds promises nothing (fsync(2), EIO).
   */
  #writeTailAgain(from: number): void {
    let isTail = false;
    for (const segment of this.#segments.slice(from)) {
      const bytes = this.#load(segment);
      const start = isTail ? 0 : this.#firstUnattested(segment, bytes);
      if (start === bytes.length) continue;
      isTail = true;
      const file = this.#disk.open(segment.path, false);
      // All but the last are closed once they are synced.
      if (segment !== this.#segments.at(-1)) this.#unsynced.push(file);
      for (let at = start; at < bytes.length; ) at += this.#disk.write(file, bytes, at, at);
      if (segment === this.#segments.at(-1)) this.#disk.close(file);
    }
  }

  /** Where the bytes begin that may not have been synced; the header counts to the first record. */
  #firstUnattested(segment: Segment, bytes: Buffer): number {
    let offset = SEGMENT_HEADER_BYTES;
    while (offset < bytes.length) {
      const record = readRecord(bytes, offset, segment.salt!)!;
      // Parts have the sequence of the commit before theirs.
      const attested = this.#durable - (record.kind === RECORD_KIND.part ? 1 : 0);
      if (record.sequence > attested) break;
      offset = record.end;
    }
    return offset === SEGMENT_HEADER_BYTES ? 0 : offset;
  }

  /** The first segment that may have bytes which were never synced: no segment after it attests that it was. */
  #firstUnsynced(): number {
    let index = this.#segments.length - 1;
    while (index > 0) {
      const segment = this.#segments[index]!;
      const bytes = this.#load(segment);
      const record = segment.salt === null ? null : readRecord(bytes, SEGMENT_HEADER_BYTES, segment.salt);
      if (record !== null && record.durable >= segment.first - 1) break;
      index--;
    }
    return Math.max(index, 0);
  }

  /** Reads a segment, whose first sequence must be at least `expected`; false when the log ends inside or before it. */
  #scan(index: number, expected: number): boolean {
    const segment = this.#segments[index]!;
    const bytes = this.#load(segment);
    let previous = expected - 1;
    if (segment.salt === null && !isHeaderMissing(bytes)) throw damaged(segment, 0);
    let offset = segment.salt === null ? 0 : SEGMENT_HEADER_BYTES;
    while (segment.salt !== null && offset < bytes.length) {
      const record = readRecord(bytes, offset, segment.salt);
      if (record === null || !follows(record, previous) || this.#lacksParts(record, segment)) break;
      previous = record.sequence;
      this.#last = record.sequence;
      this.#durable = record.durable;
      this.#marked = record.kind === RECORD_KIND.mark;
      if (record.kind !== RECORD_KIND.part) this.lastMicros = Math.max(this.lastMicros, lastMicrosOf(record));
      offset = record.end;
    }
    if (offset === bytes.length && offset > SEGMENT_HEADER_BYTES) return true;
    this.#cut(index, offset, previous + 1);
    return false;
  }

  /** Ends the log at `offset` of a segment, where the record `lost` should start. */
  #cut(index: number, offset: number, lost: number): void {
    const segment = this.#segments[index]!;
    for (let later = index; later < this.#segments.length; later++) {
      const bytes = this.#load(this.#segments[later]!);
      const { salt } = this.#segments[later]!;
      const start = later === index ? offset : SEGMENT_HEADER_BYTES;
      if (salt !== null && attestedAfter(bytes, start, salt) >= lost) throw damaged(segment, offset);
    }
    for (const later of this.#segments.splice(index + 1)) this.#disk.remove(later.path);
    if (offset <= SEGMENT_HEADER_BYTES) {
      this.#disk.remove(segment.path);
      this.#segments.pop();
      this.#last = lost - 1;
      return;
    }
    const file = this.#disk.open(segment.path, false);
    this.#disk.truncate(file, offset);
    this.#disk.close(file);
    segment.length = offset;
  }

  #sizeOf(path: string): number {
    const file = this.#disk.open(path, false);
    try {
      return this.#disk.size(file);
    } finally {
      this.#disk.close(file);
    }
  }

  /** The bytes of the segment; sets its salt. */
  #load(segment: Segment): Buffer {
    const file = this.#disk.open(segment.path, false);
    try {
      const bytes = this.#disk.read(file, 0, segment.length);
      segment.salt = segmentSalt(bytes);
      return bytes;
    } finally {
      this.#disk.close(file);
    }
  }
}

/** Whether the record may come after `previous`. */
function follows(record: LogRecord, previous: number): boolean {
  if (record.kind === RECORD_KIND.gap) return record.sequence > previous;
  const repeats = record.kind === RECORD_KIND.mark || record.kind === RECORD_KIND.part;
  return record.sequence === (repeats ? previous : previous + 1);
}

function damaged(segment: Segment, offset: number): DbError {
  const where = `The commit log is damaged: segment ${segment.path}, offset ${offset}.`;
  return new DbError("partition_damaged", `${where} Committed data after it would be lost; restore a backup.`);
}

function incomplete({ sequence }: LogRecord, { operations }: PartsReference): DbError {
  const where = `commit ${sequence} has ${operations} operations in earlier parts of the log`;
  return new DbError("partition_damaged", `The commit log is damaged or was trimmed: ${where}. Restore a backup.`);
}

function unusable(what: string, cause: unknown): DbError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new DbError("partition_unavailable", `${what}: ${reason}. The shard must be reopened.`);
}

function isDiskFull(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOSPC" || code === "EDQUOT";
}
