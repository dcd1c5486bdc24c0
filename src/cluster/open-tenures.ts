/** Makes what an actor of a cluster needs, from its settings. Called by workers/actor.ts. */
import type { DbError } from "../protocol/errors.js";
import type { ActorSettings, CheckpointPlace } from "../protocol/messages.js";
import { partitionDirectory } from "../storage/partition-directory.js";
import { openShardOnDisk } from "../storage/shard-on-disk.js";
import { fetchCheckpoint } from "./checkpoint-fetch.js";
import { ClusterMap } from "./cluster-map.js";
import { EtcdLogService } from "./etcd-log-service.js";
import { LeaseMemory } from "./lease-memory.js";
import { openObjectStore } from "./open-store.js";
import { PartitionCopy } from "./partition-copy.js";
import { readCheckpoint } from "./stored-checkpoint.js";
import { Tenures } from "./tenures.js";
import type { TenuresOptions } from "./tenures-options.js";

export type TenuresOutput = Pick<TenuresOptions, "failed" | "log">;

export function openTenures(settings: ActorSettings, output: TenuresOutput): Tenures {
  const { endpoints, tls, name, node, reads, copies, replaceAfterMs, lease, peerKey, checkpoints } = settings.cluster!;
  const service = new EtcdLogService({ endpoints, tls, installation: name });
  const { failed, log } = output;
  return new Tenures({
    ...{ node, service, reads, copies, replaceAfterMs, log, actor: settings.actor },
    map: new ClusterMap(endpoints, name, tls),
    lease: new LeaseMemory(lease),
    partitions: settings.partitionCount,
    mine: settings.partitions,
    copyOf: (partition) => copyOf(settings, service, partition),
    fetch: (partition, address, into, signal) =>
      fetchCheckpoint({ partition, address, node, key: peerKey, into, signal }),
    ...(checkpoints !== undefined && { restore: restorer(checkpoints) }),
    failed: (error: DbError) => failed(error),
  });
}

function restorer(place: CheckpointPlace): NonNullable<TenuresOptions["restore"]> {
  const { installation, key } = place;
  return async (partition, { id, sequence }, into, signal) => {
    const store = openObjectStore(place);
    try {
      return await readCheckpoint({ store, key, installation, partition, id, sequence, into, signal });
    } finally {
      await store.end?.();
    }
  };
}

function copyOf(settings: ActorSettings, service: EtcdLogService, partition: number): PartitionCopy {
  const { storage } = settings.config;
  const directory = partitionDirectory(settings.dataDirectory, partition);
  const log = { segmentBytes: storage.logSegmentBytes, retentionBytes: storage.logRetentionBytes };
  return new PartitionCopy({
    ...{ service, partition, directory, log },
    apply: async (place) => {
      const shard = await openShardOnDisk(place, {
        ...log,
        memtableBytes: storage.memtableBytes,
        identity: { installation: settings.installation, partition },
      });
      await shard.close();
    },
  });
}
