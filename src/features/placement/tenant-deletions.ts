/**
 * Deletions of tenants, in the directory's actor. First the directory forgets the tenant
 * (directory/tenant-deletion.ts). Then the partitions that may have something of it are told to remove that
 * (placement.ts), again and again until each has reported that nothing is left. Each deletion is a record of the
 * directory, so that it goes on wherever and whenever the directory is opened next. Owned by directory-services.ts.
 */
import type { Directory } from "../../directory/directory.js";
import type { DeletionRecord } from "../../directory/records.js";
import { DbError } from "../../protocol/errors.js";
import type { FromActor } from "../../protocol/messages.js";
import type { DeletionView, MoveReport, UnsettledTenant } from "../../protocol/placement.js";

/** After so long without a report it is said again. */
const AGAIN_MS = 5_000;
/** Deletions that clients can look at after they have ended. */
const REMEMBERED_MAX = 1000;

export interface TenantDeletionsOptions {
  readonly directory: Pick<
    Directory,
    | "placeOf"
    | "partitionOfNumber"
    | "beginDeletion"
    | "removeSomeAccounts"
    | "forgetTenant"
    | "saveDeletion"
    | "forgetDeletion"
    | "listDeletions"
  >;
  readonly now: () => number;
  readonly say: (message: FromActor) => void;
  /** Gives way to others. */
  readonly turn: () => Promise<void>;
  /** Resolves when what the directory committed is on disk; rejects when it was undone. */
  readonly durable: () => Promise<void>;
  /** Throws conflict while the tenant is being moved or restored, or everything backed up. */
  readonly requireAtRest: (tenantId: string, number: number) => void;
  /** What else is known of the tenant goes; answers the partitions of its newest move. */
  readonly forget: (tenantId: string, number: number) => readonly number[];
}

interface Deletion {
  record: DeletionRecord;
  /** Accounts are being removed. */
  isAtWork: boolean;
  /** When the partitions were told; 0: not since this directory was opened. */
  saidAt: number;
}

export class TenantDeletions {
  /** By the tenant's number. */
  private readonly deletions = new Map<number, Deletion>();

  constructor(private readonly options: TenantDeletionsOptions) {
    this.reload();
  }

  /** Takes what the directory has. */
  reload(): void {
    this.deletions.clear();
    const records = this.options.directory.listDeletions().sort((a, b) => a.startedAt - b.startedAt);
    for (const record of records) this.deletions.set(record.tenant, { record, isAtWork: false, saidAt: 0 });
  }

  /**
   * Resolves when the directory has forgotten the tenant; its content goes after that. Throws tenant_not_found,
   * invalid_request without its id as confirmation, conflict for the system tenant and where `requireAtRest` does.
   */
  async start(tenantId: string, confirm: string): Promise<DeletionView> {
    const { directory } = this.options;
    const { number, partition } = directory.placeOf(tenantId);
    if (confirm !== tenantId) {
      throw new DbError(
        "invalid_request",
        `confirm: repeat the tenant's id, "${tenantId}", to delete all that it has.`,
        {
          field: "confirm",
        },
      );
    }
    this.options.requireAtRest(tenantId, number);
    const record = directory.beginDeletion(tenantId, [partition]);
    const deletion: Deletion = { record, isAtWork: false, saidAt: 0 };
    this.deletions.set(number, deletion);
    if (this.deletions.size > REMEMBERED_MAX) this.forgetOldest();
    await this.removeAccounts(deletion);
    void this.tell(deletion);
    return this.get(tenantId);
  }

  /** The newest of that id. Throws not_found. */
  get(tenantId: string): DeletionView {
    const found = [...this.deletions.values()].filter(({ record }) => record.tenantId === tenantId).at(-1);
    if (found === undefined) throw new DbError("not_found", `No tenant "${tenantId}" was deleted recently.`);
    return viewOf(found.record);
  }

  heard({ tenant, move, partition }: MoveReport & { readonly did: "deleted" }): void {
    const deletion = this.deletions.get(tenant);
    if (deletion === undefined || deletion.record.id !== move || !deletion.record.left.includes(partition)) return;
    const left = deletion.record.left.filter((each) => each !== partition);
    const finishedAt = left.length === 0 ? this.options.now() : null;
    this.save(deletion, { ...deletion.record, left, finishedAt });
  }

  /** A partition does not know whether it has these tenants. It does not, if they were deleted. */
  unsettled(partition: number, tenants: readonly UnsettledTenant[]): void {
    for (const { tenant } of tenants) {
      const deletion = this.deletions.get(tenant);
      // It may be another tenant of that number, which came with a backup of an emptied installation.
      if (deletion === undefined || this.options.directory.partitionOfNumber(tenant) !== null) continue;
      const { record } = deletion;
      if (!record.left.includes(partition)) {
        this.save(deletion, { ...record, left: [...record.left, partition], finishedAt: null });
      }
      void this.tell(deletion);
    }
  }

  /** Called every now and then: goes on with what was cut short, and says again what was not heard. */
  sweep(): void {
    const now = this.options.now();
    for (const deletion of this.deletions.values()) {
      if (deletion.record.finishedAt !== null || deletion.isAtWork || now - deletion.saidAt < AGAIN_MS) continue;
      void this.removeAccounts(deletion).then(
        () => this.tell(deletion),
        () => undefined,
      );
    }
  }

  /** Ends early where commits were undone: the next sweep goes on, if there is still something to go on with. */
  private async removeAccounts(deletion: Deletion): Promise<void> {
    const { directory, turn, durable, forget } = this.options;
    const { tenantId, tenant, accountsGone } = deletion.record;
    if (accountsGone) return;
    const isCurrent = (): boolean => this.deletions.get(tenant) === deletion;
    deletion.isAtWork = true;
    try {
      // Where the disk refuses that it was begun, the tenant keeps all that it has.
      await durable();
      if (!isCurrent()) return;
      const moved = forget(tenantId, tenant);
      while (directory.removeSomeAccounts(tenantId)) {
        await turn();
        if (!isCurrent()) return;
      }
      const left = [...new Set([...deletion.record.left, ...moved])];
      deletion.record = directory.forgetTenant({ ...deletion.record, left });
    } finally {
      deletion.isAtWork = false;
    }
  }

  /** Not before what the directory has forgotten is on disk, and it is sure that this is still the directory. */
  private async tell(deletion: Deletion): Promise<void> {
    if (!deletion.record.accountsGone) return;
    deletion.saidAt = this.options.now();
    try {
      await this.options.durable();
    } catch {
      // The next sweep says it, or the next directory.
      return;
    }
    const { tenant, tenantId, id, left } = deletion.record;
    for (const partition of left) {
      this.options.say({ kind: "placement", partition, message: { do: "delete", tenant, tenantId, move: id } });
    }
  }

  private save(deletion: Deletion, record: DeletionRecord): void {
    deletion.record = record;
    this.options.directory.saveDeletion(record);
  }

  private forgetOldest(): void {
    for (const [tenant, { record }] of this.deletions) {
      if (record.finishedAt === null) continue;
      this.deletions.delete(tenant);
      this.options.directory.forgetDeletion(tenant);
      return;
    }
  }
}

function viewOf({ tenantId, startedAt, finishedAt }: DeletionRecord): DeletionView {
  return {
    tenant: tenantId,
    state: finishedAt === null ? "removing" : "done",
    started_at: new Date(startedAt).toISOString(),
    finished_at: finishedAt === null ? null : new Date(finishedAt).toISOString(),
  };
}
