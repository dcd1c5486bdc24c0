/**
 * What an actor does on a timer, without a request: it ends transactions past their deadline, forgets idle tenants and
 * old answers, renews statistics and removes retired data. Made and owned by actor.ts.
 */
import type { DbError } from "../protocol/errors.js";
import type { Tenant } from "../session/tenant.js";
import { forgetPast, tendBranches } from "./forget-past.js";
import type { Partition } from "./partition.js";
import { removeRetired } from "./remove-retired.js";
import { renewStatistics } from "./renew-statistics.js";
import type { Scheduler } from "./scheduler.js";

const SWEEP_INTERVAL_MS = 500;
const ANSWERS_SWEEP_INTERVAL_MS = 60_000;

export interface UpkeepHost {
  readonly partitions: ReadonlyMap<number, Partition>;
  readonly scheduler: Scheduler;
  /** Tenants of requests that run. It goes through all of these. */
  busy(): Set<Tenant>;
  /** Deletes the tenant's kept answers past their window. */
  sweepAnswers(tenant: Tenant): void;
  /** The other parts of the actor sweep, too. */
  swept(): void;
  isClosing(): boolean;
  log(level: "error", message: string, fields: object): void;
}

export class Upkeep {
  private answersSweptMs = Date.now();
  /** Statistics that are being renewed between the requests. */
  private renewal: Promise<void> | null = null;
  private renewing: Tenant | null = null;
  private readonly sweeper: NodeJS.Timeout;

  constructor(private readonly host: UpkeepHost) {
    this.sweeper = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref();
  }

  /** Work of the tenant's that is under way; it counts as a request that ends by itself. */
  of(partition: Partition, tenant: number): { end(error: DbError): void }[] {
    const { renewing } = this;
    if (renewing === null || renewing.partition !== partition || renewing.number !== tenant) return [];
    return [{ end: () => undefined }];
  }

  isAt(partition: Partition): boolean {
    return this.renewing?.partition === partition;
  }

  private sweep(): void {
    const { partitions } = this.host;
    const now = Date.now();
    const answersToo = now - this.answersSweptMs > ANSWERS_SWEEP_INTERVAL_MS;
    if (answersToo) this.answersSweptMs = now;
    const busy = this.host.busy();
    for (const partition of partitions.values()) {
      partition.sweep(now, busy);
      if (!answersToo || partition.shard.failed !== null) continue;
      for (const tenant of partition.activeTenants()) {
        if (partition.places.get(tenant.number) === undefined) this.host.sweepAnswers(tenant);
      }
    }
    this.host.swept();
    // Not within it: with nothing to do it ends before its promise stands here, and would never be begun again.
    this.renewal ??= this.renewAll().finally(() => {
      this.renewal = null;
    });
  }

  private async renewAll(): Promise<void> {
    const { partitions, scheduler } = this.host;
    // Once for all tenants that ask: there may be a thousand.
    let busy: ReadonlySet<Tenant> | null = null;
    try {
      for (const partition of partitions.values()) {
        if (partition.shard.failed !== null) continue;
        for (const tenant of [...partition.activeTenants()]) {
          const isStopped = () =>
            this.host.isClosing() ||
            partition.isEnding ||
            partition.places.get(tenant.number) !== undefined ||
            !partition.holds(tenant);
          if (isStopped()) continue;
          this.renewing = tenant;
          // A request that waits for the columns of a load goes on when they are there: no time to read the table.
          const isBadTime = (): boolean => {
            if (partition.isBadTimeToRead) return true;
            busy ??= this.host.busy();
            return busy.has(tenant);
          };
          await renewStatistics(tenant, scheduler, isStopped, isBadTime);
          await removeRetired(tenant, scheduler, isStopped);
          await forgetPast(tenant, partition.shard, scheduler, isStopped);
          await tendBranches(tenant, partition.shard, scheduler, isStopped);
          this.renewing = null;
        }
      }
    } catch (error) {
      this.host.log("error", "statistics could not be renewed, or retired data not be removed", {
        error: String(error),
      });
    } finally {
      this.renewing = null;
    }
  }

  /** Nothing begins any more. */
  stop(): void {
    clearInterval(this.sweeper);
  }

  /** Resolves when what was under way has ended, which the host's closing makes soon. */
  async ended(): Promise<void> {
    await this.renewal;
  }
}
