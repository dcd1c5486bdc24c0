/** Gives other nodes the files of models that this node has. Made by cluster-node.ts; keeps nothing. */
import { createHash } from "node:crypto";
import { open, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { BundleAnswer, BundleRead } from "./bundle-messages.js";

const MANIFEST = "manifest.json";
/** Of one read. */
const READ_BYTES_MAX = 1024 * 1024;

export class BundleServer {
  /** `root`: the model root. */
  constructor(
    private readonly root: string,
    private readonly log: (level: "warn", message: string, fields: object) => void,
  ) {}

  /** Answers once. */
  heard(message: BundleRead, answer: (answer: BundleAnswer) => void): void {
    this.read(message).then(answer, (error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      this.log("warn", "a model could not be given to another node", { model: message.id, error: why });
      answer({ kind: "bundle-refused", why });
    });
  }

  private async read({ id, digest, file, at, bytes }: BundleRead): Promise<BundleAnswer> {
    const directory = await this.find(id, digest, file);
    const handle = await open(join(directory, file));
    try {
      const { size } = await handle.stat();
      const buffer = Buffer.alloc(Math.max(0, Math.min(bytes, READ_BYTES_MAX, size - at)));
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
      if (bytesRead < buffer.length) throw new Error(`${file} ends at ${at + bytesRead}`);
      return { kind: "bundle-bytes", at, bytesTotal: size, bytes: buffer };
    } finally {
      await handle.close();
    }
  }

  /** The bundle's folder. Throws unless it has that file. */
  private async find(id: string, digest: string, file: string): Promise<string> {
    const names = await readdir(this.root);
    // Mostly a bundle's folder has its name.
    for (const name of names.sort((a, b) => Number(b === id) - Number(a === id))) {
      const directory = join(this.root, name);
      const manifest = await readFile(join(directory, MANIFEST)).catch(() => null);
      if (manifest === null || createHash("sha256").update(manifest).digest("hex") !== digest) continue;
      const { files } = JSON.parse(manifest.toString()) as { readonly files: readonly { readonly name: string }[] };
      if (file === MANIFEST || (files.some(({ name }) => name === file) && basename(file) === file)) return directory;
    }
    throw new Error(`the model ${id} with the digest ${digest} has no ${file} here`);
  }
}
