/**
 * Rebuilds a segment that has many newer entries, a piece at a time, so that the scan that does it can give the
 * actor's loop its turns. What the engine takes in between stays a newer entry. Made by scans before they open, for
 * one segment at a time; open scans keep the segments and entries that they have.
 */

import type { Operation } from "../../../storage/operation.js";
import { keyText } from "../../../storage/ordered-map.js";
import { recordDecoder } from "../../../storage/record-codec.js";
import type { SqlType, Value } from "../../../values/values.js";
import { emptyColumns } from "../row-buffer.js";
import { type Column, columnOf } from "./column.js";
import { KeyCollector, Segment, type SegmentKeys } from "./segment.js";
import type { SegmentCache } from "./segment-cache.js";
import type { TableSegments } from "./table-segments.js";

/** Rows copied, or entries put in their place, at a time. */
const STEP_ROWS = 512;
const STEP_ENTRIES = 64;

/** The segment in memory that should be folded next, −1 for none. */
export function crowdedSegment(cache: SegmentCache, table: TableSegments): number {
  return table.segments.findIndex(({ changes, stored }) => stored === null && changes > cache.sizes.changesMax);
}

export class SegmentFolder {
  private readonly old: Segment;
  private readonly merged: MergedRows;
  /** Where the segment's range begins and ends, as keys are written in the ordered map. */
  private readonly low: string;
  private readonly high: string;
  private readonly newer: Iterator<[string, Operation]>;
  private readonly folded: [string, Operation][] = [];
  private entry: Operation | null = null;
  private ended = false;

  /** For segment number `index` of a table that nobody is busy with and that holds what the layout's table has. */
  constructor(
    private readonly cache: SegmentCache,
    private readonly table: TableSegments,
    private readonly index: number,
  ) {
    table.busy = true;
    const old = table.segments[index]!;
    this.old = old;
    this.merged = new MergedRows(table, old, cache.sizes.segmentRows);
    this.low = old.from;
    this.high = old.to;
    this.newer = table.entries.clone().entries(this.low)[Symbol.iterator]() as Iterator<[string, Operation]>;
    this.entry = this.nextEntry();
  }

  /** Works on; true when there is nothing left to do. */
  step(): boolean {
    if (this.table.dropped) return this.end();
    if (this.merged.makeColumn()) return false;
    for (let i = 0; this.entry !== null; i++) {
      if (i === STEP_ENTRIES || !this.merged.add(this.entry.key, this.entry.value, STEP_ROWS)) return false;
      this.entry = this.nextEntry();
    }
    if (!this.merged.finish(STEP_ROWS)) return false;
    this.publish();
    return this.end();
  }

  /** Leaves the table as it was. */
  abandon(): void {
    if (!this.ended) this.end();
  }

  private nextEntry(): Operation | null {
    const { value: entry, done } = this.newer.next();
    if (done === true || entry[0] >= this.high) return null;
    this.folded.push(entry);
    return entry[1];
  }

  private publish(): void {
    const { table, index } = this;
    const made = this.merged.segments();
    // Where another one came since, it is newer than what was made here.
    let bytes = 0;
    for (const [text, operation] of this.folded) bytes += table.forget(text, operation);
    table.segments = [...table.segments.slice(0, index), ...made, ...table.segments.slice(index + 1)];
    for (const [text] of table.entries.entries(this.low)) {
      if (text >= this.high) break;
      const segment = table.segmentOf(text);
      if (segment !== null) segment.changes++;
    }
    this.cache.shrunk(bytes);
    this.cache.grow(table, made.reduce((sum, segment) => sum + segment.bytes, 0) - this.old.bytes);
  }

  private end(): true {
    this.ended = true;
    this.table.busy = false;
    return true;
  }
}

interface MadeRows {
  readonly keys: SegmentKeys;
  readonly columns: Map<number, Column>;
}

/** The old segment's rows and the newer ones in order, cut into segments. */
class MergedRows {
  /** Whole but for the columns that `unmade` says. */
  private readonly made: MadeRows[] = [];
  private unmade: { readonly rows: MadeRows; readonly values: Value[][]; next: number } | null = null;
  private readonly ids: readonly number[];
  private readonly keys: KeyCollector;
  private values: Value[][];
  private readonly decode: ReturnType<typeof recordDecoder>;
  private position = 0;

  constructor(
    private readonly table: TableSegments,
    private readonly old: Segment,
    private readonly segmentRows: number,
  ) {
    this.ids = table.columnIds;
    this.keys = new KeyCollector(table.prefixLength);
    this.values = emptyColumns(this.ids.length);
    const types: (SqlType | null)[] = [];
    for (const id of this.ids) types[id] = table.typeOf(id);
    const missing = this.ids.map((id) => table.missingOf(id));
    this.decode = recordDecoder(types, this.ids, missing);
  }

  /** In the range of the old one; none when it has no rows any more. */
  segments(): Segment[] {
    const { made, old, table } = this;
    const starts = made.map(({ keys }, i) => (i === 0 ? old.from : table.start + keyText(keys.at(0))));
    return made.map(({ keys, columns }, i) => {
      const segment = new Segment(starts[i]!, starts[i + 1] ?? old.to, keys);
      for (const [id, column] of columns) segment.add(id, column);
      return segment;
    });
  }

  /** Makes one column of rows that are complete; false when there are none. */
  makeColumn(): boolean {
    const { unmade } = this;
    if (unmade === null) return false;
    const { rows, values } = unmade;
    const i = unmade.next++;
    if (i < this.ids.length) {
      const id = this.ids[i]!;
      rows.columns.set(id, columnOf(this.table.typeOf(id), values[i]!, rows.keys.length));
    } else this.unmade = null;
    return true;
  }

  /**
   * The rows below the key, and then what is there now: a record, or null for none. False: it must be called again,
   * when at most `rowsMax` rows were copied or the columns of some must be made first.
   */
  add(key: Uint8Array, record: Uint8Array | null, rowsMax: number): boolean {
    const { old } = this;
    const to = old.keys.lowerBound(key, this.position);
    if (!this.copyTo(to, rowsMax)) return false;
    if (to < old.rows && old.keys.compare(to, key) === 0) this.position++;
    if (record === null) return true;
    this.decode(record, this.values, this.keys.length);
    this.keys.add(key);
    return true;
  }

  /** Copies what is left, as `add` does. */
  finish(rowsMax: number): boolean {
    if (!this.copyTo(this.old.rows, rowsMax)) return false;
    if (this.keys.length === 0) return true;
    this.finishSegment();
    return false;
  }

  private copyTo(to: number, rowsMax: number): boolean {
    const { old, ids, values, keys } = this;
    // A little over is left in one piece, so that changes do not make crumbs.
    const room = 2 * this.segmentRows - keys.length;
    const end = Math.min(to, this.position + rowsMax, this.position + room);
    const count = end - this.position;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i]!;
      const from = this.position;
      for (let row = 0; row < count; row++) values[i]![keys.length + row] = old.value(id, from + row);
    }
    for (; this.position < end; this.position++) keys.addPart(old.keys.at(this.position));
    if (keys.length >= 2 * this.segmentRows) {
      this.finishSegment();
      return false;
    }
    return end === to;
  }

  private finishSegment(): void {
    const rows = { keys: this.keys.take(), columns: new Map<number, Column>() };
    this.made.push(rows);
    this.unmade = { rows, values: this.values, next: 0 };
    this.values = emptyColumns(this.ids.length);
  }
}
