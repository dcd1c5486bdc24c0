/**
 * Records made from the columns of chunks, column by column: texts are copied as bytes and numbers taken from their
 * arrays, so most values never exist. For INSERT … SELECT of many rows; one per load (bulk-writer.ts). The bytes are
 * those of record-codec.ts.
 *
 * A group of rows is measured first. Then the caller finds a place for each record, and they are written there.
 */
import type { Memory } from "../../storage/copy-bytes.js";
import { RECORD_FORMAT } from "../../storage/record-codec.js";
import { refuseLargeRecord } from "../../storage/record-writer.js";
import type { SqlType } from "../../values/values.js";
import {
  dictionaryFrames,
  type FrameColumn,
  float8Frames,
  integerFrames,
  plainFrames,
  textDictionaryFrames,
  textFrames,
} from "./column-frames.js";
import type { Chunk, Selection } from "./segments/chunk.js";
import type { Column } from "./segments/column.js";
import { EncodedDictionary } from "./segments/encoded-column.js";
import type { TableLayout } from "./table-layout.js";

/** Rows that are measured and written at a time. */
export const GROUP_ROWS = 256;

const INTEGERS = new Set(["int2", "int4", "int8", "oid", "date", "time", "timestamp", "timestamptz"]);
/** Types whose values are stored as their UTF-8. */
const TEXTS = new Set(["text", "varchar", "bpchar", "name"]);

interface Target {
  readonly id: number;
  /** Of the chunk. */
  readonly slot: number;
  readonly type: SqlType;
  readonly isNotNull: boolean;
  /** Of the chunk's column that came last. */
  column: Column | null;
  frames: FrameColumn;
}

export class ChunkRecords {
  /** By row of the group: the bytes of its record. */
  readonly sizes = new Int32Array(GROUP_ROWS);
  /** By row of the group: where its record begins. The caller fills it in. */
  readonly places = new Int32Array(GROUP_ROWS);
  private readonly targets: readonly Target[];
  /** What all records begin with. The bits of columns that the chunks do not have are set. */
  private readonly head: Uint8Array;
  private readonly bitmap: number;
  /** By row of the group: its row in the columns of a selection. */
  private readonly rows = new Map<Selection, Int32Array>();
  /** By row of the group: where the next frame goes. */
  private readonly next = new Int32Array(GROUP_ROWS);

  /** `columnIds`: by slot of the chunks. */
  constructor({ types, notNull }: TableLayout, columnIds: readonly number[]) {
    this.targets = types.flatMap((type, id) => {
      const slot = columnIds.indexOf(id);
      if (slot < 0 || type === null) return [];
      const isNotNull = notNull.some((column) => column.id === id);
      return [{ id, slot, type, isNotNull, column: null, frames: plainFrames(type, EMPTY) }];
    });
    const count = types.length;
    const varint = count > 0x7f ? [(count & 0x7f) | 0x80, count >>> 7] : [count];
    this.bitmap = 1 + varint.length;
    this.head = Uint8Array.from([RECORD_FORMAT, ...varint, ...new Array<number>((count + 7) >>> 3).fill(0)]);
    for (let id = 0; id < count; id++) {
      if (!this.targets.some((target) => target.id === id)) this.head[this.bitmap + (id >>> 3)]! |= 1 << (id & 7);
    }
  }

  /**
   * Rows of the chunk from `from` on. Answers which of them is the first whose NOT NULL column is NULL; −1: none is.
   * Throws 54000 for a record past RECORD_BYTES_MAX.
   */
  measure(chunk: Chunk, from: number, count: number): number {
    const { sizes, targets } = this;
    sizes.fill(this.head.length, 0, count);
    this.rows.clear();
    let failing = count;
    for (const target of targets) {
      this.follow(target, chunk.vectors[target.slot]!);
      const rows = this.rowsOf(chunk.selections[target.slot]!, from, count);
      const firstNull = target.frames.measure(rows, count, sizes);
      if (target.isNotNull && firstNull !== -1) failing = Math.min(failing, firstNull);
    }
    for (let i = 0; i < count; i++) refuseLargeRecord(sizes[i]!);
    return failing === count ? -1 : failing;
  }

  /** Writes the records of these rows of the group, which has been measured, at their places. */
  write(chunk: Chunk, begin: number, end: number, to: Memory): void {
    const { head, places, next, bitmap } = this;
    const { bytes } = to;
    for (let i = begin; i < end; i++) {
      const place = places[i]!;
      for (let b = 0; b < head.length; b++) bytes[place + b] = head[b]!;
      next[i] = place + head.length;
    }
    for (const { id, slot, frames } of this.targets) {
      const rows = this.rows.get(chunk.selections[slot]!)!;
      const marks = { places, at: bitmap + (id >>> 3), bit: 1 << (id & 7) };
      frames.write(rows, begin, end, to, next, marks);
    }
  }

  private follow(target: Target, column: Column): void {
    if (target.column === column) return;
    target.column = column;
    target.frames = framesOf(target.type, column);
  }

  private rowsOf(selection: Selection, from: number, count: number): Int32Array {
    let rows = this.rows.get(selection);
    if (rows !== undefined) return rows;
    rows = new Int32Array(count);
    const { rows: selected, from: first } = selection;
    for (let i = 0; i < count; i++) rows[i] = selected === null ? first + from + i : selected[from + i]!;
    this.rows.set(selection, rows);
    return rows;
  }
}

const EMPTY: Column = { kind: "plain", values: [], bytes: 0 };

function framesOf(type: SqlType, column: Column): FrameColumn {
  switch (column.kind) {
    case "number":
      if (type.name === "float8") return float8Frames(column);
      // Moments that are infinite or late are written as values.
      if (INTEGERS.has(type.name) && areInt64(column)) return integerFrames(column);
      break;
    case "text":
      if (TEXTS.has(type.name)) return textFrames(column);
      break;
    case "encoded":
      return column.type === type ? textFrames(column.payloads) : plainFrames(type, column);
    case "dictionary": {
      const isStored = column instanceof EncodedDictionary ? column.encoded.type === type : TEXTS.has(type.name);
      return isStored ? textDictionaryFrames(type, column) : dictionaryFrames(type, column);
    }
  }
  return plainFrames(type, column);
}

function areInt64({ min, max }: { readonly min: number; readonly max: number }): boolean {
  return min > max || (Number.isFinite(min) && max < 2 ** 63);
}
