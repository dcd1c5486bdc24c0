/**
 * What hash and nested-loop joins share: for each left row the candidates among the right rows (held in memory), the
 * condition on each pair, and what the join type makes of rows with and without a match. Where the candidates come
 * from is the `Matcher`'s business.
 *
 * The join can stop between any two candidates, to give the actor's loop a turn or because its output batch is full;
 * all it needs to go on is in its fields.
 */
import type { Value } from "../../protocol/values.js";
import type { Predicate } from "../expr/compile.js";
import type { Batch } from "../expr/expr.js";
import type { JoinType } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { drain, type Operator, type Pulled } from "./operator.js";
import { emptyColumns, type RowBuffer } from "./row-buffer.js";
import { DEPTH_MAX } from "./spill/partitions.js";
import { type JoinSpill, SpilledJoin } from "./spill/spilled-join.js";

/** Finds right rows for left rows. −1: there is no (further) one. */
export interface Matcher {
  /** Takes note of right rows that are being appended to the buffer, the first of them as row `first`. */
  build(batch: Batch, first: number): void;
  /** Called once per left batch, before its rows. */
  probe(batch: Batch): void;
  first(row: number): number;
  following(candidate: number): number;
  /** Memory of its own. */
  readonly bytes: number;
  /** Forgets everything and gives its memory back. */
  release(): void;
}

/** Right semi and anti joins give the right rows with or without a match, once, when all left rows have been seen. */
export type JoinRowsType = JoinType | "right semi" | "right anti";

export interface JoinProgram {
  readonly type: JoinRowsType;
  readonly leftWidth: number;
  readonly rightWidth: number;
  /** On left and right columns side by side; null: every candidate matches. */
  readonly condition: Predicate | null;
}

/** Whether right rows are handed on after the last left row. */
function endsWithRight(type: JoinRowsType): boolean {
  return type === "right" || type === "full" || type === "right semi" || type === "right anti";
}

/** Candidates between two looks at the clock. */
const CANDIDATES_PER_TURN_CHECK = 1024;

export class JoinOperator implements Operator {
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
  private spilled: SpilledJoin | null = null;

  constructor(
    private readonly program: JoinProgram,
    private readonly left: Operator,
    private readonly right: Operator,
    private readonly rightRows: RowBuffer,
    private readonly matcher: Matcher,
    private readonly context: ExecContext,
    /** Null: the right rows must fit into memory. */
    private readonly spill: JoinSpill | null = null,
    private readonly depth = 0,
  ) {
    this.out = emptyColumns(program.leftWidth + program.rightWidth);
    this.view = { columns: this.out, length: 0 };
  }

  next(): Pulled {
    if (this.built) return this.spilled === null ? this.produce() : this.spilled.next();
    const { rightRows, matcher, program } = this;
    const keepsRight = endsWithRight(program.type);
    return drain(
      this.right,
      (batch) => {
        if (this.spilled !== null || this.isFull()) {
          this.spillRight(batch);
          return;
        }
        const first = rightRows.length;
        rightRows.append(batch);
        matcher.build(batch, first);
        if (keepsRight) for (let row = first; row < rightRows.length; row++) this.rightMatched.push(false);
      },
      () => {
        this.built = true;
        if (this.spilled !== null) return this.spilled.start(this.left);
        const { type } = program;
        // Without right rows these types have no result, whatever the left side holds.
        if (rightRows.length === 0 && type !== "left" && type !== "full" && type !== "anti") return null;
        return this.produce();
      },
    );
  }

  private isFull(): boolean {
    const { context, rightRows, matcher } = this;
    if (this.spill === null || context.spill === null || this.depth >= DEPTH_MAX) return false;
    return context.statement.isCrowded(rightRows.bytes + matcher.bytes);
  }

  /** Puts the batch on disk, and at the first time all right rows that came before it. */
  private spillRight(batch: Batch): void {
    if (this.spilled === null) {
      this.spilled = new SpilledJoin(this.spill!, this.context, this.depth);
      this.spilled.addRight(this.rightRows);
      this.rightRows.clear();
      this.rightMatched.length = 0;
      this.matcher.release();
    }
    this.spilled.addRight(batch);
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

  /** The next left batch, or, when there is none, what is left to hand on. */
  private accept(batch: Batch | null): Pulled | undefined {
    if (batch !== null) {
      this.leftBatch = batch;
      this.leftRow = 0;
      this.candidate = -1;
      this.matcher.probe(batch);
      this.startRow();
      return undefined;
    }
    if (endsWithRight(this.program.type)) {
      this.unmatchedFrom = 0;
      return this.unmatchedRight();
    }
    return this.length > 0 ? this.take() : null;
  }

  private startRow(): void {
    this.leftMatched = false;
    if (this.leftRow < this.leftBatch!.length) this.candidate = this.matcher.first(this.leftRow);
  }

  /** True when all rows of the left batch are done; false when the output is full or it is time to look at the clock. */
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
    if (type === "right semi" || type === "right anti") {
      this.markCandidate(left);
      return;
    }
    if (condition !== null || (type !== "semi" && type !== "anti")) {
      this.writePair(left, candidate);
      if (condition !== null && !condition(this.view, this.length, this.context)) {
        this.candidate = this.matcher.following(candidate);
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
    this.candidate = this.matcher.following(candidate);
  }

  /** Right rows that have a match already need no further one. */
  private markCandidate(left: Batch): void {
    const { candidate, rightMatched, program } = this;
    if (!rightMatched[candidate]) {
      if (program.condition !== null) this.writePair(left, candidate);
      rightMatched[candidate] = program.condition === null || program.condition(this.view, this.length, this.context);
    }
    this.candidate = this.matcher.following(candidate);
  }

  /** What becomes of a left row without a match; false when the output has no room for it. */
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
    const { leftWidth, rightWidth, type } = this.program;
    const wanted = type === "right semi";
    while (this.unmatchedFrom < rightRows.length && this.length < context.batchRows) {
      const row = this.unmatchedFrom++;
      if (rightMatched[row] !== wanted) continue;
      for (let c = 0; c < leftWidth; c++) out[c]![this.length] = null;
      for (let c = 0; c < rightWidth; c++) out[leftWidth + c]![this.length] = rightRows.columns[c]![row]!;
      this.length++;
    }
    return this.length > 0 ? this.take() : null;
  }

  private take(): Batch {
    const batch = { columns: this.columnsOut(), length: this.length };
    this.length = 0;
    return batch;
  }

  private columnsOut(): Value[][] {
    const { type, leftWidth } = this.program;
    if (type === "semi" || type === "anti") return this.out.slice(0, leftWidth);
    return type === "right semi" || type === "right anti" ? this.out.slice(leftWidth) : this.out;
  }

  close(): void {
    this.spilled?.close();
    this.matcher.release();
    this.rightRows.release();
    this.left.close();
    this.right.close();
  }
}
