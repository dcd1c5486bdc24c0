/**
 * Columns on their way to another thread: text as UTF-8 in one buffer, so that everything is moved and nothing copied
 * cell by cell. The actor fills builders batch by batch while it reads; the task thread unpacks. A builder's digest tells
 * whether two readings gave the same data.
 */
import { createHash, type Hash } from "node:crypto";
import type { ColumnData } from "./contract.js";

export type PackedColumn =
  | Exclude<ColumnData, { readonly kind: "text" | "category" }>
  | {
      readonly name: string;
      readonly kind: "text" | "category";
      readonly bytes: Uint8Array;
      /** Where each row's text ends; a missing one has the highest bit set. */
      readonly ends: Uint32Array;
    };

const MISSING = 0x8000_0000;
const FIRST_ROWS = 1024;
const FIRST_BYTES = 16 * 1024;

export class NumberBuilder {
  #values = new Float64Array(FIRST_ROWS);
  #hashed = 0;
  length = 0;

  constructor(
    readonly name: string,
    readonly kind: "number" | "boolean" | "timestamp",
  ) {}

  get byteLength(): number {
    return this.length * 8;
  }

  /** NaN is missing. */
  append(value: number): void {
    if (this.length === this.#values.length) {
      const grown = new Float64Array(this.length * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.length++] = value;
  }

  /** Adds to the digest what came since the last call. */
  hash(into: Hash): void {
    into.update(new Uint8Array(this.#values.buffer, this.#hashed * 8, (this.length - this.#hashed) * 8));
    this.#hashed = this.length;
  }

  finish(): PackedColumn {
    return { name: this.name, kind: this.kind, values: this.#values.slice(0, this.length) };
  }
}

export class TextBuilder {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #ends = new Uint32Array(FIRST_ROWS);
  #used = 0;
  #hashedRows = 0;
  #hashedBytes = 0;
  length = 0;
  readonly kind = "text";

  constructor(readonly name: string) {}

  get byteLength(): number {
    return this.#used + this.length * 4;
  }

  append(text: string | null): void {
    if (this.length === this.#ends.length) {
      const grown = new Uint32Array(this.length * 2);
      grown.set(this.#ends);
      this.#ends = grown;
    }
    if (text !== null) {
      const most = text.length * 3;
      if (this.#used + most > this.#bytes.length) {
        const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#used + most));
        this.#bytes.copy(grown, 0, 0, this.#used);
        this.#bytes = grown;
      }
      this.#used += this.#bytes.write(text, this.#used);
    }
    this.#ends[this.length++] = text === null ? (this.#used | MISSING) >>> 0 : this.#used;
  }

  hash(into: Hash): void {
    into.update(new Uint8Array(this.#ends.buffer, this.#hashedRows * 4, (this.length - this.#hashedRows) * 4));
    into.update(this.#bytes.subarray(this.#hashedBytes, this.#used));
    this.#hashedRows = this.length;
    this.#hashedBytes = this.#used;
  }

  /** Null: missing. */
  at(row: number): string | null {
    const end = this.#ends[row]!;
    if (end >= MISSING) return null;
    const before = row === 0 ? 0 : this.#ends[row - 1]! & ~MISSING;
    return this.#bytes.toString("utf8", before, end);
  }

  finish(): PackedColumn {
    const bytes = new Uint8Array(this.#bytes.subarray(0, this.#used));
    return { name: this.name, kind: "text", bytes, ends: this.#ends.slice(0, this.length) };
  }
}

export class VectorBuilder {
  #values: Float32Array;
  #hashed = 0;
  length = 0;
  readonly kind = "vector";

  constructor(
    readonly name: string,
    readonly dimensions: number,
  ) {
    this.#values = new Float32Array(dimensions * 64);
  }

  get byteLength(): number {
    return this.length * this.dimensions * 4;
  }

  /** Null: missing. */
  append(vector: Float32Array | null): void {
    const at = this.length * this.dimensions;
    if (at === this.#values.length) {
      const grown = new Float32Array(at * 2);
      grown.set(this.#values);
      this.#values = grown;
    }
    if (vector === null) this.#values.fill(Number.NaN, at, at + this.dimensions);
    else this.#values.set(vector, at);
    this.length++;
  }

  hash(into: Hash): void {
    const { dimensions } = this;
    const count = (this.length - this.#hashed) * dimensions;
    into.update(new Uint8Array(this.#values.buffer, this.#hashed * dimensions * 4, count * 4));
    this.#hashed = this.length;
  }

  finish(): PackedColumn {
    const { name, dimensions } = this;
    return { name, kind: "vector", dimensions, values: this.#values.slice(0, this.length * dimensions) };
  }
}

export type ColumnBuilder = NumberBuilder | TextBuilder | VectorBuilder;

/** For the digest of all columns: their names and kinds come first. */
export function columnsHash(columns: readonly Pick<ColumnBuilder, "name" | "kind">[]): Hash {
  return createHash("sha256").update(JSON.stringify(columns.map(({ name, kind }) => [name, kind])));
}

/** What goes into a transfer list. */
export function buffersOf(columns: readonly PackedColumn[]): ArrayBuffer[] {
  return columns.flatMap((column) =>
    "bytes" in column
      ? [column.bytes.buffer as ArrayBuffer, column.ends.buffer as ArrayBuffer]
      : "buffer" in column.values
        ? [column.values.buffer as ArrayBuffer]
        : [],
  );
}

export function packColumns(columns: readonly ColumnData[]): PackedColumn[] {
  return columns.map((column) => {
    if (!Array.isArray(column.values)) return column as PackedColumn;
    const builder = new TextBuilder(column.name);
    for (const text of column.values as readonly (string | null)[]) builder.append(text);
    return { ...builder.finish(), kind: column.kind } as PackedColumn;
  });
}

export function unpackColumns(columns: readonly PackedColumn[]): ColumnData[] {
  return columns.map((column) => {
    if (!("bytes" in column)) return column;
    const { name, kind, ends } = column;
    const bytes = Buffer.from(column.bytes.buffer, column.bytes.byteOffset, column.bytes.byteLength);
    const values = new Array<string | null>(ends.length);
    let before = 0;
    for (let row = 0; row < ends.length; row++) {
      const end = ends[row]! & ~MISSING;
      values[row] = ends[row]! >= MISSING ? null : bytes.toString("utf8", before, end);
      before = end;
    }
    return { name, kind, values };
  });
}
