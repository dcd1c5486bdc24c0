/**
 * Which backup a restore reads to reach a moment: of those that there are, or, beyond the last, an incremental one that is made for
 * it from the commit log as far as that has gone. It stays: what the log has is put away before the restore touches
 * anything. Called by the directory's actor.
 */

import type { BackupFolder, Manifest } from "../../backup/backup-folder.js";
import type { MadeBackup } from "../../protocol/backup-orders.js";
import { DbError } from "../../protocol/errors.js";

export interface WantedMoment {
  /** Whose backups. */
  readonly tenantId: string;
  /** Where to begin; null: wherever is best. */
  readonly backup: string | null;
  /** Microseconds since the epoch; null: the backup's own. */
  readonly untilMicros: number | null;
}

/** Throws not_found, invalid_request, and what `makeTail` throws, which makes a backup that continues that one. */
export async function backupForMoment(
  folder: BackupFolder,
  { tenantId, backup, untilMicros }: WantedMoment,
  makeTail: (last: Manifest) => Promise<Pick<MadeBackup, "id">>,
): Promise<string> {
  const first = backup === null ? latestBefore(folder, tenantId, untilMicros) : folder.get(tenantId, backup);
  if (untilMicros === null || untilMicros <= first.micros) return first.id;
  let last = first;
  for (const next of folder.continuationsOf(first)) {
    if (untilMicros <= next.micros) return next.id;
    last = next;
  }
  if (untilMicros > Date.now() * 1000) {
    throw new DbError("invalid_request", "until: this time has not come yet", { field: "until" });
  }
  return (await makeTail(last)).id;
}

function latestBefore(folder: BackupFolder, tenantId: string, untilMicros: number | null): Manifest {
  const all = folder.list(tenantId);
  if (all.length === 0) throw new DbError("not_found", `Tenant "${tenantId}" has no backups.`);
  const found = untilMicros === null ? all[0] : all.find(({ micros }) => micros <= untilMicros);
  if (found !== undefined) return found;
  const oldest = new Date(all.at(-1)!.micros / 1000).toISOString();
  throw new DbError("invalid_request", `until: the backups begin at ${oldest}`, { field: "until" });
}
