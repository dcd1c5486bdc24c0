/**
 * The folders of backups: {folder}/{tenant id}/{backup id}/ with manifest.json, which is written last, and one file of
 * data. A file `unfinished` is there while the backup is being made, so that the leftovers of a crash differ from what
 * somebody copies there. A tenant's folder may be copied to another installation's, where its backups are then found.
 * Holds no state.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DbError } from "../protocol/errors.js";
import { fileDisk, makeDirectoryDurably, writeFileDurably } from "../storage/disk.js";

export const DATA_FILE = "data.bak";
const MANIFEST = "manifest.json";
const UNFINISHED = "unfinished";
const ID = /^bak_[0-9a-f]{32}$/;
const TENANT = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** What a whole backup says of itself. */
export interface Manifest {
  readonly id: string;
  readonly tenant: string;
  readonly kind: "full" | "incremental";
  /** The backup that an incremental one continues. */
  readonly base: string | null;
  readonly format: 1;
  readonly engine: string;
  /** Format version of its content (storage/format.ts); absent: 1. */
  readonly storageFormat?: number;
  /**
   * The newest commit that it holds, of the shard that it was made in, and its time in microseconds since the epoch.
   */
  readonly sequence: number;
  readonly micros: number;
  /** Of an incremental one: the oldest. */
  readonly fromSequence: number | null;
  /** Entries, or changes, and bytes on disk. */
  readonly entries: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly encrypted: boolean;
  /** Of the tenant's content after this backup (tenant-digest.ts); null: it could not be read as of one moment. */
  readonly digest: { readonly entries: number; readonly sha256: string } | null;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly note: string | null;
  /** Numbers of the tenant's branches that it holds, where it was made; absent: earlier releases held none. */
  readonly branches?: readonly number[];
  /** What who asked for it called it; several may have the same. */
  readonly name?: string;
  /** The schedule that made it; absent: somebody asked for it. */
  readonly schedule?: string;
  /** When the backup was last verified. */
  readonly verifiedAt?: string;
  /** It was made of another tenant, or in another installation: no commit log continues it. */
  readonly imported?: true;
}

export class BackupFolder {
  private readonly root: string;
  private readonly top: string;

  /** `top`: the folder of all backups, of which this one may be a part. */
  constructor(root: string, top = root) {
    this.root = resolve(root);
    this.top = resolve(top);
  }

  /** Made if need be. */
  async create(tenant: string, id: string): Promise<string> {
    const path = this.pathOf(tenant, id);
    await makeDirectoryDurably(path, this.top);
    writeFileDurably(join(path, UNFINISHED), "");
    return path;
  }

  /** For what is on its way in; on the same disk. Its name is no tenant's. */
  get incoming(): string {
    return join(this.root, "_incoming");
  }

  /** Whether there is a complete one with that name. */
  has(tenant: string, id: string): boolean {
    return this.find(tenant, id) !== null;
  }

  /** Tenants that have a folder. */
  tenants(): string[] {
    return namesIn(this.root).filter((name) => TENANT.test(name));
  }

  /** Of backups, whole or not. */
  ids(tenant: string): string[] {
    checkTenant(tenant);
    return namesIn(join(this.root, tenant)).filter((name) => ID.test(name));
  }

  /** Of a whole backup's data. */
  dataOf({ tenant, id }: Pick<Manifest, "tenant" | "id">): string {
    return join(this.pathOf(tenant, id), DATA_FILE);
  }

  save(manifest: Manifest): void {
    writeFileDurably(
      join(this.pathOf(manifest.tenant, manifest.id), MANIFEST),
      `${JSON.stringify(manifest, null, 2)}\n`,
    );
    rmSync(join(this.pathOf(manifest.tenant, manifest.id), UNFINISHED), { force: true });
  }

  /** Ids of backups that were begun and are not whole, with the times at which they began: being made, or cut short. */
  unfinished(tenant: string): { readonly id: string; readonly startedAt: string }[] {
    return this.ids(tenant)
      .filter((id) => !this.has(tenant, id))
      .map((id) => ({ id, begun: statSync(join(this.pathOf(tenant, id), UNFINISHED), { throwIfNoEntry: false }) }))
      .flatMap(({ id, begun }) => (begun === undefined ? [] : [{ id, startedAt: begun.mtime.toISOString() }]));
  }

  /** Marks a backup that was read and found complete. One that has been deleted stays deleted. */
  markVerified(manifest: Manifest): void {
    if (this.find(manifest.tenant, manifest.id) === null) return;
    this.save({ ...manifest, verifiedAt: new Date().toISOString() });
  }

  /** The tenant's whole backups, newest first. */
  list(tenant: string): Manifest[] {
    const found = this.ids(tenant)
      .map((id) => this.find(tenant, id))
      .filter((manifest) => manifest !== null);
    return found.sort((a, b) => b.finishedAt.localeCompare(a.finishedAt));
  }

  /** The backups that continue this one, in order, as long as there is exactly one way on. */
  continuationsOf({ tenant, id }: Pick<Manifest, "tenant" | "id">): Manifest[] {
    const all = this.list(tenant);
    const chain: Manifest[] = [];
    for (let last = id; ; ) {
      const [next, ...others] = all.filter(({ base }) => base === last);
      if (next === undefined || others.length > 0) return chain;
      chain.push(next);
      last = next.id;
    }
  }

  /** Throws not_found. */
  get(tenant: string, id: string): Manifest {
    const manifest = this.find(tenant, id);
    if (manifest === null) throw new DbError("not_found", `Backup "${id}" does not exist.`);
    return manifest;
  }

  /** The full backup and the incremental ones up to this one, in order. Throws backup_damaged when one is missing. */
  chainOf(manifest: Manifest): Manifest[] {
    const chain = [manifest];
    while (chain[0]!.base !== null) {
      const { tenant, base, id } = chain[0]!;
      const before = this.find(tenant, base!);
      if (before === null)
        throw new DbError("backup_damaged", `Backup "${id}" continues "${base}", which does not exist.`);
      chain.unshift(before);
    }
    return chain;
  }

  /** Throws conflict while another backup continues it. */
  async remove(tenant: string, id: string): Promise<void> {
    this.get(tenant, id);
    const next = this.list(tenant).find(({ base }) => base === id);
    if (next !== undefined) {
      throw new DbError("conflict", `Backup "${next.id}" continues "${id}": delete that one first.`);
    }
    await this.discard(tenant, id);
  }

  /** Of a backup, whole or not. */
  async discard(tenant: string, id: string): Promise<void> {
    await removeFolder(this.pathOf(tenant, id), MANIFEST);
  }

  /** All of the tenant's, whole or not. */
  async removeAll(tenant: string): Promise<void> {
    for (const id of this.ids(tenant)) await this.discard(tenant, id);
    await rm(join(this.root, tenant), { recursive: true, force: true });
  }

  /** From now on they are another tenant's of that id: whole, and continued by no commit log. */
  async disown(tenant: string, turn: () => Promise<void>): Promise<void> {
    for (const id of this.ids(tenant)) {
      await turn();
      const manifest = this.readable(tenant, id);
      if (manifest !== null && manifest.imported !== true) this.save({ ...manifest, imported: true });
    }
  }

  /** Null: there is none that can be read. */
  private readable(tenant: string, id: string): Manifest | null {
    try {
      return this.find(tenant, id);
    } catch (error) {
      if (error instanceof DbError) return null;
      throw error;
    }
  }

  private find(tenant: string, id: string): Manifest | null {
    try {
      const manifest = JSON.parse(readFileSync(join(this.pathOf(tenant, id), MANIFEST), "utf8")) as Manifest;
      // A folder that was copied here by hand.
      return manifest.tenant === tenant ? manifest : { ...manifest, tenant, imported: true };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      if (error instanceof SyntaxError)
        throw new DbError("backup_damaged", `The manifest of backup "${id}" is damaged.`);
      throw error;
    }
  }

  private pathOf(tenant: string, id: string): string {
    checkTenant(tenant);
    if (!ID.test(id)) throw new DbError("not_found", `Backup "${id}" does not exist.`);
    return join(this.root, tenant, id);
  }
}

export function isBackupId(id: string): boolean {
  return ID.test(id);
}

/** The manifest first, on the device too: what a crash or a power cut leaves of the rest is not taken for a backup. */
export async function removeFolder(path: string, manifest: string): Promise<void> {
  if (namesIn(path).includes(manifest)) {
    await rm(join(path, manifest), { force: true });
    await fileDisk.syncDirectory(path);
  }
  // Another node that has been given up may still write there.
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}

/** Empty if there is no such folder. */
export function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** A name for a new backup. */
export function newBackupId(): string {
  return `bak_${randomBytes(16).toString("hex")}`;
}

function checkTenant(tenant: string): void {
  if (!TENANT.test(tenant)) throw new DbError("not_found", `Tenant "${tenant}" does not exist.`);
}

/** The 16 bytes that name a backup in its file. */
export function bytesOfId(id: string): Uint8Array {
  return Buffer.from(id.slice("bak_".length), "hex");
}
