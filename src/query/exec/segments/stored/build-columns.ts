/**
 * Writes column files from the records of a table, in a task thread, so neither the actor nor any query waits for it.
 * It reads a copy of the engine's directory (storage/engine-copy.ts) or, of rows that have just been loaded, the commit
 * log (storage/commit-parts.ts), which takes half the time. table-builds.ts says what is to be made, and takes the
 * files over.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { PartsFiles } from "../../../../storage/commit-log.js";
import { visitParts } from "../../../../storage/commit-parts.js";
import { copyEngine } from "../../../../storage/engine-copy.js";
import { beginKey, type KeyColumn } from "../../../../storage/key-codec.js";
import { copyKey } from "../../../../storage/key-writer.js";
import { recordDecoder, recordWalker } from "../../../../storage/record-codec.js";
import { RocksEngine } from "../../../../storage/rocksdb-engine.js";
import { fromText } from "../../../../values/text-format.js";
import type { SqlType, Value } from "../../../../values/values.js";
import { KeyCollector, type SegmentKeys } from "../segment.js";
import { ColumnFileWriter, type ColumnToWrite } from "./column-file.js";
import { type ColumnSink, columnSink } from "./column-sinks.js";
import { Patcher } from "./patched-segment.js";
import type { JobSpan, KeySpan, SegmentPatch } from "./segment-patch.js";

export interface StoredColumn {
  readonly id: number;
  readonly type: SqlType;
  /** What records that were stored before the column was added have in it, as text; null: NULL. */
  readonly missing: string | null;
}

export interface BuildJob {
  readonly source:
    | { readonly kind: "engine"; readonly directory: string }
    /** All rows of the spans, of which there is one, are in a load of that commit. */
    | { readonly kind: "load"; readonly parts: PartsFiles };
  /** For a copy of it; removed in the end. */
  readonly scratch: string;
  readonly rowPrefix: Uint8Array;
  readonly spans: readonly JobSpan[];
  readonly columns: readonly StoredColumn[];
  /** Of which of the columns, in order, keys are made; null: keys are read with the records, at twice the cost. */
  readonly primaryKey: readonly (KeyColumn & { readonly id: number })[] | null;
  readonly segmentRows: number;
  readonly segmentsPerFile: number;
  /** It ends after so many, so that what was made is of use soon; the rest is left to another build. */
  readonly segmentsMax: number;
  /** Where the files are put, and the number of the first one (`columnFileName`). */
  readonly folder: string;
  readonly firstFile: number;
  /** Not 0: end soon. */
  readonly stop: Int32Array<SharedArrayBuffer>;
}

export interface BuildAnswer {
  readonly paths: readonly string[];
  readonly rows: number;
  /** What was made of the spans: they all, or those before the bound was reached. */
  readonly covered: readonly KeySpan[];
}

export const columnFileName = (number: number): string => `${number}.columns`;

/** Records of a segment, roughly: a page of long texts is read at once, in a few milliseconds. */
const SEGMENT_BYTES = 4 * 1024 * 1024;
const READ_ENTRIES = 1024;
const CACHE_BYTES = 8 * 1024 * 1024;

/** Null when it was stopped; no file is left then. */
export async function buildColumns(job: BuildJob): Promise<BuildAnswer | null> {
  mkdirSync(job.folder, { recursive: true });
  const { source } = job;
  return source.kind === "engine" ? buildFromEngine(job, source.directory) : buildFromLoad(job, source.parts);
}

function buildFromLoad(job: BuildJob, parts: PartsFiles): BuildAnswer | null {
  const builder = new FileBuilder(job);
  try {
    builder.begin(job.spans[0]!);
    const isWhole = visitParts(parts, {
      isStopped: () => Atomics.load(job.stop, 0) !== 0,
      put: (bytes, key, value, end) => {
        if (!beginsWith(bytes, key, job.rowPrefix)) return;
        builder.add(bytes, value, end);
        builder.addKey(bytes, key, value);
      },
    });
    if (!isWhole) return null;
    builder.end();
    return builder.finish();
  } finally {
    builder.abandon();
  }
}

function beginsWith(bytes: Uint8Array, start: number, prefix: Uint8Array): boolean {
  for (let i = prefix.length - 1; i >= 0; i--) if (bytes[start + i] !== prefix[i]) return false;
  return true;
}

async function buildFromEngine(job: BuildJob, directory: string): Promise<BuildAnswer | null> {
  const builder = new FileBuilder(job);
  let engine: RocksEngine | null = null;
  try {
    for (const span of job.spans) {
      if (builder.isFull) break;
      if (Atomics.load(job.stop, 0) !== 0) return null;
      if (span.patch !== undefined && builder.patchSpan(span, span.patch)) continue;
      // If the copy is newer than other spans, no harm is done: what came meanwhile was noted.
      engine ??= await openCopy(job, directory);
      if (!builder.readSpan(engine, span)) return null;
    }
    return builder.finish();
  } finally {
    builder.abandon();
    if (engine !== null) await engine.close();
    rmSync(job.scratch, { recursive: true, force: true });
  }
}

async function openCopy({ scratch }: BuildJob, directory: string): Promise<RocksEngine> {
  await copyEngine(directory, scratch);
  return RocksEngine.open({ directory: scratch, cacheBytes: CACHE_BYTES, isCopy: true });
}

interface PendingSegment {
  readonly from: string;
  readonly keys: SegmentKeys;
  readonly columns: ReadonlyMap<number, ColumnToWrite>;
}

class FileBuilder {
  private readonly keys: KeyCollector;
  private readonly sinks: readonly ColumnSink[];
  private readonly walk: ReturnType<typeof recordWalker>;
  private readonly patcher: Patcher;
  private readonly made: string[] = [];
  private readonly covered: KeySpan[] = [];
  private span: KeySpan = { from: "", to: "" };
  /** Where the segment that is being filled begins; null: at its first key. */
  private begins: string | null = null;
  /** Segments until now. */
  private count = 0;
  private writer: ColumnFileWriter | null = null;
  /** Full, but for the end of its range, which is where the next one begins. */
  private pending: PendingSegment | null = null;
  private rows = 0;
  /** Of the segment that is being filled. */
  private recordBytes = 0;
  private finished = false;
  /** Of the primary key's columns among all. */
  private readonly places: readonly number[];
  private readonly row: Value[] = [];
  private key = new Uint8Array(64);

  constructor(private readonly job: BuildJob) {
    const { columns, rowPrefix, primaryKey } = job;
    this.places = (primaryKey ?? []).map((key) => columns.findIndex(({ id }) => id === key.id));
    this.keys = new KeyCollector(rowPrefix.length);
    this.sinks = columns.map(({ type }) => columnSink(type, job.segmentRows));
    const missing = columns.map(({ type, missing }) => (missing === null ? null : fromText(type, missing)));
    this.walk = recordWalker(columns.map((one, i) => ({ ...one, sink: this.sinks[i]!, missing: missing[i]! })));
    const types: (SqlType | null)[] = [];
    for (const { id, type } of columns) types[id] = type;
    const decoderOf = (places: readonly number[]) =>
      recordDecoder(
        types,
        places.map((place) => columns[place]!.id),
        places.map((place) => missing[place]!),
      );
    this.patcher = new Patcher(rowPrefix.length, columns, decoderOf, job.segmentRows);
  }

  /** False: the span has to be read. */
  patchSpan(span: KeySpan, patch: SegmentPatch): boolean {
    const made = this.patcher.patched(patch);
    if (made === null) return false;
    this.begin(span);
    this.count++;
    this.rows += made.keys.length;
    this.pending = { from: span.from, ...made };
    this.endSpan(span.to);
    return true;
  }

  /** False: it is to stop. */
  readSpan(engine: RocksEngine, span: KeySpan): boolean {
    const { job } = this;
    const { from, to } = span;
    this.begin(span);
    const cursor = engine.cursor({
      gte: wholeKey(job.rowPrefix, from),
      lt: wholeKey(job.rowPrefix, to),
      only: job.primaryKey === null ? undefined : "values",
    });
    try {
      for (;;) {
        if (Atomics.load(job.stop, 0) !== 0) return false;
        const entries = cursor.next(READ_ENTRIES);
        if (entries.values.length === 0) break;
        for (let i = 0; i < entries.values.length; i++) {
          const record = entries.values[i]!;
          this.add(record, 0, record.length);
          const isTaken =
            job.primaryKey === null
              ? this.addKey(entries.keys[i]!, 0, entries.keys[i]!.length)
              : this.addMadeKey(job.primaryKey);
          if (!isTaken) return true;
        }
      }
    } finally {
      cursor.close();
    }
    this.end();
    return true;
  }

  /** What is added from now on is all that the span has. */
  begin(span: KeySpan): void {
    this.span = span;
    this.begins = span.from;
  }

  /** A row, but for its key, which is to be added next. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const { job, keys } = this;
    if (keys.length === job.segmentRows || this.recordBytes > SEGMENT_BYTES) {
      this.endSegment(this.begins!);
      this.begins = null;
    }
    this.recordBytes += end - start;
    this.walk(bytes, start, end);
  }

  /** The row's whole key. False: no more segments are to be made, and the span has ended before the row. */
  addKey(bytes: Uint8Array, start: number, end: number): boolean {
    const { keys } = this;
    keys.append(bytes, start + this.job.rowPrefix.length, end);
    if (this.begins !== null) return true;
    this.begins = keys.first();
    if (!this.isFull) return true;
    keys.take();
    this.endSpan(this.begins);
    return false;
  }

  /** The same, of a key that is made of the row. */
  private addMadeKey(columns: readonly KeyColumn[]): boolean {
    const { row, places } = this;
    const number = this.keys.length;
    for (const place of places) row[place] = this.sinks[place]!.valueAt(number);
    const length = beginKey(this.job.rowPrefix, columns, row, places);
    if (length > this.key.length) this.key = new Uint8Array(2 * length);
    copyKey(0, length, this.key, 0);
    return this.addKey(this.key, 0, length);
  }

  end(): void {
    if (this.keys.length > 0) this.endSegment(this.begins!);
    this.endSpan(this.span.to);
  }

  /** As many segments were made as may be. */
  get isFull(): boolean {
    return this.count >= this.job.segmentsMax;
  }

  private endSpan(to: string): void {
    this.writePending(to);
    this.covered.push({ from: this.span.from, to });
  }

  finish(): BuildAnswer {
    this.endFile();
    this.finished = true;
    return { paths: this.made, rows: this.rows, covered: this.covered };
  }

  /** Call it in the end: what is finished stays. */
  abandon(): void {
    this.patcher.close();
    if (this.finished) return;
    this.writer?.abandon();
    for (const path of this.made) rmSync(path, { force: true });
  }

  private endSegment(from: string): void {
    this.writePending(from);
    const keys = this.keys.take();
    this.recordBytes = 0;
    this.count++;
    this.rows += keys.length;
    const columns = new Map<number, ColumnToWrite>();
    this.job.columns.forEach(({ id, type }, i) => {
      columns.set(id, { type, column: this.sinks[i]!.column() });
    });
    this.pending = { from, keys, columns };
  }

  private writePending(to: string): void {
    const { pending, job } = this;
    if (pending === null) return;
    this.pending = null;
    this.writer ??= new ColumnFileWriter(this.nextPath);
    this.writer.add({ from: pending.from, to }, pending.keys, pending.columns);
    if (this.writer.count >= job.segmentsPerFile) this.endFile();
  }

  private endFile(): void {
    if (this.writer === null) return;
    this.writer.finish();
    this.made.push(this.nextPath);
    this.writer = null;
  }

  private get nextPath(): string {
    return join(this.job.folder, columnFileName(this.job.firstFile + this.made.length));
  }
}

function wholeKey(prefix: Uint8Array, part: string): Uint8Array {
  return Buffer.concat([prefix, Buffer.from(part, "latin1")]);
}
