/**
 * Where the frames of a partition's rows begin and end. One FrameCursor per window operator: `enter` is called for each
 * partition, `moveTo` for its rows in order. Frames move only forwards, so both ends are found by walking on.
 */
import { sqlError } from "../../protocol/errors.js";
import type { Value } from "../../values/values.js";
import type { EvalContext, Evaluate } from "../expr/expr.js";
import type { InRange } from "../expr/in-range.js";
import type { WindowBound, WindowFrame } from "../plan/plan.js";
import { compileMaybe, EMPTY_ROW, NO_SLOTS } from "./slots.js";

/** Groups of rows that the window's ORDER BY does not tell apart; rows count from the partition's first. */
export interface Peers {
  readonly length: number;
  readonly groups: number;
  groupOf(row: number): number;
  /** Of the group after the last one: the partition's length. */
  startOf(group: number): number;
}

export interface FrameProgram {
  readonly frame: WindowFrame;
  readonly start: Evaluate | null;
  readonly end: Evaluate | null;
  /** Of RANGE with an offset: the direction of the one sort key. */
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export function compileFrame(
  frame: WindowFrame,
  key: { readonly descending: boolean; readonly nullsFirst: boolean } | undefined,
): FrameProgram {
  return {
    frame,
    start: compileMaybe(frame.start.offset, NO_SLOTS),
    end: compileMaybe(frame.end.offset, NO_SLOTS),
    descending: key?.descending ?? false,
    nullsFirst: key?.nullsFirst ?? false,
  };
}

/** Rows [from, to) that stand in a row but are not in its frame; from ≥ to: none. */
interface Span {
  from: number;
  to: number;
}

export class FrameCursor {
  /** The current row's frame before exclusion: rows [start, end), end ≥ start. */
  start = 0;
  end = 0;
  /** What EXCLUDE takes out of it: up to two spans, in order. */
  readonly excluded: readonly [Span, Span] = [
    { from: 0, to: 0 },
    { from: 0, to: 0 },
  ];
  private peers: Peers = NO_PEERS;
  private readonly startOffset: Value;
  private readonly endOffset: Value;
  private keys: ArrayLike<Value> = [];
  private base = 0;
  private startWalk = 0;
  private endWalk = 0;

  constructor(
    private readonly program: FrameProgram,
    private readonly context: EvalContext,
  ) {
    const { frame } = program;
    this.startOffset = offsetOf(program.start, frame.start, "starting", context);
    this.endOffset = offsetOf(program.end, frame.end, "ending", context);
  }

  /** `keys[base + row]` is the one sort key's value of a row; only RANGE with an offset reads it. */
  enter(peers: Peers, keys: ArrayLike<Value>, base: number): void {
    this.peers = peers;
    this.keys = keys;
    this.base = base;
    this.startWalk = 0;
    this.endWalk = 0;
  }

  moveTo(row: number): void {
    const { frame } = this.program;
    const start = this.boundary(frame.start, Number(this.startOffset), row, true);
    const end = this.boundary(frame.end, Number(this.endOffset), row, false);
    this.start = start;
    this.end = Math.max(start, end);
    if (frame.exclude !== "no others") this.exclude(row);
  }

  /** The first row of the frame (`atStart`), or the one after its last. */
  private boundary(bound: WindowBound, offset: number, row: number, atStart: boolean): number {
    const { peers } = this;
    if (bound.kind === "unbounded preceding") return 0;
    if (bound.kind === "unbounded following") return peers.length;
    const { mode } = this.program.frame;
    if (mode === "range" && bound.offset !== null) return this.rangeBoundary(bound, row, atStart);
    const distance = bound.kind === "current row" ? 0 : bound.kind === "preceding" ? -offset : offset;
    const after = atStart ? 0 : 1;
    if (mode === "rows") return Math.min(Math.max(row + distance + after, 0), peers.length);
    const group = Math.min(Math.max(peers.groupOf(row) + distance + after, 0), peers.groups);
    return peers.startOf(group);
  }

  /** update_frameheadpos and update_frametailpos of PostgreSQL's nodeWindowAgg.c. */
  private rangeBoundary(bound: WindowBound, row: number, atStart: boolean): number {
    const { keys, base, peers, context } = this;
    const { descending, nullsFirst } = this.program;
    const test = bound.inRange as InRange;
    const current = keys[base + row]!;
    const subtract = (bound.kind === "preceding") !== descending;
    const less = atStart === descending;
    const offset = atStart ? this.startOffset : this.endOffset;
    let at = atStart ? this.startWalk : this.endWalk;
    for (; at < peers.length; at++) {
      const value = keys[base + at]!;
      if (value === null || current === null) {
        // Only where NULLs sort decides, and peers of a NULL are the other NULLs.
        const passes = atStart
          ? nullsFirst
            ? value === null && current !== null
            : value !== null && current === null
          : nullsFirst
            ? value === null
            : current === null;
        if (!passes) break;
      } else if (test.test(value, current, offset, subtract, less, context) === atStart) break;
    }
    if (atStart) this.startWalk = at;
    else this.endWalk = at;
    return at;
  }

  private exclude(row: number): void {
    const { peers, excluded } = this;
    const [first, second] = excluded;
    const kind = this.program.frame.exclude;
    const group = peers.groupOf(row);
    first.from = kind === "current row" ? row : peers.startOf(group);
    first.to = kind === "current row" ? row + 1 : kind === "ties" ? row : peers.startOf(group + 1);
    second.from = kind === "ties" ? row + 1 : first.to;
    second.to = kind === "ties" ? peers.startOf(group + 1) : first.to;
    for (const span of excluded) {
      span.from = Math.max(span.from, this.start);
      span.to = Math.max(span.from, Math.min(span.to, this.end));
    }
  }

  /** The n-th row of the frame without what is excluded; negative n counts from the end. −1: there is none. */
  rowAt(n: number): number {
    const [first, second] = this.excluded;
    const gap = this.program.frame.exclude === "no others" ? 0 : first.to - first.from + (second.to - second.from);
    const count = this.end - this.start - gap;
    const index = n < 0 ? count + n : n;
    if (index < 0 || index >= count) return -1;
    let row = this.start + index;
    if (gap > 0) {
      if (first.to > first.from && row >= first.from) row += first.to - first.from;
      if (second.to > second.from && row >= second.from) row += second.to - second.from;
    }
    return row;
  }
}

const NO_PEERS: Peers = { length: 0, groups: 0, groupOf: () => 0, startOf: () => 0 };

/** The offset is one for the whole run. Throws 22004 for NULL, 22013 for a negative one. */
function offsetOf(evaluate: Evaluate | null, bound: WindowBound, which: string, context: EvalContext): Value {
  if (evaluate === null) return 0;
  const offset = evaluate(EMPTY_ROW, 0, context);
  if (offset === null) throw sqlError("22004", `frame ${which} offset must not be null`);
  if (bound.inRange !== null) bound.inRange.check(offset);
  else if ((offset as number) < 0) throw sqlError("22013", `frame ${which} offset must not be negative`);
  return offset;
}
