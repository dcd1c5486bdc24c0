/**
 * DELETE of many rows that column segments have: the keys of the rows and of their index entries are made column by
 * column, from the arrays of a chunk, if each of their columns is a number of a fixed length in keys. The bytes are
 * those of key-codec.ts. Made for one statement.
 */
import { allocateMemory, type Memory } from "../../storage/copy-bytes.js";
import { PRESENT } from "../../storage/key-codec.js";
import type { TypeName } from "../../values/values.js";
import type { BulkChanges } from "./bulk-changes.js";
import type { Chunk, Selection } from "./segments/chunk.js";
import type { Column, NumberColumn } from "./segments/column.js";
import type { KeyLayout, TableLayout } from "./table-layout.js";

/** Rows whose keys are made at a time. */
export const REMOVED_ROWS = 256;

/** Bytes in keys, behind the marker. */
const WIDTHS: Partial<Record<TypeName, number>> = {
  ...{ int2: 2, int4: 4, oid: 4, date: 4, int8: 8, time: 8, timestamp: 8, timestamptz: 8 },
};
const TWO_32 = 2 ** 32;
const INT32_MIN = -(2 ** 31);
const INT64_END = 2 ** 63;
/** Flips the sign bit, so that negative numbers come first. */
const SIGN = 0x80000000;

interface Part {
  /** Of the chunk. */
  readonly slot: number;
  readonly type: TypeName;
  readonly width: number;
  readonly descending: boolean;
  /** Where in a key its bytes begin. */
  readonly at: number;
}

/** Keys of one length, end to end. Their prefix and markers are there already. */
interface Keys {
  /** Of the index in the layout; null: of the rows. */
  readonly place: number | null;
  readonly parts: readonly Part[];
  readonly memory: Memory;
  readonly length: number;
}

export class ChunkRemovals {
  private constructor(
    private readonly changes: BulkChanges,
    private readonly all: readonly Keys[],
  ) {}

  /**
   * Null: some key has other columns, or each row is to be looked at.
   * @param slotOf a column, by its id, in the chunks; negative: they do not have it.
   */
  static of(
    layout: TableLayout,
    tenantNumber: number,
    changes: BulkChanges,
    slotOf: (columnId: number) => number,
  ): ChunkRemovals | null {
    const { primaryKey, indexes, rowPrefixOf, table } = layout;
    if (primaryKey === null || table.referencedBy !== undefined || table.immutable) return null;
    const all = [keysOf(null, rowPrefixOf(tenantNumber), [primaryKey], slotOf)];
    for (const [place, index] of indexes.entries()) {
      // Where no value is NULL, the key of a unique index does not end with the row's.
      const layouts = index.unique ? [index] : [index, primaryKey];
      all.push(index.computed ? null : keysOf(place, index.prefixOf(tenantNumber), layouts, slotOf));
    }
    return all.includes(null) ? null : new ChunkRemovals(changes, all as Keys[]);
  }

  /** Removes so many rows of the chunk, REMOVED_ROWS at most. False: not one, since they have other values. */
  take(chunk: Chunk, from: number, count: number): boolean {
    for (const { parts } of this.all) {
      for (const { slot, type } of parts) {
        if (!isFixed(type, chunk.vectors[slot]!, chunk.selections[slot]!, from, count)) return false;
      }
    }
    for (const { place, parts, memory, length } of this.all) {
      for (const part of parts) {
        const { data } = chunk.vectors[part.slot] as NumberColumn;
        writePart(memory, length, part, data, chunk.selections[part.slot]!, from, count);
      }
      this.changes.removeKeys(place, memory, length, count);
    }
    return true;
  }
}

function keysOf(
  place: number | null,
  prefix: Uint8Array,
  layouts: readonly KeyLayout[],
  slotOf: (columnId: number) => number,
): Keys | null {
  const parts: Part[] = [];
  let length = prefix.length;
  for (const { columns, columnIds } of layouts) {
    for (const [i, { type, descending }] of columns.entries()) {
      const slot = slotOf(columnIds[i]!);
      const width = WIDTHS[type.name];
      if (width === undefined || slot < 0) return null;
      parts.push({ slot, type: type.name, width, descending, at: length + 1 });
      length += 1 + width;
    }
  }
  const memory = allocateMemory(REMOVED_ROWS * length);
  for (let start = 0; start < memory.bytes.length; start += length) {
    memory.bytes.set(prefix, start);
    for (const { at } of parts) memory.bytes[start + at - 1] = PRESENT;
  }
  return { place, parts, memory, length };
}

/** The rows' numbers are the values, none is NULL, and each is written in the type's width. */
function isFixed(type: TypeName, column: Column, { rows, from: first }: Selection, from: number, count: number) {
  if (column.kind !== "number" || column.scale >= 0 || column.hasNaN) return false;
  const { min, max, nulls } = column;
  // Infinite dates and moments have keys of their own, and so have late ones.
  if (min <= max && !(Number.isFinite(min) && max < (type === "date" ? -INT32_MIN : INT64_END))) return false;
  if (nulls === null) return true;
  for (let i = from; i < from + count; i++) if (nulls[rows === null ? first + i : rows[i]!] === 1) return false;
  return true;
}

function writePart(
  { bytes, view }: Memory,
  length: number,
  { type, width, descending, at }: Part,
  data: Int32Array | Float64Array,
  { rows, from: first }: Selection,
  from: number,
  count: number,
): void {
  for (let i = 0, place = at; i < count; i++, place += length) {
    const value = data[rows === null ? first + from + i : rows[from + i]!]!;
    if (width === 8) {
      const high = Math.floor(value / TWO_32);
      view.setInt32(place, high ^ SIGN);
      view.setUint32(place + 4, value - high * TWO_32);
    } else if (width === 4) view.setUint32(place, type === "oid" ? value : value ^ SIGN);
    else view.setUint16(place, value ^ (SIGN >>> 16));
    if (descending) for (let b = place; b < place + width; b++) bytes[b] = ~bytes[b]!;
  }
}
