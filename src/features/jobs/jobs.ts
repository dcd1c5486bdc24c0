/** Work that no client waits for, and who follows it: the part that this feature keeps beside each partition. */
import { type PartitionOfPart, type PartitionPart, PartitionPartKind } from "../../actor/partition-part.js";
import type { DbError } from "../../protocol/errors.js";
import type { IdentityChange } from "../../protocol/identity.js";
import type { PartitionMetrics } from "../../protocol/messages.js";
import type { Tenant } from "../../session/tenant.js";
import { BackgroundJobs } from "./background-jobs.js";
import { FILE_JOBS } from "./job-records.js";
import { ProgressHub } from "./progress-hub.js";

export class Jobs implements PartitionPart {
  readonly queue: BackgroundJobs;
  readonly progress: ProgressHub;

  constructor(partition: PartitionOfPart) {
    this.queue = new BackgroundJobs({
      shard: partition.shard,
      flushSoon: () => partition.flushSoon(),
      durable: () => partition.durable(),
      isServed: (tenant) => partition.places.get(tenant) === undefined,
      hasLeft: (tenant) => partition.places.hasLeft(tenant),
    });
    this.progress = new ProgressHub(partition.config.changes.subscriptionsPerTenantMax);
  }

  definitionsChanged(tenant: Tenant): void {
    this.queue.look(tenant.number, FILE_JOBS);
    this.progress.definitionsChanged(tenant.number);
  }

  undone(): void {
    this.queue.undone();
  }

  identityEnded(change: IdentityChange, error: DbError): void {
    void this.queue.identityEnded(change, error);
  }

  metrics(): Partial<PartitionMetrics> {
    return { jobs: this.queue.metrics };
  }
}

export const JOBS = new PartitionPartKind((partition) => new Jobs(partition));
