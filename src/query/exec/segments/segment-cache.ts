/**
 * The column segments of one actor: which tables have them, within a bound of memory; the table that was scanned
 * longest ago goes first. The cache can be thrown away at any time: without segments, scans read records. Owned by the
 * actor; its shards report everything that their engines take (`applied`).
 */

import { storageOf } from "../../../catalog/table.js";
import { SPACE, storageIdOf, tenantOfKey } from "../../../storage/keys.js";
import type { Operation } from "../../../storage/operation.js";
import { keyText } from "../../../storage/ordered-map.js";
import { REPLAY_BYTES_MAX } from "../../../storage/replayed-rows.js";
import type { LoadPart } from "../../../storage/sorted-run.js";
import type { SqlType } from "../../../values/values.js";
import type { TableLayout } from "../table-layout.js";
import { isSegmentable } from "./column.js";
import { holdsEncoded } from "./encoded-column.js";
import type { Segment } from "./segment.js";
import { isStorable } from "./stored/column-page.js";
import { PageCache } from "./stored/page-cache.js";
import { type AwaitedSegments, removesOnly, TableSegments } from "./table-segments.js";

/** Scans of a table that did not fit into the memory before it is tried again. */
const SCANS_BEFORE_RETRY = 64;
/** Newer entries a table may have for each of its rows before its segments are not worth their memory. */
const NEWER_SHARE_MAX = 1;
const NEWER_MIN = 100_000;
/**
 * Of all the memory, what newer entries of one table in files may take, and rows of it that may have one in a segment.
 */
const NEWER_BYTES_SHARE = 0.75;
const CHANGES_SHARE_MAX = 0.25;
/** Lookups in records that take as long as reading a segment's pages, about. */
const LOOKUPS_PER_SEGMENT = 8;
/** Of all the memory, what the pages of a table may take that is read by keys. */
const LOOKUPS_SHARE = 0.5;
/** Of all the memory, what pages of files have in any case. */
const PAGES_SHARE = 0.25;

/** Of the memory for segments, what vectors of one table may take. */
const VECTORS_SHARE = 0.6;

/** Columns made though nobody asked for them yet, and bytes that a value of one takes at most, roughly. */
const OTHERS_MAX = 32;
const VALUE_BYTES = 16;
/** Characters of a text column that may be made so. */
const SHORT_TEXT = 32;

function isSmall(type: SqlType): boolean {
  if (
    !isSegmentable(type) ||
    type.name === "vector" ||
    type.name === "variant" ||
    type.name === "text" ||
    type.name === "name" ||
    type.name === "uuid" ||
    holdsEncoded(type)
  )
    return false;
  const isText = type.name === "varchar" || type.name === "bpchar";
  return !isText || (type.modifier !== null && type.modifier <= SHORT_TEXT);
}

/** Short tables for which the cache remembers how much is read. */
const SHORT_MAX = 10_000;

/** Sizes that tests make small. */
export interface SegmentSizes {
  /** Records that a scan reads before it makes segments of the table. */
  readonly recordsBefore: number;
  /** Rows of a full segment. */
  readonly segmentRows: number;
  /** Changes of a segment that a scan simply merges; beyond that the segment is rebuilt. */
  readonly changesMax: number;
  /** Lookups of joins in a table's records, at least, before segments are made for them. */
  readonly lookupsBefore: number;
  /** Rows of a long table, at least: how often its files are made again, and which scans threads take part in. */
  readonly storedRowsMin: number;
  /** Rows of a table that gets files, at least, where there are files. */
  readonly fileRowsMin: number;
  /** Segments that one build of files makes: what it has made is kept if the next one is cut off. */
  readonly buildSegments: number;
  /** Corrections in a segment, at most, that are handed out one by one. */
  readonly correctionsFew: number;
  /**
   * Corrections that are put in their places at a time: before the first row of them is handed out, all are decoded.
   */
  readonly correctionsMax: number;
  /** Rows of which segments are being made, at least, that a scan waits for instead of reading them from records. */
  readonly awaitedRowsMin: number;
  /**
   * Rows in files, at least, of which index entries are made in other threads; each thread has half as many at least.
   */
  readonly threadRowsMin: number;
  /** Nanoseconds, about, of a scan that threads read for, at least: V8 compiles its code once more in each thread. */
  readonly readNanosMin: number;
  /** Of what a thread reads at a time for it. */
  readonly unitNanos: number;
  /** Milliseconds after a start in which only those tables get files that somebody scans. */
  readonly startMs: number;
  /** Memory for a table's changes that a start reads from the log; where there are more, its columns are made again. */
  readonly replayBytesMax: number;
}

export const SEGMENT_SIZES: SegmentSizes = {
  replayBytesMax: REPLAY_BYTES_MAX,
  recordsBefore: 2048,
  segmentRows: 16_384,
  changesMax: 512,
  lookupsBefore: 1024,
  storedRowsMin: 32_768,
  fileRowsMin: 8_192,
  buildSegments: 64,
  correctionsFew: 16,
  correctionsMax: 4096,
  awaitedRowsMin: 100_000,
  threadRowsMin: 100_000,
  readNanosMin: 80e6,
  unitNanos: 4e6,
  startMs: 5000,
};

export class SegmentCache {
  /** By tenant, then by storage id; in order of last use within `uses`. */
  private readonly tenants = new Map<number, Map<number, TableSegments>>();
  /** All tables, the one that was used longest ago first. */
  private readonly uses = new Set<TableSegments>();
  /**
   * Scans until a table that was too large is tried again, by "tenant/table"; its vectors, by "tenant/table/vectors".
   */
  private readonly tooLarge = new Map<string, number>();
  /** Records that scans of short tables have read to the end, by "tenant/table". */
  private readonly short = new Map<string, number>();
  /** Lookups of joins in the records of tables, and the lookups that a table was found to be too long for. */
  private readonly lookups = new Map<string, { count: number; tooFew: number }>();
  /**
   * Long tables that scans had to read from records, by "tenant/table"; whoever keeps tables in files takes them out.
   */
  readonly wanted = new Map<string, { readonly tenantNumber: number; readonly storageId: number }>();
  /** Of tables whose files are being opened, by "tenant/table": resolves when they are. */
  readonly opening = new Map<string, Promise<void>>();
  /** Of long tables whose first segments are made next, by "tenant/table". */
  readonly expected = new Map<string, AwaitedSegments>();
  /** Who lends segments to branches (stored/lent-segments.ts). */
  readonly lenders = new Set<{ lend(tenantNumber: number, layout: TableLayout): Promise<void> | null }>();
  /** Who lends them to reads of the past (stored/past-segments.ts), by whose past it is. */
  readonly pasts = new Map<unknown, { at(tenantNumber: number, sequence: number): SegmentCache }>();
  /** Long tables are kept in files (stored/column-store.ts). */
  hasFiles = false;
  /** Told of damaged files. */
  onDamage: ((error: Error) => void) | null = null;
  readonly pages: PageCache;
  /** Memory of tables, beside pages of files. */
  tableBytes = 0;
  built = 0;
  evicted = 0;

  constructor(
    /** 0: no segments are made. */
    readonly bytesMax: number,
    readonly sizes: SegmentSizes = SEGMENT_SIZES,
    pages?: PageCache,
  ) {
    this.pages = pages ?? new PageCache(() => Math.max(this.bytesMax - this.tableBytes, this.bytesMax * PAGES_SHARE));
  }

  get bytes(): number {
    return this.tableBytes + this.pages.bytes;
  }

  /** Resolves when the table's files are open, or segments were lent to it; null: there is nothing to wait for. */
  openingOf(tenantNumber: number, layout: TableLayout): Promise<void> | null {
    if (this.opening.size > 0) {
      const opening = this.opening.get(`${tenantNumber}/${storageOf(layout.table)}`);
      if (opening !== undefined) return opening;
    }
    for (const lender of this.lenders) {
      const lending = lender.lend(tenantNumber, layout);
      if (lending !== null) return lending;
    }
    return null;
  }

  get tables(): number {
    return this.uses.size;
  }

  /** The table's segments, if there are any that fit its definition. */
  find(tenantNumber: number, layout: TableLayout, columnIds: readonly number[]): TableSegments | null {
    const table = this.tenants.get(tenantNumber)?.get(storageOf(layout.table));
    if (table === undefined || !table.isReady) return null;
    if (columnIds.some((id) => table.holds(layout, id) === "no")) {
      this.drop(table);
      return null;
    }
    this.uses.delete(table);
    this.uses.add(table);
    table.isRead = true;
    return table;
  }

  /** What a scan of the table may wait for before it reads records from the key on; null: nothing. */
  awaitedAt(tenantNumber: number, layout: TableLayout, key: Uint8Array): AwaitedSegments | null {
    const storageId = storageOf(layout.table);
    const made = this.tableOf(tenantNumber, storageId)?.makingAt(keyText(key))?.awaited;
    const first = this.hasFiles ? this.expected.get(`${tenantNumber}/${storageId}`) : undefined;
    const awaited = made ?? first ?? null;
    awaited?.ask?.();
    return awaited !== null && awaited.rows >= this.sizes.awaitedRowsMin ? awaited : null;
  }

  /** A scan has come to the end of a table that is too short to have made segments of it. */
  endedShort(tenantNumber: number, layout: TableLayout, records: number): void {
    if (this.bytesMax === 0) return;
    if (this.short.size >= SHORT_MAX) this.short.clear();
    const name = `${tenantNumber}/${storageOf(layout.table)}`;
    this.short.set(name, (this.short.get(name) ?? 0) + records);
  }

  /** True if scans of a short table have read enough in total that its segments are worth making. */
  isReadOften(tenantNumber: number, layout: TableLayout): boolean {
    if (this.short.size === 0) return false;
    return (this.short.get(`${tenantNumber}/${storageOf(layout.table)}`) ?? 0) >= this.sizes.recordsBefore;
  }

  /** Counts lookups of joins in the table's records. Answers how many there have been; 0: too few to make segments. */
  lookedUp(tenantNumber: number, layout: TableLayout, count: number): number {
    const name = `${tenantNumber}/${storageOf(layout.table)}`;
    let lookups = this.lookups.get(name);
    if (lookups === undefined) {
      if (this.lookups.size >= SHORT_MAX) this.lookups.clear();
      lookups = { count: 0, tooFew: this.sizes.lookupsBefore };
      this.lookups.set(name, lookups);
    }
    lookups.count += count;
    return lookups.count >= lookups.tooFew ? lookups.count : 0;
  }

  /** A table has more rows than segments were to be made of: too many for the lookups until now, or for its vectors. */
  foundTooLong(table: TableSegments): void {
    const name = `${table.tenantNumber}/${table.storageId}`;
    const lookups = this.lookups.get(name);
    if (lookups !== undefined) lookups.tooFew = 2 * lookups.count;
    if (this.tooLarge.size >= SHORT_MAX) this.tooLarge.clear();
    this.tooLarge.set(vectorsOf(name), SCANS_BEFORE_RETRY);
    if (this.hasFiles) this.wanted.set(name, table);
  }

  /** Rows of which a scan may make these columns: vectors must leave some of the memory to other tables. */
  rowsMaxOf(layout: TableLayout, columnIds: readonly number[]): number {
    let bytes = 0;
    for (const id of columnIds) {
      const type = layout.types[id]!;
      if (type.name === "vector") bytes += Float32Array.BYTES_PER_ELEMENT * type.modifier!;
    }
    const storable = columnIds.every((id) => isStorable(layout.types[id]!));
    if (bytes === 0) return storable && this.hasFiles ? 4 * this.sizes.storedRowsMin : Number.POSITIVE_INFINITY;
    return Math.floor((this.bytesMax * VECTORS_SHARE) / bytes);
  }

  /** Whether a table is known to have more rows than that; asked once by each scan that wants vectors. */
  hasMoreRows(tenantNumber: number, layout: TableLayout, rowsMax: number): boolean {
    const storageId = storageOf(layout.table);
    const rows = this.tenants.get(tenantNumber)?.get(storageId)?.rows ?? 0;
    const name = `${tenantNumber}/${storageId}`;
    if (rows > rowsMax && this.hasFiles) this.wanted.set(name, { tenantNumber, storageId });
    return rows > rowsMax || this.isPutOff(vectorsOf(name));
  }

  /** Counts the scans after which a table that did not fit is tried again. */
  private isPutOff(name: string): boolean {
    const wait = this.tooLarge.get(name);
    if (wait === undefined) return false;
    if (wait > 0) this.tooLarge.set(name, wait - 1);
    else this.tooLarge.delete(name);
    return true;
  }

  /** Segments to fill, marked busy; null when somebody else is at it or the table is known not to fit. */
  claim(tenantNumber: number, layout: TableLayout): TableSegments | null {
    const storageId = storageOf(layout.table);
    if (this.bytesMax === 0) return null;
    const name = `${tenantNumber}/${storageId}`;
    if (this.opening.has(name) || this.isPutOff(name)) return null;
    let table = this.tenants.get(tenantNumber)?.get(storageId);
    // It lacks columns, and others own its segments.
    if (table?.isLent === true && table.isReady) this.drop(table);
    if (table === undefined || table.dropped) {
      table = new TableSegments(tenantNumber, storageId, layout.rowPrefixOf(tenantNumber));
      this.adopt(table);
    }
    if (table.busy || !table.isReady || table.making.size > 0) return null;
    table.busy = true;
    this.short.delete(name);
    return table;
  }

  /**
   * The columns to make when these are missing. The first time it is them alone; later all that take little room, too:
   * reading the table's records again for each costs more.
   */
  columnsToMake(table: TableSegments, layout: TableLayout, missing: readonly number[]): readonly number[] {
    const wanted = new Set(missing);
    if (table.columnIds.length === 0) return [...wanted];
    const others = layout.table.columns.filter(
      ({ id, type }) => !wanted.has(id) && table.holds(layout, id) === "not yet" && isSmall(type),
    );
    const room = (this.bytesMax - this.bytes) / 4;
    if (others.length > OTHERS_MAX || others.length * table.rows * VALUE_BYTES > room) return [...wanted];
    for (const { id } of others) wanted.add(id);
    return [...wanted];
  }

  /** A table that follows the engine from now on. */
  adopt(table: TableSegments): void {
    let tables = this.tenants.get(table.tenantNumber);
    if (tables === undefined) {
      tables = new Map();
      this.tenants.set(table.tenantNumber, tables);
    }
    tables.set(table.storageId, table);
    this.uses.add(table);
    this.tableBytes += table.bytes;
  }

  /** A table has forgotten newer entries of so many bytes. */
  shrunk(bytes: number): void {
    this.tableBytes -= bytes;
  }

  /** All tables, the one that was used longest ago first. */
  oldest(): Iterable<TableSegments> {
    return this.uses;
  }

  tableOf(tenantNumber: number, storageId: number): TableSegments | null {
    return this.tenants.get(tenantNumber)?.get(storageId) ?? null;
  }

  tablesOf(tenantNumber: number): readonly TableSegments[] {
    return [...(this.tenants.get(tenantNumber)?.values() ?? [])];
  }

  /** Counts memory of the table, throwing others out. False: it does not fit, and is thrown out itself. */
  grow(table: TableSegments, bytes: number): boolean {
    if (table.dropped) return false;
    table.bytes += bytes;
    this.tableBytes += bytes;
    if (this.bytes <= this.bytesMax) return true;
    this.pages.shrinkTo(Math.max(this.bytesMax - this.tableBytes, this.bytesMax * PAGES_SHARE));
    for (const other of [...this.uses]) {
      if (this.bytes <= this.bytesMax) return true;
      if (other !== table) this.evict(other);
    }
    if (this.bytes <= this.bytesMax) return true;
    this.tooLarge.set(`${table.tenantNumber}/${table.storageId}`, SCANS_BEFORE_RETRY);
    this.evict(table);
    return false;
  }

  /** What the engine of one of the actor's shards has just taken. */
  applied(operations: readonly Operation[]): void {
    if (this.uses.size === 0) return;
    for (const operation of operations) {
      const { key } = operation;
      if (key[4] !== SPACE.rows) continue;
      const table = this.tenants.get(tenantOfKey(key))?.get(storageIdOf(key));
      if (table !== undefined) this.note(table, operation);
    }
  }

  /** The same of a part of a load. */
  appliedLoad(part: LoadPart): void {
    const { prefix } = part.run;
    if (this.uses.size === 0 || prefix[4] !== SPACE.rows) return;
    const table = this.tableOf(tenantOfKey(prefix), storageIdOf(prefix));
    if (table === null) return;
    this.giveUpAhead(table, part);
    if (table.appliedLoad(part)) return;
    const touched = new Set<Segment>();
    this.tableBytes += table.appliedEach(part, (segment) => touched.add(segment));
    for (const segment of touched) if (!table.dropped) this.limitChanges(table, segment);
  }

  /** Gives up segments of which the load changes too many rows anyway: none of them is noted first. */
  private giveUpAhead(table: TableSegments, part: LoadPart): void {
    if (!table.isStored || table.making.size > 0) return;
    const { run } = part;
    const placeOf = (text: string) => run.lowerBound(Buffer.from(text, "latin1"));
    const last = keyText(part.lastKey);
    const { segments } = table;
    for (let number = Math.max(0, table.numberBefore(keyText(part.firstKey))); number < segments.length; number++) {
      const segment = segments[number]!;
      if (segment.from > last) return;
      const changes = placeOf(segment.to) - placeOf(segment.from);
      if (changes > this.changesMaxOf(segment)) this.giveUp(table, segment, removesOnly(part) ? changes : 0);
    }
  }

  private changesMaxOf({ rows }: Segment): number {
    return CHANGES_SHARE_MAX * rows + this.sizes.changesMax;
  }

  /** A write of one of the table's rows that the engine has taken. */
  note(table: TableSegments, operation: Operation): void {
    const bytes = table.applied(operation);
    this.tableBytes += bytes;
    if (bytes !== 0) this.limitChanges(table, table.isStored ? table.segmentOf(keyText(operation.key)) : null);
  }

  /** Gives up segments with so many newer entries that they are not worth their memory. `changed`: has new ones. */
  private limitChanges(table: TableSegments, changed: Segment | null): void {
    if (table.isStored) {
      if (table.making.size > 0) return;
      const changesMax = changed === null ? 0 : this.changesMaxOf(changed);
      if (changed !== null && table.recount(changed, changesMax) > changesMax) {
        this.giveUp(table, changed);
      } else if (table.entryBytes > NEWER_BYTES_SHARE * this.bytesMax) this.giveUpMostChanged(table);
      return;
    }
    const newerMax = table.busy ? Number.POSITIVE_INFINITY : NEWER_MIN + NEWER_SHARE_MAX * table.rows;
    if (this.bytes > this.bytesMax || table.entries.size > newerMax) this.evict(table);
  }

  /** A page of a segment is not what was written: its rows are read from records until it was made again. */
  damaged(table: TableSegments, segment: Segment, error: Error): void {
    this.onDamage?.(error);
    this.giveUp(table, segment);
  }

  /** Counts a lookup whose pages are not in memory; true when it is worth reading them. */
  shouldLoad(table: TableSegments, columnIds: readonly number[]): boolean {
    table.lookups++;
    const enough = Math.min(this.sizes.lookupsBefore, LOOKUPS_PER_SEGMENT * table.segments.length);
    return table.lookups > enough && table.bytesOf(columnIds) < this.bytesMax * LOOKUPS_SHARE;
  }

  /** The segment's rows, of which so many are gone, are only in records from now on, and need no newer entries. */
  private giveUp(table: TableSegments, segment: Segment, gone = 0): void {
    if (table.dropped || !table.segments.includes(segment)) return;
    table.segments = table.segments.filter((other) => other !== segment);
    table.writesInGaps += Math.max(0, segment.rows - gone);
    this.tableBytes -= table.forgetRange(segment);
  }

  private giveUpMostChanged(table: TableSegments): void {
    const most = [...table.segments].sort((a, b) => b.changes - a.changes)[0];
    if (most !== undefined && most.changes > 0) this.giveUp(table, most);
  }

  drop(table: TableSegments): void {
    if (table.dropped) return;
    table.dropped = true;
    this.tableBytes -= table.bytes;
    this.uses.delete(table);
    const tables = this.tenants.get(table.tenantNumber)!;
    tables.delete(table.storageId);
    if (tables.size === 0) this.tenants.delete(table.tenantNumber);
    table.onDrop?.();
  }

  /** Drops the segments of a table's storage. */
  dropStorage(tenantNumber: number, storageId: number): void {
    const table = this.tenants.get(tenantNumber)?.get(storageId);
    if (table !== undefined) this.drop(table);
  }

  /** Drops all segments of a tenant. */
  dropTenant(tenantNumber: number): void {
    for (const table of this.tablesOf(tenantNumber)) this.drop(table);
  }

  /** The tenant is idle: what is in no file goes from memory. */
  restTenant(tenantNumber: number): void {
    for (const table of this.tablesOf(tenantNumber)) {
      if (table.isStored) this.evict(table);
      else this.drop(table);
    }
  }

  /** Throws everything out. */
  clear(): void {
    for (const table of [...this.uses]) this.drop(table);
  }

  /** What is in files stays, with its newer entries. */
  private evict(table: TableSegments): void {
    if (!table.isStored) {
      this.drop(table);
      this.evicted++;
      return;
    }
    const before = table.bytes;
    table.releaseMade();
    this.tableBytes += table.bytes - before;
    if (table.bytes < before) this.evicted++;
  }
}

/** Under which it is noted that a table has too many vectors. */
const vectorsOf = (name: string) => `${name}/vectors`;
