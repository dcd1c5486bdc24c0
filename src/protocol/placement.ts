/**
 * Messages between actors while a tenant moves from one partition to another. The coordinator runs in the directory's
 * actor (features/placement/tenant-moves.ts), which alone decides where a tenant is. The gateway's thread carries the
 * messages, in order. Structured clones; the bytes of entries are transferred.
 */
import type { BackupStore } from "./backup-orders.js";

export type MoveState =
  | "preparing"
  | "copying"
  | "draining"
  | "switching"
  | "cleaning"
  | "done"
  | "failed"
  | "cancelled";

interface OfMove {
  /** The tenant's number. */
  readonly tenant: number;
  /** Names the attempt: what belongs to another one is ignored. */
  readonly move: string;
}

/** What a tenant has in an actor's memory and takes along. */
export interface TenantMemory {
  readonly prepared: readonly {
    readonly owner: string;
    readonly id: string;
    readonly sql: string;
    readonly parameterCount: number;
  }[];
  /** Kept answers by name (actor/idempotency.ts). */
  readonly answers: readonly (readonly [string, unknown])[];
  /** Transactions that were ended because of the move, and others that ended lately, with the reason. */
  readonly endedTransactions: readonly (readonly [
    string,
    {
      readonly owner: { readonly userId: string; readonly keyId: string };
      readonly reason: string;
      readonly retry: boolean;
    },
  ])[];
  /** Tables whose changes are followed, and when each was changed last; times are microseconds since the epoch. */
  readonly watched: {
    readonly tables: readonly { readonly id: number; readonly lastChange: number }[];
    readonly lastMicros: number;
  };
  /** Records of its jobs (features/jobs/job-records.ts), which go on in the other partition. */
  readonly jobs: readonly JobRecord[];
}

/** Work that goes on without a client. */
export interface JobRecord {
  /** The tenant's number. */
  readonly tenant: number;
  /** Of JOB_KINDS (features/features.ts). */
  readonly kind: string;
  /** Unique among the tenant's jobs of the kind. */
  readonly id: string;
  readonly owner: JobOwner;
}

/** Whose rights the job has. */
export interface JobOwner {
  readonly userId: string;
  /** "" or absent: the user had signed in. */
  readonly keyId?: string;
  readonly username: string;
  readonly tenantId: string;
  readonly roles: readonly string[];
  /** As of an `Identity`. */
  readonly memberOf?: readonly string[];
  readonly claims?: string;
  readonly lead?: string;
  /** The credential may not write. */
  readonly readOnly: boolean;
}

/** To the actor of a partition. */
export type PlacementMessage =
  /** The target shall expect the tenant. It answers `receiving`. */
  | (OfMove & { readonly do: "receive"; readonly from: number })
  /** The source shall send it. It waits up to `transactionsMs` for open transactions of clients. */
  | (OfMove & { readonly do: "send"; readonly to: number; readonly transactionsMs: number })
  /** From the source to the target, numbered from 0 without a gap; `last` comes with the final ones. */
  | (OfMove & {
      readonly do: "entries";
      readonly number: number;
      readonly data: ArrayBuffer;
      readonly last: TenantMemory | null;
    })
  /** From the target to the source: this many bytes have been processed. */
  | (OfMove & { readonly do: "taken"; readonly bytes: number })
  /**
   * The directory has decided: the tenant is in this partition, or in `at`. Ends the move of that name, and any one
   * where it is null. Between two nodes it may arrive late, when another move has begun.
   */
  | { readonly do: "settle"; readonly tenant: number; readonly at: number; readonly move: string | null }
  /** The tenant was deleted; `move` names the deletion. Said again until the partition has reported `deleted`. */
  | (OfMove & { readonly do: "delete"; readonly tenantId: string });

/** A tenant of which a partition does not know whether it has it. */
export interface UnsettledTenant {
  readonly tenant: number;
  /** Null: it is not known. */
  readonly move: string | null;
  /** Its part in the move goes on; else it has ended, with what it had in memory. */
  readonly goesOn: boolean;
}

/** The tenant's content is to be that of a backup; whatever it has is removed first. */
export interface RestoreOrder {
  readonly tenant: number;
  readonly restore: string;
  readonly backup: string;
  /** Whose backup it is, and where it lies. */
  readonly from: string;
  readonly store: BackupStore;
  /** What the folder's mark must say (backup/folder-mark.ts); absent: it is not looked at. */
  readonly mark?: string;
  /** Null: it is not encrypted. */
  readonly passphrase: string | null;
  /** Microseconds since the epoch: later commits are left out; null: none is. */
  readonly untilMicros: number | null;
  /** The tenant may have content already, which goes. */
  readonly replaces: boolean;
  /** Whoever gives the order has read all of the backup. */
  readonly isChecked: boolean;
  /** Nobody can address the tenant yet: what it has, branches and all, is left over from another try. */
  readonly isNew?: boolean;
}

export type RestoreState = "checking" | "restoring" | "verifying" | "completed" | "failed";

/** To the directory's actor. */
export interface RestoreReport {
  readonly tenant: number;
  readonly restore: string;
  readonly state: RestoreState;
  readonly entries: number;
  /**
   * Whether the content's digest is that of the backup; null: the backup has none for that moment, or it was not come
   * to.
   */
  readonly verified: boolean | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  /** The backup of a restore that its server's end cut short, as a later start found it; empty: not known. */
  readonly cutShort?: string;
}

/** To the coordinator. */
export type MoveReport = OfMove &
  (
    | { readonly did: "receiving" }
    | {
        readonly did: "progress";
        readonly state: "copying" | "draining";
        readonly entries: number;
        readonly bytes: number;
      }
    /** Everything is on the target's disk. */
    | { readonly did: "received" }
    | { readonly did: "failed"; readonly message: string }
    /** The source has nothing left of it. */
    | { readonly did: "removed"; readonly heldMs: number }
    /** The tenant was deleted, and this partition has nothing left of it. */
    | { readonly did: "deleted"; readonly partition: number }
  );

/** What placing a new tenant goes by. */
export interface PartitionLoad {
  readonly partition: number;
  /** Share of its actor's thread that was used lately, 0 to 1. */
  readonly actorLoad: number;
  readonly storedBytes: number;
}

/** The deletion of a tenant as clients see it. */
export interface DeletionView {
  readonly tenant: string;
  readonly state: "removing" | "done";
  readonly started_at: string;
  readonly finished_at: string | null;
}

/** A move as clients see it. */
export interface MoveView {
  readonly tenant: string;
  readonly from: number;
  readonly to: number;
  readonly state: MoveState;
  readonly copied_entries: number;
  readonly copied_bytes: number;
  readonly started_at: string;
  readonly finished_at: string | null;
  /** How long requests of the tenant waited for the switch; null until it is known. */
  readonly held_ms: number | null;
  readonly error: string | null;
}
