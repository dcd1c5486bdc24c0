/** Adds the entry of a row to a load: the key goes from the key writer into the load without a buffer in between. */
import {
  appendKey,
  appendKeyBytes,
  appendKeyPart,
  beginKey,
  beginTextKey,
  encodeKey,
} from "../../storage/key-codec.js";
import { LOAD_WRITE_BYTES, type Load } from "../../storage/load.js";
import type { LoadRun } from "../../storage/load-run.js";
import type { Value } from "../../values/values.js";
import { entryValue } from "./entry-value.js";
import type { SegmentKeys } from "./segments/segment.js";
import type { StoredSegment } from "./segments/stored/column-file.js";
import type { TextColumn } from "./segments/text-column.js";
import { type EntryLayout, type KeyLayout, keyValues } from "./table-layout.js";

const NO_PREFIX = new Uint8Array(0);

/** Where an index's values are among those that are given: a row's by column id, or computed ones in order. */
export function entryPlaces({ computed, columnIds }: EntryLayout): readonly number[] {
  return computed ? columnIds.map((_, i) => i) : columnIds;
}

/**
 * What a load of entries of a segment's rows takes at least, where each value of the index's key takes one byte: before
 * any memory is taken for rows of which there are too many.
 * @param without keys of rows that have no entry; some may not be in the segment.
 */
export function entryBytesMin(
  { unique, columnIds }: EntryLayout,
  prefix: Uint8Array,
  { rows, keyBytes }: Pick<StoredSegment, "rows" | "keyBytes">,
  without: readonly Uint8Array[],
): number {
  const each = LOAD_WRITE_BYTES + prefix.length + columnIds.length;
  const gone = without.reduce((sum, { length }) => sum + length, 0);
  // An entry that need not be unique has the row's key twice, as its value too.
  const keys = (unique ? 1 : 2) * Math.max(0, keyBytes - gone);
  return Math.max(0, rows - without.length) * each + keys;
}

/**
 * The entry's key begins with the run's prefix. Answers its number in the run.
 * @param values of the index's key, at `places`.
 * @param suffix of the row's key; or the primary key, to be encoded from the row.
 */
export function loadEntry(
  load: Load,
  run: LoadRun,
  index: EntryLayout,
  values: readonly Value[],
  places: readonly number[],
  suffix: Uint8Array | KeyLayout,
  row: readonly Value[],
): number {
  if (index.included !== null) return loadIncluding(load, run, index, values, places, suffix, row);
  const mark = beginKey(run.prefix, index.columns, values, places);
  appendSuffix(suffix, row);
  return load.addBuilt(run, mark, isWhole(index, values, places));
}

function appendSuffix(suffix: Uint8Array | KeyLayout, row: readonly Value[]): void {
  if (suffix instanceof Uint8Array) appendKeyBytes(suffix);
  else appendKey(suffix.columns, row, suffix.columnIds);
}

/** As `loadEntry`, for an index without INCLUDE. The suffix is a part of `bytes`, of which no view is made. */
export function loadEntryOfPart(
  load: Load,
  run: LoadRun,
  index: EntryLayout,
  values: readonly Value[],
  places: readonly number[],
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  const mark = beginKey(run.prefix, index.columns, values, places);
  appendKeyPart(bytes, start, end);
  return load.addBuilt(run, mark, isWhole(index, values, places));
}

/**
 * As `loadEntryOfPart`, for an index over one column of texts (`isKeyOfText`), of one that is there: it is not made a
 * string.
 */
export function loadEntryOfText(
  load: Load,
  run: LoadRun,
  index: EntryLayout,
  { data, offsets }: TextColumn,
  row: number,
  keys: SegmentKeys,
): number {
  const mark = beginTextKey(run.prefix, index.columns[0]!, data, offsets[row]!, offsets[row + 1]!);
  appendKeyPart(keys.bytes, keys.offsets[row]!, keys.offsets[row + 1]!);
  return load.addBuilt(run, mark, !index.unique);
}

/** Adds the removal of an entry, which `loadEntry` would have made. */
export function loadRemoval(
  load: Load,
  run: LoadRun,
  index: EntryLayout,
  values: readonly Value[],
  places: readonly number[],
  suffix: Uint8Array | KeyLayout,
  row: readonly Value[],
): void {
  beginKey(run.prefix, index.columns, values, places);
  if (isWhole(index, values, places)) appendSuffix(suffix, row);
  load.addBuiltKey(run, null);
}

/** Adds the removal of a row, whose key is made of its primary key. */
export function loadRowRemoval(load: Load, run: LoadRun, key: KeyLayout, row: readonly Value[]): void {
  beginKey(run.prefix, key.columns, row, key.columnIds);
  load.addBuiltKey(run, null);
}

/** The value is more than the suffix. */
function loadIncluding(
  load: Load,
  run: LoadRun,
  index: EntryLayout,
  values: readonly Value[],
  places: readonly number[],
  suffix: Uint8Array | KeyLayout,
  row: readonly Value[],
): number {
  const bytes = suffix instanceof Uint8Array ? suffix : encodeKey(NO_PREFIX, suffix.columns, keyValues(suffix, row));
  beginKey(run.prefix, index.columns, values, places);
  if (isWhole(index, values, places)) appendKeyBytes(bytes);
  return load.addBuiltKey(run, entryValue(index, row, bytes));
}

/** Whether the suffix is part of the key; see entryKey. */
function isWhole(index: EntryLayout, values: readonly Value[], places: readonly number[]): boolean {
  if (!index.unique) return true;
  if (index.nullsNotDistinct) return false;
  for (let i = 0; i < places.length; i++) if (values[places[i]!] === null) return true;
  return false;
}
