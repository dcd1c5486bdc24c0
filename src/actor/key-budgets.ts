/**
 * What API keys on a lead have used of their budgets (`rows_per_day`, `bytes_per_day`), by days of UTC. Counted by the
 * actor that answers, and stored with the tenant at each sweep: a crash forgets what was used within the last half
 * second.
 */
import { DbError } from "../protocol/errors.js";
import { hasBudget, type Lead } from "../protocol/lead.js";
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

type What = "rows" | "bytes";

/** A key's, of all its requests. */
class KeyBudget {
  isChanged = false;

  constructor(
    private readonly used: Used,
    readonly lead: Lead,
    readonly owner: { readonly tenant: number; readonly keyId: string },
    private readonly now: () => number,
  ) {}

  get record(): string {
    return JSON.stringify(this.used);
  }

  /** Throws budget_exhausted where less than `count` is left. */
  require(what: What, count: number): void {
    const most = this.lead[`${what}_per_day`];
    if (most === undefined) return;
    const { used } = this;
    const now = this.now();
    const day = Math.floor(now / DAY_MS);
    if (day !== used.day) Object.assign(used, { day, rows: 0, bytes: 0 });
    if (used[what] + count <= most) return;
    const left = Math.max(0, most - used[what]);
    throw new DbError("budget_exhausted", `The API key may read ${most} ${what} a day; ${left} are left today.`, {
      retry_after_seconds: Math.ceil((DAY_MS - (now % DAY_MS)) / 1000),
      hint: "The day ends at midnight, UTC. A key with a larger budget, or none, may go on.",
    });
  }

  add(what: What, count: number): void {
    this.used[what] += count;
    this.isChanged = true;
  }
}

/** One request's part. */
export class RequestBudget implements RowBudget {
  private owed = 0;

  constructor(private readonly key: KeyBudget) {}

  /** Throws budget_exhausted where nothing is left. */
  requireLeft(): void {
    this.key.require("rows", 1);
    this.key.require("bytes", 1);
  }

  takeRows(count: number): void {
    if (count === 0) return;
    this.key.require("rows", count);
    this.key.add("rows", count);
  }

  owe(bytes: number): void {
    this.owed += bytes;
    this.key.require("bytes", this.owed);
  }

  /** Throws, and takes nothing, where less is left. */
  takeBytes(count: number): void {
    this.key.require("bytes", count);
    this.key.add("bytes", count);
  }

  /** Of an answer that has to leave: what was committed is told. */
  takeBytesAnyway(count: number): void {
    // Begins a new day where one is due.
    this.key.require("bytes", Number.NEGATIVE_INFINITY);
    this.key.add("bytes", count);
  }
}

export class KeyBudgets {
  private readonly budgets = new Map<string, KeyBudget>();

  constructor(
    private readonly host: BudgetHost,
    private readonly now: () => number = Date.now,
  ) {}

  /** Null: the key has none. `tenant`: the number of the key's own, not of a branch. */
  forRequest(tenant: number, lead: Lead): RequestBudget | null {
    const { key } = lead;
    return key === undefined || !hasBudget(lead) ? null : new RequestBudget(this.of(tenant, lead, key));
  }

  private of(tenant: number, lead: Lead, key: string): KeyBudget {
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
