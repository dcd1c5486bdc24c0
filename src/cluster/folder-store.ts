/**
 * Objects as files below a folder that nodes share. Nodes use it by way of folder-process.ts: such a folder may hang.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { DbError } from "../protocol/errors.js";
import { fileDisk } from "../storage/disk.js";
import type { ObjectStore, StoredFile } from "./object-store.js";

/** Of a file that is not whole yet. */
const PART = ".part";

export class FolderStore implements ObjectStore {
  constructor(private readonly root: string) {}

  async put(name: string, { path }: Pick<StoredFile, "path">): Promise<void> {
    const to = join(this.root, name);
    const part = `${to}${PART}`;
    await this.makeFolder(dirname(to));
    await pipeline(createReadStream(path), createWriteStream(part, { mode: 0o600, flush: true }));
    await rename(part, to);
    await fileDisk.syncDirectory(dirname(to));
  }

  /** New folders are on the device, too. A root that is not there is not made: it may not be mounted. */
  private async makeFolder(folder: string): Promise<void> {
    if (folder === this.root || folder === dirname(folder)) return;
    await this.makeFolder(dirname(folder));
    try {
      await mkdir(folder);
      await fileDisk.syncDirectory(dirname(folder));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }

  async get(name: string, path: string): Promise<void> {
    try {
      await pipeline(createReadStream(join(this.root, name)), createWriteStream(path, { mode: 0o600 }));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      throw new DbError("not_found", `${join(this.root, name)} does not exist.`);
    }
  }

  async list(prefix: string): Promise<readonly string[]> {
    const found: string[] = [];
    const look = async (folder: string): Promise<void> => {
      for (const entry of await entriesOf(join(this.root, folder))) {
        if (entry.isDirectory()) await look(`${folder}${entry.name}/`);
        else found.push(`${folder}${entry.name}`);
      }
    };
    await look(prefix);
    return found;
  }

  async delete(name: string): Promise<void> {
    await rm(join(this.root, name), { force: true });
    // A folder that holds something else stays.
    await rmdir(dirname(join(this.root, name))).catch(() => undefined);
  }
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
