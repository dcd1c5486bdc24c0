/**
 * Rows held in memory, column by column: used by sorts, hash tables and changes that are yet to be written. Owned by
 * one operator of one run; the memory is counted against the statement.
 */
import type { Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import type { JoinType, OutputColumn } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { type ColumnBytes, columnBytesOf } from "./value-bytes.js";

export class RowBuffer implements Batch {
  readonly columns: Value[][];
  length = 0;
  /** The memory that it has reserved. */
  bytes = 0;
  private readonly measures: readonly ColumnBytes[];

  constructor(
    columns: readonly OutputColumn[],
    private readonly context: ExecContext,
  ) {
    this.columns = columns.map(() => []);
    this.measures = measuresOf(columns);
  }

  /** Copies the batch's rows. Throws 53200 when they do not fit into the statement's memory. */
  append(batch: Batch): void {
    this.reserve(batch);
    for (let c = 0; c < this.columns.length; c++) {
      const to = this.columns[c]!;
      const from = batch.columns[c]!;
      for (let row = 0; row < batch.length; row++) to.push(from[row]!);
    }
    this.length += batch.length;
  }

  /** A batch of the rows with these numbers, written into `out` (one array per column). */
  gather(rows: ArrayLike<number>, from: number, to: number, out: Value[][]): Batch {
    for (let c = 0; c < this.columns.length; c++) {
      const values = this.columns[c]!;
      const target = out[c]!;
      for (let i = from; i < to; i++) target[i - from] = values[rows[i]!]!;
    }
    return { columns: out, length: to - from };
  }

  /** Gives the memory back; the buffer must not be used any more. */
  release(): void {
    this.context.statement.release(this.bytes);
    this.bytes = 0;
  }

  /** Forgets the rows, and gives their memory back. */
  clear(): void {
    for (let c = 0; c < this.columns.length; c++) this.columns[c] = [];
    this.length = 0;
    this.release();
  }

  /** Estimated bytes that the batch's rows would take. */
  bytesOf(batch: Batch): number {
    let bytes = 0;
    for (let c = 0; c < this.measures.length; c++) bytes += this.measures[c]!(batch.columns[c]!, batch.length);
    return bytes;
  }

  private reserve(batch: Batch): void {
    const bytes = this.bytesOf(batch);
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }
}

/** By the columns: a recursion makes a buffer for each of its steps. */
const known = new WeakMap<readonly OutputColumn[], readonly ColumnBytes[]>();

function measuresOf(columns: readonly OutputColumn[]): readonly ColumnBytes[] {
  let measures = known.get(columns);
  if (measures === undefined) {
    measures = columns.map((column) => columnBytesOf(column.type));
    known.set(columns, measures);
  }
  return measures;
}

/** Empty arrays for building batches with that many columns. */
export function emptyColumns(width: number): Value[][] {
  const columns = new Array<Value[]>(width);
  for (let c = 0; c < width; c++) columns[c] = [];
  return columns;
}

/** The first `length` rows that a join has built: of both sides, or of the left one where the right only decides. */
export function joinedBatch(out: readonly Value[][], length: number, type: JoinType, leftWidth: number): Batch {
  const columns = type === "semi" || type === "anti" ? out.slice(0, leftWidth) : out;
  return { columns, length };
}
