/** Keeps the rows whose predicate is true. A batch of which every row stays is passed on as it is. */
import type { Value } from "../../values/values.js";
import { compilePredicate, type Predicate } from "../expr/compile.js";
import type { Batch } from "../expr/expr.js";
import { takesLong } from "../expr/walk.js";
import type { FilterPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { after, inTurns, type Open, type Operator, type Pulled, pull } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { slotsOf } from "./slots.js";

export function compileFilter(plan: FilterPlan, input: Open): Open {
  const predicate = compilePredicate(plan.predicate, slotsOf(plan.input.columns));
  const width = plan.input.columns.length;
  if (takesLong(plan.predicate)) return (context) => new SlowFilterOperator(predicate, width, input(context), context);
  return (context) => new FilterOperator(predicate, width, input(context), context);
}

class FilterOperator implements Operator {
  private readonly columns: Value[][];
  /** Of the rows that passed, used again for each batch. */
  private rows = new Int32Array(0);

  constructor(
    private readonly predicate: Predicate,
    width: number,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.columns = emptyColumns(width);
  }

  next(): Pulled {
    return pull(this.input, this.step);
  }

  private readonly step = (batch: Batch | null): Batch | null | undefined => {
    if (batch === null) return null;
    const { predicate, context } = this;
    let row = 0;
    while (row < batch.length && predicate(batch, row, context)) row++;
    return row === batch.length ? batch : this.compact(batch, row);
  };

  /** The first `kept` rows passed, the next did not. */
  private compact(batch: Batch, kept: number): Batch | undefined {
    const { predicate, columns, context } = this;
    if (this.rows.length < batch.length) this.rows = new Int32Array(batch.length);
    const { rows } = this;
    let length = kept;
    for (let row = 0; row < kept; row++) rows[row] = row;
    for (let row = kept + 1; row < batch.length; row++) if (predicate(batch, row, context)) rows[length++] = row;
    if (length === 0) return undefined;
    for (let c = 0; c < columns.length; c++) {
      const from = batch.columns[c]!;
      const to = columns[c]!;
      for (let i = 0; i < length; i++) to[i] = from[rows[i]!]!;
    }
    return { columns, length };
  }

  close(): void {
    this.input.close();
  }
}

/** The same with turns between rows, for a predicate that may take long. */
class SlowFilterOperator implements Operator {
  private readonly columns: Value[][];

  constructor(
    private readonly predicate: Predicate,
    width: number,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.columns = emptyColumns(width);
  }

  next(): Pulled {
    for (;;) {
      const batch = this.input.next();
      const kept = after(batch, (arrived) => (arrived === null ? null : this.kept(arrived)));
      if (kept instanceof Promise) return kept.then((some) => (some === undefined ? this.next() : some));
      if (kept !== undefined) return kept;
    }
  }

  /** Undefined: no row passed. */
  private kept(batch: Batch): Batch | undefined | Promise<Batch | undefined> {
    const { predicate, columns, context } = this;
    let length = 0;
    const keep = (row: number): void => {
      if (!predicate(batch, row, context)) return;
      for (let c = 0; c < columns.length; c++) columns[c]![length] = batch.columns[c]![row]!;
      length++;
    };
    const finish = () => (length === 0 ? undefined : { columns, length });
    return inTurns(context, batch.length, keep, finish, 0, 1);
  }

  close(): void {
    this.input.close();
  }
}
