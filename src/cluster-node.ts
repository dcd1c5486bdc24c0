/**
 * This process as a node of a cluster: brings the data directory into it, keeps the lease, and finds other nodes.
 * Loaded by serve.ts where `cluster.url` is set.
 */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { onceEtcdAnswers } from "./cluster/await-etcd.js";
import { BundleServer } from "./cluster/bundle-server.js";
import { checkFolder } from "./cluster/check-folder.js";
import { CheckpointServer } from "./cluster/checkpoint-server.js";
import type { CheckpointLine, CheckpointThreadSettings } from "./cluster/checkpoint-thread.js";
import { ClusterMap, readClusterUrl } from "./cluster/cluster-map.js";
import { ClusterRoutes } from "./cluster/cluster-routes.js";
import { readEtcdTls } from "./cluster/etcd-tls.js";
import { LeaseMemory, newLeaseMemory } from "./cluster/lease-memory.js";
import { listenToPeers, peerKey } from "./cluster/peer-link.js";
import { OWN_RELEASE, refusalOf } from "./cluster/releases.js";
import { checkpointKey } from "./cluster/stored-checkpoint.js";
import { ToldRoom } from "./cluster/told-room.js";
import { ConfigError } from "./config/config-error.js";
import { adoptSecret, DataDirectoryError } from "./config/data-lock.js";
import { openSecret, secretFile, unsealFromNodes } from "./config/sealed-secret.js";
import { upgradeAtStart } from "./config/upgrade-at-start.js";
import type { PartitionRoutes } from "./gateway/partition-routes.js";
import type { Config } from "./protocol/config.js";
import type { CheckpointPlace, ClusterSettings, EtcdModelsSettings } from "./protocol/messages.js";
import { threadEntry } from "./protocol/places.js";
import { formatOf } from "./storage/format-upgrade.js";
import { type Installation, joinInstallation } from "./storage/installation.js";

export interface ClusterNode {
  readonly routes: PartitionRoutes;
  readonly settings: ClusterSettings;
  /** For the library of models. */
  readonly models: EtcdModelsSettings;
  /** The actors are ready: the lease is kept from now on. Before that others may take what this node had. */
  begin(): Promise<void>;
  /** The disk is full, so partitions go to nodes with room, or it has room again. */
  diskBecame(isFull: boolean): void;
  /** The server has begun to shut down: its partitions go elsewhere, and none come. */
  leave(): Promise<void>;
  /** After the actors have ended. */
  close(): Promise<void>;
}

/** That a thread may take to end. */
const END_MS_MAX = 3000;

export interface JoinedData {
  readonly secret: Uint8Array;
  readonly id: string;
  /** The cluster's own id. */
  readonly cluster: string;
  readonly partitions: number;
}

/**
 * The data directory, which is locked, becomes one of the cluster's, unless it is. Throws what the operator has to do.
 */
export async function joinCluster(config: Config, logger: Logger): Promise<JoinedData> {
  const warn = (message: string): void => logger.warn(message);
  checkSettings(config);
  const { cluster, shared, ...joined } = await onceEtcdAnswers(() => enterCluster(config, warn), warn);
  const { dir } = config.data;
  if (formatOf(dir) !== null) await upgradeAtStart(config.data, joined.format, logger);
  const { id, partitions } = joinInstallation(dir, joined);
  if (secretFile(dir) === null) adoptSecret(dir, shared);
  const secret = openSecret(dir, config.secrets, warn);
  if (!shared.equals(secret))
    throw new DataDirectoryError(`${dir} has another secret than the cluster: begin with an empty data directory.`);
  return { secret, id, cluster, partitions };
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

/** Before the node says that it is there, it says what its program can do. */
async function enterCluster(
  { cluster, secrets }: Config,
  warn: (message: string) => void,
): Promise<Pick<Installation, "id" | "partitions" | "format"> & { readonly cluster: string; readonly shared: Buffer }> {
  const { url, node } = cluster;
  const { endpoints, name } = readClusterUrl(url);
  const map = new ClusterMap(endpoints, name, readEtcdTls(cluster));
  try {
    const { refused, warnings } = await map.examine();
    for (const warning of warnings) warn(warning);
    if (refused.length > 0) throw new DataDirectoryError(`${refused.join(". ")}.`);
    for (;;) {
      const found = await map.meta();
      if (found === null)
        throw new DataDirectoryError(
          `There is no cluster ${url} yet: make it with \`tessera cluster init\` on the first node.`,
        );
      const { installation, partitions, format, sealed } = found.meta;
      const shared = sharedSecret(sealed, secrets);
      const refusal = refusalOf(node, format, (await map.releases()).nodes);
      if (refusal !== null) throw new DataDirectoryError(refusal);
      if (await map.announce(node, OWN_RELEASE, found))
        return { id: installation, partitions, format, shared, cluster: await map.id() };
    }
  } finally {
    map.close();
  }
}

function sharedSecret(sealed: string, secrets: Config["secrets"]): Buffer {
  const shared = unsealFromNodes(sealed, secrets);
  if (shared !== null) return Buffer.from(shared);
  throw new DataDirectoryError(
    `The key file ${secrets.keyFile} does not open the cluster's secret: copy the key file of the node that made the cluster.`,
  );
}

/** Null: nothing is kept outside of nodes. Throws what the operator has to do. */
async function checkpointPlace({ cluster }: Config, data: JoinedData, logger: Logger): Promise<CheckpointPlace | null> {
  // A copy of the installation may be another cluster.
  const names = { installation: `${data.id}/${readClusterUrl(cluster.url).name}`, cluster: data.cluster };
  const { checkpoints: place, checkpointsEndpoint, checkpointsRegion: region } = cluster;
  if (place === "") return null;
  const key = checkpointKey(data.secret);
  if (!place.startsWith("s3://")) {
    const problem = await checkFolder(place, (message) => logger.warn(message));
    if (problem !== null) throw new ConfigError([problem]);
    return { place, s3: null, key, ...names };
  }
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
    throw new ConfigError([
      "cluster.checkpoints: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are missing in the environment",
    ]);
  const endpoint = checkpointsEndpoint === "" ? `https://s3.${region}.amazonaws.com` : checkpointsEndpoint;
  const keys = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
  const s3 = { endpoint, region, ...keys, ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }) };
  return { place, s3, key, ...names };
}

/** Without it the node serves all the same, so whoever runs it is told. */
function startCheckpoints(workerData: CheckpointThreadSettings, logger: Logger): Worker {
  const thread = new Worker(threadEntry("checkpoints"), { workerData });
  thread.on("message", ({ level, message, fields }: CheckpointLine) => logger[level](fields, message));
  thread.on("error", (error) => logger.error({ err: error }, "the thread of the checkpoints ended: restart the node"));
  return thread;
}

/** What it does at the moment it does not end. */
async function endCheckpoints(thread: Worker | null): Promise<void> {
  if (thread === null) return;
  const ended = once(thread, "exit").catch(() => undefined);
  thread.postMessage("end");
  const waited = new AbortController();
  await Promise.race([ended, sleep(END_MS_MAX, undefined, { signal: waited.signal }).catch(() => undefined)]);
  waited.abort();
  await thread.terminate();
}

/** Where clients of Bolt reach the node; empty: it does not speak Bolt. */
function boltAddress({ bolt, cluster }: Config): string {
  if (bolt.port === 0) return "";
  if (bolt.advertisedAddress !== "") return bolt.advertisedAddress;
  return `${cluster.advertise.slice(0, cluster.advertise.lastIndexOf(":"))}:${bolt.port}`;
}

/** Other nodes may connect from now on. */
export async function startNode(config: Config, data: JoinedData, logger: Logger): Promise<ClusterNode> {
  const { secret, partitions } = data;
  const { url, node, advertise, listen, reads, copies, replaceAfterSeconds } = config.cluster;
  const { endpoints, name } = readClusterUrl(url);
  const tls = readEtcdTls(config.cluster);
  const memory = newLeaseMemory(config.actors.count);
  const map = new ClusterMap(endpoints, name, tls);
  const key = peerKey(secret);
  const log = (level: "warn" | "info", message: string, fields: object): void => logger[level](fields, message);
  const checkpoints = new CheckpointServer({ dataDirectory: config.data.dir, log });
  const routes = new ClusterRoutes({
    ...{ node, partitions, map, key, checkpoints, log, bundles: new BundleServer(config.ai.modelRoot, log) },
    lease: new LeaseMemory(memory),
  });
  const server = await listenToPeers(listen === "" ? advertise : listen, key, (socket) => routes.accept(socket));
  let thread: Worker | null = null;
  let isClosing = false;
  const place = await checkpointPlace(config, data, logger);
  let keeper: Worker | null = null;
  const room = new ToldRoom(
    (isFull) => map.full(node, isFull),
    (error) => logger.warn({ err: error }, "etcd is not told whether the disk is full"),
  );
  return {
    routes,
    models: { endpoints, ...(tls && { tls }), name, node, peerKey: key },
    settings: {
      ...{ endpoints, ...(tls && { tls }), name, node, reads, copies, peerKey: key, lease: memory },
      replaceAfterMs: replaceAfterSeconds * 1000,
      ...(place !== null && { checkpoints: place }),
    },
    async begin() {
      const warn = (message: string): void => logger.warn(message);
      const since = await onceEtcdAnswers(() => map.leave(node, false), warn);
      await onceEtcdAnswers(() => room.begin(), warn);
      thread = new Worker(threadEntry("lease"), {
        workerData: { endpoints, tls, name, node, address: advertise, bolt: boltAddress(config), memory },
      });
      thread.on("error", (error) => logger.error({ err: error }, "the thread of the lease threw"));
      thread.on("exit", (code) => {
        if (isClosing) return;
        // Without it nothing is served: whoever started this process has to know.
        logger.fatal({ code }, "the thread of the lease ended");
        process.exit(1);
      });
      if (place === null) return;
      const everyMs = config.cluster.checkpointSeconds * 1000;
      const kept = { endpoints, tls, name, node, dataDirectory: config.data.dir, place, everyMs, since };
      keeper = startCheckpoints(kept, logger);
    },
    diskBecame: (isFull) => room.became(isFull),
    async leave() {
      // Without etcd nobody is told; others take over when the lease has run out.
      await map.leave(node, true).catch((error: unknown) => logger.warn({ err: error }, "etcd is not told of the end"));
    },
    async close() {
      isClosing = true;
      room.close();
      await endCheckpoints(keeper);
      server.close();
      await routes.close();
      await checkpoints.close();
      map.close();
      await thread?.terminate();
    },
  };
}
