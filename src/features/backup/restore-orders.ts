/**
 * Restores of tenants as the directory's actor knows them: it sends the order to the tenant's partition (restores.ts)
 * and keeps the reports, for clients to look at. In memory only; the tenant's partition knows whether it is being
 * restored.
 */
import { randomUUID } from "node:crypto";
import { DbError } from "../../protocol/errors.js";
import type { FromActor } from "../../protocol/messages.js";
import type { RestoreOrder, RestoreReport } from "../../protocol/placement.js";
import { failureOf } from "./backups.js";

const REMEMBERED_MAX = 1000;

export interface RestoreView {
  readonly tenant: string;
  readonly backup: string;
  readonly state: RestoreReport["state"];
  readonly entries: number;
  readonly verified: boolean | null;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly error: RestoreReport["error"];
}

export interface RestorePlace {
  readonly tenantId: string;
  readonly number: number;
  readonly partition: number;
}

interface Entry {
  readonly restore: string;
  /** The tenant whose backups are read. */
  readonly from: string;
  view: RestoreView;
  readonly heard: (view: RestoreView) => void;
}

export class RestoreOrders {
  /** The newest by tenant number. */
  private readonly newest = new Map<number, Entry>();

  constructor(private readonly say: (message: FromActor) => void) {}

  get isBusy(): boolean {
    return [...this.newest.values()].some(({ view }) => view.finished_at === null);
  }

  /** Throws conflict while one of the tenant runs. */
  start(
    place: RestorePlace,
    order: Omit<RestoreOrder, "tenant" | "restore">,
    heard: (view: RestoreView) => void = () => undefined,
  ): RestoreView {
    const { restore, view } = this.begin(place, order.from, order.backup, heard);
    this.say({ kind: "restore", partition: place.partition, order: { tenant: place.number, restore, ...order } });
    return view;
  }

  /** The same for a backup that has to be found, or made, first. `wanted`: what was asked for; null: whichever. */
  startFound(
    place: RestorePlace,
    order: Omit<RestoreOrder, "tenant" | "restore" | "backup">,
    wanted: string | null,
    find: () => Promise<string>,
  ): RestoreView {
    const { number: tenant, partition } = place;
    const { restore, view } = this.begin(place, order.from, wanted ?? "", () => undefined);
    find().then(
      (backup) => {
        const entry = this.newest.get(tenant)!;
        if (entry.restore === restore) entry.view = { ...entry.view, backup };
        this.say({ kind: "restore", partition, order: { tenant, restore, backup, ...order } });
      },
      (thrown: unknown) =>
        this.heard({ tenant, restore, state: "failed", entries: 0, verified: null, error: failureOf(thrown) }),
    );
    return view;
  }

  private begin({ tenantId, number }: RestorePlace, from: string, backup: string, heard: Entry["heard"]): Entry {
    this.requireAtRest(tenantId, number);
    const view: RestoreView = {
      ...{ tenant: tenantId, backup, state: "checking", entries: 0, verified: null },
      ...{ started_at: new Date().toISOString(), finished_at: null, error: null },
    };
    const entry = { restore: randomUUID(), from, view, heard };
    this.newest.delete(number);
    this.newest.set(number, entry);
    if (this.newest.size > REMEMBERED_MAX) this.newest.delete(this.newest.keys().next().value!);
    return entry;
  }

  /** Throws conflict while the tenant is being restored. */
  requireAtRest(tenantId: string, tenant: number): void {
    const newest = this.newest.get(tenant);
    if (newest === undefined || newest.view.finished_at !== null) return;
    throw new DbError("conflict", `Tenant "${tenantId}" is already being restored.`);
  }

  /** Throws conflict while a tenant is being restored from backups of this one. */
  requireUnread(tenantId: string): void {
    const reader = [...this.newest.values()].find(({ from, view }) => from === tenantId && view.finished_at === null);
    if (reader === undefined) return;
    const { tenant } = reader.view;
    throw new DbError("conflict", `Tenant "${tenant}" is being restored from a backup of "${tenantId}".`, {
      hint: `GET /admin/tenants/${tenant}/restore tells how far it is.`,
    });
  }

  /** The tenant is deleted. */
  forget(tenant: number): void {
    this.newest.delete(tenant);
  }

  /** Throws not_found. */
  get(tenantId: string, number: number): RestoreView {
    const entry = this.newest.get(number);
    if (entry === undefined) throw new DbError("not_found", `Tenant "${tenantId}" was not restored recently.`);
    return { ...entry.view, tenant: tenantId };
  }

  heard(report: RestoreReport): void {
    const { tenant, restore, state, entries, verified, error } = report;
    const entry = this.newest.get(tenant);
    if (entry === undefined && report.cutShort !== undefined) this.remember(report, report.cutShort);
    if (entry === undefined || entry.restore !== restore) return;
    const hasEnded = state === "completed" || state === "failed";
    const finished_at = hasEnded ? new Date().toISOString() : null;
    entry.view = { ...entry.view, state, entries, verified, error, finished_at };
    entry.heard(entry.view);
  }

  /** One that was begun before this process. Nobody knows when. */
  private remember({ tenant, restore, state, entries, verified, error }: RestoreReport, backup: string): void {
    const finished_at = new Date().toISOString();
    const view = { tenant: "", backup, state, entries, verified, started_at: finished_at, finished_at, error };
    this.newest.set(tenant, { restore, from: "", view, heard: () => undefined });
  }

  /** An actor's thread ended; its partitions are those that `isOf` names. */
  actorEnded(isOf: (tenant: number) => boolean): void {
    for (const [tenant, { restore, view }] of this.newest) {
      if (view.finished_at !== null || !isOf(tenant)) continue;
      const error = { code: "partition_unavailable", message: "The tenant's actor ended; restore it again." };
      this.heard({ tenant, restore, state: "failed", entries: view.entries, verified: null, error });
    }
  }
}
