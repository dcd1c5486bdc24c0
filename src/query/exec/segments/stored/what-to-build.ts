/**
 * Decides when segments of a table are made, of which of its ranges, and with which columns. Called by column-store.ts.
 */
import type { TableLayout } from "../../table-layout.js";
import type { Segment } from "../segment.js";
import type { SegmentCache, SegmentSizes } from "../segment-cache.js";
import { heldColumnOf, type KeyTextSpan, type TableSegments } from "../table-segments.js";
import type { BuildJob, StoredColumn } from "./build-columns.js";
import { isStorable } from "./column-page.js";
import { CachedPages } from "./page-cache.js";

/** Writes in gaps that are worth a build while no others come; segments' worth of them while they do. */
const QUIET_SHARE = 0.25;
const BUSY_SEGMENTS = 64;
/** Of all rows, those in gaps that are too many to wait for quiet. */
const BUSY_SHARE = 0.5;
/** So many times as many writes for each build in a row that nobody has read; builds beyond the last count no more. */
const UNREAD_FACTOR = 4;
const UNREAD_BUILDS_MAX = 2;
/** Of the cache's memory, newer entries that are worth a build. */
const ENTRIES_SHARE = 0.0625;
/** A segment with more is not short, however few its rows are. */
const SHORT_BYTES = 1024 * 1024;
/** Of a segment's rows, changes with which it is made again on the occasion. */
const CHANGED_SHARE = 0.02;

/** Of a segment's rows, changes up to which the new one is made of the old one. */
const PATCHED_SHARE = 0.5;
/** Of a full segment's rows, those that are left at least: segments with fewer are put together. */
const PATCHED_ROWS_SHARE = 0.6;

/** Of which segments are to be made. */
export interface SpanToMake extends KeyTextSpan {
  /** It is the span of this segment, of which the new one is to be made. */
  readonly changed?: Segment;
}

/** `seenWrites`: the count of writes in gaps at the last look; the same now means that nobody writes. */
export function isDue(table: TableSegments, seenWrites: number, sizes: SegmentSizes, bytesMax: number): boolean {
  const { writesInGaps, rows } = table;
  if (!table.isReady || table.busy || table.dropped) return false;
  const isQuiet = writesInGaps === seenWrites;
  if (isQuiet && hasManyEntries(table, bytesMax)) return true;
  const writes = writesInGaps / patienceWith(table);
  if (isQuiet) return writes >= QUIET_SHARE * sizes.storedRowsMin;
  if (writes >= BUSY_SEGMENTS * sizes.segmentRows) return true;
  return writes >= 2 * sizes.storedRowsMin && writes >= BUSY_SHARE * rows;
}

/** A table that is written all the time and read by its keys alone would be made again and again for nobody. */
function patienceWith({ isRead, hasRest, unreadBuilds }: TableSegments): number {
  return isRead || hasRest ? 1 : UNREAD_FACTOR ** Math.min(unreadBuilds, UNREAD_BUILDS_MAX);
}

function hasManyEntries({ bytesToMerge }: TableSegments, bytesMax: number): boolean {
  return bytesToMerge > ENTRIES_SHARE * bytesMax;
}

/**
 * Ranges to make, in order: gaps, segments with many changes (with any, when newer entries take much memory), and
 * short ones beside them. Nothing above `greatest`, the greatest key: what comes there later is in a gap. `all`: one
 * range with everything.
 */
export function spansToMake(
  table: TableSegments,
  greatest: string,
  { sizes, bytesMax }: Pick<SegmentCache, "sizes" | "bytesMax">,
  all: boolean,
): readonly SpanToMake[] {
  const end = `${greatest}\0`;
  if (all) return [{ from: table.start, to: end }];
  const parts: (SpanToMake & { isShort: boolean })[] = table.gaps().map((gap) => ({ ...gap, isShort: false }));
  const ids = table.columnIds;
  // Else few changes in each of many segments would be looked at again and again.
  const changedShare = hasManyEntries(table, bytesMax) ? 0 : CHANGED_SHARE;
  for (const segment of table.segments) {
    const { from, to, changes, rows, stored } = segment;
    // Few rows may be many bytes.
    const isShort = rows < sizes.segmentRows / 2 && (stored?.bytesOf(ids) ?? 0) < SHORT_BYTES;
    if (!isShort && changes <= changedShare * rows) continue;
    parts.push({ from, to, isShort, ...(!isShort && isPatchable(segment, sizes) ? { changed: segment } : {}) });
  }
  parts.sort((a, b) => (a.from < b.from ? -1 : 1));
  const spans: { from: string; to: string; isShort: boolean; changed?: Segment }[] = [];
  for (const part of parts) {
    if (part.from >= end) continue;
    if (part.changed !== undefined) {
      // Whole: rows of it that are gone may lie above the end.
      spans.push(part);
      continue;
    }
    const to = part.to < end ? part.to : end;
    const last = spans.at(-1);
    if (last?.to === part.from && last.changed === undefined) {
      last.to = to;
      last.isShort &&= part.isShort;
    } else spans.push({ from: part.from, to, isShort: part.isShort });
  }
  // A short segment by itself is as good as it will get.
  return spans.filter(({ isShort }) => !isShort).map(({ isShort: _, ...span }) => span);
}

/** Few enough rows have changed, and enough are left. */
function isPatchable({ stored, changes, rows }: Segment, { segmentRows }: SegmentSizes): boolean {
  if (!(stored instanceof CachedPages)) return false;
  return changes <= PATCHED_SHARE * rows && rows - changes >= PATCHED_ROWS_SHARE * segmentRows;
}

/** Null: there is none, or a column of it is in no file. */
export function primaryKeyOf({ primaryKey }: TableLayout, columns: readonly StoredColumn[]): BuildJob["primaryKey"] {
  if (primaryKey === null || !primaryKey.columnIds.every((id) => columns.some((column) => column.id === id)))
    return null;
  return primaryKey.columns.map((column, i) => ({ ...column, id: primaryKey.columnIds[i]! }));
}

export function storedColumns(layout: TableLayout): readonly StoredColumn[] {
  return layout.table.columns
    .filter(({ type }) => isStorable(type))
    .map(({ id }) => ({ id, ...heldColumnOf(layout, id) }));
}
