/**
 * Reads segments for a statement in another thread: the same scan, projection and operator as in the statement,
 * compiled of the same expressions, over the columns of some segments. What cannot be done here, and rows that end in
 * an error, are left to the statement, which then reads the segments by itself.
 */
import { threadId } from "node:worker_threads";
import { DbError } from "../../../protocol/errors.js";
import { NewerWrites } from "../../../storage/newer-writes.js";
import { keyText } from "../../../storage/ordered-map.js";
import type { Corrections, Transaction } from "../../../storage/store.js";
import type { SqlType, Value } from "../../../values/values.js";
import type { Batch } from "../../expr/expr.js";
import { receivedLeaf, type SentValue, sentLeaf } from "../../expr/sent-condition.js";
import { typeOfKey } from "../../expr/sent-expr.js";
import { partialGroups } from "../aggregate.js";
import type { ExecContext } from "../context.js";
import { createContext } from "../create-context.js";
import { compileDistinct } from "../distinct.js";
import type { Operator, Pulled, SegmentBound } from "../operator.js";
import { compileProject } from "../project.js";
import type { RowNumbers } from "../row-numbers.js";
import { CHUNK_ROWS } from "../segments/chunk.js";
import { type Column, isShared, receivedColumn, type SentSegmentColumn, sentColumn } from "../segments/column.js";
import type { PartOfRun } from "../segments/float-sum.js";
import { Segment, type SegmentKeys, type SomeRows, type StoredPages } from "../segments/segment.js";
import { Gap, Handed, type SegmentList, SegmentScan } from "../segments/segment-scan.js";
import { compileSegmentTests, type SegmentScanProgram } from "../segments/segment-scan-program.js";
import { ColumnFile, DamagedColumns, type StoredSegment } from "../segments/stored/column-file.js";
import { knownNumbers } from "../segments/stored/column-page.js";
import { compileTopN } from "../top-n.js";
import { THREAD_ROWS_MAX, Unfit } from "./merge-state.js";
import type { ReadAnswer, ReadJob, ReadSegment, SentColumn, SharedColumns } from "./read-threads.js";
import { receivedRead } from "./sent-read.js";

type Result = ReadAnswer["result"];

/** Memory of an answer that may be moved to the statement's thread: nobody here needs it any more. */
export function buffersOfAnswer({ result }: ReadAnswer): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const add = (array: ArrayBufferView | null): void => {
    if (array !== null && array.buffer instanceof ArrayBuffer) buffers.add(array.buffer);
  };
  if (result.kind !== "groups") return [];
  for (const key of result.groups.keys) {
    if (key.kind === "number") for (const array of [key.data, key.nulls]) add(array);
    if (key.kind === "text") for (const array of [key.data, key.offsets, key.nulls]) add(array);
  }
  for (const state of result.groups.states) {
    if (state.kind === "counts") add(state.counts);
    if (state.kind === "sums") for (const array of [state.small, state.counts]) add(array);
    if (state.kind === "numbers")
      for (const array of [state.sums, state.counts, state.numbers, state.groups]) add(array);
  }
  return [...buffers];
}

class Stopped extends Error {}

/** The job takes longer than it may. */
class Late extends Error {}

/** A file was replaced, or is damaged: the statement finds out by itself. */
class Unreadable extends Error {}

export async function readInThread(job: ReadJob): Promise<ReadAnswer> {
  working++;
  clearTimeout(closing);
  const pages = job.segments.map((segment) => new ThreadPages(segment, job));
  const answer = (result: Result, rows: number): ReadAnswer => ({
    thread: threadId,
    rows,
    result,
    bytes: bytesOfResult(result),
    shared: pages.map((one) => one.read),
  });
  try {
    const read = receivedRead(job.read, job.rowsMax);
    const context = contextOf(job, performance.now() + job.millisMax);
    const scan = new ThreadScan(job, pages, { ...compileSegmentTests(read), ...placesOf(job) }, context);
    const below = read.project === null ? scan : compileProject(read.project, () => scan)(context);
    const rowsMax = pages.reduce((sum, { rows }) => sum + rows, 0);
    const result = await resultOf(read.goal, below, context, { rows: rowsMax, addsUp: job.addsUp });
    return answer(result, scan.rows);
  } catch (error) {
    const why = reasonOf(error);
    if (why === null) throw error;
    return answer({ kind: "none", why }, 0);
  } finally {
    working--;
    keepFiles();
  }
}

function reasonOf(error: unknown): (Result & { readonly kind: "none" })["why"] | null {
  if (error instanceof DbError) return error.code;
  if (error instanceof Stopped) return "stopped";
  if (error instanceof Late) return "late";
  if (error instanceof Unfit) return "unfit";
  const isGone = error instanceof Error && (error as NodeJS.ErrnoException).code === "ENOENT";
  return isGone || error instanceof Unreadable || error instanceof DamagedColumns ? "unreadable" : null;
}

async function resultOf(
  goal: ReturnType<typeof receivedRead>["goal"],
  input: Operator,
  context: ExecContext,
  part: Omit<PartOfRun, "isGrouped">,
): Promise<Result> {
  if (goal.kind === "aggregate") {
    const groups = await partialGroups(goal, input, context, part);
    return groups === null ? { kind: "none", why: "unfit" } : { kind: "groups", groups };
  }
  const operator =
    goal.kind === "topn" ? compileTopN(goal, () => input)(context) : compileDistinct(goal, () => input)(context);
  const columns: SentValue[][] = goal.columns.map(() => []);
  let count = 0;
  for (let batch = await operator.next(); batch !== null; batch = await operator.next()) {
    count += batch.length;
    if (count > THREAD_ROWS_MAX || !addRows(batch, columns)) throw new Unfit();
  }
  operator.close();
  return { kind: "rows", columns, count };
}

/** False: a value has no form that can be sent. */
function addRows(batch: Batch, columns: readonly SentValue[][]): boolean {
  const values = batch.columns;
  for (const [slot, column] of columns.entries()) {
    for (let row = 0; row < batch.length; row++) {
      const value = sentLeaf(values[slot]![row]!);
      if (value === undefined) return false;
      column.push(value);
    }
  }
  return true;
}

/** Of one value of an answer, about. */
const VALUE_BYTES = 32;

function bytesOfResult(result: Result): number {
  switch (result.kind) {
    case "none":
      return 0;
    case "rows":
      return result.columns.reduce((sum, values) => sum + bytesOfValues(values), 0);
    case "groups": {
      const { keys, states, count } = result.groups;
      let bytes = 0;
      for (const key of keys) bytes += key.kind === "text" ? key.data.length + 4 * count : 8 * count;
      for (const state of states) {
        if (state.kind === "numbers") bytes += 16 * count + 12 * state.numbers.length;
        else bytes += state.kind === "extremes" ? bytesOfValues(state.values) : VALUE_BYTES * count;
      }
      return bytes;
    }
  }
}

function bytesOfValues(values: readonly SentValue[]): number {
  let bytes = VALUE_BYTES * values.length;
  for (const value of values) {
    if (typeof value === "string") bytes += 2 * value.length;
    else if (typeof value === "object" && value !== null && "items" in value) bytes += bytesOfValues(value.items);
  }
  return bytes;
}

const NO_CORRECTIONS: Corrections = { text: null, key: new Uint8Array(0), value: null, advance: () => undefined };
/** Scans of nothing but segments ask for no more of it. */
const NO_TRANSACTION = { corrections: () => NO_CORRECTIONS } as unknown as Transaction;

function contextOf({ context, parameters, memoryBytesMax, stop }: ReadJob, until: number): ExecContext {
  const params: Value[] = [];
  for (const [index, value] of parameters) params[index] = receivedLeaf(value);
  return createContext({
    ...context,
    tx: NO_TRANSACTION,
    tenantNumber: 0,
    params,
    rowNumbers: NO_NUMBERS,
    memoryBytesMax,
    checkpoint: () => {
      if (Atomics.load(stop, 0) !== 0) throw new Stopped();
      if (performance.now() > until) throw new Late();
    },
    shouldYield: () => false,
    yieldTurn: () => Promise.resolve(),
  });
}

const noNumbers = (): never => {
  throw new Error("a thread makes no rows");
};
const NO_NUMBERS: RowNumbers = {
  ...{ next: noNumbers, begin: noNumbers, restart: noNumbers },
  ...{ move: noNumbers, lookAgain: noNumbers, forget: noNumbers },
};

function placesOf({ prefix, read }: ReadJob): Pick<SegmentScanProgram, "layout" | "source" | "records"> {
  return { layout: { rowPrefixOf: () => Buffer.from(prefix) }, source: read.source, records: null };
}

const FIRST_ROWS = 512;
const ROWS_MIN = 16;
const STEP_MS = 4;

class ThreadScan implements Operator {
  /** That it has handed out. */
  rows = 0;
  private bound: SegmentBound | null = null;
  private scan: SegmentScan | null = null;
  /** Rows of the next step, by what the last one and its rows took. */
  private size = FIRST_ROWS;
  private lastBegan = performance.now();
  private readonly list: SegmentList;

  constructor(
    job: ReadJob,
    pages: readonly ThreadPages[],
    private readonly program: SegmentScanProgram,
    private readonly context: ExecContext,
  ) {
    const segments = job.segments.map(({ from, to }, i) => new Segment(from, to, null, pages[i]!));
    const end = job.segments.at(-1)?.to ?? keyText(job.prefix);
    this.list = { segments, end, numberBefore: () => -1, entries: NO_ENTRIES };
  }

  acceptChunks(): void {}

  acceptBound(bound: SegmentBound): void {
    this.bound = bound;
  }

  next(): Pulled {
    const { context, list, program } = this;
    this.scan ??= new SegmentScan(program, list, context, CHUNK_ROWS, { gte: null, lt: null }, this.bound);
    for (;;) {
      context.checkpoint();
      this.adapt();
      const piece = this.scan.step(this.size);
      if (piece === null) return null;
      if (piece instanceof Gap) this.pass(piece);
      else if (piece instanceof Handed) throw new Error("a thread hands nothing on");
      else if (piece !== undefined) {
        this.rows += piece.length;
        return piece;
      }
    }
  }

  /** Between two steps it looks whether it is to end. */
  private adapt(): void {
    const now = performance.now();
    const tookMs = now - this.lastBegan;
    if (tookMs < STEP_MS / 2) this.size = Math.min(CHUNK_ROWS, this.size * 2);
    else if (tookMs > STEP_MS) this.size = Math.max(ROWS_MIN, this.size >> 1);
    this.lastBegan = now;
  }

  /** Segments that are not in the list are of no matter; one that is in it became a gap because it is damaged. */
  private pass({ gte, lt }: Gap): void {
    const [from, to] = [keyText(gte), keyText(lt)];
    if (this.list.segments.some((segment) => segment.from >= from && segment.to <= to)) throw new Unreadable();
  }

  close(): void {}
}

const NO_ENTRIES = new NewerWrites();

/** Files that were read last, by path: a footer is read once. */
const FILES_MAX = 8;
const files = new Map<string, ColumnFile>();
/** Files that were deleted take room on the disk as long as they are open: without work, none is for longer. */
const FILES_MS = 2_000;
let closing: NodeJS.Timeout | undefined;
/** Jobs that this thread has: in a pool, one at a time. */
let working = 0;

function close(path: string): void {
  // Another job may read on in it; then it goes with what refers to it.
  if (working <= 1) files.get(path)?.close();
  files.delete(path);
}

/** When a job has ended. */
function keepFiles(): void {
  if (working > 0) return;
  for (const [path] of files) if (files.size > FILES_MAX) close(path);
  clearTimeout(closing);
  closing = setTimeout(() => {
    for (const [path] of files) close(path);
  }, FILES_MS);
  closing.unref();
}

function fileAt({ path, fileId }: ReadSegment, prefixLength: number): ColumnFile {
  const known = files.get(path);
  if (known !== undefined && known.id !== fileId) close(path);
  const file = files.get(path) ?? new ColumnFile(path, prefixLength);
  // Those that were used last come last.
  files.delete(path);
  files.set(path, file);
  if (file.id === fileId) return file;
  close(path);
  throw new Unreadable();
}

/** The columns of a segment: those that came with the job, and those that are read here. */
class ThreadPages implements StoredPages {
  private readonly columns: Map<number, Column>;
  private readonly made: [number, SentSegmentColumn][] = [];
  private stored: StoredSegment | null = null;
  private readonly types: ReadonlyMap<number, SqlType>;

  constructor(
    private readonly place: ReadSegment,
    private readonly job: ReadJob,
  ) {
    this.columns = new Map(place.shared.map(([id, column]) => [id, receivedColumn(column)]));
    this.types = new Map(job.read.source.map((id, slot) => [id, typeOfSlot(job.read.columns, slot)]));
  }

  /** What was read here into memory that can be shared. */
  get read(): SharedColumns {
    return this.made;
  }

  get rows(): number {
    return this.segment.rows;
  }

  private get segment(): StoredSegment {
    this.stored ??= fileAt(this.place, this.job.prefix.length).segments[this.place.number]!;
    return this.stored;
  }

  keys(): SegmentKeys {
    return this.segment.readKeys();
  }

  column(columnId: number): Column {
    const known = this.columns.get(columnId);
    if (known !== undefined) return known;
    const column = this.segment.readColumn(columnId, this.types.get(columnId)!, true);
    this.columns.set(columnId, column);
    if (isShared(column)) this.made.push([columnId, sentColumn(column)]);
    return column;
  }

  someRows(columnId: number, places: readonly number[]): SomeRows {
    return { column: this.column(columnId), places };
  }

  has(columnId: number): boolean {
    return this.segment.has(columnId);
  }

  isRead(columnId: number): boolean {
    return this.columns.has(columnId) || !this.segment.has(columnId);
  }

  isResident(columnIds: readonly number[]): boolean {
    return columnIds.every((id) => this.isRead(id));
  }

  bytesOf(columnIds: readonly number[]): number {
    return this.segment.bytesOf(columnIds);
  }

  known(columnId: number): ReturnType<typeof knownNumbers> | null {
    const head = this.segment.headOf(columnId);
    return head.kind === "number" ? knownNumbers(head) : null;
  }
}

const typeOfSlot = (columns: readonly SentColumn[], slot: number): SqlType => typeOfKey(columns[slot]!.type);
