/** Set-returning functions of a select list: repeats each row of the input for every row that the calls give for it. */
import type { Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import type { ProjectSetPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { type CompiledCall, compileCalls, SetRows } from "./set-rows.js";
import { slotsOf } from "./slots.js";

export function compileProjectSet(plan: ProjectSetPlan, input: Open): Open {
  const calls = compileCalls(plan.calls, slotsOf(plan.input.columns), true);
  const inputWidth = plan.input.columns.length;
  return (context) => new ProjectSetOperator(calls, inputWidth, input(context), context);
}

class ProjectSetOperator implements Operator {
  private readonly rows: SetRows;
  private readonly out: Value[][];
  /** The part of `out` that the calls fill. */
  private readonly made: Value[][];
  private length = 0;
  private batch: Batch | null = null;
  private row = 0;
  /** Whether the calls are open for the current row. */
  private opened = false;

  constructor(
    calls: readonly CompiledCall[],
    private readonly inputWidth: number,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.rows = new SetRows(calls, context);
    this.out = emptyColumns(inputWidth + this.rows.width);
    this.made = this.out.slice(inputWidth);
  }

  next(): Pulled {
    const { context } = this;
    if (this.batch !== null && context.shouldYield()) return context.yieldTurn().then(() => this.run());
    return this.run();
  }

  private run(): Pulled {
    const { context, rows } = this;
    context.checkpoint();
    for (;;) {
      if (this.length === context.batchRows) return this.take();
      if (this.batch === null) {
        const batch = this.input.next();
        if (batch instanceof Promise) return batch.then((arrived) => (this.accept(arrived) ? this.run() : this.take()));
        if (!this.accept(batch)) return this.take();
      } else if (this.row === this.batch.length) {
        // The rows made so far are copies, so the input may reuse its batch.
        this.batch = null;
      } else {
        if (!this.opened) {
          this.opened = true;
          rows.open(this.batch, this.row);
        }
        const count = rows.fill(this.made, this.length, context.batchRows - this.length);
        if (count instanceof Promise) {
          return count.then((arrived) => {
            this.join(arrived);
            return this.run();
          });
        }
        this.join(count);
      }
    }
  }

  /** False at the end of the input. */
  private accept(batch: Batch | null): boolean {
    this.batch = batch;
    this.row = 0;
    this.opened = false;
    return batch !== null;
  }

  /** Puts the current row's values beside so many new rows; 0: the calls are done with it. */
  private join(count: number): void {
    if (count === 0) {
      this.row++;
      this.opened = false;
      return;
    }
    for (let c = 0; c < this.inputWidth; c++) {
      const value = this.batch!.columns[c]![this.row]!;
      for (let i = this.length; i < this.length + count; i++) this.out[c]![i] = value;
    }
    this.length += count;
  }

  private take(): Batch | null {
    if (this.length === 0) return null;
    const batch = { columns: this.out, length: this.length };
    this.length = 0;
    return batch;
  }

  close(): void {
    this.rows.close();
    this.input.close();
  }
}
