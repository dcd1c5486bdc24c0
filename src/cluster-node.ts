/**
 * This process as a node of a cluster: brings the data directory into it, keeps the lease, and finds other nodes.
 * Loaded by serve.ts where `cluster.url` is set.
 */
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { CheckpointServer } from "./cluster/checkpoint-server.js";
import { ClusterMap, type ClusterMeta, readClusterUrl } from "./cluster/cluster-map.js";
import { ClusterRoutes } from "./cluster/cluster-routes.js";
import { readEtcdTls } from "./cluster/etcd-tls.js";
import { LeaseMemory, newLeaseMemory } from "./cluster/lease-memory.js";
import { listenToPeers, peerKey } from "./cluster/peer-link.js";
import { ConfigError } from "./config/config-error.js";
import { adoptSecret, DataDirectoryError } from "./config/data-lock.js";
import { openSecret, secretFile, unsealFromNodes } from "./config/sealed-secret.js";
import type { PartitionRoutes } from "./gateway/partition-routes.js";
import type { Config } from "./protocol/config.js";
import type { ClusterSettings } from "./protocol/messages.js";
import { threadEntry } from "./protocol/places.js";
import { FORMAT_VERSION } from "./storage/format.js";
import { joinInstallation } from "./storage/installation.js";

export interface ClusterNode {
  readonly routes: PartitionRoutes;
  readonly settings: ClusterSettings;
  /** The actors are ready: the lease is kept from now on. Before that others may take what this node had. */
  begin(): Promise<void>;
  /** The server has begun to shut down: its partitions go elsewhere, and none come. */
  leave(): Promise<void>;
  /** After the actors have ended. */
  close(): Promise<void>;
}

export interface JoinedData {
  readonly secret: Uint8Array;
  readonly id: string;
  readonly partitions: number;
}

/**
 * The data directory, which is locked, becomes one of the cluster's, unless it is. Throws what the operator has to do.
 */
export async function joinCluster(config: Config, warn: (message: string) => void): Promise<JoinedData> {
  checkSettings(config);
  const meta = await readMeta(config.cluster, warn);
  const { dir } = config.data;
  const shared = unsealFromNodes(meta.sealed, config.secrets);
  if (shared === null) {
    throw new DataDirectoryError(
      `The key file ${config.secrets.keyFile} does not open the cluster's secret: copy the key file of the node that made the cluster.`,
    );
  }
  if (meta.format !== FORMAT_VERSION) {
    throw new DataDirectoryError(
      `The cluster has format ${meta.format} and this program ${FORMAT_VERSION}: use the same release on all nodes.`,
    );
  }
  const { id, partitions } = joinInstallation(dir, meta.installation, meta.partitions);
  if (secretFile(dir) === null) adoptSecret(dir, shared);
  const secret = openSecret(dir, config.secrets, warn);
  if (!Buffer.from(secret).equals(shared))
    throw new DataDirectoryError(`${dir} has another secret than the cluster: begin with an empty data directory.`);
  return { secret, id, partitions };
}

function checkSettings({ cluster, secrets }: Config): void {
  const problems = [
    cluster.node === "" ? "cluster.node is missing: give each node a name (--node)" : null,
    cluster.advertise === ""
      ? "cluster.advertise is missing: say where other nodes reach this one, host:port (--advertise)"
      : null,
    secrets.keyFile === ""
      ? "secrets.key_file is missing: all nodes of a cluster need the same key file (TESSERA_SECRETS_KEY_FILE)"
      : null,
  ].filter((problem) => problem !== null);
  if (problems.length > 0) throw new ConfigError(problems);
}

async function readMeta(cluster: Config["cluster"], warn: (message: string) => void): Promise<ClusterMeta> {
  const { url } = cluster;
  const { endpoints, name } = readClusterUrl(url);
  const map = new ClusterMap(endpoints, name, readEtcdTls(cluster));
  try {
    const { refused, warnings } = await map.examine();
    for (const warning of warnings) warn(warning);
    if (refused.length > 0) throw new DataDirectoryError(`${refused.join(". ")}.`);
    const meta = await map.meta();
    if (meta !== null) return meta;
  } finally {
    map.close();
  }
  throw new DataDirectoryError(
    `There is no cluster ${url} yet: make it with \`tessera cluster init\` on the first node.`,
  );
}

/** Other nodes may connect from now on. */
export async function startNode(
  config: Config,
  { secret, partitions }: JoinedData,
  logger: Logger,
): Promise<ClusterNode> {
  const { url, node, advertise, listen, reads, copies, replaceAfterSeconds } = config.cluster;
  const { endpoints, name } = readClusterUrl(url);
  const tls = readEtcdTls(config.cluster);
  const memory = newLeaseMemory(config.actors.count);
  const map = new ClusterMap(endpoints, name, tls);
  const key = peerKey(secret);
  const log = (level: "warn" | "info", message: string, fields: object): void => logger[level](fields, message);
  const checkpoints = new CheckpointServer({ dataDirectory: config.data.dir, log });
  const routes = new ClusterRoutes({
    ...{ node, partitions, map, key, checkpoints, log },
    lease: new LeaseMemory(memory),
  });
  const server = await listenToPeers(listen === "" ? advertise : listen, key, (socket) => routes.accept(socket));
  let thread: Worker | null = null;
  let isClosing = false;
  return {
    routes,
    settings: {
      ...{ endpoints, ...(tls && { tls }), name, node, reads, copies, peerKey: key, lease: memory },
      replaceAfterMs: replaceAfterSeconds * 1000,
    },
    async begin() {
      await map.leave(node, false);
      thread = new Worker(threadEntry("lease"), {
        workerData: { endpoints, tls, name, node, address: advertise, memory },
      });
      thread.on("error", (error) => logger.error({ err: error }, "the thread of the lease threw"));
      thread.on("exit", (code) => {
        if (isClosing) return;
        // Without it nothing is served: whoever started this process has to know.
        logger.fatal({ code }, "the thread of the lease ended");
        process.exit(1);
      });
    },
    async leave() {
      // Without etcd nobody is told; others take over when the lease has run out.
      await map.leave(node, true).catch((error: unknown) => logger.warn({ err: error }, "etcd is not told of the end"));
    },
    async close() {
      isClosing = true;
      server.close();
      await routes.close();
      await checkpoints.close();
      map.close();
      await thread?.terminate();
    },
  };
}
