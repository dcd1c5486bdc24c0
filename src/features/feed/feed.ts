/**
 * Changes of a partition as they are committed, and who follows them: the part that this feature keeps beside each
 * partition.
 */
import { type PartitionOfPart, type PartitionPart, PartitionPartKind } from "../../actor/partition-part.js";
import type { PartitionMetrics } from "../../protocol/messages.js";
import type { Tenant } from "../../session/tenant.js";
import { ChangeFeed } from "./change-feed.js";
import { ACCESS_CHANGED, Subscriptions } from "./subscriptions.js";

export class Feed implements PartitionPart {
  readonly changes: ChangeFeed;
  readonly subscriptions: Subscriptions;

  /** By tenant: who may do what, as last seen. */
  private readonly accessOf = new Map<number, string>();

  constructor(private readonly partition: PartitionOfPart) {
    const { shard, config } = partition;
    this.changes = new ChangeFeed({
      shard,
      config: config.changes,
      flushSoon: () => partition.flushSoon(),
      definitions: (tenant, read) => partition.definitions(tenant, read),
    });
    this.subscriptions = new Subscriptions({
      ...{ shard, config, feed: this.changes },
      tenant: (number) => partition.tenant(number),
      durable: () => partition.durable(),
    });
  }

  onDisk(sequence: number): void {
    this.changes.durable(sequence);
  }

  definitionsChanged(tenant: Tenant): void {
    this.changes.definitionsChanged(tenant.number);
    if (tenant.catalog.everHadAccess) this.accessMayHaveChanged(tenant);
  }

  /** Who follows a table may no longer see all of it: it asks again, and is told then. */
  private accessMayHaveChanged({ number }: Tenant): void {
    const now = this.partition.definitions(number, (view) => JSON.stringify([view.roles(), view.accesses()]));
    if (this.accessOf.get(number) === now) return;
    this.accessOf.set(number, now);
    this.subscriptions.endOf(number, ACCESS_CHANGED());
  }

  sweep(nowMs: number): void {
    this.changes.sweep(nowMs);
  }

  metrics(): Partial<PartitionMetrics> {
    const { subscriptions, changes } = this;
    return {
      subscriptions: subscriptions.size,
      tablesFollowed: changes.size,
      changeHistoryBytes: changes.historyBytes,
    };
  }
}

export const FEED = new PartitionPartKind((partition) => new Feed(partition));
