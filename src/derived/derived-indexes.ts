/**
 * The indexes in memory of one partition, each made when it is first asked for: their lives, their share of the
 * memory, and the files that make starts fast. While an index is not ready, readers use the records, so nobody waits
 * for one. Owned by the partition, which reports everything that the engine takes (`applied`).
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Turns } from "../protocol/turns.js";
import { SPACE, storageIdOf, tenantOfKey } from "../storage/keys.js";
import type { Operation } from "../storage/operation.js";
import type { TenantKeys } from "../storage/tenant-keys.js";
import { DerivedIndex, type IndexPlace, type IndexStore } from "./derived-index.js";
import {
  foldWhileSaved,
  type HeldIndex,
  hasMore,
  heldFrom,
  isBehind,
  isOfKind,
  isWorthSaving,
  tableName,
  turnsWith,
  usedLongestAgo,
} from "./held-index.js";
import type { IndexBody, IndexKind, IndexThreadsElsewhere } from "./index-body.js";
import { writeIndexFile } from "./index-file.js";
import { IndexFolder, type IndexName } from "./index-folder.js";
import type { IndexMetrics, IndexProgress } from "./index-progress.js";
import { PutOff } from "./put-off.js";
import { ALONE } from "./turns.js";

/** Changes that go into bodies while the engine tells of them: those of a step of a large commit, in a millisecond. */
const AT_ONCE_MAX = 256;
/** Close waits so long for other threads, which are told to end. */
const CLOSE_MAX_MS = 10_000;

const NO_INDEXES: readonly DerivedIndex[] = [];

/** Memory that the indexes of all partitions of an actor have together. */
export interface IndexMemory {
  bytes: number;
  readonly bytesMax: number;
}

export interface DerivedIndexesOptions {
  readonly store: IndexStore;
  /** Where files are; null: they are not kept. */
  readonly directory: string | null;
  readonly memory: IndexMemory;
  /** Encrypt the tenants' files; null, or absent: nothing does. */
  readonly keys?: Pick<TenantKeys, "known" | "of"> | null;
  /** Turns of the tenant's own for work in the background. */
  readonly turnsOf: (tenantNumber: number) => Turns;
  /** Resolves when all that was committed so far is on disk. */
  readonly durable: () => Promise<void>;
  /** Other threads for a body's long work (index-body.ts). Null: there are none. */
  readonly elsewhere?: IndexThreadsElsewhere | null;
  /** Of changes that are read from the log to complete a saved index; tests make it small. */
  readonly replayBytesMax?: number;
  /** How long `close` waits for them; tests make it short. */
  readonly closeMaxMs?: number;
  /** Something went wrong that costs only time. */
  readonly warn: (message: string, place: IndexName) => void;
}

export class DerivedIndexes {
  /** By tenant, then by index id. */
  private readonly tenants = new Map<number, Map<number, HeldIndex>>();
  /** Those of a table, by "tenant/table". */
  private readonly tables = new Map<string, HeldIndex[]>();
  /** Tables without rows whose indexes are made with the first, by "tenant/table". */
  private readonly expected = new Map<string, () => void>();
  /** The indexes that are made now are of a table of which the engine has not had a row. */
  private isFirstRow = false;
  private readonly saving = new Set<Promise<void>>();
  private readonly folder: IndexFolder;
  private readonly putOff = new PutOff();
  private foldedBefore = 0;
  private uses = 0;
  private isClosing = false;

  constructor(private readonly options: DerivedIndexesOptions) {
    this.folder = new IndexFolder(options.directory, options.keys ?? null);
  }

  /**
   * The index, once it is ready; null before, and while it does not fit into the memory. Asking begins to make it. One
   * of another definition is thrown away.
   */
  find<Item, Body extends IndexBody<Item>>(
    place: IndexPlace,
    kind: IndexKind<Item, Body>,
  ): DerivedIndex<Item, Body> | null {
    let held = this.tenants.get(place.tenantNumber)?.get(place.indexId);
    const isOther =
      held !== undefined && (!isOfKind(held.index, kind) || held.index.place.storageId !== place.storageId);
    if (isOther) {
      this.drop(held!);
      held = undefined;
    }
    if (held === undefined) {
      if (this.isClosing || this.options.memory.bytesMax === 0 || this.putOff.has(place)) return null;
      const made = this.make(place, kind);
      if (made === null) return null;
      held = made;
    }
    held.lastUse = ++this.uses;
    const { index } = held;
    return index.state === "ready" && isOfKind(index, kind) ? index : null;
  }

  /** Of an index that is held; null: it has not been asked for, or was thrown out. */
  progress(tenantNumber: number, indexId: number): IndexProgress | null {
    const index = this.tenants.get(tenantNumber)?.get(indexId)?.index;
    if (index === undefined || index.state === "dropped") return null;
    const { state, rowsRead, count, bytes, body } = index;
    const waiting = body.waitingCount ?? 0;
    const hasWork = body.hasWork || body.longWork?.isAway === true;
    return { state, rowsRead, count, bytes, hasWork, waiting, candidates: body.candidates ?? null };
  }

  /** Those of a tenant whose work may come to seconds. */
  withLongWork(tenantNumber: number): readonly DerivedIndex[] {
    const indexes = this.tenants.get(tenantNumber);
    if (indexes === undefined) return NO_INDEXES;
    return [...indexes.values()].map(({ index }) => index).filter(({ body }) => body.longWork !== undefined);
  }

  get metrics(): IndexMetrics {
    const held = this.all();
    return {
      indexes: held.length,
      indexBytes: held.reduce((sum, { index }) => sum + index.bytes, 0),
      indexItemsWaiting: held.reduce((sum, { index }) => sum + (index.body.waitingCount ?? 0) + index.entries.size, 0),
      indexRowsFolded: held.reduce((sum, { index }) => sum + index.folded, this.foldedBefore),
    };
  }

  /** Resolves when the index, which is being made, is ready or turns out not to fit. Null: it is not being made. */
  opening({ tenantNumber, indexId }: IndexName): Promise<void> | null {
    const held = this.tenants.get(tenantNumber)?.get(indexId);
    return held?.index.state === "opening" ? held.opened : null;
  }

  /** `make` asks for the indexes of a table that has no rows, as soon as it has one: then they grow with it. */
  expect(tenantNumber: number, storageId: number, make: () => void): void {
    this.expected.set(tableName(tenantNumber, storageId), make);
  }

  /** What the engine has just taken. */
  applied(operations: readonly Operation[]): void {
    if (this.tables.size === 0 && this.expected.size === 0) return;
    let left = AT_ONCE_MAX;
    for (const operation of operations) {
      if (operation.key[4] !== SPACE.rows) continue;
      const name = tableName(tenantOfKey(operation.key), storageIdOf(operation.key));
      this.arrived(name);
      for (const held of this.tables.get(name) ?? []) {
        if (left-- <= 0 || !held.index.appliedAtOnce(operation)) held.index.applied(operation);
        if (held.working === null) this.startWork(held);
        else held.wake();
      }
    }
  }

  /** A row of the table. */
  private arrived(name: string): void {
    const make = this.expected.get(name);
    if (make === undefined || !this.expected.delete(name)) return;
    this.isFirstRow = true;
    try {
      make();
    } finally {
      this.isFirstRow = false;
    }
  }

  /** Whether an index follows the table whose rows' keys begin so, or is made with its first row. */
  followsRows(prefix: Uint8Array): boolean {
    const name = tableName(tenantOfKey(prefix), storageIdOf(prefix));
    return this.tables.has(name) || this.expected.has(name);
  }

  /** Saves a tenant's indexes and drops them from memory. */
  dropTenant(tenantNumber: number): void {
    this.forgetExpected(tenantNumber);
    for (const held of [...(this.tenants.get(tenantNumber)?.values() ?? [])]) this.putAway(held);
  }

  private forgetExpected(tenantNumber: number): void {
    for (const name of this.expected.keys()) if (name.startsWith(`${tenantNumber}/`)) this.expected.delete(name);
  }

  /** The tenant's indexes are these now, with their tables' storage ids. Others go, and their files. */
  keepOnly(tenantNumber: number, storageIds: ReadonlyMap<number, number>): void {
    this.forgetExpected(tenantNumber);
    for (const held of [...(this.tenants.get(tenantNumber)?.values() ?? [])]) {
      const { indexId, storageId } = held.index.place;
      if (storageIds.get(indexId) !== storageId) this.drop(held);
    }
    const failed = (error: unknown): void =>
      this.options.warn(`files of dropped indexes were not removed: ${String(error)}`, { tenantNumber, indexId: 0 });
    const removing = this.folder
      .removeOthers(tenantNumber, storageIds)
      .catch(failed)
      .finally(() => this.saving.delete(removing));
    this.saving.add(removing);
  }

  /** Of a tenant that is deleted, whose indexes were dropped. */
  async removeFiles(tenantNumber: number): Promise<void> {
    await Promise.all(this.saving);
    await this.folder.removeOthers(tenantNumber, new Set());
  }

  /** The tenant's index is no more, or another definition has its place. */
  async dropIndex(tenantNumber: number, indexId: number): Promise<void> {
    const held = this.tenants.get(tenantNumber)?.get(indexId);
    if (held !== undefined) this.drop(held);
    await this.folder.remove({ tenantNumber, indexId });
  }

  /** Indexes of which there are files, the latest first. Removes files that were never finished; call it once. */
  saved(): Promise<readonly IndexName[]> {
    return this.folder.saved();
  }

  /** Resolves when the index's work is done, or it is not held. */
  async settled({ tenantNumber, indexId }: IndexName): Promise<void> {
    const held = this.tenants.get(tenantNumber)?.get(indexId);
    while (held !== undefined && (held.working ?? held.away) !== null) await (held.working ?? held.away);
  }

  /** Half of the memory is free, and nobody is about to close it. */
  get hasRoom(): boolean {
    const { bytes, bytesMax } = this.options.memory;
    return !this.isClosing && bytes * 2 < bytesMax;
  }

  /** Vectors have arrived that are in no body yet: they had better be put in before more arrive. */
  get isBehind(): boolean {
    return !this.isClosing && this.all().some(isBehind);
  }

  private all(): HeldIndex[] {
    return [...this.tenants.values()].flatMap((indexes) => [...indexes.values()]);
  }

  /** Resolves when no work is going on. */
  async idle(): Promise<void> {
    for (;;) {
      const working = this.all().flatMap((one) => one.working ?? one.away ?? []);
      if (working.length === 0) return;
      await Promise.all(working);
    }
  }

  /** All work in the background ends the next time that it gives way. */
  endWork(): void {
    this.isClosing = true;
  }

  /** Saves what changed and ends all work. */
  async close(): Promise<void> {
    this.isClosing = true;
    const all = this.all();
    for (const { index } of all) index.body.longWork?.stop();
    await Promise.all(all.map(({ working }) => working));
    await this.othersEnded(all);
    for (const held of all) {
      if (held.index.state === "dropped") continue;
      if (held.isBack) await held.index.takeBack(ALONE);
      held.index.fold(() => false);
      await this.save(held, ALONE);
      this.drop(held);
    }
    await Promise.all(this.saving);
  }

  /** Waits for other threads, but not for ever: an index whose threads do not end is not saved. */
  private async othersEnded(all: readonly HeldIndex[]): Promise<void> {
    const ended = Promise.all(all.map(({ away }) => away));
    const over = new AbortController();
    const late = sleep(this.options.closeMaxMs ?? CLOSE_MAX_MS, undefined, { signal: over.signal }).catch(
      () => undefined,
    );
    await Promise.race([ended, late]).finally(() => over.abort());
    for (const { away, index } of all)
      if (away !== null) this.options.warn("its threads have not ended: it is not saved", index.place);
  }

  /** Throws an index out that would be made again and again; warns the first time. */
  private throwOut(held: HeldIndex, reason: string): void {
    this.putAway(held);
    this.wait(held.index.place, reason);
  }

  private wait(place: IndexPlace, reason: string): void {
    if (this.putOff.add(place) === 1) this.options.warn(reason, place);
  }

  private putAway(held: HeldIndex): void {
    const { tenantNumber } = held.index.place;
    const saving = this.save(held, this.options.turnsOf(tenantNumber)).finally(() => this.saving.delete(saving));
    this.saving.add(saving);
    this.drop(held);
  }

  /** Null: it cannot be made now, as when a process has as many memories as it may have. */
  private make<Item, Body extends IndexBody<Item>>(place: IndexPlace, kind: IndexKind<Item, Body>): HeldIndex | null {
    let index: DerivedIndex;
    try {
      index = new DerivedIndex(place, kind, this.options.store, this.options.replayBytesMax);
    } catch (error) {
      this.wait(place, `it cannot be made now: ${String(error)}`);
      return null;
    }
    const held = heldFrom(index, ++this.uses);
    const { tenantNumber, storageId, indexId } = place;
    let indexes = this.tenants.get(tenantNumber);
    if (indexes === undefined) {
      indexes = new Map();
      this.tenants.set(tenantNumber, indexes);
    }
    indexes.set(indexId, held);
    const name = tableName(tenantNumber, storageId);
    this.tables.set(name, [...(this.tables.get(name) ?? []), held]);
    if (this.isFirstRow) index.beginEmpty();
    this.startWork(held);
    return held;
  }

  private drop(held: HeldIndex): void {
    const { index } = held;
    if (index.state === "dropped") return;
    index.state = "dropped";
    held.open();
    index.body.longWork?.stop();
    this.options.memory.bytes -= held.bytes;
    held.bytes = 0;
    this.foldedBefore += index.folded;
    const { tenantNumber, storageId, indexId } = index.place;
    const indexes = this.tenants.get(tenantNumber)!;
    indexes.delete(indexId);
    if (indexes.size === 0) this.tenants.delete(tenantNumber);
    const name = tableName(tenantNumber, storageId);
    const others = this.tables.get(name)!.filter((other) => other !== held);
    if (others.length === 0) this.tables.delete(name);
    else this.tables.set(name, others);
  }

  private startWork(held: HeldIndex): void {
    const { index } = held;
    held.working = this.work(held)
      .catch((error: unknown) => {
        if (index.state === "dropped") return;
        // What is ready is whole between any two steps, and will be saved.
        if (this.isClosing && index.state === "ready") return;
        if (this.isClosing) this.drop(held);
        else this.throwOut(held, String(error));
      })
      .finally(() => {
        held.working = null;
        // What arrived while it was being saved; a search may have put it into the body.
        if (hasMore(held) && !this.isClosing) this.startWork(held);
      });
  }

  /** Opens the index, puts what arrived into it, makes it faster, saves it: until there is nothing left to do. */
  private async work(held: HeldIndex): Promise<void> {
    const { index } = held;
    const turns = this.turnsOf(held);
    await turns.yieldTurn();
    if (index.state === "opening") {
      const saved = this.folder.placeToRead(index.place);
      const damaged = (reason: string) => this.options.warn(`${saved?.path}: ${reason}; it is made anew`, index.place);
      await index.open(saved, turns, damaged);
      index.unsaved = index.rowsRead;
    }
    held.open();
    for (;;) {
      while (index.body.isBusy !== true && !index.fold(turns.shouldYield)) await turns.yieldTurn();
      this.measure(held);
      if (held.isBack) {
        held.staysHere = !(await index.takeBack(turns));
        held.isBack = false;
      } else if (this.isForElsewhere(held) && this.handOver(held)) this.measure(held);
      else if (index.body.hasWork && index.waitsForLoad) await index.whileTaken();
      else if (index.body.hasWork) {
        do {
          index.body.work();
          index.unsaved++;
        } while (index.body.hasWork && !turns.shouldYield());
      } else break;
      await turns.yieldTurn();
    }
    if (isWorthSaving(held)) await foldWhileSaved(held, this.save(held, turns), turns);
  }

  private isForElsewhere({ index, staysHere }: HeldIndex): boolean {
    const { elsewhere } = this.options;
    if (elsewhere == null || elsewhere.free === 0 || staysHere || this.isClosing) return false;
    return index.body.longWork?.isWanted === true;
  }

  /** False: not now. */
  private handOver(held: HeldIndex): boolean {
    const { index } = held;
    const { elsewhere } = this.options;
    const jobs = index.handOver(elsewhere!.free);
    if (jobs.length === 0) return false;
    const run = (job: unknown): Promise<Error | null> =>
      elsewhere!.run(job).then(
        () => null,
        (error: unknown) => {
          // The others need not go on.
          index.body.longWork!.stop();
          return error as Error;
        },
      );
    held.away = Promise.all(jobs.map(run)).then((errors) => {
      held.away = null;
      const error = errors.find((each) => each !== null);
      if (error !== undefined) this.spoiled(held, error);
      else if (index.state === "ready") {
        held.isBack = true;
        if (held.working === null && !this.isClosing) this.startWork(held);
      }
    });
    return true;
  }

  /** A thread ended in the middle: nobody knows what it has left, so the index is made again, without others. */
  private spoiled(held: HeldIndex, error: Error): void {
    const { index } = held;
    if (index.state === "dropped") return;
    if (!this.isClosing) this.options.warn(`another thread failed: ${error}; the index is made anew`, index.place);
    this.drop(held);
    const other = this.isClosing ? null : this.make(index.place, index.kind);
    if (other !== null) other.staysHere = true;
  }

  /** Turns of the index's tenant, until the index is dropped or the partition closes. Measures its growth meanwhile. */
  private turnsOf(held: HeldIndex): Turns {
    const { index } = held;
    const turns = this.options.turnsOf(index.place.tenantNumber);
    const check = () => {
      if (index.state === "dropped" || this.isClosing) throw new Error("the index is not needed any more");
    };
    return turnsWith(turns, () => this.measure(held), check);
  }

  private async save(held: HeldIndex, turns: Turns): Promise<void> {
    const { index } = held;
    const saved = index.unsaved === 0 ? null : this.folder.placeToWrite(index.place);
    if (saved === null) return;
    const { unsaved } = index;
    const content = await index.content(turns);
    held.wake();
    if (content === null) return;
    try {
      await this.folder.inOrder(saved.path, () => writeIndexFile(saved, content, this.options.durable));
      index.unsaved -= unsaved;
    } catch (error) {
      const reason = `${saved.path}: ${(error as Error).message}; the index is rebuilt at the next start`;
      this.options.warn(reason, index.place);
    } finally {
      index.contentDone();
      // Work has waited.
      const isIdle = index.state === "ready" && held.working === null && !this.isClosing;
      if (isIdle && index.body.hasWork) this.startWork(held);
    }
  }

  /** Counts the index's memory as it is now. Those used longest ago go when there is too much. */
  private measure(held: HeldIndex): void {
    const { memory } = this.options;
    if (held.index.state === "dropped") return;
    const { bytes } = held.index;
    memory.bytes += bytes - held.bytes;
    held.bytes = bytes;
    while (memory.bytes > memory.bytesMax) {
      const oldest = bytes > memory.bytesMax ? held : usedLongestAgo(this.all());
      if (oldest === null) return;
      this.throwOut(oldest, "thrown out: the indexes in memory exceed their bound (storage.index_memory_bytes)");
      if (oldest === held) return;
    }
  }
}
