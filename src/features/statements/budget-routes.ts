/** What a tenant may use in a day: for its own administrators, and for those of the installation. */
import type { Handlers } from "../../actor/handler.js";
import type { DailyBudget } from "../../actor/key-budgets.js";
import type { Partition } from "../../actor/partition.js";
import type { Request } from "../../actor/request.js";
import { tenantBudgetKey } from "../../storage/keys.js";

export const budgetHandlers = {
  "admin.budget.get": ({ partition, account }) => ({ plain: budgetOf(partition, account) }),
  "admin.budget.set": (request, { body }) => set(request, body),
  "admin.tenants.budget.get": ({ partition, account }) => ({ plain: budgetOf(partition, account) }),
  "admin.tenants.budget.set": (request, { body }) => set(request, body),
} satisfies Handlers;

function set(request: Request, budget: DailyBudget) {
  const { partition, account } = request;
  const tx = partition.shard.begin({ isolation: "read committed" });
  tx.put(tenantBudgetKey(account), Buffer.from(JSON.stringify(budget)));
  request.commitPart(tx);
  partition.keyBudgets.renew(account);
  return { plain: budgetOf(partition, account) };
}

function budgetOf({ keyBudgets }: Partition, tenant: number) {
  return { ...keyBudgets.budgetOf(tenant), used_today: keyBudgets.usedBy(tenant) };
}
