/** A backup of a tenant as clients see it. */
import type { Manifest } from "../../backup/backup-folder.js";

export interface BackupView {
  readonly id: string;
  readonly name: string | null;
  readonly status: "running" | "verifying" | "completed" | "failed";
  readonly kind: "full" | "incremental";
  readonly base: string | null;
  readonly encrypted: boolean;
  readonly entries: number;
  readonly bytes: number;
  readonly started_at: string;
  readonly finished_at: string | null;
  /** The newest moment that the backup can restore. */
  readonly holds_until: string | null;
  readonly digest: string | null;
  readonly schedule: string | null;
  readonly verified_at: string | null;
  readonly imported: boolean;
  readonly note: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export function viewOf(manifest: Manifest): BackupView {
  const { id, kind, base, encrypted, entries, bytes, startedAt, finishedAt, micros, digest, note } = manifest;
  const { name = null, schedule = null, verifiedAt = null, imported = false } = manifest;
  return {
    ...{ id, name, status: "completed", kind, base, encrypted, entries, bytes },
    ...{ started_at: startedAt, finished_at: finishedAt, holds_until: new Date(micros / 1000).toISOString() },
    ...{ digest: digest?.sha256 ?? null, schedule, verified_at: verifiedAt, imported, note, error: null },
  };
}

/** Of a backup that a crash cut short. */
export function cutShort({ id, startedAt }: { readonly id: string; readonly startedAt: string }): BackupView {
  const message =
    "The server stopped before the backup was complete. Make another backup; that removes the rest of this one, and so does deleting it.";
  return {
    ...{ id, name: null, status: "failed", kind: "full", base: null, encrypted: false, entries: 0, bytes: 0 },
    ...{ started_at: startedAt, finished_at: null, holds_until: null, digest: null, schedule: null },
    ...{ verified_at: null, imported: false, note: null, error: { code: "cancelled", message } },
  };
}
