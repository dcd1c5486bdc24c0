/**
 * Aggregates that add up chunks of segments without making values: count, sum and avg of exact numbers and of floats,
 * min and max of whatever is held as numbers. They take ordinary batches too, since corrected rows of a scan come as
 * such, and give exactly what the row-by-row functions give.
 *
 * Sums of integers and of numeric are exact: a double holds the sum as long as it is an integer that a double holds
 * exactly; before it leaves that range it moves into an arbitrary-precision rest.
 */
import { Numeric } from "../../../values/numeric.js";
import type { SqlType, Value } from "../../../values/values.js";
import { normalInt8 } from "../../expr/cast.js";
import type { SlotOf } from "../../expr/compile.js";
import type { AggregateFunction, Batch } from "../../expr/expr.js";
import type { AggregateCall } from "../../plan/plan.js";
import type { Accumulator, AccumulatorProgram } from "../accumulator.js";
import type { ExecContext } from "../context.js";
import { compileAll, type EvaluateAll } from "../slots.js";
import type { Chunk } from "./chunk.js";
import type { Column, NumberColumn } from "./column.js";
import { TextExtreme } from "./text-extreme.js";
import { EXACT_MAX, type VectorExpr, type VectorValue, vectorExprOf } from "./vector-expr.js";

const INTEGERS = new Set(["int2", "int4", "int8"]);
const FLOATS = new Set(["float4", "float8"]);
/** Types that a cast to text leaves as they are. */
const TEXTS = new Set(["text", "varchar", "name"]);
const ORDERED = new Set([...INTEGERS, ...FLOATS, "numeric", "oid", "date", "time", "timestamp", "timestamptz"]);

/** Null when the call is of another kind. */
export function compileVectorAccumulator(call: AggregateCall, slotOf: SlotOf): AccumulatorProgram | null {
  const { fn, args } = call;
  if (call.distinct || call.filter !== null || call.orderBy.length > 0 || fn.open !== undefined) return null;
  const [arg] = args;
  if (fn.name === "count" && arg === undefined) return () => new CountRows();
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
  if (isSum && FLOATS.has(type.name) && arg.kind === "column") {
    return (context) => new FloatSum(fn, values, vectorExprOf(arg, slotOf), context);
  }
  if ((fn.name === "min" || fn.name === "max") && ORDERED.has(type.name) && arg.kind === "column") {
    const slot = slotOf(arg.id);
    return slot < 0 ? null : (context) => new Extreme(fn, type, values, slot, context);
  }
  if ((fn.name === "min" || fn.name === "max") && type.name === "text") {
    const column = arg.kind === "cast" && TEXTS.has(arg.input.type.name) ? arg.input : arg;
    const slot = column.kind === "column" && TEXTS.has(column.type.name) ? slotOf(column.id) : -1;
    return slot < 0 ? null : (context) => new TextExtreme(fn, values, slot, context);
  }
  return null;
}

/** One number per group. */
export class GroupNumbers {
  /** Of a group: half of the array may be empty. */
  static readonly BYTES = 16;

  values = new Float64Array(16);
  private length = 0;

  push(): void {
    if (this.length === this.values.length) {
      const grown = new Float64Array(2 * this.length);
      grown.set(this.values);
      this.values = grown;
    }
    this.length++;
  }
}

class CountRows implements Accumulator {
  readonly stateBytes = GroupNumbers.BYTES;
  private readonly counts = new GroupNumbers();

  addGroup(): void {
    this.counts.push();
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const counts = this.counts.values;
    for (let row = 0; row < batch.length; row++) counts[groupOf[row]!]!++;
    return 0;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number {
    if (groupOf !== null) return this.add(chunk, groupOf);
    this.counts.values[0]! += chunk.length;
    return 0;
  }

  result(group: number): Value {
    return this.counts.values[group]!;
  }

  results(from: number, to: number): ArrayLike<Value> {
    return this.counts.values.slice(from, to);
  }
}

class CountValues implements Accumulator {
  readonly stateBytes = GroupNumbers.BYTES;
  private readonly counts = new GroupNumbers();
  private readonly scratch: Value[] = [];

  constructor(
    private readonly arg: EvaluateAll,
    /** Of an argument that is a column of the input; −1. */
    private readonly slot: number,
    private readonly context: ExecContext,
  ) {}

  addGroup(): void {
    this.counts.push();
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const counts = this.counts.values;
    const values = this.arg(batch, this.context, this.scratch);
    for (let row = 0; row < batch.length; row++) if (values[row] !== null) counts[groupOf[row]!]!++;
    return 0;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    const column = chunk.vectors[this.slot];
    if (column?.kind !== "number" && column?.kind !== "text") return null;
    const counts = this.counts.values;
    const { rows, from } = chunk.selections[this.slot]!;
    const { nulls: areNull } = column;
    if (areNull === null && groupOf === null) {
      counts[0]! += chunk.length;
      return 0;
    }
    for (let i = 0; i < chunk.length; i++) {
      if (areNull !== null && areNull[rows === null ? from + i : rows[i]!] === 1) continue;
      counts[groupOf === null ? 0 : groupOf[i]!]!++;
    }
    return 0;
  }

  result(group: number): Value {
    return this.counts.values[group]!;
  }

  results(from: number, to: number): ArrayLike<Value> {
    return this.counts.values.slice(from, to);
  }
}

/** What an expression is in the segment that chunks come from now. */
class InSegment {
  private vectors: readonly Column[] | null = null;
  private value: VectorValue | null = null;

  constructor(private readonly expr: VectorExpr | null) {}

  of(chunk: Chunk): VectorValue | null {
    if (this.expr !== null && this.vectors !== chunk.vectors) {
      this.vectors = chunk.vectors;
      this.value = this.expr(chunk.vectors);
    }
    return this.value;
  }
}

/** Results of one chunk at a time; the accumulators of a thread take turns with them. */
let results = new Float64Array(4096);
let nulls = new Uint8Array(4096);

function computeInto(value: VectorValue, chunk: Chunk): void {
  if (results.length < chunk.length) {
    results = new Float64Array(chunk.length);
    nulls = new Uint8Array(chunk.length);
  }
  if (value.mayBeNull) nulls.fill(0, 0, chunk.length);
  value.compute(chunk, results, nulls);
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
    const numbers = results;
    const sums = this.small.values;
    const counts = this.counts.values;
    for (let i = 0; i < length; i++) {
      if (mayBeNull && nulls[i] === 1) continue;
      const group = groupOf === null ? 0 : groupOf[i]!;
      const next = sums[group]! + numbers[i]!;
      if (next > EXACT_MAX || next < -EXACT_MAX) {
        this.settle(group);
        sums[group] = numbers[i]!;
      } else sums[group] = next;
      counts[group]!++;
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

  /** Moves the group's small sum into the rest. */
  private settle(group: number): void {
    const count = this.counts.values[group]!;
    if (count === 0) return;
    this.addLarge(group, Numeric.of(BigInt(this.small.values[group]!), this.scale), count);
    this.small.values[group] = 0;
    this.counts.values[group] = 0;
  }
}

/** In the order of the rows, as the functions add them: another order would round otherwise. */
class FloatSum implements Accumulator {
  private readonly states: unknown[] = [];
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
    this.states.push(this.fn.init());
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const { states, fn } = this;
    const values = this.arg(batch, this.context, this.scratch);
    for (let row = 0; row < batch.length; row++) {
      if (values[row] !== null) fn.step(states[groupOf[row]!], values[row]);
    }
    return 0;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    const value = this.value.of(chunk);
    if (value === null) return null;
    computeInto(value, chunk);
    const { states, fn } = this;
    for (let i = 0; i < chunk.length; i++) {
      if (!value.mayBeNull || nulls[i] === 0) fn.step(states[groupOf === null ? 0 : groupOf[i]!], results[i]!);
    }
    return 0;
  }

  result(group: number): Value {
    return this.fn.result(this.states[group]);
  }
}

class Extreme implements Accumulator {
  private readonly states: unknown[] = [];
  /** Best of the numbers since they were last put into the states, at `scale`; NaN: none. */
  private readonly bests = new GroupNumbers();
  private scale = -1;
  private isPending = false;
  private readonly sign: 1 | -1;
  private readonly scratch: Value[] = [];

  constructor(
    private readonly fn: AggregateFunction,
    private readonly type: SqlType,
    private readonly arg: EvaluateAll,
    private readonly slot: number,
    private readonly context: ExecContext,
  ) {
    this.sign = fn.name === "max" ? 1 : -1;
  }

  addGroup(): void {
    this.bests.push();
    this.bests.values[this.states.length] = Number.NaN;
    this.states.push(this.fn.init());
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    this.settle();
    const { states, fn } = this;
    const values = this.arg(batch, this.context, this.scratch);
    for (let row = 0; row < batch.length; row++) {
      if (values[row] !== null) states[groupOf[row]!] = fn.step(states[groupOf[row]!], values[row]);
    }
    return 0;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    const column = chunk.vectors[this.slot]!;
    if (column.kind !== "number" || column.hasNaN) return null;
    if (column.scale !== this.scale) {
      this.settle();
      this.scale = column.scale;
    }
    this.isPending = true;
    // No row of the column is better than what was found already.
    if (groupOf === null && this.isBest(column)) return 0;
    const { data, nulls: areNull } = column;
    const { length } = chunk;
    const { rows, from } = chunk.selections[this.slot]!;
    const bests = this.bests.values;
    const isMax = this.sign === 1;
    for (let i = 0; i < length; i++) {
      const row = rows === null ? from + i : rows[i]!;
      if (areNull !== null && areNull[row] === 1) continue;
      const group = groupOf === null ? 0 : groupOf[i]!;
      const x = data[row]!;
      const best = bests[group]!;
      // Written so that NaN, for none yet, gives way.
      if (isMax ? !(x <= best) : !(x >= best)) bests[group] = x;
    }
    return 0;
  }

  private isBest({ min, max }: NumberColumn): boolean {
    const best = this.bests.values[0]!;
    return this.sign === 1 ? max <= best : min >= best;
  }

  result(group: number): Value {
    this.settle();
    return this.fn.result(this.states[group]);
  }

  private settle(): void {
    if (!this.isPending) return;
    this.isPending = false;
    const { states, fn, bests, scale } = this;
    for (let group = 0; group < states.length; group++) {
      const best = bests.values[group]!;
      if (Number.isNaN(best)) continue;
      const value = this.type.name === "numeric" ? Numeric.of(BigInt(best), scale) : best;
      states[group] = fn.step(states[group], value);
      bests.values[group] = Number.NaN;
    }
  }
}
