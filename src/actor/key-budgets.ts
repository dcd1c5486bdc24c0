/**
 * What API keys on a lead have used of their budgets (`rows_per_day`, `bytes_per_day`), by days of UTC. Counted by the
 * actor that answers, and stored with the tenant at each sweep: a crash forgets what was used within the last half
 * second.
 */
import { DbError } from "../protocol/errors.js";
import type { Lead } from "../protocol/lead.js";
import type { RowBudget } from "../session/statement-run.js";
import type { Tenant } from "../session/tenant.js";
import { keyBudgetKey } from "../storage/keys.js";
import type { Shard } from "../storage/shard.js";
import type { TenantPlaces } from "./tenant-places.js";

const DAY_MS = 24 * 3600 * 1000;
/** Those that are looked at again from their records. */
const KEPT_MAX = 10_000;

/** The partition. */
export interface BudgetHost {
  readonly shard: Shard;
  readonly places: Pick<TenantPlaces, "isServed">;
  tenant(number: number): Pick<Tenant, "commit">;
  wroteSomething(tenant: number): void;
}

interface Used {
  /** Days since 1970. */
  day: number;
  rows: number;
  bytes: number;
}

export class KeyBudget implements RowBudget {
  isChanged = false;

  constructor(
    private readonly used: Used,
    private readonly lead: Lead,
    readonly owner: { readonly tenant: number; readonly keyId: string },
    private readonly now: () => number,
  ) {}

  get record(): string {
    return JSON.stringify(this.used);
  }

  /** Throws budget_exhausted where nothing is left. */
  requireLeft(): void {
    this.take("rows", 0);
    this.take("bytes", 0);
  }

  takeRows(count: number): void {
    this.take("rows", count);
  }

  takeBytes(count: number): void {
    this.take("bytes", count);
  }

  /** Throws, and takes nothing, where less is left. */
  private take(what: "rows" | "bytes", count: number): void {
    const most = this.lead[`${what}_per_day`];
    if (most === undefined) return;
    const { used } = this;
    const day = Math.floor(this.now() / DAY_MS);
    if (day !== used.day) Object.assign(used, { day, rows: 0, bytes: 0 });
    if (count === 0 ? used[what] >= most : used[what] + count > most) throw this.exhausted(what, most);
    used[what] += count;
    this.isChanged = true;
  }

  private exhausted(what: "rows" | "bytes", most: number): DbError {
    const left = Math.max(0, most - this.used[what]);
    const now = this.now();
    return new DbError("budget_exhausted", `The API key may read ${most} ${what} a day; ${left} are left today.`, {
      retry_after_seconds: Math.ceil((DAY_MS - (now % DAY_MS)) / 1000),
      hint: "The day ends at midnight, UTC. A key with a larger budget, or none, may go on.",
    });
  }
}

export class KeyBudgets {
  private readonly budgets = new Map<string, KeyBudget>();

  constructor(
    private readonly host: BudgetHost,
    private readonly now: () => number = Date.now,
  ) {}

  /** Null: the key has none. `tenant`: the number of the key's own, not of a branch. */
  of(tenant: number, lead: Lead): KeyBudget | null {
    const { key } = lead;
    if (key === undefined || (lead.rows_per_day === undefined && lead.bytes_per_day === undefined)) return null;
    const name = `${tenant}/${key}`;
    let budget = this.budgets.get(name);
    if (budget === undefined) {
      if (this.budgets.size >= KEPT_MAX) this.forgetStored();
      budget = new KeyBudget(this.stored(tenant, key), lead, { tenant, keyId: key }, this.now);
      this.budgets.set(name, budget);
    }
    return budget;
  }

  /** Stores what has changed. */
  save(): void {
    for (const budget of this.budgets.values()) if (budget.isChanged) this.store(budget);
  }

  /** The tenant is or was elsewhere. */
  forget(tenant: number): void {
    for (const [name, { owner }] of this.budgets) if (owner.tenant === tenant) this.budgets.delete(name);
  }

  private forgetStored(): void {
    this.save();
    for (const [name, { isChanged }] of this.budgets) if (!isChanged) this.budgets.delete(name);
  }

  private store(budget: KeyBudget): void {
    const { host } = this;
    const { tenant, keyId } = budget.owner;
    const { shard } = host;
    if (shard.failed !== null || shard.refusal !== null || !host.places.isServed(tenant)) return;
    const tx = shard.begin({ isolation: "read committed" });
    try {
      tx.put(keyBudgetKey(tenant, keyId), Buffer.from(budget.record));
      host.tenant(tenant).commit(tx);
    } catch (error) {
      tx.rollback();
      // A full disk, say: the next sweep tries again.
      if (error instanceof DbError) return;
      throw error;
    }
    host.wroteSomething(tenant);
    budget.isChanged = false;
  }

  private stored(tenant: number, keyId: string): Used {
    const tx = this.host.shard.begin({ readOnly: true });
    const bytes = tx.get(keyBudgetKey(tenant, keyId));
    tx.rollback();
    return bytes === undefined ? { day: 0, rows: 0, bytes: 0 } : (JSON.parse(Buffer.from(bytes).toString()) as Used);
  }
}
