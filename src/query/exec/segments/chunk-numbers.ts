/** The numbers that an expression has in the rows of a chunk. Used by accumulators of numbers. */
import type { Chunk } from "./chunk.js";
import type { Column } from "./column.js";
import type { VectorExpr, VectorValue } from "./vector-expr.js";

/** What an expression is in the segment that chunks come from now. */
export class InSegment {
  private vectors: readonly Column[] | null = null;
  private value: VectorValue | null = null;

  constructor(private readonly expr: VectorExpr | null) {}

  of(chunk: Chunk): VectorValue | null {
    if (this.expr !== null && this.vectors !== chunk.vectors) {
      this.vectors = chunk.vectors;
      this.value = this.expr(chunk.vectors);
    }
    return this.value;
  }
}

/** Results of one chunk at a time; the accumulators of a thread take turns with them. */
export let results = new Float64Array(4096);
export let nulls = new Uint8Array(4096);

export function computeInto(value: VectorValue, chunk: Chunk): void {
  if (results.length < chunk.length) {
    results = new Float64Array(chunk.length);
    nulls = new Uint8Array(chunk.length);
  }
  if (value.mayBeNull) nulls.fill(0, 0, chunk.length);
  value.compute(chunk, results, nulls);
}
