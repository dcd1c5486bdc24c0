/**
 * The thread that keeps checkpoints of this node's partitions outside of all nodes: what it reads, packs and sends
 * disturbs neither gateway nor actors. Started by cluster-node.ts by way of workers/checkpoints.ts where
 * `cluster.checkpoints` is set; a message ends it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import type { CheckpointPlace, PlaceInEtcd } from "../protocol/messages.js";
import { CheckpointKeeper } from "./checkpoint-keeper.js";
import { ClusterMap } from "./cluster-map.js";
import { EtcdLogService } from "./etcd-log-service.js";
import type { Revision } from "./log-service.js";
import { openObjectStore } from "./open-store.js";

export interface CheckpointThreadSettings extends PlaceInEtcd {
  readonly dataDirectory: string;
  readonly place: CheckpointPlace;
  readonly everyMs: number;
  /** Claims of this process have greater revisions. */
  readonly since: Revision;
}

export interface CheckpointLine {
  readonly level: "warn" | "info";
  readonly message: string;
  readonly fields: object;
}

const LOOK_MS = 5000;

/** Until a message comes. Its own messages are lines of the log. */
export async function keepCheckpoints(settings: CheckpointThreadSettings, port: MessagePort): Promise<void> {
  const { endpoints, tls, name, node, dataDirectory, place, everyMs, since } = settings;
  const map = new ClusterMap(endpoints, name, tls);
  const service = new EtcdLogService({ endpoints, tls, installation: name });
  const end = new AbortController();
  port.once("message", () => end.abort());
  const { signal } = end;
  const log = (level: CheckpointLine["level"], message: string, fields: object): void =>
    port.postMessage({ level, message, fields } satisfies CheckpointLine);
  const store = openObjectStore(place);
  const keeper = new CheckpointKeeper({
    ...{ node, dataDirectory, service, everyMs, since, signal, log },
    ...{
      installation: place.installation,
      cluster: place.cluster,
      key: place.key,
      store,
      place: place.place,
    },
    view: () => map.view(),
  });
  while (!signal.aborted) {
    await keeper.round().catch((error: unknown) => {
      log("warn", "etcd does not answer", { error: error instanceof Error ? error.message : String(error) });
    });
    await sleep(Math.min(LOOK_MS, everyMs), undefined, { signal }).catch(() => undefined);
  }
  await store.end?.();
  map.close();
  await service.close();
  port.close();
}
