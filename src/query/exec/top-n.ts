/**
 * ORDER BY … LIMIT: keeps only the first limit + offset rows, in a heap whose root is the last of them. Rows that are
 * equal in the keys come out in the input's order, as from a stable sort.
 */
import type { Value } from "../../values/values.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import type { TopNPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { limitValue, offsetValue } from "./limit.js";
import { after, drain, inTurns, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { compileMaybe, NO_SLOTS } from "./slots.js";
import { compileSortKeys, type SortProgram } from "./sort.js";
import { comparisonCost, type RowOrder, sortRows } from "./sort-rows.js";
import { bytesOf } from "./value-bytes.js";

interface TopNProgram extends SortProgram {
  readonly limit: Evaluate | null;
  readonly offset: Evaluate | null;
}

export function compileTopN(plan: TopNPlan, input: Open): Open {
  const program: TopNProgram = {
    ...compileSortKeys(plan.input.columns, plan.keys),
    limit: compileMaybe(plan.limit, NO_SLOTS),
    offset: compileMaybe(plan.offset, NO_SLOTS),
  };
  return (context) => new TopNOperator(program, input(context), context);
}

/** Estimated bytes of a value in its slot, its share of the heap included. */
const SLOT_BYTES = 16;

class TopNOperator implements Operator {
  private readonly offset: number;
  private readonly capacity: number;
  /** Kept rows by slot, their keys and their numbers in the input. The last slot beyond the kept ones is the next row's. */
  private readonly columns: Value[][];
  private readonly keys: Value[][];
  private readonly numbers: number[] = [];
  private readonly order: RowOrder;
  private readonly heap: number[] = [];
  private seen = 0;
  private bytes = 0;
  private sorted: number[] | null = null;
  private position = 0;

  constructor(
    private readonly program: TopNProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.offset = offsetValue(program.offset, context);
    this.capacity = limitValue(program.limit, context) + this.offset;
    this.columns = emptyColumns(program.columns.length);
    this.keys = emptyColumns(program.keys.length);
    const order = program.orderOf(this.keys);
    this.order = (a, b) => order(a, b) || this.numbers[a]! - this.numbers[b]!;
  }

  next(): Pulled {
    if (this.sorted !== null) return this.emit();
    if (this.capacity === this.offset) return null;
    return drain(this.input, this.append, () => {
      const { heap, keys, order, context } = this;
      const inHeap = (a: number, b: number): number => order(heap[a]!, heap[b]!);
      return after(sortRows(context, heap.length, inHeap, comparisonCost(keys, heap.length)), (places) => {
        this.sorted = Array.from(places.subarray(this.offset), (place) => heap[place]!);
        return this.emit();
      });
    });
  }

  private readonly append = (batch: Batch): void | Promise<void> => {
    const { program, context } = this;
    const keys = program.keys.map((key) => key(batch, context, []));
    const cost = comparisonCost(keys, batch.length);
    if (cost > 1)
      return inTurns(
        context,
        batch.length,
        (row) => this.take(batch, keys, row, row + 1),
        () => undefined,
        0,
        1,
      );
    this.take(batch, keys, 0, batch.length);
  };

  private take(batch: Batch, keys: readonly ArrayLike<Value>[], from: number, to: number): void {
    const { program, heap } = this;
    for (let row = from; row < to; row++) {
      const full = heap.length === this.capacity;
      // The candidate's keys go into a spare slot; only a row that stays has its other columns copied.
      const slot = heap.length < this.capacity ? heap.length : this.spare;
      for (let k = 0; k < keys.length; k++) this.keys[k]![slot] = keys[k]![row]!;
      this.numbers[slot] = this.seen++;
      if (full && this.order(slot, heap[0]!) > 0) continue;
      let bytes = full ? 0 : SLOT_BYTES * (program.columns.length + keys.length);
      for (let c = 0; c < this.columns.length; c++) {
        const value = batch.columns[c]![row]!;
        bytes += bytesOf(value);
        if (full) bytes -= bytesOf(this.columns[c]![heap[0]!]!);
        this.columns[c]![slot] = value;
      }
      this.reserve(bytes);
      if (full) this.replaceRoot(slot);
      else this.push(slot);
    }
  }

  /** The slot that no kept row uses, once there are as many rows as are wanted. */
  private spare = -1;

  private reserve(bytes: number): void {
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }

  private push(slot: number): void {
    const { heap, order } = this;
    let i = heap.push(slot) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (order(heap[parent]!, slot) >= 0) break;
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = slot;
    this.spare = heap.length;
  }

  /** Puts the row where the last of the kept rows was, whose slot becomes the spare one. */
  private replaceRoot(slot: number): void {
    const { heap, order } = this;
    this.spare = heap[0]!;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && order(heap[child + 1]!, heap[child]!) > 0) child++;
      if (order(slot, heap[child]!) >= 0) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = slot;
  }

  private emit(): Batch | null {
    const rows = this.sorted!;
    const from = this.position;
    if (from >= rows.length) return null;
    this.position = Math.min(from + this.context.batchRows, rows.length);
    const columns = this.columns.map((values) => rows.slice(from, this.position).map((slot) => values[slot]!));
    return { columns, length: this.position - from };
  }

  close(): void {
    this.context.statement.release(this.bytes);
    this.bytes = 0;
    this.input.close();
  }
}
