/**
 * GROUPING SETS, ROLLUP and CUBE by hashing: every row joins one group per set. All sets share the states of the calls,
 * whose group numbers run through all sets. Groups come out set by set.
 */
import type { Value } from "../../values/values.js";
import type { HashKey } from "../expr/compare.js";
import type { Batch } from "../expr/expr.js";
import type { AggregatePlan } from "../plan/plan.js";
import { type Accumulator, type AccumulatorProgram, compileAccumulator, prepareResults } from "./accumulator.js";
import type { ExecContext } from "./context.js";
import { SET_ENTRY_BYTES } from "./distinct.js";
import { after, drain, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { type RowKeyOf, rowKeyOf } from "./row-key.js";
import { compileAll, type EvaluateAll, slotsOf } from "./slots.js";
import { bytesOf } from "./value-bytes.js";

interface SetProgram {
  /** Positions among the groups. */
  readonly groups: readonly number[];
  readonly keyOf: RowKeyOf;
  /** Values of the GROUPING columns. */
  readonly masks: readonly number[];
}

interface GroupingProgram {
  readonly groups: readonly EvaluateAll[];
  readonly sets: readonly SetProgram[];
  readonly calls: readonly AccumulatorProgram[];
}

export function compileGroupingSets(plan: AggregatePlan, input: Open): Open {
  const slotOf = slotsOf(plan.input.columns);
  const { sets, masks } = plan.grouping!;
  const program: GroupingProgram = {
    groups: plan.groups.map((expr) => compileAll(expr, slotOf)),
    calls: plan.calls.map((call) => compileAccumulator(call, slotOf)),
    sets: sets.map((groups, i) => ({
      groups,
      keyOf: rowKeyOf(groups.map((group) => plan.groups[group]!.type)),
      masks: masks.map((values) => values[i]!),
    })),
  };
  return (context) => new GroupingSetsOperator(program, input(context), context);
}

/** Estimated bytes of one call's state. */
const STATE_BYTES = 48;

/** The groups of one set in one run. */
interface SetState {
  readonly program: SetProgram;
  readonly numbers: Map<HashKey | null, number>;
  /** Numbers of its groups, in the order of their first rows. */
  readonly members: number[];
}

class GroupingSetsOperator implements Operator {
  private readonly calls: readonly Accumulator[];
  private readonly sets: readonly SetState[];
  /** Values of the group expressions, by group number; NULL where the group's set does not have them. */
  private readonly groupColumns: Value[][];
  private readonly scratch: Value[][];
  private readonly groupOf: number[] = [];
  private groupCount = 0;
  private bytes = 0;
  private drained = false;
  private setIndex = 0;
  private position = 0;

  constructor(
    private readonly program: GroupingProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.groupColumns = emptyColumns(program.groups.length);
    this.scratch = emptyColumns(program.groups.length);
    this.calls = program.calls.map((call) => call(context));
    this.sets = program.sets.map((set) => ({ program: set, numbers: new Map(), members: [] }));
    // A set without groups has its one row also over no input.
    for (const set of this.sets) if (set.program.groups.length === 0) this.addGroup(set, "", [], 0);
  }

  next(): Pulled {
    if (this.drained) {
      return this.context.shouldYield() ? this.context.yieldTurn().then(() => this.emit()) : this.emit();
    }
    return drain(this.input, this.consume, () => {
      this.drained = true;
      return this.emit();
    });
  }

  private readonly consume = (batch: Batch): void => {
    const values = this.program.groups.map((group, i) => group(batch, this.context, this.scratch[i]!));
    for (const set of this.sets) {
      this.assign(set, values, batch.length);
      for (const call of this.calls) this.reserve(call.add(batch, this.groupOf));
    }
  };

  private assign(set: SetState, values: readonly ArrayLike<Value>[], length: number): void {
    const { keyOf, groups } = set.program;
    const own = groups.map((group) => values[group]!);
    for (let row = 0; row < length; row++) {
      const key = groups.length === 0 ? "" : keyOf(own, row);
      this.groupOf[row] = set.numbers.get(key) ?? this.addGroup(set, key, values, row);
    }
  }

  private addGroup(set: SetState, key: HashKey | null, values: readonly ArrayLike<Value>[], row: number): number {
    const number = this.groupCount++;
    set.numbers.set(key, number);
    set.members.push(number);
    for (const call of this.calls) call.addGroup();
    let bytes = SET_ENTRY_BYTES + bytesOf(key) + this.calls.length * STATE_BYTES;
    for (const column of this.groupColumns) column.push(null);
    for (const group of set.program.groups) {
      const value = values[group]![row]!;
      this.groupColumns[group]![number] = value;
      bytes += SET_ENTRY_BYTES + bytesOf(value);
    }
    this.reserve(bytes);
    return number;
  }

  private reserve(bytes: number): void {
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }

  private emit(): Pulled {
    for (; this.setIndex < this.sets.length; this.setIndex++) {
      const { members, program } = this.sets[this.setIndex]!;
      if (this.position < members.length) {
        const groups = members.slice(this.position, this.position + this.context.batchRows);
        this.position += groups.length;
        const prepared = prepareResults(this.calls, groups.length, (i) => groups[i]!, this.context);
        return after(prepared, () => this.batchOf(groups, program.masks));
      }
      this.position = 0;
    }
    return null;
  }

  private batchOf(groups: readonly number[], masks: readonly number[]): Batch {
    const columns: Value[][] = this.groupColumns.map((values) => groups.map((group) => values[group]!));
    for (const call of this.calls) columns.push(groups.map((group) => call.result(group)));
    for (const mask of masks) columns.push(groups.map(() => mask));
    return { columns, length: groups.length };
  }

  close(): void {
    this.context.statement.release(this.bytes);
    this.bytes = 0;
    this.input.close();
  }
}
