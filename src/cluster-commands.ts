/** The commands `tessera cluster …`, which ask etcd and no server. Loaded by command-line.ts when one is run. */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClusterCheckOptions, checkCluster } from "./cluster/cluster-check.js";
import { ClusterMap, type ClusterView, type Draining, type FoundMeta, readClusterUrl } from "./cluster/cluster-map.js";
import { EtcdLogService } from "./cluster/etcd-log-service.js";
import { readEtcdTls } from "./cluster/etcd-tls.js";
import { TTL_MS } from "./cluster/lease.js";
import { commonFormat, mixOf } from "./cluster/releases.js";
import { ConfigError } from "./config/config-error.js";
import { lockDataDirectory } from "./config/data-lock.js";
import { openSecret, sealForNodes } from "./config/sealed-secret.js";
import type { Config } from "./protocol/config.js";
import { FileCommitLog } from "./storage/file-commit-log.js";
import { FORMAT_VERSION } from "./storage/format.js";
import { upgradeDataDirectory } from "./storage/format-upgrade.js";
import { addPartitions, readInstallation } from "./storage/installation.js";
import { partitionDirectory } from "./storage/partition-directory.js";

const PARTITIONS_MAX = 1024;

async function withMap<T>(config: Config, work: (map: ClusterMap) => Promise<T>): Promise<T> {
  if (config.cluster.url === "") throw new ConfigError(["cluster.url is missing: name the cluster (--cluster)"]);
  const { endpoints, name } = readClusterUrl(config.cluster.url);
  const map = new ClusterMap(endpoints, name, readEtcdTls(config.cluster));
  try {
    return await work(map);
  } finally {
    map.close();
  }
}

/** Makes the cluster of the data directory, which becomes its first node's. */
export function initCluster(config: Config, wanted: string): Promise<string> {
  const partitions = Number(wanted);
  if (!Number.isSafeInteger(partitions) || partitions < 1 || partitions > PARTITIONS_MAX)
    throw new ConfigError([`--partitions must be a whole number from 1 to ${PARTITIONS_MAX}`]);
  return withMap(config, async (map) => {
    const { node, url } = config.cluster;
    if (node === "") throw new ConfigError(["cluster.node is missing: give the first node a name (--node)"]);
    if (config.secrets.keyFile === "")
      throw new ConfigError(["secrets.key_file is missing: all nodes of a cluster need the same key file"]);
    const { dir } = config.data;
    const unlock = lockDataDirectory(dir);
    try {
      const secret = openSecret(dir, config.secrets);
      const found = await upgradeDataDirectory(dir, { keepsCopy: true, log: () => undefined });
      const installation = addPartitions(dir, found, partitions);
      const meta = {
        ...{
          id: randomUUID(),
          installation: installation.id,
          format: FORMAT_VERSION,
          partitions: installation.partitions,
        },
        sealed: sealForNodes(secret, config.secrets),
      };
      if (!(await map.init(meta, node, await newestOf(dir, installation.partitions))))
        throw new ConfigError([`${url} is a cluster already: start nodes with tessera serve`]);
      return `made the cluster ${url} with ${installation.partitions} partitions; start its first node with tessera serve`;
    } finally {
      unlock();
    }
  });
}

/** What each partition has, so that no node without it can become its owner. */
async function newestOf(dir: string, partitions: number): Promise<Map<number, number>> {
  const newest = new Map<number, number>();
  for (let partition = 0; partition < partitions; partition++) {
    const directory = join(partitionDirectory(dir, partition), "log");
    if (!existsSync(directory)) continue;
    const log = await FileCommitLog.open({ directory, isReadOnly: true });
    if (log.lastSequence > 0) newest.set(partition, log.lastSequence);
    await log.close();
  }
  return newest;
}

function stateOf(draining: Draining | undefined): string {
  if (draining === undefined) return "up";
  return draining === "ordered" ? "draining" : draining;
}

export function clusterStatus(config: Config): Promise<string> {
  return withMap(config, async (map) => {
    const { owners, members, draining, wants, durable, copySets } = await map.view();
    const { meta } = await metaOf(map, config.cluster.url);
    const releases = (await map.releases()).nodes;
    const nodes = [...members].map(([node, { address, isFenced }]) => {
      const owned = [...owners].filter(([, owner]) => owner.node === node).map(([partition]) => partition);
      const state = isFenced ? "down" : stateOf(draining.get(node));
      const release = releases.get(node)?.release ?? "";
      return `${node}\t${state}\t${address ?? ""}\t${release}\towns ${owned.length === 0 ? "nothing" : owned.join(", ")}`;
    });
    const partitions = [...owners].map(([partition, { node, epoch }]) => {
      const reports = durable.get(partition) ?? new Map<string, number>();
      const names = new Set([...(copySets.get(partition)?.nodes ?? []), ...reports.keys()]);
      const copies = [...names].sort().map((name) => `${name} ${reports.get(name) ?? "none yet"}`);
      const wished = wants.get(partition);
      return `${partition}\t${node}\tepoch ${epoch}\tcopies: ${copies.join(", ")}${wished === undefined ? "" : `\twanted: ${wished}`}`;
    });
    const heads = ["node\tstate\taddress\trelease\tpartitions", "partition\towner\tepoch\tcopies"];
    return [heads[0], ...nodes, "", heads[1], ...partitions, "", `data format\t${meta.format}`].join("\n");
  });
}

/** `isSound`: nothing is wrong. Takes some seconds, for nodes to renew and copies to follow. */
export function checkCopies(
  config: Config,
  silentMs = TTL_MS,
): Promise<{ readonly text: string; readonly isSound: boolean }> {
  return withMap(config, async (map) => {
    const { url, node, copies } = config.cluster;
    const { meta } = await metaOf(map, url);
    const { endpoints, name } = readClusterUrl(url);
    const service = new EtcdLogService({ endpoints, tls: readEtcdTls(config.cluster), installation: name });
    try {
      const { refused, warnings } = await map.examine();
      const local = node === "" ? null : localCopies(config, meta.installation);
      const { partitions } = meta;
      const found = await checkCluster({ map, service, partitions, copies, silentMs, ...(local && { local }) });
      const problems = found.problems.map(({ partition, what }) =>
        partition === null ? what : `partition ${partition}: ${what}`,
      );
      problems.unshift(...refused);
      const compared = local === null ? "" : `, ${found.compared} of them compared with the disk of ${node}`;
      const sum = `${problems.length === 0 ? "no" : problems.length} problems; ${partitions} partitions`;
      const mixed = mixOf((await map.releases()).nodes);
      const notes = mixed === null ? warnings : [...warnings, mixed];
      const lines = [...notes.map((note) => `note: ${note}`), ...problems];
      return {
        text: [...lines, `${sum}, ${found.commits} commits in etcd${compared}`].join("\n"),
        isSound: problems.length === 0,
      };
    } finally {
      await service.close();
    }
  });
}

function localCopies({ data, cluster }: Config, installation: string): ClusterCheckOptions["local"] & object {
  if (readInstallation(data.dir)?.id !== installation)
    throw new ConfigError([`${data.dir} is no data directory of this cluster: leave --node out, or name its data.dir`]);
  return { node: cluster.node, logOf: (partition) => join(partitionDirectory(data.dir, partition), "log") };
}

async function metaOf(map: ClusterMap, url: string): Promise<FoundMeta> {
  const found = await map.meta();
  if (found === null) throw new ConfigError([`there is no cluster ${url}: make it with tessera cluster init`]);
  return found;
}

/** All nodes have been upgraded: they may write what older releases cannot read. */
export function finalizeUpgrade(config: Config): Promise<string> {
  return withMap(config, async (map) => {
    for (;;) {
      const found = await metaOf(map, config.cluster.url);
      const { nodes, revision } = await map.releases();
      const silent = [...(await map.view()).members.keys()].filter((node) => !nodes.has(node));
      if (silent.length > 0 || nodes.size === 0)
        throw new ConfigError([
          `it is not known which release these nodes have: ${silent.join(", ") || "there are none yet"}; start them, or remove them`,
        ]);
      const { format, limitedBy } = commonFormat(nodes);
      if (format <= found.meta.format) {
        const mixed = mixOf(nodes);
        if (mixed === null) return `there is nothing to do: the data has format ${format}, the newest of this release`;
        throw new ConfigError([
          `${limitedBy.join(", ")} cannot read a newer format than ${found.meta.format}: upgrade these nodes first, or remove them`,
        ]);
      }
      if (!(await map.finalize(found, format, revision))) continue;
      return `the data has format ${format} now, so older releases cannot join any more; each node writes it from its next start on`;
    }
  });
}

export function drainNode(config: Config, node: string, isOver: boolean): Promise<string> {
  return withMap(config, async (map) => {
    const { members } = await map.view();
    if (!members.has(node)) throw new ConfigError([`there is no node ${node}: ${[...members.keys()].join(", ")}`]);
    await map.drain(node, !isOver);
    return isOver
      ? `${node} may own partitions again`
      : `${node} gives its partitions away; see tessera cluster status`;
  });
}

/** A node that is gone for good. It must be down, and must not have what no other node has. */
export function removeNode(config: Config, node: string, silentMs = TTL_MS): Promise<string> {
  return withMap(config, async (map) => {
    const before = await map.view();
    const revision = before.members.get(node)?.revision;
    const reported = reportsOf(before, node);
    const isKnown = revision !== undefined || (await map.releases()).nodes.has(node);
    if (!isKnown && reported.size === 0)
      throw new ConfigError([`there is no node ${node}: ${[...before.members.keys()].join(", ")}`]);
    await sleep(silentMs);
    const { members, durable } = await map.view();
    if (members.get(node)?.revision !== revision) throw new ConfigError([`${node} is up: stop it first`]);
    const alone = [...reported].filter(([partition, sequence]) =>
      [...durable.get(partition)!].every(([other, there]) => other === node || there < sequence),
    );
    if (alone.length > 0) {
      const numbers = alone.map(([partition]) => partition).join(", ");
      throw new ConfigError([
        `no other node has all that ${node} has of the partitions ${numbers} on its disk yet: see tessera cluster status, and try again when one has, or start ${node}`,
      ]);
    }
    if (!(await map.remove(node, revision ?? 0, reported))) throw new ConfigError([`${node} is up: stop it first`]);
    return `${node} is removed; its data directory may be deleted`;
  });
}

function reportsOf({ durable }: ClusterView, node: string): Map<number, number> {
  const found = [...durable].map(([partition, of]) => [partition, of.get(node)] as const);
  return new Map(found.flatMap(([partition, sequence]) => (sequence === undefined ? [] : [[partition, sequence]])));
}

export function handOver(config: Config, partition: string, node: string | null, isOver: boolean): Promise<string> {
  if ((node === null) !== isOver)
    throw new ConfigError(["name the node that shall own the partition, or say --over without a node"]);
  return withMap(config, async (map) => {
    const { meta } = await metaOf(map, config.cluster.url);
    const { members } = await map.view();
    const number = Number(partition);
    if (!Number.isSafeInteger(number) || number < 0 || number >= meta.partitions)
      throw new ConfigError([`there is no partition ${partition}: they are numbered 0 to ${meta.partitions - 1}`]);
    if (node === null) {
      await map.want(number, null);
      return `partition ${partition} goes wherever its turn is`;
    }
    if (!members.has(node)) throw new ConfigError([`there is no node ${node}: ${[...members.keys()].join(", ")}`]);
    await map.want(number, node);
    return `partition ${partition} goes to ${node}; see tessera cluster status`;
  });
}
