/** Opens one partition as the configuration says. */
import { join } from "node:path";
import type { Models } from "../ai/models.js";
import type { ClaimVerifier } from "../ai/nli/claim-verifier.js";
import { removeNewerFiles } from "../derived/index-file.js";
import type { DbError } from "../protocol/errors.js";
import type { ActorSettings } from "../protocol/messages.js";
import type { SegmentCache } from "../query/exec/segments/segment-cache.js";
import type { SpillArea } from "../query/exec/spill/spill-area.js";
import type { LongTasks } from "../session/long-tasks.js";
import type { TenantProviders } from "../session/tenant-providers.js";
import { partitionDirectory } from "../storage/partition-directory.js";
import { openShardOnDisk } from "../storage/shard-on-disk.js";
import { type IndexSurroundings, Partition } from "./partition.js";

export interface PartitionEvents {
  /** The shard has commits of this turn. */
  readonly wroteSomething: () => void;
  /** They are about to go to the log; it has them. */
  readonly flushing?: () => void;
  readonly flushed?: () => void;
  readonly durable: (sequence: number) => void;
  /** The disk refused the commits from `first` on; they are undone. */
  readonly undone: (first: number, error: DbError) => void;
  /** The shard cannot go on; the actor must end. */
  readonly failed: (error: DbError) => void;
}

/** By all partitions of an actor. */
export interface SharedByPartitions {
  readonly segments: SegmentCache;
  readonly spill: SpillArea | null;
  readonly models: Models;
  readonly tasks: LongTasks | null;
  readonly providers: TenantProviders;
  readonly claims: ClaimVerifier;
  readonly indexes: Omit<IndexSurroundings, "directory">;
}

export type OpenShard = typeof openShardOnDisk;

/** `openShard` stands in for the disk; then indexes in memory are kept in no files. */
export async function openPartition(
  settings: ActorSettings,
  number: number,
  events: PartitionEvents,
  shared?: SharedByPartitions,
  openShard: OpenShard | null = null,
): Promise<Partition> {
  const { storage } = settings.config;
  const directory = partitionDirectory(settings.dataDirectory, number);
  const shard = await (openShard ?? openShardOnDisk)(directory, {
    // The configured caches are the whole process's.
    cacheBytes: Math.floor(storage.cacheBytes / settings.partitionCount),
    recordCacheBytes: Math.floor(storage.recordCacheBytes / settings.partitionCount),
    memtableBytes: storage.memtableBytes,
    segmentBytes: storage.logSegmentBytes,
    retentionBytes: storage.logRetentionBytes,
    durability: storage.durability === "fsync" ? "fsync" : { intervalMs: storage.syncIntervalMs },
    versionBytesMax: storage.versionBytesMax,
    identity: { installation: settings.installation, partition: number },
    onFlush: events.flushing,
    onFlushed: events.flushed,
    onDurable: events.durable,
    onFlushFailed: (first, _last, error) => events.undone(first, error),
    onFailed: events.failed,
  });
  const indexDirectory = openShard === null ? join(directory, "indexes") : null;
  if (storage.durability !== "fsync" && indexDirectory !== null)
    await removeNewerFiles(indexDirectory, shard.appliedSequence);
  const indexes = shared && { ...shared.indexes, directory: indexDirectory };
  const { wroteSomething } = events;
  const { segments, spill, models, tasks, providers, claims } = shared ?? {};
  const { config } = settings;
  return new Partition(
    number,
    shard,
    config,
    wroteSomething,
    segments,
    spill,
    indexes,
    models,
    tasks,
    providers,
    claims,
  );
}
