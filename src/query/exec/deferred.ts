/**
 * Values that have to be waited for: takes a few rows of its input at a time, so that a limit above stops early, and has
 * the calls of those rows computed together, one call of the select list after the other. Equal calls are computed once.
 */
import { DEFERRED_ROWS_MAX } from "../../protocol/limits.js";
import type { Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import type { DeferredPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { compileDeferredCall } from "./deferred-call.js";
import type { CompiledDeferred, DeferredValues } from "./deferred-item.js";
import { after, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { slotsOf } from "./slots.js";

export function compileDeferred(plan: DeferredPlan, input: Open): Open {
  const slotOf = slotsOf(plan.input.columns);
  const calls = plan.calls.map((call) => compileDeferredCall(call, slotOf, plan.keeps === true));
  const rowsMax = Math.min(DEFERRED_ROWS_MAX, ...calls.map((call) => call.rowsMax));
  return (context) => new DeferredOperator(calls, rowsMax, plan.input.columns.length, input(context), context);
}

class DeferredOperator implements Operator {
  private readonly values: readonly DeferredValues[];
  private readonly out: Value[][];
  /** The input's batch, and how many of its rows have been handed on. */
  private batch: Batch | null = null;
  private row = 0;

  constructor(
    calls: readonly CompiledDeferred[],
    private readonly rowsMax: number,
    private readonly inputWidth: number,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.values = calls.map((call) => call.open(context));
    this.out = emptyColumns(inputWidth + calls.length);
  }

  next(): Pulled {
    if (this.batch !== null && this.row < this.batch.length) return this.compute(this.batch);
    return after(this.input.next(), (batch) => {
      this.batch = batch;
      this.row = 0;
      return batch === null ? null : this.compute(batch);
    });
  }

  private compute(from: Batch): Promise<Batch> {
    const length = Math.min(this.rowsMax, from.length - this.row);
    const rows = this.copyRows(from, length);
    this.row += length;
    return this.fill(rows);
  }

  private copyRows(from: Batch, length: number): Batch {
    const { out, row, inputWidth } = this;
    for (let c = 0; c < inputWidth; c++) {
      const source = from.columns[c]!;
      const target = out[c]!;
      for (let i = 0; i < length; i++) target[i] = source[row + i]!;
    }
    return { columns: out, length };
  }

  private async fill(rows: Batch): Promise<Batch> {
    for (const [i, call] of this.values.entries()) {
      this.context.checkpoint();
      await call.fill(rows, this.out[this.inputWidth + i]!);
    }
    return rows;
  }

  close(): void {
    for (const call of this.values) call.close();
    this.input.close();
  }
}
