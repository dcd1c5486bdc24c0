/**
 * One partition: its shard, the gate in front of its replies, and its tenants. Owned by one actor, which is the only
 * writer of the shard.
 */

import { Models } from "../ai/models.js";
import { modelsOptions } from "../ai/models-options.js";
import { ClaimVerifier } from "../ai/nli/claim-verifier.js";
import { claimVerifierOptions } from "../ai/nli/claim-verifier-options.js";
import type { CatalogView } from "../catalog/catalog-view.js";
import { createSequences, type Sequences } from "../catalog/sequences.js";
import { DerivedIndexes, type DerivedIndexesOptions } from "../derived/derived-indexes.js";
import { ChangeFeed } from "../features/feed/change-feed.js";
import { Subscriptions } from "../features/feed/subscriptions.js";
import { registerAlgorithms } from "../features/graph/algorithm-procedures.js";
import { registerLanguageFunctions } from "../features/language/language-functions.js";
import { registerMemory } from "../features/memory/memory-functions.js";
import type { Config } from "../protocol/config.js";
import { DbError } from "../protocol/errors.js";
import type { IdentityChange } from "../protocol/identity.js";
import { TENANTS_IN_MEMORY_MAX } from "../protocol/limits.js";
import type { PartitionMetrics } from "../protocol/messages.js";
import { createRowNumbers, type RowNumbers } from "../query/exec/row-numbers.js";
import { SegmentCache } from "../query/exec/segments/segment-cache.js";
import type { SpillArea } from "../query/exec/spill/spill-area.js";
import { registerTableFunction } from "../query/expr/functions/table-registry.js";
import { InteractiveTransactions } from "../session/interactive-transactions.js";
import type { LongTasks } from "../session/long-tasks.js";
import { followDefinitions, openSaved } from "../session/search-index-care.js";
import type { SlowStatements } from "../session/slow-statements.js";
import type { StoppedStatements } from "../session/stopped-statements.js";
import { Tenant, type TenantHost } from "../session/tenant.js";
import { TenantProviders } from "../session/tenant-providers.js";
import { SQL_MANUAL } from "../sql/manual/manual.js";
import { tenantOfKey } from "../storage/keys.js";
import type { Operation } from "../storage/operation.js";
import type { Shard } from "../storage/shard.js";
import { BackgroundJobs } from "./background/background-jobs.js";
import { FILE_JOBS } from "./background/job-records.js";
import { ProgressHub } from "./background/progress-hub.js";
import { OutputGate } from "./output-gate.js";
import type { Scheduler } from "./scheduler.js";
import { TenantPlaces } from "./tenant-places.js";

registerTableFunction(SQL_MANUAL);
registerAlgorithms();
registerMemory();
registerLanguageFunctions();

/** Told of all that the engine takes. */
export interface Follower {
  applied(operations: readonly Operation[]): void;
}

/** What indexes in memory need beside the partition. */
export type IndexSurroundings = Omit<DerivedIndexesOptions, "store" | "durable">;

/** Without files, with turns of the loop for turns: for a partition without an actor. */
function indexesBesides(config: Config): IndexSurroundings {
  const turns = {
    shouldYield: () => true,
    yieldTurn: () => new Promise<void>((resolve) => setImmediate(resolve)),
  };
  const memory = { bytes: 0, bytesMax: config.storage.indexMemoryBytes };
  return { directory: null, memory, turnsOf: () => turns, warn: () => undefined };
}

/** What is older counts little as recent load. */
const LOAD_MS = 30_000;

/** How often idle tenants are looked for. */
const IDLE_LOOK_MS = 5_000;

export class Partition implements TenantHost {
  readonly gate = new OutputGate();
  /** Vector and text indexes. */
  readonly derived: DerivedIndexes;
  /** Tenants that are being moved, or have left. */
  readonly places: TenantPlaces;
  /** Changes as they are committed, and who follows them. */
  readonly feed: ChangeFeed;
  readonly subscriptions: Subscriptions;
  /** Work that no client waits for, and who follows it. */
  readonly jobs: BackgroundJobs;
  readonly progress: ProgressHub;
  /** From which tenants' own secrets are derived; null: there is no installation around the partition. */
  installationSecret: Uint8Array | null = null;
  /** Backups that are being made. */
  readonly followers = new Set<Follower>();
  /** Copies of tenants that are on their way to other partitions. */
  readonly exports = new Map<number, Follower>();
  /** Null: none is looked for. */
  slowStatements: SlowStatements | null = null;
  /** Likewise. */
  stopped: StoppedStatements | null = null;
  /** Time that the scheduler gave to requests of this partition. */
  readonly account = { usedMs: 0 };
  private load = 0;
  private accountedMs = 0;
  private accountedAt = performance.now();
  rowNumbers: RowNumbers;
  sequences: Sequences;
  private readonly tenants = new Map<number, Tenant>();
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
    private readonly flushSoon: () => void,
    /** Shared by the partitions of an actor. */
    readonly segments = new SegmentCache(config.storage.columnSegmentBytes),
    /** Likewise; null: statements must fit into their memory. */
    readonly spill: SpillArea | null = null,
    indexes: IndexSurroundings = indexesBesides(config),
    /** Shared as well. */
    readonly models = new Models(modelsOptions(config)),
    /** Null: there are no task threads. */
    readonly tasks: LongTasks | null = null,
    /** Shared, too. */
    readonly providers = new TenantProviders(config, models),
    /** Shared. */
    readonly claims = new ClaimVerifier(claimVerifierOptions(config, models)),
  ) {
    this.derived = new DerivedIndexes({ ...indexes, store: shard, durable: () => this.durable() });
    shard.onApplied = (operations) => this.applied(operations);
    this.places = new TenantPlaces(shard, flushSoon);
    this.feed = new ChangeFeed({
      shard,
      config: config.changes,
      flushSoon,
      definitions: (tenant, read) => this.readDefinitions(tenant, read),
    });
    this.subscriptions = new Subscriptions(this);
    this.jobs = new BackgroundJobs({
      shard,
      flushSoon,
      durable: () => this.durable(),
      isServed: (tenant) => this.places.get(tenant) === undefined,
      hasLeft: (tenant) => this.places.get(tenant)?.kind === "gone",
    });
    this.progress = new ProgressHub(config.changes.subscriptionsPerTenantMax);
    this.rowNumbers = this.freshRowNumbers();
    this.sequences = this.freshSequences();
    this.gate.open(shard.durableSequence);
  }

  tenant(number: number): Tenant {
    let tenant = this.tenants.get(number);
    if (tenant === undefined) {
      tenant = new Tenant(this, number);
      this.tenants.set(number, tenant);
    }
    tenant.lastUse = ++this.uses;
    return tenant;
  }

  /** False once the tenant was forgotten: somebody else stands for it now, or nobody. */
  holds(tenant: Tenant): boolean {
    return this.tenants.get(tenant.number) === tenant;
  }

  wroteSomething(tenant: number): void {
    if (this.shard.hasBacklog) this.backlogTenant ??= tenant;
    this.writers.set(tenant, (this.writers.get(tenant) ?? 0) + 1);
    this.flushSoon();
  }

  private readDefinitions<T>(number: number, read: (catalog: CatalogView) => T): T {
    const tx = this.shard.begin({ readOnly: true });
    try {
      return read(this.tenant(number).catalog.view(tx));
    } finally {
      tx.rollback();
    }
  }

  /** Everything up to `sequence` is on disk. */
  onDisk(sequence: number): void {
    this.gate.open(sequence);
    this.feed.durable(sequence);
  }

  definitionsChanged(tenant: Tenant): void {
    this.feed.definitionsChanged(tenant.number);
    this.jobs.look(tenant.number, FILE_JOBS);
    if (this.places.isServed(tenant.number)) followDefinitions(tenant);
  }

  /** Has indexes for search that were saved made again, in the background. */
  openSavedIndexes(): Promise<void> {
    return openSaved(this.derived, (number) => (this.places.get(number) === undefined ? this.tenant(number) : null));
  }

  /** Flushes the shard; `charge` is told which tenants' time that was, by their shares of the commits. */
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
   * Has the engine take the large commit that was just made, in turns of the tenant that made it. Returns at once when
   * there is none, or it is being done already.
   */
  async applyBacklog(scheduler: Pick<Scheduler, "shouldYield" | "yieldTurn">): Promise<void> {
    const { shard, backlogTenant } = this;
    if (backlogTenant === null || this.isApplying) return;
    this.isApplying = true;
    const work = { usedMs: 0 };
    while (shard.hasBacklog) {
      await shard.backlogReady();
      await scheduler.yieldTurn(backlogTenant, work);
      do shard.applySome();
      while (shard.hasBacklog && !scheduler.shouldYield());
    }
    this.isApplying = false;
    this.backlogTenant = null;
  }

  /**
   * Forgets what is in memory of tenants that have been idle for the configured time, and of those used longest ago past
   * TENANTS_IN_MEMORY_MAX. `busy` ones, those with open transactions and those whose commits are on their way to disk
   * stay; and, unless there are too many, those with prepared statements, which exist nowhere else.
   */
  private forgetIdle(busy: ReadonlySet<Tenant>, idleBefore: number): void {
    let surplus = this.tenants.size - TENANTS_IN_MEMORY_MAX;
    const idle = [...this.tenants.values()].filter(
      (tenant) =>
        !busy.has(tenant) &&
        this.places.get(tenant.number) === undefined &&
        tenant.lastCommit <= this.shard.durableSequence &&
        (this.transactions.get(tenant.number)?.size ?? 0) === 0,
    );
    if (surplus > 0) idle.sort((a, b) => a.lastUse - b.lastUse);
    for (const { number, lastUse, prepared } of idle) {
      if (surplus-- <= 0 && (lastUse > idleBefore || prepared.size > 0)) continue;
      this.sequences.release(number);
      this.forget(number);
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

  /** The engine has taken these. Segments of a tenant are those of the partition where it is served. */
  private applied(operations: readonly Operation[]): void {
    for (const leaving of this.exports.values()) leaving.applied(operations);
    for (const follower of this.followers) follower.applied(operations);
    const { places } = this;
    const own = places.size === 0 ? operations : operations.filter(({ key }) => places.isServed(tenantOfKey(key)));
    this.segments.applied(own);
    this.derived.applied(own);
  }

  /** Forgets what is in memory of a tenant: it comes or goes. */
  forget(tenant: number): void {
    this.tenants.delete(tenant);
    this.transactions.delete(tenant);
    this.rowNumbers.forget(tenant);
    this.sequences.forget(tenant);
    this.segments.dropTenant(tenant);
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
    this.tenants.clear();
    this.rowNumbers = this.freshRowNumbers();
    this.sequences = this.freshSequences();
    this.gate.refuse(first, error);
    this.jobs.undone();
  }

  /** Ends transactions that ran past their deadline; `busy` are the tenants with running requests. */
  sweep(nowMs: number, busy: ReadonlySet<Tenant>): void {
    for (const transactions of this.transactions.values()) transactions.sweep(nowMs);
    this.measureLoad();
    this.feed.sweep(nowMs);
    if (nowMs - this.idleLookedMs < IDLE_LOOK_MS && this.tenants.size <= TENANTS_IN_MEMORY_MAX) return;
    this.idleLookedMs = nowMs;
    this.forgetIdle(busy, this.idleBefore(nowMs));
  }

  /** A mean of the share of time in use that forgets what is older than some LOAD_MS. */
  private measureLoad(): void {
    const now = performance.now();
    const passedMs = now - this.accountedAt;
    if (passedMs <= 0) return;
    const share = (this.account.usedMs - this.accountedMs) / passedMs;
    this.load += (share - this.load) * (1 - Math.exp(-passedMs / LOAD_MS));
    this.accountedAt = now;
    this.accountedMs = this.account.usedMs;
  }

  /** What they have left open is rolled back, and what they have running in the background fails. */
  identityEnded(change: IdentityChange): void {
    const reason = "who began it was disabled or removed";
    for (const transactions of this.transactions.values()) transactions.endOf(change, reason);
    void this.jobs.identityEnded(change, new DbError("unauthorized", `The job was ended: ${reason}.`));
  }

  async close(): Promise<void> {
    for (const transactions of this.transactions.values()) transactions.endAll("the server is shutting down");
    await this.derived.close();
    await this.shard.close();
  }

  /** Resolves when everything that was flushed is on disk. */
  durable(): Promise<void> {
    return new Promise((resolve, reject) => this.gate.pass(this.shard.committedSequence, resolve, reject));
  }

  get metrics(): Omit<PartitionMetrics, "requestsHeld"> {
    const { syncMicros, syncMicrosMax, ...shard } = this.shard.metrics;
    let planCacheHits = 0;
    let planCacheMisses = 0;
    let planCacheEntries = 0;
    for (const { plans } of this.tenants.values()) {
      planCacheHits += plans.hits;
      planCacheMisses += plans.misses;
      planCacheEntries += plans.size;
    }
    return {
      partition: this.number,
      ...shard,
      syncSeconds: syncMicros / 1e6,
      syncSecondsMax: syncMicrosMax / 1e6,
      planCacheHits,
      planCacheMisses,
      planCacheEntries,
      repliesAtGate: this.gate.waiting,
      subscriptions: this.subscriptions.size,
      tablesFollowed: this.feed.size,
      changeHistoryBytes: this.feed.historyBytes,
      engine: this.shard.engine.metrics(),
      recordCache: this.shard.engine.recordCache(),
      jobs: this.jobs.metrics,
      storedBytes: this.shard.engine.storedBytes(),
      load: this.load,
      tenantsInMemory: this.tenants.size,
      ...this.derived.metrics,
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
