/**
 * The models of a cluster in etcd: `model/{id}` says whether all nodes shall have a model, `models/{node}` what a node
 * has. Each change is one transaction on the revision that was read. Made by the library's thread (workers/library.ts),
 * which has a client of etcd of its own.
 */
import type { EtcdModelsSettings } from "../protocol/messages.js";
import type {
  BundleFile,
  ModelWish,
  NodeModels,
  PeerBytes,
  SharedModels,
  SharedView,
  WishChange,
} from "../protocol/shared-models.js";
import { openBundleFile } from "./bundle-fetch.js";
import { rangeIn } from "./cluster-map.js";
import type { KeyValue } from "./etcd_pb.js";
import { EtcdClient } from "./etcd-client.js";
import { deletion, isAt, put, text } from "./etcd-log-service.js";
import type { MemberState } from "./log-service.js";
import { WatchedFolder } from "./watched-folder.js";

export class EtcdModels implements SharedModels {
  readonly node: string;
  private readonly client: EtcdClient;
  private readonly prefix: string;
  private readonly wishes;
  private readonly told;
  private viewing: Promise<unknown> = Promise.resolve();

  constructor(private readonly settings: EtcdModelsSettings) {
    const { endpoints, tls, name, node } = settings;
    this.node = node;
    this.client = new EtcdClient({ endpoints, tls });
    this.prefix = `/tessera/${name}/`;
    this.wishes = new WatchedFolder(this.key("model/"), wishOf);
    this.told = new WatchedFolder(this.key("models/"), ({ value }) => JSON.parse(text(value)) as NodeModels);
  }

  view(): Promise<SharedView> {
    // A folder takes one answer at a time.
    const view = this.viewing.then(() => this.viewNow());
    this.viewing = view.catch(() => undefined);
    return view;
  }

  private async viewNow(): Promise<SharedView> {
    const { wishes, told } = this;
    const folders = [wishes, told];
    for (let isWhole = false; !isWhole; ) {
      const { responses, header } = await this.client.txn({ success: folders.map(({ request }) => request) });
      const taken = folders.map((folder, index) => folder.take(rangeIn(responses[index]), header!.revision));
      isWhole = !taken.includes(false);
    }
    return { wishes: wishes.entries, nodes: told.entries };
  }

  async wish(id: string): Promise<ModelWish | null> {
    return (await this.read(id)).wish;
  }

  private async read(id: string): Promise<{ readonly wish: ModelWish | null; readonly revision: number }> {
    const [found] = (await this.client.range({ key: this.keyOf(id) })).kvs;
    return found === undefined
      ? { wish: null, revision: 0 }
      : { wish: wishOf(found), revision: Number(found.modRevision) };
  }

  async set(id: string, wish: ModelWish): Promise<WishChange | null> {
    for (;;) {
      const { wish: before, revision } = await this.read(id);
      if (before !== null && isSame(before, wish)) return null;
      const after = await this.replace(id, wish, revision);
      if (after !== null) return { id, before, revision: after };
    }
  }

  async setFirst(id: string, wish: ModelWish): Promise<void> {
    await this.replace(id, wish, 0);
  }

  async takeBack({ id, before, revision }: WishChange): Promise<void> {
    await this.replace(id, before, revision);
  }

  /** Null: somebody else has changed it. */
  private async replace(id: string, wish: ModelWish | null, revision: number): Promise<number | null> {
    const key = this.keyOf(id);
    const { succeeded, header } = await this.client.txn({
      compare: [isAt(key, revision)],
      success: [wish === null ? deletion(key) : put(key, JSON.stringify(wish))],
    });
    return succeeded ? Number(header!.revision) : null;
  }

  async tell(models: NodeModels): Promise<void> {
    const value = JSON.stringify(models);
    const known = this.told.entries.get(this.node);
    if (known !== undefined && JSON.stringify(known) === value) return;
    await this.client.txn({ success: [put(this.key(`models/${this.node}`), value)] });
  }

  async open(node: string, file: BundleFile, from: number, signal: AbortSignal): Promise<PeerBytes> {
    const [member] = (await this.client.range({ key: this.key(`node/${node}`) })).kvs;
    const { address } = member === undefined ? {} : (JSON.parse(text(member.value)) as Partial<MemberState>);
    if (address === undefined) throw new Error("its address is not known");
    return openBundleFile({ address, node: this.node, key: this.settings.peerKey }, file, from, signal);
  }

  close(): void {
    this.client.close();
  }

  private keyOf(id: string): Buffer {
    return this.key(`model/${id}`);
  }

  private key(name: string): Buffer {
    return Buffer.from(this.prefix + name);
  }
}

function wishOf({ value }: KeyValue): ModelWish {
  return JSON.parse(text(value)) as ModelWish;
}

function isSame(one: ModelWish, other: ModelWish): boolean {
  if (one.state === "deleted" || other.state === "deleted") return one.state === other.state;
  return one.model === other.model && one.digest === other.digest;
}
