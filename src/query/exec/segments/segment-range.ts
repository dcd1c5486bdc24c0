/**
 * The rows of one range of row keys, out of a table's segments: found by binary search, with the corrections of the
 * transaction merged in. A tenth of what a cursor of the engine costs, so joins that look rows up by the primary key
 * read them here. Used by index-scan.ts, one per range.
 */
import type { Corrections, KeyRange } from "../../../storage/store.js";
import type { ExecContext } from "../context.js";
import type { RowDecoder } from "../row-decoder.js";
import type { Column } from "./column.js";
import type { Segment } from "./segment.js";
import type { TableSegments } from "./table-segments.js";

export class SegmentRange {
  private readonly segments: readonly Segment[];
  private readonly corrections: Corrections;
  private number: number;
  private row = 0;
  /** Where the range ends in the segment that `row` is in; 0: not looked up yet. */
  private end = 0;
  /** Of the segment that `row` is in; null: not looked up yet. */
  private vectors: readonly Column[] | null = null;

  constructor(
    table: TableSegments,
    /** Column ids by slot: the table holds them all. */
    private readonly source: readonly number[],
    private readonly range: KeyRange,
    context: ExecContext,
  ) {
    this.segments = table.segments;
    this.corrections = context.tx.corrections(range, table);
    this.number = table.segmentNumber(range.gte);
    const segment = this.segments[this.number];
    if (segment !== undefined) this.row = segment.keys.lowerBound(range.gte, 0);
  }

  /** Adds up to that many rows, including those that the filter refuses; false if there are no more. */
  read(rows: RowDecoder, count: number): boolean {
    const { corrections } = this;
    for (let i = 0; i < count; i++) {
      const segment = this.current();
      if (corrections.text === null) {
        if (segment === null) return false;
        this.take(segment, rows);
        continue;
      }
      const order = segment === null ? 1 : segment.keys.compare(this.row, corrections.key);
      if (order < 0) {
        this.take(segment!, rows);
        continue;
      }
      if (order === 0) this.row++;
      if (corrections.value !== null) rows.add(corrections.key, corrections.value);
      corrections.advance();
    }
    return true;
  }

  /** The segment with the next row; null when it lies behind the range. */
  private current(): Segment | null {
    for (;;) {
      const segment = this.segments[this.number];
      if (segment === undefined) return null;
      if (this.row < this.end) return segment;
      if (this.row < segment.rows) {
        this.end = segment.keys.nextBound(this.range.lt, this.row);
        return this.row < this.end ? segment : null;
      }
      this.number++;
      this.row = 0;
      this.end = 0;
      this.vectors = null;
    }
  }

  private take(segment: Segment, rows: RowDecoder): void {
    this.vectors ??= this.source.map((id) => segment.columns.get(id)!);
    rows.addHeld(this.vectors, this.row++);
  }
}
