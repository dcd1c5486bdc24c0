/**
 * A block of vectors of one length that are compared with many others, one after the other, by products.wasm: some 30
 * ns a pair of 384 numbers. Owned by an operator of one run (query/exec/similar-join.ts).
 */
import { readFileSync } from "node:fs";
import { sqlError } from "../protocol/errors.js";
import { PROJECT } from "../protocol/places.js";

interface ProductsModule {
  readonly memory: { readonly buffer: ArrayBuffer };
  queryAt(): number;
  reserve(bytes: number): boolean;
  above(block: number, found: number, count: number, padded: number, least: number): number;
}

let compiled: WebAssembly.Module | null = null;

/** Of one pair that was found. */
export type VisitPair = (row: number, product: number) => void;

export class VectorBlock {
  length = 0;
  private readonly module: ProductsModule;
  private readonly padded: number;
  private readonly query: number;
  private readonly found: number;
  private readonly block: number;

  /** Makes room for the given number of vectors. Throws 53200 if memory does not suffice. */
  constructor(
    readonly dimensions: number,
    rowsMax: number,
  ) {
    compiled ??= new WebAssembly.Module(readFileSync(new URL("dist/src/vector/products.wasm", PROJECT)));
    this.module = new WebAssembly.Instance(compiled).exports as ProductsModule;
    this.padded = paddedLength(dimensions);
    this.query = this.module.queryAt();
    this.found = this.query + this.padded * 4;
    this.block = this.found + rowsMax * 8;
    if (!this.module.reserve(bytesOfBlock(dimensions, rowsMax))) {
      throw sqlError("53200", "there is no memory for vectors that are to be compared");
    }
  }

  /** Its number is the block's length before. */
  add(vector: Float32Array): void {
    const at = this.block + this.length * this.padded * 4;
    new Float32Array(this.module.memory.buffer, at, this.dimensions).set(vector);
    this.length++;
  }

  /** Visits those whose product with the vector is at least so much, in their order. */
  above(vector: Float32Array, least: number, visit: VisitPair): void {
    const { module } = this;
    new Float32Array(module.memory.buffer, this.query, this.dimensions).set(vector);
    const count = module.above(this.block, this.found, this.length, this.padded, least);
    if (count === 0) return;
    const rows = new Uint32Array(module.memory.buffer, this.found, 2 * count);
    const products = new Float32Array(module.memory.buffer, this.found, 2 * count);
    for (let i = 0; i < count; i++) visit(rows[2 * i]!, products[2 * i + 1]!);
  }
}

/** Bytes that a block takes. */
export function bytesOfBlock(dimensions: number, rowsMax: number): number {
  return rowsMax * 8 + (rowsMax + 1) * paddedLength(dimensions) * 4;
}

function paddedLength(dimensions: number): number {
  return (dimensions + 7) & ~7;
}
