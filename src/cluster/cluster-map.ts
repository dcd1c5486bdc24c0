/**
 * What etcd holds of a cluster besides its logs: which partitions it has, who owns them, which nodes are alive, what
 * operators wish.
 */
import { randomUUID } from "node:crypto";
import { DbError } from "../protocol/errors.js";
import type { EtcdTls } from "../protocol/messages.js";
import type { KeyValue, RangeResponse, ResponseOp } from "./etcd_pb.js";
import { EtcdClient } from "./etcd-client.js";
import { type EtcdFindings, judgeEtcd } from "./etcd-health.js";
import {
  checkpointOf,
  copySetOf,
  deletion,
  type EtcdCompare,
  isAt,
  isUnchangedSince,
  ownerOf,
  put,
  text,
} from "./etcd-log-service.js";
import { EtcdWatch } from "./etcd-watch.js";
import type { CopySet, Member, MemberState, Owner, Revision, StoredCheckpoint } from "./log-service.js";
import type { NodeRelease } from "./releases.js";
import { WatchedFolder, WatchedReports } from "./watched-folder.js";

/** Written by `tessera cluster init`; `tessera cluster finalize` raises the format. */
export interface ClusterMeta {
  /** The cluster's own, made up at random; absent: an earlier release made the cluster. */
  readonly id?: string;
  /** The id in the file INSTALLATION of each node. */
  readonly installation: string;
  /** Of the data: no node writes a newer one (releases.ts). */
  readonly format: number;
  readonly partitions: number;
  /** The secret that all nodes share, sealed with the key of their key files. */
  readonly sealed: string;
}

/** As it was at a revision of etcd's. */
export interface FoundMeta {
  readonly meta: ClusterMeta;
  readonly revision: Revision;
}

/** By an operator's order, because the node is about to end, or because its disk is full. */
export type Draining = "ordered" | "ending" | "disk full";

/** At one moment. */
export interface ClusterView {
  readonly owners: ReadonlyMap<number, Owner>;
  readonly members: ReadonlyMap<string, Member>;
  /** By partition: the nodes that keep a copy. Of one that is not there each node does. */
  readonly copySets: ReadonlyMap<number, CopySet>;
  /** By partition: what is kept of it outside of all nodes. */
  readonly checkpoints: ReadonlyMap<number, StoredCheckpoint>;
  /** By partition: who shall own it while that node lives. */
  readonly wants: ReadonlyMap<number, string>;
  /** Nodes that shall own nothing as long as there are others, and why. */
  readonly draining: ReadonlyMap<string, Draining>;
  /** By partition and node: the newest sequence that the node has on its disk. Grows with later views. */
  readonly durable: ReadonlyMap<number, ReadonlyMap<string, number>>;
}

/** Changes of who owns what, or is to. */
export interface MapChanges {
  /** They are told within moments, as far as is known here. */
  readonly isLive: boolean;
  close(): void;
}

export function keepsCopy({ copySets }: Pick<ClusterView, "copySets">, node: string, partition: number): boolean {
  return copySets.get(partition)?.nodes.includes(node) ?? true;
}

export class ClusterMap {
  private readonly client: EtcdClient;
  private readonly prefix: string;
  private readonly folders;
  private readonly reports: WatchedReports;
  private readonly byPartition = new Map<string, { readonly entries: unknown; readonly map: unknown }>();
  private readonly watches: EtcdWatch[] = [];
  private viewing: Promise<unknown> = Promise.resolve();

  constructor(endpoints: readonly string[], name: string, tls?: EtcdTls) {
    this.client = new EtcdClient({ endpoints, tls });
    this.prefix = `/tessera/${name}/`;
    this.folders = {
      owners: new WatchedFolder(this.key("own/"), (kv) => ownerOf([kv])!),
      members: new WatchedFolder(this.key("node/"), memberOf),
      wants: new WatchedFolder(this.key("want/"), ({ value }) => text(value)),
      draining: new WatchedFolder(this.key("drain/"), () => true),
      leaving: new WatchedFolder(this.key("leave/"), () => true),
      full: new WatchedFolder(this.key("full/"), () => true),
      copySets: new WatchedFolder(this.key("copy/"), (kv) => copySetOf([kv])!),
      checkpoints: new WatchedFolder(this.key("checkpoint/"), (kv) => checkpointOf([kv])!),
    };
    this.reports = new WatchedReports(this.client, this.key("at/"));
  }

  /** Whether etcd can be relied on. */
  async examine(): Promise<EtcdFindings> {
    return judgeEtcd(await this.client.memberStatus());
  }

  /** Null: `tessera cluster init` has not been run. */
  async meta(): Promise<FoundMeta | null> {
    const [found] = (await this.client.range({ key: this.key("meta") })).kvs;
    if (found === undefined) return null;
    return { meta: JSON.parse(text(found.value)) as ClusterMeta, revision: Number(found.modRevision) };
  }

  /** The cluster's own id. One that an earlier release has made gets it now. Throws not_found. */
  async id(): Promise<string> {
    for (;;) {
      const found = await this.meta();
      if (found === null) throw new DbError("not_found", "There is no cluster of that name.");
      if (found.meta.id !== undefined) return found.meta.id;
      await this.replaceMeta(found, { id: randomUUID() });
    }
  }

  /** What nodes have said of their programs, whether they are up or not, and when that was so. */
  async releases(): Promise<{ readonly nodes: ReadonlyMap<string, NodeRelease>; readonly revision: Revision }> {
    const { header, kvs } = await this.client.range(this.allReleases());
    const start = this.key("release/").length;
    const nodes = new Map(
      kvs.map(({ key, value }) => [text(key.subarray(start)), JSON.parse(text(value)) as NodeRelease]),
    );
    return { nodes, revision: Number(header!.revision) };
  }

  /** The node's program, before it joins. False: the cluster is not the one that was found any more. */
  async announce(node: string, release: NodeRelease, { revision }: FoundMeta): Promise<boolean> {
    const success = [put(this.key(`release/${node}`), JSON.stringify(release))];
    return (await this.client.txn({ compare: [isAt(this.key("meta"), revision)], success })).succeeded;
  }

  /** False: the cluster has changed, or a node has said something since that revision. */
  finalize(found: FoundMeta, format: number, revision: Revision): Promise<boolean> {
    return this.replaceMeta(found, { format }, [isUnchangedSince(this.allReleases(), revision)]);
  }

  private allReleases(): { readonly key: Buffer; readonly rangeEnd: Buffer } {
    return { key: this.key("release/"), rangeEnd: this.key("release0") };
  }

  private async replaceMeta(
    { meta, revision }: FoundMeta,
    changes: Partial<ClusterMeta>,
    also: readonly EtcdCompare[] = [],
  ): Promise<boolean> {
    const key = this.key("meta");
    const success = [put(key, JSON.stringify({ ...meta, ...changes }))];
    return (await this.client.txn({ compare: [isAt(key, revision), ...also], success })).succeeded;
  }

  /** False: the cluster is there already. `node` has the partitions up to these sequences. */
  async init(meta: ClusterMeta, node: string, durable: ReadonlyMap<number, number>): Promise<boolean> {
    const key = this.key("meta");
    const reports = [...durable].map(([partition, sequence]) =>
      put(this.key(`at/${partition}/${node}`), String(sequence)),
    );
    const { succeeded } = await this.client.txn({
      compare: [isAt(key, 0)],
      success: [put(key, JSON.stringify(meta)), ...reports],
    });
    return succeeded;
  }

  /**
   * Linearizable, in one step; what costs time is only what has changed since the last view. What nodes have on their
   * disks is as new, or read just before, unless it was read at most so many milliseconds ago.
   */
  view(durableAgeMsMax = 0): Promise<ClusterView> {
    const view = this.viewing.then(() => this.viewNow(durableAgeMsMax));
    this.viewing = view.catch(() => undefined);
    return view;
  }

  /**
   * `told` is called when owners or wishes of operators may have changed since the last view: a hint, which may be late
   * or missing. Renewals and reports are no changes.
   */
  changes(told: () => void): MapChanges {
    const keys = ["own/", "want/", "drain/", "leave/", "full/"].map((name) => this.key(name));
    const watch = new EtcdWatch(() => this.client.watch(), keys, told);
    this.watches.push(watch);
    return watch;
  }

  private async viewNow(durableAgeMsMax: number): Promise<ClusterView> {
    const { reports } = this;
    let isDue = reports.isDue(durableAgeMsMax);
    const { owners, members, wants, draining, leaving, full, copySets, checkpoints } = this.folders;
    const folders = [owners, members, wants, draining, leaving, full, copySets, checkpoints];
    for (let isWhole = false; !isWhole; ) {
      if (isDue && !reports.areFew) {
        await reports.read();
        isDue = false;
      }
      const asked = isDue ? [...folders, reports] : folders;
      const { responses, header } = await this.client.txn({ success: asked.map(({ request }) => request) });
      // Each of them takes its part.
      const taken = asked.map((one, index) => one.take(rangeIn(responses[index]), header!.revision));
      isWhole = !taken.includes(false);
    }
    return {
      owners: this.numbered("owners", owners.entries),
      members: members.entries,
      wants: this.numbered("wants", wants.entries),
      copySets: this.numbered("copySets", copySets.entries),
      checkpoints: this.numbered("checkpoints", checkpoints.entries),
      draining: new Map<string, Draining>([
        ...[...full.entries.keys()].map((node) => [node, "disk full"] as const),
        ...[...draining.entries.keys()].map((node) => [node, "ordered"] as const),
        ...[...leaving.entries.keys()].map((node) => [node, "ending"] as const),
      ]),
      durable: reports.of,
    };
  }

  /** By partition; the same map for the same entries. */
  private numbered<T>(name: string, entries: ReadonlyMap<string, T>): ReadonlyMap<number, T> {
    const known = this.byPartition.get(name);
    if (known?.entries === entries) return known.map as ReadonlyMap<number, T>;
    const map = new Map([...entries].map(([partition, value]) => [Number(partition), value]));
    this.byPartition.set(name, { entries, map });
    return map;
  }

  /** Null: it goes where the placement has it. */
  async want(partition: number, node: string | null): Promise<void> {
    await this.set(`want/${partition}`, node);
  }

  /** An operator's order, until it is taken back. */
  async drain(node: string, isDraining: boolean): Promise<void> {
    await this.set(`drain/${node}`, isDraining ? "1" : null);
  }

  /** The node is about to end, until it is started again. Whatever is claimed from then on has a greater revision. */
  leave(node: string, isLeaving: boolean): Promise<Revision> {
    return this.set(`leave/${node}`, isLeaving ? "1" : null);
  }

  /** The node has no room for writes, or has it again. */
  async full(node: string, isFull: boolean): Promise<void> {
    await this.set(`full/${node}`, isFull ? "1" : null);
  }

  /**
   * Forgets the node: nothing waits for its copies any more, and it owns nothing. False: it has renewed since that
   * revision, or has reported something else than this.
   */
  async remove(node: string, revision: number, reported: ReadonlyMap<number, number>): Promise<boolean> {
    const at = (partition: number): Buffer => this.key(`at/${partition}/${node}`);
    const names = ["node", "drain", "leave", "full", "release", "models"].map((kind) => `${kind}/${node}`);
    const gone = [...names.map((name) => this.key(name)), ...[...reported.keys()].map(at)];
    // etcd takes 128 operations in a transaction. What is left of a removal that was cut short is removed by the next.
    const [first, ...rest] = inGroups(gone, OPERATIONS_MAX);
    const { succeeded } = await this.client.txn({
      compare: [isAt(this.key(`node/${node}`), revision)],
      success: first!.map(deletion),
    });
    if (succeeded) for (const keys of rest) await this.client.txn({ success: keys.map(deletion) });
    return succeeded;
  }

  private async set(name: string, value: string | null): Promise<Revision> {
    const key = this.key(name);
    const { header } = await this.client.txn({ success: [value === null ? deletion(key) : put(key, value)] });
    return Number(header!.revision);
  }

  close(): void {
    for (const watch of this.watches) watch.close();
    this.client.close();
  }

  private key(name: string): Buffer {
    return Buffer.from(this.prefix + name);
  }
}

const OPERATIONS_MAX = 100;

function memberOf({ value, modRevision }: KeyValue): Member {
  return { ...(JSON.parse(text(value)) as MemberState), revision: Number(modRevision) };
}

export function rangeIn(response: ResponseOp | undefined): RangeResponse {
  if (response?.response.case !== "responseRange") throw new DbError("internal_error", "etcd did not answer a range.");
  return response.response.value;
}

function inGroups<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, group) =>
    all.slice(group * size, (group + 1) * size),
  );
}

/** Of `cluster.url`: etcd://host:port,host:port/name. */
export function readClusterUrl(url: string): { readonly endpoints: readonly string[]; readonly name: string } {
  const [, members, name] = /^etcd:\/\/([^/\s]+)\/([\w-]+)$/.exec(url) ?? [];
  if (members === undefined || name === undefined) {
    const shape = "etcd://host:port,host:port,host:port/name";
    throw new DbError("invalid_request", `cluster.url is ${JSON.stringify(url)}; write it as ${shape}.`);
  }
  return { endpoints: members.split(",").map((one) => (one.includes(":") ? one : `${one}:2379`)), name };
}
