/**
 * Variances and standard deviations of integers and numeric over chunks of segments: sums of the numbers and of their
 * squares, in doubles as long as these hold them exactly, then in an arbitrary-precision rest, as vector-accumulator.ts
 * adds up numbers. A number x is h·2²⁶ + l, so that the parts of its square are exact: h²·2⁵² + 2hl·2²⁶ + l².
 */
import { Numeric } from "../../../values/numeric.js";
import type { Value } from "../../../values/values.js";
import type { AggregateFunction, Batch } from "../../expr/expr.js";
import type { ExactState } from "../../expr/functions/statistics.js";
import type { Accumulator } from "../accumulator.js";
import type { ExecContext } from "../context.js";
import type { EvaluateAll } from "../slots.js";
import type { Chunk } from "./chunk.js";
import { computeInto, InSegment, nulls, results } from "./chunk-numbers.js";
import { GroupNumbers } from "./group-numbers.js";
import { EXACT_MAX, type VectorExpr } from "./vector-expr.js";

/** Aggregates whose state is an ExactState. */
export const EXACT_SQUARES: ReadonlySet<string> = new Set([
  ...["variance", "var_samp", "var_pop"],
  ...["stddev", "stddev_samp", "stddev_pop"],
]);

const HALF = 2 ** 26;

export class ExactSquares implements Accumulator {
  readonly stateBytes = 5 * GroupNumbers.BYTES;
  private readonly counts = new GroupNumbers();
  private readonly sums = new GroupNumbers();
  /** Σh², Σhl and Σl². */
  private readonly high = new GroupNumbers();
  private readonly middle = new GroupNumbers();
  private readonly low = new GroupNumbers();
  /** What came before; few groups have any. */
  private readonly rests = new Map<number, ExactState>();
  private scale = 0;
  private groups = 0;
  private readonly value: InSegment;
  private readonly scratch: Value[] = [];

  constructor(
    private readonly fn: AggregateFunction,
    private readonly arg: EvaluateAll,
    vector: VectorExpr | null,
    private readonly context: ExecContext,
  ) {
    this.value = new InSegment(vector);
  }

  addGroup(): void {
    for (const numbers of [this.counts, this.sums, this.high, this.middle, this.low]) numbers.push();
    this.groups++;
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const values = this.arg(batch, this.context, this.scratch);
    for (let row = 0; row < batch.length; row++) {
      const value = values[row] as number | bigint | Numeric | null;
      if (value === null) continue;
      const group = groupOf[row]!;
      const numeric = value instanceof Numeric ? value : null;
      const unscaled = Number(numeric?.unscaled ?? value);
      if (numeric?.special == null && unscaled >= -EXACT_MAX && unscaled <= EXACT_MAX) {
        this.useScale(numeric?.scale ?? 0);
        this.addSmall(group, unscaled);
      } else this.addLarge(group, numeric ?? Numeric.fromInteger(value as number | bigint));
    }
    return 0;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    const value = this.value.of(chunk);
    if (value === null) return null;
    if (value.low > value.high) return 0;
    if (!(value.low >= -EXACT_MAX && value.high <= EXACT_MAX)) return null;
    computeInto(value, chunk);
    this.useScale(value.scale);
    const areNull = value.mayBeNull ? nulls : null;
    for (let i = 0; i < chunk.length; i++) {
      if (areNull === null || areNull[i] === 0) this.addSmall(groupOf === null ? 0 : groupOf[i]!, results[i]!);
    }
    return 0;
  }

  private addSmall(group: number, x: number): void {
    const h = x > HALF || x < -HALF ? Math.trunc(x / HALF) : 0;
    const l = x - h * HALF;
    const sum = this.sums.values[group]! + x;
    const low = this.low.values[group]! + l * l;
    const middle = this.middle.values[group]! + h * l;
    const high = this.high.values[group]! + h * h;
    if (Math.abs(sum) > EXACT_MAX || low > EXACT_MAX || Math.abs(middle) > EXACT_MAX || high > EXACT_MAX) {
      this.settle(group);
      this.sums.values[group] = x;
      this.low.values[group] = l * l;
      this.middle.values[group] = h * l;
      this.high.values[group] = h * h;
    } else {
      this.sums.values[group] = sum;
      this.low.values[group] = low;
      this.middle.values[group] = middle;
      this.high.values[group] = high;
    }
    this.counts.values[group]!++;
  }

  private addLarge(group: number, value: Numeric): void {
    this.rests.set(group, added(this.rests.get(group), { count: 1, sum: value, squares: value.mul(value) }));
  }

  private useScale(scale: number): void {
    if (scale === this.scale) return;
    for (let group = 0; group < this.groups; group++) this.settle(group);
    this.scale = scale;
  }

  /** Moves what doubles have of the group into the rest. */
  private settle(group: number): void {
    const count = this.counts.values[group]!;
    if (count === 0) return;
    const part = (numbers: GroupNumbers, bits: bigint): bigint => {
      const number = BigInt(numbers.values[group]!);
      numbers.values[group] = 0;
      return number << bits;
    };
    const squares = part(this.high, 52n) + part(this.middle, 27n) + part(this.low, 0n);
    const state = {
      count,
      sum: Numeric.of(part(this.sums, 0n), this.scale),
      squares: Numeric.of(squares, 2 * this.scale),
    };
    this.counts.values[group] = 0;
    this.rests.set(group, added(this.rests.get(group), state));
  }

  result(group: number): Value {
    this.settle(group);
    return this.fn.result(this.rests.get(group) ?? this.fn.init());
  }
}

function added(before: ExactState | undefined, { count, sum, squares }: ExactState): ExactState {
  if (before === undefined) return { count, sum, squares };
  return { count: before.count + count, sum: before.sum.add(sum), squares: before.squares.add(squares) };
}
