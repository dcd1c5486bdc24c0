/** DISTINCT and DISTINCT ON: the first row of each key, in the input's order, as soon as it comes. */
import type { Value } from "../../values/values.js";
import type { HashKey } from "../expr/compare.js";
import type { Batch, Expr } from "../expr/expr.js";
import type { DistinctPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { type Open, type Operator, type Pulled, pull } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { type RowKeyOf, rowKeyOf } from "./row-key.js";
import { compileAll, type EvaluateAll, slotsOf } from "./slots.js";
import { bytesOf } from "./value-bytes.js";

/** Estimated bytes of an entry of a Set beside the key's own. */
export const SET_ENTRY_BYTES = 40;

export function compileDistinct(plan: DistinctPlan, input: Open): Open {
  const slotOf = slotsOf(plan.input.columns);
  const on: readonly Expr[] =
    plan.on ?? plan.input.columns.map(({ id, type, name }) => ({ kind: "column", id, type, name }));
  const keys = on.map((expr) => compileAll(expr, slotOf));
  const keyOf = rowKeyOf(on.map((expr) => expr.type));
  const width = plan.input.columns.length;
  return (context) => new DistinctOperator(keys, keyOf, width, input(context), context);
}

class DistinctOperator implements Operator {
  private readonly seen = new Set<HashKey | null>();
  private readonly scratch: Value[][];
  private readonly columns: Value[][];
  private bytes = 0;

  constructor(
    private readonly keys: readonly EvaluateAll[],
    private readonly keyOf: RowKeyOf,
    width: number,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.scratch = emptyColumns(keys.length);
    this.columns = emptyColumns(width);
  }

  next(): Pulled {
    return pull(this.input, this.step);
  }

  private readonly step = (batch: Batch | null): Batch | null | undefined => {
    if (batch === null) return null;
    const { seen, keyOf, columns, context } = this;
    const keys = this.keys.map((key, i) => key(batch, context, this.scratch[i]!));
    let kept = 0;
    for (let row = 0; row < batch.length; row++) {
      const key = keyOf(keys, row);
      if (seen.has(key)) continue;
      seen.add(key);
      this.reserve(SET_ENTRY_BYTES + bytesOf(key));
      for (let c = 0; c < columns.length; c++) columns[c]![kept] = batch.columns[c]![row]!;
      kept++;
    }
    return kept === 0 ? undefined : { columns, length: kept };
  };

  private reserve(bytes: number): void {
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }

  close(): void {
    this.context.statement.release(this.bytes);
    this.bytes = 0;
    this.input.close();
  }
}
