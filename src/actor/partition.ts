/**
 * One partition: its shard, the gate in front of its replies, and its tenants. Owned by one actor, which is the only
 * writer of the shard.
 */
import { join } from "node:path";
import type { Models } from "../ai/models.js";
import type { ClaimVerifier } from "../ai/nli/claim-verifier.js";
import type { CatalogView } from "../catalog/catalog-view.js";
import { createSequences, type Sequences } from "../catalog/sequences.js";
import { storageOf, type TableDef } from "../catalog/table.js";
import { DerivedIndexes } from "../derived/derived-indexes.js";
import type { Config } from "../protocol/config.js";
import { DbError } from "../protocol/errors.js";
import type { IdentityChange } from "../protocol/identity.js";
import { TENANTS_IN_MEMORY_MAX } from "../protocol/limits.js";
import type { PartitionMetrics } from "../protocol/messages.js";
import { createRowNumbers, type RowNumbers } from "../query/exec/row-numbers.js";
import type { SegmentCache } from "../query/exec/segments/segment-cache.js";
import { ColumnStore } from "../query/exec/segments/stored/column-store.js";
import type { SpillArea } from "../query/exec/spill/spill-area.js";
import { layoutOf, type TableLayout } from "../query/exec/table-layout.js";
import { InteractiveTransactions } from "../session/interactive-transactions.js";
import type { LongTasks } from "../session/long-tasks.js";
import { expectIndexes, followDefinitions, openSaved } from "../session/search-index-care.js";
import type { SlowStatements } from "../session/slow-statements.js";
import { Tenant, type TenantHost } from "../session/tenant.js";
import type { TenantProviders } from "../session/tenant-providers.js";
import { readsThrough } from "../storage/ending-branches.js";
import { finishBacklog } from "../storage/engine-has-all.js";
import { SPACE, tenantOfKey } from "../storage/keys.js";
import type { Operation } from "../storage/operation.js";
import type { Shard } from "../storage/shard.js";
import type { LoadPart } from "../storage/sorted-run.js";
import { type ActorShared, sharedByNobody } from "./actor-shared.js";
import { KeyBudgets } from "./key-budgets.js";
import { OutputGate } from "./output-gate.js";
import { type Follower, type PartitionPart, type PartitionPartKind, PartitionParts } from "./partition-part.js";
import type { Scheduler } from "./scheduler.js";
import type { StoppedStatements } from "./stopped-statements.js";
import { TenantPlaces } from "./tenant-places.js";

/** What is older counts little as recent load. */
const LOAD_MS = 30_000;
/** Of the time since the last look, the share in use from which on work that can wait does so. */
const BUSY_SHARE = 0.5;
/** How often idle tenants are looked for. */
const IDLE_LOOK_MS = 5_000;

export class Partition implements TenantHost {
  /** Vector and text indexes. */
  readonly derived: DerivedIndexes;
  /** Columns of long tables in files; null: there are none. */
  columns: ColumnStore | null = null;
  /** What the engine had when the shard was opened. */
  private readonly openedSequence: number;
  /** Tenants that are being moved, or have left. */
  readonly places: TenantPlaces;
  private readonly parts = new PartitionParts(this);
  readonly keyBudgets = new KeyBudgets(this);
  /** Backups that are being made. */
  readonly followers = new Set<Follower>();
  /** Copies of tenants that are on their way to other partitions. */
  readonly exports = new Map<number, Follower>();
  /** Time that the scheduler gave to requests of this partition. */
  readonly account = { usedMs: 0 };
  private load = 0;
  /** Lately most of the time was used. */
  private isBusy = false;
  private accountedMs = 0;
  private accountedAt = performance.now();
  readonly rowNumbers: RowNumbers;
  sequences: Sequences;
  private readonly tenants = new Map<number, Tenant>();
  /** All that have been in memory. */
  private readonly known = new Set<number>();
  /** Work in the background is to end. */
  isEnding = false;
  private uses = 0;
  /** When `uses` was how much, oldest first, and what it was one idle time ago. */
  private readonly marks: { readonly atMs: number; readonly uses: number }[] = [];
  private idleUses = 0;
  private idleLookedMs = 0;
  /** Whose large commit the engine is taking. */
  private backlogTenant: number | null = null;
  private isApplying = false;
  /** Commits since the last flush by tenant number. */
  private readonly writers = new Map<number, number>();
  /** Open transactions by tenant number. */
  private readonly transactions = new Map<number, InteractiveTransactions>();

  constructor(
    readonly number: number,
    readonly shard: Shard,
    readonly config: Config,
    /** Asks the mailbox to flush the shard at the end of this turn. */
    readonly flushSoon: () => void,
    readonly shared: ActorShared = sharedByNobody(config),
    /** Where indexes in memory are saved; null: nowhere. */
    indexDirectory: string | null = null,
    readonly gate = new OutputGate(),
  ) {
    const { indexes } = shared;
    this.derived = new DerivedIndexes({
      ...indexes,
      directory: indexDirectory,
      store: shard,
      keys: shard.options.keys ?? null,
      durable: () => this.durable(),
    });
    this.openedSequence = shard.appliedSequence;
    shard.onApplied = (operations) => this.applied(operations);
    shard.onAppliedLoad = (part) => this.appliedLoad(part);
    shard.onLarge = (commit) => {
      if (this.places.size === 0) this.columns?.loading(commit);
    };
    this.places = new TenantPlaces(shard, flushSoon);
    this.rowNumbers = this.freshRowNumbers();
    this.sequences = this.freshSequences();
    this.gate.open(shard.durableSequence);
    this.parts.openAll();
  }

  /** What a feature keeps beside the partition. */
  part<T extends PartitionPart>(kind: PartitionPartKind<T>): T {
    return this.parts.get(kind);
  }

  /**
   * From now on the columns of long tables are kept in files, if there is a thread that makes them. Resolves when those
   * that are there are open; scans of their tables wait until then.
   */
  async keepColumns(directory: string): Promise<void> {
    const { shared, shard, config } = this;
    const bytesMax = config.storage.columnFilesBytesMax;
    const build = shared.tasks?.buildColumns;
    if (build === undefined || bytesMax === 0 || shared.segments.bytesMax === 0) return;
    // Its files would not be encrypted.
    if (shard.options.keys != null) return;
    this.columns = new ColumnStore({
      directory: join(directory, "columns"),
      engineDirectory: join(directory, "rocksdb"),
      ...{ store: shard, layers: shard.layers, cache: shared.segments, bytesMax, build },
      readThreads: shared.tasks?.readThreads ?? null,
      openedSequence: this.openedSequence,
      turnsOf: shared.indexes.turnsOf,
      durable: () => this.durable(),
      isHere: (tenant) => this.tenants.has(tenant),
      layoutOf: (tenant, storageId) => this.layoutOf(tenant, storageId),
      mayGrow: () => shard.refusal === null && shard.failed === null,
      warn: (message) => shared.warn(message, { partition: this.number }),
    });
    await this.columns.open();
  }

  private layoutOf(tenant: number, storageId: number): TableLayout | null {
    // The thread that makes the files reads the engine's own files, where a branch has but what it changed.
    if (!this.places.isServed(tenant) || readsThrough(this.shard.layers, tenant)) return null;
    const isIt = (table: TableDef) => storageOf(table) === storageId;
    const unseen = this.tenants.get(tenant)?.unseen.get(storageId);
    const table = unseen ?? this.definitions(tenant, (catalog) => catalog.tables().find(isIt));
    return table === undefined ? null : layoutOf(table);
  }

  get segments(): SegmentCache {
    return this.shared.segments;
  }

  get spill(): SpillArea | null {
    return this.shared.spill;
  }

  get models(): Models {
    return this.shared.models;
  }

  get claims(): ClaimVerifier {
    return this.shared.claims;
  }

  get providers(): TenantProviders {
    return this.shared.providers;
  }

  get tasks(): LongTasks | null {
    return this.shared.tasks;
  }

  get slowStatements(): SlowStatements | null {
    return this.shared.slowStatements;
  }

  get stopped(): StoppedStatements | null {
    return this.shared.stopped;
  }

  /** From which tenants' own secrets are derived; null: there is no installation around the partition. */
  get secret(): Uint8Array | null {
    return this.shared.secret;
  }

  tenant(number: number): Tenant {
    let tenant = this.tenants.get(number);
    if (tenant === undefined) {
      tenant = new Tenant(this, number);
      // An object before this one may have committed what is not on disk yet, and nobody may hear of it sooner.
      tenant.mayHaveSeen(this.shard.committedSequence);
      this.tenants.set(number, tenant);
      this.known.add(number);
      if (this.places.isServed(number)) expectIndexes(tenant);
    }
    tenant.lastUse = ++this.uses;
    return tenant;
  }

  /** False once the tenant was forgotten: another object may represent it now, or none. */
  holds(tenant: Tenant): boolean {
    return this.tenants.get(tenant.number) === tenant;
  }

  wroteSomething(tenant: number): void {
    if (this.shard.hasBacklog) this.backlogTenant ??= tenant;
    this.writers.set(tenant, (this.writers.get(tenant) ?? 0) + 1);
    this.flushSoon();
  }

  /** The tenant's definitions as they are now. */
  definitions<T>(number: number, read: (catalog: CatalogView) => T): T {
    const tx = this.shard.begin({ readOnly: true });
    try {
      return read(this.tenant(number).catalog.view(tx));
    } finally {
      tx.rollback();
    }
  }

  onDisk(sequence: number): void {
    this.gate.open(sequence);
    for (const part of this.parts.all()) part.onDisk?.(sequence);
  }

  definitionsChanged(tenant: Tenant): void {
    for (const part of this.parts.all()) part.definitionsChanged?.(tenant);
    if (this.places.isServed(tenant.number)) followDefinitions(tenant);
  }

  /** Has indexes for search that were saved made again, in the background. */
  openSavedIndexes(): Promise<void> {
    return openSaved(this.derived, (number) => (this.places.get(number) === undefined ? this.tenant(number) : null));
  }

  /** Flushes the shard; `charge` receives the time of each tenant, by its share of the commits. */
  flush(charge: (tenant: number, ms: number) => void): void {
    const started = performance.now();
    this.shard.flush();
    const tookMs = performance.now() - started;
    let commits = 0;
    for (const count of this.writers.values()) commits += count;
    for (const [tenant, count] of this.writers) charge(tenant, (tookMs * count) / commits);
    this.writers.clear();
  }

  /**
   * Lets the engine take the large commit that was just made, in turns of the tenant that made it. Returns at once if
   * there is none, or if this is under way.
   */
  async applyBacklog(scheduler: Pick<Scheduler, "shouldYield" | "yieldTurn">): Promise<void> {
    const { shard, backlogTenant } = this;
    if (backlogTenant === null || this.isApplying) return;
    this.isApplying = true;
    const work = { usedMs: 0 };
    while (shard.hasBacklog) {
      await shard.backlogReady();
      do await scheduler.yieldTurn(backlogTenant, work);
      while (this.derived.isBehind);
      do shard.applySome();
      while (shard.canApplySome && !scheduler.shouldYield());
    }
    this.isApplying = false;
    this.backlogTenant = null;
  }

  /**
   * Forgets what is in memory of tenants that have been idle for the configured time, and of those used longest ago
   * past TENANTS_IN_MEMORY_MAX. `busy` ones, those with open transactions or sessions and those whose commits are on
   * their way to disk stay; and, unless there are too many, those with prepared statements, which exist nowhere else.
   */
  private forgetIdle(busy: ReadonlySet<Tenant>, idleBefore: number): void {
    let surplus = this.tenants.size - TENANTS_IN_MEMORY_MAX;
    const idle = [...this.tenants.values()].filter(
      (tenant) =>
        !busy.has(tenant) &&
        this.places.get(tenant.number) === undefined &&
        tenant.lastCommit <= this.shard.durableSequence &&
        tenant.liveSessions.size === 0 &&
        (this.transactions.get(tenant.number)?.size ?? 0) === 0,
    );
    if (surplus > 0) idle.sort((a, b) => a.lastUse - b.lastUse);
    for (const { number, lastUse, prepared } of idle) {
      if (surplus-- <= 0 && (lastUse > idleBefore || prepared.size > 0)) continue;
      this.sequences.release(number);
      this.forgetCaches(number);
      this.segments.restTenant(number);
    }
  }

  /** What `uses` was when the tenants that are idle now were used last; marks the time now and then. */
  private idleBefore(nowMs: number): number {
    const idleMs = this.config.limits.tenantIdleSeconds * 1000;
    this.marks.push({ atMs: nowMs, uses: this.uses });
    let uses = 0;
    while (this.marks.length > 0 && this.marks[0]!.atMs <= nowMs - idleMs) uses = this.marks.shift()!.uses;
    if (uses > 0) this.idleUses = uses;
    return this.idleUses;
  }

  /** The engine has taken these entries. Only the partition that serves a tenant keeps its segments. */
  private applied(operations: readonly Operation[]): void {
    for (const leaving of this.exports.values()) leaving.applied(operations);
    for (const follower of this.followers) follower.applied(operations);
    const { places } = this;
    const own = places.size === 0 ? operations : operations.filter(({ key }) => places.isServed(tenantOfKey(key)));
    this.segments.applied(own);
    this.columns?.applied(own);
    this.derived.applied(own);
  }

  /** The same of a part of a load, which is only taken apart for those who have to see each operation. */
  private appliedLoad(part: LoadPart): void {
    const { places, segments, derived } = this;
    const { prefix } = part.run;
    let apart: readonly Operation[] | null = null;
    const operations = (): readonly Operation[] => {
      apart ??= [...part];
      return apart;
    };
    for (const leaving of this.exports.values()) leaving.applied(operations());
    for (const follower of this.followers) follower.applied(operations());
    if (places.size > 0 && !places.isServed(tenantOfKey(prefix))) return;
    segments.appliedLoad(part);
    this.columns?.appliedLoad(part);
    if (prefix[4] === SPACE.rows && derived.followsRows(prefix)) derived.applied(operations());
  }

  /** Forgets what is in memory of a tenant, and its columns in files: it comes or goes. */
  forget(tenant: number): void {
    this.forgetCaches(tenant);
    this.segments.dropTenant(tenant);
  }

  /** After `close`, where the actor goes on: takes its tenants out of what partitions share, and answers them. */
  forgetAll(): Iterable<number> {
    // Those that were moved may be another partition's of the same actor.
    const own = [...this.known].filter((tenant) => this.places.get(tenant)?.kind !== "gone");
    for (const tenant of own) this.segments.dropTenant(tenant);
    return own;
  }

  private forgetCaches(tenant: number): void {
    this.tenants.delete(tenant);
    this.keyBudgets.forget(tenant);
    this.transactions.delete(tenant);
    this.rowNumbers.forget(tenant);
    this.sequences.forget(tenant);
    this.columns?.forgetTenant(tenant);
    this.derived.dropTenant(tenant);
  }

  /** Those that asked for something since the partition was opened. */
  activeTenants(): IterableIterator<Tenant> {
    return this.tenants.values();
  }

  transactionsOf(tenant: Tenant): InteractiveTransactions {
    let transactions = this.transactions.get(tenant.number);
    if (transactions === undefined) {
      transactions = new InteractiveTransactions(tenant);
      this.transactions.set(tenant.number, transactions);
    }
    return transactions;
  }

  /**
   * Commits from `first` on were undone because the disk refused them. Whatever was derived from them goes: replies
   * that have seen them fail, and the tenants' caches and open transactions are dropped.
   */
  undo(first: number, error: DbError): void {
    for (const transactions of this.transactions.values()) transactions.endAll(error.message);
    this.transactions.clear();
    // Their sequences are given to other commits.
    for (const tenant of this.tenants.values()) tenant.undone(first);
    this.tenants.clear();
    // Row numbers stay: those that older transactions have taken are not given out again.
    this.sequences = this.freshSequences();
    this.gate.refuse(first, error);
    for (const part of this.parts.all()) part.undone?.();
  }

  /** Ends transactions that ran past their deadline; `busy` are the tenants with running requests. */
  sweep(nowMs: number, busy: ReadonlySet<Tenant>): void {
    for (const transactions of this.transactions.values()) transactions.sweep(nowMs);
    this.measureLoad();
    for (const part of this.parts.all()) part.sweep?.(nowMs);
    this.keyBudgets.save();
    this.columns?.sweep(this.isBusy);
    if (nowMs - this.idleLookedMs < IDLE_LOOK_MS && this.tenants.size <= TENANTS_IN_MEMORY_MAX) return;
    this.idleLookedMs = nowMs;
    this.forgetIdle(busy, this.idleBefore(nowMs));
  }

  /** Whole tables had better be read later: the thread is busy, the engine behind, or their columns are being made. */
  get isBadTimeToRead(): boolean {
    return this.isBusy || this.shard.hasBacklog || this.columns?.isBehind === true;
  }

  /** A mean of the share of time in use that forgets what is older than some LOAD_MS. */
  private measureLoad(): void {
    const now = performance.now();
    const passedMs = now - this.accountedAt;
    if (passedMs <= 0) return;
    const share = (this.account.usedMs - this.accountedMs) / passedMs;
    this.isBusy = share > BUSY_SHARE;
    this.load += (share - this.load) * (1 - Math.exp(-passedMs / LOAD_MS));
    this.accountedAt = now;
    this.accountedMs = this.account.usedMs;
  }

  /** Rolls back their open transactions and fails their background jobs. */
  identityEnded(change: IdentityChange): void {
    const reason = "who began it was disabled or removed";
    for (const transactions of this.transactions.values()) transactions.endOf(change, reason);
    const error = new DbError("unauthorized", `The job was ended: ${reason}.`);
    for (const part of this.parts.all()) part.identityEnded?.(change, error);
  }

  /** `loadsUntil`: a time of performance.now until which what was loaded last may still become columns. */
  async close(loadsUntil = 0): Promise<void> {
    for (const transactions of this.transactions.values()) transactions.endAll("the server is shutting down");
    this.keyBudgets.save(Number.POSITIVE_INFINITY);
    await finishBacklog(this.shard);
    await this.derived.close();
    await this.columns?.close(loadsUntil);
    await this.shard.close();
  }

  /** Work in the background ends the next time that it gives way. */
  endWork(): void {
    this.isEnding = true;
    this.derived.endWork();
    this.columns?.endWork();
  }

  /** Resolves when everything that was flushed is on disk. */
  durable(): Promise<void> {
    // Its gate opens no more.
    if (this.shard.failed !== null) return Promise.reject(this.shard.failed);
    return new Promise((resolve, reject) => this.gate.pass(this.shard.committedSequence, resolve, reject));
  }

  get metrics(): Omit<PartitionMetrics, "requestsHeld"> {
    const { syncMicros, syncMicrosMax, ...shard } = this.shard.metrics;
    const caches = Array.from(this.tenants.values(), ({ plans }) => plans);
    const planCache = (what: "hits" | "misses" | "size") => caches.reduce((sum, plans) => sum + plans[what], 0);
    return {
      partition: this.number,
      ...shard,
      syncSeconds: syncMicros / 1e6,
      syncSecondsMax: syncMicrosMax / 1e6,
      planCacheHits: planCache("hits"),
      planCacheMisses: planCache("misses"),
      planCacheEntries: planCache("size"),
      repliesAtGate: this.gate.waiting,
      subscriptions: 0,
      tablesFollowed: 0,
      changeHistoryBytes: 0,
      jobs: [],
      engine: this.shard.engine.metrics(),
      recordCache: this.shard.engine.recordCache(),
      storedBytes: this.shard.engine.storedBytes(),
      columnFileBytes: this.columns?.bytes ?? 0,
      load: this.load,
      tenantsInMemory: this.tenants.size,
      ...this.derived.metrics,
      ...Object.assign({}, ...[...this.parts.all()].map((part) => part.metrics?.())),
    };
  }

  private freshRowNumbers(): RowNumbers {
    return createRowNumbers(() => this.shard.begin({ readOnly: true }));
  }

  private freshSequences(): Sequences {
    return createSequences(() => {
      // A reserved block is written even when the statement that asked for it writes nothing.
      this.flushSoon();
      return this.shard.begin();
    });
  }
}
