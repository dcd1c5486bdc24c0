/**
 * Messages about backups between the directory's actor, which keeps schedules and backups of the whole installation,
 * and the tenants' actors. The gateway's thread carries them. Structured clones.
 */

/** Where a backup lies: among the tenant's own, or among those of the whole installation. */
export type BackupStore = "tenant" | "whole";

/** To the actor of the tenant's partition. */
export type BackupOrder =
  | {
      readonly do: "create";
      /** Names the order. */
      readonly ask: string;
      readonly tenant: number;
      readonly tenantId: string;
      readonly store: BackupStore;
      readonly passphrase: string | null;
      /** `continues`: it has to be an incremental one of exactly that backup, or to fail. */
      readonly base: "none" | "newest" | { readonly continues: string };
      /** The schedule that it belongs to. */
      readonly schedule: string | null;
      /** It is read again when it is written. */
      readonly verifies: boolean;
    }
  | { readonly do: "cancel"; readonly ask: string };

/** What a whole backup of a tenant is, for whoever ordered it. */
export interface MadeBackup {
  readonly id: string;
  readonly kind: "full" | "incremental";
  readonly base: string | null;
  readonly entries: number;
  readonly bytes: number;
  /** Microseconds since the epoch: the moment that it is of. */
  readonly micros: number;
  readonly note: string | null;
}

/** To the directory's actor. */
export interface BackupReport {
  readonly ask: string;
  readonly state: "running" | "verifying" | "completed" | "failed";
  readonly entries: number;
  readonly bytes: number;
  /** Of a completed one. */
  readonly backup: MadeBackup | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}
