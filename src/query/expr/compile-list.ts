/**
 * Expressions over the elements of a list into closures: one context and one map of outer values per evaluation, whose
 * entries of the local variables change from element to element. Called by compile.ts, which gives its own functions.
 */
import { cypherError } from "../../protocol/cypher-error.js";
import type { Value } from "../../protocol/values.js";
import type { Batch, ColumnId, EvalContext, Evaluate, Expr, ListExpr } from "./expr.js";

type SlotOf = (id: ColumnId) => number;
type Predicate = (batch: Batch, row: number, context: EvalContext) => boolean;

interface Compiler {
  readonly expr: (expr: Expr, slotOf: SlotOf) => Evaluate;
  readonly predicate: (expr: Expr, slotOf: SlotOf) => Predicate;
}

/** Runs over the elements; `locals` is what `context.outer` is. */
type Run = (
  list: readonly Value[],
  locals: Map<ColumnId, Value>,
  batch: Batch,
  row: number,
  context: EvalContext,
) => Value;

export function compileList(expr: ListExpr, slotOf: SlotOf, compiler: Compiler): Evaluate {
  const list = compiler.expr(expr.list, slotOf);
  const run = runOf(expr, slotOf, compiler);
  return (batch, row, context) => {
    const items = list(batch, row, context);
    if (items === null) return null;
    if (!Array.isArray(items)) throw cypherError("TypeError", "InvalidArgumentType", "expected a list");
    const locals = new Map(context.outer);
    return run(items, locals, batch, row, { ...context, outer: locals });
  };
}

function runOf(expr: ListExpr, slotOf: SlotOf, compiler: Compiler): Run {
  if (expr.form === "map") return mapping(expr, slotOf, compiler);
  if (expr.form === "reduce") return reducing(expr, slotOf, compiler);
  return quantifying(expr, slotOf, compiler);
}

function mapping({ variable, where, result }: ListExpr, slotOf: SlotOf, compiler: Compiler): Run {
  const passes = where === null ? null : compiler.predicate(where, slotOf);
  const value = result === null ? null : compiler.expr(result, slotOf);
  return (list, locals, batch, row, context) => {
    const values: Value[] = [];
    for (const item of list) {
      locals.set(variable, item);
      if (passes !== null && !passes(batch, row, context)) continue;
      values.push(value === null ? item : value(batch, row, context));
    }
    return values;
  };
}

function reducing({ variable, accumulator, initial, result }: ListExpr, slotOf: SlotOf, compiler: Compiler): Run {
  const first = compiler.expr(initial!, slotOf);
  const next = compiler.expr(result!, slotOf);
  return (list, locals, batch, row, context) => {
    let value = first(batch, row, context);
    for (const item of list) {
      locals.set(variable, item);
      locals.set(accumulator!, value);
      value = next(batch, row, context);
    }
    return value;
  };
}

/** Kleene's logic over all elements: what a NULL leaves open is NULL. */
function quantifying({ form, variable, where }: ListExpr, slotOf: SlotOf, compiler: Compiler): Run {
  const test = compiler.expr(where!, slotOf);
  return (list, locals, batch, row, context) => {
    let found = 0;
    let open = false;
    for (const item of list) {
      locals.set(variable, item);
      const value = test(batch, row, context);
      if (value === null) open = true;
      else if (form === "all") {
        if (value === false) return false;
      } else if (value === true) {
        if (form === "any") return true;
        if (form === "none" || ++found > 1) return false;
      }
    }
    if (open) return null;
    return form === "single" ? found === 1 : form !== "any";
  };
}
