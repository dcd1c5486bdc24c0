/**
 * Rows that several readers read, each from the beginning and at its own pace, while further rows may still come; used
 * for WITH tables and shared subplans. They are kept in the form of segments (column-buffer.ts). When the statement's
 * memory is nearly used up, they go to disk as one run, and the next rows are kept in memory again:
 *
 *   run 1 ── run 2 ── … ── tail        a reader's position is the number of its next row, wherever that is now
 *
 * Used by common-rows.ts and with.ts; owned by one of them, for one run of a statement.
 */
import type { CheckedTurns } from "../../../protocol/turns.js";
import type { SqlType, Value } from "../../../values/values.js";
import type { Batch } from "../../expr/expr.js";
import type { OutputColumn } from "../../plan/plan.js";
import type { ExecContext } from "../context.js";
import { inTurns } from "../operator.js";
import { emptyColumns, RowBuffer } from "../row-buffer.js";
import { CHUNK_ROWS, Chunk, chunkOf, type Selection, valuesOfBatch } from "../segments/chunk.js";
import type { Column } from "../segments/column.js";
import { ColumnBuffer } from "../segments/column-buffer.js";
import type { SpillFile } from "./spill-area.js";
import { canSpill, type Run, RunReader, RunWriter } from "./spilled-rows.js";

/** Rows of a batch that are gathered before they become columns, and how many are. */
export const FEW_ROWS = 32;
const GATHERED_ROWS = 1024;
const GATHERED_BYTES = 64 * 1024;

export class SharedRows {
  /** Rows that have come. */
  length = 0;
  private readonly tail: ColumnBuffer;
  private readonly runs: Run[] = [];
  /** The number of each run's first row, and of the tail's. */
  private readonly starts: number[] = [0];
  private file: SpillFile | null = null;
  private readonly types: readonly SqlType[];
  private readonly canSpill: boolean;
  private vectors: readonly Column[] | null = null;
  /** The last rows, which came a few at a time. */
  private readonly few: RowBuffer;

  constructor(
    columns: readonly OutputColumn[],
    private readonly context: ExecContext,
  ) {
    this.tail = new ColumnBuffer(columns, context);
    this.few = new RowBuffer(columns, context);
    this.types = columns.map((column) => column.type);
    this.canSpill = context.spill !== null && canSpill(this.types);
  }

  /** Copies the batch's rows; waits when rows must go to disk before. Throws 53200, and 53400 or disk_full there. */
  append(batch: Batch, turns: CheckedTurns): void | Promise<void> {
    if (!this.canSpill || !this.context.statement.isCrowded(this.tail.bytes + this.few.bytes)) {
      this.keep(batch);
      return;
    }
    const spilled = this.spillTail(turns);
    if (spilled instanceof Promise) return spilled.then(() => this.keep(batch));
    this.keep(batch);
  }

  private keep(batch: Batch): void {
    this.length += batch.length;
    if (batch.length <= FEW_ROWS && !(batch instanceof Chunk)) {
      this.few.append(batch);
      if (this.few.length >= GATHERED_ROWS || this.few.bytes >= GATHERED_BYTES) this.keepFew();
      return;
    }
    this.keepFew();
    this.tail.append(chunkOf(batch));
    this.vectors = null;
  }

  private keepFew(): void {
    if (this.few.length === 0) return;
    this.tail.append(chunkOf(this.few));
    this.few.clear();
    this.vectors = null;
  }

  private spillTail(turns: CheckedTurns): void | Promise<void> {
    const { tail, context } = this;
    const from = this.length;
    this.keepFew();
    this.file ??= context.spill!.open(context.statement);
    const writer = new RunWriter(this.file, this.types, context.statement);
    const vectors = tail.vectors();
    let columns: readonly ArrayLike<Value>[] = [];
    const write = (row: number): void => {
      const at = row % CHUNK_ROWS;
      if (at === 0) columns = tail.slice(vectors, row, Math.min(CHUNK_ROWS, tail.length - row)).columns;
      writer.add(columns, at);
    };
    return inTurns(turns, tail.length, write, () => {
      this.runs.push(writer.finish());
      this.starts.push(from);
      tail.clear();
      this.vectors = null;
    });
  }

  /** Reads columns `slots` from the first row on, as chunks or as values. */
  cursor(slots: readonly number[], asChunks: boolean, context: ExecContext): SharedRowsCursor {
    return new SharedRowsCursor(this, slots, asChunks, context);
  }

  /** The run that has the row with this number, and its place there; null: it is in memory. */
  placeOf(row: number): { readonly run: Run; readonly place: number } | null {
    const { starts, runs } = this;
    if (row >= starts.at(-1)!) return null;
    let i = 0;
    while (starts[i + 1]! <= row) i++;
    return { run: runs[i]!, place: row - starts[i]! };
  }

  /** The rows in memory, from number `from` on. */
  inMemory(): { readonly vectors: readonly Column[]; readonly from: number } {
    this.keepFew();
    this.vectors ??= this.tail.vectors();
    return { vectors: this.vectors, from: this.starts.at(-1)! };
  }

  /** Frees memory and disk. May be called twice. */
  close(): void {
    this.tail.clear();
    this.few.clear();
    this.file?.close();
  }
}

/** One reader. Its batch is valid until the next call, whatever the other readers do. */
export class SharedRowsCursor {
  private position = 0;
  private run: { readonly reader: RunReader; rowsLeft: number } | null = null;
  private readonly scratch: Value[][];
  /** Of a run: all columns, as they lie on disk. */
  private decoded: Value[][] = [];

  constructor(
    private readonly rows: SharedRows,
    private readonly slots: readonly number[],
    private readonly asChunks: boolean,
    private readonly context: ExecContext,
  ) {
    this.scratch = emptyColumns(slots.length);
  }

  /** It has given all rows that have come so far. */
  get isAtEnd(): boolean {
    return this.position === this.rows.length;
  }

  /** The rows that have come last were given from elsewhere. */
  skip(count: number): void {
    this.position += count;
  }

  /** Further rows; there must be some. */
  read(): Batch {
    if (this.run === null) {
      const place = this.rows.placeOf(this.position);
      if (place === null) return this.readMemory();
      this.run = { reader: new RunReader(place.run, this.context.statement), rowsLeft: place.run.rows - place.place };
      this.run.reader.skip(place.place);
      this.decoded = emptyColumns(place.run.types.length);
    }
    return this.readRun(this.run);
  }

  private readMemory(): Batch {
    const { rows, slots, position } = this;
    const { vectors, from } = rows.inMemory();
    const count = Math.min(this.asChunks ? CHUNK_ROWS : this.context.batchRows, rows.length - position);
    const selections = new Array<Selection>(slots.length).fill({ rows: null, from: position - from });
    const chunk = new Chunk(
      slots.map((slot) => vectors[slot]!),
      selections,
      count,
      this.scratch,
    );
    this.position += count;
    return this.asChunks ? chunk : valuesOfBatch(chunk);
  }

  private readRun(run: { readonly reader: RunReader; rowsLeft: number }): Batch {
    this.context.checkpoint();
    const length = Math.min(this.context.batchRows, run.rowsLeft);
    for (let row = 0; row < length; row++) run.reader.next(this.decoded, row);
    run.rowsLeft -= length;
    this.position += length;
    if (run.rowsLeft === 0) this.close();
    return { columns: this.slots.map((slot) => this.decoded[slot]!), length };
  }

  /** Frees the reader's buffer. May be called twice. */
  close(): void {
    this.run?.reader.close();
    this.run = null;
  }
}
