/**
 * The folders of backups of the whole installation: {folder}/_installation/sets/{id}/ with manifest.json, which is
 * written last, and the directory's records. Their tenants' backups are beside, in {folder}/_installation/tenants, in
 * the form of backup-folder.ts. Holds no state.
 */
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { WholeRecords } from "../directory/whole-records.js";
import type { MadeBackup } from "../protocol/backup-orders.js";
import { DbError } from "../protocol/errors.js";
import { BackupWriter, BLOCK, backupKey, readBackup } from "../storage/backup-file.js";
import { makeDirectoryDurably, writeFileDurably } from "../storage/disk.js";
import { BackupFolder, bytesOfId, namesIn, removeFolder } from "./backup-folder.js";
import { sealForReading } from "./read-backups.js";

const MANIFEST = "manifest.json";
const RECORDS = "records.bak";
const ID = /^bak_[0-9a-f]{32}$/;
/** Of one kind, in one block. */
const RECORDS_AT_ONCE = 1000;

export interface WholeManifest {
  readonly id: string;
  readonly kind: "full" | "incremental";
  readonly format: 1;
  readonly engine: string;
  readonly encrypted: boolean;
  readonly tenants: readonly (MadeBackup & { readonly tenant: string })[];
  /** Of the directory. */
  readonly records: { readonly count: number; readonly bytes: number; readonly sha256: string };
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly schedule?: string;
  readonly verifiedAt?: string;
}

export class WholeFolder {
  readonly tenants: BackupFolder;
  private readonly root: string;
  private readonly top: string;

  /** `directory`: of all backups. */
  constructor(directory: string) {
    this.top = resolve(directory);
    this.root = join(this.top, "_installation", "sets");
    this.tenants = new BackupFolder(join(directory, "_installation", "tenants"), directory);
  }

  async saveRecords(id: string, records: WholeRecords, passphrase: string | null): Promise<WholeManifest["records"]> {
    await makeDirectoryDurably(this.pathOf(id), this.top);
    const backup = bytesOfId(id);
    const key = passphrase === null ? null : await backupKey(passphrase, backup);
    const writer = await BackupWriter.open(join(this.pathOf(id), RECORDS), { backup, key });
    let count = 0;
    try {
      for (const kind of ["tenants", "users", "apiKeys", "schedules", "oidcProviders"] as const) {
        const all: readonly object[] = records[kind];
        for (let at = 0; at < all.length; at += RECORDS_AT_ONCE) {
          const piece = all.slice(at, at + RECORDS_AT_ONCE);
          await writer.block(BLOCK.records, Buffer.from(JSON.stringify({ [kind]: piece })));
          count += piece.length;
        }
      }
      const sha256 = await writer.end({ createdAt: records.createdAt, count });
      return { count, bytes: writer.bytes, sha256 };
    } catch (error) {
      await writer.abandon();
      throw error;
    }
  }

  /** Throws backup_damaged, and invalid_request for a wrong passphrase. */
  async readRecords(manifest: WholeManifest, passphrase: string | null): Promise<WholeRecords> {
    const seal = await sealForReading(manifest, passphrase);
    const found = { tenants: [], users: [], apiKeys: [], schedules: [], oidcProviders: [] } as {
      -readonly [K in keyof Lists]: Lists[K][number][];
    };
    const blocks = readBackup(join(this.pathOf(manifest.id), RECORDS), seal);
    for (;;) {
      const { value, done } = await blocks.next();
      if (done) return { ...found, createdAt: (value as { createdAt: number }).createdAt };
      const piece = JSON.parse(value.body.toString()) as Partial<Lists>;
      found.tenants.push(...(piece.tenants ?? []));
      found.users.push(...(piece.users ?? []));
      found.apiKeys.push(...(piece.apiKeys ?? []));
      found.schedules.push(...(piece.schedules ?? []));
      found.oidcProviders.push(...(piece.oidcProviders ?? []));
    }
  }

  save(manifest: WholeManifest): void {
    writeFileDurably(join(this.pathOf(manifest.id), MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  }

  /** Newest first. */
  list(): WholeManifest[] {
    const found = this.ids()
      .map((id) => this.find(id))
      .filter((manifest) => manifest !== null);
    return found.sort((a, b) => b.finishedAt.localeCompare(a.finishedAt));
  }

  /** Throws not_found. */
  get(id: string): WholeManifest {
    const manifest = this.find(id);
    if (manifest === null) throw notFound(id);
    return manifest;
  }

  /** With its tenants' backups. Throws conflict while another one continues them. */
  async remove(id: string): Promise<void> {
    const { tenants } = this.get(id);
    const own = new Set(tenants.map((one) => one.id));
    const next = this.list().find(
      (one) => one.id !== id && one.tenants.some(({ base }) => base !== null && own.has(base)),
    );
    if (next !== undefined) {
      throw new DbError("conflict", `Backup "${next.id}" continues "${id}": delete that one first.`);
    }
    await this.discard(id, tenants);
  }

  /** Its own folder first: without its manifest the tenants' backups are leftovers. */
  async discard(id: string, tenants: readonly { readonly tenant: string; readonly id: string }[]): Promise<void> {
    await removeFolder(this.pathOf(id), MANIFEST);
    for (const one of tenants) await this.tenants.discard(one.tenant, one.id);
  }

  /** Ids of backups that were begun and are not whole, with the times at which they began: being made, or cut short. */
  unfinished(): { readonly id: string; readonly startedAt: string }[] {
    return this.ids().flatMap((id) => {
      const startedAt = this.cutShortSince(id);
      return startedAt === null ? [] : [{ id, startedAt }];
    });
  }

  /** When it began, of one that is not whole; null: it is, or there is none. Throws not_found for what is no id. */
  cutShortSince(id: string): string | null {
    if (this.find(id) !== null) return null;
    return statSync(this.pathOf(id), { throwIfNoEntry: false })?.mtime.toISOString() ?? null;
  }

  /** Of the tenants that a backup is to hold, each backup is there. Throws conflict. */
  async requireParts(
    parts: readonly { readonly tenant: string; readonly id: string }[],
    turn: () => Promise<void>,
  ): Promise<void> {
    for (const { tenant, id } of parts) {
      await turn();
      if (this.tenants.has(tenant, id)) continue;
      throw new DbError("conflict", `The backup of tenant "${tenant}" was removed meanwhile; back up again.`);
    }
  }

  /**
   * What backups left that a crash or a failed deletion cut short. Called when none is being made. `mayRemove` is asked
   * each time, and rejects where another node may make one.
   */
  async removeLeftovers(mayRemove: () => Promise<void>): Promise<void> {
    const manifests = this.list();
    const whole = new Set(manifests.map(({ id }) => id));
    const used = new Set(manifests.flatMap(({ tenants }) => tenants.map(({ id }) => id)));
    for (const id of this.ids()) {
      if (whole.has(id)) continue;
      await mayRemove();
      await this.discard(id, []);
    }
    for (const tenant of this.tenants.tenants()) {
      for (const id of this.tenants.ids(tenant)) {
        if (used.has(id)) continue;
        await mayRemove();
        await this.tenants.discard(tenant, id);
      }
    }
  }

  private ids(): string[] {
    return namesIn(this.root).filter((name) => ID.test(name));
  }

  private find(id: string): WholeManifest | null {
    if (!ID.test(id)) throw notFound(id);
    try {
      return JSON.parse(readFileSync(join(this.pathOf(id), MANIFEST), "utf8")) as WholeManifest;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      if (error instanceof SyntaxError)
        throw new DbError("backup_damaged", `The manifest of backup "${id}" is damaged.`);
      throw error;
    }
  }

  private pathOf(id: string): string {
    return join(this.root, id);
  }
}

type Lists = Omit<WholeRecords, "createdAt">;

function notFound(id: string): DbError {
  return new DbError("not_found", `Backup "${id}" does not exist.`);
}
