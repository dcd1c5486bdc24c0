/**
 * A batch that has not become values yet: columns, and for each of them the rows that are meant. Scans of segments and
 * hash joins hand them to operators that say they take them; whoever wants values gets them of the columns it reads.
 */
import type { Value } from "../../../values/values.js";
import type { Batch } from "../../expr/expr.js";
import { type Column, valuesOf } from "./column.js";

/** Rows of a column: these, each possibly several times and in any order, or those after `from` when `rows` is null. */
export interface Selection {
  readonly rows: Int32Array | null;
  readonly from: number;
}

export const ALL_ROWS: Selection = { rows: null, from: 0 };

/** Rows of a chunk at most. */
export const CHUNK_ROWS = 4096;

/** Valid until the operator that made it is asked for the next one. */
export class Chunk implements Batch {
  constructor(
    /** By slot. Where several chunks have the same list, the columns are the same. */
    readonly vectors: readonly Column[],
    /** By slot. */
    readonly selections: readonly Selection[],
    readonly length: number,
    /** By slot: where values may be put. */
    private readonly scratch: Value[][],
    private values: ArrayLike<Value>[] | null = null,
  ) {}

  /** The rows as values, all columns of them. */
  get columns(): readonly ArrayLike<Value>[] {
    return this.only(this.vectors.map((_, slot) => slot)).columns;
  }

  /** The rows as values, with columns in these slots only. */
  only(slots: readonly number[]): Batch {
    this.values ??= new Array(this.vectors.length);
    for (const slot of slots) {
      const { rows, from } = this.selections[slot]!;
      this.values[slot] ??= valuesOf(this.vectors[slot]!, rows, from, this.length, this.scratch[slot]!);
    }
    return { columns: this.values, length: this.length };
  }
}

/** Any batch as a chunk. */
export function chunkOf(batch: Batch): Chunk {
  if (batch instanceof Chunk) return batch;
  const vectors = batch.columns.map((values): Column => ({ kind: "plain", values, bytes: 0 }));
  return new Chunk(vectors, new Array<Selection>(vectors.length).fill(ALL_ROWS), batch.length, [], [...batch.columns]);
}

/** The batch without its laziness: a chunk's getter would be asked for every value. */
export function valuesOfBatch(batch: Batch): Batch {
  return batch instanceof Chunk ? { columns: batch.columns, length: batch.length } : batch;
}
