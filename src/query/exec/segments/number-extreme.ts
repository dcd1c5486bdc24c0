/** min and max of what is held as numbers, over chunks of segments. Made by vector-accumulator.ts, one per run. */
import { Numeric } from "../../../values/numeric.js";
import type { SqlType, Value } from "../../../values/values.js";
import type { AggregateFunction, Batch } from "../../expr/expr.js";
import type { Accumulator } from "../accumulator.js";
import type { ExecContext } from "../context.js";
import type { EvaluateAll } from "../slots.js";
import { mergeExtremes, sentExtremes } from "../threads/merge-state.js";
import type { SentState } from "../threads/read-threads.js";
import type { Chunk } from "./chunk.js";
import type { NumberColumn } from "./column.js";
import { GroupNumbers } from "./group-numbers.js";

export class NumberExtreme implements Accumulator {
  private readonly states: unknown[] = [];
  /** Best of the numbers since they were last put into the states, at `scale`; NaN: none. */
  private readonly bests = new GroupNumbers();
  private scale = -1;
  private isPending = false;
  private readonly sign: 1 | -1;
  private readonly scratch: Value[] = [];

  constructor(
    private readonly fn: AggregateFunction,
    private readonly type: SqlType,
    private readonly arg: EvaluateAll,
    private readonly slot: number,
    private readonly context: ExecContext,
  ) {
    this.sign = fn.name === "max" ? 1 : -1;
  }

  addGroup(): void {
    this.bests.push();
    this.bests.values[this.states.length] = Number.NaN;
    this.states.push(this.fn.init());
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    this.settle();
    const { states, fn } = this;
    const values = this.arg(batch, this.context, this.scratch);
    for (let row = 0; row < batch.length; row++) {
      if (values[row] !== null) states[groupOf[row]!] = fn.step(states[groupOf[row]!], values[row]);
    }
    return 0;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    const column = chunk.vectors[this.slot]!;
    if (column.kind !== "number" || column.hasNaN) return null;
    if (column.scale !== this.scale) {
      this.settle();
      this.scale = column.scale;
    }
    this.isPending = true;
    // No row of the column is better than what was found already.
    if (groupOf === null && this.isBest(column)) return 0;
    const { data, nulls: areNull } = column;
    const { length } = chunk;
    const { rows, from } = chunk.selections[this.slot]!;
    const bests = this.bests.values;
    const isMax = this.sign === 1;
    for (let i = 0; i < length; i++) {
      const row = rows === null ? from + i : rows[i]!;
      if (areNull !== null && areNull[row] === 1) continue;
      const group = groupOf === null ? 0 : groupOf[i]!;
      const x = data[row]!;
      const best = bests[group]!;
      // Written so that NaN, for none yet, gives way.
      if (isMax ? !(x <= best) : !(x >= best)) bests[group] = x;
    }
    return 0;
  }

  private isBest({ min, max }: NumberColumn): boolean {
    const best = this.bests.values[0]!;
    return this.sign === 1 ? max <= best : min >= best;
  }

  result(group: number): Value {
    this.settle();
    return this.fn.result(this.states[group]);
  }

  partial(): SentState {
    return sentExtremes(this.states.length, (group) => this.result(group));
  }

  merge(state: SentState, groupOf: Int32Array): Iterable<void> {
    this.settle();
    return mergeExtremes(this.fn, this.states, state, groupOf);
  }

  private settle(): void {
    if (!this.isPending) return;
    this.isPending = false;
    const { states, fn, bests, scale } = this;
    for (let group = 0; group < states.length; group++) {
      const best = bests.values[group]!;
      if (Number.isNaN(best)) continue;
      const value = this.type.name === "numeric" ? Numeric.of(BigInt(best), scale) : best;
      states[group] = fn.step(states[group], value);
      bests.values[group] = Number.NaN;
    }
  }
}
