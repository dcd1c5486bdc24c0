/**
 * What API keys on a lead, agents on a lead, and whole tenants have used of their budgets (`rows_per_day`,
 * `bytes_per_day`, `tokens_per_day`, `statements_per_day`), by days of UTC. Counted by the actor that owns the tenant,
 * for all connections, and stored with the tenant at each sweep: a crash forgets what was used within the last half
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
  /** Only agents' are counted. */
  statements: number;
}

const UNUSED: Used = { day: 0, rows: 0, bytes: 0, tokens: 0, statements: 0 };

type What = "rows" | "bytes" | "tokens" | "statements";

const VERBS = { rows: "read", bytes: "read", tokens: "use", statements: "run" } as const;

export type DailyBudget = Pick<Lead, "rows_per_day" | "bytes_per_day" | "tokens_per_day">;

/** Of an agent's lead. */
export interface AgentsDay extends Pick<DailyBudget, "rows_per_day" | "tokens_per_day"> {
  readonly statements_per_day?: number;
}

export function hasDay({ rows_per_day, tokens_per_day, statements_per_day }: AgentsDay): boolean {
  return rows_per_day !== undefined || tokens_per_day !== undefined || statements_per_day !== undefined;
}

/** In the place of a key's id: all keys and users of the tenant. */
const WHOLE_TENANT = "";
/** Before an agent's name, in the place of a key's id, which has no slash. */
const AGENT = "agent/";

/** Whose budget it is, for messages, and how to get a larger one. */
function holderOfBudget(keyId: string): { readonly who: string; readonly remedy: string } {
  if (keyId === WHOLE_TENANT) return { who: "tenant", remedy: "An administrator can raise it: PUT /admin/budget." };
  if (!keyId.startsWith(AGENT)) return { who: "API key", remedy: "A key with a larger budget, or none, may go on." };
  const name = keyId.slice(AGENT.length);
  return { who: `agent "${name}"`, remedy: "CREATE OR REPLACE AGENT can raise it." };
}

/** A key's, of all its requests; an agent's, of all its runs; or a tenant's. */
export class KeyBudget {
  constructor(
    private readonly used: Used,
    public lead: Lead & AgentsDay,
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
    const { who, remedy } = holderOfBudget(this.owner.keyId);
    const now = this.host.now();
    const nextDay = now - (now % DAY_MS) + DAY_MS;
    const resetsAt = new Date(nextDay).toISOString();
    throw new DbError(
      "budget_exhausted",
      `The ${who} may ${VERBS[what]} ${most} ${what} a day; ${left} are left today.`,
      {
        retry_after_seconds: Math.ceil((nextDay - now) / 1000),
        resets_at: resetsAt,
        hint: `The next day begins at ${resetsAt}. ${remedy}`,
      },
    );
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
    const { rows, bytes, tokens, statements } = this.today();
    return { rows, bytes, tokens, statements };
  }

  private today(): Used {
    const day = Math.floor(this.host.now() / DAY_MS);
    if (day !== this.used.day) Object.assign(this.used, { ...UNUSED, day });
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

  /** Throws, and takes nothing, where none is left. */
  takeStatement(): void {
    this.require("statements", 1);
    this.add("statements", 1);
  }

  /** Of an answer that has to leave: what was committed is told. */
  takeBytesAnyway(count: number): void {
    this.add("bytes", count);
  }

  protected require(what: What, count: number): void {
    for (const budget of this.budgets) budget.require(what, count);
  }

  private add(what: What, count: number): void {
    for (const budget of this.budgets) budget.add(what, count);
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

  /** All runs of the agent of that name, whoever starts them; null: nothing of it is counted. */
  ofAgent(tenant: number, name: string, lead: AgentsDay): KeyBudget | null {
    if (!hasDay(lead)) return null;
    const budget = this.of(tenant, lead, `${AGENT}${name}`);
    // Another one may have been made of the agent; what it has used today stays.
    budget.lead = lead;
    return budget;
  }

  /** What all runs of the agent have used today. */
  usedByAgent(tenant: number, name: string): Pick<Used, What> {
    const key = `${AGENT}${name}`;
    return (this.budgets.get(`${tenant}/${key}`) ?? this.made(tenant, {}, key)).usedToday;
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

  usedBy(tenant: number): Omit<Pick<Used, What>, "statements"> {
    const budget = this.ofTenant(tenant) ?? this.made(tenant, {}, WHOLE_TENANT);
    const { rows, bytes, tokens } = budget.usedToday;
    return { rows, bytes, tokens };
  }

  /** Its budget was changed. What it has used today stays. */
  renew(tenant: number): void {
    const name = `${tenant}/${WHOLE_TENANT}`;
    const budget = this.budgets.get(name);
    if (budget !== undefined && this.store(budget)) this.drop(name, budget);
    this.tenants.delete(tenant);
  }

  private of(tenant: number, lead: KeyBudget["lead"], key: string): KeyBudget {
    const name = `${tenant}/${key}`;
    let budget = this.budgets.get(name);
    if (budget === undefined) {
      if (this.budgets.size >= KEPT_MAX) this.forgetStored();
      budget = this.made(tenant, lead, key);
      this.budgets.set(name, budget);
    }
    return budget;
  }

  private made(tenant: number, lead: KeyBudget["lead"], keyId: string): KeyBudget {
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
    return bytes === undefined
      ? { ...UNUSED }
      : { ...UNUSED, ...(JSON.parse(Buffer.from(bytes).toString()) as Partial<Used>) };
  }
}
