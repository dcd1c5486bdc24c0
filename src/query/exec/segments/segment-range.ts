/**
 * The rows of one range of row keys, out of a table's segments: found by binary search, with the corrections of the
 * transaction merged in. A tenth of what a cursor of the engine costs, so joins that look rows up by the primary key
 * read them here. Used by index-scan.ts and point-get.ts, one per range.
 */
import { keyText } from "../../../storage/ordered-map.js";
import type { Corrections, KeyRange } from "../../../storage/store.js";
import type { ExecContext } from "../context.js";
import type { RowDecoder } from "../row-decoder.js";
import type { Column } from "./column.js";
import type { Segment, SegmentKeys } from "./segment.js";
import { DamagedColumns } from "./stored/column-file.js";
import type { TableSegments } from "./table-segments.js";

/** Some of the range's segments, and what is wanted of them. */
interface RangePart {
  readonly keys: SegmentKeys;
  readonly vectors: readonly Column[];
}

/**
 * Null when the range is to be read from records: no segments have all of it, or they are in files and reading pages
 * would cost more. `source`: column ids by slot; the table holds them all.
 */
export function openSegmentRange(
  table: TableSegments,
  source: readonly number[],
  range: KeyRange,
  context: ExecContext,
): SegmentRange | null {
  const parts = partsOf(table, source, range, context);
  return parts === null ? null : new SegmentRange(parts, context.tx.corrections(range, table.read(source)), range);
}

function partsOf(
  table: TableSegments,
  source: readonly number[],
  range: KeyRange,
  context: ExecContext,
): readonly RangePart[] | null {
  const end = keyText(range.lt);
  const parts: RangePart[] = [];
  let at = keyText(range.gte);
  let number = Math.max(0, table.numberBefore(at));
  while (at < end) {
    const segment = table.segments[number++];
    if (segment === undefined || segment.from > at || segment.to <= at) return null;
    if (!isCheap(table, segment, source, context)) return null;
    try {
      parts.push({ keys: segment.keys, vectors: source.map((id) => segment.column(id)) });
    } catch (error) {
      if (!(error instanceof DamagedColumns)) throw error;
      context.segments?.damaged(table, segment, error);
      return null;
    }
    at = segment.to;
  }
  return parts;
}

/** Its pages are in memory, or the table is looked up so often that they should be and fit. */
function isCheap(table: TableSegments, segment: Segment, source: readonly number[], context: ExecContext): boolean {
  const { stored } = segment;
  return stored === null || stored.isResident(source) || context.segments?.shouldLoad(table, source) === true;
}

export class SegmentRange {
  private number = 0;
  private row: number;
  /** Where the range ends in the part that `row` is in; 0: not looked up yet. */
  private end = 0;

  constructor(
    private readonly parts: readonly RangePart[],
    private readonly corrections: Corrections,
    private readonly range: KeyRange,
  ) {
    this.row = parts[0]?.keys.lowerBound(range.gte, 0) ?? 0;
  }

  /** Adds up to that many rows, including those that the filter refuses; false if there are no more. */
  read(rows: RowDecoder, count: number): boolean {
    const { corrections } = this;
    for (let i = 0; i < count; i++) {
      const part = this.current();
      if (corrections.text === null) {
        if (part === null) return false;
        rows.addHeld(part.vectors, this.row++);
        continue;
      }
      const order = part === null ? 1 : part.keys.compare(this.row, corrections.key);
      if (order < 0) {
        rows.addHeld(part!.vectors, this.row++);
        continue;
      }
      if (order === 0) this.row++;
      if (corrections.value !== null) rows.add(corrections.key, corrections.value);
      corrections.advance();
    }
    return true;
  }

  /** The part with the next row; null when it lies behind the range. */
  private current(): RangePart | null {
    for (;;) {
      const part = this.parts[this.number];
      if (part === undefined) return null;
      if (this.row < this.end) return part;
      if (this.row < part.keys.length) {
        this.end = part.keys.nextBound(this.range.lt, this.row);
        return this.row < this.end ? part : null;
      }
      this.number++;
      this.row = 0;
      this.end = 0;
    }
  }
}
