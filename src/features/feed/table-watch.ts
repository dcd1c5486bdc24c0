/**
 * One followed table: the storage of its rows, its followers, and its last changes in memory, from which clients that
 * come back are served. Made and owned by the feed of the partition (change-feed.ts).
 */
import { storageOf, type TableDef } from "../../catalog/table.js";
import { KeptBytes } from "./kept-bytes.js";
import { bytesOfChange, ChangedRow, type RowChange, RowMapping, type TableEvent } from "./row-change.js";

/** A follower of a table; it receives changes that are on disk, in the order of their commits. */
export interface TableFollower {
  changed(rows: readonly ChangedRow[]): void;
  /** `altered`: the definition is another one. After `dropped` nothing follows. */
  happened(event: TableEvent, micros: number): void;
}

export interface TableWatchOptions {
  readonly tenant: number;
  readonly table: TableDef;
  /** The table and all below it that have rows of it. */
  readonly family: readonly TableDef[];
  /** All changes after that time are in the commit log, with what was there before. */
  readonly since: number;
  /** Nothing is in memory of the time before. */
  readonly now: number;
  readonly memoryBytes: number;
}

export class TableWatch {
  readonly tenant: number;
  readonly tableId: number;
  readonly followers = new Set<TableFollower>();
  table: TableDef;
  since: number;
  /** Milliseconds since the epoch until which it is watched without followers; 0: they have it watched. */
  untilMs = 0;
  /** Time of its last change. */
  lastChange: number;
  /** Changes on disk, oldest first; all of those after `historySince`. */
  private history: RowChange[] = [];
  private historyStart: number;
  private bytesInHistory = 0;
  private readonly kept = new KeptBytes();
  private mappings = new Map<number, RowMapping>();
  private readonly memoryBytes: number;

  constructor({ tenant, table, family, since, now, memoryBytes }: TableWatchOptions) {
    this.tenant = tenant;
    this.tableId = table.id;
    this.table = table;
    this.since = since;
    this.historyStart = now;
    this.lastChange = now;
    this.memoryBytes = memoryBytes;
    this.map(family);
  }

  get storageIds(): IterableIterator<number> {
    return this.mappings.keys();
  }

  get historyBytes(): number {
    return this.bytesInHistory;
  }

  get historySince(): number {
    return this.historyStart;
  }

  /** Of the definitions as they are now. Rows in other storage than before cannot be followed back. */
  redefine(table: TableDef, family: readonly TableDef[], now: number): void {
    const before = [...this.mappings.keys()].sort().join();
    this.table = table;
    this.map(family);
    if ([...this.mappings.keys()].sort().join() !== before) this.restart(now);
  }

  /** Nobody can come back to a time before. */
  restart(now: number): void {
    this.since = now;
    this.lastChange = now;
    this.history = [];
    this.bytesInHistory = 0;
    this.historyStart = now;
  }

  private map(family: readonly TableDef[]): void {
    this.mappings = new Map(family.map((table) => [storageOf(table), new RowMapping(table, this.table)]));
  }

  /** A change of storage that the watch has. */
  rowOf(change: RowChange): ChangedRow {
    this.lastChange = change.micros;
    return new ChangedRow(change, this.mappings.get(change.storageId)!);
  }

  /** For those who follow; each row is decoded once. Changes of other storage are left out. */
  rowsOf(changes: readonly RowChange[]): ChangedRow[] {
    return changes.flatMap((change) => {
      const mapping = this.mappings.get(change.storageId);
      return mapping === undefined ? [] : new ChangedRow(change, mapping);
    });
  }

  /** These are on disk. */
  deliver(rows: readonly ChangedRow[]): void {
    for (const { change } of rows) {
      this.history.push(this.keep(change));
      this.bytesInHistory += bytesOfChange(change);
    }
    this.shorten();
    for (const follower of [...this.followers]) follower.changed(rows);
  }

  /** What was read of the log: all changes after `since` and before the history. */
  prepend(changes: readonly RowChange[], since: number): void {
    this.history = [...changes.map((change) => this.keep(change)), ...this.history];
    for (const change of changes) this.bytesInHistory += bytesOfChange(change);
    this.historyStart = since;
    this.shorten();
  }

  /** Changes after that time, all that are on disk; null: they are not in memory. */
  changesAfter(micros: number): readonly RowChange[] | null {
    if (micros < this.historyStart) return null;
    return this.history.slice(this.countUntil(micros));
  }

  private keep({ micros, storageId, before, after }: RowChange): RowChange {
    const kept = this.kept;
    return { micros, storageId, before: before && kept.copy(before), after: after && kept.copy(after) };
  }

  /** Changes up to that time are left to the log; many at once, since the array is copied. */
  forgetUntil(micros: number): void {
    const middle = this.history[this.history.length >>> 2];
    if (middle !== undefined && middle.micros <= micros) this.drop(this.countUntil(micros));
  }

  private shorten(): void {
    if (this.bytesInHistory <= this.memoryBytes) return;
    let count = 0;
    let bytes = this.bytesInHistory;
    while (bytes > this.memoryBytes * 0.75 && count < this.history.length) {
      bytes -= bytesOfChange(this.history[count]!);
      count++;
    }
    this.drop(count);
  }

  /** The oldest `count`. */
  private drop(count: number): void {
    if (count === 0) return;
    for (let i = 0; i < count; i++) this.bytesInHistory -= bytesOfChange(this.history[i]!);
    this.historyStart = this.history[count - 1]!.micros;
    this.history = this.history.slice(count);
  }

  /** Of the history, up to that time. */
  private countUntil(micros: number): number {
    let low = 0;
    let high = this.history.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.history[middle]!.micros <= micros) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
