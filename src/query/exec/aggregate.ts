/**
 * GROUP BY and aggregates by hashing: each row gets the number of its group, each call keeps a state per group.
 * Groups come out in the order of their first rows. Without GROUP BY there is one group, also over no rows.
 */
import type { Value } from "../../protocol/values.js";
import type { HashKey } from "../expr/compare.js";
import type { Batch } from "../expr/expr.js";
import type { AggregatePlan } from "../plan/plan.js";
import { type Accumulator, type AccumulatorProgram, compileAccumulator } from "./accumulator.js";
import type { ExecContext } from "./context.js";
import { SET_ENTRY_BYTES } from "./distinct.js";
import { drain, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { type RowKeyOf, rowKeyOf } from "./row-key.js";
import { compileAll, type EvaluateAll, slotsOf } from "./slots.js";
import { bytesOf } from "./value-bytes.js";

interface AggregateProgram {
  readonly groups: readonly EvaluateAll[];
  readonly keyOf: RowKeyOf;
  readonly calls: readonly AccumulatorProgram[];
}

export function compileAggregate(plan: AggregatePlan, input: Open): Open {
  const slotOf = slotsOf(plan.input.columns);
  const program: AggregateProgram = {
    groups: plan.groups.map((expr) => compileAll(expr, slotOf)),
    keyOf: rowKeyOf(plan.groups.map((expr) => expr.type)),
    calls: plan.calls.map((call) => compileAccumulator(call, slotOf)),
  };
  return (context) => new AggregateOperator(program, input(context), context);
}

/** Estimated bytes of one call's state. */
const STATE_BYTES = 48;

class AggregateOperator implements Operator {
  private readonly numbers = new Map<HashKey | null, number>();
  /** Values of the group expressions, by group. */
  private readonly groupColumns: Value[][];
  private readonly calls: readonly Accumulator[];
  private readonly groupOf: number[] = [];
  private readonly scratch: Value[][];
  private groupCount = 0;
  private position = -1;
  private bytes = 0;

  constructor(
    private readonly program: AggregateProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.groupColumns = emptyColumns(program.groups.length);
    this.scratch = emptyColumns(program.groups.length);
    this.calls = program.calls.map((call) => call(context));
    if (program.groups.length === 0) this.addGroup();
  }

  next(): Pulled {
    if (this.position >= 0) return this.emit();
    return drain(this.input, this.consume, () => {
      this.position = 0;
      return this.emit();
    });
  }

  private readonly consume = (batch: Batch): void => {
    if (this.program.groups.length > 0) this.assignGroups(batch);
    else for (let row = this.groupOf.length; row < batch.length; row++) this.groupOf.push(0);
    for (const call of this.calls) this.reserve(call.add(batch, this.groupOf));
  };

  private assignGroups(batch: Batch): void {
    const { numbers, groupColumns, groupOf, context } = this;
    const { keyOf, groups } = this.program;
    const values = groups.map((group, i) => group(batch, context, this.scratch[i]!));
    for (let row = 0; row < batch.length; row++) {
      const key = keyOf(values, row);
      let number = numbers.get(key);
      if (number === undefined) {
        number = this.addGroup();
        numbers.set(key, number);
        let bytes = SET_ENTRY_BYTES + bytesOf(key) + this.calls.length * STATE_BYTES;
        for (let i = 0; i < groupColumns.length; i++) {
          const value = values[i]![row]!;
          groupColumns[i]!.push(value);
          bytes += SET_ENTRY_BYTES + bytesOf(value);
        }
        this.reserve(bytes);
      }
      groupOf[row] = number;
    }
  }

  private reserve(bytes: number): void {
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }

  private addGroup(): number {
    for (const call of this.calls) call.addGroup();
    return this.groupCount++;
  }

  private emit(): Batch | null {
    const from = this.position;
    if (from === this.groupCount) return null;
    const to = Math.min(from + this.context.batchRows, this.groupCount);
    this.position = to;
    const columns: Value[][] = this.groupColumns.map((values) => values.slice(from, to));
    for (const call of this.calls) {
      const values = new Array<Value>(to - from);
      for (let group = from; group < to; group++) values[group - from] = call.result(group);
      columns.push(values);
    }
    return { columns, length: to - from };
  }

  close(): void {
    this.context.statement.release(this.bytes);
    this.bytes = 0;
    this.input.close();
  }
}
