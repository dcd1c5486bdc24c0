/**
 * What an actor keeps in memory for one tenant: its catalog, its plans and its prepared statements. All of it can be
 * thrown away and made again. Made and owned by the tenant's partition.
 */

import type { Models } from "../ai/models.js";
import type { ClaimVerifier } from "../ai/nli/claim-verifier.js";
import { Catalog } from "../catalog/catalog.js";
import type { CatalogView } from "../catalog/catalog-view.js";
import type { IndexBuild } from "../catalog/index-build.js";
import type { PastCatalog } from "../catalog/past-catalog.js";
import type { SequenceDef, SequencePosition } from "../catalog/sequence.js";
import type { Sequences } from "../catalog/sequences.js";
import type { TableDef } from "../catalog/table.js";
import { TenantStatistics } from "../catalog/table-statistics.js";
import type { DerivedIndexes } from "../derived/derived-indexes.js";
import type { Config } from "../protocol/config.js";
import type { RowNumbers } from "../query/exec/row-numbers.js";
import type { SegmentCache } from "../query/exec/segments/segment-cache.js";
import type { SpillArea } from "../query/exec/spill/spill-area.js";
import type { LiveLock, LiveSession } from "../sql/bind/system/system-view.js";
import { requireRoom } from "../storage/branch-room.js";
import { requireBranch } from "../storage/ending-branches.js";
import type { ReadableShard } from "../storage/past-shard.js";
import type { Shard } from "../storage/shard.js";
import type { Transaction } from "../storage/store.js";
import type { ShardTransaction } from "../storage/transaction.js";
import { LiftedPlans } from "./lifted-plans.js";
import type { LongTasks } from "./long-tasks.js";
import { PlanCache } from "./plan-cache.js";
import { PreparedStatements } from "./prepared-statements.js";
import type { Settings } from "./settings.js";
import type { SlowStatements } from "./slow-statements.js";
import type { TenantProviders } from "./tenant-providers.js";

/** Statements that are refused for a while because one like them had to be stopped. */
export interface StatementRefusals {
  readonly isEmpty: boolean;
  /** Throws statement_stopped. */
  refuseStatement(tenant: number, text: string): void;
}

/** What a tenant needs of its partition. */
export interface TenantHost {
  readonly shard: ReadableShard;
  /**
   * It is a past (as-of.ts) or a copy (copy-tenant.ts): what is kept in memory of the newest entries is not of it. How
   * it is read, in words.
   */
  readonly readsPast?: string;
  /** Columns as they were then; absent or null: there are none. */
  readonly pastSegments?: SegmentCache | null;
  readonly config: Config;
  readonly rowNumbers: RowNumbers;
  readonly sequences: Sequences;
  readonly segments: SegmentCache;
  readonly derived: DerivedIndexes;
  readonly spill: SpillArea | null;
  readonly models: Models;
  readonly claims: ClaimVerifier;
  readonly tasks: LongTasks | null;
  readonly providers: TenantProviders;
  readonly slowStatements: SlowStatements | null;
  /** Absent or null: no statement is refused. */
  readonly stopped?: StatementRefusals | null;
  /** A commit of the tenant changed its definitions. */
  definitionsChanged(tenant: Tenant): void;
  /** Has the shard flushed at the end of this turn, on the tenant's account. */
  wroteSomething(tenant: number): void;
}

/** Records of data that TRUNCATE and DROP have left, as last found (remove-retired.ts). */
export interface RetiredRecords {
  /** Value of `catalog.changedAt` at that time: younger transactions do not see what these plans refer to. */
  readonly changedAt: number;
  readonly records: readonly Uint8Array[];
  /** The newest commit that orders their removal; null: not all have been ordered. */
  orderedAt: number | null;
}

/** Definitions, and the plans that were made with them. */
export class Planned<C extends Catalog = Catalog> {
  readonly plans = new PlanCache();
  readonly liftedPlans = new LiftedPlans(this.plans);

  constructor(readonly catalog: C) {}
}

interface PlannedOfPasts {
  readonly planned: Planned<PastCatalog>;
  readonly usableUntil: number;
}

/** Those of sessions, a statement alone too, since the tenant was opened. */
export class TransactionCounts {
  committed = 0;
  rolledBack = 0;
  readonly sinceMicros = Date.now() * 1000;

  /** `commit` throws if the transaction cannot be committed. */
  ending(commit: () => void): void {
    try {
      commit();
      this.committed++;
    } catch (error) {
      this.rolledBack++;
      throw error;
    }
  }
}

/** Tenant.lastCommit of who may have seen a commit that was undone. The gate lets no such reply through. */
export const UNDONE = Number.POSITIVE_INFINITY;

export class Tenant {
  readonly catalog: Catalog;
  readonly statistics: TenantStatistics;
  readonly plans: PlanCache;
  readonly liftedPlans: LiftedPlans;
  /** What its pasts have in common (as-of.ts), by whether memories are hidden from who reads. */
  readonly ofPasts = new Map<boolean, PlannedOfPasts>();
  readonly prepared = new PreparedStatements();
  /** Grows with each use; orders tenants by when they were used last. */
  lastUse = 0;
  /** Value of `catalog.changedAt` up to which retired data has been removed (remove-retired.ts); −1: never looked. */
  retiredUpTo = -1;
  /** When all retired data was found to be of a past that is kept; null: it was not. */
  rememberedAt: { readonly changedAt: number; readonly since: number } | null = null;
  /** Data to remove when no open transaction can see it; null: not looked up yet. */
  retired: RetiredRecords | null = null;
  /** Tables whose rows are stored ahead of the commit that makes them, by storage id (unseen-rows.ts). */
  readonly unseen = new Map<number, TableDef>();
  /** Under way. */
  readonly indexBuilds = new Set<IndexBuild>();
  /** Schemas of temporary relations that belong to sessions of now. */
  readonly temporarySchemas = new Set<string>();
  /** Sessions that last longer than a request: while there is one, the tenant stays in memory. */
  readonly liveSessions = new Set<LiveSession>();
  /** Set by who has such sessions; null: there has been none. `asker`: of the session that asks. */
  liveLocks: ((asker: Settings) => Iterable<LiveLock>) | null = null;
  readonly transactions = new TransactionCounts();
  /** Whether its newest definitions have indexes for search; null: nobody has looked. */
  hasSearchIndexes: boolean | null = null;
  private newestCommit = 0;

  constructor(
    readonly partition: TenantHost,
    readonly number: number,
    { catalog, plans, liftedPlans }: Planned = new Planned(new Catalog(number)),
  ) {
    this.catalog = catalog;
    this.plans = plans;
    this.liftedPlans = liftedPlans;
    this.statistics = new TenantStatistics(number);
  }

  /** Where a sequence stands. */
  readonly positionOf = (sequence: SequenceDef): SequencePosition =>
    this.partition.sequences.position(this.number, sequence);

  /** Sequence of the newest commit of this tenant: what a reply that has read its data may have seen. */
  get lastCommit(): number {
    return this.newestCommit;
  }

  /** For what commits by itself: its reply waits for everything that has been committed. */
  sawEverything(): void {
    const before = this.newestCommit;
    this.mayHaveSeen(this.partition.shard.committedSequence);
    if (this.newestCommit !== before) this.partition.wroteSomething(this.number);
  }

  /** Its replies wait for that commit. */
  mayHaveSeen(sequence: number): void {
    this.newestCommit = Math.max(this.newestCommit, sequence);
  }

  /** Commits from `first` on were undone. Who may have seen one of them hears of it at the gate. */
  undone(first: number): void {
    if (this.newestCommit >= first) this.newestCommit = UNDONE;
  }

  commit(tx: Transaction): void {
    let sequence: number;
    try {
      // Throws if the shard has ended it: its writes are gone, so it would look as if it had written nothing.
      tx.requireOpen();
      if (!tx.dirty) {
        tx.commit();
        this.catalog.settle(tx, null);
        return;
      }
      this.requireThere(tx);
      sequence = tx.commit();
    } catch (error) {
      this.catalog.settle(tx, null);
      throw error;
    }
    this.mayHaveSeen(sequence);
    this.catalog.settle(tx, sequence);
    this.partition.wroteSomething(this.number);
    if (this.catalog.changedAt === sequence) this.partition.definitionsChanged(this);
  }

  /** What is written in a branch that has ended would be nowhere, and one with a quota may be full. */
  private requireThere(tx: Transaction): void {
    try {
      requireBranch(this.partition.shard.layers, this.number);
      requireRoom(this.partition.shard as Shard, this.number, tx as ShardTransaction);
    } catch (error) {
      tx.rollback();
      throw error;
    }
  }

  /** Throws statement_stopped for a statement like one that had to be stopped. */
  refuseStopped(text: string): void {
    const { stopped } = this.partition;
    if (stopped != null && !stopped.isEmpty) stopped.refuseStatement(this.number, text);
  }

  /** The end of what a client has begun. */
  rollBackWhole(tx: Transaction): void {
    this.transactions.rolledBack++;
    this.rollback(tx);
  }

  /** Reads the definitions as they are now, outside of any transaction. */
  withDefinitions<T>(read: (catalog: CatalogView) => T): T {
    const newest = this.catalog.newestView();
    if (newest !== null) return read(newest);
    const tx = this.partition.shard.begin({ readOnly: true });
    try {
      return read(this.catalog.view(tx));
    } finally {
      this.rollback(tx);
    }
  }

  rollback(tx: Transaction): void {
    tx.rollback();
    this.catalog.settle(tx, null);
  }
}
