/**
 * The other nodes of a cluster as a source: they give what all nodes shall have. It is asked last, and what comes is
 * checked by the digests that etcd has. Made by the library's thread.
 */
import { createHash } from "node:crypto";
import type { SharedModels } from "../../protocol/shared-models.js";
import { bundleOffer, MANIFEST_BYTES_MAX } from "./bundle-offer.js";
import { type ModelReference, referenceText } from "./model-reference.js";
import type { FileBytes, ModelSource, Offer } from "./model-source.js";
import { SourceError } from "./source-error.js";

export const OTHER_NODES = "other nodes";

export class PeerSource implements ModelSource {
  readonly name = OTHER_NODES;

  constructor(private readonly shared: Pick<SharedModels, "node" | "view" | "open">) {}

  async find(model: ModelReference, signal: AbortSignal): Promise<Offer | null> {
    const text = referenceText(model);
    const { wishes, nodes } = await this.shared.view();
    for (const [id, wish] of wishes) {
      if (wish.state !== "wanted" || (wish.model !== text && `${id}:${model.tag}` !== text)) continue;
      const having = [...nodes].filter(([node, told]) => node !== this.shared.node && told.has[id] === wish.digest);
      if (having.length === 0) return null;
      const names = having.map(([node]) => node);
      return this.offerOf(id, wish.digest, names, model.tag, signal);
    }
    return null;
  }

  private async offerOf(
    id: string,
    digest: string,
    nodes: readonly string[],
    tag: string,
    signal: AbortSignal,
  ): Promise<Offer> {
    // After a failure the next one is asked.
    let turn = 0;
    const open = async (file: string, from: number, abort: AbortSignal): Promise<FileBytes> => {
      const node = nodes[turn++ % nodes.length]!;
      try {
        return { from, ...(await this.shared.open(node, { id, digest, file }, from, abort)) };
      } catch (error) {
        throw new SourceError(`${node}: ${(error as Error).message}`, true);
      }
    };
    const { stream } = await open("manifest.json", 0, signal);
    const manifest = await readAll(stream);
    if (createHash("sha256").update(manifest).digest("hex") !== digest)
      throw new SourceError("the manifest is not the one that was asked for", true);
    return bundleOffer(manifest, { name: id, tag }, open);
  }
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of stream) {
      bytes += piece.length;
      if (bytes > MANIFEST_BYTES_MAX) break;
      pieces.push(piece);
    }
  } catch (error) {
    throw new SourceError(`the manifest broke off: ${(error as Error).message}`, true);
  }
  return Buffer.concat(pieces);
}
