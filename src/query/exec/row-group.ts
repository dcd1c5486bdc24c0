/**
 * Rows of a merge join's right side that have one key, to be gone through once per left row of this key. They stay
 * where they are as long as they lie in one batch of the input; otherwise they are copied, and go to disk when they do
 * not fit into the statement's memory. Made by merge-join.ts, one per run, for one group after the other.
 */
import type { SqlType, Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import type { OutputColumn } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { inTurns } from "./operator.js";
import { emptyColumns, RowBuffer } from "./row-buffer.js";
import type { SpillFile } from "./spill/spill-area.js";
import { canSpill, type Run, RunReader, RunWriter } from "./spill/spilled-rows.js";

const NO_ROWS: Batch = { columns: [], length: 0 };

export class RowGroup {
  /** Rows of the group. */
  length = 0;
  /** The rows that are gone through now are those of `page` from `row` on, before `end`. */
  page: Batch = NO_ROWS;
  row = 0;
  end = 0;
  /** Number in the group of the first row of `page`, less its place there. */
  private pageFrom = 0;
  /** Rows in memory: those of `batch` from `first` on. */
  private batch: Batch = NO_ROWS;
  private first = 0;
  private readonly copied: RowBuffer;
  private readonly types: readonly SqlType[];
  private readonly canSpill: boolean;
  private file: SpillFile | null = null;
  private writer: RunWriter | null = null;
  private run: Run | null = null;
  private reader: RunReader | null = null;
  private readonly read: Value[][];

  constructor(
    columns: readonly OutputColumn[],
    private readonly context: ExecContext,
  ) {
    this.copied = new RowBuffer(columns, context);
    this.types = columns.map((column) => column.type);
    this.canSpill = canSpill(this.types);
    this.read = emptyColumns(columns.length);
  }

  /** The group is these rows; the batch stays as it is until `clear`. */
  borrow(batch: Batch, from: number, to: number): void {
    this.batch = batch;
    this.first = from;
    this.length = to - from;
  }

  /** Adds a copy of these rows. Throws 53200 when they fit neither into memory nor on disk. */
  add(batch: Batch, from: number, to: number): void | Promise<void> {
    this.length += to - from;
    const { copied, context } = this;
    if (this.writer === null) {
      copied.append(sliceOf(batch, from, to));
      this.batch = copied;
      if (!this.canSpill || context.spill === null || !context.statement.isCrowded(copied.bytes)) return;
      this.file = context.spill.open(context.statement);
      this.writer = new RunWriter(this.file, this.types, context.statement);
      const { columns, length } = copied;
      const { writer } = this;
      return inTurns(
        context,
        length,
        (row) => writer.add(columns, row),
        () => copied.clear(),
      );
    }
    for (let row = from; row < to; row++) this.writer.add(batch.columns, row);
  }

  /** All rows of the group have been added. */
  finish(): void {
    if (this.writer === null) return;
    this.run = this.writer.finish();
    this.writer = null;
  }

  /** Goes back to before the first row. */
  rewind(): void {
    this.pageFrom = 0;
    if (this.run !== null) {
      this.reader?.close();
      this.reader = new RunReader(this.run, this.context.statement);
      this.row = 0;
      this.end = 0;
      return;
    }
    this.page = this.batch;
    this.row = this.first;
    this.pageFrom = -this.first;
    this.end = this.first + this.length;
  }

  /** Goes on with further rows when those of the page have been gone through; false when there are none. */
  turnPage(): boolean {
    const { reader, read } = this;
    if (reader === null) return false;
    this.pageFrom += this.end;
    let length = 0;
    while (length < this.context.batchRows && reader.next(read, length)) length++;
    this.page = { columns: read, length };
    this.row = 0;
    this.end = length;
    return length > 0;
  }

  /** Number in the group of the row at `row`. */
  get number(): number {
    return this.pageFrom + this.row;
  }

  /** Forgets the rows, in memory and on disk. */
  clear(): void {
    this.length = 0;
    this.batch = NO_ROWS;
    this.first = 0;
    if (this.copied.length > 0) this.copied.clear();
    if (this.file === null) return;
    this.reader?.close();
    this.reader = null;
    this.writer?.finish();
    this.writer = null;
    this.run = null;
    this.file.close();
    this.file = null;
  }
}

function sliceOf(batch: Batch, from: number, to: number): Batch {
  if (from === 0 && to === batch.length) return batch;
  const columns = batch.columns.map((values) => Array.prototype.slice.call(values, from, to) as Value[]);
  return { columns, length: to - from };
}
