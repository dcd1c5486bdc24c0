/**
 * An aggregate over the frames of a partition's rows. From one row to the next a frame usually grows or slides:
 *
 * - it only grows (it starts at the partition's first row): rows are stepped as they come in;
 * - it slides: rows that leave are taken back (`moving`), or for min and max kept out by a queue of candidates;
 * - otherwise, and with EXCLUDE, the frame is gone through again for each row.
 *
 * Made by window.ts, one per call and run.
 */
import type { Value } from "../../values/values.js";
import type { AggregateFunction, AggregateSteps } from "../expr/expr.js";
import type { WindowFrame } from "../plan/plan.js";
import type { StepBudget } from "./step-budget.js";
import type { FrameCursor } from "./window-frame.js";

/** The budget is used up before the value is known: ask again for the same row. */
export const UNFINISHED = Symbol("unfinished");

export interface WindowAggregateInput {
  readonly fn: AggregateFunction;
  /** Columns of the arguments' values. */
  readonly args: readonly (readonly Value[])[];
  /** Whether FILTER takes the row; null: all rows. */
  readonly filter: readonly Value[] | null;
  readonly frame: FrameCursor;
  readonly work: StepBudget;
}

export type FrameValue = (row: number) => Value | typeof UNFINISHED;

/** The values over the frames of a partition whose first row is at `base` in the argument columns. */
export function windowAggregate(input: WindowAggregateInput, frame: WindowFrame, base: number): FrameValue {
  const rows = new ArgumentRows(input, base);
  if (frame.exclude !== "no others") return excluding(input, rows);
  const slides = frame.start.kind !== "unbounded preceding";
  if (slides && input.fn.extreme !== undefined) return extremes(input, rows, input.fn.extreme);
  return sliding(input, rows, slides);
}

/** The argument values of the partition's rows; rows that FILTER or a NULL keeps out are not stepped. */
class ArgumentRows {
  private readonly arity: number;

  constructor(
    private readonly input: WindowAggregateInput,
    private readonly base: number,
  ) {
    this.arity = input.args.length;
  }

  value(row: number): Value {
    return this.input.args[0]![this.base + row]!;
  }

  counts(row: number): boolean {
    const { args, filter, fn } = this.input;
    const at = this.base + row;
    if (filter !== null && filter[at] !== true) return false;
    if (fn.strict) for (let i = 0; i < this.arity; i++) if (args[i]![at] === null) return false;
    return true;
  }

  /** The state after the rows [from, to). */
  step(steps: AggregateSteps, state: unknown, from: number, to: number): unknown {
    const { args, work } = this.input;
    let next = state;
    for (let row = from; row < to; row++) {
      if (!this.counts(row)) continue;
      const at = this.base + row;
      if (this.arity === 1) next = steps.step(next, args[0]![at]);
      else next = this.arity === 0 ? steps.step(next) : steps.step(next, ...args.map((values) => values[at]!));
    }
    work.left -= to - from;
    return next;
  }

  /** The state without the rows [from, to); undefined when they cannot be taken back. */
  takeBack(state: unknown, from: number, to: number): unknown {
    const { args, fn, work } = this.input;
    let next = state;
    for (let row = from; row < to && next !== undefined; row++) {
      if (this.counts(row)) next = fn.moving!.inverse(next, ...args.map((values) => values[this.base + row]!));
    }
    work.left -= to - from;
    return next;
  }
}

function sliding({ fn, frame, work }: WindowAggregateInput, rows: ArgumentRows, slides: boolean): FrameValue {
  const moving = slides ? fn.moving : undefined;
  const steps: AggregateSteps = moving ?? fn;
  /** `state` is that of the rows [from, to). */
  let from = -1;
  let to = -1;
  let state: unknown;
  let value: Value = null;
  let isKnown = false;
  return () => {
    const { start, end } = frame;
    while (!isKnown || from !== start || to !== end) {
      if (from === start && to === end) {
        value = steps.result(state);
        isKnown = true;
        break;
      }
      if (work.left <= 0) return UNFINISHED;
      isKnown = false;
      if (from === start && to < end) {
        const until = Math.min(end, to + work.left);
        state = rows.step(steps, state, to, until);
        to = until;
        continue;
      }
      if (moving !== undefined && from >= 0 && from < start && start < to && end >= to) {
        const until = Math.min(start, from + work.left);
        state = rows.takeBack(state, from, until);
        from = until;
        if (state !== undefined) continue;
      }
      state = steps.init();
      from = start;
      to = start;
    }
    return value;
  };
}

/**
 * min and max: rows that a later one outlasts are dropped from the end of the queue, those that left from its front.
 */
function extremes(
  { frame, work }: WindowAggregateInput,
  rows: ArgumentRows,
  extreme: (a: Value, b: Value) => number,
): FrameValue {
  const queue: number[] = [];
  let head = 0;
  let to = 0;
  return () => {
    const { start, end } = frame;
    for (; to < end; to++) {
      if (work.left <= 0) return UNFINISHED;
      work.left--;
      if (!rows.counts(to)) continue;
      const value = rows.value(to);
      while (queue.length > head && extreme(value, rows.value(queue[queue.length - 1]!)) >= 0) queue.pop();
      queue.push(to);
    }
    while (head < queue.length && queue[head]! < start) head++;
    return head < queue.length && start < end ? rows.value(queue[head]!) : null;
  };
}

function excluding({ fn, frame, work }: WindowAggregateInput, rows: ArgumentRows): FrameValue {
  let state: unknown;
  /** Where stepping goes on; −1: at the next row's frame. */
  let at = -1;
  return () => {
    if (at < 0) {
      state = fn.init();
      at = frame.start;
    }
    while (at < frame.end) {
      const [first, second] = frame.excluded;
      const span = first.to > Math.max(first.from, at) ? first : second.to > Math.max(second.from, at) ? second : null;
      if (span !== null && span.from <= at) {
        at = span.to;
        continue;
      }
      if (work.left <= 0) return UNFINISHED;
      const until = Math.min(span?.from ?? frame.end, frame.end, at + work.left);
      state = rows.step(fn, state, at, until);
      at = until;
    }
    at = -1;
    return fn.result(state);
  };
}
