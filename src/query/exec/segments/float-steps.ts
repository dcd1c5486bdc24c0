/**
 * Aggregates that step through doubles (variances, correlation, regression) over chunks of segments: the arguments are
 * computed for whole chunks, without a value for each row, and the function steps through them in the order of the
 * rows, as it does row by row.
 */
import { EXACT_POWERS } from "../../../values/numeric.js";
import type { Value } from "../../../values/values.js";
import type { SlotOf } from "../../expr/compile.js";
import type { AggregateFunction, Batch, Expr } from "../../expr/expr.js";
import type { Accumulator } from "../accumulator.js";
import type { ExecContext } from "../context.js";
import type { EvaluateAll } from "../slots.js";
import type { Chunk } from "./chunk.js";
import { computeInto, InSegment, nulls, results } from "./chunk-numbers.js";
import { type VectorExpr, vectorExprOf } from "./vector-expr.js";

/** An argument in double precision: its value, and by which power of ten it is divided. Null: not of whole chunks. */
export function floatVectorOf(expr: Expr, slotOf: SlotOf): VectorExpr | null {
  const isCast = expr.kind === "cast" && expr.type.name === "float8";
  const vector = vectorExprOf(isCast ? expr.input : expr, slotOf);
  if (vector === null) return null;
  return (vectors) => {
    const value = vector(vectors);
    // A division of exact numbers is rounded as the cast of a numeric is.
    const isExact = value !== null && (value.scale === 0 || EXACT_POWERS[value.scale] !== undefined);
    return isExact && (value.scale === 0 || !(Math.max(Math.abs(value.low), Math.abs(value.high)) > EXACT))
      ? value
      : null;
  };
}

const EXACT = Number.MAX_SAFE_INTEGER;

interface Argument {
  readonly evaluate: EvaluateAll;
  readonly inSegment: InSegment;
  /** Of the chunk. */
  numbers: Float64Array;
}

export class FloatSteps implements Accumulator {
  private readonly states: unknown[] = [];
  private readonly args: readonly Argument[];
  private skipped = new Uint8Array(0);

  constructor(
    private readonly fn: AggregateFunction,
    args: readonly { readonly evaluate: EvaluateAll; readonly vector: VectorExpr | null }[],
    private readonly context: ExecContext,
  ) {
    this.args = args.map(({ evaluate, vector }) => ({
      evaluate,
      inSegment: new InSegment(vector),
      numbers: new Float64Array(0),
    }));
  }

  addGroup(): void {
    this.states.push(this.fn.init());
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const { states, fn, context } = this;
    const [first, second] = this.args.map(({ evaluate }) => evaluate(batch, context, [])) as [
      ArrayLike<Value>,
      ArrayLike<Value> | undefined,
    ];
    for (let row = 0; row < batch.length; row++) {
      const x = first[row]!;
      if (x === null) continue;
      const group = groupOf[row]!;
      if (second === undefined) states[group] = fn.step(states[group], x);
      else if (second[row] !== null) states[group] = fn.step(states[group], x, second[row]);
    }
    return 0;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    const { states, fn, args } = this;
    const { length } = chunk;
    if (this.skipped.length < length) this.skipped = new Uint8Array(length);
    const { skipped } = this;
    skipped.fill(0, 0, length);
    for (const arg of args) if (!load(arg, chunk, skipped)) return null;
    const [{ numbers: first }, second] = args as [Argument, Argument | undefined];
    for (let i = 0; i < length; i++) {
      if (skipped[i] === 1) continue;
      const group = groupOf === null ? 0 : groupOf[i]!;
      states[group] =
        second === undefined
          ? fn.step(states[group], first[i]!)
          : fn.step(states[group], first[i]!, second.numbers[i]!);
    }
    return 0;
  }

  result(group: number): Value {
    return this.fn.result(this.states[group]);
  }
}

/** Computes the argument for the chunk's rows, and marks those where it is NULL. False: it cannot be. */
function load(arg: Argument, chunk: Chunk, skipped: Uint8Array): boolean {
  const value = arg.inSegment.of(chunk);
  if (value === null) return false;
  const { length } = chunk;
  computeInto(value, chunk);
  if (arg.numbers.length < length) arg.numbers = new Float64Array(length);
  const { numbers } = arg;
  const divisor = EXACT_POWERS[value.scale]!;
  for (let i = 0; i < length; i++) numbers[i] = results[i]! / divisor;
  if (value.mayBeNull) for (let i = 0; i < length; i++) skipped[i]! |= nulls[i]!;
  return true;
}
