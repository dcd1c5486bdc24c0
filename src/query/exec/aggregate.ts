/**
 * GROUP BY and aggregates by hashing: each row gets the number of its group, each call keeps a state per group.
 * Groups come out in the order of their first rows. Without GROUP BY there is one group, also over no rows.
 */
import type { Value } from "../../protocol/values.js";
import type { HashKey } from "../expr/compare.js";
import type { SlotOf } from "../expr/compile.js";
import type { Batch, Expr } from "../expr/expr.js";
import { columnsOf } from "../expr/walk.js";
import type { AggregatePlan } from "../plan/plan.js";
import { type Accumulator, type AccumulatorProgram, compileAccumulator } from "./accumulator.js";
import type { ExecContext } from "./context.js";
import { SET_ENTRY_BYTES } from "./distinct.js";
import { drain, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { type RowKeyOf, rowKeyOf } from "./row-key.js";
import { ScanOperator } from "./scan.js";
import { ChunkGroups } from "./segments/chunk-groups.js";
import { Chunk } from "./segments/segment-scan.js";
import { compileVectorAccumulator } from "./segments/vector-accumulator.js";
import { compileAll, type EvaluateAll, slotsOf } from "./slots.js";
import { bytesOf } from "./value-bytes.js";

interface AggregateProgram {
  readonly groups: readonly EvaluateAll[];
  readonly keyOf: RowKeyOf;
  readonly calls: readonly AccumulatorProgram[];
  /** Slots that the group expressions read; the slots of all of them if they are columns, else null. */
  readonly groupSlots: readonly number[];
  readonly groupColumns: readonly number[] | null;
  /** Slots that each call reads. */
  readonly callSlots: readonly (readonly number[])[];
}

export function compileAggregate(plan: AggregatePlan, input: Open): Open {
  const slotOf = slotsOf(plan.input.columns);
  const program: AggregateProgram = {
    groups: plan.groups.map((expr) => compileAll(expr, slotOf)),
    keyOf: rowKeyOf(plan.groups.map((expr) => expr.type)),
    calls: plan.calls.map((call) => compileVectorAccumulator(call, slotOf) ?? compileAccumulator(call, slotOf)),
    groupSlots: slotsRead(plan.groups, slotOf),
    groupColumns: columnSlots(plan.groups, slotOf),
    callSlots: plan.calls.map(({ args, filter, orderBy }) =>
      slotsRead([...args, ...(filter === null ? [] : [filter]), ...orderBy.map(({ expr }) => expr)], slotOf),
    ),
  };
  return (context) => new AggregateOperator(program, input(context), context);
}

function slotsRead(exprs: readonly Expr[], slotOf: SlotOf): readonly number[] {
  const slots = exprs.flatMap((expr) => [...columnsOf(expr)].map(slotOf));
  return [...new Set(slots.filter((slot) => slot >= 0))];
}

function columnSlots(exprs: readonly Expr[], slotOf: SlotOf): readonly number[] | null {
  const slots = exprs.map((expr) => (expr.kind === "column" ? slotOf(expr.id) : -1));
  return slots.includes(-1) ? null : slots;
}

/** Estimated bytes of one call's state. */
const STATE_BYTES = 48;

class AggregateOperator implements Operator {
  private readonly numbers = new Map<HashKey | null, number>();
  /** Values of the group expressions, by group. */
  private readonly groupColumns: Value[][];
  private readonly calls: readonly Accumulator[];
  private groupOf = new Int32Array(0);
  private readonly chunkGroups: ChunkGroups | null;
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
    const { groupColumns } = program;
    const groupOfValues = (values: readonly Value[]) =>
      this.groupOfRow(
        values.map((value) => [value]),
        0,
      );
    this.chunkGroups = groupColumns === null ? null : new ChunkGroups(groupColumns, groupOfValues);
    if (input instanceof ScanOperator) input.acceptChunks();
  }

  next(): Pulled {
    if (this.position >= 0) return this.emit();
    return drain(this.input, this.consume, () => {
      this.position = 0;
      return this.emit();
    });
  }

  private readonly consume = (batch: Batch): void => {
    if (batch instanceof Chunk) {
      this.consumeChunk(batch);
      return;
    }
    const groupOf = this.assignGroups(batch);
    for (const call of this.calls) this.reserve(call.add(batch, groupOf));
  };

  /** Rows of a segment: what cannot take them as they are gets the columns that it reads as values. */
  private consumeChunk(chunk: Chunk): void {
    const { groups, groupSlots, callSlots } = this.program;
    const groupOf =
      groups.length === 0 ? null : (this.chunkGroups?.assign(chunk) ?? this.assignGroups(chunk.only(groupSlots)));
    for (let i = 0; i < this.calls.length; i++) {
      const call = this.calls[i]!;
      const bytes = call.addChunk?.(chunk, groupOf) ?? null;
      this.reserve(bytes ?? call.add(chunk.only(callSlots[i]!), groupOf ?? this.groupNumbers(chunk.length)));
    }
  }

  private assignGroups(batch: Batch): Int32Array {
    const { context } = this;
    const { groups } = this.program;
    const groupOf = this.groupNumbers(batch.length);
    if (groups.length === 0) return groupOf;
    const values = groups.map((group, i) => group(batch, context, this.scratch[i]!));
    for (let row = 0; row < batch.length; row++) groupOf[row] = this.groupOfRow(values, row);
    return groupOf;
  }

  /** An array for so many group numbers; all 0 unless there is GROUP BY. */
  private groupNumbers(length: number): Int32Array {
    if (this.groupOf.length < length) this.groupOf = new Int32Array(length);
    return this.groupOf;
  }

  private groupOfRow(values: readonly ArrayLike<Value>[], row: number): number {
    const { numbers, groupColumns } = this;
    const key = this.program.keyOf(values, row);
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
    return number;
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
