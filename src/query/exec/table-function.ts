/** Functions in FROM: their rows in batches, so that a long series neither fills memory nor holds up the actor. */
import type { Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import type { TableFunctionPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { type CompiledCall, compileCalls, SetRows } from "./set-rows.js";
import { EMPTY_ROW, NO_SLOTS } from "./slots.js";

export function compileTableFunction(plan: TableFunctionPlan): Open {
  const calls = compileCalls(plan.calls, NO_SLOTS, false);
  return (context) => new TableFunctionOperator(calls, plan.columns.length, plan.ordinality, context);
}

/** Rows of the first batch: a LIMIT often wants no more. */
const FIRST_ROWS = 64;

class TableFunctionOperator implements Operator {
  private readonly rows: SetRows;
  private readonly columns: Value[][];
  private opened = false;
  private size: number;
  /** Rows given so far. */
  private ordinal = 0;

  constructor(
    calls: readonly CompiledCall[],
    width: number,
    private readonly ordinality: boolean,
    private readonly context: ExecContext,
  ) {
    this.rows = new SetRows(calls, context);
    this.columns = emptyColumns(width);
    this.size = Math.min(FIRST_ROWS, context.batchRows);
  }

  next(): Pulled {
    const { context } = this;
    if (this.opened && context.shouldYield()) return context.yieldTurn().then(() => this.read());
    return this.read();
  }

  private read(): Pulled {
    const { context, rows } = this;
    context.checkpoint();
    if (!this.opened) {
      this.opened = true;
      rows.open(EMPTY_ROW, 0);
    }
    const count = rows.fill(this.columns, 0, this.size);
    this.size = context.batchRows;
    return count instanceof Promise ? count.then((arrived) => this.batch(arrived)) : this.batch(count);
  }

  private batch(length: number): Batch | null {
    if (length === 0) return null;
    const { columns } = this;
    if (this.ordinality) {
      const numbers = columns[columns.length - 1]!;
      for (let i = 0; i < length; i++) numbers[i] = ++this.ordinal;
    }
    return { columns, length };
  }

  close(): void {
    this.rows.close();
  }
}
