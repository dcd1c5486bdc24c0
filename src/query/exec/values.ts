/** VALUES: rows of expressions without columns of their own (those of enclosing queries are allowed). */
import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Batch, Evaluate, Expr } from "../expr/expr.js";
import { isVolatile } from "../expr/walk.js";
import type { ValuesPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { Operator, Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { EMPTY_ROW, NO_SLOTS } from "./slots.js";

/** Rows between two looks at the clock. */
const ROWS_PER_LOOK = 8;

export function compileValues(plan: ValuesPlan): (context: ExecContext) => ValuesOperator {
  const rows = plan.rows.map((row) => row.map((expr) => compileExpr(expr, NO_SLOTS)));
  const orders = plan.rows.map(evaluationOrder);
  return (context) => new ValuesOperator(rows, orders, plan.columns.length, context);
}

/**
 * Places of a row's expressions in the order in which they are computed; null: as they stand. What a volatile function
 * does (`nextval`) should not happen for a row whose literals are wrong, which PostgreSQL finds before it runs
 * anything.
 */
function evaluationOrder(row: readonly Expr[]): readonly number[] | null {
  const places = row.map((_, place) => place);
  const volatile = places.filter((place) => isVolatile(row[place]!));
  if (volatile.length === 0 || volatile.length === row.length) return null;
  return [...places.filter((place) => !volatile.includes(place)), ...volatile];
}

export class ValuesOperator implements Operator {
  private position = 0;
  private readonly columns: Value[][];

  constructor(
    private readonly rows: readonly (readonly Evaluate[])[],
    private readonly orders: readonly (readonly number[] | null)[],
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
    const { rows, orders, columns, context } = this;
    const most = Math.min(context.batchRows, rows.length - this.position);
    context.checkpoint();
    let length = 0;
    // Texts that become vectors take long.
    while (length < most && !(length % ROWS_PER_LOOK === ROWS_PER_LOOK - 1 && context.shouldYield())) {
      const row = length++;
      const exprs = rows[this.position + row]!;
      const order = orders[this.position + row]!;
      for (let i = 0; i < columns.length; i++) {
        const c = order === null ? i : order[i]!;
        columns[c]![row] = exprs[c]!(EMPTY_ROW, 0, context);
      }
    }
    this.position += length;
    return { columns, length };
  }

  /** The rows are computed once more, with the parameters of now. */
  rewind(): void {
    this.position = 0;
  }

  close(): void {}
}
