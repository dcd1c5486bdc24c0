/**
 * Pages of column files in memory, the one that was used longest ago goes first. Owned by the actor's segment cache,
 * which bounds it; a scan keeps the pages that it has.
 */

import type { SqlType } from "../../../../values/values.js";
import type { SharedColumns } from "../../threads/read-threads.js";
import { type Column, isShared, type NumberColumn, type SentSegmentColumn, sentColumn } from "../column.js";
import { ROW_KEYS, type SegmentKeys, type SomeRows, type StoredPages } from "../segment.js";
import type { StoredSegment } from "./column-file.js";
import { knownNumbers } from "./column-page.js";

/** Where more than one row of so many is wanted, all are decoded. */
const ROWS_OF_WHOLE = 4;

interface Entry {
  readonly content: Column | SegmentKeys;
  readonly bytes: number;
  readonly forget: () => void;
}

export class PageCache {
  private readonly entries = new Set<Entry>();
  bytes = 0;
  hits = 0;
  misses = 0;
  /** Pages are read into memory that threads share, because there are threads that read for statements. */
  areShared = false;

  /** How much it may hold; asked when a page comes. */
  constructor(private readonly bytesMax: () => number) {}

  used(entry: Entry): void {
    this.hits++;
    this.entries.delete(entry);
    this.entries.add(entry);
  }

  add(entry: Entry): void {
    this.misses++;
    this.bytes += entry.bytes;
    this.entries.add(entry);
    this.shrinkTo(this.bytesMax());
  }

  remove(entry: Entry): void {
    if (this.entries.delete(entry)) this.bytes -= entry.bytes;
  }

  shrinkTo(bytesMax: number): void {
    for (const entry of this.entries) {
      if (this.bytes <= bytesMax) return;
      this.entries.delete(entry);
      this.bytes -= entry.bytes;
      entry.forget();
    }
  }
}

/** A stored segment whose pages come from the cache, or from the file by way of it. */
export class CachedPages implements StoredPages {
  private readonly pages = new Map<number, Entry>();

  constructor(
    readonly segment: StoredSegment,
    private readonly cache: PageCache,
    private readonly typeOf: (columnId: number) => SqlType,
  ) {}

  get rows(): number {
    return this.segment.rows;
  }

  has(columnId: number): boolean {
    return this.segment.has(columnId);
  }

  isRead(columnId: number): boolean {
    return this.pages.has(columnId) || (columnId !== ROW_KEYS && !this.segment.has(columnId));
  }

  isResident(columnIds: readonly number[]): boolean {
    return this.pages.has(ROW_KEYS) && columnIds.every((id) => this.isRead(id));
  }

  known(columnId: number): NumberColumn | null {
    const head = this.segment.headOf(columnId);
    return head.kind === "number" ? knownNumbers(head) : null;
  }

  bytesOf(columnIds: readonly number[]): number {
    return this.segment.bytesOf(columnIds);
  }

  /** In the file. */
  columnBytes(columnId: number): number {
    return this.segment.columnBytes(columnId);
  }

  keys(): SegmentKeys {
    return this.get(ROW_KEYS, () => {
      const keys = this.segment.readKeys();
      return { content: keys, bytes: keys.bytes.byteLength + keys.offsets.byteLength };
    }) as SegmentKeys;
  }

  column(columnId: number): Column {
    return this.get(columnId, () => {
      const column = this.segment.readColumn(columnId, this.typeOf(columnId), this.cache.areShared);
      return { content: column, bytes: column.bytes };
    }) as Column;
  }

  /** The column does not come into the cache, unless a large part of it is wanted. */
  someRows(columnId: number, rows: readonly number[]): SomeRows {
    const isWhole = this.isRead(columnId) || ROWS_OF_WHOLE * rows.length >= this.rows;
    if (isWhole) return { column: this.column(columnId), places: rows };
    return this.segment.someRows(columnId, this.typeOf(columnId), rows);
  }

  /** Those of the columns that are in memory which threads share. */
  shared(columnIds: readonly number[]): SharedColumns {
    const shared: [number, SentSegmentColumn][] = [];
    for (const id of columnIds) {
      const entry = this.pages.get(id);
      if (entry === undefined || !isShared(entry.content as Column)) continue;
      this.cache.used(entry);
      shared.push([id, sentColumn(entry.content as Column)]);
    }
    return shared;
  }

  /** Takes a column that another thread has read. */
  adopt(columnId: number, column: Column): void {
    const known = this.pages.get(columnId);
    if (!this.segment.has(columnId) || (known !== undefined && isShared(known.content as Column))) return;
    if (known !== undefined) {
      this.cache.remove(known);
      this.pages.delete(columnId);
    }
    const adopted = this.segment.adopted(columnId, column);
    this.get(columnId, () => ({ content: adopted, bytes: adopted.bytes }));
  }

  forget(): void {
    for (const entry of this.pages.values()) this.cache.remove(entry);
    this.pages.clear();
  }

  private get(id: number, read: () => Pick<Entry, "content" | "bytes">): Entry["content"] {
    const found = this.pages.get(id);
    if (found !== undefined) {
      this.cache.used(found);
      return found.content;
    }
    const entry: Entry = { ...read(), forget: () => this.pages.delete(id) };
    this.pages.set(id, entry);
    this.cache.add(entry);
    return entry.content;
  }
}
