/** The files of a partition's indexes in memory, by tenant and index. Owned by derived-indexes.ts. */
import { readdir, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { TenantKeys } from "../storage/tenant-keys.js";
import type { SavedIndex } from "./index-file.js";

/** Which index, in a partition. */
export interface IndexName {
  readonly tenantNumber: number;
  readonly indexId: number;
}

export class IndexFolder {
  /** What is being done to files, by path: one thing at a time. */
  private readonly files = new Map<string, Promise<void>>();

  /** Null: no files are kept. */
  constructor(
    private readonly directory: string | null,
    /** Encrypt the tenants' files; null: nothing does. */
    private readonly keys: Pick<TenantKeys, "known" | "of"> | null,
  ) {}

  /** Null: no files are kept, or the tenant has no key with which one could have been written. */
  placeToRead(name: IndexName): SavedIndex | null {
    const path = this.pathOf(name);
    const key = this.keys?.known(name.tenantNumber) ?? null;
    return path === null || (this.keys !== null && key === null) ? null : { path, key };
  }

  /** Null: no files are kept. The tenant's key is made if there is none. */
  placeToWrite(name: IndexName): SavedIndex | null {
    const path = this.pathOf(name);
    return path === null ? null : { path, key: this.keys?.of(name.tenantNumber) ?? null };
  }

  private pathOf({ tenantNumber, indexId }: IndexName): string | null {
    return this.directory === null ? null : join(this.directory, `${tenantNumber}-${indexId}.idx`);
  }

  /** Does something to a file when all that was begun with it has ended, however it has. */
  inOrder(path: string, work: () => Promise<void>): Promise<void> {
    const before = this.files.get(path)?.catch(() => undefined) ?? Promise.resolve();
    const done = before.then(work).finally(() => {
      if (this.files.get(path) === done) this.files.delete(path);
    });
    this.files.set(path, done);
    return done;
  }

  /** Files of the tenant that are being written are there, or not, as they came out. */
  private async written(tenantNumber: number): Promise<void> {
    const isOwn = (path: string) => basename(path).startsWith(`${tenantNumber}-`);
    await Promise.allSettled([...this.files].flatMap(([path, done]) => (isOwn(path) ? done : [])));
  }

  async remove(name: IndexName): Promise<void> {
    const path = this.pathOf(name);
    if (path !== null) await this.inOrder(path, () => rm(path, { force: true }));
  }

  /** Removes the tenant's files but those of these indexes. */
  async removeOthers(tenantNumber: number, indexIds: { has(id: number): boolean }): Promise<void> {
    await this.written(tenantNumber);
    for (const file of await this.names()) {
      const name = nameOf(file);
      if (name?.tenantNumber === tenantNumber && !indexIds.has(name.indexId)) await this.remove(name);
    }
  }

  /** Indexes of which there are files, those written last first. Removes files that were never finished. */
  async saved(): Promise<readonly IndexName[]> {
    const found: { readonly name: IndexName; readonly at: number }[] = [];
    for (const file of await this.names()) {
      const path = join(this.directory!, file);
      const name = nameOf(file);
      if (name !== null) found.push({ name, at: (await stat(path)).mtimeMs });
      else if (file.endsWith(".idx.new")) await rm(path, { force: true });
    }
    return found.sort((a, b) => b.at - a.at).map(({ name }) => name);
  }

  private async names(): Promise<readonly string[]> {
    if (this.directory === null) return [];
    return readdir(this.directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
  }
}

/** Null: the name of another file. */
function nameOf(file: string): IndexName | null {
  const match = /^(\d+)-(\d+)\.idx$/.exec(file);
  return match && { tenantNumber: Number(match[1]), indexId: Number(match[2]) };
}
