/**
 * Columns on their way to another thread: pieces of bounded size, text as UTF-8, so that everything is moved, nothing
 * is copied cell by cell, and no step of the actor takes long. Builders fill pieces while the actor reads; the task
 * thread puts them together. What ends a piece is its content alone, so equal data have equal pieces, and equal
 * digests.
 */
import type { Hash } from "node:crypto";
import type { ColumnData, ColumnKind } from "./contract.js";

export interface PackedColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Of vectors. */
  readonly dimensions?: number;
  readonly rows: number;
  /** Of the rows in order; each has a buffer of its own. */
  readonly pieces: readonly Piece[];
}

type Piece = Float64Array | Float32Array | TextPiece;

interface TextPiece {
  readonly bytes: Uint8Array;
  /** Where each row's text ends in `bytes`; a missing one has the highest bit set. */
  readonly ends: Uint32Array;
}

const MISSING = 0x8000_0000;
/** Of a column's first piece; each further one is this many times larger, up to PIECE_BYTES. */
const FIRST_BYTES = 8 * 1024;
const GROWTH = 4;
const PIECE_BYTES = 256 * 1024;

export class NumberBuilder {
  private readonly pieces: Float64Array[] = [];
  private piece = new Float64Array(FIRST_BYTES / 8);
  private used = 0;
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
    if (this.used === this.piece.length) {
      this.pieces.push(this.piece);
      this.piece = new Float64Array(larger(this.piece.byteLength) / 8);
      this.used = 0;
    }
    this.piece[this.used++] = value;
    this.length++;
  }

  finish(): PackedColumn {
    const { name, kind, length: rows } = this;
    return { name, kind, rows, pieces: [...this.pieces, this.piece.subarray(0, this.used)] };
  }
}

export class TextBuilder {
  private readonly pieces: TextPiece[] = [];
  private bytes = Buffer.allocUnsafeSlow(FIRST_BYTES);
  private ends = new Uint32Array(FIRST_BYTES / 8);
  private used = 0;
  private rows = 0;
  private sealedBytes = 0;
  length = 0;

  constructor(
    readonly name: string,
    readonly kind: "text" | "category" = "text",
  ) {}

  get byteLength(): number {
    return this.sealedBytes + this.used + this.length * 4;
  }

  append(text: string | null): void {
    if (this.rows === this.ends.length) this.seal(0);
    if (text !== null) {
      // At most three bytes a unit of UTF-16; they are counted where that might not fit.
      if (this.used + text.length * 3 > this.bytes.length) {
        const needed = Buffer.byteLength(text);
        if (this.used + needed > this.bytes.length) this.seal(needed);
      }
      this.used += this.bytes.write(text, this.used);
    }
    this.ends[this.rows++] = text === null ? (this.used | MISSING) >>> 0 : this.used;
    this.length++;
  }

  /** The next piece has room for `bytes`. */
  private seal(bytes: number): void {
    const { length } = this.bytes;
    if (this.rows > 0) this.pieces.push(this.piece());
    this.sealedBytes += this.used;
    this.bytes = Buffer.allocUnsafeSlow(Math.max(bytes, larger(length)));
    this.ends = new Uint32Array(larger(this.ends.byteLength) / 4);
    this.used = 0;
    this.rows = 0;
  }

  private piece(): TextPiece {
    const { buffer } = this.bytes;
    return { bytes: new Uint8Array(buffer, 0, this.used), ends: this.ends.subarray(0, this.rows) };
  }

  finish(): PackedColumn {
    const { name, kind, length: rows } = this;
    return { name, kind, rows, pieces: [...this.pieces, this.piece()] };
  }
}

export class VectorBuilder {
  private readonly pieces: Float32Array[] = [];
  private piece: Float32Array;
  private used = 0;
  length = 0;
  readonly kind = "vector";

  constructor(
    readonly name: string,
    readonly dimensions: number,
  ) {
    this.piece = this.room(FIRST_BYTES);
  }

  private room(bytes: number): Float32Array {
    const { dimensions } = this;
    return new Float32Array(Math.max(1, Math.floor(bytes / 4 / dimensions)) * dimensions);
  }

  get byteLength(): number {
    return this.length * this.dimensions * 4;
  }

  /** Null: missing. */
  append(vector: ArrayLike<number> | null): void {
    if (this.used === this.piece.length) {
      this.pieces.push(this.piece);
      this.piece = this.room(larger(this.piece.byteLength));
      this.used = 0;
    }
    const end = this.used + this.dimensions;
    if (vector === null) this.piece.fill(Number.NaN, this.used, end);
    else this.piece.set(vector, this.used);
    this.used = end;
    this.length++;
  }

  finish(): PackedColumn {
    const { name, kind, dimensions, length: rows } = this;
    return { name, kind, dimensions, rows, pieces: [...this.pieces, this.piece.subarray(0, this.used)] };
  }
}

export type ColumnBuilder = NumberBuilder | TextBuilder | VectorBuilder;

function larger(bytes: number): number {
  return Math.min(bytes * GROWTH, PIECE_BYTES);
}

const isText = (piece: Piece): piece is TextPiece => "ends" in piece;

/** Adds name, kind and content to a digest, a piece a step. */
export function* hashColumn(hash: Hash, { name, kind, dimensions, pieces }: PackedColumn): Generator<void> {
  hash.update(JSON.stringify([name, kind, dimensions]));
  for (const piece of pieces) {
    for (const part of isText(piece) ? [piece.ends, piece.bytes] : [piece]) hash.update(part);
    yield;
  }
}

/** The texts of a column in order; null: missing. */
export function* textsOf({ pieces }: PackedColumn): Generator<string | null> {
  for (const { bytes, ends } of pieces as readonly TextPiece[]) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let before = 0;
    for (const marked of ends) {
      const end = marked & ~MISSING;
      yield marked >= MISSING ? null : text.toString("utf8", before, end);
      before = end;
    }
  }
}

/** What goes into a transfer list. */
export function buffersOf(columns: readonly PackedColumn[]): ArrayBuffer[] {
  return columns.flatMap(({ pieces }) =>
    pieces.flatMap(
      (piece) => (isText(piece) ? [piece.bytes.buffer, piece.ends.buffer] : [piece.buffer]) as ArrayBuffer[],
    ),
  );
}

export function unpackColumns(columns: readonly PackedColumn[]): ColumnData[] {
  return columns.map((column) => {
    const { name, kind, rows, dimensions } = column;
    if (kind === "text" || kind === "category") return { name, kind, values: [...textsOf(column)] };
    const pieces = column.pieces as readonly (Float64Array | Float32Array)[];
    if (kind === "vector") {
      const values = joined(pieces, new Float32Array(rows * dimensions!));
      return { name, kind, dimensions: dimensions!, values };
    }
    return { name, kind, values: joined(pieces, new Float64Array(rows)) };
  });
}

function joined<T extends Float64Array | Float32Array>(pieces: readonly ArrayLike<number>[], into: T): T {
  let at = 0;
  for (const piece of pieces) {
    into.set(piece, at);
    at += piece.length;
  }
  return into;
}
