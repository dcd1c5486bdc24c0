/**
 * Messages about backups between the directory's actor, which keeps schedules and backups of the whole installation,
 * and the tenants' actors. The gateway's thread carries them, in a cluster between nodes. Structured clones.
 */
import type { ErrorCode } from "./errors.js";

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
      /** What the folder's mark must say (backup/folder-mark.ts); absent: it is not looked at. */
      readonly mark?: string;
      readonly passphrase: string | null;
      /**
       * `continues`: it has to be an incremental one of exactly that backup, or to fail. `newestOf`: it continues the
       * newest of these, if it can.
       */
      readonly base: "none" | "newest" | { readonly continues: string } | { readonly newestOf: readonly string[] };
      /** The schedule that it belongs to. */
      readonly schedule: string | null;
      /** It is read again when it is written. */
      readonly verifies: boolean;
    }
  /** Only to see whether the folder is the same. */
  | { readonly do: "look"; readonly ask: string; readonly mark: string }
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

/** Goes with a report on an order. */
export interface ReportSent {
  /** To which the order was given. */
  readonly partition: number;
  /** Milliseconds of a clock of the sender's. */
  readonly at: number;
}

/** The answer to a report. */
export interface OrderHeard {
  readonly order: string;
  /** Of the report (ReportSent). */
  readonly at: number;
  /** False: whoever gave the order does not wait for it any more. */
  readonly isWanted: boolean;
}

/** A tenant's actor asks the directory's: for a restore, in the name of the tenant's administrator; or for the mark. */
export type BackupAsk = {
  /** Of the question, in that actor. */
  readonly id: number;
  /** Where the tenant is. */
  readonly partition: number;
} & (
  | {
      readonly wants: "restore";
      readonly tenantId: string;
      readonly backup: string | null;
      readonly passphrase: string | null;
      readonly until: string | null;
    }
  | { readonly wants: "mark" }
);

/** `view`: how the restore began, as its route tells it; or why it did not. */
export type BackupAnswer = { readonly id: number } & (
  | { readonly view: object }
  | { readonly mark: string }
  | { readonly error: { readonly code: ErrorCode; readonly message: string } }
);
