/**
 * Makes entries of a new index from column files and sorts them, in a task thread, so that the actor goes on meanwhile.
 * index-runs.ts says which segments, and takes the entries over.
 */
import { DbError } from "../../protocol/errors.js";
import { isKeyOfText } from "../../storage/key-codec.js";
import { Load } from "../../storage/load.js";
import { LoadRun } from "../../storage/load-run.js";
import type { PackedRun } from "../../storage/packed-run.js";
import type { Value } from "../../values/values.js";
import type { IndexMergeJob, IndexRunAnswer, IndexRunJob } from "./index-threads.js";
import { entryBytesMin, entryPlaces, loadEntry, loadEntryOfPart, loadEntryOfText } from "./load-entry.js";
import { PresortedRows, type TakeRow } from "./presorted-rows.js";
import { emptyColumns } from "./row-buffer.js";
import { type Column, type NumberColumn, valuesOf } from "./segments/column.js";
import type { SegmentKeys } from "./segments/segment.js";
import { ColumnFile, DamagedColumns, type StoredSegment } from "./segments/stored/column-file.js";
import type { TextColumn } from "./segments/text-column.js";

/** Rows between two looks whether it is to stop. */
const STEP_ROWS = 4096;
const NO_VALUE: readonly Value[] = [null];
const NOTHING: IndexRunAnswer = { run: null, bytes: 0, error: null };

export async function makeIndexRun(job: IndexRunJob): Promise<IndexRunAnswer> {
  try {
    const maker = new RunMaker(job);
    if (!maker.make()) return NOTHING;
    const { entries, load } = maker;
    const run = job.index.unique || entries.isInOrder ? entries.pack() : inKeyOrder(entries, job);
    return run === null ? NOTHING : { run, bytes: load.bytes, error: null };
  } catch (error) {
    if (error instanceof DbError) {
      const { code, message, details } = error;
      return { ...NOTHING, error: { code, message, details } };
    }
    // A file was replaced in the meantime; or the scan that follows reports the damage.
    if (error instanceof DamagedColumns || (error as NodeJS.ErrnoException).code === "ENOENT") return NOTHING;
    throw error;
  }
}

export function mergeIndexRuns({ prefix, parts, stop }: IndexMergeJob): PackedRun | null {
  const run = new LoadRun(prefix);
  for (const _ of run.merge(parts)) if (Atomics.load(stop, 0) !== 0) return null;
  return run.pack();
}

/** Its bytes in the order of keys, as merging leaves them: runs of an index that is not unique are not merged. */
function inKeyOrder(entries: LoadRun, { prefix, stop }: IndexRunJob): PackedRun | null {
  return mergeIndexRuns({ prefix, parts: [entries.pack()], stop });
}

/** What another thread may have without a copy. */
export function buffersOf(run: PackedRun | null): ArrayBuffer[] {
  if (run === null) return [];
  const arrays = [...run.slabs, ...run.blocks, ...(run.order === null ? [] : [run.order])];
  return arrays.map(({ buffer }) => buffer);
}

class RunMaker {
  readonly entries: LoadRun;
  readonly load: Load;
  private readonly places: readonly number[];
  private readonly row: Value[] = [];
  private readonly scratch: Value[][];

  constructor(private readonly job: IndexRunJob) {
    this.load = new Load(0, job.bytesMax);
    this.entries = this.load.run(job.prefix);
    this.places = entryPlaces(job.index);
    this.scratch = emptyColumns(job.columns.length);
  }

  /** False: it was stopped. */
  make(): boolean {
    return this.makePresorted() ?? this.makeInOrderOfRows();
  }

  /** Null: it is not to be done so, and nothing was added. */
  private makePresorted(): boolean | null {
    const { job } = this;
    const ids = job.columns.map(({ id }) => id);
    const stored = [...this.storedSegments()];
    const presorted = PresortedRows.of(
      job.index,
      ids,
      stored.map(([segment]) => segment),
    );
    if (presorted === null) return null;
    let bytesMin = 0;
    for (const [segment, without] of stored) bytesMin += entryBytesMin(job.index, job.prefix, segment, without);
    this.load.requireRoom(bytesMin);
    for (const [segment, without] of stored) {
      if (this.isStopped) return false;
      const keys = segment.readKeys();
      const columns = job.columns.map(({ id, type }) => segment.readColumn(id, type) as NumberColumn);
      presorted.add(keys, columns, rowsOf(keys, without));
      Atomics.add(job.rows, 0, keys.length);
    }
    const { load, entries, places } = this;
    const take: TakeRow = (row, bytes, start, end) => {
      loadEntryOfPart(load, entries, job.index, row, places, bytes, start, end);
    };
    return presorted.takeEach(() => this.isStopped, take) && this.sort();
  }

  private makeInOrderOfRows(): boolean {
    for (const [segment, without] of this.storedSegments()) if (!this.addSegment(segment, without)) return false;
    return this.sort();
  }

  /** Does nothing where the entries were added in their order. */
  private sort(): boolean {
    for (const _ of this.load.sort()) if (this.isStopped) return false;
    return true;
  }

  private *storedSegments(): Generator<[StoredSegment, readonly Uint8Array[]]> {
    let file: ColumnFile | null = null;
    for (const { path, number, without } of this.job.segments) {
      if (file?.path !== path) file = new ColumnFile(path, this.job.prefixLength);
      yield [file.segments[number]!, without];
    }
  }

  private get isStopped(): boolean {
    return Atomics.load(this.job.stop, 0) !== 0;
  }

  private addSegment(segment: StoredSegment, without: readonly Uint8Array[]): boolean {
    const keys = segment.readKeys();
    const columns = this.job.columns.map(({ id, type }) => segment.readColumn(id, type));
    const left = rowsOf(keys, without);
    const texts = this.textsOnly(columns);
    if (texts !== null) return this.addTexts(keys, texts, left);
    for (let from = 0; from < keys.length; from += STEP_ROWS) {
      if (this.isStopped) return false;
      const count = Math.min(STEP_ROWS, keys.length - from);
      const values = columns.map((column, i) => valuesOf(column, null, from, count, this.scratch[i]!));
      for (let i = 0; i < count; i++)
        if (left === null || left[from + i] === 0) this.addRow(values, i, keys.at(from + i));
      Atomics.add(this.job.rows, 0, count);
    }
    return true;
  }

  /** Null: the index is over something else than one column of texts, or they are held in another form here. */
  private textsOnly([column, ...others]: readonly Column[]): TextColumn | null {
    const { computed, included, columns } = this.job.index;
    const isPlain = !computed && included === null && columns.length === 1 && others.length === 0;
    return isPlain && isKeyOfText(columns[0]!.type) && column?.kind === "text" ? column : null;
  }

  private addTexts(keys: SegmentKeys, texts: TextColumn, left: Uint8Array | null): boolean {
    const { load, entries, job } = this;
    const { nulls } = texts;
    for (let row = 0; row < keys.length; row++) {
      if (row % STEP_ROWS === 0 && this.isStopped) return false;
      if (left !== null && left[row] === 1) continue;
      if (nulls !== null && nulls[row] === 1) this.addRow([NO_VALUE], 0, keys.at(row));
      else loadEntryOfText(load, entries, job.index, texts, row, keys);
    }
    Atomics.add(job.rows, 0, keys.length);
    return true;
  }

  private addRow(values: readonly ArrayLike<Value>[], number: number, suffix: Uint8Array): void {
    const { job, row } = this;
    const { columns, index } = job;
    for (let i = 0; i < columns.length; i++) row[columns[i]!.id] = values[i]![number]!;
    loadEntry(this.load, this.entries, index, row, this.places, suffix, row);
  }
}

/** 1 at each row that has one of the keys; null: none has. */
function rowsOf(keys: SegmentKeys, wanted: readonly Uint8Array[]): Uint8Array | null {
  if (wanted.length === 0) return null;
  const marks = new Uint8Array(keys.length);
  let at = 0;
  for (const key of wanted) {
    at = keys.nextBound(key, at);
    if (at < keys.length && keys.compare(at, key) === 0) marks[at] = 1;
  }
  return marks;
}
