/**
 * One aggregate call over all groups of one run: takes batches whose rows have group numbers, and gives a value per
 * group. Made by aggregate.ts, which owns it.
 *
 * Plain calls step their states row by row. Calls with DISTINCT or ORDER BY collect each group's rows first and step
 * at the end.
 */
import type { CheckedTurns } from "../../protocol/turns.js";
import type { Value } from "../../values/values.js";
import type { HashKey } from "../expr/compare.js";
import type { Predicate, SlotOf } from "../expr/compile.js";
import { compileExpr } from "../expr/compile.js";
import type { AggregateFunction, Batch, Evaluate } from "../expr/expr.js";
import { exprEquals, isVolatile } from "../expr/walk.js";
import type { AggregateCall, SortKey } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { SET_ENTRY_BYTES } from "./distinct.js";
import { after, inTurns } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { type RowKeyOf, rowKeyOf } from "./row-key.js";
import type { Chunk } from "./segments/chunk.js";
import { compileAll, compileCondition, EMPTY_ROW, type EvaluateAll } from "./slots.js";
import { comparisonCost, type RowOrderOf, rowOrderOf, sortNumbers, sortRows } from "./sort-rows.js";
import type { SentState } from "./threads/read-threads.js";
import { bytesOf, sumOfBytes } from "./value-bytes.js";

export interface Accumulator {
  /** What it keeps of each group, where that is in typed arrays. */
  readonly stateBytes?: number;
  /** Makes the state of group number `groups so far`. */
  addGroup(): void;
  /** `groupOf[r]` is the group of the batch's row r. Answers the estimated bytes that it keeps of the batch. */
  add(batch: Batch, groupOf: ArrayLike<number>): number;
  /** As `add`, for rows of a segment; null: these it must get as a batch. Absent: so it must all of them. */
  addChunk?(chunk: Chunk, groupOf: Int32Array | null): number | null;
  /** Does what a group's result may take long for, in turns of the actor's loop; called once before `result`. */
  prepareResult?(group: number): void | Promise<void>;
  /** The value of a group; asked once. */
  result(group: number): Value;
  /** The values of the groups `from … to − 1`, asked instead. Absent: they are asked one by one. */
  results?(from: number, to: number): ArrayLike<Value>;
  /** In a thread: what it has of all groups, for `merge`. Absent: calls of its kind are not sent to threads. */
  partial?(): SentState;
  /** Whether `merge` of it gives what the rows themselves would have given. Absent: it does. */
  canMerge?(state: SentState): boolean;
  /** Takes what threads have of further rows: their group i is `groupOf[i]` here. Gives way where it stops. */
  merge?(state: SentState, groupOf: Int32Array): Iterable<void>;
}

export type AccumulatorProgram = (context: ExecContext) => Accumulator;

/** Prepares the results of the groups `groupAt(i)`, 0 ≤ i < count, of all calls, where calls need that. */
export function prepareResults(
  calls: readonly Accumulator[],
  count: number,
  groupAt: (i: number) => number,
  turns: CheckedTurns,
): void | Promise<void> {
  const needing = calls.filter((call) => call.prepareResult !== undefined);
  if (needing.length > 0) return prepareFrom(needing, 0, count, groupAt, turns);
}

function prepareFrom(
  calls: readonly Accumulator[],
  from: number,
  count: number,
  groupAt: (i: number) => number,
  turns: CheckedTurns,
): void | Promise<void> {
  for (let i = from; i < calls.length * count; i++) {
    const group = groupAt(Math.floor(i / calls.length));
    const pending = calls[i % calls.length]!.prepareResult!(group);
    if (pending === undefined && !turns.shouldYield()) continue;
    return (pending ?? turns.yieldTurn()).then(() => prepareFrom(calls, i + 1, count, groupAt, turns));
  }
}

/** Results that were made in turns, until they are asked for. */
class MadeResults {
  private readonly values = new Map<number, Value>();

  constructor(
    private readonly fn: AggregateFunction,
    private readonly context: ExecContext,
  ) {}

  make(group: number, state: unknown): void | Promise<void> {
    const pending = this.fn.resultInTurns!(state, this.context);
    if (pending !== null) return pending.then((value) => void this.values.set(group, value));
  }

  of(group: number, state: unknown): Value {
    return this.values.has(group) ? this.values.get(group)! : this.fn.result(state);
  }
}

const madeResults = (fn: AggregateFunction, context: ExecContext): MadeResults | null =>
  fn.resultInTurns === undefined ? null : new MadeResults(fn, context);

/** Aggregates whose state holds their whole input, so that its order and its memory count. */
const KEEPS_INPUT = new Set([
  "array_agg",
  "string_agg",
  "json_agg",
  "jsonb_agg",
  "json_object_agg",
  "jsonb_object_agg",
]);

const keepsInput = (fn: AggregateFunction) => fn.keepsInput ?? KEEPS_INPUT.has(fn.name);

export function compileAccumulator(call: AggregateCall, slotOf: SlotOf): AccumulatorProgram {
  const { open } = call.fn;
  if (open !== undefined) return (context) => compileAccumulator({ ...call, fn: open(context) }, slotOf)(context);
  if (isSortedByItself(call)) return compileSorted(call, slotOf);
  if (call.distinct || call.orderBy.length > 0 || call.direct !== undefined) return compileCollected(call, slotOf);
  const { fn } = call;
  if (call.filter !== null || call.args.length > 1) {
    const args = call.args.map((arg) => compileExpr(arg, slotOf));
    const filter = compileCondition(call.filter, slotOf);
    return (context) => new RowByRow(fn, args, filter, context);
  }
  if (call.args.length === 0) return () => new WithoutArgument(fn);
  const arg = compileAll(call.args[0]!, slotOf);
  return (context) => new OneArgument(fn, arg, context);
}

/** count(*). */
class WithoutArgument implements Accumulator {
  private readonly states: unknown[] = [];

  constructor(private readonly fn: AggregateFunction) {}

  addGroup(): void {
    this.states.push(this.fn.init());
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const { states, fn } = this;
    for (let row = 0; row < batch.length; row++) {
      const group = groupOf[row]!;
      states[group] = fn.step(states[group]);
    }
    return 0;
  }

  result(group: number): Value {
    return this.fn.result(this.states[group]);
  }
}

/** The usual case: the argument is evaluated column-wise. */
class OneArgument implements Accumulator {
  private readonly states: unknown[] = [];
  private readonly scratch: Value[] = [];
  private readonly keepsInput: boolean;
  private readonly made: MadeResults | null;
  readonly prepareResult?: (group: number) => void | Promise<void>;

  constructor(
    private readonly fn: AggregateFunction,
    private readonly arg: EvaluateAll,
    private readonly context: ExecContext,
  ) {
    this.keepsInput = keepsInput(fn);
    const made = madeResults(fn, context);
    this.made = made;
    if (made !== null) this.prepareResult = (group) => made.make(group, this.states[group]);
  }

  addGroup(): void {
    this.states.push(this.fn.init());
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const { states, fn } = this;
    const values = this.arg(batch, this.context, this.scratch);
    for (let row = 0; row < batch.length; row++) {
      const value = values[row]!;
      if (value === null && fn.strict) continue;
      const group = groupOf[row]!;
      states[group] = fn.step(states[group], value);
    }
    return this.keepsInput ? sumOfBytes(values, batch.length) : 0;
  }

  result(group: number): Value {
    const state = this.states[group];
    return this.made === null ? this.fn.result(state) : this.made.of(group, state);
  }
}

/** With FILTER (arguments are evaluated only where it holds) or several arguments. */
class RowByRow implements Accumulator {
  private readonly states: unknown[] = [];
  private readonly made: MadeResults | null;
  readonly prepareResult?: (group: number) => void | Promise<void>;

  constructor(
    private readonly fn: AggregateFunction,
    private readonly args: readonly Evaluate[],
    private readonly filter: Predicate | null,
    private readonly context: ExecContext,
  ) {
    const made = madeResults(fn, context);
    this.made = made;
    if (made !== null) this.prepareResult = (group) => made.make(group, this.states[group]);
  }

  addGroup(): void {
    this.states.push(this.fn.init());
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const { states, fn, args, filter, context } = this;
    const keeps = keepsInput(fn);
    let bytes = 0;
    for (let row = 0; row < batch.length; row++) {
      if (filter !== null && !filter(batch, row, context)) continue;
      const values = args.map((arg) => arg(batch, row, context));
      if (fn.strict && values.includes(null)) continue;
      const group = groupOf[row]!;
      states[group] = fn.step(states[group], ...values);
      if (keeps) bytes += sumOfBytes(values, values.length);
    }
    return bytes;
  }

  result(group: number): Value {
    const state = this.states[group];
    return this.made === null ? this.fn.result(state) : this.made.of(group, state);
  }
}

interface CollectedProgram {
  readonly fn: AggregateFunction;
  readonly args: readonly Evaluate[];
  /** Of ordered-set aggregates. */
  readonly direct: readonly Evaluate[] | null;
  readonly filter: Predicate | null;
  /** Null when duplicates count. */
  readonly keyOf: RowKeyOf | null;
  readonly sortKeys: readonly Evaluate[];
  /** Null when the order does not matter. Sees argument columns and sort key columns side by side. */
  readonly orderOf: RowOrderOf | null;
}

function compileCollected(call: AggregateCall, slotOf: SlotOf): AccumulatorProgram {
  const { fn } = call;
  // DISTINCT brings its values in ascending order, as PostgreSQL's sort does.
  const isSorted = keepsInput(fn) && fn.arrivalOrder !== true;
  const byArguments: readonly SortKey[] = call.args.map((expr) => ({ expr, descending: false, nullsFirst: false }));
  const orderBy = call.orderBy.length > 0 ? call.orderBy : isSorted ? byArguments : [];
  const program: CollectedProgram = {
    fn,
    args: call.args.map((arg) => compileExpr(arg, slotOf)),
    direct: call.direct?.map((arg) => compileExpr(arg, slotOf)) ?? null,
    filter: compileCondition(call.filter, slotOf),
    keyOf: call.distinct ? rowKeyOf(call.args.map((arg) => arg.type)) : null,
    sortKeys: orderBy.map((key) => compileExpr(key.expr, slotOf)),
    orderOf: orderBy.length > 0 ? rowOrderOf(orderBy) : null,
  };
  return (context) => new Collected(program, context);
}

interface CollectedGroup {
  length: number;
  /** Values of the direct arguments, which are the same in all rows of the group. */
  direct: readonly Value[] | null;
  args: Value[][];
  sortKeys: Value[][];
  seen: Set<HashKey | null> | null;
  /** After all rows. */
  state: unknown;
}

class Collected implements Accumulator {
  private readonly groups: CollectedGroup[] = [];
  private readonly made: MadeResults | null;

  constructor(
    private readonly program: CollectedProgram,
    private readonly context: ExecContext,
  ) {
    this.made = madeResults(program.fn, context);
  }

  addGroup(): void {
    const { args, sortKeys, keyOf } = this.program;
    this.groups.push({
      length: 0,
      direct: null,
      args: emptyColumns(args.length),
      sortKeys: emptyColumns(sortKeys.length),
      seen: keyOf === null ? null : new Set(),
      state: undefined,
    });
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const { program, context } = this;
    const { fn, filter, args, sortKeys, direct } = program;
    let bytes = 0;
    for (let row = 0; row < batch.length; row++) {
      if (direct !== null) {
        this.groups[groupOf[row]!]!.direct ??= direct.map((arg) => arg(batch, row, context));
      }
      if (filter !== null && !filter(batch, row, context)) continue;
      const group = this.groups[groupOf[row]!]!;
      const at = group.length;
      for (let i = 0; i < args.length; i++) group.args[i]![at] = args[i]!(batch, row, context);
      // A refused row's values are overwritten by the next one's, or lie beyond `length`.
      if (fn.strict && group.args.some((values) => values[at] === null)) continue;
      if (group.seen !== null) {
        const key = program.keyOf!(group.args, at);
        if (group.seen.has(key)) continue;
        group.seen.add(key);
        bytes += SET_ENTRY_BYTES;
      }
      for (let i = 0; i < sortKeys.length; i++) group.sortKeys[i]![at] = sortKeys[i]!(batch, row, context);
      bytes += SET_ENTRY_BYTES;
      for (const values of group.args) bytes += bytesOf(values[at]!);
      group.length++;
    }
    return bytes;
  }

  prepareResult(number: number): void | Promise<void> {
    const { fn, orderOf } = this.program;
    const { context } = this;
    const group = this.groups[number]!;
    group.seen = null;
    const order =
      orderOf === null
        ? null
        : sortRows(context, group.length, orderOf(group.sortKeys), comparisonCost(group.sortKeys, group.length));
    return after(order, (rows) => {
      const { args } = group;
      group.state = fn.init();
      const step = (i: number): void => {
        const row = rows === null ? i : rows[i]!;
        group.state = fn.step(group.state, ...args.map((values) => values[row]!));
      };
      return inTurns(context, group.length, step, () => {
        group.args = [];
        group.sortKeys = [];
        return this.made?.make(number, group.state);
      });
    });
  }

  result(number: number): Value {
    const { fn, direct } = this.program;
    const group = this.groups[number]!;
    const { state } = group;
    if (direct === null) return this.made === null ? fn.result(state) : this.made.of(number, state);
    return fn.result(state, group.direct ?? direct.map((arg) => arg(EMPTY_ROW, 0, this.context)));
  }
}

/** Percentiles and the like: one argument, which is also all that the rows are ordered by. */
function isSortedByItself({ fn, args, orderBy, distinct }: AggregateCall): boolean {
  const [arg] = args;
  if (!fn.strict || fn.resultInTurns !== undefined || distinct || args.length !== 1 || orderBy.length !== 1)
    return false;
  return exprEquals(arg!, orderBy[0]!.expr) && !isVolatile(arg!);
}

/** Types whose values are numbers in their usual order. A bigint holds what a number cannot. */
const NUMBER_TYPES = new Set(["int2", "int4", "int8", "float4", "float8"]);

/** A number in a list that grows, in the two arrays that it is sorted in, and in the list of the state. */
const SORTED_NUMBER_BYTES = 40;

interface SortedProgram {
  readonly fn: AggregateFunction;
  readonly arg: Evaluate;
  /** Of ordered-set aggregates. */
  readonly direct: readonly Evaluate[] | null;
  readonly filter: Predicate | null;
  readonly isNumber: boolean;
  readonly descending: boolean;
  readonly orderOf: RowOrderOf;
}

function compileSorted(call: AggregateCall, slotOf: SlotOf): AccumulatorProgram {
  const [arg] = call.args;
  const program: SortedProgram = {
    fn: call.fn,
    arg: compileExpr(arg!, slotOf),
    direct: call.direct?.map((expr) => compileExpr(expr, slotOf)) ?? null,
    filter: compileCondition(call.filter, slotOf),
    isNumber: NUMBER_TYPES.has(arg!.type.name),
    descending: call.orderBy[0]!.descending,
    orderOf: rowOrderOf(call.orderBy),
  };
  return (context) => new SortedValues(program, context);
}

interface SortedGroup {
  values: Value[];
  direct: readonly Value[] | null;
  /** Numbers of which equal ones are the same: not −0, which keeps its place among zeros, and no bigint. */
  areNumbers: boolean;
  /** After all rows. */
  state: unknown;
}

class SortedValues implements Accumulator {
  private readonly groups: SortedGroup[] = [];

  constructor(
    private readonly program: SortedProgram,
    private readonly context: ExecContext,
  ) {}

  addGroup(): void {
    this.groups.push({ values: [], direct: null, areNumbers: this.program.isNumber, state: undefined });
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const { context } = this;
    const { filter, arg, direct } = this.program;
    let bytes = 0;
    for (let row = 0; row < batch.length; row++) {
      const group = this.groups[groupOf[row]!]!;
      if (direct !== null) group.direct ??= direct.map((expr) => expr(batch, row, context));
      if (filter !== null && !filter(batch, row, context)) continue;
      const value = arg(batch, row, context);
      if (value === null) continue;
      if (group.areNumbers && (typeof value !== "number" || Object.is(value, -0))) group.areNumbers = false;
      bytes += typeof value === "number" ? SORTED_NUMBER_BYTES : SET_ENTRY_BYTES + bytesOf(value);
      group.values.push(value);
    }
    return bytes;
  }

  prepareResult(number: number): void | Promise<void> {
    const group = this.groups[number]!;
    const { values } = group;
    group.values = [];
    if (group.areNumbers) {
      const last = this.program.descending ? values.length - 1 : null;
      const sorted = sortNumbers(this.context, values as number[]);
      return after(sorted, (numbers) =>
        this.step(group, numbers.length, last === null ? (i) => numbers[i]! : (i) => numbers[last - i]!),
      );
    }
    const cost = comparisonCost([values], values.length);
    const order = sortRows(this.context, values.length, this.program.orderOf([values]), cost);
    return after(order, (rows) => this.step(group, rows.length, (i) => values[rows[i]!]!));
  }

  private step(group: SortedGroup, count: number, valueAt: (i: number) => Value): void | Promise<void> {
    const { fn } = this.program;
    group.state = fn.init();
    const step = (i: number): void => {
      group.state = fn.step(group.state, valueAt(i));
    };
    return inTurns(this.context, count, step, () => undefined);
  }

  result(number: number): Value {
    const { fn, direct } = this.program;
    const group = this.groups[number]!;
    if (direct === null) return fn.result(group.state);
    return fn.result(group.state, group.direct ?? direct.map((arg) => arg(EMPTY_ROW, 0, this.context)));
  }
}
