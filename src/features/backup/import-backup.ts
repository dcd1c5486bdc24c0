/**
 * Imports an archive (backup-archive.ts) as backups of a tenant. It is unpacked beside the backups and checked
 * completely; only then its parts are moved into place. A refused archive leaves nothing. What a crash leaves is never
 * taken for a backup, and the next start removes it. Called by the directory's actor.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { type Pieces, partPath, placePart, removeUnpacked, unpackArchive } from "../../backup/backup-archive.js";
import type { BackupFolder, Manifest } from "../../backup/backup-folder.js";
import { verifyBackups } from "../../backup/read-backups.js";
import { DbError } from "../../protocol/errors.js";

export interface ImportOptions {
  readonly tenantId: string;
  /** Null: what is encrypted is not looked into, its checksums are compared only. */
  readonly passphrase: string | null;
  readonly turn: () => Promise<void>;
  /** Throws tenant_not_found when the tenant was deleted meanwhile. */
  readonly requireTenant: () => void;
}

/**
 * The newest of its backups. Throws backup_damaged, invalid_request for a wrong passphrase, conflict, and
 * tenant_not_found.
 */
export async function importBackup(folder: BackupFolder, pieces: Pieces, options: ImportOptions): Promise<Manifest> {
  const { tenantId, passphrase, turn, requireTenant } = options;
  const unpacked = join(folder.incoming, randomUUID());
  try {
    const parts = await unpackArchive(pieces, unpacked);
    const isReadable = passphrase !== null || parts.every(({ encrypted }) => !encrypted);
    if (isReadable) await verifyBackups(parts, { dataOf: (one) => partPath(unpacked, one), passphrase }, turn);
    const wanted = parts.filter((part) => !isThere(folder, tenantId, part));
    if (wanted.length === 0) throw new DbError("conflict", `Tenant "${tenantId}" already has this backup.`);
    const verified = isReadable ? { verifiedAt: new Date().toISOString() } : {};
    for (const part of wanted) {
      requireTenant();
      await placePart(unpacked, part, await folder.create(tenantId, part.id));
      try {
        requireTenant();
      } catch (error) {
        await folder.discard(tenantId, part.id);
        throw error;
      }
      // In the same turn: a deletion that begins later finds it, and no other tenant of that id ever does.
      folder.save({ ...part, tenant: tenantId, ...verified });
    }
    return folder.get(tenantId, parts.at(-1)!.id);
  } finally {
    await removeUnpacked(unpacked);
  }
}

/** Backups that several archives share are kept once. */
function isThere(folder: BackupFolder, tenantId: string, { id, sha256 }: Manifest): boolean {
  if (!folder.has(tenantId, id)) return false;
  if (folder.get(tenantId, id).sha256 === sha256) return true;
  throw new DbError("conflict", `Tenant "${tenantId}" has another backup with the id "${id}".`);
}
