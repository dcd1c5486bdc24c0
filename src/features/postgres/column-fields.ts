/**
 * A batch's columns as fields of messages, row by row. Numbers and texts that a scan hands out as columns go into the
 * message as they are: no value is made of them in between.
 */
import type { MessageWriter } from "../../protocol/postgres/message-writer.js";
import { Chunk, type Selection } from "../../query/exec/segments/chunk.js";
import { type Column, type TextColumn, valueAt } from "../../query/exec/segments/column.js";
import type { Batch } from "../../query/expr/expr.js";
import type { SqlType, Value } from "../../values/values.js";
import { isText, type ValueWriter } from "./text-values.js";

/** Writes the values of a column. */
export interface FieldWriter {
  /** One that is not null. */
  readonly value: ValueWriter;
  /** One that is a text, as UTF-8; absent: texts are no form of the type's that could be sent as it is. */
  readonly utf8?: (writer: MessageWriter, data: Uint8Array, start: number, end: number) => void;
}

/** With the length of each value before it. */
export function sizedField(type: SqlType, value: ValueWriter, isBinary: boolean): FieldWriter {
  return isText(type, isBinary) ? { value, utf8: writeSized } : { value };
}

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
  { value: write, utf8 }: FieldWriter,
  writer: MessageWriter,
): WriteField {
  if (column.kind === "text" && utf8 !== undefined) return textField(column, { rows, from }, utf8, writer);
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
