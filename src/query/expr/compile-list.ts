/**
 * Expressions over the elements of a list into closures: one context and one map of outer values per evaluation, whose
 * entries of the local variables change from element to element. Called by compile.ts, which gives its own functions;
 * compile-waiting.ts has the same loops with turns in between.
 */

import { spend } from "../../protocol/stretch.js";
import type { Value } from "../../values/values.js";
import { type Growing, growing } from "./cypher/growing-list.js";
import type { Batch, ColumnId, EvalContext, Evaluate, Expr, ListExpr } from "./expr.js";
import { ListMaker } from "./value-parts.js";

type SlotOf = (id: ColumnId) => number;
type Predicate = (batch: Batch, row: number, context: EvalContext) => boolean;

interface Compiler {
  readonly expr: (expr: Expr, slotOf: SlotOf) => Evaluate;
  readonly predicate: (expr: Expr, slotOf: SlotOf) => Predicate;
}

/** About what an element costs beside what is computed of it. */
const ELEMENT_NANOS = 40;

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
    const locals = new Map(context.outer);
    return run(listOfItems(items), locals, batch, row, { ...context, outer: locals });
  };
}

/** As UNWIND takes it: a value that is no list is the one item of one. */
export const listOfItems = (value: Value): readonly Value[] => (Array.isArray(value) ? value : [value]);

function runOf(expr: ListExpr, slotOf: SlotOf, compiler: Compiler): Run {
  if (expr.form === "map") return mapping(expr, slotOf, compiler);
  if (expr.form === "reduce") return reducing(expr, slotOf, compiler);
  return quantifying(expr, slotOf, compiler);
}

function mapping({ variable, where, result }: ListExpr, slotOf: SlotOf, compiler: Compiler): Run {
  const passes = where === null ? null : compiler.predicate(where, slotOf);
  const value = result === null ? null : compiler.expr(result, slotOf);
  return (list, locals, batch, row, context) => {
    const values = new ListMaker();
    for (const item of list) {
      spend(ELEMENT_NANOS);
      locals.set(variable, item);
      if (passes !== null && !passes(batch, row, context)) continue;
      values.add(value === null ? item : value(batch, row, context));
    }
    return values.list;
  };
}

function reducing(expr: ListExpr, slotOf: SlotOf, compiler: Compiler): Run {
  const { variable, accumulator, initial, result } = expr;
  const first = compiler.expr(initial!, slotOf);
  const grows = growing(result!, accumulator!, (part) => compiler.expr(part, slotOf));
  const next = compiler.expr(result!, slotOf);
  return (list, locals, batch, row, context) => {
    let value = first(batch, row, context);
    const grown: Growing | null = grows === null ? null : grows(value);
    for (const item of list) {
      spend(ELEMENT_NANOS);
      locals.set(variable, item);
      if (grown === null) {
        locals.set(accumulator!, value);
        value = next(batch, row, context);
      } else value = grown.next(batch, row, context);
    }
    return value;
  };
}

function quantifying({ form, variable, where }: ListExpr, slotOf: SlotOf, compiler: Compiler): Run {
  const test = compiler.expr(where!, slotOf);
  return (list, locals, batch, row, context) => {
    const quantifier = new Quantifier(form);
    for (const item of list) {
      spend(ELEMENT_NANOS);
      locals.set(variable, item);
      if (quantifier.isDecidedBy(test(batch, row, context))) break;
    }
    return quantifier.answer;
  };
}

/** Kleene's logic over all elements: what a NULL leaves open is NULL. */
export class Quantifier {
  private found = 0;
  private open = false;
  private decided: boolean | null = null;

  constructor(private readonly form: ListExpr["form"]) {}

  /** Whether further elements cannot change the answer, once the condition has been `value` for this one. */
  isDecidedBy(value: Value): boolean {
    const { form } = this;
    if (value === null) this.open = true;
    else if (form === "all") {
      if (value === false) this.decided = false;
    } else if (value === true) {
      if (form === "any") this.decided = true;
      else if (form === "none" || ++this.found > 1) this.decided = false;
    }
    return this.decided !== null;
  }

  get answer(): boolean | null {
    if (this.decided !== null) return this.decided;
    if (this.open) return null;
    return this.form === "single" ? this.found === 1 : this.form !== "any";
  }
}
