/**
 * The indexes in memory of one partition, each made when it is first asked for: their lives, their share of the memory,
 * and the files that let them start fast. Whoever has no index that is ready reads records instead, so nothing here is
 * ever waited for. Owned by the partition, which tells it of all that the engine takes (`applied`).
 */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { SPACE, storageIdOf, tenantOfKey } from "../storage/keys.js";
import type { Operation } from "../storage/operation.js";
import { DerivedIndex, type IndexPlace, type IndexStore, type Turns } from "./derived-index.js";
import type { IndexBody, IndexKind } from "./index-body.js";
import { writeIndexFile } from "./index-file.js";

/** Changes before an index is saved while the server runs: so many, and so large a part of it. */
const UNSAVED_MIN = 10_000;
const UNSAVED_SHARE = 0.2;

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
  /** Turns of the tenant's own for work in the background. */
  readonly turnsOf: (tenantNumber: number) => Turns;
  /** Resolves when all that was committed so far is on disk. */
  readonly durable: () => Promise<void>;
  /** Something went wrong that costs only time. */
  readonly warn: (message: string, place: IndexPlace) => void;
}

interface Held {
  readonly index: DerivedIndex;
  /** Counted in the memory. */
  bytes: number;
  lastUse: number;
  /** Work in the background goes on. */
  working: Promise<void> | null;
}

/** What can be said of an index that is held. */
export interface IndexProgress {
  readonly state: "opening" | "ready";
  readonly rowsRead: number;
  readonly count: number;
  readonly bytes: number;
  /** Work is left that makes searches faster. */
  readonly hasWork: boolean;
  /** Items that this work is about. */
  readonly waiting: number;
}

export class DerivedIndexes {
  /** By tenant, then by index id. */
  private readonly tenants = new Map<number, Map<number, Held>>();
  /** Those of a table, by "tenant/table". */
  private readonly tables = new Map<string, Held[]>();
  private readonly saving = new Set<Promise<void>>();
  private uses = 0;
  private isClosing = false;

  constructor(private readonly options: DerivedIndexesOptions) {}

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
      held !== undefined &&
      (held.index.kind.definition !== kind.definition || held.index.place.storageId !== place.storageId);
    if (isOther) {
      this.drop(held!);
      held = undefined;
    }
    if (held === undefined) {
      if (this.isClosing || this.options.memory.bytes >= this.options.memory.bytesMax) return null;
      held = this.make(place, kind as unknown as IndexKind<unknown, IndexBody<unknown>>);
    }
    held.lastUse = ++this.uses;
    return held.index.state === "ready" ? (held.index as unknown as DerivedIndex<Item, Body>) : null;
  }

  /** Of an index that is held; null: it has not been asked for, or was thrown out. */
  progress(tenantNumber: number, indexId: number): IndexProgress | null {
    const index = this.tenants.get(tenantNumber)?.get(indexId)?.index;
    if (index === undefined || index.state === "dropped") return null;
    const { state, rowsRead, count, bytes } = index;
    const { hasWork, waitingCount = 0 } = index.body;
    return { state, rowsRead, count, bytes, hasWork, waiting: waitingCount };
  }

  /** What the engine has just taken. */
  applied(operations: readonly Operation[]): void {
    if (this.tables.size === 0) return;
    for (const operation of operations) {
      const { key } = operation;
      if (key[4] !== SPACE.rows) continue;
      const indexes = this.tables.get(tableName(tenantOfKey(key), storageIdOf(key)));
      if (indexes === undefined) continue;
      for (const held of indexes) {
        held.index.applied(operation);
        if (held.working === null) this.startWork(held);
      }
    }
  }

  /** Throws out what there is of a tenant, having it saved. */
  dropTenant(tenantNumber: number): void {
    for (const held of [...(this.tenants.get(tenantNumber)?.values() ?? [])]) {
      const saving = this.save(held).finally(() => this.saving.delete(saving));
      this.saving.add(saving);
      this.drop(held);
    }
  }

  /** The tenant's index is no more, or another definition has its place. */
  async dropIndex(tenantNumber: number, indexId: number): Promise<void> {
    const held = this.tenants.get(tenantNumber)?.get(indexId);
    if (held !== undefined) this.drop(held);
    const path = this.pathOf({ tenantNumber, indexId });
    if (path !== null) await rm(path, { force: true });
  }

  /** Resolves when no work is going on. */
  async idle(): Promise<void> {
    for (;;) {
      const working = [...this.tenants.values()]
        .flatMap((held) => [...held.values()])
        .flatMap((one) => one.working ?? []);
      if (working.length === 0) return;
      await Promise.all(working);
    }
  }

  /** Saves what changed and ends all work. */
  async close(): Promise<void> {
    this.isClosing = true;
    const all = [...this.tenants.values()].flatMap((indexes) => [...indexes.values()]);
    await Promise.all(all.map(({ working }) => working));
    for (const held of all) {
      held.index.fold(() => false);
      await this.save(held);
      this.drop(held);
    }
    await Promise.all(this.saving);
  }

  private make(place: IndexPlace, kind: IndexKind<unknown, IndexBody<unknown>>): Held {
    const index = new DerivedIndex(place, kind, this.options.store);
    const held: Held = { index, bytes: 0, lastUse: ++this.uses, working: null };
    const { tenantNumber, storageId, indexId } = place;
    let indexes = this.tenants.get(tenantNumber);
    if (indexes === undefined) {
      indexes = new Map();
      this.tenants.set(tenantNumber, indexes);
    }
    indexes.set(indexId, held);
    const name = tableName(tenantNumber, storageId);
    this.tables.set(name, [...(this.tables.get(name) ?? []), held]);
    this.startWork(held);
    return held;
  }

  private drop(held: Held): void {
    const { index } = held;
    if (index.state === "dropped") return;
    index.state = "dropped";
    this.options.memory.bytes -= held.bytes;
    held.bytes = 0;
    const { tenantNumber, storageId, indexId } = index.place;
    const indexes = this.tenants.get(tenantNumber)!;
    indexes.delete(indexId);
    if (indexes.size === 0) this.tenants.delete(tenantNumber);
    const name = tableName(tenantNumber, storageId);
    const others = this.tables.get(name)!.filter((other) => other !== held);
    if (others.length === 0) this.tables.delete(name);
    else this.tables.set(name, others);
  }

  private startWork(held: Held): void {
    held.working = this.work(held)
      .catch((error: unknown) => {
        this.drop(held);
        if (!this.isClosing) this.options.warn(String(error), held.index.place);
      })
      .finally(() => {
        held.working = null;
        // What arrived while it was being saved.
        if (held.index.state === "ready" && held.index.entries.size > 0 && !this.isClosing) this.startWork(held);
      });
  }

  /** Opens the index, puts what arrived into it, makes it faster, saves it: until there is nothing left to do. */
  private async work(held: Held): Promise<void> {
    const { index } = held;
    const turns = this.turnsOf(held);
    await turns.yieldTurn();
    if (index.state === "opening") {
      const path = this.pathOf(index.place);
      await index.open(path, turns, (reason) => this.options.warn(`${path}: ${reason}; it is made anew`, index.place));
      index.unsaved = index.rowsRead;
    }
    for (;;) {
      while (!index.fold(turns.shouldYield)) await turns.yieldTurn();
      this.measure(held);
      if (!index.body.hasWork) break;
      do index.body.work();
      while (index.body.hasWork && !turns.shouldYield());
      await turns.yieldTurn();
    }
    if (index.unsaved >= UNSAVED_MIN && index.unsaved >= UNSAVED_SHARE * index.count) await this.save(held);
  }

  /** Turns of the index's tenant, until the index is dropped or the partition closes. */
  private turnsOf({ index }: Held): Turns {
    const turns = this.options.turnsOf(index.place.tenantNumber);
    const check = () => {
      if (index.state === "dropped" || this.isClosing) throw new Error("the index is not needed any more");
    };
    return {
      shouldYield: () => turns.shouldYield(),
      yieldTurn: async () => {
        check();
        await turns.yieldTurn();
        check();
      },
    };
  }

  private async save(held: Held): Promise<void> {
    const { index } = held;
    const path = this.pathOf(index.place);
    const content = path === null || index.unsaved === 0 ? null : index.content();
    if (path === null || content === null) return;
    const { unsaved } = index;
    try {
      await writeIndexFile(path, content, this.options.durable);
      index.unsaved -= unsaved;
    } catch (error) {
      this.options.warn(`${path}: ${(error as Error).message}; the index is made anew at the next start`, index.place);
    }
  }

  /** Counts the index's memory as it is now. Those used longest ago go when there is too much. */
  private measure(held: Held): void {
    const { memory } = this.options;
    const { bytes } = held.index;
    memory.bytes += bytes - held.bytes;
    held.bytes = bytes;
    while (memory.bytes > memory.bytesMax) {
      const oldest = this.usedLongestAgo();
      if (oldest === null) return;
      this.drop(oldest);
      this.options.warn(
        "thrown out: the indexes in memory exceed their bound (storage.index_memory_bytes)",
        oldest.index.place,
      );
    }
  }

  private usedLongestAgo(): Held | null {
    let oldest: Held | null = null;
    for (const indexes of this.tenants.values()) {
      for (const held of indexes.values()) if (oldest === null || held.lastUse < oldest.lastUse) oldest = held;
    }
    return oldest;
  }

  private pathOf({ tenantNumber, indexId }: Pick<IndexPlace, "tenantNumber" | "indexId">): string | null {
    const { directory } = this.options;
    return directory === null ? null : join(directory, `${tenantNumber}-${indexId}.idx`);
  }
}

function tableName(tenantNumber: number, storageId: number): string {
  return `${tenantNumber}/${storageId}`;
}
