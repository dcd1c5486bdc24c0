/**
 * Restores of tenants as the directory's actor knows them: it sends the order to the tenant's partition (restores.ts) and
 * keeps what that reports, for clients to look at. In memory; whether a tenant is being restored is known where it is.
 */
import { randomUUID } from "node:crypto";
import { DbError } from "../../protocol/errors.js";
import type { FromActor } from "../../protocol/messages.js";
import type { RestoreOrder, RestoreReport } from "../../protocol/placement.js";

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

interface Entry {
  readonly restore: string;
  view: RestoreView;
}

export class RestoreOrders {
  /** The newest by tenant number. */
  readonly #newest = new Map<number, Entry>();

  constructor(private readonly say: (message: FromActor) => void) {}

  /** Throws conflict while one of the tenant runs. */
  start(
    place: { readonly tenantId: string; readonly number: number; readonly partition: number },
    order: Omit<RestoreOrder, "tenant" | "restore">,
  ): RestoreView {
    const { tenantId, number, partition } = place;
    if (this.#newest.get(number)?.view.finished_at === null) {
      throw new DbError("conflict", `Tenant "${tenantId}" is being restored already.`);
    }
    const restore = randomUUID();
    const view: RestoreView = {
      ...{ tenant: tenantId, backup: order.backup, state: "checking", entries: 0, verified: null },
      ...{ started_at: new Date().toISOString(), finished_at: null, error: null },
    };
    this.#newest.delete(number);
    this.#newest.set(number, { restore, view });
    if (this.#newest.size > REMEMBERED_MAX) this.#newest.delete(this.#newest.keys().next().value!);
    this.say({ kind: "restore", partition, order: { tenant: number, restore, ...order } });
    return view;
  }

  /** Throws not_found. */
  get(tenantId: string, number: number): RestoreView {
    const entry = this.#newest.get(number);
    if (entry === undefined) throw new DbError("not_found", `Tenant "${tenantId}" has not been restored lately.`);
    return entry.view;
  }

  heard({ tenant, restore, state, entries, verified, error }: RestoreReport): void {
    const entry = this.#newest.get(tenant);
    if (entry === undefined || entry.restore !== restore) return;
    const hasEnded = state === "completed" || state === "failed";
    const finished_at = hasEnded ? new Date().toISOString() : null;
    entry.view = { ...entry.view, state, entries, verified, error, finished_at };
  }

  /** An actor's thread ended; its partitions are those that `isOf` names. */
  actorEnded(isOf: (tenant: number) => boolean): void {
    for (const [tenant, { restore, view }] of this.#newest) {
      if (view.finished_at !== null || !isOf(tenant)) continue;
      const error = { code: "partition_unavailable", message: "The tenant's actor ended; restore it again." };
      this.heard({ tenant, restore, state: "failed", entries: view.entries, verified: null, error });
    }
  }
}
