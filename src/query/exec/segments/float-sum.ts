/**
 * sum and avg of floats over chunks of segments, in the order of the rows, as the functions add them: another order
 * would round otherwise. So threads add up only what no order rounds, and send other numbers as they are: the sums are
 * the same, bit by bit, however many threads there are. Made by vector-accumulator.ts, one per run.
 */
import type { Value } from "../../../values/values.js";
import type { AggregateFunction, Batch } from "../../expr/expr.js";
import type { FloatTotal } from "../../expr/functions/aggregates.js";
import type { Accumulator } from "../accumulator.js";
import type { ExecContext } from "../context.js";
import type { EvaluateAll } from "../slots.js";
import { MERGED_AT_ONCE } from "../threads/merge-state.js";
import type { SentState } from "../threads/read-threads.js";
import type { Chunk } from "./chunk.js";
import { computeInto, InSegment, nulls, results } from "./chunk-numbers.js";
import { GroupNumbers } from "./group-numbers.js";
import type { VectorExpr } from "./vector-expr.js";

/** Of a thread, whose groups are sent. */
export interface PartOfRun {
  readonly isGrouped: boolean;
  /** That the thread reads. */
  readonly rows: number;
  /** Floats are added up as long as that is exact. */
  readonly addsUp: boolean;
}

export class FloatSum implements Accumulator {
  readonly stateBytes = 2 * GroupNumbers.BYTES;
  private readonly sums = new GroupNumbers();
  private readonly counts = new GroupNumbers();
  /** Groups with a number that is not finite. */
  private readonly infinite = new Set<number>();
  private readonly value: InSegment;
  private readonly scratch: Value[] = [];
  /** Null: no thread has given anything yet, and nothing is counted. */
  private exact: ExactSums | null = null;

  constructor(
    private readonly fn: AggregateFunction,
    private readonly arg: EvaluateAll,
    vector: VectorExpr | null,
    private readonly context: ExecContext,
  ) {
    this.value = new InSegment(vector);
  }

  addGroup(): void {
    this.sums.push();
    this.counts.push();
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const values = this.arg(batch, this.context, this.scratch);
    for (let row = 0; row < batch.length; row++) {
      const value = values[row];
      if (value !== null) this.addOne(value as number, groupOf[row]!);
    }
    return 0;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    const value = this.value.of(chunk);
    if (value === null) return null;
    computeInto(value, chunk);
    const { low, high, mayBeNull } = value;
    const { length } = chunk;
    // Of no rows but NULLs, low is infinite.
    if (this.exact !== null || (low <= high && !(Number.isFinite(low) && Number.isFinite(high)))) {
      for (let i = 0; i < length; i++) {
        if (!mayBeNull || nulls[i] === 0) this.addOne(results[i]!, groupOf === null ? 0 : groupOf[i]!);
      }
    } else addNumbers(results, mayBeNull ? nulls : null, groupOf, length, this.sums.values, this.counts.values);
    return 0;
  }

  private addOne(number: number, group: number): void {
    this.sums.values[group]! += number;
    this.counts.values[group]!++;
    if (!Number.isFinite(number)) this.infinite.add(group);
    this.exact?.add(number);
  }

  result(group: number): Value {
    const state: FloatTotal = {
      sum: this.sums.values[group]!,
      count: this.counts.values[group]!,
      infinite: this.infinite.has(group),
    };
    return this.fn.result(state);
  }

  /**
   * What a thread has added up is what adding up here would give: all sums in between are multiples of one step, and so
   * small that doubles hold each of them exactly.
   */
  canMerge(state: SentState): boolean {
    if (state.kind !== "numbers" || state.total === 0) return state.kind === "numbers";
    const max = EXACT_TOTAL - state.total;
    this.exact ??= new ExactSums(this.sums.values);
    // What was added since may have gone to groups that are smaller.
    if (this.exact.areSteps && this.exact.max > max) this.exact = new ExactSums(this.sums.values);
    return this.exact.areSteps && this.exact.max <= max;
  }

  *merge(state: SentState, groupOf: Int32Array): Iterable<void> {
    if (state.kind !== "numbers") throw new Error("not the numbers of a sum");
    const { sums, counts, numbers, groups } = state;
    for (let group = 0; group < sums.length; group++) {
      const own = groupOf[group]!;
      this.sums.values[own]! += sums[group]!;
      this.counts.values[own]! += counts[group]!;
      if (group % MERGED_AT_ONCE === MERGED_AT_ONCE - 1) yield;
    }
    if (this.exact !== null) this.exact.max += state.total;
    for (let i = 0; i < numbers.length; i++) {
      this.addOne(numbers[i]!, groupOf[groups === null ? 0 : groups[i]!]!);
      if (i % MERGED_AT_ONCE === MERGED_AT_ONCE - 1) yield;
    }
  }
}

/** By itself, so that V8 optimizes it after few rows: what surrounds it changes from chunk to chunk. */
function addNumbers(
  numbers: Float64Array,
  areNull: Uint8Array | null,
  groupOf: Int32Array | null,
  length: number,
  sums: Float64Array,
  counts: Float64Array,
): void {
  for (let i = 0; i < length; i++) {
    if (areNull !== null && areNull[i] === 1) continue;
    const group = groupOf === null ? 0 : groupOf[i]!;
    sums[group]! += numbers[i]!;
    counts[group]!++;
  }
}

/** Sums are multiples of a 1024th, and below 2^42, so that doubles hold them. */
const STEPS = 1024;
const EXACT_TOTAL = 2 ** 42;

const isStep = (number: number): boolean => Number.isInteger(number * STEPS);

/** What is known of all sums without looking at each. */
class ExactSums {
  areSteps = true;
  /** None is greater, without its sign. */
  max = 0;

  constructor(sums: Float64Array) {
    for (const sum of sums) {
      if (!isStep(sum)) this.areSteps = false;
      this.max = Math.max(this.max, Math.abs(sum));
    }
  }

  add(number: number): void {
    if (this.areSteps) this.areSteps = isStep(number);
    this.max += Math.abs(number);
  }
}

/**
 * In a thread: sums of numbers that are added up exactly in any order, until one comes that is not; and all numbers
 * from there on, with their groups, which the sum adds up where it is.
 */
export class FloatParts implements Accumulator {
  readonly stateBytes = 2 * GroupNumbers.BYTES;
  private readonly sums = new GroupNumbers();
  private readonly counts = new GroupNumbers();
  /** Of what is in the sums, without signs: one number. */
  private readonly total = new Float64Array(1);
  private isExact: boolean;
  private numbers = new Float64Array(0);
  private groups = new Int32Array(0);
  private length = 0;
  private readonly value: InSegment;
  private readonly scratch: Value[] = [];

  constructor(
    private readonly arg: EvaluateAll,
    vector: VectorExpr | null,
    private readonly part: PartOfRun,
    private readonly context: ExecContext,
  ) {
    this.value = new InSegment(vector);
    this.isExact = part.addsUp;
  }

  addGroup(): void {
    this.sums.push();
    this.counts.push();
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const { length } = this.numbers;
    const values = this.arg(batch, this.context, this.scratch);
    for (let row = 0; row < batch.length; row++) {
      if (values[row] !== null) this.push(values[row] as number, groupOf[row]!);
    }
    return BYTES_PER_NUMBER * (this.numbers.length - length);
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    const value = this.value.of(chunk);
    if (value === null) return null;
    const { length } = this.numbers;
    computeInto(value, chunk);
    const areNull = value.mayBeNull ? nulls : null;
    let done = 0;
    if (this.isExact) {
      done = addSteps(results, areNull, groupOf, chunk.length, this.sums.values, this.counts.values, this.total);
      this.isExact = done === chunk.length;
    }
    for (let i = done; i < chunk.length; i++) {
      if (areNull === null || areNull[i] === 0) this.push(results[i]!, groupOf === null ? 0 : groupOf[i]!);
    }
    return BYTES_PER_NUMBER * (this.numbers.length - length);
  }

  result(): Value {
    throw new Error("a thread has no sum of floats");
  }

  partial(): SentState {
    const { sums, counts, length, part } = this;
    const total = this.total[0]!;
    const numbers = this.numbers.subarray(0, length);
    const groups = part.isGrouped ? this.groups.subarray(0, length) : null;
    return { kind: "numbers", sums: sums.taken(), counts: counts.taken(), total, numbers, groups };
  }

  private push(number: number, group: number): void {
    if (this.isExact) {
      const total = this.total[0]! + Math.abs(number);
      if (isStep(number) && total < EXACT_TOTAL) {
        this.total[0] = total;
        this.sums.values[group]! += number;
        this.counts.values[group]!++;
        return;
      }
      this.isExact = false;
    }
    if (this.numbers.length === 0) {
      this.numbers = new Float64Array(this.part.rows);
      if (this.part.isGrouped) this.groups = new Int32Array(this.part.rows);
    }
    this.numbers[this.length] = number;
    if (this.part.isGrouped) this.groups[this.length] = group;
    this.length++;
  }
}

/** Stops at the first row whose number cannot be added up exactly, and answers it. By itself, as `addNumbers` is. */
function addSteps(
  numbers: Float64Array,
  areNull: Uint8Array | null,
  groupOf: Int32Array | null,
  length: number,
  sums: Float64Array,
  counts: Float64Array,
  total: Float64Array,
): number {
  let sum = total[0]!;
  let i = 0;
  for (; i < length; i++) {
    if (areNull !== null && areNull[i] === 1) continue;
    const number = numbers[i]!;
    const next = sum + Math.abs(number);
    if (!Number.isInteger(number * STEPS) || next >= EXACT_TOTAL) break;
    sum = next;
    const group = groupOf === null ? 0 : groupOf[i]!;
    sums[group]! += number;
    counts[group]!++;
  }
  total[0] = sum;
  return i;
}

/** With its group's. */
const BYTES_PER_NUMBER = 12;
