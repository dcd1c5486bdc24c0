/**
 * The column segments of one actor: which tables have them, within a bound of memory; the table that was scanned
 * longest ago goes first. A cache that can be thrown away at any time: scans read records where it has nothing.
 * Owned by the actor; its shards tell it of all that their engines take (`applied`).
 */

import { storageOf } from "../../../catalog/table.js";
import { SPACE } from "../../../storage/keys.js";
import type { Operation } from "../../../storage/operation.js";
import type { SqlType } from "../../../values/values.js";
import type { TableLayout } from "../table-layout.js";
import { isSegmentable } from "./column.js";
import { TableSegments } from "./table-segments.js";

/** Scans of a table that did not fit into the memory before it is tried again. */
const SCANS_BEFORE_RETRY = 64;
/** Newer entries a table may have for each of its rows before its segments are not worth their memory. */
const NEWER_SHARE_MAX = 1;
const NEWER_MIN = 100_000;

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
    type.name === "uuid"
  )
    return false;
  const isText = type.name === "varchar" || type.name === "bpchar";
  return !isText || (type.modifier !== null && type.modifier <= SHORT_TEXT);
}

/** Short tables of which is remembered how much of them is read. */
const SHORT_MAX = 10_000;

/** Sizes that tests make small. */
export interface SegmentSizes {
  /** Records that a scan reads before it makes segments of the table. */
  readonly recordsBefore: number;
  /** Rows of a full segment. */
  readonly segmentRows: number;
  /** Changes of a segment that a scan merges without minding; beyond it the segment is made anew. */
  readonly changesMax: number;
  /** Lookups of joins in a table's records, at least, before segments are made for them. */
  readonly lookupsBefore: number;
}

const SIZES: SegmentSizes = { recordsBefore: 2048, segmentRows: 16_384, changesMax: 512, lookupsBefore: 1024 };

export class SegmentCache {
  /** By tenant, then by storage id; in order of last use within `uses`. */
  private readonly tenants = new Map<number, Map<number, TableSegments>>();
  /** All tables, the one that was used longest ago first. */
  private readonly uses = new Set<TableSegments>();
  /** Scans until a table that was too large is tried again, by "tenant/table"; its vectors, by "tenant/table/vectors". */
  private readonly tooLarge = new Map<string, number>();
  /** Records that scans of short tables have read to the end, by "tenant/table". */
  private readonly short = new Map<string, number>();
  /** Lookups of joins in the records of tables, and the lookups that a table was found to be too long for. */
  private readonly lookups = new Map<string, { count: number; tooFew: number }>();
  bytes = 0;
  built = 0;
  evicted = 0;

  constructor(
    /** 0: no segments are made. */
    readonly bytesMax: number,
    readonly sizes: SegmentSizes = SIZES,
  ) {}

  get tables(): number {
    return this.uses.size;
  }

  /** The table's segments, if there are any that fit its definition. */
  find(tenantNumber: number, layout: TableLayout, columnIds: readonly number[]): TableSegments | null {
    const table = this.tenants.get(tenantNumber)?.get(storageOf(layout.table));
    if (table === undefined) return null;
    if (columnIds.some((id) => table.holds(layout, id) === "no")) {
      this.drop(table);
      return null;
    }
    this.uses.delete(table);
    this.uses.add(table);
    return table;
  }

  /** A scan has come to the end of a table that is too short to have made segments of it. */
  endedShort(tenantNumber: number, layout: TableLayout, records: number): void {
    if (this.bytesMax === 0) return;
    if (this.short.size >= SHORT_MAX) this.short.clear();
    const name = `${tenantNumber}/${storageOf(layout.table)}`;
    this.short.set(name, (this.short.get(name) ?? 0) + records);
  }

  /** True when scans of a short table have read so much in all that its segments are worth making. */
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
  }

  /** Rows of which a scan may make these columns: vectors must leave some of the memory to other tables. */
  rowsMaxOf(layout: TableLayout, columnIds: readonly number[]): number {
    let bytes = 0;
    for (const id of columnIds) {
      const type = layout.types[id]!;
      if (type.name === "vector") bytes += Float32Array.BYTES_PER_ELEMENT * type.modifier!;
    }
    return bytes === 0 ? Number.POSITIVE_INFINITY : Math.floor((this.bytesMax * VECTORS_SHARE) / bytes);
  }

  /** Whether a table is known to have more rows than that; asked once by each scan that wants vectors. */
  hasMoreRows(tenantNumber: number, layout: TableLayout, rowsMax: number): boolean {
    const storageId = storageOf(layout.table);
    const rows = this.tenants.get(tenantNumber)?.get(storageId)?.rows ?? 0;
    return rows > rowsMax || this.isPutOff(vectorsOf(`${tenantNumber}/${storageId}`));
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
    if (this.isPutOff(name)) return null;
    let tables = this.tenants.get(tenantNumber);
    if (tables === undefined) {
      tables = new Map();
      this.tenants.set(tenantNumber, tables);
    }
    let table = tables.get(storageId);
    if (table === undefined) {
      table = new TableSegments(tenantNumber, storageId, layout.rowPrefixOf(tenantNumber).length);
      tables.set(storageId, table);
      this.uses.add(table);
    }
    if (table.busy) return null;
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

  /** Counts memory of the table, throwing others out. False: it does not fit, and is thrown out itself. */
  grow(table: TableSegments, bytes: number): boolean {
    if (table.dropped) return false;
    table.bytes += bytes;
    this.bytes += bytes;
    for (const other of this.uses) {
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
      const table = this.tenants.get(numberAt(key, 0))?.get(numberAt(key, 5));
      if (table === undefined) continue;
      this.bytes += table.applied(operation);
      const newerMax = table.busy ? Number.POSITIVE_INFINITY : NEWER_MIN + NEWER_SHARE_MAX * table.rows;
      if (this.bytes > this.bytesMax || table.entries.size > newerMax) this.evict(table);
    }
  }

  drop(table: TableSegments): void {
    if (table.dropped) return;
    table.dropped = true;
    this.bytes -= table.bytes;
    this.uses.delete(table);
    const tables = this.tenants.get(table.tenantNumber)!;
    tables.delete(table.storageId);
    if (tables.size === 0) this.tenants.delete(table.tenantNumber);
  }

  /** Throws out what there is of a table's storage. */
  dropStorage(tenantNumber: number, storageId: number): void {
    const table = this.tenants.get(tenantNumber)?.get(storageId);
    if (table !== undefined) this.drop(table);
  }

  /** Throws out what there is of a tenant. */
  dropTenant(tenantNumber: number): void {
    for (const table of [...(this.tenants.get(tenantNumber)?.values() ?? [])]) this.drop(table);
  }

  /** Throws everything out. */
  clear(): void {
    for (const table of [...this.uses]) this.drop(table);
  }

  private evict(table: TableSegments): void {
    this.drop(table);
    this.evicted++;
  }
}

/** Under which it is noted that a table has too many vectors. */
const vectorsOf = (name: string) => `${name}/vectors`;

/** Big-endian. */
function numberAt(key: Uint8Array, at: number): number {
  return ((key[at]! << 24) | (key[at + 1]! << 16) | (key[at + 2]! << 8) | key[at + 3]!) >>> 0;
}
