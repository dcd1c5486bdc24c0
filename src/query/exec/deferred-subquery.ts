/**
 * A correlated subquery that contains a deferred call, as an item of a `deferred` node: it runs for one row after the
 * other, and its value is made as it is for subqueries in expressions. Called by deferred-call.ts.
 */
import type { Value } from "../../values/values.js";
import { compileExpr, type SlotOf } from "../expr/compile.js";
import type { Batch, ColumnId, EvalContext, SubqueryExpr } from "../expr/expr.js";
import type { ExecContext, ExecServices } from "./context.js";
import type { CompiledDeferred } from "./deferred-item.js";
import { runSubqueryLater, subqueryValue } from "./subquery.js";

/** Each row runs a query of its own: a limit above should not wait for many. */
const ROWS_MAX = 16;

export function compileDeferredSubquery(
  expr: SubqueryExpr,
  rowsOf: (batch: Batch, context: ExecContext) => number[],
  slotOf: SlotOf,
): CompiledDeferred {
  const evaluate = compileExpr(expr, slotOf);
  const outer = expr.outer.map((id) => [id, slotOf(id)] as const);
  const valueFor = async (batch: Batch, row: number, context: ExecContext): Promise<Value> => {
    const values = new Map<ColumnId, Value>(context.outer);
    for (const [id, slot] of outer) if (slot >= 0) values.set(id, batch.columns[slot]![row]!);
    const found = await runSubqueryLater(expr, { ...context, outer: values });
    // The comparison with an input, and what NULL means there, are the expression's.
    const { services } = context;
    const answering: ExecServices = Object.create(services, {
      runSubquery: {
        value: (asked: SubqueryExpr, within: EvalContext) =>
          asked === expr ? subqueryValue(expr, found) : services.runSubquery(asked, within),
      },
    });
    return evaluate(batch, row, { ...context, services: answering });
  };
  return {
    rowsMax: ROWS_MAX,
    open: (context) => ({
      async fill(batch, out) {
        for (let row = 0; row < batch.length; row++) out[row] = null;
        for (const row of rowsOf(batch, context)) {
          context.checkpoint();
          out[row] = await valueFor(batch, row, context);
        }
      },
      close: () => undefined,
    }),
  };
}
