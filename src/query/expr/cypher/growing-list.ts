/**
 * `reduce(a = […], x IN list | a + f(x))` without a copy of the list for every element: while nobody else can see the
 * accumulator, its list grows in place. Branches of CASE may add or leave it as it is. Called by compile-list.ts.
 */
import { sqlError } from "../../../protocol/errors.js";
import { LIST_ITEMS_MAX } from "../../../protocol/limits.js";
import type { Value } from "../../../values/values.js";
import type { Batch, ColumnId, EvalContext, Evaluate, Expr } from "../expr.js";
import { checkParts, partsOf } from "../value-parts.js";
import { someExpr } from "../walk.js";
import { add } from "./arithmetic.js";
import { OPERATORS } from "./operators.js";

/** One evaluation: gives the accumulator after each element. */
export interface Growing {
  next(batch: Batch, row: number, context: EvalContext): Value;
}

/** What happens to the accumulator for one element. */
type Step = (grown: GrowingValue, batch: Batch, row: number, context: EvalContext) => void;

/** Null: the expression does something else with the accumulator than to add to it. */
export function growing(
  result: Expr,
  accumulator: ColumnId,
  compile: (expr: Expr) => Evaluate,
): ((initial: Value) => Growing) | null {
  const step = stepOf(result, accumulator, compile);
  return step === null ? null : (initial) => new GrowingValue(initial, step);
}

function stepOf(expr: Expr, accumulator: ColumnId, compile: (expr: Expr) => Evaluate): Step | null {
  const reads = (part: Expr) =>
    someExpr(part, (node) =>
      node.kind === "subquery" ? node.outer.includes(accumulator) : node.kind === "column" && node.id === accumulator,
    );
  if (expr.kind === "column" && expr.id === accumulator) return () => undefined;
  if (expr.kind === "call" && expr.fn === OPERATORS["+"]) {
    const [left, right] = expr.args as [Expr, Expr];
    if (left.kind !== "column" || left.id !== accumulator || reads(right)) return null;
    const added = compile(right);
    return (grown, batch, row, context) => grown.add(added(batch, row, context));
  }
  if (expr.kind !== "case" || expr.otherwise === null) return null;
  if (expr.branches.some(({ when }) => reads(when))) return null;
  const conditions = expr.branches.map(({ when }) => compile(when));
  const steps = [...expr.branches.map((branch) => branch.then), expr.otherwise].map((part) =>
    stepOf(part, accumulator, compile),
  );
  if (steps.includes(null)) return null;
  return (grown, batch, row, context) => {
    const met = conditions.findIndex((condition) => condition(batch, row, context) === true);
    steps.at(met)!(grown, batch, row, context);
  };
}

class GrowingValue implements Growing {
  /** The list that grows; null as long as it is somebody else's, or the value is no list. */
  private own: Value[] | null = null;
  private parts = 0;

  constructor(
    private value: Value,
    private readonly step: Step,
  ) {}

  next(batch: Batch, row: number, context: EvalContext): Value {
    this.step(this, batch, row, context);
    return this.value;
  }

  /** As `value + added`. Throws 54000. */
  add(added: Value): void {
    if (this.value === null || added === null) {
      this.value = null;
      this.own = null;
      return;
    }
    if (!Array.isArray(this.value)) {
      this.value = add(this.value as never, added as never);
      return;
    }
    if (this.own === null) {
      this.own = [...this.value];
      this.parts = partsOf(this.own);
      this.value = this.own;
    }
    const { own } = this;
    for (const item of Array.isArray(added) ? added : [added]) {
      own.push(item);
      this.parts += typeof item === "object" && item !== null ? partsOf(item) : 1;
    }
    if (own.length > LIST_ITEMS_MAX) throw sqlError("54000", `a list has at most ${LIST_ITEMS_MAX} items`);
    checkParts(this.parts);
  }
}
