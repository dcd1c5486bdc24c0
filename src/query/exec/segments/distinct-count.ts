/**
 * count(DISTINCT …) of values that have keys in typed arrays (group-keys.ts): a value that is new in its group is a new
 * group of both, and counts. Values without such keys are in a set of their own. Used by aggregate.ts, one per run.
 */
import { INT8, type SqlType, type Value } from "../../../values/values.js";
import type { SlotOf } from "../../expr/compile.js";
import type { Batch } from "../../expr/expr.js";
import type { AggregateCall } from "../../plan/plan.js";
import type { Accumulator, AccumulatorProgram } from "../accumulator.js";
import type { ExecContext } from "../context.js";
import { haveGroupKeys } from "../group-keys.js";
import { KeyGroups } from "../key-groups.js";
import { compileAll, type EvaluateAll } from "../slots.js";
import { bytesOf } from "../value-bytes.js";
import { ALL_ROWS, Chunk } from "./chunk.js";
import { ChunkGroups } from "./chunk-groups.js";
import type { Column } from "./column.js";
import { GroupNumbers } from "./group-numbers.js";

/** Null when the call is of another kind. */
export function compileDistinctCount(
  call: AggregateCall,
  slotOf: SlotOf,
  isGrouped: boolean,
): AccumulatorProgram | null {
  const { fn, args } = call;
  const [arg] = args;
  if (fn.name !== "count" || !call.distinct || args.length !== 1 || arg === undefined) return null;
  if (call.filter !== null || call.orderBy.length > 0 || fn.open !== undefined) return null;
  if (!haveGroupKeys([arg.type])) return null;
  const slot = arg.kind === "column" ? slotOf(arg.id) : -1;
  const values = compileAll(arg, slotOf);
  return (context) => new DistinctCount(arg.type, values, slot, isGrouped, context);
}

/** An entry of a set beside what is counted of its value. */
const ENTRY_BYTES = 64;

class DistinctCount implements Accumulator {
  readonly stateBytes = GroupNumbers.BYTES;
  private readonly counts = new GroupNumbers();
  private readonly keys: KeyGroups;
  private readonly others = new Set<string>();
  private readonly scratch: Value[] = [];
  private assigned = new Int32Array(0);
  /** Without groups: what was met among few different values is not looked up again. */
  private readonly met: ChunkGroups | null;
  /** That the last chunk took. */
  private taken = 0;

  constructor(
    type: SqlType,
    private readonly arg: EvaluateAll,
    /** Of an argument that is a column of the input; −1. */
    private readonly slot: number,
    private readonly isGrouped: boolean,
    private readonly context: ExecContext,
  ) {
    this.keys = new KeyGroups(isGrouped ? [type, INT8] : [type], context.statement.memoryBytesMax);
    this.met = isGrouped || slot < 0 ? null : new ChunkGroups([slot], this.groupsOf);
  }

  addGroup(): void {
    this.counts.push();
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const values = this.arg(batch, this.context, this.scratch);
    const columns = this.isGrouped ? [values, groupOf] : [values];
    if (this.keys.load(columns, batch.length)) return this.addLoaded(batch.length, groupOf);
    let bytes = 0;
    for (let row = 0; row < batch.length; row++) {
      const group = groupOf[row]!;
      bytes += this.keys.load(this.isGrouped ? [[values[row]!], [group]] : [[values[row]!]], 1)
        ? this.addLoaded(1, [group])
        : this.addOther(values[row]!, group);
    }
    return bytes;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    const { slot, keys, isGrouped } = this;
    if (slot < 0) return null;
    const column = chunk.vectors[slot]!;
    // All that `met` knows has keys, but for values that are no texts.
    if (
      this.met !== null &&
      (column.kind === "number" || (column.kind === "dictionary" && column.entries !== undefined))
    ) {
      this.taken = 0;
      if (this.met.assign(chunk) !== null) return this.taken;
    }
    const vectors = [column];
    const selections = [chunk.selections[slot]!];
    if (isGrouped) {
      vectors.push(numbersOf(groupOf!));
      selections.push(ALL_ROWS);
    }
    const slots = isGrouped ? [0, 1] : [0];
    if (!keys.loadChunk(new Chunk(vectors, selections, chunk.length, []), slots)) return null;
    return this.addLoaded(chunk.length, groupOf);
  }

  /** Of rows whose values were not met before. */
  private readonly groupsOf = (chunk: Chunk): Int32Array => {
    if (!this.keys.loadChunk(chunk, [this.slot])) throw new Error("a value of a dictionary of texts has no key");
    this.taken = this.addLoaded(chunk.length, null);
    return this.assigned;
  };

  result(group: number): Value {
    return this.counts.values[group]!;
  }

  private addLoaded(length: number, groupOf: ArrayLike<number> | null): number {
    const { keys } = this;
    if (this.assigned.length < length) this.assigned = new Int32Array(length);
    const bytes = keys.assign(length, this.assigned);
    const counts = this.counts.values;
    for (let i = 0; i < keys.madeCount; i++) {
      const row = keys.made[i]!;
      if (!keys.isNull(0, row)) counts[groupOf === null ? 0 : groupOf[row]!]!++;
    }
    return bytes;
  }

  private addOther(value: Value, group: number): number {
    const key = `${group}:${value}`;
    if (this.others.has(key)) return 0;
    this.others.add(key);
    this.counts.values[group]!++;
    return ENTRY_BYTES + bytesOf(value);
  }
}

const numbersOf = (data: Int32Array): Column => ({
  kind: "number",
  data,
  nulls: null,
  min: Number.NEGATIVE_INFINITY,
  max: Number.POSITIVE_INFINITY,
  hasNaN: false,
  scale: -1,
  bytes: 0,
});
