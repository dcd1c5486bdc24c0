/** Projection: new columns from expressions over the input. A plain column is passed on without copying it. */
import type { Value } from "../../protocol/values.js";
import type { Batch } from "../expr/expr.js";
import type { ProjectPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { type Open, type Operator, type Pulled, pull } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { compileAll, type EvaluateAll, slotsOf } from "./slots.js";

export function compileProject(plan: ProjectPlan, input: Open): Open {
  const slotOf = slotsOf(plan.input.columns);
  const exprs = plan.exprs.map((expr) => compileAll(expr, slotOf));
  return (context) => new ProjectOperator(exprs, input(context), context);
}

class ProjectOperator implements Operator {
  private readonly scratch: Value[][];

  constructor(
    private readonly exprs: readonly EvaluateAll[],
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.scratch = emptyColumns(exprs.length);
  }

  next(): Pulled {
    return pull(this.input, this.step);
  }

  private readonly step = (batch: Batch | null): Batch | null => {
    if (batch === null) return null;
    const { exprs, scratch, context } = this;
    const columns = new Array<ArrayLike<Value>>(exprs.length);
    for (let c = 0; c < exprs.length; c++) columns[c] = exprs[c]!(batch, context, scratch[c]!);
    return { columns, length: batch.length };
  };

  close(): void {
    this.input.close();
  }
}
