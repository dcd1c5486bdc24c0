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
 * place.
 */
export class WatchedReports {
  private of = new Map<number, Map<string, number>>();
  private keys = 0;
  private since = 0n;
  private readMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly client: Pick<EtcdClient, "range">,
    private readonly key: Buffer,
  ) {}

  /** As they are, or have been at most so long ago. */
  async read(ageMsMax: number): Promise<ReadonlyMap<number, ReadonlyMap<string, number>>> {
    const began = performance.now();
    if (ageMsMax > 0 && began - this.readMs <= ageMsMax) return this.of;
    while (!(await this.readChanges()));
    this.readMs = began;
    return this.of;
  }

  /** False: some were deleted. */
  private async readChanges(): Promise<boolean> {
    const { client, since } = this;
    const minModRevision = since === 0n ? 0n : since + 1n;
    const rangeEnd = endOf(this.key);
    let key = this.key;
    let [revision, count] = [0n, 0n];
    for (;;) {
      // All pages are of one moment, that of the first.
      const page = await client.range({ key, rangeEnd, minModRevision, revision, limit: BigInt(PAGE_KEYS) });
      if (revision === 0n) [revision, count] = [page.header!.revision, page.count];
      for (const kv of page.kvs) this.take(kv);
      if (!page.more) break;
      key = Buffer.concat([page.kvs.at(-1)!.key, Buffer.of(0)]);
    }
    this.since = revision;
    if (this.keys === Number(count)) return true;
    this.of = new Map();
    this.keys = 0;
    this.since = 0n;
    return false;
  }

  private take({ key, value }: KeyValue): void {
    const [partition, node] = text(key).slice(this.key.length).split("/") as [string, string];
    const nodes = this.of.get(Number(partition)) ?? new Map<string, number>();
    if (!nodes.has(node)) this.keys++;
    this.of.set(Number(partition), nodes.set(node, Number(text(value))));
  }
}
