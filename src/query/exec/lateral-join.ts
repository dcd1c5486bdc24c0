/**
 * A join whose right side reads columns of the left: it is opened again for every left row, with that row's values as
 * its outer values. With an index on the right this is also the index nested-loop join.
 */
import type { Value } from "../../values/values.js";
import type { Predicate } from "../expr/compile.js";
import type { Batch, ColumnId } from "../expr/expr.js";
import type { JoinPlan } from "../plan/plan.js";
import { outerColumnsOf } from "../plan/walk.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { emptyColumns, joinedBatch } from "./row-buffer.js";
import { compileCondition, slotsOf } from "./slots.js";

interface LateralProgram {
  readonly type: JoinPlan["type"];
  readonly leftWidth: number;
  readonly rightWidth: number;
  readonly condition: Predicate | null;
  /** Columns of the left side that the right side reads, and where they are. */
  readonly handedOver: readonly { readonly id: ColumnId; readonly slot: number }[];
}

export function compileLateralJoin(plan: JoinPlan, left: Open, right: Open): Open {
  const outer = outerColumnsOf(plan.right);
  const program: LateralProgram = {
    type: plan.type,
    leftWidth: plan.left.columns.length,
    rightWidth: plan.right.columns.length,
    condition: compileCondition(plan.condition, slotsOf([...plan.left.columns, ...plan.right.columns])),
    handedOver: plan.left.columns.map(({ id }, slot) => ({ id, slot })).filter(({ id }) => outer.has(id)),
  };
  return (context) => new LateralJoinOperator(program, left(context), right, context);
}

class LateralJoinOperator implements Operator {
  private readonly outer: Map<ColumnId, Value>;
  /** The right side's context: ours, with the current left row's values. */
  private readonly inner: ExecContext;
  private readonly out: Value[][];
  private readonly view: Batch;
  private length = 0;
  private leftBatch: Batch | null = null;
  private leftRow = 0;
  private matched = false;
  private rightOperator: Operator | null = null;
  private rightBatch: Batch | null = null;
  private rightRow = 0;

  constructor(
    private readonly program: LateralProgram,
    private readonly left: Operator,
    private readonly right: Open,
    private readonly context: ExecContext,
  ) {
    this.outer = new Map(context.outer);
    this.inner = { ...context, outer: this.outer };
    this.out = emptyColumns(program.leftWidth + program.rightWidth);
    this.view = { columns: this.out, length: 0 };
  }

  next(): Pulled {
    for (;;) {
      if (this.length === this.context.batchRows) return this.take();
      if (this.leftBatch === null) {
        const batch = this.left.next();
        if (batch instanceof Promise) return batch.then((arrived) => this.goOn(this.acceptLeft(arrived)));
        if (!this.acceptLeft(batch)) return this.end();
      } else if (this.leftRow === this.leftBatch.length) {
        this.leftBatch = null;
        if (this.length > 0) return this.take();
      } else if (this.rightBatch === null) {
        this.rightOperator ??= this.openRight();
        const batch = this.rightOperator.next();
        if (batch instanceof Promise) return batch.then((arrived) => this.goOn(this.acceptRight(arrived)));
        this.acceptRight(batch);
      } else {
        this.joinRightBatch();
      }
    }
  }

  private goOn(more: boolean): Pulled {
    return more ? this.next() : this.end();
  }

  private end(): Pulled {
    return this.length > 0 ? this.take() : null;
  }

  /** False at the end of the left side. */
  private acceptLeft(batch: Batch | null): boolean {
    if (batch === null) return false;
    this.leftBatch = batch;
    this.leftRow = 0;
    this.context.statement.rowsAtWork = batch.length;
    this.matched = false;
    return true;
  }

  private openRight(): Operator {
    for (const { id, slot } of this.program.handedOver) {
      this.outer.set(id, this.leftBatch!.columns[slot]![this.leftRow]!);
    }
    return this.right(this.inner);
  }

  private acceptRight(batch: Batch | null): true {
    this.rightBatch = batch;
    this.rightRow = 0;
    if (batch === null) this.endLeftRow();
    return true;
  }

  private endLeftRow(): void {
    const { type, leftWidth, rightWidth } = this.program;
    this.rightOperator?.close();
    this.rightOperator = null;
    this.rightBatch = null;
    if (!this.matched && (type === "left" || type === "anti")) {
      this.writeLeft();
      if (type === "left") for (let c = 0; c < rightWidth; c++) this.out[leftWidth + c]![this.length] = null;
      this.length++;
    }
    this.leftRow++;
    this.matched = false;
  }

  /** Joins the current left row with the rest of the right batch, as far as the output has room. */
  private joinRightBatch(): void {
    const { program, context, out } = this;
    const { type, leftWidth, rightWidth, condition } = program;
    const batch = this.rightBatch!;
    while (this.rightRow < batch.length) {
      if (this.length === context.batchRows) return;
      const row = this.rightRow++;
      this.writeLeft();
      for (let c = 0; c < rightWidth; c++) out[leftWidth + c]![this.length] = batch.columns[c]![row]!;
      if (condition !== null && !condition(this.view, this.length, context)) continue;
      this.matched = true;
      if (type !== "anti") this.length++;
      if (type === "semi" || type === "anti") {
        this.endLeftRow();
        return;
      }
    }
    this.rightBatch = null;
  }

  private writeLeft(): void {
    const left = this.leftBatch!;
    for (let c = 0; c < this.program.leftWidth; c++) this.out[c]![this.length] = left.columns[c]![this.leftRow]!;
  }

  private take(): Batch {
    const batch = joinedBatch(this.out, this.length, this.program.type, this.program.leftWidth);
    this.length = 0;
    return batch;
  }

  close(): void {
    this.rightOperator?.close();
    this.rightOperator = null;
    this.left.close();
  }
}
