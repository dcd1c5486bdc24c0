/** Reads a file of a model at another node (bundle-server.ts). */
import { DbError } from "../protocol/errors.js";
import type { BundleFile, PeerBytes } from "../protocol/shared-models.js";
import type { BundleAnswer, BundleRead } from "./bundle-messages.js";
import { connectPeer, type PeerConnection } from "./peer-link.js";

const READ_BYTES = 512 * 1024;
/** For one answer. */
const ANSWER_MS_MAX = 30_000;

export interface BundlePeer {
  /** Of the node that has the model: host:port of its peer link. */
  readonly address: string;
  /** The name of this node. */
  readonly node: string;
  /** Of the peer link. */
  readonly key: Uint8Array;
}

/** Its bytes from that one on, over a connection of its own. Throws when the node is not reached or refuses. */
export async function openBundleFile(
  peer: BundlePeer,
  file: BundleFile,
  from: number,
  signal: AbortSignal,
): Promise<PeerBytes> {
  const link = await BundleLink.connect(peer, signal);
  try {
    const first = await link.read(file, from);
    const stream = {
      [Symbol.asyncIterator]: () => piecesOf(link, file, from, first),
      // Of one that is not read.
      destroy: () => link.close(),
    };
    return { bytesTotal: first.bytesTotal, stream };
  } catch (error) {
    link.close();
    throw error;
  }
}

type Piece = Extract<BundleAnswer, { readonly kind: "bundle-bytes" }>;

async function* piecesOf(link: BundleLink, file: BundleFile, from: number, first: Piece): AsyncGenerator<Uint8Array> {
  try {
    let [at, piece] = [from, first];
    while (at < first.bytesTotal) {
      if (piece.bytes.length === 0) throw new Error(`${file.file} ended at ${at} of ${first.bytesTotal} bytes`);
      at += piece.bytes.length;
      // The next piece is on its way while this one is taken.
      const next = at < first.bytesTotal ? link.read(file, at) : null;
      next?.catch(() => undefined);
      yield piece.bytes;
      if (next !== null) piece = await next;
    }
  } finally {
    link.close();
  }
}

/** One question at a time. */
class BundleLink {
  private connection!: PeerConnection;
  private waiting: { resolve(piece: Piece): void; reject(error: Error): void } | null = null;
  private failure: Error | null = null;

  static async connect({ address, node, key }: BundlePeer, signal: AbortSignal): Promise<BundleLink> {
    const link = new BundleLink();
    signal.throwIfAborted();
    const abort = (): void => link.close();
    link.connection = await connectPeer(address, node, Buffer.from(key), {
      frames: () => undefined,
      control: (_partition, message) => link.heard(message as BundleAnswer),
      closed: () => {
        signal.removeEventListener("abort", abort);
        link.fail(new DbError("partition_unavailable", "the connection is gone"));
      },
    });
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) link.close();
    return link;
  }

  async read(file: BundleFile, at: number): Promise<Piece> {
    if (this.failure !== null) throw this.failure;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Piece>((resolve, reject) => {
        timer = setTimeout(() => reject(new Error("the other node does not answer")), ANSWER_MS_MAX);
        this.waiting = { resolve, reject };
        this.connection.control(0, { kind: "bundle-read", ...file, at, bytes: READ_BYTES } satisfies BundleRead);
      });
    } finally {
      clearTimeout(timer);
      this.waiting = null;
    }
  }

  close(): void {
    this.connection.close();
  }

  private heard(answer: BundleAnswer): void {
    if (answer.kind === "bundle-refused") this.fail(new Error(`it does not give it: ${answer.why}`));
    else if (answer.kind === "bundle-bytes") this.waiting?.resolve(answer);
  }

  private fail(error: Error): void {
    this.failure ??= error;
    this.waiting?.reject(this.failure);
  }
}
