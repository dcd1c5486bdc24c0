/**
 * The changes of a partition as they are committed, for the followers of tables. The life of a change:
 *
 *  1. `committing`: while a commit is made, the shard asks what the rows of watched tables hold before. That goes into
 *     the commit log with the commit and, with the writes, into the list of what is not on disk yet.
 *  2. `durable`: the commit is on disk, and its changes go to the table's watch (table-watch.ts), which hands them to
 *     the followers and keeps them for a while.
 *  3. A client that comes back later is served from there, or from the commit log (log-changes.ts).
 *
 * While nobody follows anything the shard has no watcher, and a commit costs one comparison. A table stays watched for
 * the configured window after its last follower left, across restarts too (watch-records.ts). Owned by the partition.
 */
import type { CatalogView } from "../../catalog/catalog-view.js";
import { storageOf, type TableDef } from "../../catalog/table.js";
import type { Config } from "../../protocol/config.js";
import type { TenantMemory } from "../../protocol/placement.js";
import { SPACE, storageIdOf, tenantOfKey } from "../../storage/keys.js";
import type { Operation } from "../../storage/operation.js";
import type { Shard } from "../../storage/shard.js";
import type { CommitWatcher } from "../../storage/shard-options.js";
import { readLogChanges } from "./log-changes.js";
import type { ChangedRow, RowChange, TableEvent } from "./row-change.js";
import { TableWatch } from "./table-watch.js";
import { type WatchRecord, WatchRecords } from "./watch-records.js";

/** Bound on changes of watched tables in one commit; with more, followers are told to load the table again. */
const CHANGES_PER_COMMIT_MAX = 200_000;

/** What waits for the disk, of one commit. */
type Pending =
  | { readonly sequence: number; readonly micros: number; readonly rows: ReadonlyMap<TableWatch, ChangedRow[]> }
  | { readonly sequence: number; readonly watch: TableWatch; readonly event: TableEvent; readonly micros: number };

/** Watches of one tenant. */
interface Watches {
  readonly byTable: Map<number, TableWatch>;
  readonly byStorage: Map<number, TableWatch[]>;
}

export interface FeedHost {
  readonly shard: Shard;
  readonly config: Config["changes"];
  flushSoon(): void;
  /** The tenant's definitions as they are now. */
  definitions<T>(tenant: number, read: (catalog: CatalogView) => T): T;
}

export class ChangeFeed implements CommitWatcher {
  private readonly records: WatchRecords;
  private readonly tenants = new Map<number, Watches>();
  /** Records of tables that nobody has asked for since the start. */
  private unread: WatchRecord[];
  /** Records of tables that are gone. */
  private gone: WatchRecord[] = [];
  private pending: Pending[] = [];
  /** Time of the newest change on disk. */
  private newestDurableMicros: number;
  /** Reads of the log that are under way, by watch. */
  private readonly reading = new Map<TableWatch, Promise<void>>();

  constructor(private readonly host: FeedHost) {
    this.records = new WatchRecords(host.shard, () => host.flushSoon());
    this.newestDurableMicros = host.shard.lastMicros;
    const now = Date.now();
    const records = this.records.load();
    this.unread = records.filter(({ untilMs }) => untilMs > now);
    this.watchOrNot();
  }

  /** Changes that are kept in memory for those who come back soon. */
  get historyBytes(): number {
    let bytes = 0;
    for (const { byTable } of this.tenants.values()) for (const watch of byTable.values()) bytes += watch.historyBytes;
    return bytes;
  }

  /** Time of the newest change on disk: a client that has seen everything up to it has missed nothing. */
  get durableMicros(): number {
    return this.newestDurableMicros;
  }

  /** Tables that are watched. */
  get size(): number {
    let size = this.unread.length;
    for (const { byTable } of this.tenants.values()) size += byTable.size;
    return size;
  }

  /** Has the table watched from now on. What is answered may be followed once the tenant's commits are on disk. */
  watch(tenant: number, table: TableDef, catalog: CatalogView): TableWatch {
    this.readRecords(tenant);
    const known = this.tenants.get(tenant)?.byTable.get(table.id);
    if (known !== undefined) {
      this.renew([known]);
      return known;
    }
    const now = this.host.shard.lastMicros;
    const watch = this.make(tenant, table, catalog, now, now);
    this.renew([watch]);
    this.watchOrNot();
    return watch;
  }

  /** `now`: all changes after it will be heard of. */
  private make(tenant: number, table: TableDef, catalog: CatalogView, since: number, now: number): TableWatch {
    const { config } = this.host;
    const family = familyOf(table, catalog);
    const { memoryBytes } = config;
    const watch = new TableWatch({ tenant, table, family, since, now, memoryBytes });
    let watches = this.tenants.get(tenant);
    if (watches === undefined) {
      watches = { byTable: new Map(), byStorage: new Map() };
      this.tenants.set(tenant, watches);
    }
    watches.byTable.set(table.id, watch);
    indexStorage(watches);
    return watch;
  }

  /**
   * Of watches from before the start nothing is known but their records, until something is asked for of the tenant.
   */
  private readRecords(tenant: number, now = this.host.shard.lastMicros): void {
    const records = this.unread.filter((record) => record.tenant === tenant);
    if (records.length === 0) return;
    this.unread = this.unread.filter((record) => record.tenant !== tenant);
    this.host.definitions(tenant, (catalog) => {
      for (const record of records) {
        const table = catalog.tableById(record.tableId);
        // Perhaps a commit is being made: nothing is written now.
        if (table === null) this.gone.push(record);
        else this.make(tenant, table, catalog, record.since, now).untilMs = record.untilMs;
      }
    });
  }

  /** Writes records that have less than half of the window left. */
  private renew(watches: readonly TableWatch[]): void {
    const windowMs = this.host.config.windowSeconds * 1000;
    const now = Date.now();
    const put: WatchRecord[] = [];
    for (const watch of watches) {
      if (watch.untilMs > now + windowMs) continue;
      // One window from the time when the last follower may leave, which is half a window from now.
      watch.untilMs = now + windowMs * 1.5;
      put.push({ tenant: watch.tenant, tableId: watch.tableId, since: watch.since, untilMs: watch.untilMs });
    }
    this.records.write(put, []);
  }

  private rewrite({ tenant, tableId, since, untilMs }: TableWatch): void {
    this.records.write([{ tenant, tableId, since, untilMs }], []);
  }

  private watchOrNot(): void {
    const { shard, config } = this.host;
    const isWatched = this.size > 0;
    shard.watcher = isWatched ? this : null;
    const afterMicros = (Date.now() - config.windowSeconds * 1000) * 1000;
    shard.log.keeps = isWatched ? { afterMicros, bytesMax: config.logBytesMax } : null;
  }

  committing(sequence: number, micros: number, writes: Iterable<Operation>): readonly Operation[] | undefined {
    let tenant = -1;
    let watches: Watches | undefined;
    let rows: Map<TableWatch, ChangedRow[]> | null = null;
    const before: Operation[] = [];
    for (const { key, value } of writes) {
      if (key[4] !== SPACE.rows) continue;
      const owner = tenantOfKey(key);
      if (owner !== tenant) {
        watches = this.watchesOf(owner, micros);
        tenant = owner;
      }
      const storageId = storageIdOf(key);
      const interested = watches?.byStorage.get(storageId);
      if (interested === undefined) continue;
      const at = micros + before.length;
      if (before.length >= CHANGES_PER_COMMIT_MAX) {
        this.overflowed(watches!, sequence, at);
        return before;
      }
      const old = this.host.shard.newestOf(key) ?? null;
      before.push({ key, value: old });
      rows ??= new Map();
      for (const watch of interested) {
        const row = watch.rowOf({ micros: at, storageId, before: old, after: value });
        const list = rows.get(watch);
        if (list === undefined) rows.set(watch, [row]);
        else list.push(row);
      }
    }
    if (rows === null) return undefined;
    this.pending.push({ sequence, micros: micros + before.length - 1, rows });
    return before;
  }

  watches(prefix: Uint8Array, micros: number): boolean {
    if (prefix[4] !== SPACE.rows) return false;
    return this.watchesOf(tenantOfKey(prefix), micros)?.byStorage.has(storageIdOf(prefix)) === true;
  }

  /** `micros`: of a commit that is being made. It has its time already, and its changes come after the one before. */
  private watchesOf(tenant: number, micros: number): Watches | undefined {
    if (this.unread.length > 0) this.readRecords(tenant, micros - 1);
    return this.tenants.get(tenant);
  }

  /** A commit changes more than can be told. */
  private overflowed(watches: Watches, sequence: number, micros: number): void {
    for (const watch of watches.byTable.values()) {
      watch.restart(micros);
      this.pending.push({ sequence, watch, event: "truncated", micros });
    }
  }

  undone(first: number): void {
    this.pending = this.pending.filter(({ sequence }) => sequence < first);
  }

  /** Everything up to `sequence` is on disk. */
  durable(sequence: number): void {
    const { shard } = this.host;
    const { length } = this.pending;
    let count = 0;
    while (count < length && this.pending[count]!.sequence <= sequence) count++;
    const ready = this.pending.splice(0, count);
    for (const pending of ready) this.hand(pending);
    if (sequence === shard.committedSequence) this.newestDurableMicros = shard.lastMicros;
  }

  private hand(pending: Pending): void {
    if ("event" in pending) {
      const { watch, event, micros } = pending;
      this.newestDurableMicros = Math.max(this.newestDurableMicros, micros);
      for (const follower of [...watch.followers]) follower.happened(event, micros);
      if (event === "dropped") this.forget(watch);
      return;
    }
    this.newestDurableMicros = Math.max(this.newestDurableMicros, pending.micros);
    for (const [watch, rows] of pending.rows) watch.deliver(rows);
  }

  private forget(watch: TableWatch): void {
    const watches = this.tenants.get(watch.tenant);
    if (watches?.byTable.get(watch.tableId) !== watch) return;
    watches.byTable.delete(watch.tableId);
    if (watches.byTable.size === 0) this.tenants.delete(watch.tenant);
    else indexStorage(watches);
    this.records.write([], [watch]);
    this.watchOrNot();
  }

  /** A commit of the tenant has changed its definitions. */
  definitionsChanged(tenant: number): void {
    const watches = this.tenants.get(tenant);
    if (watches === undefined) return;
    const { shard } = this.host;
    const sequence = shard.committedSequence;
    this.host.definitions(tenant, (catalog) => {
      for (const watch of watches.byTable.values()) {
        const table = catalog.tableById(watch.tableId);
        if (table === null) {
          this.pending.push({ sequence, watch, event: "dropped", micros: shard.lastMicros });
          continue;
        }
        const { table: before, since } = watch;
        watch.redefine(table, familyOf(table, catalog), shard.lastMicros);
        if (table === before && watch.since === since) continue;
        const event = watch.since === since ? "altered" : eventOf(before, table);
        this.pending.push({ sequence, watch, event, micros: shard.lastMicros });
        if (watch.since !== since) this.rewrite(watch);
      }
    });
    indexStorage(watches);
  }

  /**
   * Changes after that time, all that are on disk at this moment; null: they have to be read of the log first, which
   * `readBack` does.
   */
  changesAfter(watch: TableWatch, micros: number): readonly RowChange[] | null {
    return watch.changesAfter(micros);
  }

  /** Reads changes of the log into memory: as far back as that can be, and fit. */
  readBack(watch: TableWatch, turn: () => Promise<void>): Promise<void> {
    let reading = this.reading.get(watch);
    if (reading === undefined) {
      reading = this.readBackFrom(watch, turn).finally(() => this.reading.delete(watch));
      this.reading.set(watch, reading);
    }
    return reading;
  }

  private async readBackFrom(watch: TableWatch, turn: () => Promise<void>): Promise<void> {
    const upTo = watch.historySince;
    const { shard, config } = this.host;
    const range = { tenant: watch.tenant, storageIds: new Set(watch.storageIds), after: watch.since, upTo };
    const found = await readLogChanges(shard.log, range, config.memoryBytes / 2, turn);
    if (watch.historySince === upTo) watch.prepend(found.changes, found.since);
  }

  /** Called now and then. */
  sweep(nowMs: number): void {
    if (this.size + this.gone.length === 0) return;
    const followed: TableWatch[] = [];
    const expired: TableWatch[] = [];
    const windowSince = (nowMs - this.host.config.windowSeconds * 1000) * 1000;
    for (const { byTable } of this.tenants.values()) {
      for (const watch of byTable.values()) {
        watch.forgetUntil(windowSince);
        if (watch.followers.size > 0) followed.push(watch);
        else if (watch.untilMs < nowMs) expired.push(watch);
      }
    }
    this.renew(followed);
    for (const watch of expired) this.forget(watch);
    const old = this.unread.filter(({ untilMs }) => untilMs <= nowMs);
    if (old.length > 0) this.unread = this.unread.filter(({ untilMs }) => untilMs > nowMs);
    this.records.write([], [...old, ...this.gone.splice(0)]);
    this.watchOrNot();
  }

  /** The tenant goes to another partition: its watches, which end here. */
  leave(tenant: number): TenantMemory["watched"] {
    this.readRecords(tenant);
    const watches = [...(this.tenants.get(tenant)?.byTable.values() ?? [])];
    const tables = watches.map(({ tableId, lastChange }) => ({ id: tableId, lastChange }));
    return { tables, lastMicros: this.host.shard.lastMicros };
  }

  left(tenant: number): void {
    this.readRecords(tenant);
    for (const watch of [...(this.tenants.get(tenant)?.byTable.values() ?? [])]) this.forget(watch);
  }

  /** The tenant has arrived with its watches; nothing of it has changed since they ended. */
  arrived(tenant: number, { tables, lastMicros }: TenantMemory["watched"]): void {
    this.host.shard.advanceTime(lastMicros);
    this.left(tenant);
    this.host.definitions(tenant, (catalog) => {
      for (const { id, lastChange } of tables) {
        const table = catalog.tableById(id);
        if (table !== null) this.renew([this.make(tenant, table, catalog, lastChange, lastChange)]);
      }
    });
    this.watchOrNot();
  }
}

function indexStorage({ byTable, byStorage }: Watches): void {
  byStorage.clear();
  for (const watch of byTable.values()) {
    for (const id of watch.storageIds) {
      const list = byStorage.get(id);
      if (list === undefined) byStorage.set(id, [watch]);
      else list.push(watch);
    }
  }
}

/** The table, and those below it whose rows are its rows, too. */
export function familyOf(table: TableDef, catalog: CatalogView): readonly TableDef[] {
  const below = (table.children ?? []).flatMap((id) => {
    const child = catalog.tableById(id);
    return child === null ? [] : familyOf(child, catalog);
  });
  return [table, ...below];
}

/** Other storage with the same columns: the rows have gone. */
function eventOf(before: TableDef, after: TableDef): TableEvent {
  if (storageOf(before) === storageOf(after)) return "altered";
  return before.columns === after.columns || JSON.stringify(shapeOf(before)) === JSON.stringify(shapeOf(after))
    ? "truncated"
    : "altered";
}

function shapeOf({ columns, primaryKey }: TableDef): object {
  return { columns: columns.map(({ id, type, notNull }) => [id, type.name, type.modifier, notNull]), primaryKey };
}
