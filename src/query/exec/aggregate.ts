/**
 * GROUP BY and aggregates by hashing: each row gets the number of its group, and each call keeps a state per group.
 * Groups come out in the order of their first rows. Without GROUP BY there is one group, even over no rows.
 *
 * When the statement's memory is full of groups, rows of further groups go to disk, distributed by their keys. They
 * are aggregated in the same way, one file after the other, when the groups in memory are done.
 */
import type { SqlType, Value } from "../../values/values.js";
import type { HashKey } from "../expr/compare.js";
import type { Batch } from "../expr/expr.js";
import type { AggregateCall, AggregatePlan, OutputColumn } from "../plan/plan.js";
import { type Accumulator, type AccumulatorProgram, compileAccumulator, prepareResults } from "./accumulator.js";
import type { ExecContext } from "./context.js";
import { SET_ENTRY_BYTES } from "./distinct.js";
import { haveGroupKeys } from "./group-keys.js";
import { GroupOverflow } from "./group-overflow.js";
import { KeyGroups } from "./key-groups.js";
import { drain, type Open, type Operator, type Pulled } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { type RowKeyOf, rowKeyOf } from "./row-key.js";
import { Chunk, chunkOf, chunkOfColumns, plainColumn, valuesOfBatch } from "./segments/chunk.js";
import { ChunkGroups } from "./segments/chunk-groups.js";
import { compileDistinctCount } from "./segments/distinct-count.js";
import type { PartOfRun } from "./segments/float-sum.js";
import { compileVectorAccumulator } from "./segments/vector-accumulator.js";
import { columnSlots, compileAll, type EvaluateAll, slotsOf, slotsRead } from "./slots.js";
import { DEPTH_MAX } from "./spill/partitions.js";
import { canSpill } from "./spill/spilled-rows.js";
import { THREAD_GROUPS_MAX, Unfit } from "./threads/merge-state.js";
import { FromThread, type SentGroups, type ThreadResult } from "./threads/read-threads.js";
import { type SentPlanOf, sentPlanOf } from "./threads/sent-read.js";
import { bytesOf } from "./value-bytes.js";

interface AggregateProgram {
  readonly sent: SentPlanOf;
  readonly groups: readonly EvaluateAll[];
  readonly keyOf: RowKeyOf;
  /** Types of the group expressions, if all of them have keys in typed arrays; else null. */
  readonly keyTypes: readonly SqlType[] | null;
  readonly calls: readonly AccumulatorProgram[];
  /** Slots that the group expressions read; the slots of all of them if they are columns, else null. */
  readonly groupSlots: readonly number[];
  readonly groupColumns: readonly number[] | null;
  /** Slots that each call reads. */
  readonly callSlots: readonly (readonly number[])[];
  /** Of the input. */
  readonly columns: readonly OutputColumn[];
  /** Nothing is wanted of the input but the least and the greatest value of columns. */
  readonly onlyExtremes: boolean;
  /** Rows of the input can be put on disk; as chunks, too. */
  readonly canSpill: boolean;
  readonly spillsChunks: boolean;
}

export function compileAggregate(plan: AggregatePlan, input: Open): Open {
  const program = compileProgram(plan, null);
  return (context) => new AggregateOperator(program, input(context), context);
}

/** In a thread: what is known of the groups of the input's rows. Null: it has no form that can be sent. */
export async function partialGroups(
  plan: AggregatePlan,
  input: Operator,
  context: ExecContext,
  part: Omit<PartOfRun, "isGrouped">,
): Promise<SentGroups | null> {
  const program = compileProgram(plan, { isGrouped: plan.groups.length > 0, ...part });
  const operator = new AggregateOperator(program, input, context);
  try {
    return await operator.partial();
  } finally {
    operator.close();
  }
}

function compileProgram(plan: AggregatePlan, part: PartOfRun | null): AggregateProgram {
  const slotOf = slotsOf(plan.input.columns);
  const groupTypes = plan.groups.map((expr) => expr.type);
  return {
    sent: sentPlanOf(plan),
    columns: plan.input.columns,
    canSpill: plan.groups.length > 0 && canSpill(plan.input.columns.map((column) => column.type)),
    spillsChunks: GroupOverflow.takesChunks(plan.input.columns),
    onlyExtremes: plan.groups.length === 0 && plan.calls.every(isExtreme),
    groups: plan.groups.map((expr) => compileAll(expr, slotOf)),
    keyOf: rowKeyOf(groupTypes),
    keyTypes: plan.groups.length > 0 && haveGroupKeys(groupTypes) ? groupTypes : null,
    calls: plan.calls.map(
      (call) =>
        compileVectorAccumulator(call, slotOf, part) ??
        compileDistinctCount(call, slotOf, plan.groups.length > 0) ??
        compileAccumulator(call, slotOf),
    ),
    groupSlots: slotsRead(plan.groups, slotOf),
    groupColumns: columnSlots(plan.groups, slotOf),
    callSlots: plan.calls.map(({ args, filter, orderBy }) =>
      slotsRead([...args, ...(filter === null ? [] : [filter]), ...orderBy.map(({ expr }) => expr)], slotOf),
    ),
  };
}

function isExtreme({ fn, args, filter, orderBy }: AggregateCall): boolean {
  const isPlain = filter === null && orderBy.length === 0 && fn.open === undefined;
  return isPlain && (fn.name === "min" || fn.name === "max") && args.length === 1 && args[0]!.kind === "column";
}

/** Groups of a thread that are looked for at once. */
const GROUPS_AT_ONCE = 1024;
/** So many groups for each row, after that many rows, and threads save little. */
const MERGED_SHARE_MAX = 0.3;
const MERGED_ROWS_MIN = 100_000;

/** Estimated bytes of one call's state, where it says nothing else. */
const STATE_BYTES = 48;

class AggregateOperator implements Operator {
  /** Groups by their keys: these, or, as long as typed arrays hold all keys, those. */
  private readonly numbers = new Map<HashKey | null, number>();
  private byKeys: KeyGroups | null;
  /** Values of the group expressions, by group; `byKeys` has its own. */
  private groupColumns: Value[][];
  private calls: readonly Accumulator[];
  private groupOf = new Int32Array(0);
  private readonly chunkGroups: ChunkGroups | null;
  private readonly scratch: Value[][];
  private handsOutChunks = false;
  /** Of all calls, by group. */
  private stateBytes = 0;
  private groupCount = 0;
  private position = -1;
  private bytes = 0;
  private overflow: GroupOverflow | null = null;
  private later: readonly Open[] | null = null;
  private laterPosition = 0;
  private current: AggregateOperator | null = null;
  /** Groups that came from threads, and rows that they were made of. */
  private merged = 0;
  private mergedRows = 0;

  constructor(
    private readonly program: AggregateProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
    private readonly depth = 0,
  ) {
    this.groupColumns = emptyColumns(program.groups.length);
    this.scratch = emptyColumns(program.groups.length);
    this.calls = program.calls.map((call) => call(context));
    for (const call of this.calls) this.stateBytes += call.stateBytes ?? STATE_BYTES;
    if (program.groups.length === 0) this.addGroup();
    this.byKeys = program.keyTypes === null ? null : new KeyGroups(program.keyTypes, context.statement.memoryBytesMax);
    const { groupColumns } = program;
    this.chunkGroups = groupColumns === null ? null : new ChunkGroups(groupColumns, this.groupsOfChunk);
    input.acceptChunks?.();
    if (program.onlyExtremes) input.acceptExtremes?.();
    if (this.calls.every(({ merge }) => merge !== undefined) && (this.byKeys !== null || program.groups.length === 0)) {
      const canTake = (result: ThreadResult): boolean =>
        result.kind !== "groups" || this.calls.every((call, i) => call.canMerge?.(result.groups.states[i]!) ?? true);
      input.acceptThreads?.({ plan: program.sent, rowsMax: null, wants: () => this.wantsThreads, canTake });
    }
  }

  /** Where most rows are groups of their own, or groups go to disk, threads are of no use. */
  private get wantsThreads(): boolean {
    const { merged, mergedRows } = this;
    if (mergedRows > MERGED_ROWS_MIN && merged > mergedRows * MERGED_SHARE_MAX) return false;
    return this.overflow === null && !this.isFull();
  }

  acceptChunks(): void {
    this.handsOutChunks = true;
  }

  next(): Pulled {
    if (this.later !== null) return this.nextOfLater(this.later);
    if (this.position >= 0) {
      if (!this.context.shouldYield()) return this.emitAll();
      return this.context.yieldTurn().then(() => this.emitAll());
    }
    return drain(this.input, this.consume, () => {
      this.position = 0;
      return this.emitAll();
    });
  }

  /** The groups in memory, then those on disk. */
  private emitAll(): Pulled {
    const { calls, position, context } = this;
    const pending = prepareResults(calls, this.emitTo - position, (i) => position + i, context);
    return pending === undefined ? this.emitPrepared() : pending.then(() => this.emitPrepared());
  }

  private emitPrepared(): Pulled {
    const batch = this.emit();
    if (batch !== null || this.overflow === null) return batch;
    this.later = this.overflow.finish();
    this.calls = [];
    this.groupColumns = [];
    this.byKeys = null;
    this.numbers.clear();
    this.release();
    return this.nextOfLater(this.later);
  }

  private nextOfLater(parts: readonly Open[]): Pulled {
    for (;;) {
      if (this.current === null) {
        const part = parts[this.laterPosition++];
        if (part === undefined) return null;
        const { program, context } = this;
        this.current = new AggregateOperator(program, part(context), context, this.depth + 1);
        if (this.handsOutChunks) this.current.acceptChunks();
      }
      const batch = this.current.next();
      if (batch instanceof Promise) return batch.then((arrived) => this.ofCurrent(arrived) ?? this.next());
      const made = this.ofCurrent(batch);
      if (made !== null) return made;
    }
  }

  private ofCurrent(batch: Batch | null): Batch | null {
    if (batch !== null) return batch;
    this.current?.close();
    this.current = null;
    return null;
  }

  private readonly consume = (batch: Batch): void | Promise<void> => {
    if (batch instanceof FromThread) return this.take(batch);
    if (this.overflow !== null || this.isFull()) {
      this.consumeKnown(batch);
      return;
    }
    if (batch instanceof Chunk) {
      this.consumeChunk(batch);
      return;
    }
    const groupOf = this.assignGroups(batch);
    for (const call of this.calls) this.reserve(call.add(batch, groupOf));
  };

  /** Rows of a segment: what cannot take them as they are gets the columns that it reads as values. */
  private consumeChunk(chunk: Chunk): void {
    const { groups } = this.program;
    this.addToCalls(chunk, groups.length === 0 ? null : (this.chunkGroups?.assign(chunk) ?? this.groupsOfChunk(chunk)));
  }

  private addToCalls(chunk: Chunk, groupOf: Int32Array | null): void {
    const { callSlots } = this.program;
    for (let i = 0; i < this.calls.length; i++) {
      const call = this.calls[i]!;
      const bytes = call.addChunk?.(chunk, groupOf) ?? null;
      this.reserve(bytes ?? call.add(chunk.only(callSlots[i]!), groupOf ?? this.groupNumbers(chunk.length)));
    }
  }

  /** Groups of other threads, in the order of their first rows, which come before all that follows. */
  private async take({ length, result }: FromThread): Promise<void> {
    if (result.kind !== "groups") throw new Error("a thread has sent rows for groups");
    const { count, keys, states } = result.groups;
    const groupOf = new Int32Array(count);
    this.merged += count;
    this.mergedRows += length;
    if (this.program.groups.length > 0) {
      const chunk = chunkOfColumns(keys, count);
      const slots = keys.map((_, i) => i);
      for (let from = 0; from < count; from += GROUPS_AT_ONCE) {
        const some = chunk.slice(from, Math.min(GROUPS_AT_ONCE, count - from));
        groupOf.set(this.groupsOfKeys(some, slots).subarray(0, some.length), from);
        await this.pause();
      }
    }
    for (const [i, call] of this.calls.entries()) for (const _ of call.merge!(states[i]!, groupOf)) await this.pause();
  }

  private async pause(): Promise<void> {
    if (this.context.shouldYield()) await this.context.yieldTurn();
  }

  private groupsOfKeys(keys: Chunk, slots: readonly number[]): Int32Array {
    const groupOf = this.groupNumbers(keys.length);
    if (this.byKeys?.loadChunk(keys, slots)) this.assignLoaded(this.byKeys, keys.length, groupOf);
    else this.assignValues(keys.only(slots).columns, keys.length, groupOf);
    return groupOf;
  }

  partial(): SentGroups | null | Promise<SentGroups | null> {
    const consume = (batch: Batch): void | Promise<void> => {
      if (this.groupCount > THREAD_GROUPS_MAX) throw new Unfit();
      return this.consume(batch);
    };
    return drain(this.input, consume, () => {
      const { byKeys, groupCount, program, calls } = this;
      if (byKeys === null && program.groups.length > 0) return null;
      const keys = program.groups.map((_, i) => byKeys!.columnOf(i, 0, groupCount));
      const states = calls.flatMap((call) => call.partial?.() ?? []);
      return states.length < calls.length ? null : { count: groupCount, keys, states };
    });
  }

  private isFull(): boolean {
    const { program, context } = this;
    if (!program.canSpill || context.spill === null || this.depth >= DEPTH_MAX) return false;
    return context.statement.isCrowded(this.bytes);
  }

  /** Rows of groups that are in memory are added to them, the others go to disk. */
  private consumeKnown(rows: Batch): void {
    const { program, context, numbers } = this;
    this.overflow ??= new GroupOverflow(program.columns, context, this.depth);
    if (this.byKeys !== null && program.spillsChunks) {
      this.consumeFound(this.byKeys, chunkOf(rows), this.overflow);
      return;
    }
    const batch = valuesOfBatch(rows);
    const { columns, length } = batch;
    const values = this.keysOf(batch);
    const groupOf = this.groupNumbers(length);
    const known: number[] = [];
    const byKeys = this.loadKeys(values, length);
    for (let row = 0; row < length; row++) {
      const number = byKeys === null ? (numbers.get(program.keyOf(values, row)) ?? -1) : byKeys.find(row);
      if (number < 0) this.overflow.addRow(program.keyOf(values, row), columns, row);
      else {
        groupOf[known.length] = number;
        known.push(row);
      }
    }
    const kept = { columns: columns.map((column) => known.map((row) => column[row]!)), length: known.length };
    for (const call of this.calls) this.reserve(call.add(kept, groupOf));
  }

  /** The same, with keys in typed arrays. Rows whose keys have no place there are of no group in memory. */
  private consumeFound(byKeys: KeyGroups, rows: Chunk, overflow: GroupOverflow): void {
    const chunk = this.loadChunk(byKeys, rows) ? rows : this.loadable(byKeys, rows, overflow);
    const { length } = chunk;
    if (length === 0) return;
    const groupOf = this.groupNumbers(length);
    const known = new Int32Array(length);
    const unknown = new Int32Array(length);
    let [knownCount, unknownCount] = [0, 0];
    for (let row = 0; row < length; row++) {
      const group = byKeys.find(row);
      if (group < 0) unknown[unknownCount++] = row;
      else {
        groupOf[knownCount] = group;
        known[knownCount++] = row;
      }
    }
    if (unknownCount > 0) overflow.addRows(chunk, unknown, unknownCount, byKeys);
    if (knownCount > 0) this.addToCalls(unknownCount === 0 ? chunk : chunk.pick(known, knownCount), groupOf);
  }

  /** The rows whose keys can be loaded, which is done; the others go to disk. */
  private loadable(byKeys: KeyGroups, rows: Chunk, overflow: GroupOverflow): Chunk {
    const values = this.keysOf(rows.only(this.program.groupSlots));
    const { columns, length } = rows;
    const places = new Int32Array(length);
    let count = 0;
    for (let row = 0; row < length; row++) {
      const key = values.map((list) => [list[row]!]);
      if (byKeys.load(key, 1)) places[count++] = row;
      else overflow.addRow(this.program.keyOf(values, row), columns, row);
    }
    const chunk = rows.pick(places, count);
    this.loadChunk(byKeys, chunk);
    return chunk;
  }

  private loadChunk(byKeys: KeyGroups, chunk: Chunk): boolean {
    const { groupColumns, groupSlots } = this.program;
    if (groupColumns !== null) return byKeys.loadChunk(chunk, groupColumns);
    return byKeys.load(this.keysOf(chunk.only(groupSlots)), chunk.length);
  }

  /** Values of the group expressions. */
  private keysOf(batch: Batch): readonly ArrayLike<Value>[] {
    return this.program.groups.map((group, i) => group(batch, this.context, this.scratch[i]!));
  }

  private assignGroups(batch: Batch): Int32Array {
    const groupOf = this.groupNumbers(batch.length);
    if (this.program.groups.length === 0) return groupOf;
    this.assignValues(this.keysOf(batch), batch.length, groupOf);
    return groupOf;
  }

  private assignValues(values: readonly ArrayLike<Value>[], length: number, groupOf: Int32Array): void {
    const byKeys = this.loadKeys(values, length);
    if (byKeys !== null) this.assignLoaded(byKeys, length, groupOf);
    else for (let row = 0; row < length; row++) groupOf[row] = this.groupOfRow(values, row);
  }

  private readonly groupsOfChunk = (chunk: Chunk): Int32Array => {
    const { groupColumns, groupSlots } = this.program;
    const { byKeys } = this;
    if (byKeys === null || groupColumns === null || !byKeys.loadChunk(chunk, groupColumns)) {
      return this.assignGroups(chunk.only(groupSlots));
    }
    const groupOf = this.groupNumbers(chunk.length);
    this.assignLoaded(byKeys, chunk.length, groupOf);
    return groupOf;
  };

  private assignLoaded(byKeys: KeyGroups, length: number, groupOf: Int32Array): void {
    const bytes = byKeys.assign(length, groupOf);
    this.reserve(bytes + byKeys.madeCount * this.stateBytes);
    for (let i = 0; i < byKeys.madeCount; i++) this.addGroup();
  }

  /** An array for that many group numbers; all 0 without GROUP BY. */
  private groupNumbers(length: number): Int32Array {
    if (this.groupOf.length < length) this.groupOf = new Int32Array(length);
    return this.groupOf;
  }

  private groupOfRow(values: readonly ArrayLike<Value>[], row: number): number {
    const { numbers } = this;
    const key = this.program.keyOf(values, row);
    let number = numbers.get(key);
    if (number === undefined) {
      number = this.makeGroup(values, row, key);
      numbers.set(key, number);
    }
    return number;
  }

  /** Makes the group of this row; answers its number. */
  private makeGroup(values: readonly ArrayLike<Value>[], row: number, key: HashKey | null): number {
    const { groupColumns } = this;
    let bytes = SET_ENTRY_BYTES + bytesOf(key) + this.stateBytes;
    for (let i = 0; i < groupColumns.length; i++) {
      const value = values[i]![row]!;
      groupColumns[i]!.push(value);
      bytes += SET_ENTRY_BYTES + bytesOf(value);
    }
    this.reserve(bytes);
    return this.addGroup();
  }

  /** The groups in typed arrays, with these keys loaded; null when the groups are not there, or no longer. */
  private loadKeys(values: readonly ArrayLike<Value>[], length: number): KeyGroups | null {
    const { byKeys } = this;
    if (byKeys === null || byKeys.load(values, length)) return byKeys;
    this.groupColumns = this.groupColumns.map((_, i) => byKeys.valuesOf(i, 0, this.groupCount));
    this.byKeys = null;
    for (let group = 0; group < this.groupCount; group++) {
      this.numbers.set(this.program.keyOf(this.groupColumns, group), group);
    }
    return null;
  }

  private reserve(bytes: number): void {
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }

  private addGroup(): number {
    for (const call of this.calls) call.addGroup();
    return this.groupCount++;
  }

  /** Where the next batch of groups ends. */
  private get emitTo(): number {
    return Math.min(this.position + this.context.batchRows, this.groupCount);
  }

  private emit(): Batch | null {
    const from = this.position;
    if (from === this.groupCount) return null;
    const to = this.emitTo;
    this.position = to;
    const results = this.calls.map((call) => {
      if (call.results !== undefined) return call.results(from, to);
      const values = new Array<Value>(to - from);
      for (let group = from; group < to; group++) values[group - from] = call.result(group);
      return values;
    });
    const { byKeys, groupColumns } = this;
    if (byKeys !== null && this.handsOutChunks) {
      const vectors = groupColumns.map((_, i) => byKeys.columnOf(i, from, to));
      return chunkOfColumns([...vectors, ...results.map(plainColumn)], to - from);
    }
    const keys = groupColumns.map((values, i) => byKeys?.valuesOf(i, from, to) ?? values.slice(from, to));
    return { columns: [...keys, ...results], length: to - from };
  }

  private release(): void {
    this.context.statement.release(this.bytes);
    this.bytes = 0;
  }

  close(): void {
    this.release();
    this.current?.close();
    this.current = null;
    this.overflow?.close();
    this.input.close();
  }
}
