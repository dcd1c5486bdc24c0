/**
 * A segment made of one in a file and of what has changed in it since (segment-patch.ts). Columns are merged as arrays,
 * and a column in which nothing has changed keeps its page. This takes a fraction of the time that it takes to read and
 * decode all records. Made in a thread, by build-columns.ts.
 */
import type { RecordDecoder } from "../../../../storage/record-codec.js";
import type { SqlType, Value } from "../../../../values/values.js";
import { emptyColumns } from "../../row-buffer.js";
import {
  columnOf,
  type DictionaryColumn,
  entryCount,
  type NumberColumn,
  type StoredForm,
  storedEntriesOf,
} from "../column.js";
import { mergedColumn, originsOf, type RowOrigins } from "../corrected-piece.js";
import { EncodedDictionary, payloadsOf } from "../encoded-column.js";
import { KeyCollector, type SegmentKeys } from "../segment.js";
import { bytesKeyOf, isTextAt, type TextColumn } from "../text-column.js";
import { ColumnFile, type ColumnToWrite, DamagedColumns, type StoredSegment } from "./column-file.js";
import type { EncodedPage } from "./column-page.js";
import { REMOVED, type SegmentPatch } from "./segment-patch.js";

export interface PatchedSegment {
  readonly keys: SegmentKeys;
  readonly columns: ReadonlyMap<number, ColumnToWrite>;
}

interface WantedColumn {
  readonly id: number;
  readonly type: SqlType;
}

/** Of the rows of a full segment, those that one may have. */
const ROWS_MIN_SHARE = 0.5;
const ROWS_MAX_SHARE = 1.5;

/** Makes segments of those in files that belong to one table. Close it in the end. */
export class Patcher {
  private readonly files = new Map<string, ColumnFile>();
  /** The last segment's, by place: while one lives, the next segment has the same entries, looked up already. */
  private readonly dictionaries: (StoredForm | undefined)[] = [];
  private readonly decoders = new Map<string, RecordDecoder>();

  /** @param decoderOf reads the columns at these places. */
  constructor(
    private readonly prefixLength: number,
    private readonly columns: readonly WantedColumn[],
    private readonly decoderOf: (places: readonly number[]) => RecordDecoder,
    private readonly segmentRows: number,
  ) {}

  /** Null: the file is not there or not whole, or the segment is better made of its records. */
  patched(patch: SegmentPatch): PatchedSegment | null {
    try {
      const stored = this.segmentOf(patch);
      return stored === null ? null : this.merged(stored, patch);
    } catch (error) {
      if (error instanceof DamagedColumns) return null;
      throw error;
    }
  }

  close(): void {
    for (const file of this.files.values()) file.close();
  }

  private segmentOf({ path, fileId, number }: SegmentPatch): StoredSegment | null {
    let file = this.files.get(path);
    if (file === undefined) {
      const opened = this.open(path);
      if (opened === null) return null;
      file = opened;
      this.files.set(path, file);
    }
    const stored = file.id === fileId ? file.segments[number] : undefined;
    return stored !== undefined && this.columns.every(({ id }) => stored.has(id)) ? stored : null;
  }

  /** Null: it has been removed. */
  private open(path: string): ColumnFile | null {
    try {
      return new ColumnFile(path, this.prefixLength);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw error;
    }
  }

  private merged(stored: StoredSegment, patch: SegmentPatch): PatchedSegment | null {
    const before = stored.readKeys();
    const changes = new Changes(before, patch);
    const isChanged = ({ id }: WantedColumn): boolean =>
      !changes.areInPlace || patch.changed === null || patch.changed.includes(id);
    const { values, keys } = this.decoded(changes, isChanged);
    const rows = originsOf(0, before.length, changes, keys.length);
    const { length } = rows.origins;
    if (length < ROWS_MIN_SHARE * this.segmentRows || length > ROWS_MAX_SHARE * this.segmentRows) return null;
    const columns = new Map<number, ColumnToWrite>();
    for (const [place, wanted] of this.columns.entries()) {
      const { id, type } = wanted;
      const page = stored.readPage(id);
      const column = isChanged(wanted)
        ? mergedPage(type, this.base(place, stored, page), page, values[place]!, rows, changes.areInPlace)
        : this.kept(place, stored, page);
      if (column === null) return null;
      columns.set(id, column);
    }
    return { keys: changes.areInPlace ? before : mergedKeys(before, keys, rows), columns };
  }

  /** Rows that there are now: their keys, and by place the values of columns that may have changed. */
  private decoded({ records, keys }: Changes, isChanged: (column: WantedColumn) => boolean) {
    const places = this.columns.flatMap((column, place) => (isChanged(column) ? place : []));
    const values = emptyColumns(this.columns.length);
    const wanted = places.map((place) => values[place]!);
    const decode = this.decoderFor(places);
    const decoded: Uint8Array[] = [];
    records.forEach((record, i) => {
      if (record === null) return;
      decode(record, wanted, decoded.length);
      decoded.push(keys[i]!);
    });
    return { values, keys: decoded };
  }

  private decoderFor(places: readonly number[]): RecordDecoder {
    const name = places.join();
    let decoder = this.decoders.get(name);
    if (decoder === undefined) {
      decoder = this.decoderOf(places);
      this.decoders.set(name, decoder);
    }
    return decoder;
  }

  private base(place: number, stored: StoredSegment, page: EncodedPage): StoredForm {
    const base = stored.decoded(this.columns[place]!.type, page);
    this.dictionaries[place] = page.head.kind === "codes" ? base : undefined;
    return base;
  }

  /** Of a column that has not changed. Codes mean something else in another file. */
  private kept(place: number, stored: StoredSegment, page: EncodedPage): ColumnToWrite {
    if (page.head.kind !== "codes") return page;
    return { type: this.columns[place]!.type, column: this.base(place, stored, page) };
  }
}

/** What has changed, and where in the segment. */
class Changes {
  readonly keys: Uint8Array[] = [];
  readonly records: (Uint8Array | null)[] = [];
  readonly places: number[] = [];
  readonly replaces: boolean[] = [];
  /** Every row has its number as before. */
  readonly areInPlace: boolean;

  constructor(before: SegmentKeys, { lengths, bytes }: SegmentPatch) {
    // Not shared: so records are decoded as everywhere.
    const own = Uint8Array.from(bytes);
    let end = 0;
    let place = 0;
    const next = (length: number): Uint8Array => {
      end += length;
      return own.subarray(end - length, end);
    };
    for (let i = 0; i < lengths.length; i += 2) {
      const key = next(lengths[i]!);
      const record = lengths[i + 1] === REMOVED ? null : next(lengths[i + 1]!);
      place = before.nextBound(key, place);
      const replaces = place < before.length && before.compare(place, key) === 0;
      if (record === null && !replaces) continue;
      this.keys.push(key);
      this.records.push(record);
      this.places.push(place);
      this.replaces.push(replaces);
    }
    this.areInPlace = this.replaces.every((replaces, i) => replaces && this.records[i] !== null);
  }
}

function mergedKeys(before: SegmentKeys, decoded: readonly Uint8Array[], { origins }: RowOrigins): SegmentKeys {
  const keys = new KeyCollector(before.prefixLength);
  for (const origin of origins) {
    if (origin < 0) keys.add(decoded[-1 - origin]!);
    else keys.addPart(before.at(origin));
  }
  return keys.take();
}

/** Null: it has to be made of values, because its form is no longer the right one. */
function mergedPage(
  type: SqlType,
  base: StoredForm,
  page: EncodedPage,
  values: readonly Value[],
  rows: RowOrigins,
  areInPlace: boolean,
): ColumnToWrite | null {
  if (base.kind === "plain") return null;
  // Codes mean something else in another file.
  const mayKeep = areInPlace && page.head.kind !== "codes";
  if (mayKeep && isUnchanged(type, base, values, rows.replaced)) return page;
  const merged = mergedColumn(type, base, values, rows);
  switch (merged.kind) {
    case "plain":
      return null;
    case "text":
    case "encoded":
      return { type, column: merged };
    case "number":
      return { type, column: measured(merged) };
    case "dictionary":
      return { type, column: withoutUnused(merged) };
  }
}

/** All the rows have the values that they had. */
function isUnchanged(type: SqlType, base: StoredForm, values: readonly Value[], rows: Int32Array): boolean {
  switch (base.kind) {
    case "number": {
      const added = columnOf(type, values, rows.length);
      if (added.kind !== "number" || added.scale !== base.scale) return false;
      return rows.every(
        (row, i) => (base.nulls?.[row] ?? 0) === (added.nulls?.[i] ?? 0) && Object.is(base.data[row], added.data[i]),
      );
    }
    case "encoded":
      return haveBytes(base.payloads, rows, payloadsOf(type, values, rows.length));
    case "dictionary": {
      const { codes, entries } = base;
      if (base instanceof EncodedDictionary) {
        const codesOfRows = rows.map((row) => codes[row]!);
        return haveBytes(base.encoded.payloads, codesOfRows, payloadsOf(type, values, rows.length));
      }
      if (entries === undefined) return rows.every((row, i) => base.values[codes[row]!] === values[i]);
      return rows.every((row, i) => isTextAt(entries, codes[row]!, values[i]!));
    }
    case "text":
      return rows.every((row, i) => isTextAt(base, row, values[i]!));
    case "plain":
      return false;
  }
}

/** Whether these rows have what `added` has, in its order. */
function haveBytes(column: TextColumn, rows: Int32Array, added: TextColumn): boolean {
  return rows.every((row, i) => bytesKeyOf(column, row) === bytesKeyOf(added, i));
}

/** With the least and greatest numbers of these rows: answers are made of them. */
function measured({ data, nulls: some, scale, bytes }: NumberColumn): NumberColumn {
  const nulls = some?.includes(1) === true ? some : null;
  const { min, max, hasNaN } = extremesOf(data, nulls);
  // A copy of the column by its properties would be slower: V8 looks them up in each segment anew.
  return { kind: "number", data, nulls, min, max, hasNaN, scale, bytes };
}

function extremesOf(data: Int32Array | Float64Array, nulls: Uint8Array | null) {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let hasNaN = false;
  for (let i = 0; i < data.length; i++) {
    if (nulls !== null && nulls[i] === 1) continue;
    const number = data[i]!;
    if (number < min) min = number;
    if (number > max) max = number;
    if (Number.isNaN(number)) hasNaN = true;
  }
  return { min, max, hasNaN };
}

/** Entries that no row has any more would stay for ever; those that segments share are looked through anyway. */
function withoutUnused(column: DictionaryColumn): DictionaryColumn {
  if (storedEntriesOf(column) !== null) return column;
  const count = entryCount(column);
  const isUsed = new Uint8Array(count);
  for (const code of column.codes) isUsed[code] = 1;
  const used = Int32Array.from(isUsed.keys()).filter((code) => isUsed[code] === 1);
  if (used.length === count) return column;
  const newCode = new Uint16Array(count);
  used.forEach((code, i) => {
    newCode[code] = i;
  });
  const { length } = column.codes;
  const codes = used.length <= 256 ? new Uint8Array(length) : new Uint16Array(length);
  for (let i = 0; i < length; i++) codes[i] = newCode[column.codes[i]!]!;
  return { kind: "dictionary", codes, values: Array.from(used, (code) => column.values[code]!), bytes: column.bytes };
}
