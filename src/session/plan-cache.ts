/**
 * Plans of one tenant by statement text. A plan is reused while the catalog version that it was bound under is
 * current, the parameters whose types the statement leaves open have the same types, and those that it is made with the
 * same values. Bounded; the least recently used plan goes first.
 */

import { PLAN_CACHE_CHARACTERS_MAX, PLAN_CACHE_ENTRIES_MAX } from "../protocol/limits.js";
import { typeOfParameter } from "../values/json-format.js";
import type { StatementPlan } from "./statement-plan.js";
import type { ParameterValues } from "./statement-run.js";

export class PlanCache {
  /** In order of last use: a hit is moved to the end now and then (see `touch`). */
  private readonly plans = new Map<string, StatementPlan>();
  /** What was found last: clients repeat themselves, and to compare texts takes less than to hash one. */
  private last: { readonly sql: string; readonly plan: StatementPlan } | null = null;
  /** Of all texts. */
  private characters = 0;
  hits = 0;
  /** Counted by whoever makes a plan because there was none. */
  misses = 0;

  get size(): number {
    return this.plans.size;
  }

  /** `params` null: their types are a part of `sql`, the key. */
  find(sql: string, catalogVersion: number | string, params: ParameterValues | null): StatementPlan | null {
    const plan = this.last !== null && this.last.sql === sql ? this.last.plan : this.look(sql);
    const isFit = plan?.catalogVersion === catalogVersion && fits(plan, params);
    if (plan === undefined || !isFit) return null;
    this.hits++;
    // Moving on every hit would cost more than the plan saves; every 64th use keeps hot plans young enough.
    if ((++plan.uses & 63) === 0) {
      this.plans.delete(sql);
      this.plans.set(sql, plan);
    }
    return plan;
  }

  private look(sql: string): StatementPlan | undefined {
    const plan = this.plans.get(sql);
    if (plan !== undefined) this.last = { sql, plan };
    return plan;
  }

  /** Forgets every plan: statistics changed, and with them the best plans. */
  clear(): void {
    this.plans.clear();
    this.characters = 0;
    this.last = null;
  }

  add(sql: string, plan: StatementPlan): void {
    this.last = null;
    this.remove(sql);
    this.plans.set(sql, plan);
    this.characters += sql.length;
    while (this.plans.size > PLAN_CACHE_ENTRIES_MAX || this.characters > PLAN_CACHE_CHARACTERS_MAX) {
      this.remove(this.plans.keys().next().value!);
    }
  }

  private remove(sql: string): void {
    if (this.plans.delete(sql)) this.characters -= sql.length;
  }
}

function fits(plan: StatementPlan, params: ParameterValues | null): boolean {
  if (params === null) return plan.fixedParameters === undefined;
  if (!sameOpenTypes(plan, params)) return false;
  for (const [name, value] of plan.fixedParameters ?? []) {
    if ((params as Readonly<Record<string, unknown>>)[name] !== value) return false;
  }
  return true;
}

/** Whether values of the types that the plan was bound for are given for parameters whose types it leaves open. */
export function sameOpenTypes(plan: StatementPlan, params: ParameterValues): boolean {
  for (const { index, type } of plan.openParameters) {
    if (typeOfParameter((params as readonly unknown[])[index]) !== type) return false;
  }
  return true;
}
