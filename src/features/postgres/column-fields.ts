/**
 * A batch's columns as fields of messages, row by row. Numbers and texts that a scan hands out as columns go into the
 * message as they are: no value is made of them in between.
 */
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import { Chunk, type Selection } from "../../query/exec/segments/chunk.js";
import { type Column, type TextColumn, valueAt } from "../../query/exec/segments/column.js";
import type { Batch } from "../../query/expr/expr.js";
import type { SqlType, Value } from "../../values/values.js";
import { PLAIN_SCALE_MAX, writeScaled } from "./binary-numeric.js";
import { isText, type ValueWriter } from "./text-values.js";

/** Powers of ten up to this one are exact, and more digits no safe integer has. */
export const SCALE_MAX = 15;

/** Writes the values of a column. */
export interface FieldWriter {
  /** One that is not null. */
  readonly value: ValueWriter;
  /** One that is a text, as UTF-8; absent: texts are no form of the type's that could be sent as it is. */
  readonly utf8?: (writer: MessageWriter, data: Uint8Array, start: number, end: number) => void;
  /** The same for a column of which no text has any of these bytes. */
  readonly plainUtf8?: { readonly without: Uint8Array; readonly write: NonNullable<FieldWriter["utf8"]> };
  /** A numeric that is a safe integer × 10^−scale; absent: only as a value. */
  readonly scaled?: (writer: MessageWriter, unscaled: number, scale: number) => void;
  /** The greatest scale that `scaled` takes. */
  readonly scaleMax?: number;
}

/** With the length of each value before it. */
export function sizedField(type: SqlType, value: ValueWriter, isBinary: boolean): FieldWriter {
  if (isBinary && type.name === "numeric") return { value, scaled: writeSizedScaled, scaleMax: PLAIN_SCALE_MAX };
  return isText(type, isBinary) ? { value, utf8: writeSized } : { value };
}

const writeSizedScaled: FieldWriter["scaled"] = (writer, unscaled, scale) => {
  const from = writer.beginSized();
  writeScaled(writer, unscaled, scale);
  writer.endSized(from);
};

const writeSized: FieldWriter["utf8"] = (writer, data, start, end) => {
  writer.int32(end - start);
  writer.utf8(data, start, end);
};

/** Writes what the column has in a row of the batch. False: it is NULL, and nothing was written. */
export type WriteField = (row: number) => boolean;

/** By column, for as long as the batch is valid. */
export function fieldsOf(batch: Batch, fields: readonly FieldWriter[], writer: MessageWriter): readonly WriteField[] {
  if (!(batch instanceof Chunk)) return fields.map(({ value }, c) => valueField(batch.columns[c]!, value, writer));
  const { vectors, selections } = batch;
  return fields.map((field, c) => columnField(vectors[c]!, selections[c]!, field, writer));
}

function valueField(values: ArrayLike<Value>, write: ValueWriter, writer: MessageWriter): WriteField {
  return (row) => {
    const value = values[row]!;
    if (value === null) return false;
    write(writer, value);
    return true;
  };
}

function columnField(
  column: Column,
  { rows, from }: Selection,
  { value: write, utf8, plainUtf8, scaled, scaleMax = SCALE_MAX }: FieldWriter,
  writer: MessageWriter,
): WriteField {
  if (column.kind === "text" && utf8 !== undefined) {
    const isPlain = plainUtf8 !== undefined && lacks(column.data, plainUtf8.without);
    return textField(column, { rows, from }, isPlain ? plainUtf8.write : utf8, writer);
  }
  if (column.kind === "number" && scaled !== undefined && column.scale >= 0 && column.scale <= scaleMax) {
    const { data, nulls, scale } = column;
    return (row) => {
      const at = rows === null ? from + row : rows[row]!;
      if (nulls !== null && nulls[at] === 1) return false;
      scaled(writer, data[at]!, scale);
      return true;
    };
  }
  if (column.kind === "number" && column.scale < 0) {
    const { data, nulls } = column;
    return (row) => {
      const at = rows === null ? from + row : rows[row]!;
      if (nulls !== null && nulls[at] === 1) return false;
      write(writer, data[at]!);
      return true;
    };
  }
  return (row) => {
    const value = valueAt(column, rows === null ? from + row : rows[row]!);
    if (value === null) return false;
    write(writer, value);
    return true;
  };
}

/** Of the text of columns that were looked through for them. */
const lacking = new WeakMap<Uint8Array, { readonly bytes: Uint8Array; readonly isWithout: boolean }>();

/** Whether none of the bytes is in a column's texts. It is looked for once, not for each batch. */
function lacks(data: Uint8Array, bytes: Uint8Array): boolean {
  const known = lacking.get(data);
  if (known?.bytes === bytes) return known.isWithout;
  const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const isWithout = bytes.every((byte) => text.indexOf(byte) < 0);
  lacking.set(data, { bytes, isWithout });
  return isWithout;
}

function textField(
  { data, offsets, nulls }: TextColumn,
  { rows, from }: Selection,
  write: NonNullable<FieldWriter["utf8"]>,
  writer: MessageWriter,
): WriteField {
  return (row) => {
    const at = rows === null ? from + row : rows[row]!;
    if (nulls !== null && nulls[at] === 1) return false;
    write(writer, data, offsets[at]!, offsets[at + 1]!);
    return true;
  };
}
