/**
 * What a feature keeps in memory beside a partition: subscriptions, jobs. The feature declares its kind of part once;
 * each partition opens one of every kind, tells it what happens, and hands it to the feature's handlers.
 */
import type { CatalogView } from "../catalog/catalog-view.js";
import type { Config } from "../protocol/config.js";
import type { DbError } from "../protocol/errors.js";
import type { IdentityChange } from "../protocol/identity.js";
import type { PartitionMetrics } from "../protocol/messages.js";
import type { Tenant } from "../session/tenant.js";
import type { Operation } from "../storage/operation.js";
import type { Shard } from "../storage/shard.js";
import type { TenantPlaces } from "./tenant-places.js";

/** Told of all that the engine takes. */
export interface Follower {
  applied(operations: readonly Operation[]): void;
}

/** The partition, as its parts see it. */
export interface PartitionOfPart {
  readonly shard: Shard;
  readonly config: Config;
  readonly places: TenantPlaces;
  tenant(number: number): Tenant;
  /** The tenant's definitions as they are now. */
  definitions<T>(tenant: number, read: (catalog: CatalogView) => T): T;
  /** Has the shard flushed at the end of this turn. */
  flushSoon(): void;
  /** Resolves when everything that was committed is on disk. */
  durable(): Promise<void>;
}

export interface PartitionPart {
  /** Everything up to that sequence is on disk. */
  onDisk?(sequence: number): void;
  /** A commit changed definitions of the tenant. */
  definitionsChanged?(tenant: Tenant): void;
  /** Called every half second. */
  sweep?(nowMs: number): void;
  /** The disk refused commits, which were undone. */
  undone?(): void;
  /** A user, API key or tenant was disabled or removed: what it runs ends with this error. */
  identityEnded?(change: IdentityChange, error: DbError): void;
  metrics?(): Partial<PartitionMetrics>;
}

export class PartitionPartKind<T extends PartitionPart> {
  constructor(readonly open: (partition: PartitionOfPart) => T) {}
}

const kinds: PartitionPartKind<PartitionPart>[] = [];

/** Once, when the process starts: partitions that are made from now on have such a part. */
export function registerPartitionPart(kind: PartitionPartKind<PartitionPart>): void {
  kinds.push(kind);
}

/** The parts of one partition. */
export class PartitionParts {
  private readonly parts = new Map<PartitionPartKind<PartitionPart>, PartitionPart>();

  constructor(private readonly partition: PartitionOfPart) {}

  openAll(): void {
    for (const kind of kinds) this.get(kind);
  }

  get<T extends PartitionPart>(kind: PartitionPartKind<T>): T {
    let part = this.parts.get(kind) as T | undefined;
    if (part === undefined) {
      part = kind.open(this.partition);
      this.parts.set(kind, part);
    }
    return part;
  }

  all(): IterableIterator<PartitionPart> {
    return this.parts.values();
  }
}
