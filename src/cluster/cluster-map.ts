/**
 * What etcd holds of a cluster besides its logs: which partitions it has, who owns them, which nodes are alive, what
 * operators wish.
 */
import { DbError } from "../protocol/errors.js";
import type { EtcdTls } from "../protocol/messages.js";
import { RangeRequest_SortOrder } from "./etcd_pb.js";
import { EtcdClient } from "./etcd-client.js";
import { type EtcdFindings, judgeEtcd } from "./etcd-health.js";
import { type EtcdOperation, endOf, isAt, keysIn, ownerOf, put, range, text } from "./etcd-log-service.js";
import type { Member, MemberState, Owner } from "./log-service.js";

/** Written once, by `tessera cluster init`. */
export interface ClusterMeta {
  /** The id in the file INSTALLATION of each node. */
  readonly installation: string;
  readonly format: number;
  readonly partitions: number;
  /** The secret that all nodes share, sealed with the key of their key files. */
  readonly sealed: string;
}

/** At one moment. */
export interface ClusterView {
  readonly owners: ReadonlyMap<number, Owner>;
  readonly members: ReadonlyMap<string, Member>;
  /** By partition: who shall own it while that node lives. */
  readonly wants: ReadonlyMap<number, string>;
  /** Nodes that shall own nothing. */
  readonly draining: ReadonlySet<string>;
  /** By partition and node: the newest sequence that the node has on its disk. */
  readonly durable: ReadonlyMap<number, ReadonlyMap<string, number>>;
}

export class ClusterMap {
  private readonly client: EtcdClient;
  private readonly prefix: string;

  constructor(endpoints: readonly string[], name: string, tls?: EtcdTls) {
    this.client = new EtcdClient({ endpoints, tls });
    this.prefix = `/tessera/${name}/`;
  }

  /** Whether etcd can be relied on. */
  async examine(): Promise<EtcdFindings> {
    return judgeEtcd(await this.client.memberStatus());
  }

  /** Null: `tessera cluster init` has not been run. */
  async meta(): Promise<ClusterMeta | null> {
    const { kvs } = await this.client.range({ key: this.key("meta") });
    return kvs[0] === undefined ? null : (JSON.parse(text(kvs[0].value)) as ClusterMeta);
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

  /** Linearizable, in one step. */
  async view(): Promise<ClusterView> {
    const all = (folder: string): EtcdOperation => {
      const key = this.key(folder);
      return range({ key, rangeEnd: endOf(key), sortOrder: RangeRequest_SortOrder.NONE });
    };
    const folders = ["own/", "node/", "want/", "drain/", "at/", "leave/"];
    const { responses } = await this.client.txn({ success: folders.map(all) });
    const [owners, members, wants, draining, durable, leaving] = folders.map((folder, index) =>
      keysIn(responses[index]).map((kv) => [text(kv.key).slice(this.prefix.length + folder.length), kv] as const),
    );
    const copies = new Map<number, Map<string, number>>();
    for (const [place, { value }] of durable!) {
      const [partition, node] = place.split("/") as [string, string];
      const of = copies.get(Number(partition)) ?? new Map<string, number>();
      copies.set(Number(partition), of.set(node, Number(text(value))));
    }
    return {
      owners: new Map(owners!.map(([partition, kv]) => [Number(partition), ownerOf([kv])!])),
      members: new Map(
        members!.map(([node, { value, modRevision }]) => [
          node,
          { ...(JSON.parse(text(value)) as MemberState), revision: Number(modRevision) },
        ]),
      ),
      wants: new Map(wants!.map(([partition, { value }]) => [Number(partition), text(value)])),
      draining: new Set([...draining!, ...leaving!].map(([node]) => node)),
      durable: copies,
    };
  }

  /** Null: it goes where the placement has it. */
  async want(partition: number, node: string | null): Promise<void> {
    await this.set(`want/${partition}`, node);
  }

  /** An operator's order, until it is taken back. */
  drain(node: string, isDraining: boolean): Promise<void> {
    return this.set(`drain/${node}`, isDraining ? "1" : null);
  }

  /** The node is about to end, until it is started again. */
  leave(node: string, isLeaving: boolean): Promise<void> {
    return this.set(`leave/${node}`, isLeaving ? "1" : null);
  }

  /**
   * Forgets the node: nothing waits for its copies any more, and it owns nothing. False: it has renewed since that
   * revision, or has reported something else than this.
   */
  async remove(node: string, revision: number, reported: ReadonlyMap<number, number>): Promise<boolean> {
    const at = (partition: number): Buffer => this.key(`at/${partition}/${node}`);
    const names = [`node/${node}`, `drain/${node}`, `leave/${node}`];
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

  private async set(name: string, value: string | null): Promise<void> {
    const key = this.key(name);
    await this.client.txn({ success: [value === null ? deletion(key) : put(key, value)] });
  }

  close(): void {
    this.client.close();
  }

  private key(name: string): Buffer {
    return Buffer.from(this.prefix + name);
  }
}

const OPERATIONS_MAX = 100;

function deletion(key: Buffer): EtcdOperation {
  return { request: { case: "requestDeleteRange", value: { key } } };
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
