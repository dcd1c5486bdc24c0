/**
 * Fills segments from records, a piece at a time, so that the scan that does it can give the actor's loop its turns:
 * all of a table's segments at first, later further columns of the same rows. What the engine takes meanwhile is
 * noted as newer entries by the cache. Made by a scan of a transaction that sees exactly what the engine holds.
 */

import { prefixRange } from "../../../storage/keys.js";
import { keyText } from "../../../storage/ordered-map.js";
import type { RecordDecoder } from "../../../storage/record-codec.js";
import { type Cursor, readSome, type Transaction } from "../../../storage/store.js";
import type { Value } from "../../../values/values.js";
import { emptyColumns } from "../row-buffer.js";
import { decoderOf, type TableLayout } from "../table-layout.js";
import { type Column, columnOf } from "./column.js";
import { KeyCollector, Segment, type SegmentKeys } from "./segment.js";
import type { SegmentCache } from "./segment-cache.js";
import { heldColumnOf, type KeyTextSpan, type TableSegments } from "./table-segments.js";

/** Entries read at a time, and bytes of vectors: fewer entries where those are long. */
const STEP_ENTRIES = 512;
const STEP_VECTOR_BYTES = 1024 * 1024;

/** Of one record of the table, which is read as a whole. */
function vectorBytes({ table }: TableLayout): number {
  let bytes = 1;
  for (const { type } of table.columns) {
    if (type.name === "vector") bytes += Float32Array.BYTES_PER_ELEMENT * (type.modifier ?? 1);
  }
  return bytes;
}

type Columns = Map<number, Column>;

export class SegmentBuilder {
  private readonly cursor: Cursor;
  private readonly decode: RecordDecoder;
  private values: Value[][];
  /** Values that are still to be made columns of, one column a step. */
  private readonly unmade: { columns: Columns; values: Value[][]; rows: number; next: number }[] = [];
  private readonly keys: KeyCollector | null;
  /** New segments, each but for where it ends: the next one begins there. */
  private readonly made: { readonly from: string; readonly keys: SegmentKeys; readonly columns: Columns }[] = [];
  /** Columns for the segments that are there already, in their order; put into them at the end. */
  private readonly added: Columns[] = [];
  private readonly isAligned: boolean;
  private readonly span: KeyTextSpan;
  private row = 0;
  private ended = false;
  private readonly stepEntries: number;

  /** `table` was claimed by the caller and is released here. `columnIds` are the columns that it does not hold yet. */
  constructor(
    private readonly cache: SegmentCache,
    private readonly table: TableSegments,
    private readonly layout: TableLayout,
    private readonly columnIds: readonly number[],
    tx: Transaction,
    /** A table without segments that has more rows is left alone. */
    private readonly rowsMax = Number.POSITIVE_INFINITY,
  ) {
    this.stepEntries = Math.max(1, Math.min(STEP_ENTRIES, Math.floor(STEP_VECTOR_BYTES / vectorBytes(layout))));
    this.decode = decoderOf(layout, columnIds);
    this.values = emptyColumns(columnIds.length);
    this.keys = table.columnIds.length === 0 ? new KeyCollector(table.prefixLength) : null;
    this.span = { from: table.start, to: table.end };
    if (this.keys !== null) table.making.add(this.span);
    // Segments without newer entries and gaps have the very rows that the engine has, in its order.
    this.isAligned = this.keys === null && table.entries.isEmpty && table.gaps().length === 0;
    const range = prefixRange(layout.rowPrefixOf(table.tenantNumber));
    this.cursor = tx.scan(this.isAligned ? { ...range, only: "values" } : range);
  }

  /** Reads on; true when there is nothing left to do, whether or not the table fitted into the memory. */
  step(): boolean {
    if (this.table.dropped) return this.end();
    if (this.unmade.length > 0) {
      this.makeColumn();
      return this.ended;
    }
    const entries = readSome(this.cursor, this.stepEntries);
    if (entries === null) return false;
    const { keys, values } = entries;
    for (let i = 0; i < keys.length; i++) {
      if (this.keys !== null) this.addRow(this.keys, keys[i]!, values[i]!);
      else this.addValues(keys[i]!, values[i]!);
      if (this.ended) return true;
    }
    if (keys.length > 0) return false;
    if (this.keys !== null && this.keys.length > 0) this.finishSegment(this.keys);
    while (this.keys === null && !this.ended && this.added.length < this.table.segments.length) this.skipTo(null);
    if (this.ended) return true;
    if (this.unmade.length > 0) return false;
    this.publish();
    return this.end();
  }

  /** Leaves the table as it was. */
  abandon(): void {
    if (this.ended) return;
    this.end();
    if (this.keys !== null) this.cache.drop(this.table);
  }

  private end(): true {
    this.ended = true;
    this.cursor.close();
    this.table.making.delete(this.span);
    this.table.busy = false;
    return true;
  }

  private publish(): void {
    const { table, layout } = this;
    if (this.keys !== null) table.segments = this.madeSegments();
    for (let i = 0; i < this.added.length; i++) {
      for (const [id, column] of this.added[i]!) table.segments[i]!.add(id, column);
    }
    table.hold(new Map(this.columnIds.map((id) => [id, heldColumnOf(layout, id)])));
    this.cache.built++;
  }

  private madeSegments(): Segment[] {
    const { made, table } = this;
    return made.map(({ from, keys, columns }, i) => {
      const segment = new Segment(from, made[i + 1]?.from ?? table.end, keys);
      for (const [id, column] of columns) segment.add(id, column);
      return segment;
    });
  }

  private addRow(keys: KeyCollector, key: Uint8Array, record: Uint8Array): void {
    this.decode(record, this.values, keys.length);
    keys.add(key);
    if (keys.length < this.cache.sizes.segmentRows) return;
    this.finishSegment(keys);
    if (this.made.length * this.cache.sizes.segmentRows <= this.rowsMax) return;
    this.cache.foundTooLong(this.table);
    this.abandon();
  }

  private finishSegment(collector: KeyCollector): void {
    const keys = collector.take();
    const { start } = this.table;
    const from = this.made.length === 0 ? start : start + keyText(keys.at(0));
    const columns: Columns = new Map();
    this.made.push({ from, keys, columns });
    this.fill(columns, keys.length, keys.bytes.byteLength + keys.offsets.byteLength);
  }

  private fill(columns: Columns, rows: number, keyBytes: number): void {
    this.unmade.push({ columns, values: this.values, rows, next: 0 });
    this.values = emptyColumns(this.columnIds.length);
    if (!this.cache.grow(this.table, keyBytes)) this.end();
  }

  private makeColumn(): void {
    const segment = this.unmade[0]!;
    const id = this.columnIds[segment.next];
    if (id === undefined) {
      this.unmade.shift();
      return;
    }
    const column = columnOf(this.layout.types[id]!, segment.values[segment.next++]!, segment.rows);
    segment.columns.set(id, column);
    if (!this.cache.grow(this.table, column.bytes)) this.end();
  }

  /** A row of the engine goes to its place, if a segment has the key; if none has, it is a newer entry. */
  private addValues(key: Uint8Array, record: Uint8Array): void {
    if (this.isAligned || this.skipTo(key)) this.decode(record, this.values, this.row++);
    const segment = this.table.segments[this.added.length];
    if (segment !== undefined && this.row === segment.rows) this.finishAdded(segment);
  }

  /**
   * Passes over rows that the engine has no more, up to the key or the end of a segment; true when the key is there.
   */
  private skipTo(key: Uint8Array | null): boolean {
    for (;;) {
      const segment = this.table.segments[this.added.length];
      if (segment === undefined || this.ended) return false;
      while (this.row < segment.rows) {
        const order = key === null ? -1 : segment.keys.compare(this.row, key);
        if (order === 0) return true;
        if (order > 0) return false;
        for (const values of this.values) values[this.row] = null;
        this.row++;
      }
      this.finishAdded(segment);
    }
  }

  private finishAdded(segment: Segment): void {
    const columns: Columns = new Map();
    this.added.push(columns);
    this.row = 0;
    this.fill(columns, segment.rows, 0);
  }
}
