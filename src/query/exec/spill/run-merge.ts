/** Merges sorted runs into one stream of batches; rows that are equal come in the order of their runs. Used by sort. */
import type { Value } from "../../../values/values.js";
import type { Batch } from "../../expr/expr.js";
import type { ExecContext } from "../context.js";
import type { Operator, Pulled } from "../operator.js";
import { emptyColumns } from "../row-buffer.js";
import type { RowOrder, RowOrderOf } from "../sort-rows.js";
import { type Run, RunReader } from "./spilled-rows.js";

export class RunMerge implements Operator {
  private readonly readers: readonly RunReader[];
  /** The next row of run i is row i of these: the keys, then the columns. */
  private readonly heads: Value[][];
  private readonly order: RowOrder;
  /** Runs that have a next row, as a binary heap: the one that comes first is at the top. */
  private readonly heap: number[] = [];
  private readonly out: Value[][];

  constructor(
    runs: readonly Run[],
    private readonly keyCount: number,
    orderOf: RowOrderOf,
    private readonly context: ExecContext,
  ) {
    const width = runs[0]!.types.length;
    this.heads = emptyColumns(width);
    this.out = emptyColumns(width - keyCount);
    this.order = orderOf(this.heads.slice(0, keyCount));
    this.readers = runs.map((run) => new RunReader(run, context.statement));
    for (let i = 0; i < runs.length; i++) if (this.readers[i]!.next(this.heads, i)) this.heap.push(i);
    for (let at = (this.heap.length >> 1) - 1; at >= 0; at--) this.sink(at);
  }

  next(): Pulled {
    const { context } = this;
    if (context.shouldYield()) return context.yieldTurn().then(() => this.take());
    return this.take();
  }

  private take(): Batch | null {
    const { heap, heads, out, keyCount, context } = this;
    context.checkpoint();
    let length = 0;
    while (heap.length > 0 && length < context.batchRows) {
      const run = heap[0]!;
      for (let c = 0; c < out.length; c++) out[c]![length] = heads[keyCount + c]![run]!;
      length++;
      if (!this.readers[run]!.next(heads, run)) {
        const last = heap.pop()!;
        if (heap.length > 0) heap[0] = last;
      }
      if (heap.length > 1) this.sink(0);
    }
    return length === 0 ? null : { columns: out, length };
  }

  private sink(from: number): void {
    const { heap } = this;
    const run = heap[from]!;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.comesFirst(heap[child + 1]!, heap[child]!)) child++;
      if (!this.comesFirst(heap[child]!, run)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = run;
  }

  private comesFirst(a: number, b: number): boolean {
    const order = this.order(a, b);
    return order === 0 ? a < b : order < 0;
  }

  close(): void {
    for (const reader of this.readers) reader.close();
  }
}
