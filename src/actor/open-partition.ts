/** Opens one partition as the configuration says. */
import { join } from "node:path";
import { removeNewerFiles } from "../derived/index-file.js";
import type { DbError } from "../protocol/errors.js";
import type { ActorSettings } from "../protocol/messages.js";
import { partitionDirectory } from "../storage/partition-directory.js";
import { openShardOnDisk } from "../storage/shard-on-disk.js";
import type { ActorShared } from "./actor-shared.js";
import { type ActorTenures, TenuredGate } from "./actor-tenures.js";
import { OutputGate } from "./output-gate.js";
import { Partition } from "./partition.js";

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
  /** The disk has no room to open the partition as it should be: it is only read. */
  readonly readOnly?: (error: DbError) => void;
}

export type OpenShard = typeof openShardOnDisk;

/**
 * `openShard` replaces the disk; indexes in memory are then not saved to files. `tenures`: in a cluster; "copy":
 * another node owns the partition, and this one follows it.
 */
export async function openPartition(
  settings: ActorSettings,
  number: number,
  events: PartitionEvents,
  shared?: ActorShared,
  openShard: OpenShard | null = null,
  tenures: ActorTenures | "copy" | null = null,
): Promise<Partition> {
  const { storage } = settings.config;
  const directory = partitionDirectory(settings.dataDirectory, number);
  const shard = await (openShard ?? openShardOnDisk)(directory, {
    // The configured caches are the whole process's.
    cacheBytes: Math.floor(storage.cacheBytes / settings.partitionCount),
    recordCacheBytes: Math.floor(storage.recordCacheBytes / settings.partitionCount),
    memtableBytes: storage.memtableBytes,
    // In a cluster, the next owner waits.
    filesAtClose: tenures === null,
    segmentBytes: storage.logSegmentBytes,
    retentionBytes: storage.logRetentionBytes,
    durability: storage.durability === "fsync" ? "fsync" : { intervalMs: storage.syncIntervalMs },
    versionBytesMax: storage.versionBytesMax,
    identity: { installation: settings.installation, partition: number },
    secret: storage.encryption ? settings.secret : null,
    onFlush: events.flushing,
    onFlushed: events.flushed,
    onDurable: events.durable,
    onFlushFailed: (first, _last, error) => events.undone(first, error),
    onFailed: events.failed,
    warn: (message) => shared?.warn(message, { partition: number }),
    ...(events.readOnly !== undefined && tenures === null && { onReadOnly: events.readOnly }),
    ...(tenures !== null && { applyWhen: "durable" as const, follows: tenures === "copy" }),
    ...(tenures !== null && tenures !== "copy" && { replicate: (local) => tenures.replicate(number, local) }),
  });
  const indexDirectory = openShard === null && tenures !== "copy" ? join(directory, "indexes") : null;
  if (storage.durability !== "fsync" && indexDirectory !== null)
    await removeNewerFiles(
      indexDirectory,
      shard.appliedSequence,
      (tenant) => shard.options.keys?.known(tenant) ?? null,
    );
  const isOwned = tenures !== null && tenures !== "copy";
  const gate = isOwned ? new TenuredGate((send, fail) => tenures.confirm(number, send, fail)) : new OutputGate();
  return new Partition(number, shard, settings.config, events.wroteSomething, shared, indexDirectory, gate);
}
