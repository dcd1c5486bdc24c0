/**
 * Pairs of rows whose embeddings are similar (query/plan/similar-pairs.ts), found exactly: some left rows at a time are held
 * in memory, with the directions of their embeddings side by side, and all right rows pass by. Single precision tells
 * most pairs; where it is not sure the condition is asked. Right rows are read once for each block of left rows.
 */
import type { Value } from "../../values/values.js";
import { bytesOfBlock, VectorBlock } from "../../vector/vector-block.js";
import type { Predicate } from "../expr/compile.js";
import { compileExpr } from "../expr/compile.js";
import { directionOf, SIMILARITY_SLACK, thresholdOf } from "../expr/cypher/similarity.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import type { JoinPlan, JoinType } from "../plan/plan.js";
import type { SimilarPairs } from "../plan/similar-pairs.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { emptyColumns, joinedBatch, RowBuffer } from "./row-buffer.js";
import { compileCondition, slotsOf } from "./slots.js";

/** Left rows of a block, fewer where vectors are long. */
const BLOCK_ROWS = 1024;
const BLOCK_BYTES = 8 * 2 ** 20;
/** Right rows between two looks at the clock. */
const ROWS_PER_TURN_CHECK = 8;

interface SimilarJoinProgram {
  readonly type: JoinType;
  readonly leftWidth: number;
  readonly rightWidth: number;
  readonly left: Evaluate;
  readonly right: Evaluate;
  readonly threshold: Evaluate;
  /** On left and right columns side by side. */
  readonly condition: Predicate;
  readonly rest: Predicate | null;
}

export function compileSimilarJoin(plan: JoinPlan, pairs: SimilarPairs, left: Open, right: Open): Open {
  const both = slotsOf([...plan.left.columns, ...plan.right.columns]);
  const ofLeft = slotsOf(plan.left.columns);
  const program: SimilarJoinProgram = {
    type: plan.type,
    leftWidth: plan.left.columns.length,
    rightWidth: plan.right.columns.length,
    left: compileExpr(pairs.left, ofLeft),
    right: compileExpr(pairs.right, slotsOf(plan.right.columns)),
    threshold: compileExpr(pairs.threshold, ofLeft),
    condition: compileCondition(pairs.condition, both)!,
    rest: compileCondition(pairs.rest, both),
  };
  return (context) => {
    const rows = new RowBuffer(plan.left.columns, context);
    return new SimilarJoinOperator(program, left(context), right, rows, context);
  };
}

/** Left rows whose embeddings have one length. */
interface Vectors {
  readonly block: VectorBlock;
  readonly bytes: number;
  /** By number in the block: the left row, and the least similarity that it wants. */
  readonly rows: number[];
  readonly thresholds: number[];
}

class SimilarJoinOperator implements Operator {
  private readonly out: Value[][];
  /** What conditions see: the pair being tried, at the end of the output. */
  private readonly view: Batch;
  private length = 0;
  private leftBatch: Batch | null = null;
  private leftRow = 0;
  private leftEnded = false;
  /** By length. */
  private readonly vectors = new Map<number, Vectors>();
  private readonly matched: boolean[] = [];
  /** Reads the right rows for the block; null: the block is being filled, or its unmatched rows are handed on. */
  private right: Operator | null = null;
  private rightBatch: Batch | null = null;
  private rightRow = 0;
  /** Of the right row: pairs that single precision finds, and where in them we are. */
  private readonly candidates: number[] = [];
  private readonly isSure: boolean[] = [];
  /** −1: they have not been looked for. */
  private candidate = -1;
  private unmatchedFrom = -1;

  constructor(
    private readonly program: SimilarJoinProgram,
    private readonly left: Operator,
    private readonly openRight: Open,
    private readonly rows: RowBuffer,
    private readonly context: ExecContext,
  ) {
    this.out = emptyColumns(program.leftWidth + program.rightWidth);
    this.view = { columns: this.out, length: 0 };
  }

  next(): Pulled {
    for (;;) {
      if (this.length === this.context.batchRows) return this.take();
      if (this.right !== null) {
        const pulled = this.joinRight(this.right);
        if (pulled !== undefined) return pulled;
      } else if (this.unmatchedFrom >= 0) {
        this.handOnUnmatched();
      } else {
        const pulled = this.fillBlock();
        if (pulled !== undefined) return pulled;
      }
    }
  }

  // ---- left rows ----

  /** Undefined: there is a block to be joined, or more to be done for it. */
  private fillBlock(): Pulled | undefined {
    if (this.leftBatch === null && !this.leftEnded) {
      const batch = this.left.next();
      if (batch instanceof Promise) {
        return batch.then((arrived) => {
          this.acceptLeft(arrived);
          return this.next();
        });
      }
      this.acceptLeft(batch);
    }
    if (this.leftBatch !== null) {
      this.takeRows(this.leftBatch);
      if (this.leftBatch === null && this.rows.length < BLOCK_ROWS) return undefined;
    }
    if (this.rows.length === 0) return this.length > 0 ? this.take() : null;
    for (let row = 0; row < this.rows.length; row++) this.matched[row] = false;
    if (this.vectors.size > 0) this.right = this.openRight(this.context);
    else this.unmatchedFrom = 0;
    return undefined;
  }

  private acceptLeft(batch: Batch | null): void {
    this.leftBatch = batch;
    this.leftRow = 0;
    this.leftEnded = batch === null;
  }

  /** Until the block is full. */
  private takeRows(batch: Batch): void {
    const { program, context, rows } = this;
    const from = this.leftRow;
    const first = rows.length;
    let isFull = false;
    while (this.leftRow < batch.length && first + this.leftRow - from < BLOCK_ROWS && !isFull) {
      const direction = directionOf(program.left(batch, this.leftRow, context));
      const threshold = direction && thresholdOf(program.threshold(batch, this.leftRow, context));
      if (direction !== null && threshold !== null) {
        const vectors = this.vectorsOf(direction.length);
        isFull = vectors.block.length + 1 === rowsOf(direction.length);
        vectors.block.add(direction);
        vectors.rows.push(first + this.leftRow - from);
        vectors.thresholds.push(threshold);
      }
      this.leftRow++;
    }
    const taken = {
      length: this.leftRow - from,
      columns: batch.columns.map((column) => slice(column, from, this.leftRow)),
    };
    rows.append(taken);
    if (this.leftRow === batch.length) this.leftBatch = null;
  }

  private vectorsOf(dimensions: number): Vectors {
    let vectors = this.vectors.get(dimensions);
    if (vectors === undefined) {
      const rowsMax = rowsOf(dimensions);
      const bytes = bytesOfBlock(dimensions, rowsMax);
      this.context.statement.reserve(bytes);
      vectors = { block: new VectorBlock(dimensions, rowsMax), bytes, rows: [], thresholds: [] };
      this.vectors.set(dimensions, vectors);
    }
    return vectors;
  }

  private endBlock(): void {
    this.unmatchedFrom = -1;
    this.rows.clear();
    for (const vectors of this.vectors.values()) this.context.statement.release(vectors.bytes);
    this.vectors.clear();
  }

  // ---- right rows ----

  /** Undefined: go on. */
  private joinRight(right: Operator): Pulled | undefined {
    if (this.rightBatch === null) {
      const batch = right.next();
      if (batch instanceof Promise) {
        return batch.then((arrived) => {
          this.acceptRight(arrived);
          return this.next();
        });
      }
      this.acceptRight(batch);
      return undefined;
    }
    const { context } = this;
    while (this.rightRow < this.rightBatch.length) {
      if (!this.joinRow(this.rightBatch)) return undefined;
      this.rightRow++;
      this.candidate = -1;
      if (this.rightRow % ROWS_PER_TURN_CHECK !== 0) continue;
      context.checkpoint();
      if (context.shouldYield()) return context.yieldTurn().then(() => this.next());
    }
    this.rightBatch = null;
    return undefined;
  }

  private acceptRight(batch: Batch | null): void {
    this.rightBatch = batch;
    this.rightRow = 0;
    if (batch !== null) return;
    this.right?.close();
    this.right = null;
    this.unmatchedFrom = 0;
  }

  /** False: the output is full. */
  private joinRow(batch: Batch): boolean {
    if (this.candidate < 0) this.findCandidates(batch);
    const { candidates, context, program } = this;
    for (; this.candidate < candidates.length; this.candidate++) {
      if (this.length === context.batchRows) return false;
      const row = candidates[this.candidate]!;
      if (program.type !== "inner" && program.type !== "left" && this.matched[row]) continue;
      this.writePair(row, batch);
      if (!this.isSure[this.candidate] && !program.condition(this.view, this.length, context)) continue;
      if (program.rest !== null && !program.rest(this.view, this.length, context)) continue;
      this.matched[row] = true;
      if (program.type !== "anti") this.length++;
    }
    return true;
  }

  private findCandidates(batch: Batch): void {
    this.candidate = 0;
    this.candidates.length = 0;
    const direction = directionOf(this.program.right(batch, this.rightRow, this.context));
    const vectors = direction && this.vectors.get(direction.length);
    if (direction === null || vectors == null) return;
    const { candidates, isSure } = this;
    const { block, rows, thresholds } = vectors;
    let least = Number.POSITIVE_INFINITY;
    for (const threshold of thresholds) if (threshold < least) least = threshold;
    block.above(direction, least - SIMILARITY_SLACK, (number, product) => {
      const threshold = thresholds[number]!;
      if (product < threshold - SIMILARITY_SLACK) return;
      isSure[candidates.length] = product > threshold + SIMILARITY_SLACK;
      candidates.push(rows[number]!);
    });
  }

  // ---- output ----

  private writePair(row: number, right: Batch): void {
    const { out, length, rows } = this;
    const { leftWidth, rightWidth } = this.program;
    for (let c = 0; c < leftWidth; c++) out[c]![length] = rows.columns[c]![row]!;
    for (let c = 0; c < rightWidth; c++) out[leftWidth + c]![length] = right.columns[c]![this.rightRow]!;
  }

  /** Left rows without a partner, where the join hands them on. */
  private handOnUnmatched(): void {
    const { out, rows, matched, context } = this;
    const { type, leftWidth, rightWidth } = this.program;
    const isWanted = type === "left" || type === "anti";
    while (isWanted && this.unmatchedFrom < rows.length && this.length < context.batchRows) {
      const row = this.unmatchedFrom++;
      if (matched[row]) continue;
      for (let c = 0; c < leftWidth; c++) out[c]![this.length] = rows.columns[c]![row]!;
      for (let c = 0; c < rightWidth; c++) out[leftWidth + c]![this.length] = null;
      this.length++;
    }
    if (!isWanted || this.unmatchedFrom === rows.length) this.endBlock();
  }

  private take(): Batch {
    const batch = joinedBatch(this.out, this.length, this.program.type, this.program.leftWidth);
    this.length = 0;
    return batch;
  }

  close(): void {
    this.endBlock();
    this.rows.release();
    this.right?.close();
    this.left.close();
  }
}

/** Vectors of so many numbers in a block. */
function rowsOf(dimensions: number): number {
  return Math.max(16, Math.min(BLOCK_ROWS, Math.floor(BLOCK_BYTES / (4 * dimensions))));
}

function slice(column: ArrayLike<Value>, from: number, to: number): ArrayLike<Value> {
  return Array.prototype.slice.call(column, from, to);
}
