/** ORDER BY: keeps all rows, sorts their numbers, and hands the rows on in that order. */
import type { Value } from "../../protocol/values.js";
import type { Batch } from "../expr/expr.js";
import type { OutputColumn, SortKey, SortPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { after, drain, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns, RowBuffer } from "./row-buffer.js";
import { compileAll, type EvaluateAll, slotsOf } from "./slots.js";
import { type RowOrderOf, rowOrderOf, sortRows } from "./sort-rows.js";
import { type ColumnBytes, columnBytesOf } from "./value-bytes.js";

export interface SortProgram {
  readonly columns: readonly OutputColumn[];
  readonly keys: readonly EvaluateAll[];
  readonly keyBytes: readonly ColumnBytes[];
  readonly orderOf: RowOrderOf;
}

export function compileSortKeys(columns: readonly OutputColumn[], keys: readonly SortKey[]): SortProgram {
  const slotOf = slotsOf(columns);
  return {
    columns,
    keys: keys.map((key) => compileAll(key.expr, slotOf)),
    keyBytes: keys.map((key) => columnBytesOf(key.expr.type)),
    orderOf: rowOrderOf(keys),
  };
}

export function compileSort(plan: SortPlan, input: Open): Open {
  const program = compileSortKeys(plan.input.columns, plan.keys);
  return (context) => new SortOperator(program, input(context), context);
}

class SortOperator implements Operator {
  private readonly rows: RowBuffer;
  private readonly keys: Value[][];
  private readonly out: Value[][];
  private order: Uint32Array | null = null;
  private position = 0;
  private keyBytes = 0;

  constructor(
    private readonly program: SortProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.rows = new RowBuffer(program.columns, context);
    this.keys = emptyColumns(program.keys.length);
    this.out = emptyColumns(program.columns.length);
  }

  next(): Pulled {
    if (this.order !== null) return this.emit();
    return drain(this.input, this.append, () =>
      after(sortRows(this.context, this.rows.length, this.program.orderOf(this.keys)), (order) => {
        this.order = order;
        return this.emit();
      }),
    );
  }

  private readonly append = (batch: Batch): void => {
    const { program, context, rows } = this;
    let bytes = 4 * batch.length;
    for (let k = 0; k < program.keys.length; k++) {
      const values = program.keys[k]!(batch, context, []);
      const to = this.keys[k]!;
      for (let row = 0; row < batch.length; row++) to.push(values[row]!);
      bytes += program.keyBytes[k]!(values, batch.length);
    }
    this.keyBytes += bytes;
    context.statement.reserve(bytes);
    rows.append(batch);
  };

  private emit(): Batch | null {
    const from = this.position;
    if (from === this.rows.length) return null;
    this.position = Math.min(from + this.context.batchRows, this.rows.length);
    return this.rows.gather(this.order!, from, this.position, this.out);
  }

  close(): void {
    this.context.statement.release(this.keyBytes);
    this.keyBytes = 0;
    this.rows.release();
    this.input.close();
  }
}
