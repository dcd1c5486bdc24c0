/** LIMIT and OFFSET. Stops asking its input as soon as it has enough. */
import { sqlError } from "../../protocol/errors.js";
import type { Batch, EvalContext, Evaluate } from "../expr/expr.js";
import type { LimitPlan } from "../plan/plan.js";
import { type Open, type Operator, type Pulled, pull } from "./operator.js";
import { compileMaybe, EMPTY_ROW, NO_SLOTS } from "./slots.js";

export function compileLimit(plan: LimitPlan, input: Open): Open {
  const limit = compileMaybe(plan.limit, NO_SLOTS);
  const offset = compileMaybe(plan.offset, NO_SLOTS);
  return (context) => new LimitOperator(limitValue(limit, context), offsetValue(offset, context), input(context));
}

/** Rows to hand on; Infinity when there is no limit. Throws 2201W for a negative one, WITH TIES also for NULL. */
export function limitValue(limit: Evaluate | null, context: EvalContext, withTies = false): number {
  const value = limit === null ? null : limit(EMPTY_ROW, 0, context);
  if (value === null && withTies) {
    throw sqlError("2201W", "row count cannot be null in FETCH FIRST ... WITH TIES clause");
  }
  if (value === null) return Number.POSITIVE_INFINITY;
  if (Number(value) < 0) throw sqlError("2201W", "LIMIT must not be negative");
  return Number(value);
}

/** Rows to pass over. Throws 2201X for a negative offset. */
export function offsetValue(offset: Evaluate | null, context: EvalContext): number {
  const value = offset === null ? null : offset(EMPTY_ROW, 0, context);
  if (value === null) return 0;
  if (Number(value) < 0) throw sqlError("2201X", "OFFSET must not be negative");
  return Number(value);
}

export class LimitOperator implements Operator {
  constructor(
    private remaining: number,
    private toSkip: number,
    private readonly input: Operator,
  ) {
    input.expectRows?.(remaining + toSkip);
    if (toSkip > 0 && remaining > 0 && input.passOver?.(toSkip) === true) this.toSkip = 0;
  }

  next(): Pulled {
    return this.remaining <= 0 ? null : pull(this.input, this.step);
  }

  private readonly step = (batch: Batch | null): Batch | null | undefined => {
    if (batch === null) return null;
    if (batch.length <= this.toSkip) {
      this.toSkip -= batch.length;
      return undefined;
    }
    const from = this.toSkip;
    const length = Math.min(batch.length - from, this.remaining);
    this.toSkip = 0;
    this.remaining -= length;
    if (from === 0) return length === batch.length ? batch : { columns: batch.columns, length };
    return { columns: batch.columns.map((values) => Array.prototype.slice.call(values, from, from + length)), length };
  };

  close(): void {
    this.input.close();
  }
}
