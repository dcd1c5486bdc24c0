/**
 * What API keys on a lead, and whole tenants, have used of their budgets (`rows_per_day`, `bytes_per_day`,
 * `tokens_per_day`), by days of UTC. Counted by the
 * actor that answers, and stored with the tenant at each sweep: a crash forgets what was used within the last half
 * second, and longer where hundreds of keys read at once.
 */
import { DbError } from "../protocol/errors.js";
import { hasBudget, type Lead } from "../protocol/lead.js";
import type { RowBudget } from "../session/statement-run.js";
import type { Tenant } from "../session/tenant.js";
import { keyBudgetKey, tenantBudgetKey } from "../storage/keys.js";
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

export type DailyBudget = Pick<Lead, "rows_per_day" | "bytes_per_day" | "tokens_per_day">;

/** In the place of a key's id: all keys and users of the tenant. */
const WHOLE_TENANT = "";

/** A key's, of all its requests; or a tenant's. */
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
    const isTenants = this.owner.keyId === WHOLE_TENANT;
    const who = isTenants ? "tenant" : "API key";
    const message = `The ${who} may ${VERBS[what]} ${most} ${what} a day; ${left} are left today.`;
    throw new DbError("budget_exhausted", message, {
      retry_after_seconds: Math.ceil((DAY_MS - (this.host.now() % DAY_MS)) / 1000),
      hint: isTenants
        ? "The day ends at midnight, UTC. An administrator can raise the budget: PUT /admin/budget."
        : "The day ends at midnight, UTC. A key with a larger budget, or none, may go on.",
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

  get usedToday(): Pick<Used, What> {
    const { rows, bytes, tokens } = this.today();
    return { rows, bytes, tokens };
  }

  private today(): Used {
    const day = Math.floor(this.host.now() / DAY_MS);
    if (day !== this.used.day) Object.assign(this.used, { day, rows: 0, bytes: 0, tokens: 0 });
    return this.used;
  }
}

/** One request's part: of its key's budget, and of its tenant's. */
export class RequestBudget implements RowBudget {
  private owed = 0;

  constructor(private readonly budgets: readonly KeyBudget[]) {}

  /** Throws budget_exhausted where nothing is left. */
  requireLeft(): void {
    this.require("rows", 1);
    this.require("bytes", 1);
  }

  takeRows(count: number): void {
    if (count === 0) return;
    this.require("rows", count);
    this.add("rows", count);
  }

  owe(bytes: number): void {
    this.owed += bytes;
    this.require("bytes", this.owed);
  }

  /** Throws, and takes nothing, where less is left. */
  takeBytes(count: number): void {
    this.require("bytes", count);
    this.add("bytes", count);
  }

  /** Throws where the key may not use the model, or has no tokens left. */
  beginModel(name: string): void {
    for (const budget of this.budgets) budget.requireModel(name);
    this.require("tokens", 1);
  }

  /** What a model has read and written is known when it has: the last use of a day may go beyond the budget. */
  spendTokens(count: number): void {
    this.add("tokens", count);
  }

  /** Of an answer that has to leave: what was committed is told. */
  takeBytesAnyway(count: number): void {
    this.add("bytes", count);
  }

  private require(what: What, count: number): void {
    for (const budget of this.budgets) budget.require(what, count);
  }

  private add(what: What, count: number): void {
    for (const budget of this.budgets) budget.add(what, count);
  }
}

/** Of an agent's run: what its caller's is, and so many tokens for the agent's model and its tools together. */
export class RunBudget extends RequestBudget {
  private tokensLeft: number;

  constructor(
    private readonly caller: RequestBudget | null,
    private readonly tokens: number,
  ) {
    super([]);
    this.tokensLeft = tokens;
  }

  override requireLeft(): void {
    this.caller?.requireLeft();
  }

  override takeRows(count: number): void {
    this.caller?.takeRows(count);
  }

  override owe(bytes: number): void {
    this.caller?.owe(bytes);
  }

  override takeBytes(count: number): void {
    this.caller?.takeBytes(count);
  }

  override takeBytesAnyway(count: number): void {
    this.caller?.takeBytesAnyway(count);
  }

  override beginModel(name: string): void {
    this.caller?.beginModel(name);
    if (this.tokensLeft > 0) return;
    throw new DbError("budget_exhausted", `Models have used the ${this.tokens} tokens of the agent's lead.`, {
      hint: 'Raise "lead.tokens" of the agent.',
    });
  }

  override spendTokens(count: number): void {
    this.caller?.spendTokens(count);
    this.tokensLeft -= count;
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
  /** By tenant; null: it has none. */
  private readonly tenants = new Map<number, KeyBudget | null>();
  /** Those that are not stored as they are, the longest so first. */
  private readonly changed = new Set<KeyBudget>();

  constructor(private readonly host: BudgetHost) {}

  /** Null: nothing is counted. `tenant`: the number of the key's own, not of a branch. */
  forRequest(tenant: number, lead: Lead | null): RequestBudget | null {
    const budgets = this.counting(tenant, lead);
    return budgets === null ? null : new RequestBudget(budgets);
  }

  /** The same for a job. */
  forJob(tenant: number, lead: Lead | null): RequestBudget | null {
    const budgets = this.counting(tenant, lead);
    return budgets === null ? null : new JobBudget(budgets);
  }

  private counting(tenant: number, lead: Lead | null): readonly KeyBudget[] | null {
    const whole = this.ofTenant(tenant);
    const own = lead?.key === undefined || !hasBudget(lead) ? null : this.of(tenant, lead, lead.key);
    if (own === null) return whole === null ? null : [whole];
    return whole === null ? [own] : [own, whole];
  }

  /** Null: the tenant has none. */
  private ofTenant(tenant: number): KeyBudget | null {
    let budget = this.tenants.get(tenant);
    if (budget === undefined) {
      if (this.tenants.size >= KEPT_MAX) this.tenants.clear();
      const spec = this.budgetOf(tenant);
      budget = hasBudget(spec) ? this.of(tenant, spec, WHOLE_TENANT) : null;
      this.tenants.set(tenant, budget);
    }
    return budget;
  }

  /** What the tenant may use in a day. */
  budgetOf(tenant: number): DailyBudget {
    const tx = this.host.shard.begin({ readOnly: true });
    const bytes = tx.get(tenantBudgetKey(tenant));
    tx.rollback();
    return bytes === undefined ? {} : (JSON.parse(Buffer.from(bytes).toString()) as DailyBudget);
  }

  usedBy(tenant: number): Pick<Used, What> {
    const budget = this.ofTenant(tenant) ?? this.made(tenant, {}, WHOLE_TENANT);
    return budget.usedToday;
  }

  /** Its budget was changed. What it has used today stays. */
  renew(tenant: number): void {
    const name = `${tenant}/${WHOLE_TENANT}`;
    const budget = this.budgets.get(name);
    if (budget !== undefined && this.store(budget)) this.drop(name, budget);
    this.tenants.delete(tenant);
  }

  private of(tenant: number, lead: Lead, key: string): KeyBudget {
    const name = `${tenant}/${key}`;
    let budget = this.budgets.get(name);
    if (budget === undefined) {
      if (this.budgets.size >= KEPT_MAX) this.forgetStored();
      budget = this.made(tenant, lead, key);
      this.budgets.set(name, budget);
    }
    return budget;
  }

  private made(tenant: number, lead: Lead, keyId: string): KeyBudget {
    const host = { now: Date.now, changed: (one: KeyBudget) => this.changed.add(one) };
    return new KeyBudget(this.stored(tenant, keyId), lead, { tenant, keyId }, host);
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
    this.tenants.delete(tenant);
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
