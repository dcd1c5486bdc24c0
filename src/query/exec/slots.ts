/**
 * Maps column ids to positions in a batch, with which the operators of this room compile expressions over their input.
 */
import type { Value } from "../../values/values.js";
import { compileExpr, compilePredicate, type Predicate, type SlotOf } from "../expr/compile.js";
import type { Batch, EvalContext, Evaluate, Expr } from "../expr/expr.js";
import { columnsOf } from "../expr/walk.js";
import type { OutputColumn } from "../plan/plan.js";

/** −1 for columns that are not among these: they belong to an enclosing query. */
export function slotsOf(columns: readonly OutputColumn[]): SlotOf {
  const slots = new Map(columns.map((column, slot) => [column.id, slot]));
  return (id) => slots.get(id) ?? -1;
}

/** The slots that these expressions read. */
export function slotsRead(exprs: readonly Expr[], slotOf: SlotOf): readonly number[] {
  const slots = exprs.flatMap((expr) => [...columnsOf(expr)].map(slotOf));
  return [...new Set(slots.filter((slot) => slot >= 0))];
}

/** The slots of expressions that are columns of the input, all of them; else null. */
export function columnSlots(exprs: readonly Expr[], slotOf: SlotOf): readonly number[] | null {
  const slots = exprs.map((expr) => (expr.kind === "column" ? slotOf(expr.id) : -1));
  return slots.includes(-1) ? null : slots;
}

/** Slots of expressions that read no column. */
export const NO_SLOTS: SlotOf = () => -1;

/** One row without columns, over which expressions without columns are evaluated. */
export const EMPTY_ROW: Batch = { columns: [], length: 1 };

export function compileMaybe(expr: Expr | null, slotOf: SlotOf): Evaluate | null {
  return expr === null ? null : compileExpr(expr, slotOf);
}

export function compileCondition(expr: Expr | null, slotOf: SlotOf): Predicate | null {
  return expr === null ? null : compilePredicate(expr, slotOf);
}

/**
 * The expression's values for all rows of a batch: the batch's own array for a plain column, else filled into `out`.
 */
export type EvaluateAll = (batch: Batch, context: EvalContext, out: Value[]) => ArrayLike<Value>;

export function compileAll(expr: Expr, slotOf: SlotOf): EvaluateAll {
  if (expr.kind === "column") {
    const slot = slotOf(expr.id);
    if (slot >= 0) return (batch) => batch.columns[slot]!;
  }
  const evaluate = compileExpr(expr, slotOf);
  return (batch, context, out) => {
    for (let row = 0; row < batch.length; row++) out[row] = evaluate(batch, row, context);
    return out;
  };
}
