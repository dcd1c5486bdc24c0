/**
 * What API keys on a lead have used of their budgets (`rows_per_day`, `bytes_per_day`, `tokens_per_day`), by days of UTC. Counted by the
 * actor that answers, and stored with the tenant at each sweep: a crash forgets what was used within the last half
 * second, and longer where hundreds of keys read at once.
 */
import { DbError } from "../protocol/errors.js";
import { hasBudget, type Lead } from "../protocol/lead.js";
import type { RowBudget } from "../session/statement-run.js";
import type { Tenant } from "../session/tenant.js";
import { keyBudgetKey } from "../storage/keys.js";
import type { Shard } from "../storage/shard.js";
import type { TenantPlaces } from "./tenant-places.js";

const DAY_MS = 24 * 3600 * 1000;
/** In memory; others are read from their records again. */
const KEPT_MAX = 10_000;
const SAVED_AT_ONCE = 100;

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
  tokens: number;
}

type What = "rows" | "bytes" | "tokens";

const VERBS = { rows: "read", bytes: "read", tokens: "use" } as const;

/** A key's, of all its requests. */
class KeyBudget {
  constructor(
    private readonly used: Used,
    private readonly lead: Lead,
    readonly owner: { readonly tenant: number; readonly keyId: string },
    private readonly host: { readonly now: () => number; changed(budget: KeyBudget): void },
  ) {}

  get record(): string {
    return JSON.stringify(this.used);
  }

  /** Throws budget_exhausted where less than `count` is left. */
  require(what: What, count: number): void {
    const most = this.lead[`${what}_per_day`];
    if (most === undefined) return;
    const used = this.today();
    if (used[what] + count <= most) return;
    const left = Math.max(0, most - used[what]);
    const message = `The API key may ${VERBS[what]} ${most} ${what} a day; ${left} are left today.`;
    throw new DbError("budget_exhausted", message, {
      retry_after_seconds: Math.ceil((DAY_MS - (this.host.now() % DAY_MS)) / 1000),
      hint: "The day ends at midnight, UTC. A key with a larger budget, or none, may go on.",
    });
  }

  /** Counts, whether so much is left or not. */
  add(what: What, count: number): void {
    this.today()[what] += count;
    this.host.changed(this);
  }

  /** Throws forbidden for a model that is none of the key's. */
  requireModel(name: string): void {
    const { models } = this.lead;
    if (models === undefined || models.includes(name)) return;
    throw new DbError("forbidden", `The API key may not use the model "${name}".`, {
      hint: `It may use: ${models.join(", ")}. Another needs a key with it in lead.models.`,
    });
  }

  private today(): Used {
    const day = Math.floor(this.host.now() / DAY_MS);
    if (day !== this.used.day) Object.assign(this.used, { day, rows: 0, bytes: 0, tokens: 0 });
    return this.used;
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

  /** Throws where the key may not use the model, or has no tokens left. */
  beginModel(name: string): void {
    this.key.requireModel(name);
    this.key.require("tokens", 1);
  }

  /** What a model has read and written is known when it has: the last use of a day may go beyond the budget. */
  spendTokens(count: number): void {
    this.key.add("tokens", count);
  }

  /** Of an answer that has to leave: what was committed is told. */
  takeBytesAnyway(count: number): void {
    this.key.add("bytes", count);
  }
}

/** Of work in the background: it answers nobody, and only what models do for it counts. */
class JobBudget extends RequestBudget {
  override takeRows(): void {}
  override owe(): void {}
  override takeBytes(): void {}
  override takeBytesAnyway(): void {}
}

export class KeyBudgets {
  private readonly budgets = new Map<string, KeyBudget>();
  /** Those that are not stored as they are, the longest so first. */
  private readonly changed = new Set<KeyBudget>();

  constructor(private readonly host: BudgetHost) {}

  /** Null: the key has none. `tenant`: the number of the key's own, not of a branch. */
  forRequest(tenant: number, lead: Lead): RequestBudget | null {
    const { key } = lead;
    return key === undefined || !hasBudget(lead) ? null : new RequestBudget(this.of(tenant, lead, key));
  }

  /** The same for a job that the key began. */
  forJob(tenant: number, lead: Lead): RequestBudget | null {
    const { key } = lead;
    return key === undefined || !hasBudget(lead) ? null : new JobBudget(this.of(tenant, lead, key));
  }

  private of(tenant: number, lead: Lead, key: string): KeyBudget {
    const name = `${tenant}/${key}`;
    let budget = this.budgets.get(name);
    if (budget === undefined) {
      if (this.budgets.size >= KEPT_MAX) this.forgetStored();
      const host = { now: Date.now, changed: (one: KeyBudget) => this.changed.add(one) };
      budget = new KeyBudget(this.stored(tenant, key), lead, { tenant, keyId: key }, host);
      this.budgets.set(name, budget);
    }
    return budget;
  }

  /** Stores what has changed: of so many keys at most, which is no long turn. */
  save(most = SAVED_AT_ONCE): void {
    let left = most;
    for (const budget of this.changed) {
      if (left-- === 0) return;
      // Refused: a full disk, say. The next sweep tries again.
      if (this.store(budget)) this.changed.delete(budget);
    }
  }

  /** The tenant is or was elsewhere. */
  forget(tenant: number): void {
    for (const [name, budget] of this.budgets) if (budget.owner.tenant === tenant) this.drop(name, budget);
  }

  private forgetStored(): void {
    for (const [name, budget] of this.budgets) if (!this.changed.has(budget)) this.drop(name, budget);
  }

  private drop(name: string, budget: KeyBudget): void {
    this.budgets.delete(name);
    this.changed.delete(budget);
  }

  private store({ owner: { tenant, keyId }, record }: KeyBudget): boolean {
    const { host } = this;
    const { shard } = host;
    if (shard.failed !== null || shard.refusal !== null || !host.places.isServed(tenant)) return false;
    const tx = shard.begin({ isolation: "read committed" });
    try {
      tx.put(keyBudgetKey(tenant, keyId), Buffer.from(record));
      host.tenant(tenant).commit(tx);
    } catch (error) {
      tx.rollback();
      if (error instanceof DbError) return false;
      throw error;
    }
    host.wroteSomething(tenant);
    return true;
  }

  private stored(tenant: number, keyId: string): Used {
    const tx = this.host.shard.begin({ readOnly: true });
    const bytes = tx.get(keyBudgetKey(tenant, keyId));
    tx.rollback();
    const none: Used = { day: 0, rows: 0, bytes: 0, tokens: 0 };
    return bytes === undefined ? none : { ...none, ...(JSON.parse(Buffer.from(bytes).toString()) as Partial<Used>) };
  }
}
