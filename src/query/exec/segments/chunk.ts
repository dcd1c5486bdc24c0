/**
 * A batch whose values have not been made yet: columns, and for each of them the row numbers. Scans of segments and
 * hash joins hand chunks to operators that accept them; a reader gets values only of the columns that it reads.
 */
import type { Value } from "../../../values/values.js";
import type { Batch } from "../../expr/expr.js";
import { type Column, valueAt, valuesOf } from "./column.js";

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

  /** One value. */
  value(slot: number, row: number): Value {
    const { rows, from } = this.selections[slot]!;
    return valueAt(this.vectors[slot]!, rows === null ? from + row : rows[row]!);
  }

  /** The first `count` of these rows, by their places in the chunk. It is valid for as long. */
  pick(places: Int32Array, count: number): Chunk {
    const picked = new Map<Selection, Selection>();
    const selections = this.selections.map((selection) => {
      let made = picked.get(selection);
      if (made === undefined) {
        const { rows, from } = selection;
        const theirs = new Int32Array(count);
        for (let i = 0; i < count; i++) theirs[i] = rows === null ? from + places[i]! : rows[places[i]!]!;
        made = { rows: theirs, from: 0 };
        picked.set(selection, made);
      }
      return made;
    });
    return new Chunk(
      this.vectors,
      selections,
      count,
      this.vectors.map(() => []),
    );
  }

  /** Some neighbouring rows of it, for as long. */
  slice(from: number, count: number): Chunk {
    const selections = this.selections.map(({ rows, from: first }) =>
      rows === null ? { rows, from: first + from } : { rows: rows.subarray(from, from + count), from: 0 },
    );
    return new Chunk(
      this.vectors,
      selections,
      count,
      this.vectors.map(() => []),
    );
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
  const vectors = batch.columns.map(plainColumn);
  return new Chunk(vectors, new Array<Selection>(vectors.length).fill(ALL_ROWS), batch.length, [], [...batch.columns]);
}

export const plainColumn = (values: ArrayLike<Value>): Column => ({ kind: "plain", values, bytes: 0 });

/** All rows of these columns. */
export function chunkOfColumns(vectors: readonly Column[], length: number): Chunk {
  const selections = new Array<Selection>(vectors.length).fill(ALL_ROWS);
  return new Chunk(
    vectors,
    selections,
    length,
    vectors.map(() => []),
  );
}

/** The batch without its laziness: a chunk's getter would be asked for every value. */
export function valuesOfBatch(batch: Batch): Batch {
  return batch instanceof Chunk ? { columns: batch.columns, length: batch.length } : batch;
}
