/**
 * An equi-join of two inputs that come in the order of its keys: each is read once, side by side, and the join holds no
 * more than the right rows of one key (Blasgen and Eswaran, "Storage and access in relational data bases", IBM Systems
 * Journal 16, 1977). Compiled by compile-plan.ts; `optimize/merge-order.ts` sees to the order of the inputs.
 *
 *   seek ──equal keys──▶ gather the right rows of the key ──▶ pair them with each left row of the key ──▶ seek
 *
 * Rows come out in the order of the keys; left rows in their own, where only they or rows with them come out. A NULL
 * key equals nothing: such rows come out alone, where the order has them.
 */
import type { Value } from "../../values/values.js";
import { type Comparator, sortComparator } from "../expr/compare.js";
import type { Predicate } from "../expr/compile.js";
import type { Batch, Expr } from "../expr/expr.js";
import type { JoinType, MergeJoinPlan, OutputColumn } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import type { Open, Operator, Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { RowGroup } from "./row-group.js";
import { FIRST_BATCH_ROWS } from "./scan.js";
import { compileCondition, slotsOf } from "./slots.js";

interface MergeJoinProgram {
  readonly type: JoinType;
  readonly leftWidth: number;
  readonly right: readonly OutputColumn[];
  readonly leftSlots: readonly number[];
  readonly rightSlots: readonly number[];
  /** By key: how the rows of both sides are ordered, NULLs included. */
  readonly comparators: readonly Comparator[];
  /** On left and right columns side by side; null: every pair matches. */
  readonly condition: Predicate | null;
}

export function compileMergeJoin(plan: MergeJoinPlan, left: Open, right: Open): Open {
  const program: MergeJoinProgram = {
    type: plan.type,
    leftWidth: plan.left.columns.length,
    right: plan.right.columns,
    leftSlots: plan.leftKeys.map((key) => slotIn(plan.left.columns, key)),
    rightSlots: plan.rightKeys.map((key) => slotIn(plan.right.columns, key)),
    comparators: plan.leftKeys.map((key, i) => {
      const { descending, nullsFirst } = plan.directions[i]!;
      return sortComparator(key.type, descending, nullsFirst);
    }),
    condition: compileCondition(plan.residual, slotsOf([...plan.left.columns, ...plan.right.columns])),
  };
  return (context) => new MergeJoinOperator(program, left(context), right(context), context);
}

function slotIn(columns: readonly OutputColumn[], key: Expr): number {
  if (key.kind !== "column") throw new Error("a merge join is by columns");
  return slotsOf(columns)(key.id);
}

/** An input, and its row that is next. */
class Side {
  batch: Batch | null = null;
  row = 0;
  ended = false;
  keys: readonly ArrayLike<Value>[] = [];

  constructor(
    readonly input: Operator,
    private readonly slots: readonly number[],
  ) {}

  /** Gets the next batch, when the last one has been gone through. */
  pull(): void | Promise<void> {
    const batch = this.input.next();
    if (batch instanceof Promise) return batch.then((arrived) => this.accept(arrived));
    this.accept(batch);
  }

  private accept(batch: Batch | null): void {
    this.batch = batch;
    this.row = 0;
    if (batch === null) this.ended = true;
    else this.keys = this.slots.map((slot) => batch.columns[slot]!);
  }

  /** To the row with this number, or past the batch. */
  goTo(row: number): void {
    this.row = row;
    if (row === this.batch!.length) this.batch = null;
  }

  get needsRows(): boolean {
    return this.batch === null && !this.ended;
  }

  hasNull(): boolean {
    for (let k = 0; k < this.keys.length; k++) if (this.keys[k]![this.row] === null) return true;
    return false;
  }
}

type Phase = "seek" | "gather" | "pair" | "next left" | "left over";

/** Steps between two looks at the clock. */
const STEPS_PER_TURN_CHECK = 1024;

class MergeJoinOperator implements Operator {
  private phase: Phase = "seek";
  private readonly left: Side;
  private readonly right: Side;
  private readonly group: RowGroup;
  /** Of the group: one value per key. */
  private groupKey: Value[] = [];
  private leftMatched = false;
  /** Per row of the group, where right rows without a match come out and a condition may refuse pairs. */
  private rightMatched = new Uint8Array(0);
  private readonly out: Value[][];
  /** What the condition sees: the pair being tried, at the end of the output. */
  private readonly view: Batch;
  private length = 0;
  private size: number;
  private budget = STEPS_PER_TURN_CHECK;
  private readonly keepsLeft: boolean;
  private readonly keepsRight: boolean;
  /** Only left rows come out. */
  private readonly isHalf: boolean;

  constructor(
    private readonly program: MergeJoinProgram,
    left: Operator,
    right: Operator,
    private readonly context: ExecContext,
  ) {
    const { type } = program;
    this.left = new Side(left, program.leftSlots);
    this.right = new Side(right, program.rightSlots);
    this.group = new RowGroup(program.right, context);
    this.out = emptyColumns(program.leftWidth + program.right.length);
    this.view = { columns: this.out, length: 0 };
    this.keepsLeft = type === "left" || type === "full" || type === "anti";
    this.keepsRight = type === "right" || type === "full";
    this.isHalf = type === "semi" || type === "anti";
    this.size = Math.min(FIRST_BATCH_ROWS, context.batchRows);
  }

  next(): Pulled {
    for (;;) {
      if (this.length >= this.size) return this.take();
      if (--this.budget <= 0) {
        this.budget = STEPS_PER_TURN_CHECK;
        this.context.checkpoint();
        if (this.context.shouldYield()) return this.context.yieldTurn().then(() => this.next());
      }
      const outcome = this.step();
      if (outcome === "end") return this.length > 0 ? this.take() : null;
      if (outcome !== undefined) return outcome.then(() => this.next());
    }
  }

  /** One row further: undefined to go on, a promise when an input is waited for. */
  private step(): undefined | void | "end" | Promise<void> {
    switch (this.phase) {
      case "seek":
        return this.seek();
      case "gather":
        return this.gather();
      case "pair":
        return this.pair();
      case "next left":
        return this.nextLeft();
      case "left over":
        return this.leftOver();
    }
  }

  /** Compares the rows at the heads of both sides; the lesser one has no match. */
  private seek(): void | "end" | Promise<void> {
    const { left, right, keepsLeft, keepsRight } = this;
    if ((left.ended && !keepsRight) || (right.ended && !keepsLeft)) return "end";
    if (left.needsRows) return left.pull();
    if (right.needsRows) return right.pull();
    if (left.ended && right.ended) return "end";
    let order = left.ended ? 1 : right.ended ? -1 : this.compare(left.keys, left.row, right.keys, right.row);
    if (order === 0 && left.hasNull()) order = -1;
    if (order < 0) {
      if (keepsLeft) this.emitLeft();
      left.goTo(left.row + 1);
    } else if (order > 0) {
      if (keepsRight) this.emitRight(right.batch!, right.row);
      right.goTo(right.row + 1);
    } else if (this.isHalf && this.program.condition === null) {
      if (this.program.type === "semi") this.emitLeft();
      left.goTo(left.row + 1);
    } else this.startGroup();
  }

  private startGroup(): void | Promise<void> {
    const { left, right, group } = this;
    this.groupKey = left.keys.map((values) => values[left.row]!);
    const batch = right.batch!;
    const from = right.row;
    let to = from + 1;
    while (to < batch.length && this.compare(right.keys, from, right.keys, to) === 0) to++;
    if (to === batch.length) {
      this.phase = "gather";
      return;
    }
    group.borrow(batch, from, to);
    right.goTo(to);
    this.startPairs();
  }

  /** Copies right rows with the group's key, which goes on to the end of a batch. */
  private gather(): void | Promise<void> {
    const { right, group } = this;
    if (right.needsRows) return right.pull();
    const { batch } = right;
    let to = right.row;
    if (batch !== null) while (to < batch.length && this.isOfGroup(right, to)) to++;
    const added = batch === null || to === right.row ? undefined : group.add(batch, right.row, to);
    if (batch !== null) right.goTo(to);
    if (right.needsRows) return added;
    if (added !== undefined) return added.then(() => this.finishGroup());
    this.finishGroup();
  }

  private finishGroup(): void {
    this.group.finish();
    this.startPairs();
  }

  private startPairs(): void {
    const { group } = this;
    if (this.keepsRight && this.program.condition !== null) {
      if (this.rightMatched.length < group.length) {
        this.context.statement.reserve(group.length - this.rightMatched.length);
        this.rightMatched = new Uint8Array(group.length);
      } else this.rightMatched.fill(0, 0, group.length);
    }
    this.startLeftRow();
  }

  private startLeftRow(): void {
    this.leftMatched = false;
    this.group.rewind();
    this.phase = "pair";
  }

  /** Tries the next right row of the group with the left row. */
  private pair(): void {
    const { group, left } = this;
    const { condition, type } = this.program;
    if (group.row === group.end && !group.turnPage()) {
      if (!this.leftMatched && this.keepsLeft) this.emitLeft();
      this.endLeftRow();
      return;
    }
    this.writeLeft(left.batch!, left.row);
    this.writeRight(group.page, group.row);
    if (condition === null || condition(this.view, this.length, this.context)) {
      this.leftMatched = true;
      if (this.keepsRight && condition !== null) this.rightMatched[group.number] = 1;
      if (type !== "anti") this.length++;
      if (this.isHalf) {
        this.endLeftRow();
        return;
      }
    }
    group.row++;
  }

  private endLeftRow(): void {
    this.left.goTo(this.left.row + 1);
    this.phase = "next left";
  }

  /** Another left row of the group's key, or the end of the group. */
  private nextLeft(): void | Promise<void> {
    const { left } = this;
    if (left.needsRows) return left.pull();
    if (!left.ended && this.isOfGroup(left, left.row)) {
      this.startLeftRow();
    } else if (this.keepsRight && this.program.condition !== null) {
      this.group.rewind();
      this.phase = "left over";
    } else this.endGroup();
  }

  /** Right rows of the group that no left row has matched. */
  private leftOver(): void {
    const { group } = this;
    if (group.row === group.end && !group.turnPage()) {
      this.endGroup();
      return;
    }
    if (this.rightMatched[group.number] === 0) this.emitRight(group.page, group.row);
    group.row++;
  }

  private endGroup(): void {
    this.group.clear();
    this.phase = "seek";
  }

  private compare(a: readonly ArrayLike<Value>[], i: number, b: readonly ArrayLike<Value>[], j: number): number {
    const { comparators } = this.program;
    for (let k = 0; k < comparators.length; k++) {
      const order = comparators[k]!(a[k]![i]!, b[k]![j]!);
      if (order !== 0) return order;
    }
    return 0;
  }

  private isOfGroup(side: Side, row: number): boolean {
    const { comparators } = this.program;
    const { groupKey } = this;
    for (let k = 0; k < comparators.length; k++) {
      if (comparators[k]!(groupKey[k]!, side.keys[k]![row]!) !== 0) return false;
    }
    return true;
  }

  /** The left row alone: NULLs to its right. */
  private emitLeft(): void {
    const { out, length, left } = this;
    this.writeLeft(left.batch!, left.row);
    if (!this.isHalf) for (let c = this.program.leftWidth; c < out.length; c++) out[c]![length] = null;
    this.length++;
  }

  private emitRight(batch: Batch, row: number): void {
    for (let c = 0; c < this.program.leftWidth; c++) this.out[c]![this.length] = null;
    this.writeRight(batch, row);
    this.length++;
  }

  private writeLeft(batch: Batch, row: number): void {
    const { out, length } = this;
    for (let c = 0; c < this.program.leftWidth; c++) out[c]![length] = batch.columns[c]![row]!;
  }

  private writeRight(batch: Batch, row: number): void {
    const { out, length } = this;
    const { leftWidth, right } = this.program;
    for (let c = 0; c < right.length; c++) out[leftWidth + c]![length] = batch.columns[c]![row]!;
  }

  private take(): Batch {
    const columns = this.isHalf ? this.out.slice(0, this.program.leftWidth) : this.out;
    const batch = { columns, length: this.length };
    this.length = 0;
    this.size = this.context.batchRows;
    return batch;
  }

  close(): void {
    this.group.clear();
    this.context.statement.release(this.rightMatched.length);
    this.rightMatched = new Uint8Array(0);
    this.left.input.close();
    this.right.input.close();
  }
}
