/** VALUES: rows of expressions without columns of their own (those of enclosing queries are allowed). */
import type { Value } from "../../protocol/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import type { ValuesPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { EMPTY_ROW, NO_SLOTS } from "./slots.js";

export function compileValues(plan: ValuesPlan): Open {
  const rows = plan.rows.map((row) => row.map((expr) => compileExpr(expr, NO_SLOTS)));
  return (context) => new ValuesOperator(rows, plan.columns.length, context);
}

class ValuesOperator implements Operator {
  private position = 0;
  private readonly columns: Value[][];

  constructor(
    private readonly rows: readonly (readonly Evaluate[])[],
    width: number,
    private readonly context: ExecContext,
  ) {
    this.columns = emptyColumns(width);
  }

  next(): Pulled {
    const { rows, context } = this;
    if (this.position === rows.length) return null;
    if (this.position > 0 && context.shouldYield()) return context.yieldTurn().then(() => this.batch());
    return this.batch();
  }

  private batch(): Batch {
    const { rows, columns, context } = this;
    const length = Math.min(context.batchRows, rows.length - this.position);
    context.checkpoint();
    for (let row = 0; row < length; row++) {
      const exprs = rows[this.position + row]!;
      for (let c = 0; c < columns.length; c++) columns[c]![row] = exprs[c]!(EMPTY_ROW, 0, context);
    }
    this.position += length;
    return { columns, length };
  }

  close(): void {}
}
