/**
 * min and max of texts without GROUP BY: the bytes of a chunk's texts are compared, and its best one alone becomes a
 * value. Used by vector-accumulator.ts, one per run.
 */
import type { Value } from "../../../values/values.js";
import type { AggregateFunction, Batch } from "../../expr/expr.js";
import type { Accumulator } from "../accumulator.js";
import type { ExecContext } from "../context.js";
import type { EvaluateAll } from "../slots.js";
import { mergeExtremes, sentExtremes } from "../threads/merge-state.js";
import type { SentState } from "../threads/read-threads.js";
import type { Chunk, Selection } from "./chunk.js";
import { type Column, type DictionaryColumn, entryCount, valueAt } from "./column.js";
import type { TextColumn } from "./text-column.js";
import { orderOfBytes } from "./text-kernels.js";

export class TextExtreme implements Accumulator {
  private readonly states: unknown[] = [];
  private readonly scratch: Value[] = [];
  /** UTF-8 of the best text of those that came in columns of texts. */
  private best: Uint8Array | null = null;
  /** By code of the dictionary that came last: entries that were looked at. */
  private dictionary: DictionaryColumn | null = null;
  private seen = new Uint8Array(0);

  constructor(
    private readonly fn: AggregateFunction,
    private readonly arg: EvaluateAll,
    private readonly slot: number,
    private readonly context: ExecContext,
  ) {}

  addGroup(): void {
    this.states.push(this.fn.init());
  }

  add(batch: Batch, groupOf: ArrayLike<number>): number {
    const { states, fn } = this;
    const values = this.arg(batch, this.context, this.scratch);
    for (let row = 0; row < batch.length; row++) {
      if (values[row] !== null) states[groupOf[row]!] = fn.step(states[groupOf[row]!], values[row]);
    }
    return 0;
  }

  addChunk(chunk: Chunk, groupOf: Int32Array | null): number | null {
    if (groupOf !== null) return null;
    const column = chunk.vectors[this.slot]!;
    const selection = chunk.selections[this.slot]!;
    if (column.kind === "text") this.addTexts(column, selection, chunk.length);
    else if (column.kind === "dictionary") this.addCodes(column, selection, chunk.length);
    else return null;
    return 0;
  }

  result(group: number): Value {
    return this.fn.result(this.states[group]);
  }

  partial(): SentState {
    return sentExtremes(this.states.length, (group) => this.result(group));
  }

  merge(state: SentState, groupOf: Int32Array): Iterable<void> {
    return mergeExtremes(this.fn, this.states, state, groupOf);
  }

  private addTexts(column: TextColumn, { rows, from }: Selection, length: number): void {
    const { data, offsets, nulls } = column;
    const isMax = this.fn.name === "max";
    let best = this.best;
    let bestRow = -1;
    for (let i = 0; i < length; i++) {
      const row = rows === null ? from + i : rows[i]!;
      if (nulls !== null && nulls[row] === 1) continue;
      const order = best === null ? 0 : orderOfBytes(data, offsets[row]!, offsets[row + 1]!, best);
      if (best !== null && (isMax ? order <= 0 : order >= 0)) continue;
      best = data.subarray(offsets[row]!, offsets[row + 1]!);
      bestRow = row;
    }
    if (bestRow < 0) return;
    this.best = best!.slice();
    this.step(column, bestRow);
  }

  private addCodes(column: DictionaryColumn, { rows, from }: Selection, length: number): void {
    if (column !== this.dictionary) {
      this.dictionary = column;
      this.seen = new Uint8Array(entryCount(column));
    }
    const { seen } = this;
    for (let i = 0; i < length; i++) {
      const row = rows === null ? from + i : rows[i]!;
      const code = column.codes[row]!;
      if (seen[code] === 1) continue;
      seen[code] = 1;
      if (column.values[code] !== null) this.step(column, row);
    }
  }

  private step(column: Column, row: number): void {
    this.states[0] = this.fn.step(this.states[0], valueAt(column, row));
  }
}
