/**
 * Puts a backup of a whole installation, or named tenants of it, into this one:
 *
 *   checking    all of the backup is read, and it is decided where everything goes (directory/whole-records.ts)
 *   restoring   each tenant's content is restored, the system tenant's last; nobody can address new tenants yet
 *   completed   one transaction has made them known, with their users and keys
 *
 * After a crash in between, the same restore may be done again. One at a time. Owned by the directory's actor.
 */

import type { WholeFolder, WholeManifest } from "../../backup/whole-folder.js";
import type { Directory } from "../../directory/directory.js";
import type { PlannedTenant, RestorePlan, WholeRecords } from "../../directory/whole-records.js";
import { DbError, type ErrorCode } from "../../protocol/errors.js";
import { SYSTEM_TENANT } from "../../protocol/identity.js";
import { errorOf } from "./backup-orders.js";
import { failureOf } from "./backups.js";
import { patiently } from "./patience.js";
import type { RestoreOrders, RestoreView } from "./restore-orders.js";
import type { WholeBackups } from "./whole-backups.js";

export interface WholeRestoresHost {
  readonly directory: Pick<Directory, "planRestore" | "finishRestore">;
  readonly backups: Pick<WholeBackups, "verify">;
  readonly orders: RestoreOrders;
  readonly folder: WholeFolder;
  /** Whether a tenant of this actor has any content; null: it is elsewhere. */
  isEmpty(partition: number, tenant: number): boolean | null;
  /** Schedules are others now. */
  accountsReplaced(): Promise<void>;
  /** Resolves when what the directory wrote is on disk. */
  durable(): Promise<void>;
  log(level: "error" | "warn" | "info", message: string, fields: object): void;
}

export interface WholeRestoreView {
  readonly backup: string;
  readonly state: "checking" | "restoring" | "completed" | "failed";
  readonly tenants_total: number;
  readonly tenants_done: number;
  readonly entries: number;
  /** Each tenant, and whether its content has the digest that was taken with the backup; null: it has none. */
  readonly tenants: readonly { readonly tenant: string; readonly verified: boolean | null }[];
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

type Running = { -readonly [K in keyof WholeRestoreView]: WholeRestoreView[K] };

export class WholeRestores {
  private latest: Running | null = null;

  constructor(private readonly host: WholeRestoresHost) {}

  get isRunning(): boolean {
    return this.latest?.finished_at === null;
  }

  /** Throws conflict while one runs, not_found. */
  start(plan: RestorePlan, passphrase: string | null): WholeRestoreView {
    if (this.latest?.finished_at === null) {
      throw new DbError("conflict", "A backup of an installation is already being restored.");
    }
    const manifest = this.host.folder.get(plan.backup);
    const view: Running = {
      ...{ backup: plan.backup, state: "checking", tenants_total: 0, tenants_done: 0, entries: 0, tenants: [] },
      ...{ started_at: new Date().toISOString(), finished_at: null, error: null },
    };
    this.latest = view;
    this.run(manifest, plan, passphrase, view).then(
      () => Object.assign(view, { state: "completed", finished_at: new Date().toISOString() }),
      (error: unknown) => {
        const failure = failureOf(error);
        Object.assign(view, { state: "failed", finished_at: new Date().toISOString(), error: failure });
        this.host.log("warn", "an installation could not be restored", { backup: plan.backup, error: failure.message });
      },
    );
    return { ...view };
  }

  /** Throws not_found. */
  get(backup: string): WholeRestoreView {
    if (this.latest?.backup === backup) return { ...this.latest };
    throw new DbError("not_found", `Backup "${backup}" was not restored recently.`);
  }

  private async run(
    manifest: WholeManifest,
    plan: RestorePlan,
    passphrase: string | null,
    view: Running,
  ): Promise<void> {
    const { directory, folder, backups } = this.host;
    const records = await folder.readRecords(manifest, passphrase);
    // Refused before all of it is read; and decided again below, since that may take long.
    const again = this.plan(records, plan);
    await backups.verify(manifest.id, passphrase);
    const planned = again();
    view.state = "restoring";
    view.tenants_total = planned.length;
    await this.host.durable();
    planned.sort((a, b) => Number(a.tenantId === SYSTEM_TENANT) - Number(b.tenantId === SYSTEM_TENANT));
    for (const tenant of planned) {
      const done = await this.restoreOne(tenant, manifest, passphrase, view.entries, (entries) => {
        view.entries = entries;
      });
      view.tenants_done++;
      view.tenants = [...view.tenants, { tenant: tenant.tenantId, verified: done.verified }];
    }
    directory.finishRestore(records, plan, planned);
    await this.host.accountsReplaced();
    await this.host.durable();
  }

  /** Throws the errors of planRestore, now and when the returned function is called. */
  private plan(records: WholeRecords, plan: RestorePlan): () => PlannedTenant[] {
    const make = (): PlannedTenant[] => {
      const planned = this.host.directory.planRestore(records, plan);
      const system = planned.find(({ tenantId }) => tenantId === SYSTEM_TENANT);
      if (plan.tenants !== null || plan.replace || system === undefined) return planned;
      if (this.host.isEmpty(system.partition, system.number) !== false) return planned;
      const message =
        'The installation is not empty: its system tenant has content. Restore into a new installation, or send "replace": true to replace that content.';
      throw new DbError("conflict", message, { field: "replace" });
    };
    make();
    return make;
  }

  private async restoreOne(
    { tenantId, number, partition, isKnown }: PlannedTenant,
    manifest: WholeManifest,
    passphrase: string | null,
    before: number,
    progress: (entries: number) => void,
  ): Promise<RestoreView> {
    const { id } = manifest.tenants.find(({ tenant }) => tenant === tenantId)!;
    const order = {
      ...{ backup: id, from: tenantId, store: "whole" as const, passphrase, untilMicros: null },
      ...{ replaces: true, isChecked: true, isNew: !isKnown },
    };
    const restored = async (): Promise<RestoreView> => {
      const view = await new Promise<RestoreView>((resolve) => {
        this.host.orders.start({ tenantId, number, partition }, order, (heard) => {
          progress(before + heard.entries);
          if (heard.finished_at !== null) resolve(heard);
        });
      });
      if (view.error === null) return view;
      throw errorOf(view.error);
    };
    const patience = { passing: NONE, tries: 1, isBetweenNodes: this.host.orders.isBetweenNodes };
    try {
      return await patiently(patience, restored);
    } catch (error) {
      const { code, message } = errorOf(failureOf(error));
      throw new DbError(code, `Tenant "${tenantId}": ${message}`);
    }
  }
}

/** On one machine nothing passes by itself. */
const NONE: ReadonlySet<ErrorCode> = new Set();
