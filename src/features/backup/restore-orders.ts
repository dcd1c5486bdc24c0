/**
 * Restores of tenants as the directory's actor knows them: it sends the order to the tenant's partition (restores.ts),
 * which another node may own, answers the reports, and keeps them for clients to look at. In memory only; the tenant's
 * partition knows whether it is being restored, and a later owner of the directory learns that from the reports.
 */
import { randomUUID } from "node:crypto";
import type { ReportSent } from "../../protocol/backup-orders.js";
import { DbError } from "../../protocol/errors.js";
import type { RestoreOrder, RestoreReport } from "../../protocol/placement.js";
import type { OrdersHost } from "./backup-orders.js";
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
  readonly partition: number;
  view: RestoreView;
  heardMs: number;
  readonly heard: (view: RestoreView) => void;
}

type Order = Omit<RestoreOrder, "tenant" | "restore" | "mark">;

export class RestoreOrders {
  /** The newest by tenant number. */
  private readonly newest = new Map<number, Entry>();

  constructor(private readonly host: OrdersHost) {}

  /** Orders cross between nodes. */
  get isBetweenNodes(): boolean {
    return this.host.silenceMs !== null;
  }

  get isBusy(): boolean {
    return [...this.newest.values()].some(({ view }) => view.finished_at === null);
  }

  /** Throws conflict while one of the tenant runs. */
  start(place: RestorePlace, order: Order, heard: (view: RestoreView) => void = () => undefined): RestoreView {
    const mark = this.host.mark();
    const entry = this.begin(place, order.from, order.backup, heard);
    this.give(entry, { tenant: place.number, restore: entry.restore, ...mark, ...order });
    return entry.view;
  }

  private give(entry: Entry, order: RestoreOrder): void {
    entry.heardMs = this.host.now();
    this.host.say({ kind: "restore", partition: entry.partition, order });
  }

  /** The same for a backup that has to be found, or made, first. `wanted`: what was asked for; null: whichever. */
  startFound(
    place: RestorePlace,
    order: Omit<Order, "backup">,
    wanted: string | null,
    find: () => Promise<string>,
  ): RestoreView {
    const { number: tenant } = place;
    const entry = this.begin(place, order.from, wanted ?? "", () => undefined);
    const { restore } = entry;
    find()
      .then((backup) => {
        entry.view = { ...entry.view, backup };
        this.give(entry, { tenant, restore, ...this.host.mark(), backup, ...order });
      })
      .catch((thrown: unknown) => {
        const error = failureOf(thrown);
        this.heard({ tenant, restore, state: "failed", entries: 0, verified: null, error }, null);
      });
    return entry.view;
  }

  private begin(
    { tenantId, number, partition }: RestorePlace,
    from: string,
    backup: string,
    heard: Entry["heard"],
  ): Entry {
    this.requireAtRest(tenantId, number);
    const view: RestoreView = {
      ...{ tenant: tenantId, backup, state: "checking", entries: 0, verified: null },
      ...{ started_at: new Date().toISOString(), finished_at: null, error: null },
    };
    const entry = { restore: randomUUID(), from, partition, view, heardMs: Number.POSITIVE_INFINITY, heard };
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

  /** `sent` null: nobody waits for an answer. */
  heard(report: RestoreReport, sent: ReportSent | null): void {
    const { tenant, restore, state, entries, verified, error } = report;
    const known = this.newest.get(tenant);
    if (sent !== null) {
      const heard = { order: restore, at: sent.at, isWanted: isWanted(report, known) };
      this.host.say({ kind: "order-heard", partition: sent.partition, heard });
      if (known === undefined) this.remember(report, sent.partition);
    }
    const entry = this.newest.get(tenant);
    if (entry === undefined || entry.restore !== restore) return;
    entry.heardMs = this.host.now();
    const finished_at = hasEnded(state) ? new Date().toISOString() : null;
    entry.view = { ...entry.view, state, entries, verified, error, finished_at };
    entry.heard(entry.view);
  }

  /** One that was begun before this actor had the directory. Nobody knows when. One that only checks ends by itself. */
  private remember({ tenant, restore, state, cutShort: backup = "" }: RestoreReport, partition: number): void {
    if (state === "checking") return;
    const started_at = new Date().toISOString();
    const view = { tenant: "", backup, state, entries: 0, verified: null, started_at, finished_at: null, error: null };
    const heardMs = this.host.now();
    this.newest.set(tenant, { restore, from: "", partition, view, heardMs, heard: () => undefined });
  }

  sweep(): void {
    const { silenceMs, now } = this.host;
    if (silenceMs === null) return;
    for (const [tenant, { restore, view, heardMs }] of this.newest) {
      if (view.finished_at !== null || now() - heardMs <= silenceMs) continue;
      this.lost(tenant, restore, view.entries, "Nobody has reported of the restore; restore the tenant again.");
    }
  }

  /**
   * What ran in these partitions has ended with their actors. Of other owners nothing is to be said here: who has begun
   * to change the tenant goes on, or the next owner tells.
   */
  ended(isOf: (partition: number) => boolean): void {
    for (const [tenant, { restore, partition, view }] of this.newest) {
      if (view.finished_at !== null || !isOf(partition)) continue;
      this.lost(tenant, restore, view.entries, "The tenant's actor ended; restore it again.");
    }
  }

  private lost(tenant: number, restore: string, entries: number, message: string): void {
    const error = { code: "partition_unavailable", message };
    this.heard({ tenant, restore, state: "failed", entries, verified: null, error }, null);
  }
}

function hasEnded(state: RestoreReport["state"]): boolean {
  return state === "completed" || state === "failed";
}

/** One that has not changed anything yet may not begin to when it counts as failed, or is not known here. */
function isWanted({ restore, state }: RestoreReport, entry: Entry | undefined): boolean {
  if (state !== "checking") return true;
  return entry?.restore === restore && entry.view.finished_at === null;
}
