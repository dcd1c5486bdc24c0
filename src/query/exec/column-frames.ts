/**
 * The frames of one column's values in records (record-writer.ts), for many rows at a time. Made for each column of a
 * chunk by chunk-records.ts.
 */
import { copyBytes, type Memory, memoryOf } from "../../storage/copy-bytes.js";
import { encodeRecord } from "../../storage/record-codec.js";
import { integerBytes, lengthBytes, writeIntegerFrame, writeLength } from "../../storage/value-frame.js";
import type { SqlType, Value } from "../../values/values.js";
import { type Column, type DictionaryColumn, type NumberColumn, storedEntriesOf, valueAt } from "./segments/column.js";
import type { TextColumn } from "./segments/text-column.js";

/** Where NULLs are marked in the records: by row its record's place, the byte from there, and the bit. */
export interface NullMarks {
  readonly places: Int32Array;
  readonly at: number;
  readonly bit: number;
}

/** `rows`: by row of the group, its row in the column. */
export interface FrameColumn {
  /** Adds each frame's bytes to `sizes`. Answers which row of the group is the first NULL; −1: none is. */
  measure(rows: Int32Array, count: number, sizes: Int32Array): number;
  /** Writes the frames of rows of the group at `next`, and moves that behind them. */
  write(rows: Int32Array, begin: number, end: number, to: Memory, next: Int32Array, marks: NullMarks): void;
}

const FLOAT8_BYTES = 8;

/** Integral numbers, also the micros and days of moments; all are finite. */
export function integerFrames({ data, nulls }: NumberColumn): FrameColumn {
  return {
    measure(rows, count, sizes) {
      for (let i = 0; i < count; i++) {
        if (nulls === null || nulls[rows[i]!] === 0) sizes[i]! += 1 + integerBytes(data[rows[i]!]!);
      }
      return firstOf(nulls, rows, count);
    },
    write(rows, begin, end, { bytes }, next, marks) {
      for (let i = begin; i < end; i++) {
        const row = rows[i]!;
        if (nulls !== null && nulls[row] === 1) markNull(bytes, i, marks);
        else next[i] = writeIntegerFrame(bytes, next[i]!, data[row]!);
      }
    },
  };
}

export function float8Frames({ data, nulls }: NumberColumn): FrameColumn {
  return {
    measure(rows, count, sizes) {
      for (let i = 0; i < count; i++) {
        if (nulls === null || nulls[rows[i]!] === 0) sizes[i]! += 1 + FLOAT8_BYTES;
      }
      return firstOf(nulls, rows, count);
    },
    write(rows, begin, end, { bytes, view }, next, marks) {
      for (let i = begin; i < end; i++) {
        const row = rows[i]!;
        if (nulls !== null && nulls[row] === 1) {
          markNull(bytes, i, marks);
          continue;
        }
        const at = next[i]!;
        bytes[at] = FLOAT8_BYTES;
        view.setFloat64(at + 1, data[row]!, true);
        next[i] = at + 1 + FLOAT8_BYTES;
      }
    },
  };
}

export function textFrames({ data, offsets, nulls }: TextColumn): FrameColumn {
  const memory = memoryOf(data);
  return {
    measure(rows, count, sizes) {
      for (let i = 0; i < count; i++) {
        const row = rows[i]!;
        if (nulls !== null && nulls[row] === 1) continue;
        const length = offsets[row + 1]! - offsets[row]!;
        sizes[i]! += lengthBytes(length) + length;
      }
      return firstOf(nulls, rows, count);
    },
    write(rows, begin, end, to, next, marks) {
      for (let i = begin; i < end; i++) {
        const row = rows[i]!;
        if (nulls !== null && nulls[row] === 1) {
          markNull(to.bytes, i, marks);
          continue;
        }
        const start = offsets[row]!;
        const length = offsets[row + 1]! - start;
        const at = writeLength(to.bytes, next[i]!, length);
        copyBytes(memory, start, length, to, at);
        next[i] = at + length;
      }
    },
  };
}

/** Of texts, whose UTF-8 is made once for all of them, unless the dictionary has it, and of encoded values. */
export function textDictionaryFrames(type: SqlType, column: DictionaryColumn): FrameColumn {
  const { codes } = column;
  const texts = storedEntriesOf(column);
  if (texts === null) return dictionaryFrames(type, column);
  const entries = textFrames(texts);
  let entryOf = new Int32Array(0);
  const find = (rows: Int32Array, begin: number, end: number): void => {
    if (entryOf.length < end) entryOf = new Int32Array(Math.max(end, rows.length));
    for (let i = begin; i < end; i++) entryOf[i] = codes[rows[i]!]!;
  };
  return {
    measure(rows, count, sizes) {
      find(rows, 0, count);
      return entries.measure(entryOf, count, sizes);
    },
    write(rows, begin, end, to, next, marks) {
      find(rows, begin, end);
      entries.write(entryOf, begin, end, to, next, marks);
    },
  };
}

/** The frame of each value is made once. */
export function dictionaryFrames(type: SqlType, { codes, values }: DictionaryColumn): FrameColumn {
  const frames: (Memory | null | undefined)[] = new Array(values.length);
  const frameOf = (code: number): Memory | null => {
    let frame = frames[code];
    if (frame === undefined) {
      frame = frameOfValue(type, values[code]!);
      frames[code] = frame;
    }
    return frame;
  };
  return {
    measure(rows, count, sizes) {
      let first = -1;
      for (let i = 0; i < count; i++) {
        const frame = frameOf(codes[rows[i]!]!);
        if (frame !== null) sizes[i]! += frame.bytes.length;
        else if (first === -1) first = i;
      }
      return first;
    },
    write(rows, begin, end, to, next, marks) {
      for (let i = begin; i < end; i++) {
        const frame = frameOf(codes[rows[i]!]!);
        if (frame === null) markNull(to.bytes, i, marks);
        else next[i] = copyFrame(frame, to, next[i]!);
      }
    },
  };
}

/** Values of any type. */
export function plainFrames(type: SqlType, column: Column): FrameColumn {
  const frames: (Memory | null)[] = [];
  return {
    measure(rows, count, sizes) {
      let first = -1;
      for (let i = 0; i < count; i++) {
        const frame = frameOfValue(type, valueAt(column, rows[i]!));
        frames[i] = frame;
        if (frame !== null) sizes[i]! += frame.bytes.length;
        else if (first === -1) first = i;
      }
      return first;
    },
    write(_rows, begin, end, to, next, marks) {
      for (let i = begin; i < end; i++) {
        const frame = frames[i]!;
        if (frame === null) markNull(to.bytes, i, marks);
        else next[i] = copyFrame(frame, to, next[i]!);
      }
    },
  };
}

/** Null: the value is NULL. */
function frameOfValue(type: SqlType, value: Value): Memory | null {
  // A record of one column: format, number of columns and null bits, then the frame.
  return value === null ? null : memoryOf(encodeRecord([type], [value]).subarray(3));
}

function copyFrame(frame: Memory, to: Memory, at: number): number {
  const { length } = frame.bytes;
  copyBytes(frame, 0, length, to, at);
  return at + length;
}

function firstOf(nulls: Uint8Array | null, rows: Int32Array, count: number): number {
  if (nulls === null) return -1;
  for (let i = 0; i < count; i++) if (nulls[rows[i]!] === 1) return i;
  return -1;
}

function markNull(bytes: Uint8Array, row: number, { places, at, bit }: NullMarks): void {
  bytes[places[row]! + at]! |= bit;
}
