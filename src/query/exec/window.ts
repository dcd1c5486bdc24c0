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
import { StepBudget } from "./step-budget.js";
import { bytesOf, type ColumnBytes, columnBytesOf, sumOfBytes } from "./value-bytes.js";
import { type FrameValue, UNFINISHED, type WindowAggregateInput, windowAggregate } from "./window-aggregate.js";
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
  private readonly work = new StepBudget();
  /** Of the row that is being computed: the call whose value comes next; −1: its frame is not known yet. */
  private nextCall = -1;

  constructor(
    private readonly program: WindowProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.kept = emptyColumns(program.columnBytes.length);
    this.results = emptyColumns(program.calls.length);
    this.frame = new FrameCursor(program.frame, context, this.work);
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
    const found = this.findChanges(this.program.partition, Math.max(from, 1), this.length, (row) => {
      if (row > this.done) ends.push(row);
    });
    if (found instanceof Promise) return found.then(() => this.compute(ends));
    return ends.length === 0 ? undefined : this.compute(ends);
  }

  /** Tells of the rows [from, to) that differ from the one before. */
  private findChanges(
    keys: readonly KeyColumn[],
    from: number,
    to: number,
    found: (row: number) => void,
  ): void | Promise<void> {
    for (let row = from; row < to; row++) {
      if (!this.isSame(keys, row - 1, row)) found(row);
      if (--this.work.left > 0) continue;
      const turn = this.lookAtClock();
      if (turn !== null) return turn.then(() => this.findChanges(keys, row + 1, to, found));
    }
  }

  /** When the budget of rows is used up; a promise where the turn is over, too. */
  private lookAtClock(): Promise<void> | null {
    const { context, work } = this;
    context.checkpoint();
    if (!context.shouldYield()) {
      work.renew(false);
      return null;
    }
    return context.yieldTurn().then(() => work.renew(true));
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
      const computed = after(this.peersOf(this.done, end), (peers) =>
        this.computeRows(this.callsFrom(this.done, peers), this.done, end),
      );
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
  private callsFrom(base: number, peers: Peers): FrameValue[] {
    const { program, kept, frame } = this;
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

  private peersOf(base: number, end: number): Peers | Promise<Peers> {
    const length = end - base;
    const { order } = this.program;
    if (order.length === 0) {
      return { length, groups: 1, groupOf: () => 0, startOf: (group) => (group === 0 ? 0 : length) };
    }
    const starts = [0];
    const found = this.findChanges(order, base + 1, end, (row) => starts.push(row - base));
    return found instanceof Promise ? found.then(() => peersFrom(starts, length)) : peersFrom(starts, length);
  }

  private computeRows(calls: readonly FrameValue[], from: number, end: number, base = from): void | Promise<void> {
    for (let at = from; at < end; ) {
      if (this.computeRow(calls, at, at - base)) {
        at++;
        this.work.left--;
      }
      if (this.work.left > 0) continue;
      const turn = this.lookAtClock();
      if (turn !== null) {
        const next = at;
        return turn.then(() => this.computeRows(calls, next, end, base));
      }
    }
  }

  /** False: the budget was used up before; what is there already is kept. `row`: of the partition. */
  private computeRow(calls: readonly FrameValue[], at: number, row: number): boolean {
    const { frame, program, results } = this;
    if (this.nextCall < 0) {
      if (program.readsFrame && !frame.moveTo(row)) return false;
      this.nextCall = 0;
    }
    let bytes = 0;
    for (; this.nextCall < calls.length; this.nextCall++) {
      const c = this.nextCall;
      const values = results[c]!;
      const value = calls[c]!(row);
      if (value === UNFINISHED) break;
      // Rows of one frame share their value.
      if (program.calls[c]!.resultBytes === sumOfBytes && value !== values[at - 1]) bytes += bytesOf(value);
      values.push(value);
    }
    if (bytes > 0) this.reserve(bytes);
    if (this.nextCall < calls.length) return false;
    this.nextCall = -1;
    return true;
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

/** `starts`: the first row of each group. */
function peersFrom(starts: number[], length: number): Peers {
  const groupOf = new Uint32Array(length);
  for (let group = 1; group < starts.length; group++) groupOf.fill(group, starts[group], starts[group + 1] ?? length);
  const groups = starts.length;
  starts.push(length);
  return { length, groups, groupOf: (row) => groupOf[row]!, startOf: (group) => starts[group]! };
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
