/**
 * Makes new segments of those to which many newer entries belong. Called by scans before they open, one segment at a
 * time. Scans that are open keep the segments and entries that they have.
 */
import type { SqlType, Value } from "../../../protocol/values.js";
import { prefixRange } from "../../../storage/keys.js";
import { keyText } from "../../../storage/ordered-map.js";
import { recordDecoder } from "../../../storage/record-codec.js";
import { emptyColumns } from "../row-buffer.js";
import type { TableLayout } from "../table-layout.js";
import { columnOf } from "./column.js";
import { KeyCollector, Segment } from "./segment.js";
import type { SegmentCache } from "./segment-cache.js";
import type { TableSegments } from "./table-segments.js";

/** The segment that should be folded next, −1 for none. */
export function crowdedSegment(cache: SegmentCache, table: TableSegments): number {
  return table.segments.findIndex((segment) => segment.changes > cache.sizes.changesMax);
}

/** Replaces segment number `index`. The caller's transaction sees exactly what the engine holds. */
export function foldNewer(cache: SegmentCache, table: TableSegments, layout: TableLayout, index: number): void {
  if (table.columnIds.some((id) => table.holds(layout, id) === "no")) {
    cache.drop(table);
    return;
  }
  const old = table.segments[index]!;
  const merged = new MergedRows(table, old, cache.sizes.segmentRows);
  const prefix = layout.rowPrefixOf(table.tenantNumber);
  const range = prefixRange(prefix);
  const wholeKey = (segment: Segment) => keyText(Buffer.concat([prefix, segment.keys.at(0)]));
  const next = table.segments[index + 1];
  const low = index === 0 ? keyText(range.gte) : wholeKey(old);
  const high = next === undefined ? keyText(range.lt) : wholeKey(next);
  const folded: string[] = [];
  let bytes = 0;
  for (const [text, { key, value }] of table.entries.clone().entries(low)) {
    if (text >= high) break;
    merged.add(key, value);
    folded.push(text);
    bytes += table.entryBytes(key, value);
  }
  const made = merged.finish();
  for (const text of folded) table.entries.delete(text);
  table.segments = [...table.segments.slice(0, index), ...made, ...table.segments.slice(index + 1)];
  const grown = made.reduce((sum, segment) => sum + segment.bytes, -bytes - old.bytes);
  cache.grow(table, grown);
}

/** The old segment's rows and the newer ones in order, cut into segments. */
class MergedRows {
  private readonly made: Segment[] = [];
  private readonly ids: readonly number[];
  private readonly keys: KeyCollector;
  private readonly values: Value[][];
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

  add(key: Uint8Array, record: Uint8Array | null): void {
    const { old } = this;
    const to = old.keys.lowerBound(key, this.position);
    this.copyTo(to);
    if (to < old.rows && old.keys.compare(to, key) === 0) this.position++;
    if (record === null) return;
    this.decode(record, this.values, this.keys.length);
    this.keys.add(key);
    this.cut();
  }

  finish(): readonly Segment[] {
    this.copyTo(this.old.rows);
    if (this.keys.length > 0) this.finishSegment();
    return this.made;
  }

  private copyTo(end: number): void {
    const { old, ids, values, keys } = this;
    for (; this.position < end; this.position++) {
      for (let i = 0; i < ids.length; i++) values[i]![keys.length] = old.value(ids[i]!, this.position);
      keys.addPart(old.keys.at(this.position));
      this.cut();
    }
  }

  private cut(): void {
    // A little over is left in one piece, so that changes do not make crumbs.
    if (this.keys.length === 2 * this.segmentRows) this.finishSegment();
  }

  private finishSegment(): void {
    const rows = this.keys.length;
    const segment = new Segment(this.keys.take());
    for (let i = 0; i < this.ids.length; i++) {
      const id = this.ids[i]!;
      segment.columns.set(id, columnOf(this.table.typeOf(id), this.values[i]!, rows));
    }
    this.made.push(segment);
  }
}
