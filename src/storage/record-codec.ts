/**
 * Records: the values of a row by column id, in bytes from which a reader can take single columns without the rest.
 * Called by whoever stores rows. The bytes are a stored format; format.ts holds its version.
 *
 *   u8 format · varint columns · null bits, one per column · a frame for each value that is not NULL (record-writer.ts)
 */
import type { SqlType, Value } from "../values/values.js";
import {
  damagedRecord,
  frameEnd,
  type PayloadReader,
  payloadReader,
  payloadStart,
  readVarint,
  varintEnd,
} from "./record-reader.js";
import {
  finishRecord,
  markNull,
  startRecord,
  writeBitmap,
  writeByte,
  writeValue,
  writeVarint,
} from "./record-writer.js";

export const RECORD_FORMAT = 1;

/**
 * The record of a row; the position in both arrays is the column id. The type of a dropped column is null, and
 * NULL is stored for it. Throws 54000 past RECORD_BYTES_MAX.
 */
export function encodeRecord(types: readonly (SqlType | null)[], values: readonly Value[]): Buffer {
  writeRecord(types, values);
  return finishRecord();
}

/** The same for a load, which copies it from where it is put together (`copyRecordTo`) before the next one begins. */
export function buildRecord(types: readonly (SqlType | null)[], values: readonly Value[]): void {
  writeRecord(types, values);
}

function writeRecord(types: readonly (SqlType | null)[], values: readonly Value[]): void {
  startRecord();
  writeByte(RECORD_FORMAT);
  writeVarint(types.length);
  const bitmap = writeBitmap(types.length);
  for (let i = 0; i < types.length; i++) {
    const type = types[i]!;
    const value = values[i];
    if (type === null || value === null || value === undefined) markNull(bitmap, i);
    else writeValue(type, value);
  }
}

export type RecordDecoder = (record: Uint8Array, out: readonly Value[][], row: number) => void;

interface WantedColumn {
  readonly id: number;
  /** Position in `wanted`, `missing` and `out`. */
  readonly slot: number;
  readonly read: PayloadReader;
}

/**
 * Compiles a reader of the columns `wanted` (ids; `types` is by id): it puts column `wanted[i]` of a record into
 * `out[i][row]`, and `missing[i]` if the record was stored before the column was added. The reader throws
 * internal_error when the record is damaged.
 */
export function recordDecoder(
  types: readonly (SqlType | null)[],
  wanted: readonly number[],
  missing: readonly Value[],
): RecordDecoder {
  const columns: WantedColumn[] = wanted.map((id, slot) => {
    const type = types[id] ?? null;
    return { id, slot, read: type === null ? readDropped : payloadReader(type) };
  });
  columns.sort((a, b) => a.id - b.id);

  return (record, out, row) => {
    if (record[0] !== RECORD_FORMAT) throw damagedRecord();
    const count = readVarint(record, 1, record.length);
    const bitmap = varintEnd;
    let position = bitmap + ((count + 7) >>> 3);
    let column = 0;
    for (let i = 0; i < columns.length; i++) {
      const { id, slot, read } = columns[i]!;
      if (id >= count) {
        out[slot]![row] = missing[slot]!;
        continue;
      }
      for (; column < id; column++) {
        if ((record[bitmap + (column >>> 3)]! & (1 << (column & 7))) === 0) position = frameEnd(record, position);
      }
      if ((record[bitmap + (id >>> 3)]! & (1 << (id & 7))) !== 0) {
        out[slot]![row] = null;
        continue;
      }
      const end = frameEnd(record, position);
      out[slot]![row] = read(record, payloadStart, end);
    }
  };
}

/** Takes the values of one column, record by record, as they are stored. */
export interface PayloadSink {
  /** What is between `start` and `end`. */
  take(bytes: Uint8Array, start: number, end: number): void;
  takeNull(): void;
}

export interface WalkedColumn {
  readonly id: number;
  readonly sink: PayloadSink;
  /** What records that were stored before the column was added have in it. */
  readonly missing: Value;
  readonly type: SqlType;
}

/**
 * Compiles a reader that hands the stored values of a record between two places to the columns' sinks. It throws
 * internal_error when the record is damaged; then some of the sinks may have taken a value.
 */
export function recordWalker(
  columns: readonly WalkedColumn[],
): (bytes: Uint8Array, start: number, end: number) => void {
  const sorted = columns.toSorted((a, b) => a.id - b.id);
  const ids = sorted.map(({ id }) => id);
  const sinks = sorted.map(({ sink }) => sink);
  const missing = sorted.map(({ type, missing }) => (missing === null ? null : payloadOf(type, missing)));

  return (bytes, start, end) => {
    if (bytes[start] !== RECORD_FORMAT) throw damagedRecord();
    const count = readVarint(bytes, start + 1, end);
    const bitmap = varintEnd;
    let position = bitmap + ((count + 7) >>> 3);
    let column = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      const sink = sinks[i]!;
      if (id >= count) {
        const payload = missing[i]!;
        if (payload === null) sink.takeNull();
        else sink.take(payload, 0, payload.length);
        continue;
      }
      for (; column < id; column++) {
        if ((bytes[bitmap + (column >>> 3)]! & (1 << (column & 7))) === 0) position = frameEnd(bytes, position);
      }
      if ((bytes[bitmap + (id >>> 3)]! & (1 << (id & 7))) !== 0) {
        sink.takeNull();
        continue;
      }
      const after = frameEnd(bytes, position);
      if (after > end) throw damagedRecord();
      sink.take(bytes, payloadStart, after);
    }
  };
}

/** What a record has of a value that is not NULL. */
export function payloadOf(type: SqlType, value: Value): Uint8Array {
  const record = encodeRecord([type], [value]);
  // Format, number of columns and null bits, then the frame.
  const end = frameEnd(record, 3);
  return record.subarray(payloadStart, end);
}

function readDropped(): null {
  return null;
}
