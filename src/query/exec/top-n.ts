/**
 * ORDER BY … LIMIT: keeps only the first limit + offset rows, in a heap whose root is the last of them. Rows that are
 * equal in the keys come out in the input's order, as from a stable sort.
 */
import type { Value } from "../../values/values.js";
import type { SlotOf } from "../expr/compile.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import type { SortKey, TopNPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { LimitOperator, limitValue, offsetValue } from "./limit.js";
import { after, drain, inTurns, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { Chunk } from "./segments/chunk.js";
import { FirstKey, type FirstKeyProgram } from "./segments/first-key.js";
import { compileMaybe, NO_SLOTS, slotsOf, slotsRead } from "./slots.js";
import { compileSort, compileSortKeys, type SortKeys } from "./sort.js";
import { comparisonCost, type RowOrder, sortRows } from "./sort-rows.js";
import { rowsOfThread, THREAD_ROWS_MAX } from "./threads/merge-state.js";
import { FromThread } from "./threads/read-threads.js";
import { type SentPlanOf, sentPlanOf } from "./threads/sent-read.js";
import { bytesOf } from "./value-bytes.js";

interface TopNProgram extends SortKeys {
  readonly sent: SentPlanOf;
  /** Null: the first key is no column. */
  readonly firstKey: FirstKeyProgram | null;
  /** Slots that the keys read. */
  readonly keySlots: readonly number[];
  readonly limit: Evaluate | null;
  readonly offset: Evaluate | null;
}

export function compileTopN(plan: TopNPlan, input: Open): Open {
  const program: TopNProgram = {
    sent: sentPlanOf(plan),
    ...compileSortKeys(plan.input.columns, plan.keys),
    firstKey: firstKeyOf(plan.keys, slotsOf(plan.input.columns)),
    keySlots: slotsRead(
      plan.keys.map(({ expr }) => expr),
      slotsOf(plan.input.columns),
    ),
    limit: compileMaybe(plan.limit, NO_SLOTS),
    offset: compileMaybe(plan.offset, NO_SLOTS),
  };
  const sort = compileSort({ ...plan, kind: "sort" }, input);
  return (context) => {
    const offset = offsetValue(program.offset, context);
    const capacity = limitValue(program.limit, context) + offset;
    if (capacity > KEPT_MAX) return new LimitOperator(capacity - offset, offset, sort(context));
    return new TopNOperator(program, { offset, capacity }, input(context), context);
  };
}

function firstKeyOf([key, ...others]: readonly SortKey[], slotOf: SlotOf): FirstKeyProgram | null {
  if (key?.expr.kind !== "column") return null;
  const slot = slotOf(key.expr.id);
  const { descending, nullsFirst } = key;
  return slot < 0 ? null : { slot, type: key.expr.type, descending, nullsFirst, isOnly: others.length === 0 };
}

/** Rows to keep, at most: of more, sorting all takes less time, and a sort goes to disk where a heap does not fit. */
const KEPT_MAX = 65_536;

/** Estimated bytes of a value in its slot, its share of the heap included. */
const SLOT_BYTES = 16;

class TopNOperator implements Operator {
  private readonly offset: number;
  private readonly capacity: number;
  /**
   * Kept rows by slot, their keys and their numbers in the input. The last slot beyond the kept ones is the next row's.
   */
  private readonly columns: Value[][];
  private readonly keys: Value[][];
  private readonly numbers: number[] = [];
  private readonly order: RowOrder;
  private readonly heap: number[] = [];
  private readonly firstKey: FirstKey | null;
  private seen = 0;
  private bytes = 0;
  private sorted: number[] | null = null;
  private position = 0;

  constructor(
    private readonly program: TopNProgram,
    { offset, capacity }: { readonly offset: number; readonly capacity: number },
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.offset = offset;
    this.capacity = capacity;
    this.columns = emptyColumns(program.columns.length);
    this.keys = emptyColumns(program.keys.length);
    const order = program.orderOf(this.keys);
    this.order = (a, b) => order(a, b) || this.numbers[a]! - this.numbers[b]!;
    this.firstKey = program.firstKey === null ? null : new FirstKey(program.firstKey);
    input.acceptChunks?.();
    const { firstKey } = this;
    if (capacity <= THREAD_ROWS_MAX) {
      input.acceptThreads?.({ plan: program.sent, rowsMax: capacity, wants: () => true });
    }
    if (firstKey === null) return;
    input.acceptBound?.({
      slot: program.firstKey!.slot,
      excludes: (column, rows) => firstKey.excludes(column, rows, this.bound),
      foresee: (column, rows) => firstKey.foresee(column, rows, this.capacity),
    });
  }

  /** The first key of the last of the kept rows, once there are as many as are wanted. */
  private get bound(): Value | undefined {
    return this.heap.length === this.capacity ? this.keys[0]![this.heap[0]!]! : undefined;
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
    if (batch instanceof Chunk) return this.appendChunk(batch);
    return this.appendBatch(batch instanceof FromThread ? rowsOfThread(batch) : batch);
  };

  private appendBatch(batch: Batch): void | Promise<void> {
    const keys = this.program.keys.map((key) => key(batch, this.context, []));
    const { columns } = batch;
    return this.appendRows(keys, (column, row) => columns[column]![row]!, null, batch.length, batch.length);
  }

  /** Values are made of rows only that may be among the first, and of their keys; others of rows that are kept. */
  private appendChunk(chunk: Chunk): void | Promise<void> {
    const { program, firstKey } = this;
    const count = firstKey?.candidates(chunk, this.bound, this.capacity) ?? null;
    if (count === 0) {
      this.seen += chunk.length;
      return;
    }
    const places = count === null || count === chunk.length ? null : firstKey!.places;
    const rows = places === null ? chunk : chunk.pick(places, count!);
    const values = rows.only(program.keySlots);
    const theirs = program.keys.map((key) => key(values, this.context, []));
    return this.appendRows(theirs, (column, row) => rows.value(column, row), places, rows.length, chunk.length);
  }

  /** `places`: where the rows are among the `length` that came; null: they are all of them. */
  private appendRows(
    keys: readonly ArrayLike<Value>[],
    read: (column: number, row: number) => Value,
    places: Int32Array | null,
    count: number,
    length: number,
  ): void | Promise<void> {
    const first = this.seen;
    this.seen += length;
    const take = (row: number) => this.take(keys, read, row, first + (places === null ? row : places[row]!));
    if (comparisonCost(keys, count) > 1) return inTurns(this.context, count, take, () => undefined, 0, 1);
    for (let row = 0; row < count; row++) take(row);
  }

  private take(
    keys: readonly ArrayLike<Value>[],
    read: (column: number, row: number) => Value,
    row: number,
    number: number,
  ): void {
    const { program, heap } = this;
    const full = heap.length === this.capacity;
    // The candidate's keys go into a spare slot; only a row that stays has its other columns copied.
    const slot = full ? this.spare : heap.length;
    for (let k = 0; k < keys.length; k++) this.keys[k]![slot] = keys[k]![row]!;
    this.numbers[slot] = number;
    if (full && this.order(slot, heap[0]!) > 0) return;
    let bytes = full ? 0 : SLOT_BYTES * (program.columns.length + keys.length);
    for (let c = 0; c < this.columns.length; c++) {
      const value = read(c, row);
      bytes += bytesOf(value);
      if (full) bytes -= bytesOf(this.columns[c]![heap[0]!]!);
      this.columns[c]![slot] = value;
    }
    this.reserve(bytes);
    if (full) this.replaceRoot(slot);
    else this.push(slot);
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
