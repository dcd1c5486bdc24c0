/**
 * The segments of one table, and the entries that the engine has got since they were built: together they are always
 * what the engine holds. Owned by the cache (segment-cache.ts), which tells it of every write of the engine. A scan
 * takes the list of segments and the newer entries as they are when it opens; neither is changed in place after that.
 */

import type { Operation } from "../../../storage/operation.js";
import { createOrderedMap, keyText, type OrderedMap } from "../../../storage/ordered-map.js";
import type { NewerEntries } from "../../../storage/store.js";
import type { SqlType, Value } from "../../../values/values.js";
import type { TableLayout } from "../table-layout.js";
import type { Segment } from "./segment.js";

/** What a column's values were decoded as: a definition that reads them otherwise needs other segments. */
interface HeldColumn {
  readonly type: SqlType;
  readonly missing: Value;
}

/** Entry of a B+ tree with its key as text, roughly. */
const ENTRY_BYTES = 160;

export class TableSegments implements NewerEntries {
  segments: readonly Segment[] = [];
  entries: OrderedMap<Operation> = createOrderedMap();
  /** Somebody adds columns or folds newer entries in; nobody else may meanwhile. */
  busy = false;
  /** Thrown out of the cache: what holds it may read on, but it is not kept up to date. */
  dropped = false;
  /** Memory of segments and newer entries, estimated. */
  bytes = 0;
  private readonly held = new Map<number, HeldColumn>();

  constructor(
    readonly tenantNumber: number,
    readonly storageId: number,
    /** Bytes before the row's own part of a key. */
    readonly prefixLength: number,
  ) {}

  get rows(): number {
    let rows = 0;
    for (const segment of this.segments) rows += segment.rows;
    return rows;
  }

  get columnIds(): readonly number[] {
    return [...this.held.keys()];
  }

  typeOf(columnId: number): SqlType {
    return this.held.get(columnId)!.type;
  }

  missingOf(columnId: number): Value {
    return this.held.get(columnId)!.missing;
  }

  /** "no": the column is held as another definition had it. */
  holds(layout: TableLayout, columnId: number): "yes" | "no" | "not yet" {
    const held = this.held.get(columnId);
    if (held === undefined) return "not yet";
    return held.type === layout.types[columnId] && held.missing === layout.missing[columnId] ? "yes" : "no";
  }

  hold(layout: TableLayout, columnIds: readonly number[]): void {
    for (const id of columnIds) this.held.set(id, { type: layout.types[id]!, missing: layout.missing[id]! });
  }

  /** The engine has taken a write of one of the table's rows. Answers by how much the memory grew. */
  applied(operation: Operation): number {
    const { key, value } = operation;
    const text = keyText(key);
    const before = this.entries.get(text);
    this.entries.set(text, operation);
    const bytes = this.entryBytes(key, value) - (before === undefined ? 0 : this.entryBytes(before.key, before.value));
    this.bytes += bytes;
    if (before === undefined) {
      const segment = this.segments[this.segmentNumber(key)];
      if (segment !== undefined) segment.changes++;
    }
    return bytes;
  }

  /** Estimated memory of a newer entry. */
  entryBytes(key: Uint8Array, value: Uint8Array | null): number {
    return ENTRY_BYTES + key.length + (value?.length ?? 0);
  }

  /** The number of the segment into whose range the key falls; keys before all of them belong to the first. */
  segmentNumber(key: Uint8Array): number {
    const { segments } = this;
    let low = 0;
    let high = segments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (segments[middle]!.keys.compare(0, key) <= 0) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}
