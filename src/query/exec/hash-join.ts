/**
 * An equi-join: the right side goes into a hash table by its keys, and each left row looks up its key. It works on
 * chunks (segments/chunk.ts): only keys and columns of the residual condition are looked at. The pairs that come out
 * are row numbers of both sides, and become values where somebody reads them.
 *
 *   left chunk ── keys ──▶ table ──▶ pairs (row of the chunk, right row) ── residual ──▶ pairs ──▶ chunk of both sides
 *
 * Left rows come out in their order, each with its right rows in theirs. What does not fit into memory goes to disk
 * (spill/spilled-join.ts).
 */
import type { Value } from "../../values/values.js";
import type { Predicate } from "../expr/compile.js";
import type { Batch, Expr } from "../expr/expr.js";
import { columnsOf } from "../expr/walk.js";
import type { HashJoinPlan, JoinType, OutputColumn } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { type JoinKey, type JoinTable, MapTable, NumberTable } from "./join-table.js";
import { areNumbers } from "./number-keys.js";
import { drain, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { rowKeyOf } from "./row-key.js";
import { CHUNK_ROWS, Chunk, chunkOf, type Selection, valuesOfBatch } from "./segments/chunk.js";
import type { Column } from "./segments/column.js";
import { ColumnBuffer, NULLS } from "./segments/column-buffer.js";
import type { WantedKeys } from "./segments/key-set.js";
import { compileAll, compileCondition, slotsOf } from "./slots.js";
import { DEPTH_MAX } from "./spill/partitions.js";
import { type JoinSpill, SpilledJoin } from "./spill/spilled-join.js";
import { canSpill } from "./spill/spilled-rows.js";

/** Right semi and anti joins give the right rows with or without a match, when all left rows have been seen. */
type HashJoinType = JoinType | "right semi" | "right anti";

type TableKind = "numbers" | "map";

interface HashProgram {
  readonly type: HashJoinType;
  readonly leftWidth: number;
  readonly right: readonly OutputColumn[];
  readonly leftKeys: readonly JoinKey[];
  readonly rightKeys: readonly JoinKey[];
  /** On left and right columns side by side; null: every pair matches. */
  readonly condition: Predicate | null;
  readonly conditionSlots: readonly number[];
  readonly tableKind: TableKind;
  readonly makeTable: (kind: TableKind, context: ExecContext) => JoinTable;
  /** Null when the join must stay in memory: somebody relies on the left rows' order, or a column cannot be stored. */
  readonly spill: JoinSpill | null;
}

export function compileHashJoin(plan: HashJoinPlan, left: Open, right: Open): Open {
  if (plan.buildsLeft === true) return compileJoin(turned(plan), `right ${plan.type}` as HashJoinType, right, left);
  return compileJoin(plan, plan.type, left, right);
}

/** A semi or anti join with its sides exchanged: the rows that are asked for are then the right ones. */
function turned(plan: HashJoinPlan): HashJoinPlan {
  const { left, right, leftKeys, rightKeys } = plan;
  return { ...plan, left: right, right: left, leftKeys: rightKeys, rightKeys: leftKeys };
}

function compileJoin(plan: HashJoinPlan, type: HashJoinType, left: Open, right: Open): Open {
  const leftKeys = joinKeys(plan.leftKeys, plan.left.columns);
  const rightKeys = joinKeys(plan.rightKeys, plan.right.columns);
  const leftKeyOf = rowKeyOf(plan.leftKeys.map((key) => key.type));
  const rightKeyOf = rowKeyOf(plan.rightKeys.map((key) => key.type));
  const bothSlots = slotsOf([...plan.left.columns, ...plan.right.columns]);
  const program: HashProgram = {
    type,
    leftWidth: plan.left.columns.length,
    right: plan.right.columns,
    leftKeys,
    rightKeys,
    condition: compileCondition(plan.residual, bothSlots),
    conditionSlots:
      plan.residual === null ? [] : [...columnsOf(plan.residual)].map(bothSlots).filter((slot) => slot >= 0),
    tableKind: areNumbers([...plan.leftKeys, ...plan.rightKeys].map((key) => key.type)) ? "numbers" : "map",
    makeTable: (kind, context) =>
      kind === "numbers"
        ? new NumberTable(rightKeys, leftKeys, context)
        : new MapTable(rightKeys, leftKeys, rightKeyOf, leftKeyOf, context),
    spill: null,
  };
  const open = (from: Operator, to: Operator, context: ExecContext, depth: number): Operator =>
    new HashJoinOperator(whole, from, to, context, depth);
  const whole: HashProgram = { ...program, spill: spillOf(plan, program, leftKeyOf, rightKeyOf, open) };
  return (context) => open(left(context), right(context), context, 0);
}

function joinKeys(exprs: readonly Expr[], columns: readonly OutputColumn[]): readonly JoinKey[] {
  const slotOf = slotsOf(columns);
  return exprs.map((expr) => ({
    slot: expr.kind === "column" ? slotOf(expr.id) : -1,
    slots: [...columnsOf(expr)].map(slotOf).filter((slot) => slot >= 0),
    evaluate: compileAll(expr, slotOf),
  }));
}

function spillOf(
  plan: HashJoinPlan,
  program: HashProgram,
  leftKeyOf: ReturnType<typeof rowKeyOf>,
  rightKeyOf: ReturnType<typeof rowKeyOf>,
  open: JoinSpill["open"],
): JoinSpill | null {
  const leftTypes = plan.left.columns.map((column) => column.type);
  const rightTypes = plan.right.columns.map((column) => column.type);
  if (plan.keepsLeftOrder === true || !canSpill([...leftTypes, ...rightTypes])) return null;
  const keysOf = (keys: readonly JoinKey[], keyOf: typeof leftKeyOf) => (batch: Batch, context: ExecContext) => {
    const values = keys.map((key) => key.evaluate(batch, context, []));
    return (row: number) => keyOf(values, row);
  };
  const leftKeys = keysOf(program.leftKeys, leftKeyOf);
  const rightKeys = keysOf(program.rightKeys, rightKeyOf);
  return { leftTypes, rightTypes, leftKeys, rightKeys, open };
}

/** No right row was tried yet for the current left row. */
const UNTRIED = -2;
/** Pairs tried at a time where a left row needs one match: more of its pairs would be tried in vain. */
const PAIRS_OF_ONE_MATCH = 64;

/** Whether a left row without a match means something. */
const keepsLeft = (type: HashJoinType): boolean => type === "left" || type === "full" || type === "anti";
/** Whether right rows are marked that have a match, and those with a mark or without come at the end. */
const marksRight = (type: HashJoinType): boolean => type === "right" || type === "full" || givesRight(type);
const givesRight = (type: HashJoinType): boolean => type === "right semi" || type === "right anti";

class HashJoinOperator implements Operator {
  private built = false;
  private handsOutChunks = false;
  private readonly rightRows: ColumnBuffer;
  private table: JoinTable;
  private rightVectors: readonly Column[] = [];
  /** The row of NULLs behind the right rows. */
  private nullRow = -1;
  /** Per right row, for right and full joins. */
  private rightMatched = new Uint8Array(0);
  private leftChunk: Chunk | null = null;
  private heads: Int32Array = new Int32Array(0);
  private leftRow = 0;
  private candidate = UNTRIED;
  /** Per row of the left chunk: whether a pair of it passed the condition. */
  private leftMatched = new Uint8Array(0);
  private pairsLeft = new Int32Array(0);
  private pairsRight = new Int32Array(0);
  private vectors: readonly Column[] = [];
  /** What `vectors` were made for: columns of the left side, with those of the right or without. */
  private vectorsOf: readonly Column[] | null = null;
  private vectorsAreBoth = false;
  private readonly composed: Int32Array[] = [];
  private readonly scratch: Value[][];
  private unmatchedFrom = -1;
  private spilled: SpilledJoin | null = null;

  constructor(
    private readonly program: HashProgram,
    private readonly left: Operator,
    private readonly right: Operator,
    private readonly context: ExecContext,
    private readonly depth: number,
  ) {
    this.rightRows = new ColumnBuffer(program.right, context);
    this.table = program.makeTable(program.tableKind, context);
    this.scratch = emptyColumns(program.leftWidth + program.right.length);
    left.acceptChunks?.();
    right.acceptChunks?.();
  }

  acceptChunks(): void {
    this.handsOutChunks = true;
  }

  /** Their rows come out with them. A condition must be asked about all pairs: it may fail. */
  acceptKeys({ slot, keys }: WantedKeys): void {
    const { type, condition, leftWidth } = this.program;
    if (condition !== null || marksRight(type)) return;
    if (slot < leftWidth) this.left.acceptKeys?.({ slot, keys });
    else if (type === "inner") this.right.acceptKeys?.({ slot: slot - leftWidth, keys });
  }

  next(): Pulled {
    if (this.built) return this.spilled === null ? this.produce() : this.spilled.next();
    return drain(
      this.right,
      (batch) => this.addRight(batch),
      () => this.finishRight(),
    );
  }

  private addRight(batch: Batch): void {
    if (this.spilled !== null || this.isFull()) {
      this.spillRight();
      this.spilled!.addRight(valuesOfBatch(batch));
      return;
    }
    const chunk = chunkOf(batch);
    this.rightRows.append(chunk);
    if (!this.table.add(chunk)) this.useMap();
  }

  private isFull(): boolean {
    const { context, rightRows, table, program } = this;
    if (program.spill === null || context.spill === null || this.depth >= DEPTH_MAX) return false;
    return context.statement.isCrowded(rightRows.bytes + table.bytes);
  }

  /** Puts all right rows that have come on disk, if they are not there yet. */
  private spillRight(): void {
    if (this.spilled !== null) return;
    const spilled = new SpilledJoin(this.program.spill!, this.context, this.depth);
    this.spilled = spilled;
    this.eachSlice((chunk) => spilled.addRight(valuesOfBatch(chunk)));
    this.rightRows.clear();
    this.table.release();
  }

  /** A key is no number after all. */
  private useMap(): void {
    this.table.release();
    const table = this.program.makeTable("map", this.context);
    this.table = table;
    this.eachSlice((chunk) => table.add(chunk));
  }

  private eachSlice(take: (chunk: Chunk) => void): void {
    const { rightRows } = this;
    const vectors = rightRows.vectors();
    for (let from = 0; from < rightRows.length; from += CHUNK_ROWS) {
      take(rightRows.slice(vectors, from, Math.min(CHUNK_ROWS, rightRows.length - from)));
    }
  }

  private finishRight(): Pulled {
    const { rightRows, program } = this;
    const { type } = program;
    if (this.spilled !== null) {
      this.built = true;
      return this.spilled.start(this.left);
    }
    while (!rightRows.settle() || !this.table.finish()) {
      if (this.context.shouldYield()) return this.context.yieldTurn().then(() => this.finishRight());
    }
    this.built = true;
    this.nullRow = rightRows.length;
    if (keepsLeft(type)) rightRows.appendNulls();
    if (marksRight(type)) this.rightMatched = new Uint8Array(rightRows.length);
    this.rightVectors = rightRows.vectors();
    // Without right rows these types have no result, whatever the left side holds.
    if (rightRows.length === 0 && !keepsLeft(type)) return null;
    if (!keepsLeft(type)) this.handKeys();
    return this.produce();
  }

  /** The left side learns which of its rows have a partner at all. */
  private handKeys(): void {
    const { left, program } = this;
    const places = program.leftKeys.map(({ slot }) => slot);
    if (left.acceptKeys === undefined || places.every((slot) => slot < 0)) return;
    for (const [k, keys] of this.table.keySets().entries()) {
      if (keys !== null && places[k]! >= 0) left.acceptKeys({ slot: places[k]!, keys });
    }
  }

  private get rowsMax(): number {
    return this.handsOutChunks ? CHUNK_ROWS : this.context.batchRows;
  }

  private produce(): Pulled {
    for (;;) {
      if (this.unmatchedFrom >= 0) return this.unmatchedRight();
      if (this.leftChunk === null) {
        const batch = this.left.next();
        if (batch instanceof Promise) {
          return batch.then((arrived) => (this.accept(arrived) ? this.produce() : null));
        }
        if (!this.accept(batch)) return null;
        continue;
      }
      const made = this.joinMore(this.leftChunk);
      if (this.leftRow === this.leftChunk.length) this.leftChunk = null;
      if (made !== null) return this.handsOutChunks ? made : valuesOfBatch(made);
      this.context.checkpoint();
      if (this.context.shouldYield()) return this.context.yieldTurn().then(() => this.produce());
    }
  }

  /** False when there is nothing more to come. */
  private accept(batch: Batch | null): boolean {
    if (batch !== null) {
      const chunk = chunkOf(batch);
      this.leftChunk = chunk;
      this.heads = this.table.probe(chunk);
      this.leftRow = 0;
      this.candidate = UNTRIED;
      if (this.program.condition !== null) {
        if (this.leftMatched.length < chunk.length) this.leftMatched = new Uint8Array(chunk.length);
        else this.leftMatched.fill(0, 0, chunk.length);
      }
      return true;
    }
    const { type } = this.program;
    if (!marksRight(type)) return false;
    this.unmatchedFrom = 0;
    return true;
  }

  /** Joins some rows of the chunk, from `leftRow` on; null when nothing came of it. */
  private joinMore(left: Chunk): Chunk | null {
    const { condition, type, conditionSlots } = this.program;
    if (givesRight(type) && condition === null) {
      this.markChains(left);
      return null;
    }
    let count = this.pair(left);
    if (count === 0) return null;
    if (condition !== null) {
      const tried = this.chunkOfPairs(left, count, true).only(conditionSlots);
      count = this.filterPairs(condition, tried, count);
      if (count === 0) return null;
    }
    const { rightMatched, pairsRight, nullRow } = this;
    if (marksRight(type)) {
      for (let i = 0; i < count; i++) if (pairsRight[i] !== nullRow) rightMatched[pairsRight[i]!] = 1;
    }
    if (givesRight(type)) return null;
    return this.chunkOfPairs(left, count, type !== "semi" && type !== "anti");
  }

  /** Marks all right rows that have the key of a left row. */
  private markChains(left: Chunk): void {
    const { heads, rightMatched } = this;
    const { nexts } = this.table;
    for (let row = 0; row < left.length; row++) {
      const head = heads[row]!;
      // All rows of a chain are marked at once.
      if (head < 0 || rightMatched[head] === 1) continue;
      for (let right = head; right >= 0; right = nexts[right]!) rightMatched[right] = 1;
    }
    this.leftRow = left.length;
  }

  /**
   * Writes the next pairs of a left row and a right row with its key; answers how many. Where a left row without a
   * match matters, such a row is paired with the row of NULLs: at once, or, with a condition, after its other pairs.
   */
  private pair(left: Chunk): number {
    const { type, condition } = this.program;
    const needsOne = type === "semi" || type === "anti";
    const max = needsOne && condition !== null ? Math.min(PAIRS_OF_ONE_MATCH, this.rowsMax) : this.rowsMax;
    this.makeRoom(Math.min(max, CHUNK_ROWS));
    const { heads, pairsLeft, pairsRight, nullRow, leftMatched, rightMatched } = this;
    const wantsUnmatched = givesRight(type);
    const { nexts } = this.table;
    const onlyFirst = needsOne && condition === null;
    const skipsAll = type === "anti" && condition === null;
    let count = 0;
    let row = this.leftRow;
    let candidate = this.candidate;
    if (needsOne && condition !== null && candidate >= 0 && leftMatched[row] === 1) candidate = -1;
    for (; row < left.length; row++, candidate = UNTRIED) {
      const head = heads[row]!;
      if (candidate === UNTRIED) candidate = skipsAll ? -1 : head;
      while (candidate >= 0 && count < max) {
        if (!wantsUnmatched || rightMatched[candidate] === 0) {
          pairsLeft[count] = row;
          pairsRight[count++] = candidate;
        }
        candidate = onlyFirst ? -1 : nexts[candidate]!;
      }
      if (candidate >= 0) break;
      if (keepsLeft(type) && (head < 0 || condition !== null)) {
        if (count === max) break;
        pairsLeft[count] = row;
        pairsRight[count++] = nullRow;
      } else if (count === max) {
        row++;
        candidate = UNTRIED;
        break;
      }
    }
    this.leftRow = row;
    this.candidate = candidate;
    return count;
  }

  private makeRoom(pairs: number): void {
    if (this.pairsLeft.length >= pairs) return;
    this.pairsLeft = new Int32Array(pairs);
    this.pairsRight = new Int32Array(pairs);
  }

  /** Keeps the resulting pairs: those that pass, and pairs with NULLs for left rows without any. */
  private filterPairs(condition: Predicate, tried: Batch, count: number): number {
    const { pairsLeft, pairsRight, leftMatched, nullRow, context } = this;
    const { type } = this.program;
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const row = pairsLeft[i]!;
      const right = pairsRight[i]!;
      let comesOut: boolean;
      if (right === nullRow) comesOut = leftMatched[row] === 0;
      else if ((type === "semi" || type === "anti") && leftMatched[row] === 1) comesOut = false;
      else {
        comesOut = condition(tried, i, context);
        if (comesOut) leftMatched[row] = 1;
        if (type === "anti") comesOut = false;
      }
      pairsLeft[kept] = row;
      pairsRight[kept] = right;
      if (comesOut) kept++;
    }
    return kept;
  }

  private chunkOfPairs(left: Chunk, count: number, withRight: boolean): Chunk {
    const { program, rightVectors } = this;
    if (this.vectorsOf !== left.vectors || this.vectorsAreBoth !== withRight) {
      this.vectorsOf = left.vectors;
      this.vectorsAreBoth = withRight;
      this.vectors = withRight ? [...left.vectors, ...rightVectors] : left.vectors;
    }
    const selections = new Array<Selection>(this.vectors.length);
    let before: Selection | null = null;
    let parts = 0;
    for (let slot = 0; slot < program.leftWidth; slot++) {
      const selection: Selection = left.selections[slot]!;
      // Neighbouring columns come from one table, mostly.
      if (selection === before) selections[slot] = selections[slot - 1]!;
      else selections[slot] = { rows: this.compose(selection, count, parts++), from: 0 };
      before = selection;
    }
    if (withRight) selections.fill({ rows: this.pairsRight, from: 0 }, program.leftWidth);
    return new Chunk(this.vectors, selections, count, this.scratch);
  }

  /** The rows that a selection of the left chunk means for the pairs. */
  private compose({ rows, from }: Selection, count: number, part: number): Int32Array {
    const { pairsLeft } = this;
    let out = this.composed[part];
    if (out === undefined || out.length < count) {
      out = new Int32Array(pairsLeft.length);
      this.composed[part] = out;
    }
    if (rows === null) for (let i = 0; i < count; i++) out[i] = from + pairsLeft[i]!;
    else for (let i = 0; i < count; i++) out[i] = rows[pairsLeft[i]!]!;
    return out;
  }

  /** Right rows without a match (of a right semi join: with one), after the last left row. */
  private unmatchedRight(): Pulled {
    const { rightMatched, rightRows, program, rightVectors } = this;
    this.makeRoom(this.rowsMax);
    const { pairsRight, pairsLeft, rowsMax } = this;
    const wanted = program.type === "right semi" ? 1 : 0;
    let count = 0;
    while (this.unmatchedFrom < rightRows.length && count < rowsMax) {
      const row = this.unmatchedFrom++;
      if (rightMatched[row] === wanted) pairsRight[count++] = row;
    }
    if (count === 0) return null;
    pairsLeft.fill(0, 0, count);
    const leftWidth = givesRight(program.type) ? 0 : program.leftWidth;
    const vectors = [...new Array<Column>(leftWidth).fill(NULLS), ...rightVectors];
    const selections = new Array<Selection>(vectors.length).fill({ rows: pairsLeft, from: 0 }, 0, leftWidth);
    selections.fill({ rows: pairsRight, from: 0 }, leftWidth);
    const chunk = new Chunk(vectors, selections, count, this.scratch);
    return this.handsOutChunks ? chunk : valuesOfBatch(chunk);
  }

  close(): void {
    this.spilled?.close();
    this.table.release();
    this.rightRows.clear();
    this.left.close();
    this.right.close();
  }
}
