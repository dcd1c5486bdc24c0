/** A source that is a folder: {folder}/{name}/{tag}/ is a bundle. Made by the library. */
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { bundleOffer } from "./bundle-offer.js";
import type { ModelReference } from "./model-reference.js";
import type { FileBytes, ModelSource, Offer } from "./model-source.js";
import { SourceError } from "./source-error.js";

export class DirectorySource implements ModelSource {
  constructor(
    readonly name: string,
    private readonly folder: string,
  ) {}

  async find(model: ModelReference): Promise<Offer | null> {
    const bundle = join(this.folder, model.name, model.tag);
    let manifest: Buffer;
    try {
      manifest = await readFile(join(bundle, "manifest.json"));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ENOTDIR") throw new SourceError(message, false);
      // A source that is not there at all (not mounted, say) is told apart from one without the model.
      if ((await stat(this.folder).catch(() => null)) === null) {
        throw new SourceError(`the folder ${this.folder} is not there`, false);
      }
      return null;
    }
    return bundleOffer(manifest, model, (file, from, signal) => open(join(bundle, file), from, signal));
  }
}

async function open(path: string, from: number, signal: AbortSignal): Promise<FileBytes> {
  const facts = await stat(path).catch(() => null);
  if (facts === null || !facts.isFile()) throw new SourceError(`${path} is not there`, false);
  const first = Math.min(from, facts.size);
  return { from: first, bytesTotal: facts.size, stream: createReadStream(path, { start: first, signal }) };
}
