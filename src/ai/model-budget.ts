/** For whom models work: a tenant, whose use is counted, and perhaps a client that may use so much of some models. */
export interface ModelBudget {
  /** Throws forbidden for a model that the client may not use, budget_exhausted where it has no tokens left. */
  beginModel(name: string): void;
  spendTokens(count: number): void;
}

/** A tenant's name alone: its use is counted, and nothing else asked. */
export type ModelUser = string | { readonly tenant: string; readonly budget: ModelBudget | null };

export function budgetOfUser(user: ModelUser): ModelBudget | null {
  return typeof user === "string" ? null : user.budget;
}
