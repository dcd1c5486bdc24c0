/**
 * Aggregates that add up chunks of segments without making values: count, sum and avg of exact numbers and of floats,
 * min and max of whatever is held as numbers. They take ordinary batches too, since corrected rows of a scan come as
 * such, and give exactly what the row-by-row functions give.
 *
 * Sums of integers and of numeric are exact: a double holds the sum as long as it is an integer that a double holds
 * exactly; before it leaves that range it moves into an arbitrary-precision rest.
 */
import { Numeric } from "../../../values/numeric.js";
import type { Value } from "../../../values/values.js";
import type { SlotOf } from "../../expr/compile.js";
import type { Batch } from "../../expr/expr.js";
import { normalInt8 } from "../../expr/number-cast.js";
import { receivedLeaf, sentLeaf } from "../../expr/sent-condition.js";
import type { AggregateCall } from "../../plan/plan.js";
import type { Accumulator, AccumulatorProgram } from "../accumulator.js";
import type { ExecContext } from "../context.js";
import { compileAll, type EvaluateAll } from "../slots.js";
import { MERGED_AT_ONCE } from "../threads/merge-state.js";
import type { SentState } from "../threads/read-threads.js";
import type { Chunk } from "./chunk.js";
import { computeInto, InSegment, nulls, results } from "./chunk-numbers.js";
import { CountRows, CountValues } from "./count-accumulator.js";
import { EXACT_SQUARES, ExactSquares } from "./exact-squares.js";
import { FloatSteps, floatVectorOf } from "./float-steps.js";
import { FloatParts, FloatSum, type PartOfRun } from "./float-sum.js";
import { GroupNumbers } from "./group-numbers.js";
import { NumberExtreme } from "./number-extreme.js";
import { TextExtreme } from "./text-extreme.js";
import { EXACT_MAX, type VectorExpr, vectorExprOf } from "./vector-expr.js";

/** Aggregates that step through doubles in the order of the rows. */
const FLOAT_STEPS: ReadonlySet<string> = new Set([
  ...EXACT_SQUARES,
  ..."corr covar_pop covar_samp regr_count regr_sxx regr_syy regr_sxy regr_avgx regr_avgy".split(" "),
  ..."regr_r2 regr_slope regr_intercept".split(" "),
]);
const INTEGERS = new Set(["int2", "int4", "int8"]);
const FLOATS = new Set(["float4", "float8"]);
/** Types that a cast to text leaves as they are. */
const TEXTS = new Set(["text", "varchar", "name"]);
const ORDERED = new Set([...INTEGERS, ...FLOATS, "numeric", "oid", "date", "time", "timestamp", "timestamptz"]);

/** Null when the call is of another kind. `part`: null for the run itself. */
export function compileVectorAccumulator(
  call: AggregateCall,
  slotOf: SlotOf,
  part: PartOfRun | null = null,
): AccumulatorProgram | null {
  const { fn, args } = call;
  if (call.distinct || call.filter !== null || call.orderBy.length > 0 || fn.open !== undefined) return null;
  const [arg] = args;
  if (fn.name === "count" && arg === undefined) return () => new CountRows();
  if (FLOAT_STEPS.has(fn.name) && args.length === fn.args.length && fn.args.every(({ name }) => FLOATS.has(name))) {
    const parts = args.map((one) => ({ evaluate: compileAll(one, slotOf), vector: floatVectorOf(one, slotOf) }));
    if (parts.every(({ vector }) => vector !== null)) return (context) => new FloatSteps(fn, parts, context);
  }
  if (args.length !== 1 || arg === undefined) return null;
  const values = compileAll(arg, slotOf);
  if (fn.name === "count") {
    const slot = arg.kind === "column" ? slotOf(arg.id) : -1;
    return (context) => new CountValues(values, slot, context);
  }
  const type = fn.args[0]!;
  const isSum = fn.name === "sum" || fn.name === "avg";
  if (isSum && (INTEGERS.has(type.name) || type.name === "numeric")) {
    const vector = vectorExprOf(arg, slotOf);
    const result = fn.name === "avg" ? averageOf : fn.returns.name === "int8" ? integerOf : totalOf;
    return (context) => new ExactSum(values, vector, result, context);
  }
  if (EXACT_SQUARES.has(fn.name) && !FLOATS.has(type.name)) {
    const vector = vectorExprOf(arg, slotOf);
    return (context) => new ExactSquares(fn, values, vector, context);
  }
  if (isSum && FLOATS.has(type.name) && arg.kind === "column") {
    const vector = vectorExprOf(arg, slotOf);
    if (part !== null) return (context) => new FloatParts(values, vector, part, context);
    return (context) => new FloatSum(fn, values, vector, context);
  }
  if ((fn.name === "min" || fn.name === "max") && ORDERED.has(type.name) && arg.kind === "column") {
    const slot = slotOf(arg.id);
    return slot < 0 ? null : (context) => new NumberExtreme(fn, type, values, slot, context);
  }
  if ((fn.name === "min" || fn.name === "max") && type.name === "text") {
    const column = arg.kind === "cast" && TEXTS.has(arg.input.type.name) ? arg.input : arg;
    const slot = column.kind === "column" && TEXTS.has(column.type.name) ? slotOf(column.id) : -1;
    return slot < 0 ? null : (context) => new TextExtreme(fn, values, slot, context);
  }
  return null;
}

interface Finish {
  of(total: Numeric, count: number): Value;
  /** Of a total that is the integer `sum` at `scale`. */
  ofSmall(sum: number, scale: number, count: number): Value;
}

const totalOf: Finish = {
  of: (total) => total,
  ofSmall: (sum, scale) => Numeric.of(BigInt(sum), scale),
};
const integerOf: Finish = {
  of: (total) => normalInt8(total.unscaled),
  ofSmall: (sum) => sum,
};
const averageOf: Finish = {
  of: (total, count) => total.div(Numeric.fromInteger(count)),
  ofSmall: (sum, scale, count) => averageOf.of(Numeric.of(BigInt(sum), scale), count),
};

/** A total that a double may not hold, and of how many values it is. */
interface Rest {
  total: Numeric;
  count: number;
}

/**
 * Adds up the rows from `from` on. Stops at the first one that would make a sum too large, and answers it. A loop by
 * itself: V8 optimizes it after few rows, and what surrounds it changes from chunk to chunk.
 */
function addExact(
  numbers: Float64Array,
  areNull: Uint8Array | null,
  groupOf: Int32Array | null,
  from: number,
  length: number,
  sums: Float64Array,
  counts: Float64Array,
): number {
  for (let i = from; i < length; i++) {
    if (areNull !== null && areNull[i] === 1) continue;
    const group = groupOf === null ? 0 : groupOf[i]!;
    const next = sums[group]! + numbers[i]!;
    if (next > EXACT_MAX || next < -EXACT_MAX) return i;
    sums[group] = next;
    counts[group]!++;
  }
  return length;
}

class ExactSum implements Accumulator {
  readonly stateBytes = 2 * GroupNumbers.BYTES;
  /** Sums as integers that doubles hold, at `scale`, of so many values … */
  private readonly small = new GroupNumbers();
  private readonly counts = new GroupNumbers();
  /** … and of all values before them, by group; few groups have any. */
  private readonly rests = new Map<number, Rest>();
  private scale = 0;
  private groups = 0;
  private readonly value: InSegment;
  private readonly scratch: Value[] = [];

  constructor(
    private readonly arg: EvaluateAll,
    vector: VectorExpr | null,
    private readonly finish: Finish,
    private readonly context: ExecContext,
  ) {
    this.value = new InSegment(vector);
  }

  addGroup(): void {
    this.small.push();
    this.counts.push();
    this.groups++;
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const values = this.arg(batch, this.context, this.scratch);
    for (let row = 0; row < batch.length; row++) {
      const value = values[row] as number | bigint | Numeric | null;
      if (value === null) continue;
      const group = groupOf[row]!;
      if (typeof value === "number") this.addSmall(group, value, 0);
      else if (typeof value === "bigint") this.addLarge(group, Numeric.of(value, 0));
      else if (value.special !== null) this.addLarge(group, value);
      else {
        const unscaled = Number(value.unscaled);
        if (unscaled > EXACT_MAX || unscaled < -EXACT_MAX) this.addLarge(group, value);
        else this.addSmall(group, unscaled, value.scale);
      }
    }
    return 0;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    const value = this.value.of(chunk);
    if (value === null) return null;
    if (value.low > value.high) return 0;
    if (!(value.low >= -EXACT_MAX && value.high <= EXACT_MAX)) return null;
    computeInto(value, chunk);
    if (value.scale !== this.scale) this.useScale(value.scale);
    if (groupOf === null && !value.mayBeNull) this.addToOne(chunk.length);
    else this.addToGroups(chunk.length, groupOf, value.mayBeNull);
    return 0;
  }

  result(group: number): Value {
    if (this.rests.size === 0 || !this.rests.has(group)) {
      // Nothing is kept of it: a result in each of many groups would outlive the batch that it is for.
      const count = this.counts.values[group]!;
      return count === 0 ? null : this.finish.ofSmall(this.small.values[group]!, this.scale, count);
    }
    this.settle(group);
    const { total, count } = this.rests.get(group)!;
    return this.finish.of(total, count);
  }

  private addToOne(length: number): void {
    const numbers = results;
    let sum = this.small.values[0]!;
    let from = 0;
    for (let i = 0; i < length; i++) {
      const next = sum + numbers[i]!;
      if (next > EXACT_MAX || next < -EXACT_MAX) {
        this.small.values[0] = sum;
        this.counts.values[0]! += i - from;
        this.settle(0);
        sum = numbers[i]!;
        from = i;
      } else sum = next;
    }
    this.small.values[0] = sum;
    this.counts.values[0]! += length - from;
  }

  private addToGroups(length: number, groupOf: Int32Array | null, mayBeNull: boolean): void {
    const areNull = mayBeNull ? nulls : null;
    const sums = this.small.values;
    const counts = this.counts.values;
    for (let row = 0; ; ) {
      row = addExact(results, areNull, groupOf, row, length, sums, counts);
      if (row === length) return;
      // With nothing in it, the group has room for any number.
      this.settle(groupOf === null ? 0 : groupOf[row]!);
    }
  }

  private addSmall(group: number, unscaled: number, scale: number): void {
    if (scale !== this.scale) this.useScale(scale);
    const sums = this.small.values;
    const next = sums[group]! + unscaled;
    if (next > EXACT_MAX || next < -EXACT_MAX) {
      this.settle(group);
      sums[group] = unscaled;
    } else sums[group] = next;
    this.counts.values[group]!++;
  }

  private addLarge(group: number, value: Numeric, count = 1): void {
    const before = this.rests.get(group);
    if (before === undefined) this.rests.set(group, { total: value, count });
    else {
      before.total = before.total.add(value);
      before.count += count;
    }
  }

  private useScale(scale: number): void {
    for (let group = 0; group < this.groups; group++) this.settle(group);
    this.scale = scale;
  }

  partial(): SentState {
    const rests = [...this.rests].map(([group, { total, count }]) => ({ group, total: sentLeaf(total)!, count }));
    return { kind: "sums", small: this.small.taken(), counts: this.counts.taken(), scale: this.scale, rests };
  }

  *merge(state: SentState, groupOf: Int32Array): Iterable<void> {
    if (state.kind !== "sums") throw new Error("not the state of a sum");
    const { small, counts, scale, rests } = state;
    for (let group = 0; group < small.length; group++) {
      const count = counts[group]!;
      const own = groupOf[group]!;
      if (count > 0) {
        this.addSmall(own, small[group]!, scale);
        this.counts.values[own]! += count - 1;
      }
      if (group % MERGED_AT_ONCE === MERGED_AT_ONCE - 1) yield;
    }
    for (const { group, total, count } of rests) this.addLarge(groupOf[group]!, receivedLeaf(total) as Numeric, count);
  }

  /** Moves the group's small sum into the rest. */
  private settle(group: number): void {
    const count = this.counts.values[group]!;
    if (count === 0) return;
    this.addLarge(group, Numeric.of(BigInt(this.small.values[group]!), this.scale), count);
    this.small.values[group] = 0;
    this.counts.values[group] = 0;
  }
}
