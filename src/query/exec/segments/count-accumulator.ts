/** count(*) and count of a column over chunks of segments. Made by vector-accumulator.ts, one per run. */
import type { Value } from "../../../values/values.js";
import type { Batch } from "../../expr/expr.js";
import type { Accumulator } from "../accumulator.js";
import type { ExecContext } from "../context.js";
import type { EvaluateAll } from "../slots.js";
import { MERGED_AT_ONCE } from "../threads/merge-state.js";
import type { SentState } from "../threads/read-threads.js";
import type { Chunk } from "./chunk.js";
import { GroupNumbers } from "./group-numbers.js";

/** A count for each group. */
abstract class Counts {
  readonly stateBytes = GroupNumbers.BYTES;
  protected readonly counts = new GroupNumbers();

  addGroup(): void {
    this.counts.push();
  }

  result(group: number): Value {
    return this.counts.values[group]!;
  }

  results(from: number, to: number): ArrayLike<Value> {
    return this.counts.values.slice(from, to);
  }

  partial(): SentState {
    return { kind: "counts", counts: this.counts.taken() };
  }

  merge(state: SentState, groupOf: Int32Array): Iterable<void> {
    return mergeCounts(this.counts, state, groupOf);
  }
}

export class CountRows extends Counts implements Accumulator {
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
}

export class CountValues extends Counts implements Accumulator {
  private readonly scratch: Value[] = [];

  constructor(
    private readonly arg: EvaluateAll,
    /** Of an argument that is a column of the input; −1. */
    private readonly slot: number,
    private readonly context: ExecContext,
  ) {
    super();
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const counts = this.counts.values;
    const values = this.arg(batch, this.context, this.scratch);
    for (let row = 0; row < batch.length; row++) if (values[row] !== null) counts[groupOf[row]!]!++;
    return 0;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    const held = chunk.vectors[this.slot];
    const column = held?.kind === "encoded" ? held.payloads : held;
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
}

function* mergeCounts(into: GroupNumbers, state: SentState, groupOf: Int32Array): Iterable<void> {
  if (state.kind !== "counts") throw new Error("not the state of a count");
  const { counts } = state;
  for (let group = 0; group < counts.length; group++) {
    into.values[groupOf[group]!]! += counts[group]!;
    if (group % MERGED_AT_ONCE === MERGED_AT_ONCE - 1) yield;
  }
}
