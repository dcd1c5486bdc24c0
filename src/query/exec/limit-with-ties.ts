/**
 * FETCH FIRST n ROWS WITH TIES: the rows of a limit, and after them those that the sort keys do not tell from the last.
 */
import type { Value } from "../../values/values.js";
import type { HashKey } from "../expr/compare.js";
import type { Batch } from "../expr/expr.js";
import type { LimitPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { limitValue, offsetValue } from "./limit.js";
import { type Open, type Operator, type Pulled, pull } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { type RowKeyOf, rowKeyOf } from "./row-key.js";
import { compileAll, compileMaybe, type EvaluateAll, NO_SLOTS, slotsOf } from "./slots.js";

/** Throws 2201W for a NULL limit. */
export function compileLimitWithTies(plan: LimitPlan, input: Open): Open {
  const limit = compileMaybe(plan.limit, NO_SLOTS);
  const offset = compileMaybe(plan.offset, NO_SLOTS);
  const slotOf = slotsOf(plan.input.columns);
  const ties = plan.ties ?? [];
  const keys = ties.map((expr) => compileAll(expr, slotOf));
  const keyOf = rowKeyOf(ties.map((expr) => expr.type));
  return (context) =>
    new LimitWithTiesOperator(
      limitValue(limit, context, true),
      offsetValue(offset, context),
      keys,
      keyOf,
      input(context),
      context,
    );
}

class LimitWithTiesOperator implements Operator {
  private readonly scratch: Value[][];
  /** The key of the last row of the limit, once it came. */
  private last: HashKey | null | undefined;
  private ended = false;

  constructor(
    private remaining: number,
    private toSkip: number,
    private readonly keys: readonly EvaluateAll[],
    private readonly keyOf: RowKeyOf,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.scratch = emptyColumns(keys.length);
    this.ended = remaining <= 0;
  }

  next(): Pulled {
    return this.ended ? null : pull(this.input, this.step);
  }

  private readonly step = (batch: Batch | null): Batch | null | undefined => {
    if (batch === null) return null;
    if (batch.length <= this.toSkip) {
      this.toSkip -= batch.length;
      return undefined;
    }
    const from = this.toSkip;
    this.toSkip = 0;
    let to = Math.min(batch.length, from + this.remaining);
    this.remaining -= to - from;
    if (this.remaining === 0) {
      const keys = this.keys.map((key, i) => key(batch, this.context, this.scratch[i]!));
      if (this.last === undefined) this.last = this.keyOf(keys, to - 1);
      while (to < batch.length && this.keyOf(keys, to) === this.last) to++;
      this.ended = to < batch.length;
    }
    if (to === from) return null;
    return { columns: batch.columns.map((values) => Array.prototype.slice.call(values, from, to)), length: to - from };
  };

  close(): void {
    this.input.close();
  }
}
