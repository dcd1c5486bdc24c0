/**
 * A join on any condition, or none: every right row (held in memory) is tried with every left row.
 *
 * The join can stop between any two pairs, to give the actor's loop a turn or because its output batch is full; all it
 * needs to go on is in its fields.
 */
import type { Value } from "../../values/values.js";
import type { Predicate } from "../expr/compile.js";
import type { Batch } from "../expr/expr.js";
import type { JoinPlan, JoinType } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { drain, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns, joinedBatch, RowBuffer } from "./row-buffer.js";
import { compileCondition, slotsOf } from "./slots.js";

interface JoinProgram {
  readonly type: JoinType;
  readonly leftWidth: number;
  readonly rightWidth: number;
  /** On left and right columns side by side; null: every pair matches. */
  readonly condition: Predicate | null;
}

export function compileNestedLoopJoin(plan: JoinPlan, left: Open, right: Open): Open {
  const program: JoinProgram = {
    type: plan.type,
    leftWidth: plan.left.columns.length,
    rightWidth: plan.right.columns.length,
    condition: compileCondition(plan.condition, slotsOf([...plan.left.columns, ...plan.right.columns])),
  };
  return (context) => {
    const rows = new RowBuffer(plan.right.columns, context);
    return new NestedLoopJoinOperator(program, left(context), right(context), rows, context);
  };
}

/** Candidates between two looks at the clock. */
const CANDIDATES_PER_TURN_CHECK = 1024;

class NestedLoopJoinOperator implements Operator {
  private built = false;
  private readonly out: Value[][];
  /** What the condition sees: the pair being tried, at the end of the output. */
  private readonly view: Batch;
  private length = 0;
  private leftBatch: Batch | null = null;
  private leftRow = 0;
  private candidate = -1;
  private leftMatched = false;
  /** Per right row, for right and full joins. */
  private readonly rightMatched: boolean[] = [];
  private unmatchedFrom = -1;
  private budget = CANDIDATES_PER_TURN_CHECK;

  constructor(
    private readonly program: JoinProgram,
    private readonly left: Operator,
    private readonly right: Operator,
    private readonly rightRows: RowBuffer,
    private readonly context: ExecContext,
  ) {
    this.out = emptyColumns(program.leftWidth + program.rightWidth);
    this.view = { columns: this.out, length: 0 };
  }

  next(): Pulled {
    if (this.built) return this.produce();
    const { rightRows, program } = this;
    const { type } = program;
    const keepsRight = type === "right" || type === "full";
    return drain(
      this.right,
      (batch) => {
        const first = rightRows.length;
        rightRows.append(batch);
        if (keepsRight) for (let row = first; row < rightRows.length; row++) this.rightMatched.push(false);
      },
      () => {
        this.built = true;
        // Without right rows these types have no result, whatever the left side holds.
        if (rightRows.length === 0 && type !== "left" && type !== "full" && type !== "anti") return null;
        return this.produce();
      },
    );
  }

  private produce(): Pulled {
    for (;;) {
      if (this.unmatchedFrom >= 0) return this.unmatchedRight();
      if (this.leftBatch === null) {
        const batch = this.left.next();
        if (batch instanceof Promise) {
          return batch.then((arrived) => {
            const end = this.accept(arrived);
            return end === undefined ? this.produce() : end;
          });
        }
        const end = this.accept(batch);
        if (end !== undefined) return end;
      } else if (this.joinBatch()) {
        this.leftBatch = null;
      } else if (this.length === this.context.batchRows) {
        return this.take();
      } else if (this.context.shouldYield()) {
        return this.context.yieldTurn().then(() => this.produce());
      }
    }
  }

  /** The next left batch or, if there is none, the remaining output. */
  private accept(batch: Batch | null): Pulled | undefined {
    if (batch !== null) {
      this.leftBatch = batch;
      this.leftRow = 0;
      this.candidate = -1;
      this.startRow();
      return undefined;
    }
    if (this.program.type === "right" || this.program.type === "full") {
      this.unmatchedFrom = 0;
      return this.unmatchedRight();
    }
    return this.length > 0 ? this.take() : null;
  }

  private startRow(): void {
    this.leftMatched = false;
    if (this.leftRow < this.leftBatch!.length) this.candidate = this.following(-1);
  }

  /**
   * True when all rows of the left batch are done; false when the output is full or it is time to look at the clock.
   */
  private joinBatch(): boolean {
    const left = this.leftBatch!;
    const { batchRows } = this.context;
    while (this.leftRow < left.length) {
      while (this.candidate >= 0) {
        if (this.length === batchRows) return false;
        if (--this.budget <= 0) {
          this.budget = CANDIDATES_PER_TURN_CHECK;
          this.context.checkpoint();
          return false;
        }
        this.tryCandidate(left);
      }
      if (!this.leftMatched && !this.endUnmatched(left)) return false;
      this.leftRow++;
      this.startRow();
    }
    return true;
  }

  private tryCandidate(left: Batch): void {
    const { program, candidate } = this;
    const { type, condition } = program;
    if (condition !== null || (type !== "semi" && type !== "anti")) {
      this.writePair(left, candidate);
      if (condition !== null && !condition(this.view, this.length, this.context)) {
        this.candidate = this.following(candidate);
        return;
      }
    }
    this.leftMatched = true;
    if (type === "semi" || type === "anti") {
      this.candidate = -1;
      if (type === "anti") return;
      this.writeLeft(left);
      this.length++;
      return;
    }
    if (this.rightMatched.length > 0) this.rightMatched[candidate] = true;
    this.length++;
    this.candidate = this.following(candidate);
  }

  /** Handles a left row without a match; false if the output has no room for it. */
  private endUnmatched(left: Batch): boolean {
    const { type, leftWidth, rightWidth } = this.program;
    if (type !== "left" && type !== "full" && type !== "anti") return true;
    if (this.length === this.context.batchRows) return false;
    this.writeLeft(left);
    if (type !== "anti") for (let c = 0; c < rightWidth; c++) this.out[leftWidth + c]![this.length] = null;
    this.length++;
    return true;
  }

  private writeLeft(left: Batch): void {
    const { out, length, leftRow } = this;
    const width = this.program.leftWidth;
    for (let c = 0; c < width; c++) out[c]![length] = left.columns[c]![leftRow]!;
  }

  private writePair(left: Batch, candidate: number): void {
    this.writeLeft(left);
    const { out, length } = this;
    const { leftWidth, rightWidth } = this.program;
    const right = this.rightRows.columns;
    for (let c = 0; c < rightWidth; c++) out[leftWidth + c]![length] = right[c]![candidate]!;
  }

  private unmatchedRight(): Pulled {
    const { out, rightRows, rightMatched, context } = this;
    const { leftWidth, rightWidth } = this.program;
    while (this.unmatchedFrom < rightRows.length && this.length < context.batchRows) {
      const row = this.unmatchedFrom++;
      if (rightMatched[row]) continue;
      for (let c = 0; c < leftWidth; c++) out[c]![this.length] = null;
      for (let c = 0; c < rightWidth; c++) out[leftWidth + c]![this.length] = rightRows.columns[c]![row]!;
      this.length++;
    }
    return this.length > 0 ? this.take() : null;
  }

  /** The right row to try after this one; −1 when there is none. */
  private following(candidate: number): number {
    return candidate + 1 < this.rightRows.length ? candidate + 1 : -1;
  }

  private take(): Batch {
    const batch = joinedBatch(this.out, this.length, this.program.type, this.program.leftWidth);
    this.length = 0;
    return batch;
  }

  close(): void {
    this.rightRows.release();
    this.left.close();
    this.right.close();
  }
}
