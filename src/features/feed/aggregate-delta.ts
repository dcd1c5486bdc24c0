/**
 * Aggregates over one table whose answer follows the table's changes. Groups and the states of their calls are kept;
 * rows are added to the states and taken back with the engine's own steps for sliding frames. Only calls whose rows
 * can be taken back exactly are followed in this way (counts, sums and averages of integers, numeric and intervals),
 * and min and max. When the last of a group's extremes leaves, or a state cannot tell, the query runs again as a
 * whole. Made by query-subscriptions.ts, called by query-group.ts; owns the states.
 */

import { compilePlan } from "../../query/exec/compile-plan.js";
import type { ExecContext } from "../../query/exec/context.js";
import type { Program } from "../../query/exec/operator.js";
import { rowKeyOf } from "../../query/exec/row-key.js";
import type { AggregateFunction, Batch, Expr } from "../../query/expr/expr.js";
import { optimize } from "../../query/optimize/optimize.js";
import type { AggregateCall, AggregatePlan, Plan } from "../../query/plan/plan.js";
import { jsonWriter } from "../../values/json-format.js";
import { BOOL, type SqlType, type Value } from "../../values/values.js";
import { type AnswerDelta, type AnswerRows, Difference, type WriteRow } from "./answer-delta.js";
import type { ChangedRow } from "./row-change.js";
import { isOfRow, positionsOf, renumbered, SingleRow, scanBelow } from "./row-source.js";

/** Equal values of these types are written alike, so it does not matter whose value stands for a group. */
const GROUPED_BY = new Set([
  "bool",
  "int2",
  "int4",
  "int8",
  "oid",
  "text",
  "varchar",
  "name",
  "uuid",
  "bytea",
  "date",
  "time",
  "timestamp",
  "timestamptz",
  "enum",
]);

interface Group {
  readonly key: readonly Value[];
  /** Its rows; without GROUP BY there is a group without any. */
  count: number;
  /** One per call; undefined: it cannot be told any more. */
  readonly states: unknown[];
}

/** The group expressions' values, then the calls' arguments. */
type Input = readonly Value[];

/** A call's steps; its arguments begin at `from` in an input. */
interface CallSteps {
  init(): unknown;
  /** `inOrder`: the query would step this row after all that were, as it is when the whole table is read. */
  step(state: unknown, input: Input, inOrder: boolean): unknown;
  takeBack(state: unknown, input: Input): unknown;
  result(state: unknown): Value;
}

export class AggregateDelta implements AnswerDelta {
  private groups = new Map<string, Group>();
  private readonly keyOf: (input: Input) => string;

  private constructor(
    /** Inputs of the whole table. */
    private readonly inputs: Program,
    /** The input of a row of the table. */
    private readonly inputOf: SingleRow,
    /** Positions, in the table's columns, of its values. */
    private readonly source: readonly number[],
    /** The answer's row of a group's values. */
    private readonly answerOf: SingleRow,
    private readonly types: readonly SqlType[],
    private readonly calls: readonly CallSteps[],
  ) {
    const keyOf = rowKeyOf(types);
    this.keyOf = (input) =>
      String(
        keyOf(
          types.map((_, i) => [input[i]!]),
          0,
        ) ?? "\u0000",
      );
  }

  /** Null: the query is not of that kind. */
  static of(plan: Plan, params: readonly Value[]): AggregateDelta | null {
    const aggregate = aggregateBelow(plan);
    if (aggregate === null) return null;
    const scan = scanBelow(aggregate.input);
    if (scan === null) return null;
    const calls: CallSteps[] = [];
    let from = aggregate.groups.length;
    for (const call of aggregate.calls) {
      const steps = stepsOf(call, from);
      if (steps === null) return null;
      calls.push(steps);
      from += call.args.length;
    }
    const inputs = inputsOf(aggregate);
    return new AggregateDelta(
      compilePlan(optimize(inputs)),
      new SingleRow(inputs, scan, params),
      positionsOf(scan),
      new SingleRow(plan, aggregate, params),
      aggregate.groups.map(({ type }) => type),
      calls,
    );
  }

  async whole(context: ExecContext, rowsMax: number, write: WriteRow): Promise<AnswerRows> {
    this.groups = new Map();
    if (this.types.length === 0) this.groupOf("", []);
    const operator = this.inputs.open(context);
    try {
      while (this.groups.size <= rowsMax) {
        const batch = await operator.next();
        if (batch === null) break;
        this.stepBatch(batch);
        if (context.shouldYield()) await context.yieldTurn();
      }
    } finally {
      operator.close();
    }
    const answer: AnswerRows = new Map();
    for (const [key, group] of this.groups) {
      answer.set(key, this.written(group, context, write));
      if (context.shouldYield()) await context.yieldTurn();
    }
    return answer;
  }

  apply(rows: readonly ChangedRow[], answer: AnswerRows, context: ExecContext, write: WriteRow): Difference | null {
    const touched = new Map<string, Group>();
    // What comes is stepped before anything is taken back, so that fewer states are lost: a larger maximum replaces
    // one.
    for (const { after } of rows) {
      const input = after && this.readInput(after, context);
      if (input === null) continue;
      const key = this.keyOf(input);
      const group = this.groupOf(key, input);
      touched.set(key, group);
      this.step(group, input, false);
    }
    for (const { before } of rows) {
      const input = before && this.readInput(before, context);
      if (input === null) continue;
      const key = this.keyOf(input);
      const group = this.groups.get(key);
      if (group === undefined) throw new Error("a row that leaves was in a group");
      touched.set(key, group);
      this.takeBack(group, input);
    }
    for (const [key, group] of touched) if (group.count === 0) this.empty(key, group);
    if ([...touched.values()].some(({ states }) => states.includes(undefined))) return null;
    const difference = new Difference();
    for (const [key, group] of touched) {
      const now = this.groups.has(key) ? this.written(group, context, write) : undefined;
      difference.tell(answer.get(key), now);
      if (now === undefined) answer.delete(key);
      else answer.set(key, now);
    }
    return difference;
  }

  private readInput(row: readonly Value[], context: ExecContext): Input | null {
    return this.inputOf.of(
      this.source.map((position) => row[position]!),
      context,
    );
  }

  private groupOf(key: string, input: Input): Group {
    let group = this.groups.get(key);
    if (group === undefined) {
      const states = this.calls.map((call) => call.init());
      group = { key: input.slice(0, this.types.length), count: 0, states };
      this.groups.set(key, group);
    }
    return group;
  }

  /** Nothing is left of its states, whatever they could not tell. */
  private empty(key: string, { states }: Group): void {
    if (this.types.length > 0) this.groups.delete(key);
    for (const [i, call] of this.calls.entries()) states[i] = call.init();
  }

  private stepBatch({ columns, length }: Batch): void {
    for (let row = 0; row < length; row++) {
      const input = columns.map((values) => values[row]!);
      this.step(this.groupOf(this.keyOf(input), input), input, true);
    }
  }

  private step(group: Group, input: Input, inOrder: boolean): void {
    group.count++;
    const { states } = group;
    for (const [i, call] of this.calls.entries()) {
      if (states[i] !== undefined) states[i] = call.step(states[i], input, inOrder);
    }
  }

  private takeBack(group: Group, input: Input): void {
    group.count--;
    const { states } = group;
    for (const [i, call] of this.calls.entries()) {
      if (states[i] !== undefined) states[i] = call.takeBack(states[i], input);
    }
  }

  private written({ key, states }: Group, context: ExecContext, write: WriteRow): string {
    const values = [...key, ...this.calls.map((call, i) => call.result(states[i]))];
    const row = this.answerOf.of(values, context);
    if (row === null) throw new Error("a group makes a row");
    return write(row);
  }
}

/** The aggregate below nothing but projections of its rows. */
function aggregateBelow(plan: Plan): AggregatePlan | null {
  if (plan.kind === "project") return plan.exprs.every(isOfRow) ? aggregateBelow(plan.input) : null;
  if (plan.kind !== "aggregate" || plan.grouping !== undefined) return null;
  return plan.groups.every((expr) => GROUPED_BY.has(expr.type.name) && isOfRow(expr)) ? plan : null;
}

/** What the aggregate reads of its input's rows. */
function inputsOf({ input, groups, calls }: AggregatePlan): Plan {
  const read = [...groups, ...calls.flatMap(({ args }) => args)];
  // A row has to have a column.
  const exprs: readonly Expr[] = read.length > 0 ? read : [{ kind: "const", type: BOOL, value: true }];
  const columns = exprs.map(({ type }, i) => ({ id: i, name: "", type, nullable: true }));
  return Object.freeze({ kind: "project", input, exprs, columns: renumbered(input, columns) });
}

/** Null: the call's rows cannot be taken back exactly. */
function stepsOf({ fn, args, distinct, filter, orderBy, direct }: AggregateCall, from: number): CallSteps | null {
  if (distinct || filter !== null || orderBy.length > 0 || direct !== undefined || fn.open !== undefined) return null;
  if (!args.every(isOfRow)) return null;
  if (fn.extreme !== undefined && args.length === 1) return extremeSteps(fn, fn.extreme, args[0]!.type, from);
  return fn.moving === undefined ? null : movingSteps(fn, from, args.length);
}

function movingSteps({ moving, strict }: AggregateFunction, from: number, arity: number): CallSteps {
  const { init, step, inverse, result } = moving!;
  const counts = (args: readonly Value[]) => !strict || !args.includes(null);
  return {
    init,
    step(state, input) {
      const args = input.slice(from, from + arity);
      return counts(args) ? step(state, ...args) : state;
    },
    takeBack(state, input) {
      const args = input.slice(from, from + arity);
      return counts(args) ? inverse(state, ...args) : state;
    },
    result: (state) => result(state),
  };
}

interface Extreme {
  readonly value: Value;
  /** Rows that have it. */
  readonly count: number;
  /** Some of them have it written otherwise (1.0 and 1.00): the query takes the first. */
  readonly isMixed: boolean;
}

/** Of min and max. */
function extremeSteps(
  { strict }: AggregateFunction,
  compare: (a: Value, b: Value) => number,
  type: SqlType,
  at: number,
): CallSteps {
  if (!strict) throw new Error("min and max pass over NULL");
  const write = jsonWriter(type);
  return {
    init: (): Extreme => ({ value: null, count: 0, isMixed: false }),
    step(state, input, inOrder) {
      const value = input[at]!;
      if (value === null) return state;
      const best = state as Extreme;
      const order = best.count === 0 ? 1 : compare(value, best.value);
      if (order > 0) return { value, count: 1, isMixed: false };
      if (order < 0) return best;
      const isAlike = write(value) === write(best.value!);
      if (!isAlike && !inOrder) return undefined;
      return { value: best.value, count: best.count + 1, isMixed: best.isMixed || !isAlike };
    },
    takeBack(state, input) {
      const value = input[at]!;
      if (value === null) return state;
      const best = state as Extreme;
      if (compare(value, best.value) < 0) return best;
      return best.count > 1 && !best.isMixed ? { ...best, count: best.count - 1 } : undefined;
    },
    result: (state) => (state as Extreme).value,
  };
}
