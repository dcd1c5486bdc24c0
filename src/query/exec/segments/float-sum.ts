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
  private readonly states: unknown[] = [];
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
    this.states.push(this.fn.init());
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const { states, fn } = this;
    const values = this.arg(batch, this.context, this.scratch);
    for (let row = 0; row < batch.length; row++) {
      const value = values[row]!;
      if (value === null) continue;
      fn.step(states[groupOf[row]!], value);
      this.exact?.add(value as number);
    }
    return 0;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    const value = this.value.of(chunk);
    if (value === null) return null;
    computeInto(value, chunk);
    const { states, fn, exact } = this;
    const { mayBeNull } = value;
    for (let i = 0; i < chunk.length; i++) {
      if (!mayBeNull || nulls[i] === 0) fn.step(states[groupOf === null ? 0 : groupOf[i]!], results[i]!);
    }
    if (exact === null) return 0;
    for (let i = 0; i < chunk.length; i++) if (!mayBeNull || nulls[i] === 0) exact.add(results[i]!);
    return 0;
  }

  result(group: number): Value {
    return this.fn.result(this.states[group]);
  }

  /**
   * What a thread has added up is what adding up here would give: all sums in between are multiples of one step, and so
   * small that doubles hold each of them exactly.
   */
  canMerge(state: SentState): boolean {
    if (state.kind !== "numbers" || state.total === 0) return state.kind === "numbers";
    const max = EXACT_TOTAL - state.total;
    this.exact ??= new ExactSums(this.states as FloatTotal[]);
    // What was added since may have gone to groups that are smaller.
    if (this.exact.areSteps && this.exact.max > max) this.exact = new ExactSums(this.states as FloatTotal[]);
    return this.exact.areSteps && this.exact.max <= max;
  }

  *merge(state: SentState, groupOf: Int32Array): Iterable<void> {
    if (state.kind !== "numbers") throw new Error("not the numbers of a sum");
    const { sums, counts, numbers, groups } = state;
    const states = this.states as FloatTotal[];
    for (let group = 0; group < sums.length; group++) {
      const own = states[groupOf[group]!]!;
      own.sum += sums[group]!;
      own.count += counts[group]!;
      if (group % MERGED_AT_ONCE === MERGED_AT_ONCE - 1) yield;
    }
    const { fn, exact } = this;
    if (exact !== null) exact.max += state.total;
    for (let i = 0; i < numbers.length; i++) {
      exact?.add(numbers[i]!);
      fn.step(states[groupOf[groups === null ? 0 : groups[i]!]!], numbers[i]!);
      if (i % MERGED_AT_ONCE === MERGED_AT_ONCE - 1) yield;
    }
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

  constructor(states: readonly FloatTotal[]) {
    for (const { sum } of states) {
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
  /** Of what is in the sums, without signs. */
  private total = 0;
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
    const { mayBeNull } = value;
    for (let i = 0; i < chunk.length; i++) {
      if (!mayBeNull || nulls[i] === 0) this.push(results[i]!, groupOf === null ? 0 : groupOf[i]!);
    }
    return BYTES_PER_NUMBER * (this.numbers.length - length);
  }

  result(): Value {
    throw new Error("a thread has no sum of floats");
  }

  partial(): SentState {
    const { sums, counts, total, length, part } = this;
    const numbers = this.numbers.subarray(0, length);
    const groups = part.isGrouped ? this.groups.subarray(0, length) : null;
    return { kind: "numbers", sums: sums.taken(), counts: counts.taken(), total, numbers, groups };
  }

  private push(number: number, group: number): void {
    if (this.isExact) {
      const total = this.total + Math.abs(number);
      if (isStep(number) && total < EXACT_TOTAL) {
        this.total = total;
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

/** With its group's. */
const BYTES_PER_NUMBER = 12;
