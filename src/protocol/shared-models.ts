/**
 * Models of a cluster: what all nodes shall have, and what each of them has. Kept in etcd by
 * src/cluster/shared-models.ts and used by the library of models (src/ai/library), which knows it by this interface
 * alone.
 */

export type ModelWish =
  | {
      readonly state: "wanted";
      /** As it was pulled, `name:tag`. */
      readonly model: string;
      /** SHA-256 of the bundle's manifest, which names the bundle to the byte. */
      readonly digest: string;
      /** Milliseconds since the epoch. */
      readonly sinceMs: number;
    }
  | { readonly state: "deleted"; readonly sinceMs: number };

/** What a node says of itself. */
export interface NodeModels {
  /** By id: the digest. */
  readonly has: Readonly<Record<string, string>>;
  /** By id: why the node does not have what it shall have, or still has what was deleted. */
  readonly problems: Readonly<Record<string, string>>;
}

/** At one moment. */
export interface SharedView {
  /** By id. */
  readonly wishes: ReadonlyMap<string, ModelWish>;
  /** By node: those that have said something. */
  readonly nodes: ReadonlyMap<string, NodeModels>;
}

/** What takes a wish back. */
export interface WishChange {
  readonly id: string;
  /** Null: there was none. */
  readonly before: ModelWish | null;
  readonly revision: number;
}

/** Calls reject with `log_unavailable` when etcd does not answer. All that is read is linearizable. */
export interface SharedModels {
  /** This node's name. */
  readonly node: string;
  view(): Promise<SharedView>;
  wish(id: string): Promise<ModelWish | null>;
  /** Null: it was so already. */
  set(id: string, wish: ModelWish): Promise<WishChange | null>;
  /** The same where nobody has said anything of that model. */
  setFirst(id: string, wish: ModelWish): Promise<void>;
  /** What was before holds again, unless somebody has said something since. */
  takeBack(change: WishChange): Promise<void>;
  /** What this node has, unless the last view says so already. */
  tell(models: NodeModels): Promise<void>;
  /** Opens a file of a bundle that the node has, from that byte on. Rejects when the node does not give it. */
  open(node: string, file: BundleFile, from: number, signal: AbortSignal): Promise<PeerBytes>;
  close(): void;
}

/** `file`: manifest.json, or one that it lists. */
export interface BundleFile {
  readonly id: string;
  readonly digest: string;
  readonly file: string;
}

export interface PeerBytes {
  /** Of the whole file. */
  readonly bytesTotal: number;
  readonly stream: AsyncIterable<Uint8Array>;
}
