/**
 * Projection: new columns from expressions over the input. A plain column is passed on without copying it. Columns of
 * a chunk (segments/chunk.ts) stay as they are, and some expressions become such columns, too.
 */
import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Batch, Evaluate, Expr } from "../expr/expr.js";
import { columnsOf, takesLong, walkExpr } from "../expr/walk.js";
import type { ProjectPlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import {
  after,
  inTurns,
  type Open,
  type Operator,
  type Pulled,
  pull,
  ROWS_PER_TURN_CHECK,
  type SegmentBound,
} from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { ALL_ROWS, Chunk, type Selection } from "./segments/chunk.js";
import { type ChunkExpr, chunkExprOf, type OpenChunkExpr } from "./segments/chunk-expr.js";
import type { Column } from "./segments/column.js";
import type { WantedKeys } from "./segments/key-set.js";
import { compileAll, type EvaluateAll, slotsOf } from "./slots.js";
import { FromThread, type ThreadWork } from "./threads/read-threads.js";

interface Output {
  readonly evaluate: EvaluateAll;
  readonly evaluateRow: Evaluate;
  /** The input's column that it is; −1. */
  readonly slot: number;
  /** Slots that it reads. */
  readonly slots: readonly number[];
  /** Null: its values are computed row by row in any case. */
  readonly chunkExpr: OpenChunkExpr | null;
}

export function compileProject(plan: ProjectPlan, input: Open): Open {
  const slotOf = slotsOf(plan.input.columns);
  const outputs = plan.exprs.map(
    (expr): Output => ({
      evaluate: compileAll(expr, slotOf),
      evaluateRow: compileExpr(expr, slotOf),
      slot: expr.kind === "column" ? slotOf(expr.id) : -1,
      slots: [...columnsOf(expr)].map(slotOf).filter((slot) => slot >= 0),
      chunkExpr: chunkExprOf(expr, slotOf),
    }),
  );
  const slow = plan.exprs.some(takesLong);
  if (slow || volatileCalls(plan.exprs) > 1) {
    return (context) => new RowsProjectOperator(outputs, input(context), context, slow ? 1 : ROWS_PER_TURN_CHECK);
  }
  return (context) => new ProjectOperator(outputs, input(context), context);
}

/** Of several, one may see what another did for the same row: nextval and currval. */
function volatileCalls(exprs: readonly Expr[]): number {
  let calls = 0;
  for (const expr of exprs) {
    walkExpr(expr, (node) => {
      if (node.kind === "call" && node.fn.volatility === "volatile") calls++;
    });
  }
  return calls;
}

class ProjectOperator implements Operator {
  private readonly scratch: Value[][];
  private readonly chunkExprs: (ChunkExpr | null)[] = [];
  private vectors: readonly Column[] = [];
  /** What `vectors` were made of: they are the same as long as these are, if all of them are columns. */
  private vectorsOf: readonly Column[] | null = null;

  constructor(
    private readonly outputs: readonly Output[],
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.scratch = emptyColumns(outputs.length);
  }

  acceptChunks(): void {
    this.input.acceptChunks?.();
    for (const { chunkExpr } of this.outputs) this.chunkExprs.push(chunkExpr === null ? null : chunkExpr());
  }

  /** Where an expression is computed, it is for all rows: one of them may end the statement. */
  private get handsOn(): boolean {
    return this.outputs.every(({ slot }) => slot >= 0);
  }

  expectRows(rows: number): void {
    this.input.expectRows?.(rows);
  }

  passOver(rows: number): boolean {
    return this.handsOn && this.input.passOver?.(rows) === true;
  }

  acceptBound(bound: SegmentBound): void {
    if (this.handsOn) this.input.acceptBound?.({ ...bound, slot: this.outputs[bound.slot]!.slot });
  }

  acceptKeys({ slot, keys }: WantedKeys): void {
    if (this.handsOn) this.input.acceptKeys?.({ slot: this.outputs[slot]!.slot, keys });
  }

  acceptThreads(work: ThreadWork): void {
    this.input.acceptThreads?.(work);
  }

  next(): Pulled {
    return pull(this.input, this.step);
  }

  private readonly step = (batch: Batch | null): Batch | null => {
    // What threads give is made of this operator's rows already.
    if (batch === null || batch instanceof FromThread) return batch;
    if (batch instanceof Chunk) return this.project(batch);
    const { outputs, scratch, context } = this;
    const columns = new Array<ArrayLike<Value>>(outputs.length);
    for (let c = 0; c < outputs.length; c++) columns[c] = outputs[c]!.evaluate(batch, context, scratch[c]!);
    return { columns, length: batch.length };
  };

  private project(chunk: Chunk): Chunk {
    const { outputs } = this;
    const selections = new Array<Selection>(outputs.length).fill(ALL_ROWS);
    let areColumns = true;
    for (let c = 0; c < outputs.length; c++) {
      const { slot } = outputs[c]!;
      if (slot >= 0) selections[c] = chunk.selections[slot]!;
      else areColumns = false;
    }
    if (!areColumns || this.vectorsOf !== chunk.vectors) {
      this.vectorsOf = chunk.vectors;
      this.vectors = outputs.map((output, c) => this.columnOf(output, c, chunk));
    }
    return new Chunk(this.vectors, selections, chunk.length, this.scratch);
  }

  private columnOf({ slot, slots, evaluate }: Output, c: number, chunk: Chunk): Column {
    if (slot >= 0) return chunk.vectors[slot]!;
    const column = this.chunkExprs[c]?.of(chunk, this.context) ?? null;
    return column ?? { kind: "plain", values: evaluate(chunk.only(slots), this.context, []), bytes: 0 };
  }

  close(): void {
    this.input.close();
  }
}

/** Row by row, for expressions that may take long, with turns in between, and for those that depend on the order. */
class RowsProjectOperator implements Operator {
  private readonly scratch: Value[][];

  constructor(
    private readonly outputs: readonly Output[],
    private readonly input: Operator,
    private readonly context: ExecContext,
    private readonly every: number,
  ) {
    this.scratch = emptyColumns(outputs.length);
  }

  next(): Pulled {
    return after(this.input.next(), (batch) => (batch === null ? null : this.project(batch)));
  }

  private project(batch: Batch): Pulled {
    const { outputs, scratch, context } = this;
    const { length } = batch;
    context.statement.rowsAtWork = length;
    const row = (index: number): void => {
      for (let c = 0; c < outputs.length; c++) {
        const { slot, evaluateRow } = outputs[c]!;
        if (slot < 0) scratch[c]![index] = evaluateRow(batch, index, context);
      }
    };
    const columns = outputs.map(({ slot }, c) => (slot < 0 ? scratch[c]! : batch.columns[slot]!));
    return inTurns(context, length, row, () => ({ columns, length }), 0, this.every);
  }

  close(): void {
    this.input.close();
  }
}
