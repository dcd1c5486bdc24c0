/**
 * Columns made of records as they are stored: numbers go into arrays, and texts as bytes into a dictionary, without a
 * value or a string in between. What they make is what `columnOf` would make of the values; only after rows without a
 * dictionary, the next ones may have none, too (text-spool.ts). Used by build-columns.ts; owned by one build.
 */
import type { PayloadSink } from "../../../../storage/record-codec.js";
import {
  type PayloadReader,
  payloadReader,
  readFloat32,
  readFloat64,
  readInt,
  readTime,
  readTimestamp,
} from "../../../../storage/record-reader.js";
import { NUMERIC_FORM } from "../../../../storage/record-writer.js";
import { Numeric } from "../../../../values/numeric.js";
import type { SqlType, Value } from "../../../../values/values.js";
import { codesMax, columnOf, holdsTexts, type NumberColumn, type StoredForm } from "../column.js";
import { ENCODED_DICTIONARY_BYTES, EncodedColumn, EncodedDictionary, holdsEncoded } from "../encoded-column.js";
import { TextSpool } from "./text-spool.js";

const ROWS_MIN = 1024;

/** One column of the segment that is being filled. */
export abstract class ColumnSink implements PayloadSink {
  /** Rows until now. */
  protected length = 0;
  /** The values of all rows, from when one came that has no form of this kind. */
  private values: Value[] | null = null;
  protected readonly read: PayloadReader;

  constructor(protected readonly type: SqlType) {
    this.read = payloadReader(type);
  }

  take(bytes: Uint8Array, start: number, end: number): void {
    if (this.values !== null || !this.put(bytes, start, end)) this.all().push(this.read(bytes, start, end));
    this.length++;
  }

  takeNull(): void {
    if (this.values === null) this.putNull();
    else this.values.push(null);
    this.length++;
  }

  valueAt(row: number): Value {
    return this.values === null ? this.heldAt(row) : this.values[row]!;
  }

  /** All rows since the last call. */
  column(): StoredForm {
    const column = this.values === null ? this.held() : columnOf(this.type, this.values, this.length);
    this.values = null;
    this.length = 0;
    this.restart();
    return column;
  }

  private all(): Value[] {
    this.values ??= Array.from({ length: this.length }, (_, row) => this.heldAt(row));
    return this.values;
  }

  /** The next row; false: the value has no form of this kind. */
  protected abstract put(bytes: Uint8Array, start: number, end: number): boolean;
  protected abstract putNull(): void;
  protected abstract heldAt(row: number): Value;
  protected abstract held(): StoredForm;
  /** Forgets the rows. */
  protected abstract restart(): void;
}

/** `rowsMax`: of a segment. */
export function columnSink(type: SqlType, rowsMax: number): ColumnSink {
  switch (type.name) {
    case "int2":
    case "int4":
    case "int8":
    case "oid":
      return new IntegerSink(type);
    case "date":
    case "time":
      return new TimeSink(type);
    case "timestamp":
    case "timestamptz":
      return new TimestampSink(type);
    case "float4":
      return new Float32Sink(type);
    case "float8":
      return new Float64Sink(type);
    case "numeric":
      return new NumericSink(type);
    default:
      if (holdsEncoded(type)) return new EncodedSink(type, rowsMax);
      return holdsTexts(type) && type.name !== "uuid" ? new TextSink(type, rowsMax) : new ValueSink(type);
  }
}

abstract class NumberSink extends ColumnSink {
  private numbers = new Float64Array(ROWS_MIN);
  private nulls: Uint8Array | null = null;
  private min = Number.POSITIVE_INFINITY;
  private max = Number.NEGATIVE_INFINITY;
  private hasNaN = false;
  private isInt32 = true;

  protected append(value: number): void {
    const { length } = this;
    if (length === this.numbers.length) this.grow();
    this.numbers[length] = value;
    if ((value | 0) !== value || (value === 0 && Object.is(value, -0))) this.isInt32 = false;
    if (value < this.min) this.min = value;
    if (value > this.max) this.max = value;
    if (Number.isNaN(value)) this.hasNaN = true;
  }

  protected override putNull(): void {
    const { length } = this;
    if (length === this.numbers.length) this.grow();
    this.nulls ??= new Uint8Array(this.numbers.length);
    this.numbers[length] = 0;
    this.nulls[length] = 1;
  }

  private grow(): void {
    const numbers = new Float64Array(2 * this.numbers.length);
    numbers.set(this.numbers);
    this.numbers = numbers;
    if (this.nulls === null) return;
    const nulls = new Uint8Array(numbers.length);
    nulls.set(this.nulls);
    this.nulls = nulls;
  }

  protected numberAt(row: number): number | null {
    return this.nulls?.[row] === 1 ? null : this.numbers[row]!;
  }

  protected override heldAt(row: number): Value {
    return this.numberAt(row);
  }

  /** Digits after the point of every value; −1: the numbers are the values. */
  protected get scale(): number {
    return -1;
  }

  protected override held(): NumberColumn {
    const { length, min, max, hasNaN, scale } = this;
    const numbers = this.numbers.subarray(0, length);
    const data = this.isInt32 ? new Int32Array(numbers) : new Float64Array(numbers);
    const nulls = this.nulls?.slice(0, length) ?? null;
    return { kind: "number", data, nulls, min, max, hasNaN, scale, bytes: data.byteLength + (nulls?.byteLength ?? 0) };
  }

  protected override restart(): void {
    this.nulls = null;
    this.min = Number.POSITIVE_INFINITY;
    this.max = Number.NEGATIVE_INFINITY;
    this.hasNaN = false;
    this.isInt32 = true;
  }
}

class IntegerSink extends NumberSink {
  protected override put(bytes: Uint8Array, start: number, end: number): boolean {
    const value = readInt(bytes, start, end);
    if (typeof value !== "number") return false;
    this.append(value);
    return true;
  }
}

class TimeSink extends NumberSink {
  protected override put(bytes: Uint8Array, start: number, end: number): boolean {
    this.append(readTime(bytes, start, end));
    return true;
  }
}

class TimestampSink extends NumberSink {
  protected override put(bytes: Uint8Array, start: number, end: number): boolean {
    const value = readTimestamp(bytes, start, end);
    if (typeof value !== "number") return false;
    this.append(value);
    return true;
  }
}

class Float32Sink extends NumberSink {
  protected override put(bytes: Uint8Array, start: number, end: number): boolean {
    this.append(readFloat32(bytes, start, end));
    return true;
  }
}

class Float64Sink extends NumberSink {
  protected override put(bytes: Uint8Array, start: number, end: number): boolean {
    this.append(readFloat64(bytes, start, end));
    return true;
  }
}

/** Unscaled integers of one scale. */
class NumericSink extends NumberSink {
  private scaleOfAll = -1;

  protected override put(bytes: Uint8Array, start: number, end: number): boolean {
    const scale = bytes[start]!;
    if (start >= end || scale >= NUMERIC_FORM.positive || (this.scaleOfAll !== -1 && scale !== this.scaleOfAll))
      return false;
    const unscaled = readInt(bytes, start + 1, end);
    if (typeof unscaled !== "number") return false;
    this.scaleOfAll = scale;
    this.append(unscaled);
    return true;
  }

  protected override heldAt(row: number): Value {
    const unscaled = this.numberAt(row);
    return unscaled === null ? null : Numeric.of(BigInt(unscaled), this.scaleOfAll);
  }

  protected override get scale(): number {
    return Math.max(this.scaleOfAll, 0);
  }

  protected override restart(): void {
    super.restart();
    this.scaleOfAll = -1;
  }
}

class TextSink extends ColumnSink {
  protected readonly spool: TextSpool;

  constructor(type: SqlType, rowsMax: number) {
    super(type);
    this.spool = new TextSpool(codesMax(rowsMax));
  }

  protected override put(bytes: Uint8Array, start: number, end: number): boolean {
    this.spool.put(bytes, start, end);
    return true;
  }

  protected override putNull(): void {
    this.spool.putNull();
  }

  protected override heldAt(row: number): Value {
    return this.spool.valueAt(row);
  }

  protected override held(): StoredForm {
    return this.spool.column(codesMax(this.length));
  }

  protected override restart(): void {
    this.spool.restart();
  }
}

/** Values as their records have them, of which some may be the same. */
class EncodedSink extends TextSink {
  protected override heldAt(row: number): Value {
    return this.spool.payloadAt(row, this.read);
  }

  protected override held(): StoredForm {
    const held = this.spool.column(codesMax(this.length));
    if (held.kind === "text") return new EncodedColumn(this.type, held);
    const dictionary = new EncodedDictionary(held.codes, new EncodedColumn(this.type, held.entries!));
    return held.entries!.data.length > ENCODED_DICTIONARY_BYTES ? dictionary.rows() : dictionary;
  }
}

/** What is made of values in any case. */
class ValueSink extends ColumnSink {
  protected override put(): boolean {
    return false;
  }

  // Rows before the first value.
  protected override putNull(): void {}

  protected override heldAt(): Value {
    return null;
  }

  protected override held(): StoredForm {
    return columnOf(this.type, new Array<Value>(this.length).fill(null), this.length);
  }

  protected override restart(): void {}
}
