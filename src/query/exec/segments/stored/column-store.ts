/**
 * Keeps the columns of a partition's long tables in files. So a scan reads columns, not records, right after a start
 * and also when the table does not fit into memory. A thread makes the files from the engine's entries
 * (build-columns.ts). From the moment when it begins, the segment cache notes every entry that the engine takes. So the
 * files and the noted entries together always equal the engine's content. The files are a cache: if they are lost or
 * damaged, they are made again. Owned by the partition.
 *
 *   columns/TENANT-STORAGE/              without a manifest: the table is long, and its files are not made yet
 *   columns/TENANT-STORAGE/manifest      which files are valid, and as of which commit (table-manifest.ts)
 *   columns/TENANT-STORAGE/N.columns     segments (column-file.ts)
 */

import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ALONE } from "../../../../derived/turns.js";
import { giveWay } from "../../../../protocol/turns.js";
import { prefixRange, rowPrefix, SPACE, storageIdOf, tenantOfKey } from "../../../../storage/keys.js";
import type { LargeCommitMade } from "../../../../storage/large-commits.js";
import type { Operation } from "../../../../storage/operation.js";
import type { ReplayedLoad } from "../../../../storage/replayed-loads.js";
import type { LoadPart } from "../../../../storage/sorted-run.js";
import { readSome } from "../../../../storage/store.js";
import type { TableLayout } from "../../table-layout.js";
import { TableSegments } from "../table-segments.js";
import type { ColumnStoreOptions } from "./column-store-options.js";
import { Ending } from "./ending.js";
import { ExpectedTables } from "./expected-tables.js";
import { Lendings } from "./lendings.js";
import { LentSegments } from "./lent-segments.js";
import { Loads } from "./loads.js";
import { catchUp, type FoundTable, openFiles } from "./open-stored.js";
import { Pasts } from "./past-segments.js";
import { type LoadedRows, nameOf, namesIn, removeFolders, StoredTable } from "./stored-table.js";
import { TableBuilds, type TableBuildsHost } from "./table-builds.js";
import { isDue, storedColumns } from "./what-to-build.js";
import { WriteCounts } from "./write-counts.js";

/** The log grows by this much before manifests are written again: so much of it is read after a crash. */
const SAVE_EVERY_BYTES = 64 * 1024 * 1024;
/** Keys counted at a time, to see whether a table is long. */
const COUNT_STEP = 1024;
/**
 * Builds that failed before one succeeded, after which columns are only in memory: this file system may have no hard
 * links.
 */
const FAILURES_MAX = 3;
/** How long a table is left alone after a build of it failed; twice as long each time. */
const RETRY_MS = 10_000;
/** Of a table that is read by several threads: a statement that reads it would take some 30 ms by itself. */
const LONG_READ_ROWS_MIN = 500_000;
/** How long a build that is due waits for a time when the thread is not busy. */
const PUT_OFF_MS_MAX = 60_000;

/** The name of a table's folder. */
const PLACE = /^(\d+)-(\d+)$/;

export class ColumnStore implements TableBuildsHost {
  /**
   * By "tenant/table": one object for each folder, from before its first segments are made, because two would give two
   * files one name. It goes when its table is dropped.
   */
  private readonly tables = new Map<string, StoredTable>();
  private readonly counts = new WriteCounts();
  private readonly builds: TableBuilds;
  private readonly lendings = new Lendings();
  private readonly lends: LentSegments | null;
  private readonly pasts: Pasts | null;
  private readonly loads = new Loads(this);
  private readonly expected: ExpectedTables;
  /** Folders that are being removed, by "tenant/table": nothing is made in them before they are gone. */
  private readonly removing = new Map<string, Promise<void>>();
  private work: Promise<void> | null = null;
  private failures = 0;
  private hasBuilt = false;
  /** The thread has other things to do: a build beside them would take time from both. */
  private isBusy = false;
  /** Files are being made, or will be soon. */
  isBehind = false;
  private savedAtBytes = 0;
  /** Builds from the engine end first; what was loaded last may still become columns. */
  readonly ends = { builds: new Ending(), loads: new Ending() };
  private isOpen = false;

  constructor(readonly options: ColumnStoreOptions) {
    options.cache.hasFiles = true;
    this.builds = new TableBuilds(this);
    this.expected = new ExpectedTables(options.cache, () => this.sweep());
    const { cache, layers = null, turnsOf } = options;
    this.lends = layers === null ? null : new LentSegments(layers, cache, turnsOf, this.lendings);
    if (this.lends !== null) cache.lenders.add(this.lends);
    this.pasts = layers === null ? null : new Pasts(layers, cache, turnsOf, this.lendings);
    if (this.pasts !== null) cache.pasts.set(layers, this.pasts);
    options.cache.onDamage = (error) =>
      options.warn(`a file of columns is damaged and will be made again: ${error.message}`);
  }

  /** Opens what is there. Call it once; scans of those tables wait until it resolves. */
  async open(): Promise<void> {
    const { cache } = this.options;
    const names = this.expectedNames();
    const opening = this.openAll(names).finally(() => {
      for (const name of names) cache.opening.delete(name);
      this.isOpen = true;
      this.sweep();
    });
    for (const name of names) cache.opening.set(name, opening);
    await opening;
  }

  /** Of tables that have a folder, or rows that the log had and the engine had not. */
  private expectedNames(): ReadonlySet<string> {
    const { directory, store, cache } = this.options;
    const names = namesIn(directory).filter((name) => PLACE.test(name));
    const replayed = store.replayed.filter(({ rows }) => rows >= cache.sizes.fileRowsMin);
    const ofRows = ({ prefix }: ReplayedLoad) => nameOf(tenantOfKey(prefix), storageIdOf(prefix));
    return new Set([...names.map((name) => name.replace("-", "/")), ...replayed.map(ofRows)]);
  }

  private async openAll(names: ReadonlySet<string>): Promise<void> {
    const { directory, store, cache, warn } = this.options;
    const found: FoundTable[] = [];
    for (const name of names) {
      const [tenantNumber, storageId] = name.split("/").map(Number);
      found.push(...(await this.openOne(tenantNumber!, storageId!)));
    }
    const held = this.loads.held();
    for (const name of namesIn(directory)) {
      if (!PLACE.test(name) && !held.has(name)) await rm(join(directory, name), { recursive: true, force: true });
    }
    while (store.hasBacklog) await store.largeCommitDone();
    const upTo = store.appliedSequence;
    // Else the table's first load waits for its columns.
    for (const { stored } of found) stored.columns.length > 0 ? this.adopt(stored) : cache.adopt(stored.table);
    const turns = this.options.turnsOf(0);
    const lost = await catchUp(store, cache, found, upTo, turns).catch((error: unknown) => {
      warn(`files of columns could not be brought up to date: ${String(error)}`);
      return new Set(found.map(({ stored }) => stored));
    });
    for (const { stored } of found) {
      if (lost.has(stored)) await this.giveUp(stored);
      else stored.table.isReady = true;
      // So that what is missing is made at once.
      stored.seenWrites = stored.table.writesInGaps;
    }
    this.startThreads();
  }

  private async giveUp(stored: StoredTable): Promise<void> {
    this.loads.forget(stored);
    this.options.cache.drop(stored.table);
    if (stored.table.isStored) return;
    await stored.removeFolder();
    this.expected.add(stored);
  }

  /** Threads that long reads will need load their program before the first one comes. */
  private startThreads(): void {
    if (this.inFiles().some(({ table }) => table.rows >= LONG_READ_ROWS_MIN)) this.options.readThreads?.start();
  }

  private async openOne(tenantNumber: number, storageId: number): Promise<readonly FoundTable[]> {
    const stored = this.storedOf(tenantNumber, storageId);
    stored.table.isReady = false;
    try {
      const opened = await openFiles(stored, this.options.cache, this.options.turnsOf(tenantNumber));
      const { openedSequence } = this.options;
      // Else its segments were made of what a power cut has taken.
      if (opened === null || opened.sequence <= openedSequence) {
        for (const load of opened?.loads ?? []) this.loads.resume(stored, load, openedSequence);
        const found = this.loads.resumeReplayed(stored, opened);
        if (found !== null && (stored.columns.length > 0 || stored.loads.size > 0)) return [found];
      }
    } catch (error) {
      this.options.warn(`files of columns are damaged and will be made again: ${String(error)}`);
    }
    this.tables.delete(nameOf(tenantNumber, storageId));
    await stored.removeFolder();
    this.expected.add(stored);
    return [];
  }

  /**
   * The table's one object. A new one is in the cache before the thread gives way, or else nobody else may claim the
   * table.
   */
  storedOf(tenantNumber: number, storageId: number): StoredTable {
    const { cache } = this.options;
    const name = nameOf(tenantNumber, storageId);
    const known = this.tables.get(name);
    if (known !== undefined) return known;
    const table =
      cache.tableOf(tenantNumber, storageId) ??
      new TableSegments(tenantNumber, storageId, rowPrefix(tenantNumber, storageId));
    const stored = new StoredTable(table, this.folderOf(tenantNumber, storageId));
    this.tables.set(name, stored);
    table.onDrop = () => {
      this.tables.delete(name);
      // Without a manifest it says that the table is long.
      if (!table.isStored) return;
      const removing = stored.removeFolder().finally(() => this.removing.delete(name));
      this.removing.set(name, removing);
    };
    return stored;
  }

  private folderOf(tenantNumber: number, storageId: number): string {
    return join(this.options.directory, `${tenantNumber}-${storageId}`);
  }

  /** Those that have segments in files. */
  private inFiles(): StoredTable[] {
    return [...this.tables.values()].filter(({ table }) => table.isStored);
  }

  /** From now on the table is one of those in files. */
  adopt({ table }: StoredTable): void {
    const { cache } = this.options;
    table.isStored = true;
    if (cache.tableOf(table.tenantNumber, table.storageId) === null) cache.adopt(table);
    this.counts.delete(table.tenantNumber, table.storageId);
  }

  /** What the engine has just taken. */
  applied(operations: readonly Operation[]): void {
    for (const { key, value } of operations) {
      if (key[4] !== SPACE.rows || value === null) continue;
      this.count(tenantOfKey(key), storageIdOf(key), 1);
    }
  }

  /** The same of a part of a load. */
  appliedLoad(part: LoadPart): void {
    const { prefix } = part.run;
    if (prefix[4] === SPACE.rows) this.count(tenantOfKey(prefix), storageIdOf(prefix), part.puts);
  }

  private count(tenant: number, storage: number, writes: number): void {
    if (writes === 0 || this.options.cache.tableOf(tenant, storage)?.isStored === true) return;
    this.counts.add(tenant, storage, writes);
  }

  /** A large commit is about to be taken by the engine: what it loads into a gap becomes columns at once. */
  loading(commit: LargeCommitMade): void {
    if (!this.isOpen || this.ends.loads.isGiven || !this.options.cache.hasFiles) return;
    try {
      this.loads.note(commit);
    } catch (error) {
      // The engine takes the commit all the same.
      this.options.warn(`rows of a load are not made into columns: ${String(error)}`);
    }
    if (!this.loads.isEmpty) this.sweep();
  }

  private async takeLoaded(loaded: LoadedRows): Promise<void> {
    const { table } = loaded.stored;
    await this.removing.get(nameOf(table.tenantNumber, table.storageId));
    const layout = this.options.layoutOf(table.tenantNumber, table.storageId);
    await this.builds.takeLoaded(loaded, layout);
    this.hasBuilt = true;
    this.startThreads();
    this.keepWithinBound(loaded.stored);
  }

  forgetTenant(tenantNumber: number): void {
    this.counts.forgetTenant(tenantNumber);
  }

  /** Of a tenant that is deleted, whose segments were dropped. */
  async removeFiles(tenantNumber: number): Promise<void> {
    await Promise.all([this.work, ...this.removing.values()]);
    await removeFolders(this.options.directory, tenantNumber);
  }

  /** Files of all tables together. */
  get bytes(): number {
    let bytes = 0;
    for (const stored of this.inFiles()) bytes += stored.bytes;
    return bytes;
  }

  /**
   * Looks whether something is to be made or saved; call it now and then. `isBusy`: what can wait waits for a while.
   */
  sweep(isBusy = false): void {
    this.pasts?.sweep();
    // Where no files can be made, scans make segments in memory again.
    this.options.cache.hasFiles = this.failures < FAILURES_MAX && this.options.mayGrow();
    if (this.work !== null || this.ends.loads.isGiven || !this.isOpen) return;
    this.isBusy = isBusy || this.options.store.hasBacklog;
    this.isBehind = false;
    const next = this.next();
    if (next === null) return;
    this.isBehind = true;
    this.work = next()
      .catch((error: unknown) => {
        if (!this.ends.builds.isGiven) this.options.warn(`files of columns were not made: ${String(error)}`);
      })
      .finally(() => {
        this.work = null;
        if (!this.loads.isEmpty || !this.expected.isEmpty) this.sweep();
      });
  }

  private next(): (() => Promise<void>) | null {
    const { store, cache } = this.options;
    const loaded = this.loads.take();
    if (loaded !== undefined) return () => this.takeLoaded(loaded);
    if (this.ends.builds.isGiven) return null;
    if (!store.hasBacklog) {
      if (store.log.bytesAppended - this.savedAtBytes >= SAVE_EVERY_BYTES) return () => this.saveAll();
      for (const stored of this.inFiles()) if (stored.isUnsaved) return () => this.save(stored);
    }
    if (!cache.hasFiles) return null;
    const first = this.expected.take();
    if (first !== undefined)
      return () => this.begin(first.tenantNumber, first.storageId, Number.POSITIVE_INFINITY).finally(first.resolve);
    for (const stored of this.inFiles()) {
      const { table } = stored;
      const isDueNow = isDue(table, stored.seenWrites, cache.sizes, cache.bytesMax);
      stored.seenWrites = table.writesInGaps;
      if (!isDueNow) stored.dueSinceMs = null;
      else if (!this.isPutOff(stored) && performance.now() >= stored.notBeforeMs)
        return () => this.renew(stored, false, table.writesInGaps);
    }
    for (const [name, { tenantNumber, storageId }] of cache.wanted) {
      if (!this.options.isHere(tenantNumber)) continue;
      const stored = this.tables.get(name);
      cache.wanted.delete(name);
      if (stored?.table.isStored !== true) return () => this.begin(tenantNumber, storageId, Number.POSITIVE_INFINITY);
      if (performance.now() >= stored.notBeforeMs) return () => this.renew(stored, true, Number.POSITIVE_INFINITY);
    }
    return this.nextNew();
  }

  /** A table without files that was written much, and is not written now. */
  private nextNew(): (() => Promise<void>) | null {
    const { fileRowsMin, storedRowsMin } = this.options.cache.sizes;
    for (const { tenantNumber, storageId, count } of this.counts.all()) {
      const isQuiet = count.writes === count.seen;
      count.seen = count.writes;
      if (count.writes < fileRowsMin) continue;
      this.isBehind = true;
      if (!(isQuiet || count.writes >= 16 * storedRowsMin) || this.isPutOff(count)) continue;
      this.counts.delete(tenantNumber, storageId);
      return () => this.begin(tenantNumber, storageId, count.writes);
    }
    return null;
  }

  /** A build that is due waits while the thread is busy, up to a bound. */
  private isPutOff(one: { dueSinceMs: number | null }): boolean {
    const now = performance.now();
    one.dueSinceMs ??= now;
    if (this.isBusy && now - one.dueSinceMs < PUT_OFF_MS_MAX) {
      this.isBehind = true;
      return true;
    }
    one.dueSinceMs = null;
    return false;
  }

  /** `rows`: it has about so many, or at least more than a scan should read from records. */
  private async begin(tenantNumber: number, storageId: number, rows: number): Promise<void> {
    const layout = this.options.layoutOf(tenantNumber, storageId);
    const isStored = layout !== null && storedColumns(layout).length > 0 && (await this.isLong(layout, tenantNumber));
    const name = nameOf(tenantNumber, storageId);
    await this.removing.get(name);
    if (!isStored) {
      // A load may have begun meanwhile.
      if (!this.tables.has(name)) await rm(this.folderOf(tenantNumber, storageId), { recursive: true, force: true });
      return;
    }
    const stored = this.storedOf(tenantNumber, storageId);
    // If it does not come to an end, it goes on after the next start.
    mkdirSync(stored.folder, { recursive: true });
    await this.renew(stored, true, rows);
  }

  private async isLong(layout: TableLayout, tenantNumber: number): Promise<boolean> {
    const { store, cache, turnsOf } = this.options;
    const cursor = store.engine.cursor({ ...prefixRange(layout.rowPrefixOf(tenantNumber)), only: "keys" });
    const turns = turnsOf(tenantNumber);
    try {
      for (let rows = 0; rows < cache.sizes.fileRowsMin; ) {
        const found = readSome(cursor, COUNT_STEP);
        if (found?.keys.length === 0) return false;
        rows += found?.keys.length ?? 0;
        await giveWay(turns);
      }
      return true;
    } finally {
      cursor.close();
    }
  }

  /** Makes what is missing; `all`: also where there are segments, with the columns that the table has now. */
  private async renew(stored: StoredTable, all: boolean, rows: number): Promise<void> {
    const { table } = stored;
    const layout = this.options.layoutOf(table.tenantNumber, table.storageId);
    if (layout === null) return;
    try {
      await this.builds.renew(stored, layout, all, rows);
      this.keepWithinBound(stored);
      stored.failures = 0;
      this.hasBuilt = true;
    } catch (error) {
      if (!this.hasBuilt) this.failures++;
      stored.notBeforeMs = performance.now() + RETRY_MS * 2 ** stored.failures++;
      throw error;
    }
  }

  private async saveAll(): Promise<void> {
    const { store } = this.options;
    const { bytesAppended } = store.log;
    for (const stored of this.inFiles()) {
      // Not in the middle of a large commit: later, because builds would wait.
      if (store.hasBacklog) return;
      if (!stored.table.dropped && stored.savedSequence < store.appliedSequence) await this.save(stored);
    }
    this.savedAtBytes = bytesAppended;
  }

  async save(stored: StoredTable): Promise<void> {
    const { store, turnsOf, durable } = this.options;
    const turns = this.ends.builds.isGiven ? ALONE : turnsOf(stored.table.tenantNumber);
    await stored.save(store.appliedSequence, turns, durable);
  }

  /** The tables that were read longest ago go first; a table that is too large by itself goes, too. */
  private keepWithinBound(last: StoredTable): void {
    const { cache, bytesMax, warn } = this.options;
    for (const table of [...cache.oldest()]) {
      if (this.bytes <= bytesMax) return;
      const stored = this.tables.get(nameOf(table.tenantNumber, table.storageId));
      if (stored?.table === table && table.isStored && stored !== last) cache.drop(table);
    }
    if (this.bytes <= bytesMax) return;
    warn("the columns of a table need more of the disk than storage.column_files_bytes_max");
    cache.drop(last.table);
  }

  /** Resolves when nothing is being made or saved. */
  async idle(): Promise<void> {
    await this.work;
  }

  /** Tables that were written much, and had to wait until nobody wrote. */
  private noteDue(): void {
    for (const { tenantNumber, storageId, count } of this.counts.all()) {
      const isLong = count.writes >= this.options.cache.sizes.fileRowsMin;
      if (isLong) mkdirSync(this.folderOf(tenantNumber, storageId), { recursive: true });
    }
  }

  /** What is being made ends soon, but for columns of loads. */
  endWork(): void {
    this.ends.builds.give();
    this.lendings.stop();
    if (this.lends !== null) this.options.cache.lenders.delete(this.lends);
    this.options.cache.pasts.delete(this.options.layers);
    this.expected.end();
  }

  /**
   * Saves what changed, so that the next start has nothing to catch up with. Columns of loads may be made until then (a
   * time of performance.now): without them, the next start would have to read the whole table.
   */
  async close(loadsUntil = 0): Promise<void> {
    this.endWork();
    await this.lendings.ended();
    await this.endLoads(loadsUntil);
    this.noteDue();
    for (const stored of this.tables.values()) {
      if (!stored.table.isStored && stored.loads.size === 0) continue;
      try {
        if (stored.table.isReady && !this.options.store.hasBacklog) await this.save(stored);
      } catch (error) {
        this.options.warn(`what files of columns hold was not written down: ${String(error)}`);
      }
    }
    await Promise.all(this.removing.values());
  }

  private async endLoads(until: number): Promise<void> {
    const late = setTimeout(() => this.ends.loads.give(), Math.max(0, until - performance.now()));
    while (this.work !== null) await this.work;
    clearTimeout(late);
    this.ends.loads.give();
  }
}
