/**
 * Rows held in memory in the form that segments have: numbers, dictionary codes and texts in typed arrays that grow,
 * and an ordinary array for a column that turns out to be none of them. The built side of a hash join; owned by one run
 * of it, the memory is counted against the statement.
 */
import type { SqlType, Value } from "../../../values/values.js";
import type { OutputColumn } from "../../plan/plan.js";
import type { ExecContext } from "../context.js";
import { emptyColumns } from "../row-buffer.js";
import { bytesOf, type ColumnBytes, columnBytesOf } from "../value-bytes.js";
import { Chunk, type Selection } from "./chunk.js";
import {
  type Column,
  columnOf,
  type DictionaryColumn,
  holdsNumbers,
  holdsTexts,
  type NumberColumn,
  type StoredForm,
  valuesOf,
} from "./column.js";
import { GrowingArray } from "./growing-array.js";
import { GrowingTexts, textsOf } from "./text-column.js";

export class ColumnBuffer {
  length = 0;
  /** The memory that it has reserved. */
  bytes = 0;
  private columns: GrowingColumn[];
  private readonly scratch: Value[][];

  constructor(
    private readonly outputs: readonly OutputColumn[],
    private readonly context: ExecContext,
    /** About how many rows will come. */
    expected = 0,
  ) {
    this.columns = outputs.map(({ type }) => new GrowingColumn(type, expected));
    this.scratch = emptyColumns(outputs.length);
  }

  /** Copies the chunk's rows. Throws 53200 when they do not fit into the statement's memory. */
  append(chunk: Chunk): void {
    let bytes = 0;
    this.columns.forEach((column, slot) => {
      bytes += column.append(chunk.vectors[slot]!, chunk.selections[slot]!, chunk.length);
    });
    this.length += chunk.length;
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }

  /** A row of NULLs behind the others, which does not count as one. No rows may follow. */
  appendNulls(): void {
    for (const column of this.columns) column.append(NULLS, FIRST_ROW, 1);
  }

  /** Does some of what `vectors` has to do; true: nothing of it takes long any more. */
  settle(): boolean {
    return this.columns.every((column) => column.settle());
  }

  /** Its current values, by slot. */
  vectors(): readonly StoredForm[] {
    return this.columns.map((column) => column.column());
  }

  /** Rows `from … from + count − 1` of `vectors`. Valid until the next call. */
  slice(vectors: readonly Column[], from: number, count: number): Chunk {
    return new Chunk(vectors, new Array<Selection>(vectors.length).fill({ rows: null, from }), count, this.scratch);
  }

  /** Forgets the rows, but keeps room for as many. Nobody may read `vectors` of them any more. */
  restart(): void {
    for (const column of this.columns) column.restart();
    this.length = 0;
    this.context.statement.release(this.bytes);
    this.bytes = 0;
  }

  /** Forgets the rows, and gives their memory back. */
  clear(): void {
    this.columns = this.outputs.map(({ type }) => new GrowingColumn(type));
    this.length = 0;
    this.context.statement.release(this.bytes);
    this.bytes = 0;
  }
}

/** A column in which every row is NULL. */
export const NULLS: Column = { kind: "dictionary", codes: new Uint8Array(1), values: [null], bytes: 0 };
const FIRST_ROW: Selection = { rows: null, from: 0 };

const CODES_MAX = 65_536;
/** Rows whose codes become texts at a time. */
const RECODED_ROWS = 4096;

class GrowingColumn {
  private kind: StoredForm["kind"] | null = null;
  private length = 0;
  private data: GrowingArray<Int32Array> | GrowingArray<Float64Array>;
  private holdsFloats = false;
  private nulls: GrowingArray<Uint8Array> | null = null;
  private min = Number.POSITIVE_INFINITY;
  private max = Number.NEGATIVE_INFINITY;
  private hasNaN = false;
  private scale = -1;
  private codes = new GrowingArray(Uint16Array);
  private readonly codeOf = new Map<Value, number>();
  /** Values by code, or of all rows. */
  private values: Value[] = [];
  /** Our codes by those of the dictionary that came last; −1: not looked up yet. */
  private source: DictionaryColumn | null = null;
  private recoded = new Int32Array(0);
  private texts = new GrowingTexts();
  private readonly measure: ColumnBytes;
  private readonly arrived: Value[] = [];

  constructor(
    private readonly type: SqlType,
    expected = 0,
  ) {
    this.data = new GrowingArray(Int32Array, holdsNumbers(type) ? expected : 0);
    this.measure = columnBytesOf(type);
  }

  restart(): void {
    this.kind = null;
    this.length = 0;
    this.data.restart();
    this.codes.restart();
    this.nulls = null;
    this.min = Number.POSITIVE_INFINITY;
    this.max = Number.NEGATIVE_INFINITY;
    this.hasNaN = false;
    this.scale = -1;
    this.codeOf.clear();
    this.values = [];
    this.source = null;
    this.texts.restart();
  }

  /** Puts some rows together; true: all are. */
  settle(): boolean {
    return this.data.settle() && this.codes.settle() && (this.nulls?.settle() ?? true) && this.texts.settle();
  }

  /** Answers by how many bytes it has grown. */
  append(column: Column, selection: Selection, count: number): number {
    if (column === NULLS && this.kind === "number") return this.appendNulls(count);
    if (column.kind === "plain" && this.kind !== "plain" && this.kind !== "dictionary" && holdsNumbers(this.type)) {
      // Numbers in an ordinary array would be objects that the collector has to look at again and again.
      valuesOf(column, selection.rows, selection.from, count, this.arrived);
      return this.appendFrom(columnOf(this.type, this.arrived, count), FIRST_ROW, count);
    }
    return this.appendFrom(column, selection, count);
  }

  private appendFrom(column: Column, selection: Selection, count: number): number {
    // Encoded values are decoded once, though many rows may be joined with theirs.
    this.kind ??= column.kind === "key" || column.kind === "encoded" ? "plain" : column.kind;
    if (this.kind === "number" && column.kind === "number" && this.accepts(column)) {
      return this.appendNumbers(column, selection, count);
    }
    if (this.kind === "dictionary" && column.kind === "dictionary") {
      const bytes = this.appendCodes(column, selection, count);
      if (bytes !== null) return bytes;
    }
    if (this.kind === "text" || (this.kind === "dictionary" && holdsTexts(this.type))) {
      const bytes = this.appendTexts(column, selection, count);
      if (bytes !== null) return bytes;
    }
    if (this.kind !== "plain") this.becomePlain();
    return this.appendValues(valuesOf(column, selection.rows, selection.from, count, []), count);
  }

  column(): StoredForm {
    switch (this.kind) {
      case "number": {
        const { min, max, hasNaN, scale } = this;
        const nulls = this.nulls?.all() ?? null;
        return { kind: "number", data: this.data.all(), nulls, min, max, hasNaN, scale, bytes: 0 };
      }
      case "dictionary":
        return { kind: "dictionary", codes: this.codes.all(), values: this.values, bytes: 0 };
      case "text":
        return this.texts.column();
      default:
        return { kind: "plain", values: this.values, bytes: 0 };
    }
  }

  private accepts({ scale }: NumberColumn): boolean {
    if (this.length === 0) this.scale = scale;
    return scale === this.scale;
  }

  private appendNumbers(column: NumberColumn, { rows, from }: Selection, count: number): number {
    if (column.data instanceof Float64Array && !this.holdsFloats) {
      this.data = this.data.as(Float64Array);
      this.holdsFloats = true;
    }
    const before = this.length;
    const data = this.data.room(count);
    const source = column.data;
    if (rows === null) for (let i = 0; i < count; i++) data[i] = source[from + i]!;
    else for (let i = 0; i < count; i++) data[i] = source[rows[i]!]!;
    if (column.nulls !== null || this.nulls !== null) {
      const nulls = this.marks(before).room(count);
      const marks = column.nulls;
      for (let i = 0; i < count; i++) nulls[i] = marks === null ? 0 : marks[rows === null ? from + i : rows[i]!]!;
    }
    if (column.min < this.min) this.min = column.min;
    if (column.max > this.max) this.max = column.max;
    if (column.hasNaN) this.hasNaN = true;
    this.length += count;
    return count * data.BYTES_PER_ELEMENT;
  }

  /** Of NULLs; the rows before the first NULL have values. */
  private marks(before: number): GrowingArray<Uint8Array> {
    if (this.nulls === null) {
      this.nulls = new GrowingArray(Uint8Array);
      this.nulls.room(before);
    }
    return this.nulls;
  }

  private appendNulls(count: number): number {
    const data = this.data.room(count);
    data.fill(0, 0, count);
    this.marks(this.length).room(count).fill(1, 0, count);
    this.length += count;
    return count * data.BYTES_PER_ELEMENT;
  }

  /** Null when there are too many different values for codes; some rows may have been taken. */
  private appendCodes(column: DictionaryColumn, { rows, from }: Selection, count: number): number | null {
    const { codeOf } = this;
    if (column !== this.source) {
      this.source = column;
      this.recoded = new Int32Array(column.values.length).fill(-1);
    }
    const { recoded } = this;
    const source = column.codes;
    const codes = this.codes.room(count);
    let bytes = count * codes.BYTES_PER_ELEMENT;
    for (let i = 0; i < count; i++) {
      const theirs = source[rows === null ? from + i : rows[i]!]!;
      let code = recoded[theirs]!;
      if (code < 0) {
        const value = column.values[theirs]!;
        code = codeOf.get(value) ?? codeOf.size;
        if (code === CODES_MAX) return null;
        if (code === codeOf.size) {
          codeOf.set(value, code);
          this.values.push(value);
          bytes += bytesOf(value);
        }
        recoded[theirs] = code;
      }
      codes[i] = code;
    }
    this.length += count;
    return bytes;
  }

  /** Null when there are values that are not held as texts. */
  private appendTexts(column: Column, { rows, from }: Selection, count: number): number | null {
    const arrived = column.kind === "text" ? column : textsOf(valuesOf(column, rows, from, count, []), count);
    const recoded = arrived === null ? null : this.becomeTexts();
    if (arrived === null || recoded === null) return null;
    this.length += count;
    const isWhole = arrived !== column;
    return recoded + this.texts.append(arrived, isWhole ? null : rows, isWhole ? 0 : from, count);
  }

  /** Answers by how many bytes it has grown; null when there are values that are not held as texts. */
  private becomeTexts(): number | null {
    if (this.kind === "text") return 0;
    let bytes = 0;
    for (let from = 0; from < this.length; from += RECODED_ROWS) {
      const count = Math.min(RECODED_ROWS, this.length - from);
      const texts = textsOf(valuesOf(this.column(), null, from, count, []), count);
      if (texts === null) return null;
      bytes += this.texts.append(texts, null, 0, count);
    }
    this.kind = "text";
    this.values = [];
    this.codes = new GrowingArray(Uint16Array);
    this.codeOf.clear();
    this.source = null;
    return bytes;
  }

  private appendValues(values: ArrayLike<Value>, count: number): number {
    for (let i = 0; i < count; i++) this.values.push(values[i]!);
    this.length += count;
    return this.measure(values, count);
  }

  private becomePlain(): void {
    const values = this.length === 0 ? [] : valuesOf(this.column(), null, 0, this.length, []);
    this.kind = "plain";
    this.values = Array.from(values);
    this.texts = new GrowingTexts();
    this.data = new GrowingArray(Int32Array);
    this.holdsFloats = false;
    this.codes = new GrowingArray(Uint16Array);
  }
}
