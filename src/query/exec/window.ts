/**
 * Window functions over input that is sorted by partition and window order. Rows are kept until their partition is
 * complete; then each call gives its value for each of them, and the rows go on with those values beside them. Whole
 * partitions leave the memory as they are handed on.
 */
import type { Value } from "../../values/values.js";
import { comparatorOf } from "../expr/compare.js";
import type { Batch, Expr, PartitionView } from "../expr/expr.js";
import type { WindowCall, WindowPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { after, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { compileAll, type EvaluateAll, slotsOf } from "./slots.js";
import { bytesOf, type ColumnBytes, columnBytesOf, sumOfBytes } from "./value-bytes.js";
import { type WindowAggregateInput, type WorkCounter, windowAggregate } from "./window-aggregate.js";
import { compileFrame, FrameCursor, type FrameProgram, type Peers } from "./window-frame.js";

interface CallProgram {
  readonly call: WindowCall;
  /** Kept columns that hold the values of the arguments and of FILTER. */
  readonly args: readonly number[];
  readonly filter: number | null;
  readonly resultBytes: ColumnBytes;
}

/** Whether two rows of a kept column are equal, NULLs being equal to each other. */
type SameValue = (values: readonly Value[], a: number, b: number) => boolean;

interface KeyColumn {
  readonly column: number;
  readonly same: SameValue;
}

interface WindowProgram {
  /** Columns of the input. */
  readonly width: number;
  /** Kept columns after those of the input. */
  readonly computed: readonly EvaluateAll[];
  readonly columnBytes: readonly ColumnBytes[];
  readonly partition: readonly KeyColumn[];
  readonly order: readonly KeyColumn[];
  readonly frame: FrameProgram;
  readonly readsFrame: boolean;
  readonly calls: readonly CallProgram[];
}

export function compileWindow(plan: WindowPlan, input: Open): Open {
  const kept = new KeptColumns(plan);
  const calls = plan.calls.map((call, i): CallProgram => {
    const { type } = plan.columns[plan.input.columns.length + i]!;
    return {
      call,
      args: call.args.map((arg) => kept.of(arg)),
      filter: call.filter === null ? null : kept.of(call.filter),
      resultBytes: columnBytesOf(type),
    };
  });
  const program: WindowProgram = {
    width: plan.input.columns.length,
    partition: plan.partitionBy.map((expr) => kept.key(expr)),
    order: plan.orderBy.map((key) => kept.key(key.expr)),
    frame: compileFrame(plan.frame, plan.orderBy[0]),
    readsFrame: plan.calls.some((call) => call.kind === "aggregate" || call.fn.readsFrame),
    calls,
    computed: kept.computed,
    columnBytes: kept.columnBytes,
  };
  return (context) => new WindowOperator(program, input(context), context);
}

/** The columns that a window keeps of its rows: the input's, and one per expression that is more than a column. */
class KeptColumns {
  readonly computed: EvaluateAll[] = [];
  readonly columnBytes: ColumnBytes[];
  private readonly slotOf;

  constructor(plan: WindowPlan) {
    this.slotOf = slotsOf(plan.input.columns);
    this.columnBytes = plan.input.columns.map((column) => columnBytesOf(column.type));
  }

  of(expr: Expr): number {
    const slot = expr.kind === "column" ? this.slotOf(expr.id) : -1;
    if (slot >= 0) return slot;
    this.computed.push(compileAll(expr, this.slotOf));
    return this.columnBytes.push(columnBytesOf(expr.type)) - 1;
  }

  key(expr: Expr): KeyColumn {
    const compare = comparatorOf(expr.type);
    return {
      column: this.of(expr),
      same: (values, a, b) => {
        const [x, y] = [values[a]!, values[b]!];
        return x === y || (x !== null && y !== null && compare(x, y) === 0);
      },
    };
  }
}

/** Estimated bytes of a result beside what it refers to. */
const RESULT_SLOT_BYTES = 12;

/** Rows stepped between two looks at the clock. */
const ROWS_PER_TURN_CHECK = 512;

class WindowOperator implements Operator {
  /** Input columns, then computed ones; row r of the buffer is `kept[c][r]`. */
  private kept: Value[][];
  private results: Value[][];
  private length = 0;
  /** Rows before this have their values. */
  private done = 0;
  /** Rows before this were handed on. */
  private emitted = 0;
  private ended = false;
  private bytes = 0;
  private readonly frame: FrameCursor;
  private readonly work: WorkCounter = { rows: 0 };

  constructor(
    private readonly program: WindowProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.kept = emptyColumns(program.columnBytes.length);
    this.results = emptyColumns(program.calls.length);
    this.frame = new FrameCursor(program.frame, context);
  }

  readonly next = (): Pulled => {
    if (this.emitted < this.done) return this.emit();
    while (!this.ended) {
      const batch = this.input.next();
      if (batch instanceof Promise) return batch.then((arrived) => after(this.take(arrived), this.next));
      const taken = this.take(batch);
      if (taken instanceof Promise) return taken.then(this.next);
      if (this.emitted < this.done) return this.emit();
    }
    return null;
  };

  /** Adds the batch's rows and computes the partitions that are complete with it; null: the last one is. */
  private take(batch: Batch | null): void | Promise<void> {
    if (batch === null) {
      this.ended = true;
      return this.length === this.done ? undefined : this.compute([this.length]);
    }
    this.dropEmitted();
    const from = this.length;
    this.append(batch);
    if (this.program.partition.length === 0) return undefined;
    const ends: number[] = [];
    for (let row = Math.max(from, 1); row < this.length; row++) {
      if (row > this.done && !this.isSame(this.program.partition, row - 1, row)) ends.push(row);
    }
    return ends.length === 0 ? undefined : this.compute(ends);
  }

  private append(batch: Batch): void {
    const { program, kept, context } = this;
    let bytes = batch.length * program.calls.length * RESULT_SLOT_BYTES;
    for (let c = 0; c < kept.length; c++) {
      const values = c < program.width ? batch.columns[c]! : program.computed[c - program.width]!(batch, context, []);
      bytes += program.columnBytes[c]!(values, batch.length);
      const to = kept[c]!;
      for (let row = 0; row < batch.length; row++) to.push(values[row]!);
    }
    this.length += batch.length;
    this.reserve(bytes);
  }

  private isSame(keys: readonly KeyColumn[], a: number, b: number): boolean {
    for (const { column, same } of keys) if (!same(this.kept[column]!, a, b)) return false;
    return true;
  }

  /** Computes the partitions that end before these rows; the first begins at `done`. */
  private compute(ends: readonly number[], first = 0): void | Promise<void> {
    for (let i = first; i < ends.length; i++) {
      const end = ends[i]!;
      const computed = this.computeRows(this.callsFrom(this.done, end), this.done, end);
      if (computed instanceof Promise) {
        return computed.then(() => {
          this.done = end;
          return this.compute(ends, i + 1);
        });
      }
      this.done = end;
    }
  }

  /** One function per call that gives the values of the partition's rows in order. */
  private callsFrom(base: number, end: number): ((row: number) => Value)[] {
    const { program, kept, frame } = this;
    const peers = this.peersOf(base, end);
    if (program.readsFrame) frame.enter(peers, kept[program.order[0]?.column ?? 0] ?? [], base);
    return program.calls.map(({ call, args, filter }) => {
      const columns = args.map((column) => kept[column]!);
      if (call.kind === "function") return call.fn.start(viewOf(columns, base, peers, frame));
      const input: WindowAggregateInput = {
        fn: call.fn.open?.(this.context) ?? call.fn,
        args: columns,
        filter: filter === null ? null : kept[filter]!,
        frame,
        work: this.work,
      };
      return windowAggregate(input, program.frame.frame, base);
    });
  }

  private peersOf(base: number, end: number): Peers {
    const length = end - base;
    const { order } = this.program;
    if (order.length === 0) {
      return { length, groups: 1, groupOf: () => 0, startOf: (group) => (group === 0 ? 0 : length) };
    }
    const groupOf = new Uint32Array(length);
    const starts = [0];
    for (let row = 1; row < length; row++) {
      if (!this.isSame(order, base + row - 1, base + row)) starts.push(row);
      groupOf[row] = starts.length - 1;
    }
    const groups = starts.length;
    starts.push(length);
    return { length, groups, groupOf: (row) => groupOf[row]!, startOf: (group) => starts[group]! };
  }

  private computeRows(
    calls: readonly ((row: number) => Value)[],
    from: number,
    end: number,
    base = from,
  ): void | Promise<void> {
    const { context, work, frame, program, results } = this;
    for (let at = from; at < end; at++) {
      const row = at - base;
      if (program.readsFrame) frame.moveTo(row);
      let bytes = 0;
      for (let c = 0; c < calls.length; c++) {
        const values = results[c]!;
        const value = calls[c]!(row);
        // Rows of one frame share their value.
        if (program.calls[c]!.resultBytes === sumOfBytes && value !== values[at - 1]) bytes += bytesOf(value);
        values.push(value);
      }
      if (bytes > 0) this.reserve(bytes);
      if (++work.rows >= ROWS_PER_TURN_CHECK) {
        work.rows = 0;
        context.checkpoint();
        if (context.shouldYield()) {
          return context.yieldTurn().then(() => this.computeRows(calls, at + 1, end, base));
        }
      }
    }
  }

  private emit(): Batch {
    const from = this.emitted;
    const to = Math.min(from + this.context.batchRows, this.done);
    this.emitted = to;
    const columns = this.kept.slice(0, this.program.width).concat(this.results);
    return { columns: columns.map((values) => values.slice(from, to)), length: to - from };
  }

  /** Frees the rows that were handed on. */
  private dropEmitted(): void {
    if (this.emitted === 0) return;
    const from = this.emitted;
    this.kept = this.kept.map((values) => values.slice(from));
    this.results = this.results.map((values) => values.slice(from));
    this.length -= from;
    this.done -= from;
    this.emitted = 0;
    let bytes = this.length * this.program.calls.length * RESULT_SLOT_BYTES;
    for (const [c, values] of this.kept.entries()) bytes += this.program.columnBytes[c]!(values, this.length);
    this.context.statement.release(this.bytes - bytes);
    this.bytes = bytes;
  }

  private reserve(bytes: number): void {
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }

  close(): void {
    this.context.statement.release(this.bytes);
    this.bytes = 0;
    this.kept = [];
    this.results = [];
    this.input.close();
  }
}

function viewOf(args: readonly (readonly Value[])[], base: number, peers: Peers, frame: FrameCursor): PartitionView {
  return {
    length: peers.length,
    argument: (index, row) => args[index]![base + row]!,
    peerGroup: (row) => peers.groupOf(row),
    groupStart: (group) => peers.startOf(group),
    frameRow: (n) => frame.rowAt(n),
  };
}
