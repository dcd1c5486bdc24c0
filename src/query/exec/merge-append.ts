/**
 * Rows of inputs that come in one order, merged into that order: each turn hands on the first of the rows at the heads
 * of the inputs (Knuth, The Art of Computer Programming 3, §5.4.1, replacement selection with a heap). Of equal rows
 * those of an earlier input come first. Made by append.ts.
 */
import type { Value } from "../../values/values.js";
import { sortComparator } from "../expr/compare.js";
import type { Batch } from "../expr/expr.js";
import type { AppendPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { after, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { slotsOf } from "./slots.js";

type Compare = (a: Value, b: Value) => number;

/** A sort key: its column, and how two values of it stand to each other. */
interface MergeKey {
  readonly slot: number;
  readonly compare: Compare;
}

/** `oids`: of the inputs' tables, when a column for them is wanted. */
export function compileMergeAppend(plan: AppendPlan, oids: readonly number[] | null, inputs: readonly Open[]): Open {
  const slotOf = slotsOf(plan.columns);
  const keys = plan.mergeKeys!.map(({ expr, descending, nullsFirst }): MergeKey => {
    if (expr.kind !== "column") throw new Error("a merge is by columns");
    return { slot: slotOf(expr.id), compare: sortComparator(expr.type, descending, nullsFirst) };
  });
  return (context) =>
    new MergeAppendOperator(
      inputs.map((open) => open(context)),
      oids,
      keys,
      plan.columns.length,
      context,
    );
}

/** An input and the row of its batch that is next. */
interface Head {
  readonly number: number;
  readonly input: Operator;
  batch: Batch;
  row: number;
}

class MergeAppendOperator implements Operator {
  /** A binary heap of the inputs that have rows left; null until their first batches are there. */
  private heads: Head[] | null = null;
  private readonly columns: Value[][];

  constructor(
    private readonly inputs: readonly Operator[],
    private readonly oids: readonly number[] | null,
    private readonly keys: readonly MergeKey[],
    private readonly width: number,
    private readonly context: ExecContext,
  ) {
    this.columns = emptyColumns(width);
  }

  next(): Pulled {
    if (this.heads !== null) return this.merge(this.heads, 0);
    const heads: Head[] = [];
    return after(this.begin(heads, 0), () => {
      this.heads = heads;
      for (let i = (heads.length >> 1) - 1; i >= 0; i--) this.sink(heads, i);
      return this.merge(heads, 0);
    });
  }

  private begin(heads: Head[], from: number): void | Promise<void> {
    for (let number = from; number < this.inputs.length; number++) {
      const input = this.inputs[number]!;
      const batch = input.next();
      if (batch instanceof Promise) {
        return batch.then((arrived) => {
          if (arrived !== null) heads.push({ number, input, batch: arrived, row: 0 });
          return this.begin(heads, number + 1);
        });
      }
      if (batch !== null) heads.push({ number, input, batch, row: 0 });
    }
  }

  /** Fills a batch from row `length` on; it is handed on early where an input has to be waited for. */
  private merge(heads: Head[], from: number): Pulled {
    const { columns, oids, width } = this;
    const stored = oids === null ? width : width - 1;
    let length = from;
    while (heads.length > 0 && length < this.context.batchRows) {
      const head = heads[0]!;
      for (let c = 0; c < stored; c++) columns[c]![length] = head.batch.columns[c]![head.row]!;
      if (oids !== null) columns[stored]![length] = oids[head.number]!;
      length++;
      if (++head.row < head.batch.length) {
        this.sink(heads, 0);
        continue;
      }
      const next = head.input.next();
      if (next instanceof Promise) {
        return next.then((arrived) => {
          this.refill(heads, arrived);
          return this.merge(heads, length);
        });
      }
      this.refill(heads, next);
    }
    return length === 0 ? null : { columns, length };
  }

  /** The first input's next batch; null: it has ended. */
  private refill(heads: Head[], batch: Batch | null): void {
    if (batch !== null) {
      heads[0]!.batch = batch;
      heads[0]!.row = 0;
    } else {
      const last = heads.pop()!;
      if (heads.length === 0) return;
      heads[0] = last;
    }
    this.sink(heads, 0);
  }

  private sink(heads: Head[], from: number): void {
    const head = heads[from]!;
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heads.length) break;
      if (child + 1 < heads.length && this.isBefore(heads[child + 1]!, heads[child]!)) child++;
      if (!this.isBefore(heads[child]!, head)) break;
      heads[place] = heads[child]!;
      place = child;
    }
    heads[place] = head;
  }

  private isBefore(a: Head, b: Head): boolean {
    for (const { slot, compare } of this.keys) {
      const order = compare(a.batch.columns[slot]![a.row]!, b.batch.columns[slot]![b.row]!);
      if (order !== 0) return order < 0;
    }
    return a.number < b.number;
  }

  close(): void {
    for (const input of this.inputs) input.close();
    this.heads = [];
  }
}
