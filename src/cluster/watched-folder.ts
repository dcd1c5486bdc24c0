/**
 * What etcd holds below a key, read again and again: each read gives only what has changed since the one before.
 * Deletions show in the number of keys, and then all is read anew. Reads stay linearizable: etcd's watches only say
 * when to read (etcd-watch.ts). Owned by cluster-map.ts.
 */
import type { KeyValue, RangeResponse } from "./etcd_pb.js";
import { RangeRequest_SortOrder } from "./etcd_pb.js";
import type { EtcdClient } from "./etcd-client.js";
import { type EtcdOperation, endOf, range, text } from "./etcd-log-service.js";

/** Keys of a page: what is taken in one turn. */
const PAGE_KEYS = 512;

/** Its entries by the rest of their keys. A map that was given away never changes. */
export class WatchedFolder<T> {
  entries: ReadonlyMap<string, T> = new Map();
  /** The revision of the last read; 0: none. */
  private since = 0n;

  constructor(
    private readonly key: Buffer,
    private readonly parse: (kv: KeyValue) => T,
  ) {}

  get request(): EtcdOperation {
    const { key, since } = this;
    const minModRevision = since === 0n ? 0n : since + 1n;
    return range({ key, rangeEnd: endOf(key), sortOrder: RangeRequest_SortOrder.NONE, minModRevision });
  }

  /** Takes the answer to `request` as of that revision. False: something was deleted, so it has to be read again. */
  take({ kvs, count }: Pick<RangeResponse, "kvs" | "count">, revision: bigint): boolean {
    if (kvs.length > 0) {
      const entries = new Map(this.entries);
      for (const kv of kvs) entries.set(text(kv.key).slice(this.key.length), this.parse(kv));
      this.entries = entries;
    }
    this.since = revision;
    if (this.entries.size === Number(count)) return true;
    this.since = 0n;
    this.entries = new Map();
    return false;
  }
}

/**
 * The sequences that nodes have reported, by partition and node: so many that they are read in pages, and kept in
 * place. What has changed since is mostly little, and is then read together with something else, as a folder is.
 */
export class WatchedReports {
  /** By partition and node. */
  of: ReadonlyMap<number, ReadonlyMap<string, number>>;
  private entries = new Map<number, Map<string, number>>();
  private keys = 0;
  private since = 0n;
  private readMs = Number.NEGATIVE_INFINITY;
  /** The last read found little that had changed, so `request` will do. */
  areFew = false;

  constructor(
    private readonly client: Pick<EtcdClient, "range">,
    private readonly key: Buffer,
  ) {
    this.of = this.entries;
  }

  /** They have not been read for so long. */
  isDue(ageMsMax: number): boolean {
    return ageMsMax <= 0 || performance.now() - this.readMs > ageMsMax;
  }

  get request(): EtcdOperation {
    const rangeEnd = endOf(this.key);
    return range({ key: this.key, rangeEnd, minModRevision: this.since + 1n, limit: BigInt(PAGE_KEYS) });
  }

  /** Takes the answer to `request` as of that revision. False: they have to be read in pages. */
  take({ kvs, count, more }: Pick<RangeResponse, "kvs" | "count" | "more">, revision: bigint): boolean {
    this.areFew = !more && this.taken(kvs, count, revision);
    return this.areFew;
  }

  /** Reads them in pages. */
  async read(): Promise<void> {
    while (!(await this.readChanges()));
  }

  /** False: some were deleted. */
  private async readChanges(): Promise<boolean> {
    const { client, since } = this;
    const minModRevision = since === 0n ? 0n : since + 1n;
    const rangeEnd = endOf(this.key);
    let key = this.key;
    let [revision, count, pages] = [0n, 0n, 0];
    for (let more = true; more; pages++) {
      // All pages are of one moment, that of the first.
      const page = await client.range({ key, rangeEnd, minModRevision, revision, limit: BigInt(PAGE_KEYS) });
      if (revision === 0n) [revision, count] = [page.header!.revision, page.count];
      this.put(page.kvs);
      more = page.more;
      if (more) key = Buffer.concat([page.kvs.at(-1)!.key, Buffer.of(0)]);
    }
    this.areFew = pages === 1;
    return this.taken([], count, revision);
  }

  /** All changes up to that revision are here. False: some were deleted. */
  private taken(kvs: readonly KeyValue[], count: bigint, revision: bigint): boolean {
    this.put(kvs);
    this.since = revision;
    this.readMs = performance.now();
    if (this.keys === Number(count)) return true;
    this.entries = new Map();
    this.of = this.entries;
    this.keys = 0;
    this.since = 0n;
    return false;
  }

  private put(kvs: readonly KeyValue[]): void {
    for (const { key, value } of kvs) {
      const [partition, node] = text(key).slice(this.key.length).split("/") as [string, string];
      const nodes = this.entries.get(Number(partition)) ?? new Map<string, number>();
      if (!nodes.has(node)) this.keys++;
      this.entries.set(Number(partition), nodes.set(node, Number(text(value))));
    }
  }
}
